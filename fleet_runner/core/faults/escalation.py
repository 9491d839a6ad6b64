"""Which remedy comes next: what was tried for a fault is remembered, and is not tried a second time."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.rules import FRESH, LADDER, Rules

BOOTS = frozenset({Remedy.REBOOT, Remedy.POWER_CYCLE})
"""What boots a node, and so begins its GPUs anew."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A remedy that was carried out, for which faults, and whether it helped: None while nobody knows.

    One that helped did not, once the same fault is seen again while it is remembered; `because` says what came of it.
    """

    id: int
    node: str
    remedy: Remedy
    faults: tuple[str, ...]
    by: str
    at: float
    ended_at: float | None = None
    helped: bool | None = None
    because: str = ""


class NextRemedy(NamedTuple):
    """The remedy to try now; `sentence` says what was tried before it, "" where nothing was."""

    remedy: Remedy
    sentence: str = ""


def climb(
    first: Remedy, faults: Collection[str], attempts: Iterable[Attempt], rules: Rules, now: float
) -> NextRemedy:
    """Return the mildest remedy, from `first` on, that was not tried for any of these faults yet.

    A node that was booted within FRESH, for whatever fault, is not reset: oci-hpc counts boots, not why they
    were, and goes on to what is harder. A boot that was tried for another fault may be tried for this one.

    What people do (TRIAGE, RMA) is no rung: it is returned as it is, and it comes when nothing else is left, or when
    a remedy was tried as often as its cap allows, for whatever fault.
    """
    if first not in LADDER:
        return NextRemedy(first)
    known = sorted(attempts, key=lambda attempt: attempt.at)
    tried = [each for each in known if each.at > now - rules.memory and not set(faults).isdisjoint(each.faults)]
    told = " ".join(_told(each) for each in tried)
    above = max((LADDER.index(each.remedy) for each in tried), default=-1)
    left = [each for each in rules.ladder if LADDER.index(each) >= max(LADDER.index(first), above + 1)]
    booted = next((each for each in reversed(known) if each.remedy in BOOTS and each.at > now - FRESH), None)
    if left[:1] == [Remedy.RESET] and booted is not None:
        told = f"{told} A RESET is left out after the {booted.remedy} at {_moment(booted.at)}.".lstrip()
        left = left[1:]
    if not left:
        return NextRemedy(Remedy.TRIAGE, f"{told} No harder remedy is left: a person decides.".lstrip())
    cap = rules.caps[left[0]]
    spent = sum(each.remedy is left[0] and each.at > now - cap.within for each in known)
    if spent >= cap.most:
        times = f"{spent} of at most {cap.most} times in {cap.within / 3600:g} h"
        return NextRemedy(Remedy.TRIAGE, f"{told} {left[0]} was tried {times}: a person decides.".lstrip())
    return NextRemedy(left[0], f"{told} {left[0]} comes next." if told else "")


def recurring(faults: Collection[str], attempts: Iterable[Attempt], rules: Rules, now: float) -> tuple[Attempt, ...]:
    """Return the attempts that seemed to help against faults that are seen again now."""
    return tuple(
        each
        for each in attempts
        if each.helped and each.at > now - rules.memory and not set(faults).isdisjoint(each.faults)
    )


def going_on(attempts: Iterable[Attempt]) -> Attempt | None:
    """Return the attempt that is not over yet."""
    return next((each for each in attempts if each.ended_at is None), None)


def _told(attempt: Attempt) -> str:
    when = f"{attempt.remedy} at {_moment(attempt.at)}"
    if attempt.helped is None:
        return f"{when}: its result is unknown."
    return f"{when} did not last: the fault is back." if attempt.helped else f"{when} did not help: {attempt.because}"


def _moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
