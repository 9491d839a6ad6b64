"""Commands over what is stored: results, and replay, which judges them again."""

import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from fleet_runner.adapters.store import ResultFilter, Store
from fleet_runner.cli.base.session import age, console, errors, known, opened, print_json, span, stamp
from fleet_runner.cli.checks.check import known as known_checks
from fleet_runner.cli.checks.profiles import against
from fleet_runner.cli.lifecycle.show import VERDICT_COLOURS
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks import replay
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.replay import Again, ReplayCounts, Setting
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.faults.confirmation import speaks
from fleet_runner.core.lifecycle.runs import Run, Stored

Since = Annotated[str, typer.Option(help="how far to look back: 90m, 12h, 30d or 4w", metavar="SPAN")]
NodeName = Annotated[str, typer.Option("--node", "-n", help="only this node's", metavar="NODE")]
Check = Annotated[str, typer.Option("--check", "-c", help="only this check's", metavar="NAME")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]

LOOKED_BACK = 5
"""Answers among which the newest is looked for that a check remembers."""

MOVES = 1000
"""A node's newest changes of state, among which that is looked for to which a result belongs."""

PAGE = 200
"""Results whose evidence is in memory at a time."""


def results(
    *,
    node: NodeName = "",
    check: Check = "",
    verdict: Annotated[Verdict | None, typer.Option(help="only this answer", case_sensitive=False)] = None,
    since: Since = "30d",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="the newest so many")] = 50,
    json: Json = False,
) -> None:
    """List stored results, the newest first; explain NODE and evidence HASH show what they were drawn from."""
    with opened() as (_, store):
        found = store.find_results(_sought(store, node, check, since, verdict), limit=limit)
        if json:
            print_json(found)
            return
        for each in found:
            console.print(_line(each))
        every = "1 result" if len(found) == 1 else f"{len(found)} results"
        counted = f"the newest {limit}" if len(found) == limit else every
        console.print(
            f"{counted} of the last {since}" if found else f"no such results in the last {since}", style="dim"
        )


def replaying(
    *,
    changed: Annotated[
        Path, typer.Option("--with", help="YAML: the part of fleet_profile that changes", exists=True, dir_okay=False)
    ],
    node: NodeName = "",
    check: Check = "",
    since: Since = "30d",
    limit: Annotated[int, typer.Option(min=1, help="at most so many results, the newest")] = 10_000,
    json: Json = False,
) -> None:
    """Judge stored evidence again by a changed profile, and list the results that would differ.

    Nothing is changed. Only results that come out with the profile and the design of today as they did then are
    judged again; the others are counted, by the reason and by their check.
    """
    with opened() as (settings, store):
        sought = _sought(store, node, check, since)
        held = against(settings, store, changed)
        tally = ReplayCounts()
        looked = time.monotonic()
        oldest = time.time()
        for stored, found in judged(store, sought, held, limit, settings.cabling_suspect_share):
            tally.take(stored.result.check, found)
            oldest = stored.at
            if sys.stderr.isatty() and time.monotonic() - looked > 1.0:
                looked = time.monotonic()
                errors.print(f"judged {tally.seen} results, {age(time.time() - stored.at)} back")
        if json:
            print_json({
                "reproduced": tally.reproduced,
                "left_out": {why.name.lower(): checks for why, checks in tally.left.items()},
                "changes": [_plain(each) for each in tally.changes],
            })  # fmt: skip
            return
        _tell(tally, since, limit, oldest)


def _sought(store: Store, node: str, check: str, since: str, verdict: Verdict | None = None) -> ResultFilter:
    if node:
        known(store, node)
    if check:
        known_checks([check])
    return ResultFilter(node, check, verdict, time.time() - span(since))


def _line(stored: Stored) -> Text:
    result = stored.result
    text = Text(f"{stamp(stored.at)} ", style="dim")
    text.append(f"{result.verdict:<8}", style=VERDICT_COLOURS[result.verdict])
    return text.append(printable(f"{stored.node} {result.check}: {result.message}"), style="default")


def judged(
    store: Store, sought: ResultFilter, held: dict[str, Setting], limit: int, suspect: float
) -> Iterator[tuple[Stored, Again | replay.Left]]:
    """Yield each result with what comes of it, a page at a time, the newest first."""
    below: int | None = None
    moves: dict[str, tuple[float, ...]] = {}
    while limit > 0 and (page := store.find_results(sought, below=below, limit=min(PAGE, limit))):
        pieces = store.pieces(digest for each in page for digest in each.result.evidence)
        for each in page:
            if each.node not in moves:
                moves[each.node] = tuple(entry.at for entry in store.history(each.node, MOVES, "transition"))
            told = {"suspect_share": suspect, **_stay(store.run(each.run), moves[each.node])}
            yield each, replay.again(each, pieces, held.get(each.node), _before(store, each), told)
        below, limit = page[-1].id, limit - len(page)


def _stay(run: Run | None, moves: tuple[float, ...]) -> dict[str, float]:
    """Return what a run's play was told of the node's stay, from when it moved; by hand it is told of none."""
    if run is None:
        return {}
    came = max((at for at in moves if at <= run.opened_at), default=None)
    since = {"since": came} if came is not None and run.fence > 0 else {}
    return {"opened_at": run.opened_at, **since}


def _before(store: Store, stored: Stored) -> Stored | None:
    """Return what a check that remembers had answered before: the newest answer that said anything."""
    check = CHECKS.get(stored.result.check)
    if check is None or not check.remembers or not stored.result.evidence:
        return None
    earlier = store.find_results(ResultFilter(stored.node, stored.result.check), below=stored.id, limit=LOOKED_BACK)
    return next((each for each in earlier if speaks(each.result)), None)


def _tell(tally: ReplayCounts, since: str, limit: int, oldest: float) -> None:
    groups: dict[tuple[str, str, str], list[Again]] = defaultdict(list)
    for each in tally.changes:
        groups[each.stored.node, each.before.check, each.words].append(each)
    for (name, check, words), mine in sorted(groups.items()):
        console.print(Text(f"{name} {check}: ", style="bold").append(f"{words}, {_times(mine)}", style="default"))
        console.print(Padding(Text(printable(mine[0].after.message)), (0, 0, 0, 2)))
    every = tally.seen
    counted, back = (f"The newest {limit}", f", back to {stamp(oldest)}") if every >= limit else (str(every), "")
    nodes = len({name for name, _, _ in groups})
    differ = f"of those {len(tally.changes)} would differ, on {nodes} nodes"
    reproduced = f"{tally.reproduced} were reproduced with the profile of today; {differ}"
    console.print(f"{counted} results of the last {since}{back}: {reproduced}.")
    if tally.left:
        console.print(f"{every - tally.reproduced} were not, and are left out:")
    for why, checks in sorted(tally.left.items(), key=lambda each: -each[1].total()):
        console.print(Padding(Text(f"{checks.total()}: {why}"), (0, 0, 0, 2)))
        named = ", ".join(f"{check} {count}" for check, count in checks.most_common())
        console.print(Padding(Text(named, style="dim"), (0, 0, 0, 5)))


def _times(mine: list[Again]) -> str:
    newest, oldest = mine[0].stored.at, mine[-1].stored.at
    return f"once, at {stamp(newest)}" if len(mine) == 1 else f"{len(mine)} times, {stamp(oldest)} to {stamp(newest)}"


def _plain(each: Again) -> dict[str, object]:
    stored = each.stored
    where = {"result": stored.id, "run": stored.run, "node": stored.node, "at": stored.at}
    return {**where, "check": each.before.check, "was": each.before, "would_be": each.after}
