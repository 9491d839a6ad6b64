"""What a difference is in a technician's words: its kind, a key that stays, and steps that name both ends."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256

from fleet_runner.core.cabling.diff import Component, diff
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.plan import Action, Add, Move, Reseat, Restore, Touch, handled, plan

SHOWN = 8
"""Ports that a dark device's message names: a server's rails."""


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
    DEGRADED = "degraded"  # as designed, and slower or narrower than the others of its kind


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


@dataclass(frozen=True, slots=True)
class Places:
    """What is known of devices: where each stands in words, its rack, and which are servers.

    `carriers` are what a designed link shares with others on its way, coarse to fine ("trunk T-12", "panel PP-A3").
    """

    words: Mapping[str, str]
    racks: Mapping[str, str]
    servers: frozenset[str]
    carriers: Mapping[Link, tuple[str, ...]] = field(default_factory=dict[Link, tuple[str, ...]])

    def port(self, port: Port) -> str:
        """Return a port as a person finds it: "leaf-3 port 7 (hall-1 rack N1 U10)"."""
        return f"{port.device} port {port.interface} ({self.words.get(port.device, 'place unknown')})"


def explain(expected: Mapping[Port, Port], observed: Mapping[Port, Port], places: Places) -> tuple[Fault, ...]:
    """Return one fault for each independent difference, dark devices gathered into one each."""
    dark = _dark(expected, observed)
    by_device: dict[str, list[Component]] = defaultdict(list)
    faults: list[Fault] = []
    for component in diff(expected, observed):
        unlit = dark & {port.device for port in component.ports}
        if unlit and _kind(component, places) is Kind.MISSING:
            by_device[_darkest(unlit, places)].append(component)
        else:
            faults.append(_fault(component, places))
    faults += [_dark_fault(device, components, places) for device, components in by_device.items()]
    return tuple(sorted(faults, key=lambda fault: fault.key))


def _dark(expected: Mapping[Port, Port], observed: Mapping[Port, Port]) -> frozenset[str]:
    """Return the devices of two or more designed links of which none is up."""
    unlit = {port.device for port in expected} - {port.device for port in observed}
    counted = Counter(port.device for port in expected if port.device in unlit) if unlit else {}
    return frozenset(device for device, count in counted.items() if count > 1)


def _darkest(unlit: Iterable[str], places: Places) -> str:
    """A dark server explains its own links; only then does a dark switch."""
    return min(unlit, key=lambda device: (device not in places.servers, device))


def _moved(component: Component) -> Kind:
    """The middle port of three stays; the outer two tell from where to where the other end went."""
    here, there = component.ports[0], component.ports[-1]
    return Kind.MOVED if here.device == there.device else Kind.WRONG_SWITCH


def _kind(component: Component, places: Places) -> Kind:
    designed, observed = len(component.designed), len(component.observed)
    if component.closed:
        if designed > 2:  # noqa: PLR2004  two designed and two observed links are an exchange
            return Kind.ROTATION
        one, other = ({port.device for port in joined} for joined in component.designed)
        return Kind.WRONG_RAIL if one & other & places.servers else Kind.SWAP
    known = {
        (1, 0): Kind.MISSING,
        (0, 1): Kind.EXTRA,
        (1, 1): _moved(component),
        (2, 1): Kind.MOVED_AND_MISSING,
        (1, 2): Kind.OCCUPIED,
    }
    return known.get((designed, observed), Kind.SHIFTED)


def _fault(component: Component, places: Places) -> Fault:
    kind = _kind(component, places)
    actions = plan(component, lambda device: places.racks.get(device, device), lambda each: each in places.servers)
    return Fault(
        kind,
        _key(component.ports),
        _MESSAGES[kind](component),
        _steps(component, actions, places),
        actions,
        component.ports,
        component.designed,
        component.observed,
    )


def _dark_fault(device: str, components: list[Component], places: Places) -> Fault:
    ports = tuple(sorted({port for component in components for port in component.ports}))
    mine = sorted(port.interface for port in ports if port.device == device)
    shown = ", ".join(mine[:SHOWN]) + (", …" if len(mine) > SHOWN else "")
    message = f"{device} is dark: none of its designed links is up; missing at its end: {shown}."
    steps = (
        f"Go to {device} ({places.words.get(device, 'place unknown')}): is it powered, are its cables seated?",
        "If it is powered, look at its ports' lights, then at the cable bundle on its way to the other end.",
    )
    links = tuple(joined for component in components for joined in component.designed)
    return Fault(Kind.DARK, f"cabling/dark/{device}", message, steps, (Restore(device, links),), ports, links)


def degraded_fault(joined: Link, rate: str, places: Places) -> Fault:
    """Return the fault of a link that is as designed and runs below the others of its kind."""
    step = f"Reseat the cable at {places.port(joined.a)} and {places.port(joined.b)}; if it stays, replace it."
    message = f"The link {_says(joined)} runs at {rate}."
    key = f"cabling/degraded/{joined.a.device}/{joined.a.interface}"
    return Fault(Kind.DEGRADED, key, message, (step,), (Reseat(joined, rate),), joined, (joined,), (joined,))


def _key(ports: Iterable[Port]) -> str:
    """The ports alone: two exchanged cables look otherwise while one of their servers is off, and are one fault."""
    ordered = sorted(ports)
    digest = sha256("\n".join(f"{port.device}\t{port.interface}" for port in ordered).encode()).hexdigest()
    return f"cabling/{ordered[0].device}/{ordered[0].interface}/{digest[:12]}"


def _says(joined: Link) -> str:
    return f"{joined.a} to {joined.b}"


def _list(links: Iterable[Link]) -> str:
    return ", ".join(sorted(_says(joined) for joined in links))


_MESSAGES: dict[Kind, Callable[[Component], str]] = {
    Kind.MISSING: lambda it: f"Designed and not there: {_list(it.designed)}.",
    Kind.EXTRA: lambda it: f"There and not designed: {_list(it.observed)}.",
    Kind.WRONG_SWITCH: lambda it: f"Expected {_list(it.designed)}, observed {_list(it.observed)}.",
    Kind.MOVED: lambda it: f"Expected {_list(it.designed)}, observed {_list(it.observed)}.",
    Kind.MOVED_AND_MISSING: lambda it: f"Expected {_list(it.designed)}, observed only {_list(it.observed)}.",
    Kind.OCCUPIED: lambda it: f"Expected {_list(it.designed)}, but its ports are taken: {_list(it.observed)}.",
    Kind.SWAP: lambda it: f"Two cables are swapped: expected {_list(it.designed)}, observed {_list(it.observed)}.",
    Kind.WRONG_RAIL: lambda it: (
        f"Two rails are swapped: expected {_list(it.designed)}, observed {_list(it.observed)}."
    ),
    Kind.ROTATION: lambda it: f"{len(it.designed)} cables took each other's ports: observed {_list(it.observed)}.",
    Kind.SHIFTED: lambda it: f"{len(it.observed)} cables are shifted: expected {_list(it.designed)}.",
}


def _steps(component: Component, actions: tuple[Touch, ...], places: Places) -> tuple[str, ...]:
    """Say what to do at which port, with where both ends stand and what stays plugged."""
    steps = tuple(_step(action, places) for action in actions)
    if not component.closed:
        return steps
    ports = sorted({port for action in actions for port in handled(action)})
    return (f"Unplug {_and([places.port(port) for port in ports])}; the other ends stay.", *steps)


def _step(action: Touch, places: Places) -> str:
    match action:
        case Move(stays, source, target):
            cable = f"the cable that comes from {places.port(stays)}"
            return f"Plug {cable} into {places.port(target)}; it was in {source}."
        case Add(cable):
            ends = f"{places.port(cable.a)} and {places.port(cable.b)}"
            return f"Join {ends} with a cable; if there is one, reseat it, then replace it."
        case _:
            return f"Unplug the cable between {places.port(action.cable.a)} and {places.port(action.cable.b)}."


def _and(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"
