"""What a BMC tells for the profile of a device type, whose file `proposed_file` makes."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from fleet_runner.core.bmc import parts
from fleet_runner.core.bmc import tree as reading
from fleet_runner.core.bmc.parts import Device, line
from fleet_runner.core.bmc.proposed import Node, Told
from fleet_runner.core.bmc.tree import Tree
from fleet_runner.core.checks.parsers import redfish_power, redfish_sensors
from fleet_runner.core.checks.parsers.redfish import Gathered
from fleet_runner.core.checks.parsers.redfish_log import moment
from fleet_runner.core.checks.parsers.redfish_sensors import Kind, Sensor

INLET = re.compile(
    r"(?:\d+-)?(?:system board |system |chassis )?(?:inlet ambient|inlet|intake|ambient)(?: temp(?:erature)?)?"
    r"|TEMP_(?:AMBIENT|INLET)",
    re.ASCII | re.IGNORECASE,
)
"""Names of the sensor of the air that comes into the machine. Inlets of boards and supplies are others; a DGX's BMC
calls every place an intake."""


def node(tree: Tree, where: str, now: float | None = None) -> Node:
    """Return what a BMC tells for a profile; `where` names it where it tells no serial number.

    Raises:
        EvidenceError: its firmware inventory contradicts itself.
    """
    who = parts.machine(tree)
    at = now if now is not None else moment(who.clock)
    devices = parts.devices(tree)
    told = [each for kind in _KINDS for each in _KINDS[kind]([part for part in devices if part.kind == kind])]
    told += sensors(Gathered(tree.of(reading.SENSED), ()))
    return Node(
        name=who.serial or line(where),
        day=f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}" if at is not None else "an unknown day",
        model=who.model,
        told=tuple(told),
        firmware=parts.entries(tree),
        notes=(*_notes(devices), *power(Gathered(tree.of(reading.POWER), ()))),
    )


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


def supplies(mine: Sequence[Device]) -> Iterator[Told]:
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
    "psu": supplies,
    "cpu": _cpus,
    "dimm": _dimms,
    "drive": _drives,
}


def sensors(found: Gathered) -> Iterator[Told]:
    """Yield what is expected of the sensors: how many fans, and the limit of the air that comes in."""
    used = [each for each in redfish_sensors.sensors(found) if each.status.there]
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
        ("psu", "some BMCs list fans among their power supplies"),
        ("drive", "parts.nvme counts NVMe drives alone"),
    ):
        counted = Counter(each.model or "model not reported" for each in devices if each.kind == kind)
        if counted:
            found = ", ".join(f"{count} x {model}" for model, count in counted.items())
            yield f"{why}; the BMC lists {found}"


def power(found: Gathered) -> Iterator[str]:
    """Yield what a person must weigh: whether the BMC calls the supplies redundant."""
    groups = redfish_power.groups(found)
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
