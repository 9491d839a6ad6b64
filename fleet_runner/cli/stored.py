"""Commands over what is stored: results, and replay, which judges them again."""

import json as json_module
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.text import Text

from fleet_runner import source
from fleet_runner.adapters import profiles
from fleet_runner.adapters.store import Sought, Store
from fleet_runner.cli.checking import known as known_checks
from fleet_runner.cli.reading import VERDICT_COLOURS
from fleet_runner.cli.session import age, console, errors, known, opened, print_json, span, stamp
from fleet_runner.core import inventory, replay
from fleet_runner.core.checks import CHECKS
from fleet_runner.core.errors import SettingsError, SourceError
from fleet_runner.core.printable import printable
from fleet_runner.core.replay import Again, Setting, Tally
from fleet_runner.core.runs import Run, Stored
from fleet_runner.core.sightings import speaks
from fleet_runner.core.verdicts import Verdict
from fleet_runner.settings import Settings

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
        counted = f"the newest {limit}" if len(found) == limit else f"{len(found)} results"
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
    """Judge stored evidence again with a changed profile, and say what would have been answered otherwise.

    Nothing is changed. Only results that the profile of today reproduces are judged again; the others are counted.
    """
    with opened() as (settings, store):
        sought = _sought(store, node, check, since)
        held = _settings_of(settings, store, changed, sought)
        tally = Tally()
        looked = time.monotonic()
        oldest = time.time()
        for stored, found in _judged(store, sought, held, limit):
            tally.take(found)
            oldest = stored.at
            if sys.stderr.isatty() and time.monotonic() - looked > 1.0:
                looked = time.monotonic()
                errors.print(
                    f"judged {tally.reproduced + tally.left.total()} results, {age(time.time() - stored.at)} back"
                )
        if json:
            print_json({
                "reproduced": tally.reproduced,
                "left_out": {why.name.lower(): count for why, count in tally.left.items()},
                "changes": [_plain(each) for each in tally.changes],
            })  # fmt: skip
            return
        _tell(tally, since, limit, oldest)


def _sought(store: Store, node: str, check: str, since: str, verdict: Verdict | None = None) -> Sought:
    if node:
        known(store, node)
    if check:
        known_checks([check])
    return Sought(node, check, verdict, time.time() - span(since))


def _line(stored: Stored) -> Text:
    result = stored.result
    text = Text(f"{stamp(stored.at)} ", style="dim")
    text.append(f"{result.verdict:<8}", style=VERDICT_COLOURS[result.verdict])
    return text.append(printable(f"{stored.node} {result.check}: {result.message}"), style="default")


def _judged(
    store: Store, sought: Sought, held: dict[str, Setting], limit: int
) -> Iterator[tuple[Stored, Again | replay.Left]]:
    """Yield each result with what comes of it, a page at a time, the newest first."""
    below: int | None = None
    moves: dict[str, tuple[float, ...]] = {}
    while limit > 0 and (page := store.find_results(sought, below=below, limit=min(PAGE, limit))):
        pieces = store.pieces(digest for each in page for digest in each.result.evidence)
        for each in page:
            if each.node not in moves:
                moves[each.node] = tuple(entry.at for entry in store.history(each.node, MOVES, "transition"))
            stay = _stay(store.run(each.run), moves[each.node])
            yield each, replay.again(each, pieces, held.get(each.node), _before(store, each), stay)
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
    if check is None or not check.remembers or check.needs_fabric or not stored.result.evidence:
        return None
    earlier = store.find_results(Sought(stored.node, stored.result.check), below=stored.id, limit=LOOKED_BACK)
    return next((each for each in earlier if speaks(each.result)), None)


def _settings_of(settings: Settings, store: Store, changed: Path, sought: Sought) -> dict[str, Setting]:
    """Return what each node is held against: the profile of its device type, that with the change, and its record."""
    nodes = [each for each in store.nodes() if sought.node in {"", each.name}]
    kinds = {each.device_type for each in nodes}
    found: dict[str, dict[str, Any]] = {}
    for kind in sorted(kinds):
        try:
            # As a play is given it: JSON's types alone, no dates and no numbers as keys.
            found[kind] = json_module.loads(json_module.dumps(profiles.read(settings, kind), default=str))
        except SettingsError as error:
            errors.print(f"warning: {error}", markup=False, soft_wrap=True)
    try:
        changes = replay.spread(profiles.load(changed), found)
    except SettingsError as error:
        raise SettingsError(
            f"{changed}: {error}".replace("the file: ", "").replace("the file holds", "it holds")
        ) from None
    for kind, change in changes.items():
        for key in replay.added(found[kind], change):
            told = f"warning: {key} is not in the profile of {kind}: it is new, or a slip"
            errors.print(told, markup=False, soft_wrap=True)
    records = _records(settings)
    return {
        each.name: Setting(
            found[each.device_type],
            replay.overlaid(found[each.device_type], changes.get(each.device_type, {})),
            records.get(each.name, {}),
        )
        for each in nodes
        if each.device_type in found
    }


def _records(settings: Settings) -> dict[str, dict[str, object]]:
    """Return each node's own record; nothing where the source of truth cannot be read."""
    try:
        variables = inventory.all_hostvars(source.read(settings))
    except (SourceError, SettingsError) as error:
        errors.print(f"warning: without serial numbers and places of parts: {error}", markup=False, soft_wrap=True)
        return {}
    return {name: each["fleet_device"] for name, each in variables.items()}


def _tell(tally: Tally, since: str, limit: int, oldest: float) -> None:
    groups: dict[tuple[str, str, str], list[Again]] = defaultdict(list)
    for each in tally.changes:
        groups[each.stored.node, each.before.check, each.words].append(each)
    for (name, check, words), mine in sorted(groups.items()):
        console.print(Text(f"{name} {check}: ", style="bold").append(f"{words}, {_times(mine)}", style="default"))
        console.print(Padding(Text(printable(mine[0].after.message)), (0, 0, 0, 2)))
    seen = tally.reproduced + tally.left.total()
    counted, back = (f"The newest {limit}", f", back to {stamp(oldest)}") if seen >= limit else (str(seen), "")
    nodes = len({name for name, _, _ in groups})
    differ = f"of those {len(tally.changes)} would differ, on {nodes} nodes"
    reproduced = f"{tally.reproduced} were reproduced with the profile of today; {differ}"
    console.print(f"{counted} results of the last {since}{back}: {reproduced}.")
    if tally.left:
        console.print(f"{tally.left.total()} were not, and are left out:")
    for why, count in tally.left.most_common():
        console.print(Padding(Text(f"{count}: {why}"), (0, 0, 0, 2)))


def _times(mine: list[Again]) -> str:
    newest, oldest = mine[0].stored.at, mine[-1].stored.at
    return f"once, at {stamp(newest)}" if len(mine) == 1 else f"{len(mine)} times, {stamp(oldest)} to {stamp(newest)}"


def _plain(each: Again) -> dict[str, object]:
    stored = each.stored
    where = {"result": stored.id, "run": stored.run, "node": stored.node, "at": stored.at}
    return {**where, "check": each.before.check, "was": each.before, "would_be": each.after}
