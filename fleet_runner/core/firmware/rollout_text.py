"""Rollouts as people read them: counted, wave by wave, and why one waits."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from fleet_runner.core.firmware.rollout import GOING_ON, Rollout, RolloutStatus, course
from fleet_runner.core.firmware.turns import Member, RolloutStep

WORDS = {
    RolloutStep.DONE: "done",
    RolloutStep.FAILED: "failed",
    RolloutStep.ASKED: "out",
    RolloutStep.WAITING: "waiting",
    RolloutStep.SKIPPED: "skipped",
}
"""How far a node is, in a word; in this order they are counted."""


def counted(members: Iterable[Member]) -> dict[str, int]:
    """Return how many nodes are how far, by the word for it, none left out."""
    found = Counter(each.turn for each in members)
    return {word: found[turn] for turn, word in WORDS.items()}


def tally(found: Mapping[RolloutStep, int]) -> str:
    """Return "3 done, 1 out, 12 waiting"."""
    return ", ".join(f"{found[turn]} {word}" for turn, word in WORDS.items() if found.get(turn)) or "no nodes"


def counts(members: Iterable[Member]) -> str:
    """Return the same of nodes one by one."""
    return tally(Counter(each.turn for each in members))


def by_wave(members: Iterable[Member]) -> dict[int, list[Member]]:
    """Return the members of each wave, in the order of the waves."""
    found: dict[int, list[Member]] = defaultdict(list)
    for each in members:
        found[each.wave].append(each)
    return {wave: found[wave] for wave in sorted(found)}


def wave_name(wave: int) -> str:
    """Return what a wave is called."""
    return "canary" if wave == 0 else f"wave {wave}"


def reasons(members: Iterable[Member]) -> dict[str, list[Member]]:
    """Return the members that are skipped, by the reason for it."""
    why: dict[str, list[Member]] = defaultdict(list)
    for each in members:
        if each.turn is RolloutStep.SKIPPED:
            why[each.detail].append(each)
    return {reason: why[reason] for reason in sorted(why)}


def other(rollout: Rollout, live: Iterable[Rollout]) -> str:
    """Say which other rollout of a device type goes on, if one does."""
    for each in live:
        if each.device_type == rollout.device_type and each.standing in GOING_ON and each.id != rollout.id:
            return f"{each.name} of device type {each.device_type} is {each.standing}; stop it first, or wait for it"
    return ""


def waits(rollout: Rollout, members: Iterable[Member]) -> str:
    """Say what the nodes wait for whose turn has not come; "" where none waits."""
    rows = list(members)
    if all(each.turn is not RolloutStep.WAITING for each in rows):
        return ""
    if rollout.standing is not RolloutStatus.RUNNING:
        return f"It is {rollout.standing}: no node begins until it is resumed."
    found = course(rollout, rows)
    if found.standing is not RolloutStatus.RUNNING:
        return f"It will be {found.detail}."
    begin = "The canary" if found.wave == 0 else f"Wave {found.wave}"
    if found.room:
        return f"{begin} has room for {found.room} more; the next ready nodes begin."
    failed = sum(each.turn is RolloutStep.FAILED and each.changed_at >= rollout.counts_from for each in rows)
    if failed > rollout.failed_share * (failed + sum(each.turn is RolloutStep.DONE for each in rows)):
        return "The limit of failures is reached; the nodes that are out must end well before more begin."
    return f"{begin} is full; the next one opens when all of its nodes are back."
