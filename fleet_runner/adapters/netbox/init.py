"""What a NetBox has of what fleet-runner needs there, and the rest of it made."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from fleet_runner.adapters.netbox import tokens
from fleet_runner.adapters.netbox.cable_status import tag
from fleet_runner.adapters.netbox.client import Client, ForbiddenError, Json, NetBoxBusyError, RefusedError
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.netbox.init import pages
from fleet_runner.core.inventory.netbox.init.objects import ABOUT, Kind, Ref, RequiredObject
from fleet_runner.core.inventory.netbox.init.plan import DUE, Act, Step, filled, ids, lost, ours, plan, refs
from fleet_runner.core.inventory.netbox.init.rights import within

EXTRAS = "extras/"
"""The part of NetBox whose objects have a change log and entity tags; users and their rights have neither."""

WHY = "fleet-runner netbox init"
"""What NetBox's change log says, from 4.4 on."""


@dataclass(frozen=True, slots=True)
class Survey:
    """A NetBox's version, and the plan for it, as far as the token may carry it out."""

    url: str
    version: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a step; `why` it was not done, where it was not."""

    step: Step
    why: str = ""


def survey(client: Client, wanted: Sequence[RequiredObject]) -> Survey:
    """Look at a NetBox and change nothing. Raises SourceError where it cannot be read at all."""
    version = client.version()
    found: dict[Kind, list[Json]] = {}
    for kind in dict.fromkeys(want.kind for want in wanted):
        if kind is Kind.TOKEN:
            found[kind] = []  # each file has one of its own
            continue
        with suppress(ForbiddenError):
            found[kind] = _rows(client, kind, [want for want in wanted if want.kind is kind])
    with _readable(client):
        steps = plan(wanted, found)
    due = dict.fromkeys(step.wanted.kind for step in steps if step.act in DUE)
    may = {kind: client.allowed(kind) | (frozenset({"view"}) if kind in found else frozenset()) for kind in due}
    return Survey(client.url, version, within(steps, may))


def secret(client: Client) -> str:
    """Return the secret of the webhook that `netbox init` made, or nothing; whoever may not see it sees none."""
    with suppress(ForbiddenError):
        for row in client.rows(Kind.WEBHOOK, "name,description,secret", name=pages.NAME):
            if ours(Kind.WEBHOOK, row):
                return str(row["secret"])
    return ""


def carry_out(client: Client, surveyed: Survey, keep: Callable[[str], object]) -> Iterator[Done]:
    """Do what a plan says, one object after the other, and say of each what came of it.

    `keep` is given the token that is made. Raises SourceError when the NetBox cannot be reached any more: what is
    done stays, and another run goes on.
    """
    known = ids(surveyed.steps)
    for step in surveyed.steps:
        if step.act not in DUE:
            continue
        if needed := sorted(refs(step.change or step.wanted.fields) - known.keys()):
            yield Done(step, f"it needs {needed[0].name}, which was not created")
            continue
        try:
            if step.wanted.kind is Kind.TOKEN:
                keep(tokens.make(client, surveyed.version, filled(step.wanted.fields, known.__getitem__)))
            else:
                with _readable(client):
                    known[step.wanted.ref] = _do(client, step, known)
        except (NetBoxBusyError, ForbiddenError, RefusedError) as error:
            yield Done(step, str(error))
        else:
            yield Done(step)


@contextmanager
def _readable(client: Client) -> Iterator[None]:
    """Say in one sentence that something is not as NetBox gives it."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        text = f"an object has an unexpected format ({type(error).__name__}: {error}), expected that of NetBox 4"
        raise SourceError(f"{client.url}: {text}") from error


def _rows(client: Client, kind: Kind, wanted: Sequence[RequiredObject]) -> list[Json]:
    """Return what is called like what is wanted, with the fields that a plan looks at.

    Choice sets are read whole: fields of others have sets with names of others.
    """
    about = ABOUT[kind]
    names, settled = {want.name for want in wanted}, {field for want in wanted for field in want.settled}
    which = {"object_types"} if any(want.of for want in wanted) else set[str]()
    tagged = {"last_updated"} if kind.startswith(EXTRAS) else set[str]()
    fields = {"id", *tagged, about.named, about.mark, *settled, *which}
    called = {} if kind is Kind.CHOICE_SET else {about.named: sorted(names)}
    return client.rows(kind, ",".join(sorted(fields)), **called)


def _do(client: Client, step: Step, known: Mapping[Ref, int]) -> int:
    kind = step.wanted.kind
    why = {"changelog_message": WHY} if kind.startswith(EXTRAS) else {}
    if step.act is Act.MAKE:
        row = {**filled(step.wanted.fields, known.__getitem__), **why}
        made = client.add(kind, [row], ",".join(("id", *row)))
    else:
        row = {"id": step.row["id"], **filled(step.change, known.__getitem__), **why}
        made = client.change(kind, [row], ",".join(row), [tag(step.row)] if step.row.get("last_updated") else [])
    if not made:
        raise RefusedError("NetBox no longer finds it, or does not let this token change it; run this again")
    if lost_fields := lost(step.wanted, row, made[0]):
        raise RefusedError(f"NetBox accepted it and stored other values for {', '.join(lost_fields)}; check its page")
    return int(made[0]["id"])
