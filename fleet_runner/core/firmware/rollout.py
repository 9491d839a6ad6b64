"""A rollout: firmware brought to many nodes in service, a few first, then in waves, until too many went wrong.

`judged` says what became of the nodes that were asked, `course` where it stands as a whole and how many nodes may be
asked now, `choose` which ones. All three look at what is, not at what happened: whoever asks them again, after
however long, is told the same. A node is asked by a request in the rollout's name, and goes the way of any request:
cordoned, drained, `firmware`, `burn_in`, back in production.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from fleet_runner.core.firmware.turns import Member, MemberStatus, RolloutStep, judge, later, unfit

_NAME = re.compile(r"rollout (\d{1,18})", re.ASCII)


class RolloutStatus(StrEnum):
    """Where a rollout as a whole stands."""

    RUNNING = "running"
    PAUSED = "paused"  # nothing begins: drained nodes wait, a flash that is under way is followed to its end
    STOPPED = "stopped"  # as well, and nodes that have not begun serve on; those that have are brought to their end
    DONE = "done"  # every node of it is done, failed or skipped


GOING_ON = frozenset({RolloutStatus.RUNNING, RolloutStatus.PAUSED})
"""Rollouts that may still ask; a device type has at most one."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """A row of the store; times are epoch seconds.

    The first wave, number 0, is the `canary`: so many nodes, of which none may fail; the others have `wave` nodes.
    `failed_share` is how many of the nodes that ended may have failed; what failed before `counts_from` was forgiven
    by a person who resumed a stopped rollout. `detail` says who or what brought it to its `standing`, at
    `changed_at`. `version` grows with every change and guards against two writers.
    """

    id: int
    device_type: str
    by: str
    at: float
    reason: str
    canary: int
    wave: int
    failed_share: float
    standing: RolloutStatus = RolloutStatus.RUNNING
    detail: str = ""
    changed_at: float = 0.0
    counts_from: float = 0.0
    version: int = 1

    @property
    def name(self) -> str:
        """Return what it is called where it asks: "rollout 3"."""
        return f"rollout {self.id}"


@dataclass(frozen=True, slots=True)
class Course:
    """Where a rollout stands now, and that up to `room` more nodes may be asked, as part of `wave`."""

    standing: RolloutStatus
    detail: str
    wave: int = 0
    room: int = 0


def number(by: str) -> int | None:
    """Return the number of the rollout in whose name something was asked for; None where it was no rollout."""
    found = _NAME.fullmatch(by)
    return int(found[1]) if found else None


def judged(
    rollout: Rollout, asked: Iterable[Member], sights: Mapping[str, MemberStatus], now: float
) -> tuple[Member, ...]:
    """Return those of the members that were asked whose turn has ended by now, or was given back, as they are now."""
    off = rollout.standing is RolloutStatus.STOPPED
    found = (judge(each, sights[each.node], rollout.name, called_off=off) for each in asked)
    return tuple(replace(each, changed_at=now) for each in found if each.turn is not RolloutStep.ASKED)


def course(rollout: Rollout, members: Iterable[Member]) -> Course:
    """Say where a rollout stands, its members being judged, and for how many more nodes there is room.

    It is stopped as soon as it is certain that it ends above its share of failures, though all that are out end well.
    A wave that is not full, because nodes of it were skipped, is filled up; the next one opens when none is out.
    """
    if rollout.standing not in GOING_ON:
        return Course(rollout.standing, rollout.detail)
    tally = _Tally.of(rollout, members)
    if not tally.out and not tally.left:
        return Course(RolloutStatus.DONE, tally.words())
    if rollout.standing is RolloutStatus.PAUSED:
        return Course(rollout.standing, rollout.detail)
    broken = tally.broken(rollout)
    if broken:
        return Course(RolloutStatus.STOPPED, broken)
    return Course(rollout.standing, rollout.detail, *tally.room(rollout))


def size(rollout: Rollout, wave: int) -> int:
    """Return how many nodes a wave has."""
    return rollout.canary if wave == 0 else rollout.wave


def choose(course: Course, waiting: Iterable[Member], sights: Mapping[str, MemberStatus]) -> tuple[Member, ...]:
    """Return the waiting members whose turn it is now, asked or skipped; the others go on waiting.

    They are taken in the order given; those of which there is no sight are left out. `changed_at` is the caller's.
    """
    chosen: list[Member] = []
    room = course.room
    for member in waiting:
        sight = sights.get(member.node)
        if room <= 0:
            break
        if sight is None:
            continue
        reason = unfit(member, sight)
        if reason:
            chosen.append(replace(member, turn=RolloutStep.SKIPPED, detail=reason))
        elif not later(sight):
            chosen.append(replace(member, turn=RolloutStep.ASKED, wave=course.wave))
            room -= 1
    return tuple(chosen)


def in_order(members: Iterable[Member]) -> Sequence[Member]:
    """Return the members that wait, in the order of their turns."""
    return sorted(
        (each for each in members if each.turn is RolloutStep.WAITING), key=lambda each: (each.wave, each.node)
    )


def turned(rollout: Rollout, to: RolloutStatus, words: str, now: float) -> Rollout:
    """Return a rollout that somebody or something has brought to another standing; `words` say who and why.

    Resuming one that was stopped forgives what failed until then.
    """
    forgives = rollout.standing is RolloutStatus.STOPPED and to is RolloutStatus.RUNNING
    counts_from = now if forgives else rollout.counts_from
    return replace(rollout, standing=to, detail=words, changed_at=now, counts_from=counts_from)


def unturnable(rollout: Rollout, to: RolloutStatus) -> str:
    """Say why a person cannot bring a rollout to a standing; "" where he can."""
    if rollout.standing in _FROM[to]:
        return ""
    known = " or ".join(standing.value for standing in RolloutStatus if standing in _FROM[to])
    return f"{rollout.name} is {rollout.standing}; it must be {known} to be {_WORDS[to]}"


_FROM: dict[RolloutStatus, frozenset[RolloutStatus]] = {
    RolloutStatus.PAUSED: frozenset({RolloutStatus.RUNNING}),
    RolloutStatus.RUNNING: frozenset({RolloutStatus.PAUSED, RolloutStatus.STOPPED}),
    RolloutStatus.STOPPED: GOING_ON,
}
"""From where a person brings a rollout to each standing."""

_WORDS = {RolloutStatus.PAUSED: "paused", RolloutStatus.RUNNING: "resumed", RolloutStatus.STOPPED: "stopped"}


def refusal(rollout: Rollout, *, begun: bool) -> str:
    """Say why no flash may begin on a node that a rollout asked; "" where it may.

    A stopped rollout's nodes that have `begun` their stay in `firmware` are brought to its end.
    """
    held = rollout.standing is RolloutStatus.PAUSED or (rollout.standing is RolloutStatus.STOPPED and not begun)
    return f"{rollout.name} is {rollout.detail}" if held else ""


@dataclass(frozen=True, slots=True)
class _Tally:
    """A rollout's members, counted; `taken` are those of the newest wave that were asked, `left` those that wait."""

    done: int
    failed: tuple[Member, ...]
    forgiven: int
    skipped: int
    out: int
    left: int
    wave: int
    taken: int

    @classmethod
    def of(cls, rollout: Rollout, members: Iterable[Member]) -> "_Tally":
        rows = list(members)
        counted = {turn: [each for each in rows if each.turn is turn] for turn in RolloutStep}
        failed = tuple(each for each in counted[RolloutStep.FAILED] if each.changed_at >= rollout.counts_from)
        asked = [*counted[RolloutStep.ASKED], *counted[RolloutStep.DONE], *failed]
        wave = max((each.wave for each in (*asked, *counted[RolloutStep.FAILED])), default=0)
        return cls(
            done=len(counted[RolloutStep.DONE]),
            failed=failed,
            forgiven=len(counted[RolloutStep.FAILED]) - len(failed),
            skipped=len(counted[RolloutStep.SKIPPED]),
            out=len(counted[RolloutStep.ASKED]),
            left=len(counted[RolloutStep.WAITING]),
            wave=wave,
            taken=sum(each.wave == wave for each in asked),
        )

    @property
    def ended(self) -> int:
        return self.done + len(self.failed)

    def broken(self, rollout: Rollout) -> str:
        """Say what stops the rollout, if anything does."""
        canaries = [each for each in self.failed if each.wave == 0]
        if canaries:
            return f"stopped: {canaries[0].node} of the canary failed: {canaries[0].detail}"
        if len(self.failed) > rollout.failed_share * (self.ended + self.out):
            last = max(self.failed, key=lambda each: each.changed_at)
            return (
                f"stopped: {len(self.failed)} of {self.ended} nodes failed, more than"
                f" {rollout.failed_share:.0%}; the last one, {last.node}: {last.detail}"
            )
        return ""

    def room(self, rollout: Rollout) -> tuple[int, int]:
        """Return the wave that may ask now, and how many nodes."""
        if len(self.failed) > rollout.failed_share * self.ended:
            return self.wave, 0  # what is out may still make up for it
        free = size(rollout, self.wave) - self.taken
        if free > 0 or self.out:
            return self.wave, max(0, free)
        return self.wave + 1, size(rollout, self.wave + 1)

    def words(self) -> str:
        return f"{self.done} done, {len(self.failed) + self.forgiven} failed, {self.skipped} skipped"
