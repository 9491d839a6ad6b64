"""How far automation may go at a node: observe, advise or act, for each kind of what it does.

What nobody has said anything about is observed. Only what acts asks for a mode: reading never does, nor giving back
what fleet-runner itself took.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple, Self

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.inventory.last_places import place
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.states import Stage, State


class Mode(StrEnum):
    """How far automation may go, the most careful first."""

    OBSERVE = "observe"  # it reads, judges and tells
    ADVISE = "advise"  # it says what it would do, and opens tickets
    ACT = "act"  # it does it


class Kind(StrEnum):
    """What automation does to a node."""

    PROVISION = "provision"  # Day 0: it is booted anew
    FIRMWARE = "firmware"
    BURN_IN = "burn_in"
    TESTS = "tests"  # active tests of an idle node
    RESET = "reset"
    REBOOT = "reboot"
    TRIAGE = "triage"
    WIPE = "wipe"


class Scope(StrEnum):
    """What a mode is set for, from the widest to the narrowest."""

    FLEET = "fleet"
    SITE = "site"
    TENANT = "tenant"
    DEVICE_TYPE = "device_type"
    RACK = "rack"
    NODE = "node"


NARROWER: tuple[frozenset[Scope], ...] = (
    frozenset({Scope.NODE}),
    frozenset({Scope.RACK, Scope.DEVICE_TYPE, Scope.TENANT}),
    frozenset({Scope.SITE}),
    frozenset({Scope.FLEET}),
)
"""Whose word counts, the first one first; of several that stand beside each other the most careful counts."""

OF_STATES: dict[State, Kind] = {
    State.PROVISION: Kind.PROVISION,
    State.FIRMWARE: Kind.FIRMWARE,
    State.BURN_IN: Kind.BURN_IN,
    State.RESET: Kind.RESET,
    State.REBOOT: Kind.REBOOT,
    State.TRIAGE: Kind.TRIAGE,
    State.WIPE: Kind.WIPE,
}
"""What is done to a node that leaves service for one of these states, or is worked on in it."""

OF_STAGES: dict[Stage, Kind] = {
    Stage.PROVISION: Kind.PROVISION,
    Stage.FIRMWARE: Kind.FIRMWARE,
    Stage.BURN_IN: Kind.BURN_IN,
    Stage.RESET: Kind.RESET,
    Stage.REBOOT: Kind.REBOOT,
    Stage.WIPE: Kind.WIPE,
    Stage.HEALTH_ACTIVE: Kind.TESTS,
}

OF_REMEDIES: dict[Remedy, Kind] = {
    Remedy.RESTART: Kind.RESET,
    Remedy.RESET: Kind.RESET,
    Remedy.REBOOT: Kind.REBOOT,
    Remedy.POWER_CYCLE: Kind.REBOOT,
    Remedy.TRIAGE: Kind.TRIAGE,
    Remedy.RMA: Kind.TRIAGE,
    Remedy.REFLASH: Kind.FIRMWARE,
}

READING = frozenset(Stage) - OF_STAGES.keys() - {Stage.DRAIN, Stage.RESUME}
"""Stages that only read: they run whatever the mode is."""


FEW = 4
"""Settings that a sentence names; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of what people said: for what (`scope` and its `name`, "" for the fleet), which kind, and how far.

    `kind` is None for all of them; `mode` None takes an earlier row back. `at` is in epoch seconds.
    """

    scope: Scope
    name: str
    kind: Kind | None
    mode: Mode | None
    at: float
    by: str
    reason: str = ""

    @property
    def place(self) -> str:
        """Return for what it is set, as people read it: "site hall-1", "the fleet"."""
        return "the fleet" if self.scope is Scope.FLEET else f"{self.scope.value.replace('_', ' ')} {self.name}"


class Where(NamedTuple):
    """Where a node belongs; "" where nobody says. `rack` is named with its site: two sites may have an A03."""

    node: str
    site: str = ""
    rack: str = ""
    device_type: str = ""
    tenant: str = ""

    @classmethod
    def of(cls, fleet: Fleet, name: str) -> Self:
        """Return where a node belongs; one whose record cannot be used belongs where it was."""
        site, rack, _, tenant = place(fleet, name)
        device = fleet.devices.get(name)
        return cls(name, site, rack, device.device_type if device is not None else "", tenant)

    def named(self, scope: Scope) -> str:
        """Return what this node's place is called in a scope; the fleet has no name."""
        return "" if scope is Scope.FLEET else str(getattr(self, scope.value))


