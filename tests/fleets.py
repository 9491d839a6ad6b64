"""Fleets that make sense, for property tests: everything a source of truth can say, drawn by hypothesis."""

from typing import Any

from hypothesis import strategies as st

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.inventory.ansible import group_name
from fleet_runner.core.inventory.records import (
    Cable,
    Device,
    DeviceType,
    Fleet,
    Interface,
    Management,
    Part,
    Rack,
    Termination,
    rack_key,
)

NAMES = st.text("abXY019 -_.:#'\"é*&!%@[]{},?|>~", min_size=1, max_size=8).filter(lambda text: text == text.strip())
NODE_NAMES = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,6}", fullmatch=True).filter(lambda name: name != "all")
SLUGS = st.from_regex(r"[a-z0-9][a-z0-9-]{0,6}", fullmatch=True)
KINDS = st.sampled_from(["infiniband-ndr", "1000base-t", "other"])
SERIALS = st.none() | st.from_regex(r"[A-Z0-9]{1,8}", fullmatch=True)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
CONTEXT_KEYS = st.text(max_size=5) | st.sampled_from(["ansible_user", "fleet_bmc_url", "yes", "1", "null", "1e5"])


def ordered(interfaces: list[Interface]) -> tuple[Interface, ...]:
    """Interfaces as an adapter gives them."""
    return tuple(sorted(interfaces, key=lambda interface: natural(interface.name)))


@st.composite
def device_types(draw: st.DrawFn) -> dict[str, DeviceType]:
    """One to three device types whose groups differ."""
    found = {}
    slugs = draw(st.lists(SLUGS, min_size=1, max_size=3, unique_by=lambda slug: group_name("", slug)))
    for slug in slugs:
        names = draw(st.lists(NAMES, max_size=4, unique=True))
        found[slug] = DeviceType(
            slug=slug,
            manufacturer=draw(NAMES),
            model=draw(NAMES),
            u_height=draw(st.sampled_from([0.0, 0.5, 1.0, 1.5, 8.0])),
            interfaces=ordered([Interface(name, draw(KINDS), mgmt_only=draw(st.booleans())) for name in names]),
            full_depth=draw(st.booleans()),
        )
    return found


@st.composite
def racks(draw: st.DrawFn, sites: list[str]) -> dict[str, Rack]:
    """Racks of the sites; two sites may have racks of the same name."""
    keys = draw(st.lists(st.tuples(st.sampled_from(sites), NAMES), max_size=4, unique=True))
    return {
        rack_key(site, name): Rack(
            name=name,
            site=site,
            u_height=draw(st.integers(8, 42)),
            starting_unit=draw(st.integers(1, 5)),
            location=draw(st.none() | NAMES),
        )
        for site, name in keys
    }


@st.composite
def devices(
    draw: st.DrawFn, sites: list[str], standing: dict[str, Rack], types: dict[str, DeviceType]
) -> list[Device]:
    """Devices that fill their racks from below, each above the one before."""
    top = {key: float(rack.starting_unit) for key, rack in standing.items()}
    names = draw(st.lists(NODE_NAMES, max_size=6, unique=True))
    found = []
    for number, name in enumerate(names):
        kind = types[draw(st.sampled_from(sorted(types)))]
        key = draw(st.none() | st.sampled_from(sorted(standing))) if standing else None
        rack = standing[key] if key else None
        position = None
        if rack and key and top[key] + kind.u_height <= rack.starting_unit + rack.u_height and draw(st.booleans()):
            position = top[key]
            top[key] += kind.u_height
        found.append(
            Device(
                name=name,
                device_type=kind.slug,
                role=draw(st.sampled_from(["gpu-server", "leaf", "spine"])),
                site=rack.site if rack else draw(st.sampled_from(sites)),
                rack=rack.name if rack else None,
                position=position,
                status=draw(st.sampled_from(["active", "planned", "failed"])),
                serial=draw(SERIALS),
                oob_address=draw(st.sampled_from([None, f"10.0.0.{number}", f"fd00::{number + 1}"])),
                primary_address=draw(st.sampled_from([None, f"10.1.0.{number}", f"fd01::{number + 1}"])),
                tenant=draw(st.none() | NAMES),
                management=draw(st.sampled_from(Management)),
                interfaces=draw(own_interfaces(kind, number)),
                parts=draw(parts()),
                context=draw(st.dictionaries(CONTEXT_KEYS, JSON, max_size=3)),
                face=draw(st.sampled_from(["", "front", "rear"])),
            )
        )
    return found


@st.composite
def own_interfaces(draw: st.DrawFn, kind: DeviceType, number: int) -> tuple[Interface, ...]:
    """The type's interfaces with addresses of their own, and sometimes one that the type lacks."""
    found = [
        Interface(
            name=interface.name,
            kind=interface.kind,
            mac=draw(st.sampled_from([None, f"02:00:00:00:{number:02x}:{at:02x}"])),
            guid=draw(st.sampled_from([None, f"{number:08x}{at:08x}"])),
            mgmt_only=draw(st.sampled_from([interface.mgmt_only, not interface.mgmt_only])),
        )
        for at, interface in enumerate(kind.interfaces)
    ]
    more = draw(st.none() | NAMES)
    if more is not None and more not in {interface.name for interface in found}:
        found.append(Interface(more, draw(KINDS)))
    return ordered(found)


@st.composite
def parts(draw: st.DrawFn) -> tuple[Part, ...]:
    """What is inside a device."""
    slots = draw(st.lists(NAMES, max_size=3, unique=True))
    found = [Part(slot, draw(st.sampled_from(["gpu", "hca", "psu"])), draw(NAMES), draw(SERIALS)) for slot in slots]
    return tuple(sorted(found, key=lambda part: natural(part.slot)))


@st.composite
def cables(draw: st.DrawFn, connected: list[Device]) -> tuple[Cable, ...]:
    """Cables between free interfaces, each used once."""
    ends = [Termination(device.name, interface.name) for device in connected for interface in device.interfaces]
    shuffled = draw(st.permutations(ends))
    pairs = zip(shuffled[::2], shuffled[1::2], strict=False)
    chosen = [tuple(sorted(pair)) for pair in pairs if draw(st.booleans())]
    labels = st.just("") | NAMES
    kinds, statuses = st.sampled_from(["", "aoc", "smf"]), st.sampled_from(["connected", "planned"])
    found = [Cable(a, b, draw(labels), draw(kinds), status=draw(statuses)) for a, b in chosen]
    return tuple(sorted(found, key=lambda cable: (cable.a, cable.b)))


@st.composite
def fleets(draw: st.DrawFn) -> Fleet:
    """A fleet as an adapter gives it, without its revision; every device type has a device."""
    sites = sorted(draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)), key=natural)
    standing, types = draw(racks(sites)), draw(device_types())
    found = draw(devices(sites, standing, types))
    used = {device.device_type for device in found}
    return Fleet(
        sites=tuple(sites),
        racks=standing,
        device_types={slug: types[slug] for slug in used},
        devices={device.name: device for device in found},
        cables=draw(cables(found)),
    )
