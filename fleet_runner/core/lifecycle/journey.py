"""A node's own way through the lifecycle: where it stayed, how long, and which arrows it took how often."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.lifecycle.states import Event, State


@dataclass(frozen=True, slots=True)
class Stay:
    """One stay in a state, in epoch seconds: `since` is None where nobody knows, `until` where it goes on.

    `event`, `sentence` and `by` are those of the transition that began it.
    """

    state: State
    since: float | None
    until: float | None
    event: Event | None = None
    sentence: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Visited:
    """How often a node was in a state, for how many seconds in all, and when it last came there."""

    times: int = 0
    seconds: float = 0.0
    last: float | None = None


@dataclass(frozen=True, slots=True)
class Journey:
    """All stays counted: by state, and by the arrow from one to the next with the time it was last taken."""

    here: State
    visited: Mapping[State, Visited] = field(default_factory=dict[State, Visited])
    taken: Mapping[tuple[State, State], tuple[int, float]] = field(
        default_factory=dict[tuple[State, State], tuple[int, float]]
    )


def stays(moves: Iterable[Entry], state: State, since: float) -> tuple[Stay, ...]:
    """Return the stays that a node's transitions tell, oldest first; the last goes on, in the state that it is in.

    What was before the first transition has no beginning; a node that was never moved has been there since `since`.
    """
    found: list[Stay] = []
    before: Entry | None = None
    for move in moves:
        if move.state is not None and move.to is not None:
            found.append(_stay(before, move.state, move.at))
            before = move
    if before is None:
        return (Stay(state, since, None),)
    return (*found, _stay(before, state, None))


def _stay(began: Entry | None, state: State, until: float | None) -> Stay:
    if began is None:
        return Stay(state, None, until)
    return Stay(state, began.at, until, began.event, began.sentence, began.by)


def journey(found: Sequence[Stay], now: float) -> Journey:
    """Count stays, of which there is at least one."""
    visited: dict[State, Visited] = {}
    taken: dict[tuple[State, State], tuple[int, float]] = {}
    for at, stay in enumerate(found):
        known = visited.get(stay.state, Visited())
        seconds = 0.0 if stay.since is None else (now if stay.until is None else stay.until) - stay.since
        last = known.last if stay.since is None else stay.since
        visited[stay.state] = Visited(known.times + 1, known.seconds + max(0.0, seconds), last)
        if at and stay.since is not None:
            arrow = (found[at - 1].state, stay.state)
            taken[arrow] = (taken.get(arrow, (0, 0.0))[0] + 1, stay.since)
    return Journey(found[-1].state, visited, taken)
