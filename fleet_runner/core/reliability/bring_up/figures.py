"""What many ways into production come to: how long each state took, and what would shorten them by how much."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import median

from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.bring_up.way import Try, Wait, Way, way
from fleet_runner.core.reliability.report.figures import Kept
from fleet_runner.core.reliability.report.rows import Span
from fleet_runner.core.reliability.report.stories import BringUp, Story
from fleet_runner.core.reliability.report.text import NINETY


@dataclass(frozen=True, slots=True)
class Passed:
    """A state on the way: how many nodes came there, how long they stayed in all, and how many are there now."""

    state: State
    nodes: int
    median: float
    ninetieth: float
    now: int


@dataclass(frozen=True, slots=True)
class Gain:
    """What nodes waited for in a state, and the seconds of all of them that would be gained without it.

    Of devices only what lies above their median counts: no runner makes them faster.
    """

    wait: Wait
    state: State
    seconds: float
    nodes: int
    median: float


@dataclass(frozen=True, slots=True)
class Ways:
    """Ways into production that ended in a span, or go on at its end, the longest first.

    `gains` are those with the most seconds first; `waits` are the seconds of all ways; `critical` is the longest way
    that ended.
    """

    ways: tuple[Way, ...] = ()
    states: tuple[Passed, ...] = ()
    gains: tuple[Gain, ...] = ()
    waits: Mapping[Wait, float] = field(default_factory=dict[Wait, float])
    critical: Way | None = None


def concerned(stories: Iterable[Story], span: Span, now: float) -> dict[str, tuple[BringUp, bool]]:
    """Return the bring-ups that ended in a span, or go on at its end, by node; True where it has ended."""
    end = min(span.until, now)
    found: dict[str, tuple[BringUp, bool]] = {}
    for story in stories:
        for each in story.bring_ups:
            if span.holds(each.at):
                found[story.node] = (each, True)
        if story.coming is not None and story.coming.at < end:
            found[story.node] = (story.coming.until(end), False)
    return found


def ways(
    wanted: Mapping[str, tuple[BringUp, bool]], tries: Mapping[str, Sequence[Try]], kept: Iterable[Kept], end: float
) -> Ways:
    """Count the ways of bring-ups, of which all runs and holds are given."""
    held: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for each in kept:
        held[each.node].append((each.begins, end if each.ends is None else each.ends))
    found = [
        way(up, tries.get(node, ()), held.get(node, ()), done=done) for node, (up, done) in sorted(wanted.items())
    ]
    found.sort(key=lambda each: (-each.seconds, each.node))
    done = [each for each in found if each.done]
    return Ways(tuple(found), _states(found), _gains(found), _waits(found), done[0] if done else None)


def _states(found: Sequence[Way]) -> tuple[Passed, ...]:
    spent: dict[State, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    now: dict[State, int] = defaultdict(int)
    for each in found:
        for part in each.parts:
            spent[part.state][each.node] += part.seconds
        if each.parts and not each.done:
            now[each.parts[-1].state] += 1
    return tuple(_passed(state, sorted(spent[state].values()), now[state]) for state in State if state in spent)


def _passed(state: State, times: Sequence[float], now: int) -> Passed:
    return Passed(state, len(times), median(times), times[ceil(NINETY * len(times)) - 1], now)


def _gains(found: Sequence[Way]) -> tuple[Gain, ...]:
    spent: dict[tuple[Wait, State], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for each in found:
        for part in each.parts:
            spent[part.wait, part.state][each.node] += part.seconds
    rows: list[Gain] = []
    for (wait, state), nodes in spent.items():
        usual = median(nodes.values())
        saved = [each - usual if wait is Wait.DEVICE else each for each in nodes.values()]
        saved = [each for each in saved if each > 0]
        if saved:
            rows.append(Gain(wait, state, sum(saved), len(saved), usual))
    return tuple(sorted(rows, key=lambda row: (-row.seconds, row.wait, row.state)))


def _waits(found: Sequence[Way]) -> Mapping[Wait, float]:
    """Return the seconds of all ways by what was waited for; nothing is left out."""
    spent = dict.fromkeys(Wait, 0.0)
    for each in found:
        for part in each.parts:
            spent[part.wait] += part.seconds
    return spent
