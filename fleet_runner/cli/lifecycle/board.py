"""The fleet on a terminal of 80 columns: one line a node."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from fleet_runner.cli.base.session import age
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.lifecycle.runs import Node, Run
from fleet_runner.core.lifecycle.states import Condition, Stage, State

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store
    from fleet_runner.core.boot.boots import Boot

COLOURS: dict[State, str] = {
    State.REGISTERED: "dim",
    State.PROVISION: "cyan",
    State.ONBOARD: "yellow",
    State.VERIFY: "cyan",
    State.FIRMWARE: "cyan",
    State.FIRMWARE_FAILED: "red",
    State.BURN_IN: "magenta",
    State.PRODUCTION: "green",
    State.RESET: "cyan",
    State.REBOOT: "cyan",
    State.TRIAGE: "red",
    State.DEBUG: "red",
    State.RMA: "red",
    State.WIPE: "magenta",
    State.RETIRED: "dim",
    State.WATCHED: "green",
}

BOOTS = frozenset({Stage.PROVISION, Stage.REBOOT})
"""Stages that boot a node."""

LONG, SHORT, ROOM = 300, 120, 92
"""A sentence is whole up to so many characters, a fabric's to fewer; longer ones, and raw output, only begin."""


def board(
    nodes: Iterable[Node],
    runs: Mapping[str, Run],
    now: float,
    usual: Mapping[Stage, float] | None = None,
    boots: "Mapping[str, Boot] | None" = None,
) -> Group:
    """Return one line a node (state, since, conditions, what happens now), then one a fabric, the counts above.

    `usual` is the usual length of each stage in seconds, where one was seen; `boots` are open ones, by node.
    """
    rows = sorted(nodes, key=lambda node: (node.device_type in FABRIC_TYPES, node.name))
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), expand=True)
    table.add_column("NODE", no_wrap=True)
    table.add_column("STATE", no_wrap=True)
    table.add_column("FOR", justify="right", no_wrap=True)
    table.add_column("NOW", ratio=1, overflow="fold")
    for node in rows:
        table.add_row(
            node.name,
            Text(node.state, style=COLOURS[node.state]),
            age(now - node.since),
            _now(node, runs.get(node.name), usual or {}, (boots or {}).get(node.name)),
        )
    return Group(counts(rows), table)


def counts(nodes: Iterable[Node]) -> Text:
    """Return "8 nodes: 6 production, 1 triage; 1 fabric: 1 watched"."""
    rows = list(nodes)
    found = [_count("node", [node.state for node in rows if node.device_type not in FABRIC_TYPES])]
    found.append(_count("fabric", [node.state for node in rows if node.device_type in FABRIC_TYPES]))
    return Text("; ".join(filter(None, found)) or "no nodes yet", style="bold")


def _count(what: str, found: Sequence[State]) -> str:
    states = Counter(found)
    listed = ", ".join(f"{states[state]} {state}" for state in State if states[state])
    return f"{len(found)} {what}{'s' if len(found) > 1 else ''}: {listed}" if found else ""


def brief(node: Node, words: str) -> str:
    """Return words about a node as its line has room for them, without control characters: `explain` has the rest."""
    first, *more = words.strip().splitlines() or [""]
    plain = " ".join("".join(each if each.isprintable() else " " for each in first).split())
    if not more and len(plain) <= (SHORT if node.device_type in FABRIC_TYPES else LONG):
        return plain
    sentence = re.split(r"[.;] |\.$", plain, maxsplit=1)[0]
    return f"{sentence if len(sentence) <= ROOM else sentence[:ROOM].rpartition(' ')[0] or sentence[:ROOM]} …"


def bar(run: Run, width: int = 10) -> str:
    """Return a progress bar of an open run; empty until the play has said how much there is to do."""
    if not run.total:
        return ""
    full = min(width, round(width * run.done / run.total))
    return "█" * full + "░" * (width - full)


def _now(node: Node, run: Run | None, usual: Mapping[Stage, float], boot: "Boot | None") -> Text:
    text = Text()
    for condition in Condition:
        if condition in node.conditions:
            detail = node.conditions[condition].detail if condition in {Condition.PENDING, Condition.ADVISED} else ""
            remedy = detail.partition("\n")[0]
            text.append(f"{condition}{f'({remedy})' if remedy else ''} ", style="bold yellow")
    if run is not None:
        booting = _booting(boot) if boot is not None and run.stage in BOOTS else ""
        return text.append(_progress(run, booting, usual.get(run.stage)))
    return text.append(node.waiting)


def _booting(boot: "Boot") -> str:
    from fleet_runner.cli.boot.progress import place  # noqa: PLC0415  few nodes boot at a time

    return f", boot: {place(boot)}"


def _progress(run: Run, booting: str, seconds: float | None) -> str:
    """Return a run in a few words; its task is one of a single node's view."""
    counted = f"{bar(run)} {run.stage} {run.done}/{run.total}{booting}" if run.total else f"{run.stage} starts"
    return counted if seconds is None else f"{counted}, usually {seconds:.0f} s"


def usual(store: "Store", runs: Iterable[Run]) -> dict[Stage, float]:
    """Return the usual length, in seconds, of each stage that runs now: the median of its past runs."""
    past = {stage: store.durations(stage) for stage in {run.stage for run in runs}}
    if not past:
        return {}
    from statistics import median  # noqa: PLC0415  it takes longer than the table

    return {stage: median(seconds) for stage, seconds in past.items() if seconds}
