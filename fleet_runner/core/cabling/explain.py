"""What a difference is in a technician's words: its kind, a key that stays, and steps that name both ends."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256

from fleet_runner.core.cabling.diff import Component
from fleet_runner.core.cabling.lanes import cage_of
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.plan import Action, Add, Move, Reseat, Touch, plan

SHOWN = 8
"""Ports or links that a message names: a server's rails."""


class Kind(StrEnum):
    """What went wrong, once for each fault."""

    MISSING = "missing"  # a designed cable is not there
    EXTRA = "extra"  # a cable that no one designed
    MOVED = "moved"  # one end is in another port of the right device
    WRONG_SWITCH = "wrong_switch"  # one end is in another device
    MOVED_AND_MISSING = "moved_and_missing"  # one end took another cable's port, whose cable is gone
    OCCUPIED = "occupied"  # two wrong cables sit where one right one belongs
    SWAP = "swap"  # two cables are exchanged
    WRONG_RAIL = "wrong_rail"  # two rails of one server are exchanged
    ROTATION = "rotation"  # three or more cables took each other's ports: a shifted bundle
    SHIFTED = "shifted"  # likewise, with a port left empty at its end
    DARK = "dark"  # no designed link of a device is up
    CARRIER = "carrier"  # a trunk, a panel or a cage is down: no designed link that runs through it is up
    UNPLANNED = "unplanned"  # a device that the design does not know
    EXCHANGED = "exchanged"  # devices stand in each other's place
    REPLACED_HCA = "replaced_hca"  # a new GUID in an adapter's old place
    REPLACED_SWITCH = "replaced_switch"  # likewise, in a switch's
    DEGRADED = "degraded"  # as designed, and slower or narrower than designed, or than most of its kind


@dataclass(frozen=True, slots=True)
class Fault:
    """One physical fault. `key` is the same from whichever end, in whichever run it is seen.

    `expected` and `observed` are the designed and the plugged links that it is about: the actions turn these into
    those.
    """

    kind: Kind
    key: str
    message: str
    steps: tuple[str, ...]
    actions: tuple[Action, ...]
    ports: tuple[Port, ...]
    expected: tuple[Link, ...] = ()
    observed: tuple[Link, ...] = ()

    @property
    def devices(self) -> tuple[str, ...]:
        """Return the devices it touches, by name."""
        return tuple(sorted({port.device for port in self.ports}))

    @property
    def touches(self) -> int:
        """Return how many cables hands touch, one by one."""
        return sum(isinstance(action, Touch) for action in self.actions)

    @property
    def subjects(self) -> tuple[str, ...]:
        """Return the devices without which it would be none: of a dark device not its neighbours."""
        if self.kind not in {Kind.DARK, Kind.CARRIER}:
            return self.devices
        ends = [{port.device for port in joined} for joined in self.expected]
        return tuple(sorted(set.intersection(*ends)))


@dataclass(frozen=True, slots=True)
class Places:
    """What is known of devices: where each stands in words, its rack, and which are servers.

    By designed link, `carriers` names what several cables run through together ("trunk T-12", "panel PP-A3"), and
    `kinds` gives the interface type of its slower end ("infiniband-ndr"), where the design knows them. `uncompared`
    are ports of which the design does not say what belongs there, `lanes` those at which it has several far ends.
    `far_ends` says how many of these each port has that is broken out, those whose lanes it names among them.
    """

    words: Mapping[str, str]
    racks: Mapping[str, str]
    servers: frozenset[str]
    carriers: Mapping[Link, tuple[str, ...]] = field(default_factory=dict[Link, tuple[str, ...]])
    kinds: Mapping[Link, str] = field(default_factory=dict[Link, str])
    uncompared: frozenset[Port] = frozenset()
    lanes: frozenset[Port] = frozenset()
    far_ends: Mapping[Port, int] = field(default_factory=dict[Port, int])

    def device(self, name: str) -> str:
        """Return a device as a person finds it: "leaf-3 (hall-1 rack N1 U10)"."""
        return self._with_place(name, name)

    def port(self, port: Port) -> str:
        """Return a port as a person finds it: "leaf-3 port 7 (hall-1 rack N1 U10)"."""
        return self._with_place(f"{port.device} port {port.interface}", port.device)

    def place(self, name: str) -> str:
        """Return where a device stands; "" where nothing is known of any, as in a CSV."""
        return self.words.get(name, "place unknown") if self.words else ""

    def _with_place(self, what: str, device: str) -> str:
        place = self.place(device)
        return f"{what} ({place})" if place else what


def explain(component: Component, places: Places, nameless: frozenset[str] = frozenset()) -> Fault:
    """Return an independent difference as the fault of its shape.

    `nameless` are devices that are called after their GUIDs: a key without them stays where one is replaced.
    """
    kind = shape(component, places)
    actions = planned(component, places)
    return Fault(
        kind,
        _key(port for port in component.ports if port.device not in nameless),
        _MESSAGES[kind](component),
        steps(component, actions, places),
        actions,
        component.ports,
        component.designed,
        component.observed,
    )


