"""What pasted text tells: findings with their evidence, and what follows from each."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fleet_runner.core.checks.page import FOLLOWS
from fleet_runner.core.checks.verdicts import Finding, Remedy
from fleet_runner.core.faults.diagnosis import Known, Seen, diagnose
from fleet_runner.core.faults.needs import ruled
from fleet_runner.core.faults.rules.rules import DEFAULT
from fleet_runner.core.faults.xid import OF_APPLICATIONS

THIS_NODE = "this node"
"""Stands for a node that a text does not name."""

BOOT_CURES = frozenset({Remedy.RESTART, Remedy.RESET, Remedy.REBOOT})
"""Remedies that a boot is, or holds: GPUs begin anew with it. It takes no power away."""

TRIES = 2
"""Steps by hand that are told where the finding itself has none."""


class Group(StrEnum):
    """What a finding is to who reads it."""

    ACTION = "action"  # it asks for something
    OVER = "over"  # it asked for what was done since
    APPLICATION = "application"  # nobody's hardware
    RECORDED = "recorded"  # kept, and nothing follows


@dataclass(frozen=True, slots=True)
class Told:
    """A finding of one node: how often it was seen, when first and last (as it stands there), and its first line.

    `over` says what has been done about it since, "" for nothing. `beside`: another error of its part was logged,
    which is no application's; then what an application seems to have done may be its consequence.
    """

    node: str
    finding: Finding
    count: int = 1
    first: str = ""
    last: str = ""
    line: str = ""
    over: str = ""
    beside: bool = False

    @property
    def group(self) -> Group:
        """Return what it is to who reads it."""
        if self.finding.remedy is Remedy.RECORD:
            own = self.finding.code in OF_APPLICATIONS and not self.beside
            return Group.APPLICATION if own else Group.RECORDED
        return Group.OVER if self.over else Group.ACTION


@dataclass(frozen=True, slots=True)
class Part:
    """What one kind of text said: its name with what it is about, and what it left open.

    `notes` are sentences that belong to an answer and are neither a finding nor open. `matter` counts the lines that
    matter, None for a report, which is judged as a whole.
    """

    name: str
    told: tuple[Told, ...] = ()
    unsure: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    matter: int | None = None


def by_rules(finding: Finding) -> Finding:
    """Return a finding with the remedy that the built-in rules name for what is seen."""
    return ruled(DEFAULT, "", finding)


def automation(finding: Finding) -> str:
    """Say what fleet-runner does about a finding where it may act."""
    at_once = DEFAULT.seen("", finding.code).at_once
    return FOLLOWS[finding.remedy] + ("; at once where all of its work is lost" if at_once else "")


def by_hand(finding: Finding) -> tuple[str, ...]:
    """Say what a person does: the finding's own steps, or what to try for faults of its kind."""
    if finding.remedy is Remedy.RECORD or finding.steps:
        return finding.steps
    suspects = diagnose(Known(seen=(Seen(0.0, "", finding),)))
    return tuple(step for each in suspects for step in each.tries)[:TRIES]


def repeats(told: Told) -> str:
    """Say of what is recorded that the rules have a person look once it repeats on one part; "" where they do not."""
    following = DEFAULT.of("", told.finding.code)
    if told.group is not Group.APPLICATION or following.repeats == 1 or following.remedy is None:
        return ""
    if told.count < following.repeats:
        return ""
    return (
        f"the built-in policy has a GPU diagnosed on which it comes {following.repeats} times in"
        f" {following.within / 3600:g} h: dcgmi diag -r 3"
    )


def plain(told: Told) -> dict[str, Any]:
    """Return plain JSON types."""
    finding = told.finding
    return {
        "node": told.node,
        "group": told.group.value,
        "code": finding.code,
        "component": finding.component,
        "message": finding.message,
        "remedy": finding.remedy.value,
        "automation": automation(finding),
        "by_hand": list(by_hand(finding)),
        "count": told.count,
        "first": told.first,
        "last": told.last,
        "line": told.line,
        "over": told.over,
    }


def ordered(told: Iterable[Told]) -> tuple[Told, ...]:
    """Return what was told node by node, the hardest remedy first."""
    hardness = list(Remedy).index
    return tuple(sorted(told, key=lambda each: (each.node, -hardness(each.finding.remedy), each.finding.component)))
