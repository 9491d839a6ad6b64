"""The story of a node: how long it was where, when it served, what took it out, and how long its bring-up took.

A clock that was set back makes a stay end before it begins; such a stay has no length, and the next begins where the
one before it ended.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fleet_runner.core.lifecycle.states import Event, State
from fleet_runner.core.reliability.report.rows import Span, Step

BRINGING_UP = frozenset({State.PROVISION, State.ONBOARD, State.VERIFY, State.FIRMWARE, State.BURN_IN})
"""States between the first boot and service."""

AFTER_BIRTH = frozenset({Event.START})
"""Events with which a bring-up begins; what follows a repair is no bring-up, but the end of an exclusion."""


class Stay(NamedTuple):
    """A stay in a state, from when to when."""

    state: State
    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class BringUp:
    """How a node came from its first boot into production, and how long it was in each state on the way.

    `stays` are in the order in which they were, those for a repair among them. Of one that goes on, `at` is when it
    came into the state that it is in.
    """

    node: str
    at: float
    seconds: float
    states: Mapping[State, float]
    stays: tuple[Stay, ...] = ()

    def until(self, now: float) -> "BringUp":
        """Return one that goes on, with the stay that lasts up to a moment."""
        here = self.stays[-1]
        return replace(self, stays=(*self.stays[:-1], here._replace(ends=max(here.begins, now))))


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A time for which a node that served did not. `ends` is None while it is out; `step` took it out."""

    step: Step
    begins: float
    ends: float | None


@dataclass(frozen=True, slots=True)
class Story:
    """What became of a node. `served` are the spans in production; the last one that lasts ends with None.

    `coming` is a bring-up that goes on.
    """

    node: str
    bring_ups: tuple[BringUp, ...] = ()
    served: tuple[tuple[float, float | None], ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    coming: BringUp | None = None


@dataclass(slots=True)
class _Telling:
    """A story as far as it is told."""

    at: float = 0.0
    born: float | None = None
    stays: list[Stay] = field(default_factory=list[Stay])
    here: State = State.REGISTERED
    bring_ups: list[BringUp] = field(default_factory=list[BringUp])
    served: list[tuple[float, float | None]] = field(default_factory=list[tuple[float, float | None]])
    exclusions: list[Exclusion] = field(default_factory=list[Exclusion])


def story(node: str, steps: Iterable[Step]) -> Story:
    """Return the story of a node from all of its transitions, in the order in which they were written."""
    told = _Telling()
    for step in steps:
        at = max(told.at, step.at)
        if told.born is not None:
            told.stays.append(Stay(step.state, told.at, at))
        _leave(told, step, at)
        _arrive(told, node, step, at)
        told.at, told.here = at, step.to
    return Story(node, tuple(told.bring_ups), tuple(told.served), tuple(told.exclusions), _coming(told, node))


def _coming(told: _Telling, node: str) -> BringUp | None:
    if told.born is None or told.here is State.RETIRED:
        return None
    return _bring_up(node, told.born, told.at, (*told.stays, Stay(told.here, told.at, told.at)))


def _bring_up(node: str, born: float, at: float, stays: tuple[Stay, ...]) -> BringUp:
    spent: dict[State, float] = {}
    for each in stays:
        if each.state in BRINGING_UP:
            spent[each.state] = spent.get(each.state, 0.0) + each.ends - each.begins
    return BringUp(node, at, at - born, spent, stays)


def _leave(told: _Telling, step: Step, at: float) -> None:
    if step.state is not State.PRODUCTION:
        return
    if told.served and told.served[-1][1] is None:
        told.served[-1] = (told.served[-1][0], at)
    else:  # how it came there is no longer kept
        told.served.append((0.0, at))
    if step.to is not State.RETIRED:
        told.exclusions.append(Exclusion(step, at, None))


def _arrive(told: _Telling, node: str, step: Step, at: float) -> None:
    out = told.exclusions[-1] if told.exclusions and told.exclusions[-1].ends is None else None
    if out is not None and step.to in {State.PRODUCTION, State.RETIRED}:
        told.exclusions[-1] = Exclusion(out.step, out.begins, at)
    if step.to is State.PRODUCTION:
        if not (told.served and told.served[-1][1] is None):  # else how it left is missing
            told.served.append((at, None))
        if told.born is not None:
            told.bring_ups.append(_bring_up(node, told.born, at, tuple(told.stays)))
        told.born = None
    elif step.event in AFTER_BIRTH and not told.served:
        told.born, told.stays = at, []


def production(found: Story, span: Span, now: float) -> float:
    """Return how many seconds of a span a node was in production."""
    return sum(span.overlap(begins, now if ends is None else ends) for begins, ends in found.served)


def out(each: Exclusion, span: Span, now: float) -> float:
    """Return how many seconds of a span an exclusion took."""
    return span.overlap(each.begins, now if each.ends is None else each.ends)
