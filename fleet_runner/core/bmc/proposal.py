"""A device type's profile from what BMCs say: what is alike on all nodes as YAML, each line with where it comes from.

Nothing is invented: what no BMC tells is left out, and what differs between nodes is a comment that names them.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.fields import LONGEST
from fleet_runner.core.bmc import parts
from fleet_runner.core.bmc import tree as reading
from fleet_runner.core.bmc.parts import Device, line
from fleet_runner.core.bmc.tree import Tree
from fleet_runner.core.checks.parsers import redfish_power, redfish_sensors
from fleet_runner.core.checks.parsers.redfish import Gathered
from fleet_runner.core.checks.parsers.redfish_log import moment
from fleet_runner.core.checks.parsers.redfish_sensors import Kind, Sensor
from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.core.inventory.ansible import group_name

MOST_ENTRIES = 1000
"""Entries that one row of a catalogue may speak of."""

INLET = re.compile(
    r"(?:\d+-)?(?:system board |system |chassis )?(?:inlet ambient|inlet|intake|ambient)(?: temp(?:erature)?)?"
    r"|TEMP_(?:AMBIENT|INLET)",
    re.ASCII | re.IGNORECASE,
)
"""Names of the sensor of the air that comes into the machine. Inlets of boards and supplies are others; a DGX's BMC
calls every place an intake."""

Value = int | float | bool | str


class Told(NamedTuple):
    """One value of a profile ("parts.gpu.count"), and where it comes from."""

    key: str
    value: Value
    why: str


@dataclass(frozen=True, slots=True)
class Node:
    """What one BMC says, as far as a profile has a place for it; `notes` are facts that a person must weigh."""

    name: str
    day: str
    model: str
    told: tuple[Told, ...]
    firmware: tuple[Entry, ...]
    notes: tuple[str, ...]


def node(tree: Tree, where: str, now: float | None = None) -> Node:
    """Return what a BMC tells for a profile; `where` names it where it tells no serial number.

    Raises:
        EvidenceError: its firmware inventory contradicts itself.
    """
    who = parts.machine(tree)
    at = now if now is not None else moment(who.clock)
    devices = parts.devices(tree)
    told = [each for kind in _KINDS for each in _KINDS[kind]([part for part in devices if part.kind == kind])]
    told += _sensors(tree)
    return Node(
        name=who.serial or line(where),
        day=f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}" if at is not None else "an unknown day",
        model=who.model,
        told=tuple(told),
        firmware=parts.entries(tree),
        notes=(*_notes(devices), *_power(tree)),
    )


def proposed(nodes: Sequence[Node]) -> str:
    """Return the file of a device type whose nodes these are.

    Raises:
        EvidenceError: they are of several models.
    """
    models = sorted({each.model for each in nodes})
    if len(models) > 1:
        raise EvidenceError(
            f"these are of {len(models)} models: {', '.join(model or 'one that is not told' for model in models)};"
            " a profile is one device type's: name nodes of one model"
        )
    slug = re.sub("[^a-z0-9]+", "-", models[0].lower()).strip("-") or "unknown"
    lines = [
        *_head(nodes, models[0], slug), "fleet_profile:", *_told(nodes), *_firmware(nodes, models[0]), *_rest(nodes),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _head(nodes: Sequence[Node], model: str, slug: str) -> Iterator[str]:
    yield "---"
    yield f"# Proposed from what the BMCs of {_count(len(nodes), 'node')} report; review it before use."
    yield f"# Device type {line(model) or 'not reported: fill it in'}, slug {slug}."
    file = f"inventory/group_vars/{group_name('device_type', slug)}.yml"
    yield f"# Save it as {file}; then: fleet-runner firmware check"
    for each in nodes:
        yield f"#   {line(each.name)}: read on {each.day}"


def _told(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the sections of values: one line a value, and a comment where nodes differ."""
    found = [{each.key: each for each in node.told} for node in nodes]
    keys = list(dict.fromkeys(key for one in found for key in one))
    begun: list[str] = []
    for key in keys:
        *above, name = key.split(".")
        values = [one[key].value if key in one else None for one in found]
        first = next(one[key] for one in found if key in one)
        alike = all(value == values[0] for value in values)
        if alike:
            for depth, step in enumerate(above):
                if begun[: depth + 1] != above[: depth + 1]:
                    begun = above[: depth + 1]
                    yield f"{'  ' * (depth + 1)}{step}:"
            yield f"{'  ' * (len(above) + 1)}{name}: {_yaml(first.value)} # {first.why}, {_found(nodes)}"
        else:
            by = Counter(values)
            which = "; ".join(f"{_said(value)} on {_who(nodes, values, value)}" for value in by)
            yield f"  # {key} differs: {line(which)}"


