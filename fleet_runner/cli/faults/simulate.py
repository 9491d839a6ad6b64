"""The command that replays stored history against a changed policy, before it is live."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fleet_runner.adapters.files import policy as policy_file
from fleet_runner.adapters.source import Reader
from fleet_runner.cli.base.session import console, errors, opened, print_json, span, stamp
from fleet_runner.core.base.errors import FleetError, SettingsError
from fleet_runner.core.budgets import disruption_budget
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.simulation.history import FleetHistory, Known, past, read, written
from fleet_runner.core.faults.simulation.machine import REPAIR
from fleet_runner.core.faults.simulation.outcomes import ASSUMED
from fleet_runner.core.faults.simulation.simulate import (
    Difference,
    Figure,
    Outcome,
    Said,
    Simulation,
    differences,
    figures,
)
from fleet_runner.core.inventory.records import Fleet, nodes
from fleet_runner.reconcile.budgets.allowance import limits
from fleet_runner.settings import Settings, load

MODEL = (
    f"simulated: a node that waits for a person serves again after {REPAIR / 3600:g} h; people's requests, holds, "
    "rollouts, active tests, cables, a scheduler's answers, and rules' repeats and beside are not replayed"
)
UNKNOWN = (
    f"simulated: {ASSUMED}",
    MODEL,
    "a fault that a stricter policy would have prevented, or that idle hardware never showed, cannot be known",
)
"""What the figures rest on."""

SLOW = 2.0
"""Seconds after which it is told how far it is."""

History = Annotated[Path | None, typer.Option("--history", help="a history as JSON lines", metavar="FILE")]
Since = Annotated[str | None, typer.Option("--since", help="replay this much of the store's history: 30d, 12h")]
New = Annotated[
    Path | None,
    typer.Option("--policy", help="the policy to try; else only the one in force", metavar="FILE"),
]
Save = Annotated[Path | None, typer.Option("--save", help="write the replayed history to a file", metavar="FILE")]


def simulate(
    history: History = None,
    since: Since = None,
    policy: New = None,
    save: Save = None,
    json: Annotated[bool, typer.Option("--json", help="print JSON instead of text")] = False,
) -> None:
    """Replay history: what the policy in force, or another one, would have done had automation acted.

    Nothing is done to any node.
    """
    if (history is None) == (since is None):
        raise FleetError("name one of --history FILE and --since 30d")
    settings = load()
    found = _read(history) if history is not None else _stored(span(since or ""))
    if save is not None:
        _save(found, save)
        if policy is None:
            return
    tried = _policy(policy) if policy is not None else None
    old = _went(found, policy_file.rules(settings), settings)
    new = _went(found, tried, settings) if tried is not None else old
    rows, differ = figures(old.nodes, new.nodes), differences(old.nodes, new.nodes)
    if json:
        told = {"figures": [row._asdict() for row in rows], "differences": [_plain(each) for each in differ]}
        each = {name: [row._asdict() for row in figures({name: old.nodes[name]}, {name: new.nodes[name]})
                       if row.old or row.new] for name in old.nodes}  # fmt: skip
        trips = {"old": old.trips, "new": new.trips}
        print_json({"simulated": True, **told, "nodes": each, "breaker_opened": trips, "not_known": list(UNKNOWN)})
        return
    _tell(found, rows, (old,) if tried is None else (old, new))
    if tried is not None:
        _differ(differ)
    for sentence in UNKNOWN:
        console.print(sentence, style="dim", markup=False)


def _tell(found: FleetHistory, rows: tuple[Figure, ...], outcomes: Sequence[Outcome]) -> None:
    begins, ends = found.span()
    console.print(
        f"{len(found.nodes)} nodes, {len(found.faults)} faults, {stamp(begins)} to {stamp(ends)} UTC", markup=False
    )
    heads = ("IN FORCE", "NEW")[: len(outcomes)]
    table = Table("SIMULATED", *heads, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        values = (row.old, row.new)[: len(outcomes)]
        table.add_row(row.name, *(f"{value:.10g}" if value == int(value) else f"{value:.1f}" for value in values))
    table.add_row("breaker opened", *(str(each.trips) for each in outcomes))
    table.add_row("healed or not: assumed", *(f"{each.assumed} of {each.cures}" for each in outcomes))
    console.print(table)


def _differ(found: tuple[Difference, ...]) -> None:
    if not found:
        console.print("simulated: no decision about any node differs")
        return
    console.print(f"simulated: another decision about {len(found)} nodes; the first of each:")
    for each in found:
        console.print(each.node, style="bold", markup=False)
        console.print(f"  in force: {_words(each.old)}", markup=False, soft_wrap=True)
        console.print(f"  new:      {_words(each.new)}", markup=False, soft_wrap=True)


def _words(said: Said | None) -> str:
    return f"{stamp(said.at)} {said.what}: {said.sentence}" if said is not None else "nothing more"


def _plain(each: Difference) -> dict[str, object]:
    both: dict[str, object] = {"node": each.node}
    for name, said in (("old", each.old), ("new", each.new)):
        both[name] = said._asdict() if said is not None else None
    return both


def _policy(path: Path) -> Rules:
    checked = policy_file.check(path)
    if checked.slips:
        raise SettingsError(f"{checked.slips[0]}; correct it: fleet-runner policy check {path}")
    return checked.rules


def _read(path: Path) -> FleetHistory:
    try:
        with path.open(encoding="utf-8") as file:
            return read(file, str(path))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise FleetError(f"{path}: {why}; --history expects JSON lines, as --save writes them") from error


def _stored(seconds: float) -> FleetHistory:
    with opened() as (settings, store):
        fleet = Reader(settings)()
        return past([*_places(fleet), *store.past(time.time() - seconds)])


def _places(fleet: Fleet) -> list[Known]:
    return [
        Known(node.name, node.device_type, *disruption_budget.place(fleet, node.name)[:4]) for node in nodes(fleet)
    ]


def _save(found: FleetHistory, path: Path) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in written(found))
    except OSError as error:
        raise FleetError(f"{path}: {error.strerror}; --save expects a file that is not there yet") from error


def _went(found: FleetHistory, rules: Rules, settings: Settings) -> Outcome:
    return Simulation(found, rules, limits(settings, rules)).run(_progress())


def _progress() -> Callable[[float], None]:
    """Return what tells on standard error how far it is, once a second, where it takes long."""
    began = told = time.monotonic()

    def progress(share: float) -> None:
        nonlocal told
        now = time.monotonic()
        if now - began > SLOW and now - told > 1.0:
            told = now
            errors.print(f"simulated {share:.0%}", markup=False)

    return progress
