"""fleet-runner netbox init: what fleet-runner needs in a NetBox is made there, and nothing else is touched."""

from contextlib import ExitStack
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Annotated

import typer

from fleet_runner import settings
from fleet_runner.adapters.files import new_secret
from fleet_runner.adapters.files import secret as secret_file
from fleet_runner.cli.base.session import Exit, console, errors, print_json
from fleet_runner.cli.inventory.netbox.connection import Url, reached
from fleet_runner.cli.inventory.netbox.progress import progress
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.inventory.netbox.init import account, report
from fleet_runner.core.inventory.netbox.init.account import Writes
from fleet_runner.core.inventory.netbox.init.objects import Kind, Ref
from fleet_runner.core.inventory.netbox.init.plan import DUE, Act
from fleet_runner.core.inventory.netbox.init.wanted import InitOptions, wanted
from fleet_runner.settings import Settings

if TYPE_CHECKING:
    from fleet_runner.adapters.netbox.client import Client
    from fleet_runner.adapters.netbox.init import Done, Survey


def init(
    *,
    url: Url = "",
    token_file: Annotated[
        Path, typer.Option("--token-file", help="file with an administrator's token, 0600", metavar="FILE")
    ],
    token_out: Annotated[
        Path | None,
        typer.Option(help="where fleet-runner's own token is written; default: netbox_token_file", metavar="FILE"),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="show what would be done; exit code 1 if anything")] = False,
    json: Annotated[bool, typer.Option("--json", help="print JSON instead of text")] = False,
) -> None:
    """Create what fleet-runner needs in the NetBox that `source` names; safe to run again.

    Only what it made itself is ever changed. What others made under the same name and differs is said. Exit code 1:
    that, or something could not be made; with --check something is to be done.
    """
    from fleet_runner.adapters.netbox import init as preparing  # noqa: PLC0415  its client is slow to load
    from fleet_runner.adapters.netbox.client import Client, Timeouts  # noqa: PLC0415  as above

    found = settings.load()
    own = token_out or found.netbox_token_file
    admin = reached(url, token_file)
    with Client(*admin, Timeouts()) as client, ExitStack() as stack:
        secret = _secret(found, client)
        with progress() as tell:
            tell("reading NetBox", 0, 0)
            survey = preparing.survey(client, wanted(_asked(found, own, secret)))
        if not json:
            _show(survey)
        undone: dict[Ref, str] = {}
        if not check:
            _keep_secret(found, secret)
            due = any(step.act is Act.MAKE and step.wanted.kind is Kind.TOKEN for step in survey.steps)
            keep = stack.enter_context(new_secret.kept(own)) if own and due else lambda _: None
            for done in preparing.carry_out(client, survey, keep):
                _tell(done, quiet=json)
                if done.why:
                    undone[done.step.wanted.ref] = done.why
    unfit = _unfit(admin.url, own, _writes(found))
    if json:
        steps = [report.plain(step, undone.get(step.wanted.ref, "")) for step in survey.steps]
        print_json({"url": survey.url, "version": survey.version, "check": check, "steps": steps, "unfit": unfit})
    well = {Act.KEEP} if check else {*DUE, Act.KEEP}
    if undone or any(step.act not in well for step in survey.steps):
        raise typer.Exit(Exit.NO)


def _writes(found: Settings) -> Writes:
    return Writes(found.netbox_write_cable_status, found.netbox_write_nodes, found.netbox_wishes)


def _asked(found: Settings, own: Path | None, secret: str) -> InitOptions:
    from fleet_runner.adapters.netbox.exports import TEMPLATES  # noqa: PLC0415  as above

    return InitOptions(
        password=token_urlsafe(),
        writes=_writes(found),
        token=str(own) if own and not own.exists() else "",
        web_url=found.web_url,
        webhook_url=found.netbox_webhook_url,
        secret=secret,
        templates={object_type: template.code for object_type, template in TEMPLATES.items()},
    )


def _secret(found: Settings, client: "Client") -> str:
    """Return what NetBox signs with: what the file holds, else what NetBox has, else a new one."""
    from fleet_runner.adapters.netbox import init as preparing  # noqa: PLC0415  as above

    file = found.netbox_webhook_secret
    if not found.netbox_webhook_url:
        return ""
    if file is None:
        raise SettingsError("netbox_webhook_url is set, but netbox_webhook_secret is not; name a file there")
    if file.exists():
        return secret_file.text(file, "the secret of NetBox's webhook")
    return preparing.secret(client) or token_urlsafe()


def _keep_secret(found: Settings, secret: str) -> None:
    file = found.netbox_webhook_secret
    if secret and file is not None and not file.exists():
        with new_secret.kept(file) as keep:
            keep(secret)


def _unfit(url: str, own: Path | None, writes: Writes) -> tuple[str, ...]:
    """Say what is wrong with fleet-runner's own token, where it has one."""
    from fleet_runner.adapters.netbox import tokens  # noqa: PLC0415  as above
    from fleet_runner.adapters.netbox.client import Client, ForbiddenError, Timeouts  # noqa: PLC0415  as above

    if own is None or not own.exists():
        return ()
    try:
        with Client(*reached(url, own), Timeouts()) as client:
            found = account.unfit(str(own), writes, tokens.may(client))
    except ForbiddenError:
        found = (f"NetBox does not accept the token in {own}; move the file away and run this again",)
    for sentence in found:
        errors.print(f"warning: {sentence}", markup=False, soft_wrap=True)
    return found


def _show(survey: "Survey") -> None:
    console.print(f"NetBox {survey.version} at {survey.url}", markup=False, soft_wrap=True)
    console.print(report.summary(survey.steps), markup=False)
    for line in report.lines(survey.steps):
        console.print(line, markup=False, soft_wrap=True)
    if advice := report.advice(survey.steps):
        console.print(advice, markup=False)


def _tell(done: "Done", *, quiet: bool) -> None:
    if done.why:
        errors.print(f"{report.named(done.step.wanted)}: {done.why}", markup=False, soft_wrap=True)
    elif not quiet:
        word = "made" if done.step.act is Act.MAKE else "changed"
        proof = "; tried once, and NetBox accepts it" if done.step.wanted.kind is Kind.TOKEN else ""
        console.print(f"{word:8}{report.named(done.step.wanted)}{proof}", markup=False, soft_wrap=True)