def _firmware(nodes: Sequence[Node], model: str) -> Iterator[str]:
    """Yield a row for each entry, or entries that are alike, whose version is the same on all nodes."""
    by_id = [{entry.id: entry for entry in node.firmware} for node in nodes]
    ids = list(dict.fromkeys(entry.id for node in nodes for entry in node.firmware))
    common = [
        by_id[0][each]
        for each in ids
        if all(each in one and one[each].version == by_id[0].get(each, one[each]).version for one in by_id)
        and _usable(by_id[0][each])
    ]
    kept = {entry.id for entry in common}
    others = [entry for node in nodes for entry in node.firmware if entry.id not in kept]
    rows = [*_rows(common, others)]
    if rows:
        yield "  firmware:"
        if model and len(model) <= LONGEST:
            yield f"    boards: [{_yaml(model)}] # as the BMC calls the system"
        yield "    # No images: versions are compared, and nothing is sent."
        yield "    components:"
    for row in rows:
        yield f"      - component: {_yaml(_component(row, rows))}"
        yield f"        inventory_id: {_yaml(row.id)}"
        if row.called:
            yield f"        inventory_name: {_yaml(row.called)}"
        if row.count > 1:
            yield f"        count: {row.count}"
        yield f"        target: {_yaml(row.version)} # {_found(nodes)}, not a vendor's recommendation"
    pinned = {entry.id for row in rows for entry in common if _joins(row, entry)}
    for entry in common:
        if entry.id not in pinned:
            which = f"{line(entry.id)} ({line(entry.name)})"
            yield f"  # firmware {which} is not pinned: other entries of that name have another version"
    for each in ids:
        if each not in kept:
            versions = [one[each].version or "no version" if each in one else "not listed" for one in by_id]
            which = "; ".join(f"{value} on {_who(nodes, versions, value)}" for value in dict.fromkeys(versions))
            yield f"  # firmware {line(each)} is not pinned: {line(which)}"


def _rows(common: Sequence[Entry], others: Sequence[Entry]) -> Iterator[parts.Firmware]:
    """Yield rows that fit just their entries; what only a wide glob would join has a row for each."""
    for row in parts.alike(common, others):
        mine = [entry for entry in common if entry.version == row.version and _joins(row, entry)]
        if row.exact and row.count <= MOST_ENTRIES:
            yield row
        elif not row.called:
            yield from (parts.Firmware(parts.escaped(entry.id), "", entry.version, 1) for entry in mine)


def _joins(row: parts.Firmware, entry: Entry) -> bool:
    return parts.fits(row.id, entry) and (not row.called or parts.escaped(entry.name) == row.called)


def _rest(nodes: Sequence[Node]) -> Iterator[str]:
    for note in dict.fromkeys(note for node in nodes for note in node.notes):
        which = [node.name for node in nodes if note in node.notes]
        yield f"  # {line(note)}{f' ({line(_names(which))})' if len(which) < len(nodes) else ''}"
    yield "  # Not proposed, as no BMC reports it: network, hca, limits of tests under load, kernel and services."


def _cpus(mine: Sequence[Device]) -> Iterator[Told]:
    if mine:
        yield Told("parts.cpu.sockets", len(mine), "processors that the BMC lists")
        yield from _same("parts.cpu.cores_per_socket", [each.cores for each in mine], "TotalCores of each")
        threads = [
            each.threads // each.cores if each.threads and each.cores and each.threads % each.cores == 0 else None
            for each in mine
        ]
        yield from _same("parts.cpu.threads_per_core", threads, "TotalThreads by TotalCores")


def _gpus(mine: Sequence[Device]) -> Iterator[Told]:
    if mine:
        yield Told("parts.gpu.count", len(mine), "GPUs that the BMC lists")


def _dimms(mine: Sequence[Device]) -> Iterator[Told]:
    if mine:
        yield Told("parts.dimm.count", len(mine), "memory modules that the BMC lists")
        sizes = [int(each.gib) if each.gib is not None and each.gib == int(each.gib) else None for each in mine]
        yield from _same("parts.dimm.gib", sizes, "CapacityMiB of each")
        yield from _same(
            "parts.dimm.megatransfers", [each.megatransfers for each in mine], "OperatingSpeedMhz of each"
        )


def _drives(mine: Sequence[Device]) -> Iterator[Told]:
    fast = [each for each in mine if _is_nvme(each)]
    if fast:
        yield Told("parts.nvme.count", len(fast), "drives that the BMC lists with protocol NVMe or PCIe")
        sizes = [each.gigabytes for each in fast]
        if all(size is not None for size in sizes):
            least = min(size for size in sizes if size is not None)
            yield Told("parts.nvme.gigabytes_min", least, "CapacityBytes of the smallest")


