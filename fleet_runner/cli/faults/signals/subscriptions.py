"""fleet-runner signals subscribe, unsubscribe and subscriptions: which BMCs post their events to us."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Annotated
from urllib.parse import quote, urlsplit

import typer
from rich.text import Text

from fleet_runner.adapters import redfish, source
from fleet_runner.adapters.redfish import Bmc, events
from fleet_runner.adapters.redfish.events import Events
from fleet_runner.adapters.redfish.exchange import is_loopback
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import ByNode, Exit, age, console, known, opened, print_json, split, whoami
from fleet_runner.core.base.errors import BmcRefused, FleetError, SettingsError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.faults.signals import subscriptions as core
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.faults.signals.subscriptions import Plan
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.core.inventory import ansible
from fleet_runner.core.inventory.bmc_address import networks
from fleet_runner.core.lifecycle.states import FABRICS, State
from fleet_runner.services.http.admission import digest, make
from fleet_runner.settings import Settings

AT_ONCE = 16
"""BMCs that are asked at a time."""

PREFIX = "bmc:"
"""How the name of a BMC's token begins; no person can make one of such a name."""

REFUSED = "refused"

SHOWN = 3
"""Destinations of others that are told of."""

Nodes = Annotated[list[str] | None, ByNode]
All = Annotated[bool, typer.Option("--all", help="every node that has a BMC")]
Dry = Annotated[bool, typer.Option("--dry-run", help="only show what would be done")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


@dataclass(frozen=True, slots=True)
class BmcOutcome:
    """What was found, or done, at one BMC; `known` is False where that is not known, or it refused."""

    node: str
    outcome: str
    said: str
    known: bool = True
    others: tuple[str, ...] = ()
    heard_at: float | None = None


@dataclass(frozen=True, slots=True)
class WorkContext:
    """What the work at each BMC is done with; `tokens` are those of BMCs that are good, by node."""

    settings: Settings
    store: Store
    tokens: dict[str, Token]
    dry: bool = False

    def destination(self, node: str) -> str:
        """Return where a node's BMC posts to."""
        return f"{self.settings.signals_url.rstrip('/')}/signals/redfish/{quote(node, safe='')}"

    def plan(self, node: str, found: Events) -> Plan:
        """Return what is to be done at a node's BMC."""
        token = self.tokens.get(node)
        sha = token.digest if token is not None else ""
        return core.plan(found.subscriptions, self.destination(node), sha, lambda text: digest(text.encode()))


Work = Callable[[WorkContext, str, Bmc, Events], BmcOutcome]


def subscribe(*, node: Nodes = None, every: All = False, dry_run: Dry = False, json: Json = False) -> None:
    """Subscribe to the events of BMCs; each gets a token that is valid for its own node only.

    What is well is left as it is; what a BMC has lost, as some do when they restart, is made again. So it may run
    every quarter of an hour. Exit code 1: a BMC refused; 3: one could not be asked, or has no event service.
    """
    _all(_subscribed, node, every=every, dry=dry_run, json=json)


def unsubscribe(*, node: Nodes = None, every: All = False, dry_run: Dry = False, json: Json = False) -> None:
    """End our subscriptions at BMCs, and their tokens. Subscriptions of others are left."""
    _all(_unsubscribed, node, every=every, dry=dry_run, json=json)


def list_subscriptions(*, node: Nodes = None, every: All = False, json: Json = False) -> None:
    """List BMC subscriptions: when each BMC was last heard, and who else is subscribed."""
    _all(_looked, node, every=every, dry=True, json=json)


def _all(work: Work, named: list[str] | None, *, every: bool, dry: bool, json: bool) -> None:
    if bool(named) is every:
        raise FleetError("name nodes (--node gpu-03), or use --all")
    now = time.time()
    with opened() as (settings, store):
        _checked(settings)
        urls = _bmcs(settings, store, split(named or ()))
        good = {each.name.removeprefix(PREFIX): each for each in store.tokens() if _is_good(each, now)}
        desk = WorkContext(settings, store, good, dry=dry)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            told = list(pool.map(lambda one: _at(desk, work, *one), urls.items()))
    if json:
        print_json([asdict(each) for each in told])
    else:
        for each in told:
            console.print(_line(each, now), soft_wrap=True)
        if not told:
            console.print("no node has a BMC address")
    raise typer.Exit(max((_code(each) for each in told), default=Exit.OK))


def _checked(settings: Settings) -> None:
    """Refuse an address to which BMCs cannot post, or not without telling everybody their tokens."""
    try:
        at = urlsplit(settings.signals_url)
        host, _ = at.hostname or "", at.port
    except ValueError:
        host, at = "", urlsplit("")
    if at.scheme not in {"http", "https"} or not host or at.query or at.fragment or "@" in at.netloc:
        raise SettingsError(
            f"setting 'signals_url' is {settings.signals_url!r}; expected where BMCs reach the listener, like"
            " https://fleet.example:8490"
        )
    if at.scheme == "http" and not settings.signals_plain and not is_loopback(host):
        raise SettingsError(
            f"setting 'signals_url': {settings.signals_url} would send tokens in the clear; use https, or set"
            " signals_plain = true"
        )


def _bmcs(settings: Settings, store: Store, names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return each node's BMC, and why it may not be asked; "" for a node that was named and has none."""
    fleet = source.read(settings)
    rows = [known(store, name) for name in names] or [
        each for each in store.nodes() if each.state not in FABRICS | {State.RETIRED}
    ]
    found: dict[str, tuple[str, str]] = {}
    allowed = networks(settings.bmc_networks)
    for row in rows:
        device = fleet.devices.get(row.name)
        variables = ansible.hostvars(fleet, device, {}, allowed) if device is not None else {}
        url, refused = (str(variables.get(name) or "") for name in ("fleet_bmc_url", "fleet_bmc_refused"))
        found[row.name] = (url, refused)
    return {name: each for name, each in found.items() if any(each) or names}


def _is_good(token: Token, now: float) -> bool:
    return token.name.startswith(PREFIX) and not token.refusal(now)


def _at(desk: WorkContext, work: Work, node: str, at: tuple[str, str]) -> BmcOutcome:
    """Do something at one BMC; whatever goes wrong there is said of it alone."""
    url, refused = at
    if refused:
        return BmcOutcome(node, REFUSED, refused, known=False)
    if not url:
        said = "it has no BMC address; give the device an out-of-band address"
        return BmcOutcome(node, "unknown", said, known=False)
    try:
        with closing(redfish.opened(desk.settings, url, name=node)) as bmc:
            found = events.read(bmc)
            if found is None:
                said = f"{url} has no event service: only sweeps see its faults"
                return BmcOutcome(node, "unknown", said, known=False)
            return work(desk, node, bmc, found)
    except FleetError as error:
        return BmcOutcome(node, "unknown", str(error), known=False)


def _subscribed(desk: WorkContext, node: str, bmc: Bmc, found: Events) -> BmcOutcome:
    plan = desk.plan(node, found)
    if plan.keeps is not None and not plan.ends and found.service.get("ServiceEnabled") is not False:
        return _kept(desk, node, plan, "it posts here, as it did")
    again = "anew" if plan.ends or node in desk.tokens else "now"
    if desk.dry:
        return BmcOutcome(node, "would subscribe", f"a subscription would be made {again}", others=plan.others)
    was_off = events.switch_on(bmc, found)
    off = "; its event service was off" if was_off else ""
    for each in plan.ends:
        events.end(bmc, each.uri)
    if plan.keeps is not None:
        return _kept(desk, node, plan, f"it posts here, only once now{off}")
    refusal = _made(desk, node, bmc, found)
    if refusal:
        return BmcOutcome(node, REFUSED, refusal, known=False, others=plan.others)
    return BmcOutcome(node, "subscribed", f"it posts here {again}{off}", others=plan.others)


def _kept(desk: WorkContext, node: str, plan: Plan, said: str) -> BmcOutcome:
    return BmcOutcome(node, "as it was", said, others=plan.others, heard_at=desk.tokens[node].used_at)


def _made(desk: WorkContext, node: str, bmc: Bmc, found: Events) -> str:
    """Make a token and a subscription; a token that nobody was given is ended again. Say why the BMC refuses."""
    now, name = time.time(), f"{PREFIX}{node}"
    token, sha = make()
    desk.store.revoke_token(name, now)
    desk.store.add_token(Token(name, sha, now, whoami(), sources=(Source.REDFISH,), nodes=(node,)))
    asked = core.body(found.service, desk.destination(node), token, sha, verify=desk.settings.signals_verify)
    try:
        refusal = events.subscribe(bmc, found, asked, token)
    except BmcRefused:  # it never reached the BMC
        desk.store.revoke_token(name, time.time())
        raise
    if refusal:
        desk.store.revoke_token(name, time.time())
    return refusal


def _unsubscribed(desk: WorkContext, node: str, bmc: Bmc, found: Events) -> BmcOutcome:
    plan = desk.plan(node, found)
    mine = (*plan.ends, *((plan.keeps,) if plan.keeps is not None else ()))
    if desk.dry:
        said = "our subscription would be ended" if mine else "it has no subscription of ours"
        return BmcOutcome(node, "would unsubscribe" if mine else "as it was", said, others=plan.others)
    for each in mine:
        events.end(bmc, each.uri)
    ended = desk.store.revoke_token(f"{PREFIX}{node}", time.time())
    if not mine and not ended:
        return BmcOutcome(node, "as it was", "it has no subscription of ours", others=plan.others)
    return BmcOutcome(node, "unsubscribed", "it no longer posts here, and its token is revoked", others=plan.others)


def _looked(desk: WorkContext, node: str, bmc: Bmc, found: Events) -> BmcOutcome:
    del bmc
    plan = desk.plan(node, found)
    if plan.keeps is not None and found.service.get("ServiceEnabled") is not False:
        return BmcOutcome(node, "subscribed", "it posts here", others=plan.others, heard_at=desk.tokens[node].used_at)
    said = "it does not post here"
    if plan.keeps is not None:
        said = "its event service is off"
    elif plan.ends:
        said = "its subscription is no longer valid"
    return BmcOutcome(
        node, "not subscribed", f"{said}; fleet-runner signals subscribe --node {node}", others=plan.others
    )


def _code(told: BmcOutcome) -> Exit:
    if told.known:
        return Exit.OK
    return Exit.NO if told.outcome == REFUSED else Exit.TROUBLE


def _line(told: BmcOutcome, now: float) -> Text:
    line = Text(printable(told.node), style="bold")
    line.append(f"  {told.outcome}: ", style="not bold" if told.known else "not bold red")
    line.append(printable(told.said), style="not bold")
    if told.outcome in {"as it was", "subscribed"} and told.known:
        heard = "no event yet" if told.heard_at is None else f"last event {age(now - told.heard_at)} ago"
        line.append(f"; {heard}", style="not bold dim")
    if told.others:
        more = f" and {len(told.others) - SHOWN} more" if len(told.others) > SHOWN else ""
        line.append(f"\n    also to {', '.join(map(_place, told.others[:SHOWN]))}{more}", style="not bold dim")
    return line


def _place(destination: str) -> str:
    """Return a destination of somebody else's without what may be a secret of his."""
    try:
        split = urlsplit(destination)
        return printable(f"{split.scheme}://{split.hostname or '?'}{f':{split.port}' if split.port else ''}")[:120]
    except ValueError:
        return "an address that is none"
