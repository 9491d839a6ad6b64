"""The story of a node: how long it was where, when it served, what took it out, and how long its bring-up took.

A clock that was set back makes a stay end before it begins; such a stay has no length, and the next begins where the
one before it ended.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fleet_runner.core.lifecycle.states import Event, State
from fleet_runner.core.reliability.report.rows import Span, Step

BRINGING_UP = frozenset({State.PROVISION, State.ONBOARD, State.VERIFY, State.FIRMWARE, State.BURN_IN})
"""States between the first boot and service."""

AFTER_BIRTH = frozenset({Event.START})
"""Events with which a bring-up begins; what follows a repair is no bring-up, but the end of an exclusion."""


@dataclass(frozen=True, slots=True)
class BringUp:
    """How a node came from its first boot into production, and how long it was in each state on the way."""

    node: str
    at: float
    seconds: float
    states: Mapping[State, float]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A time for which a node that served did not. `ends` is None while it is out; `step` took it out."""

    step: Step
    begins: float
    ends: float | None


@dataclass(frozen=True, slots=True)
class Story:
    """What became of a node. `served` are the spans in production; the last one that lasts ends with None."""

    node: str
    bring_ups: tuple[BringUp, ...] = ()
    served: tuple[tuple[float, float | None], ...] = ()
    exclusions: tuple[Exclusion, ...] = ()


@dataclass(slots=True)
class _Telling:
    """A story as far as it is told."""

    at: float = 0.0
    born: float | None = None
    states: dict[State, float] = field(default_factory=dict[State, float])
    bring_ups: list[BringUp] = field(default_factory=list[BringUp])
    served: list[tuple[float, float | None]] = field(default_factory=list[tuple[float, float | None]])
    exclusions: list[Exclusion] = field(default_factory=list[Exclusion])


def story(node: str, steps: Iterable[Step]) -> Story:
    """Return the story of a node from all of its transitions, in the order in which they were written."""
    told = _Telling()
    for step in steps:
        at = max(told.at, step.at)
        if told.born is not None:
            told.states[step.state] = told.states.get(step.state, 0.0) + at - told.at
        _leave(told, step, at)
        _arrive(told, node, step, at)
        told.at = at
    return Story(node, tuple(told.bring_ups), tuple(told.served), tuple(told.exclusions))


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
            stays = {state: seconds for state, seconds in told.states.items() if state in BRINGING_UP}
            told.bring_ups.append(BringUp(node, at, at - told.born, stays))
        told.born = None
    elif step.event in AFTER_BIRTH and not told.served:
        told.born, told.states = at, {}


def production(found: Story, span: Span, now: float) -> float:
    """Return how many seconds of a span a node was in production."""
    return sum(span.overlap(begins, now if ends is None else ends) for begins, ends in found.served)


def out(each: Exclusion, span: Span, now: float) -> float:
    """Return how many seconds of a span an exclusion took."""
    return span.overlap(each.begins, now if each.ends is None else each.ends)
