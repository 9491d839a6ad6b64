"""A node's turn in a rollout: whether it may be asked, and what became of it once it was.

A node that was asked ends in exactly one way: done, when it is back in production with nothing of its firmware left
undone; failed, when it went anywhere else, or a flash was rolled back; skipped, when its update never began.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from fleet_runner.core.cabling.exempt import READY
from fleet_runner.core.firmware.flash import End, Flash
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.runs import Entry, Node
from fleet_runner.core.lifecycle.states import Condition, State


class RolloutStep(StrEnum):
    """How far a node of a rollout is."""

    WAITING = "waiting"  # its turn has not come
    ASKED = "asked"  # the request was left: it drains, is updated, burned in, or waits for one of these
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


NAMED = "named"
"""The detail of a waiting member that a person named one by one."""

BEFORE = frozenset({State.REGISTERED, State.PROVISION, State.ONBOARD, State.VERIFY, State.FIRMWARE})
"""States from which every way to production leads through `firmware`."""

LATER = frozenset({State.REBOOT, State.BURN_IN})
"""States from which a node comes back to production by itself."""

UNDER_WAY = frozenset({State.FIRMWARE, State.BURN_IN})
"""Where a node is between the request and its return."""


@dataclass(frozen=True, slots=True)
class Member:
    """A node of a rollout. `wave` is the planned one while it waits; `changed_at` when its turn last changed.

    `intent` is the request that was left for it.
    """

    node: str
    wave: int
    turn: RolloutStep = RolloutStep.WAITING
    detail: str = ""
    changed_at: float = 0.0
    intent: int | None = None


@dataclass(frozen=True, slots=True)
class MemberStatus:
    """What is known about a member now.

    `status` is its status in the source of truth, None where that does not know it. `right` says that everything is
    on its target. `answer` is what its request was told, None while it was not; `moves` are its transitions and
    `flashes` its flashes since it was asked, oldest first.
    """

    node: Node
    status: str | None = "active"
    right: bool = False
    answer: tuple[bool, str] | None = None
    moves: tuple[Entry, ...] = ()
    flashes: tuple[Flash, ...] = ()


def unfit(member: Member, sight: MemberStatus) -> str:
    """Say why a node whose turn comes is skipped; "" where it is not."""
    node = sight.node
    absent = _absent(sight)
    if absent:
        return absent
    if node.state in BEFORE:
        return f"it is in {node.state}, and comes through firmware on its way to production"
    if node.state not in LATER | {State.PRODUCTION}:
        return f"it is in {node.state}, where a person decides"
    if node.management is Management.CUSTOMER and member.detail != NAMED:
        return "it is customer-managed: after its first delivery, only a person who names it updates it"
    return "everything is already on its target" if sight.right else ""


def later(sight: MemberStatus) -> bool:
    """Whether a node's turn comes when it is back from where it is, or rid of the remedy that is pending."""
    return sight.node.state in LATER or Condition.PENDING in sight.node.conditions


def judge(member: Member, sight: MemberStatus, asker: str, *, called_off: bool = False) -> Member:
    """Return a member that was asked as it is now. `asker` is the rollout's name ("rollout 3").

    With `called_off` (the rollout was stopped) one that has not begun waits for its turn again.
    """
    came = next((at for at, move in enumerate(sight.moves) if move.to is State.FIRMWARE), None)
    if came is not None:
        return _begun(member, sight, came)
    skipped = _absent(sight) or _refused(sight, asker)
    if skipped:
        return replace(member, turn=RolloutStep.SKIPPED, detail=skipped)
    if called_off:
        return replace(member, turn=RolloutStep.WAITING, intent=None)
    return member


def spoiled(flashes: Iterable[Flash], *, finished: bool) -> str:
    """Say what of a node's flashes went wrong, though the node may be well; "" where nothing did.

    While they are not `finished` only a rollback counts: what failed may be tried again.
    """
    failed: dict[str, Flash] = {}
    for flash in flashes:
        if flash.rolls_back is not None:
            return f"{flash.component} is rolled back to {_versions(flash.targets.values())}"
        for entry in flash.targets:
            if flash.end is End.FAILED:
                failed[entry] = flash
            elif flash.end is End.VERIFIED:
                failed.pop(entry, None)
    worst = next(iter(failed.values()), None)
    return f"{worst.component} failed: {worst.detail}" if finished and worst is not None else ""


def _absent(sight: MemberStatus) -> str:
    """Say why nothing may be begun on a node, wherever it is."""
    node = sight.node
    if node.state is State.RETIRED:
        return "it is retired"
    if sight.status is None:
        return "it is no longer in the source of truth"
    if sight.status not in READY:
        return f"it is {sight.status!r} in the source of truth"
    if Condition.HELD in node.conditions:
        held = node.conditions[Condition.HELD]
        return f"it is held by {held.by}: {held.reason or 'no reason given'}"
    return "it is in maintenance" if Condition.MAINTENANCE in node.conditions else ""


def _refused(sight: MemberStatus, asker: str) -> str:
    """Say why the update of a node that was asked, and has not begun, will not be; "" where it still may."""
    if sight.answer is None:
        return ""
    accepted, sentence = sight.answer
    if not accepted:
        return sentence
    pending = sight.node.conditions.get(Condition.PENDING)
    if pending is not None and pending.by == asker:
        return ""
    if pending is not None:
        return f"{pending.detail} came first: {pending.reason}"
    if sight.node.state is not State.PRODUCTION:
        return f"it went to {sight.node.state} before its update began"
    return "its update was cancelled before it began"


def _begun(member: Member, sight: MemberStatus, came: int) -> Member:
    """Judge a node whose update began with the move number `came`."""
    gone = next((move for move in sight.moves[came:] if move.to not in UNDER_WAY), None)
    passed = any(move.to is State.BURN_IN for move in sight.moves[came:])
    if gone is not None and gone.to is not State.PRODUCTION:
        return replace(member, turn=RolloutStep.FAILED, detail=f"it went to {gone.to}: {gone.sentence}")
    wrong = spoiled(sight.flashes, finished=passed)
    if wrong:
        return replace(member, turn=RolloutStep.FAILED, detail=wrong)
    return member if gone is None else replace(member, turn=RolloutStep.DONE, detail="")


def _versions(versions: Iterable[str]) -> str:
    return " and ".join(sorted(set(versions)))
