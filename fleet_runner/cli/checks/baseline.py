"""fleet-runner baseline: pass marks learned from nodes that are known to be good, proposed as a difference."""

import difflib
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from fleet_runner.adapters.files.yaml_numbers import edited
from fleet_runner.adapters.plays import profiles
from fleet_runner.adapters.reliability.check_value import looked
from fleet_runner.adapters.store import ResultFilter, Store
from fleet_runner.cli.base.session import ByNode, Exit, errors, opened, print_json, span, split
from fleet_runner.cli.checks import proposed_limits
from fleet_runner.cli.checks.check import known as known_checks
from fleet_runner.core.base.errors import FleetError, SettingsError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.checks import baseline as core
from fleet_runner.core.checks.baseline import LearnedLimit, Margin
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.inventory.profile import Profile
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.check_value import limits
from fleet_runner.core.reliability.check_value.limits import LIMITS, Limit, nested
from fleet_runner.core.reliability.check_value.proposals import Fleet
from fleet_runner.settings import Settings

PAGE = 1000

MOST = 100_000
"""Results of one check that are looked at, the newest first."""


def baseline(
    device_type: Annotated[
        str, typer.Argument(help="the device type whose marks are learned", metavar="DEVICE_TYPE")
    ],
    *,
    nodes: Annotated[list[str] | None, ByNode] = None,
    good: Annotated[
        bool, typer.Option("--good", help="instead: all in production that failed no check in that time")
    ] = False,
    check: Annotated[str, typer.Option("--check", "-c", help="only this check's marks", metavar="NAME")] = "",
    since: Annotated[str, typer.Option(help="how far to look back: 12h, 30d or 4w", metavar="SPAN")] = "30d",
    deviations: Annotated[
        float, typer.Option(min=0, max=100, help="a mark is this many median deviations below the median")
    ] = Margin().deviations,
    share: Annotated[float, typer.Option(min=0, max=0.5, help="and at least this share of it")] = Margin().share,
    replay: Annotated[
        bool, typer.Option("--replay", help="also show what the changed marks would have flagged in that time")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="print JSON instead of text")] = False,
) -> None:
    """Learn pass marks from known-good nodes, and propose them as a patch of the device type's file.

    Limits of passive checks are learned from the worst that these nodes told at looks spread over that time. Nothing
    is changed: read the difference, and apply it (patch -p1) or not. Exits with 1 if nothing can be learned.
    """
    if bool(nodes) == good:
        raise FleetError("give either --node A,B,C or --good: which nodes are known to be good?")
    if check:
        known_checks([check])
    with opened() as (settings, store):
        profile = profiles.read(settings, device_type)
        at = time.time() - span(since)
        chosen = _good(store, device_type, at) if good else _named(store, device_type, split(nodes or ()))
        learned = learn(store, chosen, at, (profile, Margin(deviations, share)), check)
        changes = core.changes(learned)
        path, difference = _difference(settings, device_type, changes)
        found = None
        if replay and changes:
            checks = sorted({each.check for each in learned if each.measure.mark in changes})
            found = proposed_limits.replayed(settings, store, {device_type: nested(changes)}, checks, at)
    if json:
        told = [{**_plain(each), "check": each.check} for each in learned]
        more = {"replay": proposed_limits.plain(found)} if found else {}
        print_json({"nodes": chosen, "marks": told, "file": str(path), "difference": difference, **more})
    else:
        _tell(learned, chosen, difference)
        if found:
            proposed_limits.tell(found, since)
    if not any(each.mark is not None for each in learned):
        raise typer.Exit(Exit.NO)


def learn(
    store: Store, chosen: tuple[str, ...], since: float, how: tuple[Profile, Margin], check: str = ""
) -> list[LearnedLimit]:
    """Return what the marks of tests and the limits of passive checks come to on these nodes; of one check alone."""
    learned = [
        core.learn(each, measure, core.samples(measure, results, chosen), *how)
        for name, each in sorted(CHECKS.items())
        if each.measures and check in {"", name}
        for results in [_results(store, ResultFilter(check=name, since=since))]
        for measure in each.measures
    ]
    return learned + _limits(store, [each for each in LIMITS if check in {"", each.check}], chosen, since, how)


