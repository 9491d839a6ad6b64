"""Commands about how far automation may go: mode shows it; act, advise, observe and forget set it for a place."""

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from fleet_runner.adapters.source import Reader
from fleet_runner.cli.base.session import Exit, console, opened, plain, print_json, split, stamp, whoami
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.suggestions import alike
from fleet_runner.core.budgets import modes
from fleet_runner.core.budgets.modes import Kind, Mode, Modes, Scope, Setting, Where
from fleet_runner.core.inventory.records import Fleet, nodes
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import ENDED, Condition

app = typer.Typer(invoke_without_command=True, rich_markup_mode="markdown")

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Reason = Annotated[str, typer.Option("--reason", "-r", help="why; shown with the mode")]
By = Annotated[str | None, typer.Option("--by", help="who says so; default: the user who runs the command")]
For = Annotated[
    list[Kind] | None,
    typer.Option("--for", help="only for this kind of action; repeat for several; default: everything"),
]
WholeFleet = Annotated[bool, typer.Option("--fleet", help="the whole fleet")]
Sites = Annotated[list[str] | None, typer.Option("--site", help="a site")]
Racks = Annotated[list[str] | None, typer.Option("--rack", help="a rack with its site: hall-1/A03")]
Types = Annotated[list[str] | None, typer.Option("--device-type", help="a device type, by its slug")]
Tenants = Annotated[list[str] | None, typer.Option("--tenant", help="a tenant")]
Nodes = Annotated[list[str] | None, typer.Option("--node", "-n", help="a node")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="show what would follow, and change nothing")]

ORDER = tuple(Mode)


class ModeRequest(NamedTuple):
    """What a command line asks for: where, and for what."""

    places: tuple[tuple[Scope, str], ...]
    kinds: tuple[Kind | None, ...]


@app.callback()
def show(context: typer.Context, json: Json = False) -> None:
    """Show what automation may do: the modes that were set, and how many nodes it observes, advises and acts on."""
    if context.invoked_subcommand is not None:
        return
    with opened() as (settings, store):
        said, fleet = store.modes(), store.placed(Reader(settings)())
        found = {node.name: (node, modes.modes(said, Where.of(fleet, node.name))) for node in _living(store.nodes())}
        holding = modes.standing(said)
        if json:
            told = {name: {kind: its.mode(kind) for kind in Kind} for name, (_, its) in found.items()}
            print_json({"settings": [plain(each) for each in holding], "nodes": told, "advised": _advised(found)})
            return
        console.print(modes.told(holding), markup=False, soft_wrap=True)
        if found:
            console.print(_counts(found))
        if holding:
            console.print(_settings(holding))
        for line in _advised(found):
            console.print(line, markup=False, soft_wrap=True)


def _setting(mode: Mode | None, help_text: str) -> None:
    def command(
        reason: Reason,
        *,
        fleet: WholeFleet = False,
        site: Sites = None,
        rack: Racks = None,
        device_type: Types = None,
        tenant: Tenants = None,
        node: Nodes = None,
        kinds: For = None,
        dry_run: DryRun = False,
        by: By = None,
    ) -> None:
        given = {Scope.SITE: site, Scope.RACK: rack, Scope.DEVICE_TYPE: device_type, Scope.TENANT: tenant}
        given |= {Scope.NODE: node}
        named = [(scope, name) for scope, names in given.items() for name in split(names or ())]
        asked = ModeRequest((*(((Scope.FLEET, ""),) if fleet else ()), *named), tuple(kinds or (None,)))
        _say(mode, asked, (by or whoami(), reason.strip()), dry_run=dry_run)

    app.command(mode.value if mode is not None else "forget", help=help_text)(command)


_setting(Mode.ACT, "Let automation act at a place: drain, reset, boot and flash as the policy says.")
_setting(Mode.ADVISE, "Let automation advise at a place: it says what it would do and opens tickets.")
_setting(Mode.OBSERVE, "Let automation only observe at a place: it reads, judges and reports, and changes nothing.")
_setting(None, "Remove the mode of a place; the mode of the wider place applies again.")


