"""A fleet of made-up nodes under a rollout: what a tick does to it, with time and fate in the test's hand."""

from dataclasses import dataclass, field, replace
from typing import Any

from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import End, Flash
from fleet_runner.core.firmware.rollout import (
    Course,
    Rollout,
    RolloutStatus,
    choose,
    course,
    in_order,
    judged,
    turned,
    unturnable,
)
from fleet_runner.core.firmware.turns import Member, MemberStatus, RolloutStep
from fleet_runner.core.lifecycle.runs import Entry, Node
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, State
from tests.making import a_node, held

START = 1000.0
ENDED = frozenset({RolloutStep.DONE, RolloutStep.FAILED, RolloutStep.SKIPPED})

STEPS = {
    State.PRODUCTION: Event.FIRMWARE_NEEDED,
    State.FIRMWARE: Event.PASSED,
    State.BURN_IN: Event.PASSED,
}
"""What happens next to a node whose update goes well."""


def a_rollout(**values: Any) -> Rollout:
    """A rollout of Ann's: a canary of one, waves of three, a fifth may fail."""
    given = {"id": 3, "device_type": "t", "by": "ann", "at": START, "reason": "BMC 1.2"}
    return Rollout(**given | {"canary": 1, "wave": 3, "failed_share": 0.2, "changed_at": START} | values)


def a_flash(**values: Any) -> Flash:
    """A flash of the BMC that went well."""
    given = {"id": 1, "node": "n", "component": "BMC", "before": {"BMC": "1.1"}, "targets": {"BMC": "1.2"}}
    more = {"image": "bmc.bin", "sha256": "0" * 64, "activate": Activate.BMC_RESET, "times": 1, "seconds": 600.0}
    ends = {"attempt": 1, "intended_at": START, "ended_at": START + 1, "end": End.VERIFIED}
    return Flash(**given | more | ends | values)


def moved(state: State, event: Event, at: float = START, node: str = "n") -> Entry:
    """A line of history: a node took a row of the lifecycle."""
    row = TRANSITIONS[state, event]
    return Entry(1, node, at, "transition", row.sentence, "runner", row.state, row.event, row.to)


@dataclass
class One:
    """A node as it is, with all that happened to it."""

    node: Node
    moves: list[Entry] = field(default_factory=list[Entry])
    flashes: list[Flash] = field(default_factory=list[Flash])
    answer: tuple[bool, str] | None = None
    right: bool = False

    def take(self, event: Event, now: float) -> None:
        """Move it along a row of the lifecycle."""
        line = moved(self.node.state, event, now, self.node.name)
        assert line.to is not None
        left = {key: why for key, why in self.node.conditions.items() if key is not Condition.PENDING}
        self.node = replace(self.node, state=line.to, conditions=left)
        self.moves.append(line)

    def sight(self, member: Member) -> MemberStatus:
        """What a rollout sees of it."""
        since = [move for move in self.moves if move.at >= member.changed_at]
        flashes = tuple(each for each in self.flashes if each.intended_at >= member.changed_at)
        return MemberStatus(self.node, "active", self.right, self.answer, tuple(since), flashes)


@dataclass
class Rolling:
    """A rollout, its members and their nodes; `now` goes up with every tick."""

    rollout: Rollout
    members: dict[str, Member]
    ones: dict[str, One]
    now: float = START
    said: Course | None = None

    @classmethod
    def of(cls, members: tuple[Member, ...], **values: Any) -> "Rolling":
        """Nodes in production, one for each member."""
        ones = {each.node: One(a_node(name=each.node)) for each in members}
        return cls(a_rollout(**values), {each.node: each for each in members}, ones)

    def tick(self, *, killed: bool = False) -> tuple[Member, ...]:
        """Do what the reconciler does, and return who was asked; `killed` before it wrote, nothing was done."""
        self.now += 1.0
        sights = {name: self.ones[name].sight(each) for name, each in self.members.items()}
        ended = {each.node: each for each in judged(self.rollout, self.out(), sights, self.now)}
        members = {**self.members, **ended}
        said = course(self.rollout, members.values())
        chosen = {each.node: each for each in choose(said, in_order(members.values()), sights)}
        if killed:
            return ()
        for name, each in {**ended, **chosen}.items():
            self.members[name] = replace(each, changed_at=self.now)
        if said.standing is not self.rollout.standing:
            self.rollout = replace(self.rollout, standing=said.standing, detail=said.detail, changed_at=self.now)
        self.said = said
        asked = tuple(self.members[each.node] for each in chosen.values() if each.turn is RolloutStep.ASKED)
        for each in asked:
            self.ones[each.node].answer = None
        return asked

    def answer(self, name: str) -> None:
        """Let the runner answer the request that was left for a node."""
        one = self.ones[name]
        if self.members[name].turn is RolloutStep.ASKED and one.answer is None:
            one.answer = (True, "REFLASH is pending.")
            pending = {Condition.PENDING: held("BMC 1.2", self.rollout.name, detail="REFLASH")}
            one.node = replace(one.node, conditions={**one.node.conditions, **pending})

    def go_on(self, name: str, *, well: bool = True) -> None:
        """Take a node that was asked one step on."""
        one = self.ones[name]
        self.now += 0.001
        self.answer(name)
        if one.node.state is State.PRODUCTION and Condition.PENDING in one.node.conditions:
            if self.rollout.standing is RolloutStatus.RUNNING:
                one.take(Event.FIRMWARE_NEEDED, self.now)
        elif one.node.state in STEPS and one.node.state is not State.PRODUCTION:
            one.take(Event.PASSED if well else Event.FAILED, self.now)

    def turn(self, standing: RolloutStatus) -> None:
        """Let a person pause, stop or resume it."""
        if not unturnable(self.rollout, standing):
            self.now += 0.001
            self.rollout = turned(self.rollout, standing, f"{standing} by ann: because", self.now)

    def out(self) -> list[Member]:
        """The members that were asked and have not ended."""
        return [each for each in self.members.values() if each.turn is RolloutStep.ASKED]

    def names(self, turn: RolloutStep) -> list[str]:
        """The nodes of one turn."""
        return sorted(name for name, each in self.members.items() if each.turn is turn)