def _named(store: Store, device_type: str, wanted: list[str]) -> tuple[str, ...]:
    mine = {each.name for each in store.nodes() if each.device_type == device_type}
    strange = [name for name in wanted if name not in mine]
    if strange:
        raise FleetError(f"{', '.join(strange)}: no node of device type {device_type} in the store")
    return tuple(wanted)


def _good(store: Store, device_type: str, since: float) -> tuple[str, ...]:
    here = [each.name for each in store.nodes() if each.device_type == device_type and each.state is State.PRODUCTION]
    return core.good(here, _results(store, ResultFilter(verdict=Verdict.FAIL, since=since)))


def _limits(
    store: Store, wanted: list[Limit], nodes: tuple[str, ...], since: float, how: tuple[Profile, Margin]
) -> list[LearnedLimit]:
    """Learn the limits of passive checks from looks at these nodes."""
    mine = Fleet({node.name: node.device_type for node in store.nodes() if node.name in nodes}, frozenset(nodes), {})
    looks = looked(store, mine, (since, time.time()), wanted)
    return [limits.learn(limit, looks[limit], *how) for limit in wanted]


def _results(store: Store, sought: ResultFilter) -> list[Stored]:
    found: list[Stored] = []
    while len(found) < MOST:
        page = store.find_results(sought, below=found[-1].id if found else None, limit=PAGE)
        found += page
        if len(page) < PAGE:
            break
    return found


def _difference(settings: Settings, device_type: str, marks: dict[str, float]) -> tuple[Path, str]:
    """Return the file of a device type, and how it would differ with these marks; "" where it would not."""
    held = [path for path in profiles.files(settings, device_type) if _has_profile(path)]
    path = held[-1]
    before = path.read_text(encoding="utf-8")
    try:
        after = edited(before, {f"{profiles.PROFILE}.{key}": value for key, value in marks.items()})
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from error
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path.name
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{shown}", f"b/{shown}"
    )
    return path, "".join(lines)


def _has_profile(path: Path) -> bool:
    found = profiles.load(path)
    return isinstance(found, dict) and profiles.PROFILE in found


def _plain(each: LearnedLimit) -> dict[str, Any]:
    names = ("nodes", "numbers", "median", "deviation", "mark", "now", "outside", "why")
    return {"key": each.measure.mark, "observed": each.measure.observed} | {
        name: getattr(each, name) for name in names
    }


def _tell(learned: list[LearnedLimit], chosen: tuple[str, ...], difference: str) -> None:
    """Print the difference, for patch to take, and beside it what it was drawn from."""
    told = [each for each in learned if each.mark is not None]
    if told:
        errors.print(_table(told))
    for each in told:
        if each.outside:
            some = ", ".join(each.outside[:5])
            why = "would fail; are they really good?"
            errors.print(f"warning: {each.measure.mark}: {some} {why}", soft_wrap=True)
    for each in learned:
        if each.why and each.numbers:
            errors.print(f"{each.measure.mark}: {each.why}", soft_wrap=True)
    silent = ", ".join(each.measure.mark for each in learned if not each.numbers)
    if silent:
        errors.print(f"no number of {counted(len(chosen), 'node')}: {silent}", style="dim", soft_wrap=True)
    if told and not difference:
        errors.print("these equal the present marks", style="dim")
    sys.stdout.write(difference)


def _table(told: list[LearnedLimit]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("MARK", "NOW", "MEDIAN", "DEVIATION", "OF", "PROPOSED"):
        table.add_column(name, justify="left" if name == "MARK" else "right", overflow="fold")
    for each in told:
        cells = [_short(value) for value in (each.now, each.median, each.deviation)]
        of = f"{each.numbers} of {each.nodes} nodes"
        table.add_row(each.measure.mark, *cells, of, Text(_short(each.mark), style="bold"))
    return table


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