def _say(mode: Mode | None, asked: ModeRequest, whose: tuple[str, str], *, dry_run: bool) -> None:
    by, reason = whose
    if not asked.places:
        raise FleetError("no place is given; use --node, --rack, --device-type, --tenant, --site or --fleet")
    if not reason:
        raise FleetError("--reason is empty; say why, for the person on call")
    with opened(create=True) as (settings, store):
        fleet, said = store.placed(Reader(settings)()), store.modes()
        _check(fleet, asked.places)
        now = time.time()
        more = [
            Setting(scope, name, kind, mode, now, by, reason) for scope, name in asked.places for kind in asked.kinds
        ]
        if mode is None and not any((each.scope, each.name, each.kind) in _keys(said) for each in more):
            console.print("no mode is set there; nothing was changed")
            raise typer.Exit(Exit.NO)
        for line in _follows(fleet, store.nodes(), said, [*said, *more]):
            console.print(line, markup=False, soft_wrap=True)
        if dry_run:
            console.print("dry run: nothing was changed")
            return
        for each in more:
            store.set_mode(each)
    console.print(f"kept: {modes.told(modes.standing([*said, *more]))}", markup=False, soft_wrap=True)


def _keys(said: Sequence[Setting]) -> set[tuple[Scope, str, Kind | None]]:
    return {(each.scope, each.name, each.kind) for each in modes.standing(said)}


def _check(fleet: Fleet, places: Sequence[tuple[Scope, str]]) -> None:
    """Refuse a place that the source does not know: a slip of the keys would be a mode of nothing."""
    for scope, name in places:
        known = {Where.of(fleet, device.name).named(scope) for device in nodes(fleet)}
        if name not in known:
            like = ", ".join(alike(name, sorted(known))) or ", ".join(sorted(known - {""})[:5]) or "none"
            raise FleetError(
                f"the source of truth has no {scope.value.replace('_', ' ')} {name!r} with nodes; it has {like}"
            )


def _follows(fleet: Fleet, known: Sequence[Node], before: Sequence[Setting], after: Sequence[Setting]) -> list[str]:
    """Return what a change would change, a line each."""
    rows = {node.name: node for node in _living(known)}
    names = sorted({device.name for device in nodes(fleet)} | rows.keys())
    was = {name: modes.modes(before, Where.of(fleet, name)) for name in names}
    will = {name: modes.modes(after, Where.of(fleet, name)) for name in names}
    lines = []
    for kind in Kind:
        changed = [name for name in names if was[name].mode(kind) is not will[name].mode(kind)]
        if changed:
            to = sorted({will[name].mode(kind) for name in changed}, key=ORDER.index)
            lines.append(f"{kind}: {' and '.join(to)} at {counted(len(changed), 'node', 'nodes')}, {_few(changed)}")
    acts = {name: (rows[name], will[name]) for name in rows if will[name].highest is Mode.ACT}
    return [*(lines or ["nothing changes at any node"]), *_advised(acts)]


def _few(names: Sequence[str]) -> str:
    most = 5
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _advised(found: Mapping[str, tuple[Node, Modes]]) -> list[str]:
    """Say what is advised now, and would be done where it acted: what the mode spares, or keeps from being healed."""
    remedies: dict[str, list[str]] = {}
    for name, (node, _) in found.items():
        if (held := node.conditions.get(Condition.ADVISED)) is not None:
            remedies.setdefault(held.detail.partition("\n")[0], []).append(name)
    return [
        f"advised now: {remedy} would take {counted(len(names), 'node', 'nodes')} out of service: {_few(names)}"
        for remedy, names in sorted(remedies.items())
    ]


def _living(known: Sequence[Node]) -> list[Node]:
    return [node for node in known if node.state not in ENDED]


def _counts(found: Mapping[str, tuple[Node, Modes]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("FOR")
    for mode in Mode:
        table.add_column(mode.value.upper(), justify="right")
    for kind in Kind:
        counts = [sum(its.mode(kind) is mode for _, its in found.values()) for mode in Mode]
        table.add_row(kind.value, *(Text(str(count), "" if count else "dim") for count in counts))
    return table


def _settings(holding: Sequence[Setting]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("PLACE", "FOR", "MODE", "SINCE"):
        table.add_column(name, no_wrap=True)
    table.add_column("WHO, WHY", overflow="fold")
    for each in holding:
        what = each.kind.value if each.kind is not None else "everything"
        mode = each.mode.value if each.mode is not None else ""
        table.add_row(each.place, what, mode, stamp(each.at)[:16], Text(f"{each.by}: {each.reason}"))
    return table
