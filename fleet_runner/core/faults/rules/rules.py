"""All rules of a fleet, as one value: what follows from a code here, and which rule says so."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from fleet_runner.core.budgets.circuit_breaker_limits import Limits
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.built_in import BUILT_IN, DAY
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.rules.rule import SAID, Rule
from fleet_runner.core.lifecycle.states import HOUR

FRESH = 12 * HOUR
"""Seconds after a boot within which GPUs are not reset (Oracle's oci-hpc): the boot has begun them anew."""

KEPT = 4096
"""Answers that are remembered: codes come from outside, and some senders make them up."""


class Cap(NamedTuple):
    """How often a remedy is tried on one node within so many seconds; then a person looks."""

    most: int
    within: float = DAY


class CodeRule(NamedTuple):
    """What follows from a code: of signals, and of what a check sees."""

    following: Following
    seen: Following


class AtDeadline(StrEnum):
    """What becomes of a pending remedy whose node is still in use when the drain's deadline is over."""

    ASK = "ask"  # a person decides
    ACT = "act"  # it is carried out, and ends the work


CAPS: dict[Remedy, Cap] = {
    Remedy.RESTART: Cap(3),
    Remedy.RESET: Cap(3),
    Remedy.REBOOT: Cap(3),
    Remedy.POWER_CYCLE: Cap(2),
}
"""More than three reboots in 24 h mean repair (Oracle's oci-hpc); the others are our judgement."""

LADDER = (Remedy.RESTART, Remedy.RESET, Remedy.REBOOT, Remedy.POWER_CYCLE)
"""The remedies that the runner carries out itself, mild to hard; above them a person decides (TRIAGE)."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a fleet's policy says. Where several rules speak of a code, the last that names a field wins.

    `observe`: everything is decided and said, nothing is done. `ladder` are the remedies in use, mild to hard; `caps`
    say how often each is tried. What was tried for a fault is remembered for `memory` seconds. `deadline` is the
    longest that a pending remedy waits for an idle node, None where the settings say it. `budget` are the limits of
    the disruption budget that the policy says instead of the settings, by their names; `breaker` the breaker's.
    """

    rules: tuple[Rule, ...] = BUILT_IN
    observe: bool = False
    ladder: tuple[Remedy, ...] = LADDER
    caps: Mapping[Remedy, Cap] = field(default_factory=lambda: CAPS)
    memory: float = 7 * DAY
    deadline: float | None = None
    at_deadline: AtDeadline = AtDeadline.ASK
    budget: Mapping[str, float] = field(default_factory=dict[str, float])
    breaker: Limits = field(default_factory=Limits)
    _known: dict[tuple[str, str], CodeRule] = field(
        default_factory=dict[tuple[str, str], CodeRule], init=False, repr=False, compare=False
    )

    def of(self, device_type: str, code: str) -> Following:
        """Return what follows from a code on a device type."""
        return self._told(device_type, code).following

    def seen(self, device_type: str, code: str) -> Following:
        """Return what follows where a check sees a fault: a look cannot tell how often something came.

        A remedy that a rule names for what it counts, or waits for beside another code, is of signals; one that
        another rule names is of both. Where anything is counted, nothing that is seen is done at once.
        """
        return self._told(device_type, code).seen

    def _told(self, device_type: str, code: str) -> CodeRule:
        found = self._known.get((device_type, code))
        if found is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            rules = self.sayings(device_type, code)
            following = Following(**{name: getattr(rule, name) for name, rule in rules.items()})
            remedy = None if "remedy" in rules and rules["remedy"].counts else following.remedy
            seen = replace(following, remedy=remedy, at_once=following.at_once and not following.counts)
            found = self._known[device_type, code] = CodeRule(following, seen)
        return found

    def sayings(self, device_type: str, code: str) -> dict[str, Rule]:
        """Return which rule says each field of what follows; one that no rule names is not among them."""
        speaking = [rule for rule in self.rules if rule.speaks_of(device_type, code)]
        return {name: rule for rule in speaking for name in SAID if getattr(rule, name) is not None}

    def remembered(self) -> float:
        """Return for how many seconds attempts still matter: for climbing, for a cap, or as a fresh boot."""
        return max((FRESH, self.memory, *(cap.within for cap in self.caps.values())))


DEFAULT = Rules()
"""The built-in rules, for a fleet without a policy file."""
