"""Leak detectors as a BMC tells of them, and what it does by itself when one of them finds coolant.

A detector has up to two tongues: its own state (LeakDetector), and the voltage of its rope (a Sensor with "leak" in
its name), which coolant pulls below its lower threshold. Each is told as it is; who judges compares them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.parsers.redfish import Gathered, Status, rows_in, status_of, text_in
from fleet_runner.core.checks.parsers.redfish_sensors import Kind, Sensor, name_of

_PLAIN = re.compile(r"[^a-z0-9]+")

POLICY = "LeakDetectionPolicy"
"""The Id of NVIDIA's resource that says what the BMC does by itself."""


@dataclass(frozen=True, slots=True)
class Detector:
    """A leak detector: OK, Warning or Critical, or what else it says of itself, "" where it says nothing.

    `volts` is the reading of its rope, `below` what coolant pulls it under; None where the BMC gives none. `rope` is
    how the BMC calls the rope: of one without a limit, nothing else says that it is wet.
    """

    name: str
    state: str
    status: Status
    volts: float | None = None
    below: float | None = None
    rope: str = ""

    @property
    def wet(self) -> bool | None:
        """Whether its reading is that of a wet rope; None where it has none: nought is no reading."""
        if not self.volts:
            return None
        if self.below is None:
            return True if self.rope == "Critical" else None
        return self.volts <= self.below


@dataclass(frozen=True, slots=True)
class OwnPolicy:
    """What a BMC does by itself at a leak: `reaction` ("HardPowerOff") after `delay` seconds, if it is `enabled`."""

    enabled: bool
    reaction: str
    delay: float


def is_of_a_detector(sensor: Sensor) -> bool:
    """Whether a voltage is that of a leak detector's rope, not a rail's."""
    return sensor.kind is Kind.VOLTAGE and "leak" in sensor.name.lower()


def detectors(found: Gathered, sensors: tuple[Sensor, ...]) -> tuple[Detector, ...]:
    """Return the leak detectors; one that tells no state of its own is as well as its Status, or as its reading.

    A rope belongs to the detector of its name. Where several are called alike, nobody knows which one's it is: then
    each of them speaks for itself, under a name of its own.
    """
    listed, ropes = list(_listed(found)), [each for each in sensors if is_of_a_detector(each)]
    times = Counter(_key(each.name) for each in listed), Counter(_key(each.name) for each in ropes)
    paired = {_key(each.name): each for each in ropes if all(count[_key(each.name)] == 1 for count in times)}
    known = [_with(each, paired.get(_key(each.name))) for each in listed]
    alone = [each for each in ropes if _key(each.name) not in paired]
    return _told_apart([*known, *(_with(Detector(each.name, "", each.status), each) for each in alone)])


def _with(detector: Detector, rope: Sensor | None) -> Detector:
    if rope is None or not rope.status.there:
        return detector
    return replace(detector, volts=rope.reading, below=rope.bounds.lower_critical, rope=rope.status.health)


def _told_apart(every: list[Detector]) -> tuple[Detector, ...]:
    """Return the detectors under names of their own: one that dries must not speak for one that is wet."""
    seen, found = Counter[str](), list[Detector]()
    for each in every:
        seen[_key(each.name)] += 1
        nth = seen[_key(each.name)]
        found.append(each if nth == 1 else replace(each, name=f"{each.name} ({nth})"))
    return tuple(found)


def own_policy(found: Gathered) -> OwnPolicy | None:
    """Return what the BMC does by itself at a leak; None where it has no such policy, or does not tell."""
    for uri, body in found.of("NvidiaPolicy").items():
        enabled = body.get("PolicyEnabled")
        if uri.endswith(f"/{POLICY}") and isinstance(enabled, bool):
            first = next(iter(rows_in(body, "PolicyReactions")), {})
            delay = number(first.get("ReactionDelaySeconds"))
            return OwnPolicy(enabled, text_in(first, "CommonReaction"), delay or 0.0)
    return None


def _listed(found: Gathered) -> Iterator[Detector]:
    for body in found.of("LeakDetector").values():
        status = status_of(body)
        yield Detector(name_of(body), text_in(body, "DetectorState") or status.health, status)
    for body in found.of("LeakDetection").values():
        for group in rows_in(body, "LeakDetectorGroups"):
            yield from (_of_group(row) for row in rows_in(group, "Detectors") if _source(row) not in found.bodies)


def _of_group(row: Mapping[str, Any]) -> Detector:
    """Return a detector that is told of in its group alone."""
    name = _source(row).rpartition("/")[2] or name_of(row)
    return Detector(name, text_in(row, "DetectorState"), status_of(row))


def _source(row: Mapping[str, Any]) -> str:
    return text_in(row, "DataSourceUri").rstrip("/")


def _key(name: str) -> str:
    """Return a name without blanks and dashes: "Chassis 0 Leak 1" is "Chassis_0_Leak_1"."""
    return _PLAIN.sub("", name.lower())