def degraded_fault(joined: Link, rate: str, against: str, places: Places) -> Fault:
    """Return the fault of a link that joins what it should and runs below what it is held against."""
    step = f"Reseat the cable at {places.port(joined.a)} and {places.port(joined.b)}; if it stays, replace it."
    message = f"The link {says(joined)} runs at {rate}, {against}."
    return Fault(
        Kind.DEGRADED, degraded_key(joined), message, (step,), (Reseat(joined, rate),), joined, (joined,), (joined,)
    )


def degraded_key(joined: Link) -> str:
    """Return the key of the fault that a link is slow, for whoever sees it elsewhere than in a fabric."""
    return f"cabling/degraded/{joined.a.device}/{joined.a.interface}"


def missing_key(joined: Link) -> str:
    """Return the key of the fault that a designed link alone is not there, likewise."""
    return _key(joined)


def shape(component: Component, places: Places) -> Kind:
    """Return what a component's shape says of it."""
    designed, observed = len(component.designed), len(component.observed)
    if component.closed:
        if designed > 2:  # noqa: PLR2004  two designed and two observed links are an exchange
            return Kind.ROTATION
        one, other = ({port.device for port in joined} for joined in component.designed)
        return Kind.WRONG_RAIL if one & other & places.servers else Kind.SWAP
    if (designed, observed) == (1, 1):  # the middle port of three stays
        here, there = component.ports[0], component.ports[-1]
        return Kind.MOVED if here.device == there.device else Kind.WRONG_SWITCH
    known = {
        (1, 0): Kind.MISSING,
        (0, 1): Kind.EXTRA,
        (2, 1): Kind.MOVED_AND_MISSING,
        (1, 2): Kind.OCCUPIED,
    }
    return known.get((designed, observed), Kind.SHIFTED)


def planned(component: Component, places: Places) -> tuple[Touch, ...]:
    """Return the cheapest plan for where devices stand."""
    return plan(
        component,
        lambda device: places.racks.get(device, device),
        places.servers.__contains__,
        lambda port: cage_of(port, places.far_ends) is not None,
    )


def steps(component: Component, actions: tuple[Touch, ...], places: Places) -> tuple[str, ...]:
    """Say what to do at which port, with where both ends stand and what stays plugged."""
    told = tuple(_step(action, places) for action in actions)
    last = actions[-1]
    if not component.closed or not isinstance(last, Move):
        return told
    out = f"Unplug {places.port(last.source)}, where the cable from {last.stays} sits; its other end stays."
    return (out, *told)


def says(joined: Link) -> str:
    """Return a link in words."""
    return f"{joined.a} to {joined.b}"


def listed(links: Iterable[Link]) -> str:
    """Return links in words, all of them: what a technician moves is named in full."""
    return ", ".join(sorted(says(joined) for joined in links))


def some(words: Iterable[str], between: str = ", ") -> str:
    """Return the first of many names: a dark switch has dozens of ports."""
    every = list(words)
    return between.join([*every[:SHOWN], *(["…"] if len(every) > SHOWN else [])])


def digest(names: Iterable[str]) -> str:
    """Return names as a part of a key, however many they are."""
    return sha256("\n".join(names).encode()).hexdigest()[:12]


def _key(ports: Iterable[Port]) -> str:
    """The ports alone: two exchanged cables look otherwise while one of their servers is off, and are one fault."""
    ordered = sorted(ports)
    told = digest(f"{port.device}\t{port.interface}" for port in ordered)
    return f"cabling/{ordered[0].device}/{ordered[0].interface}/{told}"


def _differ(it: Component) -> str:
    return f"Expected {listed(it.designed)}, observed {listed(it.observed)}."


_MESSAGES: dict[Kind, Callable[[Component], str]] = {
    Kind.MISSING: lambda it: f"Designed and not there: {listed(it.designed)}.",
    Kind.EXTRA: lambda it: f"There and not designed: {listed(it.observed)}.",
    Kind.MOVED: _differ,
    Kind.WRONG_SWITCH: _differ,
    Kind.MOVED_AND_MISSING: lambda it: f"Expected {listed(it.designed)}, observed only {listed(it.observed)}.",
    Kind.OCCUPIED: lambda it: f"Expected {listed(it.designed)}, but its ports are taken: {listed(it.observed)}.",
    Kind.SWAP: lambda it: f"Two cables are swapped: expected {listed(it.designed)}, observed {listed(it.observed)}.",
    Kind.WRONG_RAIL: lambda it: (
        f"Two rails are swapped: expected {listed(it.designed)}, observed {listed(it.observed)}."
    ),
    Kind.ROTATION: lambda it: f"{len(it.designed)} cables took each other's ports: observed {listed(it.observed)}.",
    Kind.SHIFTED: lambda it: f"{len(it.observed)} cables are shifted: expected {listed(it.designed)}.",
}


def _step(action: Touch, places: Places) -> str:
    match action:
        case Move(stays, source, target):
            cable = f"the cable that comes from {places.port(stays)}"
            return f"Plug {cable} into {places.port(target)}; it was in {places.port(source)}, its other end stays."
        case Add(cable):
            ends = f"{places.port(cable.a)} and {places.port(cable.b)}"
            return f"Join {ends} with a cable; if there is one, reseat it, then replace it."
        case _:
            return f"Unplug the cable between {places.port(action.cable.a)} and {places.port(action.cable.b)}."
