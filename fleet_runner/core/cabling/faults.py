"""All faults of a fabric: differences by their shape, or gathered where one thing explains several of them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from fleet_runner.core.cabling import cages, outages
from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.diff import Component, diff
from fleet_runner.core.cabling.exchanges import Found, doubted_fault, identity_faults
from fleet_runner.core.cabling.explain import Fault, Kind, Places, explain, shape
from fleet_runner.core.cabling.identity import Cycle, Settled
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.outages import Outage
from fleet_runner.core.cabling.plan import apply
from fleet_runner.core.cabling.strangers import stranger, unplanned


@dataclass(frozen=True, slots=True)
class Differing:
    """Ports as designed and as plugged (what `links.matching` returns), once identity is settled as it is here.

    `ports` are all those of links that are not in both.
    """

    expected: Mapping[Port, Port]
    observed: Mapping[Port, Port]
    ports: Collection[Port]
    there: Iterable[Link]
    settled: Settled


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Differences by what may explain them: something that is down, doubted devices, a stranger, or their own shape.

    `doubted` are by the first device of the ring.
    """

    doubted: dict[str, list[Component]]
    missing: dict[Link, Component]
    strange: dict[str, list[Component]]
    others: list[Component]


def every_fault(it: Differing, seen: Bound, places: Places) -> tuple[tuple[Fault, ...], tuple[Link, ...]]:
    """Return every fault of what is plugged where, and the designed links that are not in place."""
    components = diff(
        *({port: ends[port] for port in it.ports if port in ends} for ends in (it.expected, it.observed))
    )
    doubted = [ring for ring in it.settled.rings if ring.doubted]
    sort = _sorted(components, doubted, seen.strangers, places)
    down = outages.gather(sort.missing, it.expected, it.observed, places, _answering(seen))
    heads = {ring.devices[0] for ring in it.settled.rings if ring.moved and not ring.closed}
    empty = {outage.name: links for outage, links in down.items() if outage.name in heads}
    whole = tuple(cages.exchanged(sort.others, places))
    told = {component for exchange in whole for component in exchange.components}
    faults = (
        *identity_faults(it.settled, Found(it.there, empty, frozenset(port.device for port in seen.certain)), places),
        *_gathered(sort, down, heads, places),
        *(cages.fault(exchange, places) for exchange in whole),
        *(explain(each, places, it.settled.nameless) for each in sort.others if each not in told),
    )
    absent = tuple(sorted(joined for component in components for joined in component.designed))
    undecided = (
        doubted_fault(ring, sort.doubted[ring.devices[0]], it.there, it.expected, places) for ring in doubted
    )
    return (*map(proven, faults), *undecided), absent


def _answering(seen: Bound) -> frozenset[str]:
    """Return the devices that are known by their names, at ends of which nothing says which they are."""
    return frozenset(port.device for port in seen.adapters.values())


def proven(fault: Fault) -> Fault:
    """Return the fault as it is if following it restores the design, else without its plan: no wrong hand is sent."""
    if apply(fault.actions, fault.observed) == set(fault.expected):
        return fault
    said = "No plan was found that restores the design here: compare both ends of each cable with the design by hand."
    return replace(fault, actions=(), steps=(said,))


def _sorted(
    components: Iterable[Component], doubted: Iterable[Cycle], strangers: Collection[str], places: Places
) -> _Sorted:
    found = _Sorted(defaultdict(list), {}, defaultdict(list), [])
    rings = {device: ring.devices[0] for ring in doubted for device in ring.devices}
    for component in components:
        if shape(component, places) is Kind.MISSING:
            found.missing[component.designed[0]] = component
        elif ring := next((rings[port.device] for port in component.ports if port.device in rings), ""):
            found.doubted[ring].append(component)
        elif device := stranger(component, strangers):
            found.strange[device].append(component)
        else:
            found.others.append(component)
    return found


def _gathered(
    sort: _Sorted, down: Mapping[Outage, tuple[Link, ...]], heads: Collection[str], places: Places
) -> Iterator[Fault]:
    """Yield what one thing explains, and what is missing without one; empty places are told with who left them."""
    for outage, links in down.items():
        if outage.name not in heads:
            yield outages.fault(outage, links, places)
    explained = {joined for links in down.values() for joined in links}
    for joined, component in sort.missing.items():
        if joined not in explained:
            yield explain(component, places)
    for device, components in sort.strange.items():
        yield unplanned(device, components, places)
