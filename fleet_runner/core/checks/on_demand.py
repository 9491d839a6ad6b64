"""Which checks a person may ask of a node now, and who asks the others."""

from collections.abc import Collection
from difflib import get_close_matches

from fleet_runner.core.checks.check import Check
from fleet_runner.core.checks.reads import READS
from fleet_runner.core.lifecycle.states import Stage

FEW = 3
"""Names that are offered for one that nobody knows."""


def refusal(check: Check, stages: Collection[Stage]) -> str:
    """Say why a check cannot be asked of a node by hand, and who asks it; "" where it can.

    `stages` are those whose playbooks ask it.
    """
    if Stage.FABRIC in stages:
        return f"{check.name} is about a fabric, not a node; fleet-runner run {Stage.FABRIC} --node FABRIC asks it"
    if check.active:
        commands = " or ".join(f"fleet-runner run {stage} --node NODE" for stage in _ordered(stages))
        asks = f"{commands} asks it once the node is idle" if commands else "no stage asks it yet"
        return f"{check.name} is active, it needs the node's hardware for itself; {asks}"
    brought = [name for name in check.reads if name not in READS]
    if brought:
        named = " or ".join(_ordered(stages)) or "none yet"
        return f"{check.name} judges what its stage brings ({', '.join(brought)}), and only that asks it: {named}"
    return ""


def nearest(name: str, names: Collection[str]) -> list[str]:
    """Return the names that somebody may have meant, the likeliest first."""
    within = [each for each in sorted(names) if name and name in each]
    return list(dict.fromkeys([*get_close_matches(name, sorted(names), n=FEW), *within]))[:FEW]


def _ordered(stages: Collection[Stage]) -> list[Stage]:
    """Return the stages of a node that serves before those of one that is brought up."""
    return sorted(stages, key=lambda stage: (not stage.startswith("health"), list(Stage).index(stage)))
