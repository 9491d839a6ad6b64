"""What proposed limits would have flagged: the stored evidence of their checks, judged again with them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fleet_runner.adapters.store import ResultFilter, Store
from fleet_runner.cli.base.session import errors, stamp
from fleet_runner.cli.checks.profiles import against
from fleet_runner.cli.checks.results import judged
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.replay import Again, ReplayCounts
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.settings import Settings

MOST = 10_000
"""Results of each check that are judged again, the newest."""

NAMED = 20
"""Nodes that are named, of each check and each way."""


@dataclass(frozen=True, slots=True)
class FlaggedNode:
    """A node that a check would flag, or flag no more: how often, since when, and when it turned out bad then."""

    check: str
    node: str
    flagged: bool
    times: int
    first_at: float
    message: str
    bad_at: float | None


@dataclass(frozen=True, slots=True)
class Replayed:
    """All of them, and how many results were judged again of how many there are."""

    reproduced: int
    seen: int
    told: tuple[FlaggedNode, ...]


def replayed(
    settings: Settings, store: Store, change: Mapping[str, dict[str, Any]], checks: Sequence[str], since: float
) -> Replayed:
    """Judge what some checks read since a moment again, with a change by device type."""
    held = against(settings, store, change)
    kinds = {node.name: node.device_type for node in store.nodes()}
    bad = store.turned_bad(since)
    tally = ReplayCounts()
    for check in checks:
        for stored, found in judged(
            store, ResultFilter(check=check, since=since), held, MOST, settings.cabling_suspect_share
        ):
            if kinds.get(stored.node) in change:
                tally.take(check, found)
    return Replayed(tally.reproduced, tally.seen, tuple(_told(tally.changes, bad)))


def _told(changes: Sequence[Again], bad: Mapping[str, Sequence[float]]) -> list[FlaggedNode]:
    groups: dict[tuple[str, str, bool], list[Again]] = {}
    for each in changes:
        if (each.before.verdict is Verdict.FAIL) != (each.after.verdict is Verdict.FAIL):
            flagged = each.after.verdict is Verdict.FAIL
            groups.setdefault((each.before.check, each.stored.node, flagged), []).append(each)
    found: list[FlaggedNode] = []
    for (check, node, flagged), mine in sorted(groups.items()):
        first = min(each.stored.at for each in mine)
        after = next((at for at in bad.get(node, ()) if at >= first), None)
        message = mine[0].after.message if flagged else mine[0].before.message
        found.append(FlaggedNode(check, node, flagged, len(mine), first, message, after))
    return found


def plain(found: Replayed) -> dict[str, Any]:
    """Return plain JSON types."""
    return {"reproduced": found.reproduced, "seen": found.seen, "nodes": [asdict(each) for each in found.told]}


def tell(found: Replayed, since: str) -> None:
    """Say beside the difference whom it would have flagged, and which of them turned out bad."""
    judged_again = f"{found.reproduced} of {found.seen} results of the last {since} could be judged again"
    more = [each for each in found.told if each.flagged]
    less = [each for each in found.told if not each.flagged]
    bad = len({each.node for each in more if each.bad_at is not None})
    flagged = f"{_nodes(more)} would also have been flagged, {bad} of which turned out bad after that"
    errors.print(f"{judged_again}: {flagged}; {_nodes(less)} would not have been", soft_wrap=True)
    for each in (*more[:NAMED], *less[:NAMED]):
        times = "once" if each.times == 1 else f"{each.times} times"
        since_when = f"would {'' if each.flagged else 'not '}have flagged it {times}"
        turned = f"; it turned out bad on {stamp(each.bad_at)}" if each.bad_at is not None else ""
        line = f"  {each.node} {each.check} {since_when}, first {stamp(each.first_at)}{turned}: {each.message}"
        errors.print(printable(line), markup=False, soft_wrap=True)


def _nodes(told: Sequence[FlaggedNode]) -> str:
    number = len({each.node for each in told})
    return "1 node" if number == 1 else f"{number} nodes"