@dataclass(frozen=True, slots=True)
class Modes:
    """The modes of one node. `since` is when anything that counts for it was last said (epoch seconds).

    `closed` says why nothing at all may be done, whatever people said: the store is not known to be this fleet's.
    """

    of: Mapping[Kind, Mode] = field(default_factory=dict[Kind, Mode])
    since: float = 0.0
    closed: str = ""

    def mode(self, kind: Kind) -> Mode:
        """Return the mode of a kind; observe where nobody said anything."""
        return Mode.OBSERVE if self.closed else self.of.get(kind, Mode.OBSERVE)

    def acts(self, kind: Kind) -> bool:
        """Whether something of a kind may be done."""
        return self.mode(kind) is Mode.ACT

    @property
    def highest(self) -> Mode:
        """Return the mode of the kind that may go farthest: tickets are opened from advise on."""
        return max((self.mode(kind) for kind in Kind), key=tuple(Mode).index)


ACTING = Modes(dict.fromkeys(Kind, Mode.ACT))
"""Of a node at which everything may be done."""


def standing(settings: Iterable[Setting]) -> tuple[Setting, ...]:
    """Return the rows that hold: the last one about each scope, name and kind, unless it takes back."""
    last = {(each.scope, each.name, each.kind): each for each in settings}
    return tuple(each for each in last.values() if each.mode is not None)


def modes(settings: Iterable[Setting], where: Where) -> Modes:
    """Return the modes of a node, from all that was ever said, the oldest first."""
    return _modes(tuple(each for each in settings if _is_about(each, where)))


@lru_cache(maxsize=256)  # whole fleets have the same few rows
def _modes(mine: tuple[Setting, ...]) -> Modes:
    holding = standing(mine)
    return Modes({kind: _mode(holding, kind) for kind in Kind}, max((each.at for each in mine), default=0.0))


def is_above_observe(holding: Sequence[Setting]) -> bool:
    """Whether everything is more than observed, wherever it stands: the fleet is, and nobody took anything out."""
    fleet = any(each.scope is Scope.FLEET and each.kind is None for each in holding)
    return fleet and all(each.mode is not Mode.OBSERVE for each in holding)


def told(holding: Iterable[Setting]) -> str:
    """Say in one sentence what holds: "Mode: act at site hall-1, advise for reboot at rack hall-2/A03, …"."""
    rows = sorted(holding, key=lambda each: (tuple(Scope).index(each.scope), each.name, each.kind or ""))
    whole = next((each for each in rows if each.scope is Scope.FLEET and each.kind is None), None)
    rest = whole.mode if whole is not None else Mode.OBSERVE
    said = (each for each in rows if each is not whole)
    words = [f"{each.mode}{f' for {each.kind}' if each.kind else ''} at {each.place}" for each in said]
    more = [f"{len(words) - FEW} more (fleet-runner mode)"] if len(words) > FEW else []
    return f"Mode: {', '.join([*words[:FEW], *more, f'{rest} everywhere else' if words else f'{rest} everywhere'])}."


def _is_about(setting: Setting, where: Where) -> bool:
    return setting.scope is Scope.FLEET or setting.name == where.named(setting.scope) != ""


def _mode(holding: Iterable[Setting], kind: Kind) -> Mode:
    """At each scope a word about the kind comes before one about all kinds."""
    said: dict[Scope, Mode] = {}
    for each in sorted(holding, key=lambda each: each.kind is not None):
        if each.kind in {kind, None} and each.mode is not None:
            said[each.scope] = each.mode
    for scopes in NARROWER:
        there = [mode for scope, mode in said.items() if scope in scopes]
        if there:
            return min(there, key=tuple(Mode).index)
    return Mode.OBSERVE
