"""fleet-runner cabling diff: what changed between two looks at a fabric."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from fleet_runner.cli.base.session import Exit, console, opened, print_json, stamp
from fleet_runner.cli.cabling import sheets
from fleet_runner.cli.cabling.captures import Capture, Neighbours, from_files, of_run
from fleet_runner.cli.cabling.design import design, uncollected, undesigned
from fleet_runner.cli.cabling.options import AsJson, Csv, Expected, Names, one_form
from fleet_runner.cli.cabling.text import says
from fleet_runner.core.base.errors import EvidenceError, FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.changes import Changes, changes
from fleet_runner.core.lifecycle.runs import Run

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store

Look = Annotated[
    str,
    typer.Argument(help="a run's number (fleet-runner cabling sweeps), a capture's file, or a folder of LLDP's"),
]
Looks = tuple[Capture | Neighbours, Capture | Neighbours]


def diff(
    before: Look,
    after: Look,
    *,
    expected: Expected = None,
    names: Names = None,
    json: AsJson = False,
    csv: Csv = False,
) -> None:
    """Show what changed between two sweeps: links added, removed or moved, rates, devices.

    Ports have the design's names: of the source of truth for stored sweeps, of `--expected` for files; without a
    design they have the fabric's. Exit code 0: nothing changed; 1: something did; 2: a look cannot be used.
    """
    one_form(json=json, csv=csv)
    with uncollected():
        looks = _looks(before, after)
        named = expected is not None or names is not None or any(_run(each) for each in looks)
        should = (design(expected, names) if named else undesigned()).numbered(looks[0])
        found = _changes(should.bound(looks[0]), should.bound(looks[1]), looks)
    if json:
        print_json({"before": _about(looks[0]), "after": _about(looks[1]), "changes": found})
    elif csv:
        sheets.changes(found)
    else:
        _tell(found, looks)
    raise typer.Exit(Exit.NO if found.any else Exit.OK)


def _looks(before: str, after: str) -> Looks:
    """Open the store only if a run is named."""
    if not before.isdecimal() and not after.isdecimal():
        looks = from_files([Path(before)]), from_files([Path(after)])
    else:
        with opened() as (_, store):
            looks = _look(store, before), _look(store, after)
    if isinstance(looks[0], Neighbours) != isinstance(looks[1], Neighbours):
        raise FleetError(
            f"{looks[0].label} and {looks[1].label}: one is of InfiniBand, one of Ethernet; compare two of a kind"
        )
    return looks


def _look(store: "Store", name: str) -> Capture | Neighbours:
    if not name.isdecimal():
        return from_files([Path(name)])
    run = store.run(int(name))
    if run is None:
        raise FleetError(f"there is no run {name}; fleet-runner cabling sweeps lists those of fabrics")
    found = of_run(store, run)
    if found is None:
        raise FleetError(
            f"run {name} ({run.stage} of {run.node}) holds no whole fabric; fleet-runner cabling sweeps lists some"
        )
    return found


def _changes(before: Bound, after: Bound, looks: Looks) -> Changes:
    try:
        return changes(before, after)
    except EvidenceError as error:
        raise EvidenceError(f"{looks[0].label} or {looks[1].label}: {error}") from error


def _run(look: Capture | Neighbours) -> Run | None:
    return look.run


def _about(look: Capture | Neighbours) -> dict[str, Any]:
    return {"label": look.label, "run": _run(look)}


def _words(look: Capture | Neighbours) -> str:
    run = _run(look)
    return f"{look.label} ({run.node}, {stamp(run.opened_at)})" if run is not None else look.label


def _tell(found: Changes, looks: Looks) -> None:
    console.print(f"{_words(looks[0])} → {_words(looks[1])}", markup=False, style="bold")
    for device in found.gone_devices:
        _line("device gone", device)
    for device in found.new_devices:
        _line("new device", device)
    for move in found.moved:
        _line("moved", f"the cable at {move.stays}: from {move.source} to {move.target}")
    for joined in found.gone:
        _line("gone", says(joined))
    for joined in found.come:
        _line("come", says(joined))
    for each in found.rerated:
        _line("rate", f"{says(each.link)}: {each.after}, was {each.before}")
    console.print(f"{found.same} links are as they were" if found.any else f"nothing changed: {found.same} links")


def _line(change: str, sentence: str) -> None:
    console.print(Text(f"{change:<11}", style="bold").append(f"  {printable(sentence)}", style="default"))
