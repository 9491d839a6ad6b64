"""A node's way into production, cut into parts by what it waited for: its devices, people, a budget, the runner.

Where nobody wrote down what a node waited for, it follows from what came before: between two looks at tests that go
on its devices are at work; after a try without a verdict the next try is waited for; before the first flash, a slot.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import MOVING, State
from fleet_runner.core.reliability.report.stories import BringUp, Stay


class Wait(StrEnum):
    """What a node waited for."""

    DEVICE = "device"  # it boots, is flashed, tested or looked at
    PERSON = "person"  # somebody must certify it, decide, or repair it
    VENDOR = "vendor"  # it, or a part of it, is away
    HOLD = "hold"  # a person held it, or planned work on it
    BUDGET = "budget"  # a slot for firmware
    RETRY = "retry"  # a try gave no verdict, and another one follows
    RUNNER = "runner"  # the runner had nothing under way for it


QUICK = 60.0
"""Seconds without a run before a first flash that are the runner's own; what is longer waited for a slot."""

NO_VERDICT = frozenset({Outcome.UNKNOWN, Outcome.LOST, Outcome.SKIPPED, Outcome.CANCELLED})


class Try(NamedTuple):
    """A run of a stage: from when to when, None while it goes on, what came of it, and when its play was over."""

    begins: float
    ends: float | None
    outcome: Outcome | None
    play_ended: float | None = None


class Part(NamedTuple):
    """A part of a way: where the node was, and what it waited for."""

    state: State
    wait: Wait
    begins: float
    ends: float

    @property
    def seconds(self) -> float:
        """Return how long it is."""
        return self.ends - self.begins


class Way(NamedTuple):
    """A node's way, up to production where it is `done`."""

    node: str
    parts: tuple[Part, ...]
    done: bool

    @property
    def seconds(self) -> float:
        """Return how long it is."""
        return sum(each.seconds for each in self.parts)


def way(up: BringUp, tries: Sequence[Try], holds: Iterable[tuple[float, float]], *, done: bool) -> Way:
    """Return the way of a bring-up; `tries` in the order of their beginnings, `holds` with their ends."""
    parts = [part for stay in up.stays for part in _stay(stay, tries)]
    for begins, ends in holds:
        parts = [cut for part in parts for cut in _held(part, begins, ends)]
    return Way(up.node, tuple(_joined(parts)), done)


def _stay(stay: Stay, tries: Sequence[Try]) -> list[Part]:
    state, begins, ends = stay
    if state not in MOVING:
        return [Part(state, Wait.VENDOR if state is State.RMA else Wait.PERSON, begins, ends)]
    moments: list[tuple[float, Wait]] = []
    before: Try | None = None
    at = begins
    for each in tries:
        if not begins <= each.begins < ends:
            continue
        useful = each.outcome not in NO_VERDICT
        over = ends if each.ends is None else each.ends
        told = over if each.play_ended is None else each.play_ended
        moments.append((each.begins, _gap(state, before, each.begins - at)))
        moments.append((min(told, over), Wait.DEVICE if useful else Wait.RETRY))
        moments.append((over, Wait.RUNNER if useful else Wait.RETRY))
        at, before = over, each
    moments.append((ends, _gap(state, before, ends - at)))
    return _parts(stay, moments)


def _parts(stay: Stay, moments: Iterable[tuple[float, Wait]]) -> list[Part]:
    """Return the parts of a stay, each up to a moment; what a clock that was set back makes negative is left out."""
    found: list[Part] = []
    at = stay.begins
    for moment, wait in moments:
        until = min(stay.ends, max(at, moment))
        if until > at:
            found.append(Part(stay.state, wait, at, until))
        at = until
    return found


def _gap(state: State, before: Try | None, seconds: float) -> Wait:
    """Return what a node without a run waits for."""
    if before is None:
        return Wait.BUDGET if state is State.FIRMWARE and seconds >= QUICK else Wait.RUNNER
    if before.outcome is Outcome.WORKING:
        return Wait.DEVICE
    return Wait.RETRY if before.outcome in NO_VERDICT else Wait.RUNNER


def _held(part: Part, begins: float, ends: float) -> Iterable[Part]:
    """Cut what a hold covers out of a part; devices work on under a hold, and people are waited for all the same."""
    first, last = max(part.begins, begins), min(part.ends, ends)
    if first >= last or part.wait in {Wait.DEVICE, Wait.PERSON, Wait.VENDOR}:
        return [part]
    cuts = (part._replace(ends=first), Part(part.state, Wait.HOLD, first, last), part._replace(begins=last))
    return [each for each in cuts if each.seconds > 0]


def _joined(parts: Iterable[Part]) -> list[Part]:
    found: list[Part] = []
    for each in parts:
        if found and found[-1][:2] == each[:2] and found[-1].ends == each.begins:
            found[-1] = found[-1]._replace(ends=each.ends)
        else:
            found.append(each)
    return found
