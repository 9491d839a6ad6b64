"""Devices that the design does not know: everything that is plugged at one of them is one fault."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from fleet_runner.core.cabling.diff import Component
from fleet_runner.core.cabling.explain import Fault, Kind, Places, listed, planned, steps
from fleet_runner.core.cabling.links import Link, Port, devices_of


def concerning(
    others: Iterable[Link], expected: Mapping[Port, Port], strangers: Collection[str], most: float
) -> list[Link]:
    """Return the undesigned links that are faults; a cable among what the design leaves out is somebody else's.

    A stranger is a fault at a designed port and, unless nothing identifies it, on a free port of a designed device:
    but not where it is joined to another stranger as well, or is one of more than `most`, since a part of the fabric
    that the design leaves out looks so. `strangers` are the devices outside the design that have a name.
    """
    devices = devices_of(expected)
    found: list[Link] = []
    loose: dict[str, list[Link]] = defaultdict(list)
    foreign: set[str] = set()
    for joined in others:
        a, b = joined
        if a == b:  # a loopback plug is no cable
            continue
        if a in expected or b in expected or (a.device in devices and b.device in devices):
            found.append(joined)
        elif a.device in devices or b.device in devices:
            loose[b.device if a.device in devices else a.device].append(joined)
        else:
            foreign.update((a.device, b.device))
    unplanned = [device for device in loose if device in strangers and device not in foreign]
    met = {port.device for joined in found for port in joined}
    free = [device for device in unplanned if device not in met]
    gone = set(free) if len(free) > most else set()
    found += [joined for device in unplanned if device not in gone for joined in loose[device]]
    return found


def stranger(component: Component, strangers: Collection[str]) -> str:
    """Return the device outside the design that a component is about; "" if it is about designed cables as well."""
    if component.closed or len(component.observed) != 1 or len(component.designed) > 1:
        return ""
    return next((port.device for port in component.observed[0] if port.device in strangers), "")


def unplanned(device: str, components: list[Component], places: Places) -> Fault:
    """Return all that is plugged at a device outside the design as one fault."""
    plans = [(each, planned(each, places)) for each in components]
    actions = tuple(action for _, plan in plans for action in plan)
    told = tuple(step for each, plan in plans for step in steps(each, plan, places))
    observed = tuple(joined for each in components for joined in each.observed)
    expected = tuple(joined for each in components for joined in each.designed)
    message = f"The design does not know {device}: observed {listed(observed)}"
    instead = sorted(_absent(components))
    if instead:
        message += f"; {', '.join(instead)} belongs there and is not seen at it"
        first = f"Read the serial of {device}: if it is {' or '.join(instead)}, correct its name and move no cable."
    else:
        first = f"Find out what {device} is: if it belongs there, add it to the design and move no cable."
    ports = tuple(sorted({port for each in components for port in each.ports}))
    key = f"cabling/unplanned/{device}"
    return Fault(Kind.UNPLANNED, key, f"{message}.", (first, *told), actions, ports, expected, observed)


def _absent(components: Iterable[Component]) -> set[str]:
    """Return the devices whose designed port a stranger's cable leaves empty."""
    return {
        port.device
        for each in components
        for joined in each.designed
        for port in joined
        if all(port not in seen for seen in each.observed)
    }
