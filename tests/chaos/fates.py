"""What is in store for each node of a seed: what breaks, what heals it, how long its work takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from fleet_runner.core.lifecycle.states import Stage

PIN = "2.0"
OLD = "1.0"
"""Firmware: where a node is to come, and where it begins."""


class Fault(StrEnum):
    """What is wrong with a node, and where that shows."""

    NONE = "none"
    NO_BOOT = "no boot"  # day 0 fails: triage
    SWAP = "swap"  # a cable is wrong until a technician has moved it
    BRICK = "brick"  # its flash ends, and the version is still the old one
    BURN = "burn"  # burn-in fails: triage
    RESET = "reset"  # in service a GPU is lost; a reset brings it back
    STUBBORN = "stubborn"  # likewise, but only a reboot does
    REBOOT = "reboot"  # in service; a reboot is asked for and helps
    DEAD = "dead"  # likewise, and nothing helps
    TRIAGE = "triage"  # in service; a person is asked for at once


IN_SERVICE = frozenset({Fault.RESET, Fault.STUBBORN, Fault.REBOOT, Fault.DEAD, Fault.TRIAGE})
"""What breaks under the first load of production."""

CURES: Mapping[Fault, frozenset[str]] = {
    Fault.RESET: frozenset({"reset", "boot"}),
    Fault.STUBBORN: frozenset({"boot"}),
    Fault.REBOOT: frozenset({"boot"}),
}
"""What of all that happens to a machine heals what broke in service."""

OFTEN = {Fault.NONE: 30, Fault.NO_BOOT: 4, Fault.SWAP: 10, Fault.BRICK: 4, Fault.BURN: 6, Fault.RESET: 14,
         Fault.STUBBORN: 10, Fault.REBOOT: 10, Fault.DEAD: 8, Fault.TRIAGE: 4}  # fmt: skip

SHY = (Stage.VERIFY, Stage.BURN_IN, Stage.REBOOT)
"""Stages that may give no answer at the first look; their attempt caps have room for that and for lost runs."""


@dataclass(frozen=True, slots=True)
class Fate:
    """A node's. `blind` gives no answer when first looked at; seconds are how long a machine takes."""

    fault: Fault = Fault.NONE
    blind: Stage | None = None
    boot: float = 0.2
    flash: float = 0.4
    tests: float = 0.6
    step: float = 0.03

    def sees(self) -> bool:
        """Whether every look at it gives an answer."""
        return self.blind is None


@dataclass(frozen=True, slots=True)
class Size:
    """How large the fleet of a seed is."""

    nodes: int
    batch: int
    names: tuple[str, ...] = field(default=(), compare=False)


def name(number: int) -> str:
    """Return the name of a node by its number, from 1 on."""
    return f"gpu-{number:03}"


HEALTHY = " healthy"
"""How the name of fates ends of which none breaks anything."""


def fates(seed: int, *, healthy: bool = False) -> str:
    """Return what the fates of a seed's nodes are called: "101", or "101 healthy"."""
    return f"{seed}{HEALTHY}" if healthy else str(seed)


def fate(of: str, node: str) -> Fate:
    """Draw what is in store for a node; fates of one name always say the same."""
    draw = Random(f"{of}/{node}")
    fault = draw.choices(list(OFTEN), list(OFTEN.values()))[0]
    return Fate(
        fault=Fault.NONE if of.endswith(HEALTHY) else fault,
        blind=draw.choice(SHY) if draw.random() < 0.2 else None,
        boot=draw.uniform(0.1, 0.8),
        flash=draw.uniform(0.2, 1.2),
        tests=draw.uniform(0.3, 1.2),
        step=draw.uniform(0.01, 0.15),
    )