def _supplies(mine: Sequence[Device]) -> Iterator[Told]:
    """Yield how many supplies there are; where models differ, those of the model that most have."""
    if mine:
        model, count = Counter(each.model for each in mine).most_common(1)[0]
        several = len({each.model for each in mine}) > 1
        if not several or (model and 2 * count > len(mine)):
            yield Told("parts.psu.count", count, "power supplies that the BMC lists as present")
        if several and model and 2 * count > len(mine):
            yield Told("parts.psu.model", model, "the model that most of them have")


_KINDS: Mapping[str, Callable[[Sequence[Device]], Iterator[Told]]] = {
    "gpu": _gpus,
    "psu": _supplies,
    "cpu": _cpus,
    "dimm": _dimms,
    "drive": _drives,
}


def _sensors(tree: Tree) -> Iterator[Told]:
    every = redfish_sensors.sensors(Gathered(tree.of(reading.SENSED), ()))
    used = [each for each in every if each.status.there]
    if not used:
        return
    yield Told("sensors.celsius_margin", 0, "no extra margin: the BMC's own thresholds apply")
    fans = sum(each.kind is Kind.FAN for each in used)
    if fans:
        yield Told("sensors.fans", fans, "fans that the BMC lists as present")
    inlets = [(each, limit) for each in used if _is_inlet(each) and (limit := _limit(each))]
    if len(inlets) == 1:
        [(inlet, limit)] = inlets
        yield Told("sensors.inlet", inlet.name, "the inlet air sensor")
        yield Told("sensors.inlet_celsius_max", limit, "the upper threshold of that sensor")


def _notes(devices: Sequence[Device]) -> Iterator[str]:
    """Yield what a profile has no place for, or names in another way than a BMC."""
    for kind, why in (
        ("gpu", "parts.gpu.model is what nvidia-smi prints"),
        ("cpu", "parts.cpu.model is what the kernel prints"),
        ("nic", "parts.hca counts what the kernel sees"),
        ("psu", "all that is among the power supplies"),
        ("drive", "parts.nvme counts NVMe drives alone"),
    ):
        counted = Counter(each.model or "model not reported" for each in devices if each.kind == kind)
        if counted:
            found = ", ".join(f"{count} x {model}" for model, count in counted.items())
            yield f"{why}; the BMC lists {found}"


def _power(tree: Tree) -> Iterator[str]:
    groups = redfish_power.groups(Gathered(tree.of(reading.POWER), ()))
    if any(each.health == "OK" for each in groups):
        yield (
            "power: {redundancy: true, limit_watts_min: WATTS}; the BMC calls its supplies redundant, the maker"
            " rates the watts"
        )


def _same(key: str, values: Sequence[int | None], why: str) -> Iterator[Told]:
    first = values[0]
    if first is not None and all(value == first for value in values):
        yield Told(key, first, why)


def _is_nvme(each: Device) -> bool:
    return each.protocol.lower() in {"nvme", "pcie", "nvmeoverpcie"}


def _is_inlet(sensor: Sensor) -> bool:
    return sensor.kind is Kind.TEMPERATURE and INLET.fullmatch(sensor.name) is not None


def _limit(sensor: Sensor) -> float | None:
    return sensor.bounds.upper_caution or sensor.bounds.upper_critical


def _usable(entry: Entry) -> bool:
    """Tell if a version can be pinned as it is told, and its entry be named."""
    texts = (entry.version, parts.escaped(entry.id), parts.escaped(entry.name))
    return bool(entry.version) and entry.version.isprintable() and max(map(len, texts)) <= LONGEST


def _component(row: parts.Firmware, rows: Sequence[parts.Firmware]) -> str:
    """Return a name that no other row has: what the BMC calls its numbered entries, else their ids."""
    if not row.called:
        return row.id
    return f"{row.called[:100]} (by name)" if any(other.id == row.called for other in rows) else row.called


def _found(nodes: Sequence[Node]) -> str:
    more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
    return f"found on {line(nodes[0].name)}{more} on {nodes[0].day}"


def _who(nodes: Sequence[Node], values: Sequence[object], value: object) -> str:
    return _names([node.name for node, own in zip(nodes, values, strict=True) if own == value])


def _names(names: Sequence[str]) -> str:
    return ", ".join(names)


def _said(value: object) -> str:
    return "not reported" if value is None else str(value)


def _yaml(value: Value) -> str:
    """Return a value as YAML: JSON, which YAML contains."""
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
