"""Racks, what stands in which of their units, and the locations they stand in."""

from collections.abc import Iterator, Mapping

from fleet_runner.core.inventory.consistency.draft import Draft, Found, Location
from fleet_runner.core.inventory.consistency.names import twice, unknown
from fleet_runner.core.inventory.consistency.problem import Problem, show
from fleet_runner.core.inventory.records import Device, DeviceType, Rack, rack_key

HIGHEST_RACK = 100  # NetBox's own limit, in rack units
LOOP_SHOWN = 10  # locations of a loop that are named
FACES = ("front", "rear")

Filled = dict[tuple[str, int, str], Found[Device]]
"""Who fills which half unit (rack key, half units from U0, face)."""


def problems(draft: Draft) -> Iterator[Problem]:
    """Find racks of no height, loops of locations, and devices that do not fit where they stand."""
    for found in draft.racks:
        if not 1 <= found.record.u_height <= HIGHEST_RACK:
            text = f"rack {show(found.record.name)} has {found.record.u_height} units, expected 1 to {HIGHEST_RACK}"
            yield Problem(found.where("u_height"), text)
    yield from _locations(draft)
    racks = {rack_key(found.record.site, found.record.name): found.record for found in draft.racks}
    types = {found.record.slug: found.record for found in draft.device_types}
    sites = {found.record for found in draft.sites}
    filled: Filled = {}
    for device in draft.devices:
        if device.record.site in sites:  # the racks of an unknown site are unknown too: said once
            yield from _device(device, racks, types.get(device.record.device_type), filled)


def _locations(draft: Draft) -> Iterator[Problem]:
    yield from twice("location", draft.locations, lambda location: rack_key(location.site, location.name))
    known = {rack_key(found.record.site, found.record.name): found for found in draft.locations}
    sites = {found.record for found in draft.sites}
    for location, where in draft.locations:
        if location.site not in sites:
            text = f"location {show(location.name)} is in unknown site {show(location.site)}"
            yield unknown(where("site"), text, location.site, sites)
        if location.parent is not None and rack_key(location.site, location.parent) not in known:
            text = f"location {show(location.name)} lies in unknown location {show(location.parent)}"
            yield unknown(where("parent"), text, location.parent, _names(known, location.site))
    yield from _loops(known)
    for found in draft.racks:
        name = found.record.location
        if name is not None and rack_key(found.record.site, name) not in known:
            text = f"rack {show(found.record.name)} stands in unknown location {show(name)}"
            yield unknown(found.where("location"), text, name, _names(known, found.record.site))


def _names(known: Mapping[str, Found[Location]], site: str) -> frozenset[str]:
    return frozenset(found.record.name for found in known.values() if found.record.site == site)


def _loops(known: Mapping[str, Found[Location]]) -> Iterator[Problem]:
    """Walk up from each location once; a way up that meets itself is a loop."""
    done: set[str] = set()
    for start in known:
        path: dict[str, None] = {}
        key = start
        while key in known and key not in done and key not in path:
            path[key] = None
            key = rack_key(known[key].record.site, known[key].record.parent or "")
        if key in path:
            way = list(path)
            loop = [*way[way.index(key) + 1 :], key][:LOOP_SHOWN]
            names = ", in ".join(show(known[each].record.name) for each in loop)
            text = f"location {show(known[key].record.name)} lies in {names}: a loop; take out one parent"
            yield Problem(known[key].where("parent"), text)
        done.update(path)


def _device(
    found: Found[Device], racks: Mapping[str, Rack], device_type: DeviceType | None, filled: Filled
) -> Iterator[Problem]:
    device, where = found
    if device.rack is None:
        if device.position is not None:
            text = f"device {show(device.name)} has position {device.position:g} but no rack; name its rack"
            yield Problem(where("position"), text)
        return
    rack = racks.get(rack_key(device.site, device.rack))
    if rack is None:
        text = f"device {show(device.name)} is in rack {show(device.rack)}, which site {show(device.site)} lacks"
        here = frozenset(rack.name for rack in racks.values() if rack.site == device.site)
        yield unknown(where("rack"), text, device.rack, here)
    elif device_type is not None and device.position is not None:
        misfit = _misfit(device.name, device.position, rack, device_type)
        if misfit is not None:
            yield Problem(where("position"), misfit)
        else:
            yield from _overlaps(found, device_type, filled)


def _misfit(name: str, position: float, rack: Rack, device_type: DeviceType) -> str | None:
    height, highest = device_type.u_height, rack.starting_unit + rack.u_height - 1
    if height > rack.u_height:
        return f"device {show(name)} is {height:g} units high, rack {show(rack.name)} has {rack.u_height}"
    if not float(position * 2).is_integer() or position < rack.starting_unit or position + height - 1 > highest:
        fills = f"device {show(name)} would fill U{position:g} to U{position + height - 1:g}"
        return f"{fills}, rack {show(rack.name)} has U{rack.starting_unit} to U{highest}, in halves"
    return None


def _overlaps(found: Found[Device], device_type: DeviceType, filled: Filled) -> Iterator[Problem]:
    device, told = found.record, set[str]()
    rack, first = rack_key(device.site, device.rack or ""), int((device.position or 0) * 2)
    faces = FACES if device_type.full_depth or device.face not in FACES else (device.face,)
    for half in range(first, first + round(device_type.u_height * 2)):
        for face in faces:
            other = filled.setdefault((rack, half, face), found)
            if other is not found and other.record.name not in told:
                told.add(other.record.name)
                text = f"device {show(device.name)} and device {show(other.record.name)} ({other.where('position')})"
                yield Problem(found.where("position"), f"{text} both fill U{half / 2:g} of rack {show(device.rack)}")
