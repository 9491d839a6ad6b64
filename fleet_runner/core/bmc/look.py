"""What a look at a BMC found: what is bad now, what its logs and sensors say, and what could not be told.

The judges are the product's own checks, asked what can be asked without a profile: each part's own health, each
sensor's own thresholds, the logs of the last week.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.bmc import parts
from fleet_runner.core.bmc import tree as reading
from fleet_runner.core.bmc.parts import Device, Firmware, Machine
from fleet_runner.core.bmc.tree import Body, Part, Tree, shown
from fleet_runner.core.checks.catalogue import chassis_health, power_redundancy, power_supplies, sel, sensors
from fleet_runner.core.checks.check import Readings
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers import redfish_log, redfish_sensors
from fleet_runner.core.checks.parsers.redfish import Gathered
from fleet_runner.core.checks.parsers.redfish_log import moment
from fleet_runner.core.checks.parsers.redfish_sensors import Kind, Sensor
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict

DAYS = 7
PROFILE = {
    "parts": {"psu": {"count": 0}},
    "sensors": {"celsius_margin": 3},
    "sel": {"days": DAYS},
    "power": {"limit_watts_min": 0},
    "chassis_health": {"clock_seconds_max": 300},
}
"""What is asked of any machine: nothing that only its maker could say. A sensor without a caution threshold is close
to its critical one from 3 C below it, and clocks may be off by 5 minutes, as in the profiles that come along."""

HEALTHY = (reading.PROCESSORS, reading.MEMORY, reading.STORAGE, reading.ADAPTERS, reading.CARDS, reading.MACHINE)
"""Parts whose every resource tells its own health; what only sums others up comes last."""

WARMEST = 3
"""Sensors that are named as the nearest to their limits."""


@dataclass(frozen=True, slots=True)
class Sensed:
    """What the sensors say: how many there are, which read nothing, and which are nearest to their limit."""

    sensors: int
    fans: int
    slowest: str
    fastest: str
    warmest: tuple[str, ...]
    silent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Logged:
    """Entries of a log that say the same and matter; the newest one's time, "" where its clock was not set."""

    at: str
    severity: str
    part: str
    message: str
    count: int


@dataclass(frozen=True, slots=True)
class Look:
    """All that one look found. `bad` is what is wrong now or was logged in the last week; `notes` change nothing."""

    machine: Machine
    bad: tuple[Finding, ...]
    notes: tuple[str, ...]
    sensed: Sensed
    log: tuple[Logged, ...]
    devices: tuple[Device, ...]
    firmware: tuple[Firmware, ...]
    unread: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether all was read that should be."""
        return not self.unread


def look(tree: Tree, now: float | None = None) -> Look:
    """Judge what was read of a BMC. Without a time, that of the BMC's own clock is taken."""
    who = parts.machine(tree)
    at = now if now is not None else moment(who.clock) or 0.0
    results = [_judged(check, tree, who, at) for check in _CHECKS]
    every = [finding for result in results for finding in result.findings]
    bad = tuple(each for each in every if _is_bad(each, tree))
    told = [result.message for result in results if result.verdict is Verdict.UNKNOWN]
    notes = [each.message for each in every if each.code in {"health.clock", "sel.full"}]
    try:
        running = parts.alike(parts.entries(tree))
    except EvidenceError as error:
        running, notes = (), [*notes, str(error)]
    return Look(
        who, bad, tuple(printable(each) for each in (*notes, *told)), _sensed(tree), _log(tree), parts.devices(tree),
        running, tuple(f"{shown(uri)}: {why}" for uri, why in tree.unread.items()), tuple(map(shown, tree.absent)),
    )  # fmt: skip


class _Asked(NamedTuple):
    """A check, and what it reads of a tree."""

    name: str
    judge: Callable[[Readings, Expected], Result]
    reads: Callable[[Tree], Mapping[str, Mapping[str, Body]]]


def _judged(check: _Asked, tree: Tree, who: Machine, now: float) -> Result:
    """Ask a check; one that cannot tell says why, and one of whose parts the BMC has none says nothing."""
    found = check.reads(tree)
    if not any(found.values()) or (check.name == "power_supplies" and not parts.supplies(tree)):
        return Result(check.name, Verdict.SKIPPED, "")
    readings = {name: Reading(name, ReadEnd.OK, json.dumps(bodies), at=now) for name, bodies in found.items()}
    try:
        return check.judge(readings, Expected(who.serial, PROFILE, run={"now": now}))
    except EvidenceError as error:
        return Result(check.name, Verdict.UNKNOWN, str(error))


def _health(tree: Tree) -> Mapping[str, Mapping[str, Body]]:
    return {"redfish_health": {uri: body for part in HEALTHY for uri, body in tree.of(part).items()}}


def _sensors(tree: Tree) -> Mapping[str, Mapping[str, Body]]:
    return {"redfish_sensors": tree.of(reading.SENSED)}


def _supplies(tree: Tree) -> Mapping[str, Mapping[str, Body]]:
    return {
        "redfish_power": tree.at(reading.POWER.patterns[0]),
        "redfish_supplies": tree.at(*reading.POWER.patterns[1:]),
    }


def _logs(tree: Tree) -> Mapping[str, Mapping[str, Body]]:
    return {"redfish_logs": _whole(tree, reading.LOGGED)}


_CHECKS = (
    _Asked("chassis_health", chassis_health.judge, _health),
    _Asked("sensors", sensors.judge, _sensors),
    _Asked("power_supplies", power_supplies.judge, _supplies),
    _Asked("power_redundancy", power_redundancy.judge, _supplies),
    _Asked("sel", sel.judge, _logs),
)


def _is_bad(finding: Finding, tree: Tree) -> bool:
    """Tell if a finding is of something that is wrong now; an entry of a log that is only recorded is history.

    A module among the power supplies that has another model than most and no input may be a fan's.
    """
    if finding.code == "psu.no_input":
        models = [each.model for each in parts.supplies(tree) if each.present]
        mine = next((each.model for each in parts.supplies(tree) if each.name == finding.component), "")
        return models.count(mine) == max(map(models.count, models))
    if finding.code.startswith("sel."):
        return finding.remedy is not Remedy.RECORD and finding.code != "sel.full"
    return finding.code != "health.clock"


def _whole(tree: Tree, part: Part) -> dict[str, Body]:
    return {uri: tree.whole(uri, body) for uri, body in tree.of(part).items()}


def _sensed(tree: Tree) -> Sensed:
    every = redfish_sensors.sensors(Gathered(tree.of(reading.SENSED), ()))
    used = [each for each in every if each.status.there]
    fans = [each for each in used if each.kind is Kind.FAN]
    speeds = sorted((each.reading, each.units) for each in fans if each.reading is not None)
    near = sorted(
        (limit - each.reading, each.name, each.reading)
        for each in used
        if each.kind is Kind.TEMPERATURE and each.reading is not None and (limit := _limit(each))
    )
    silent = [each.name for each in used if each.reading is None and each.kind is not Kind.VOLTAGE]
    return Sensed(
        len(used),
        len(fans),
        _speed(speeds[0]) if speeds else "",
        _speed(speeds[-1]) if speeds else "",
        tuple(f"{printable(name)} {now:g} C, {left:g} below its limit" for left, name, now in near[:WARMEST]),
        tuple(printable(name) or "a sensor with no name" for name in silent),
    )


def _limit(sensor: Sensor) -> float | None:
    return sensor.bounds.upper_critical or sensor.bounds.upper_caution


def _speed(found: tuple[float, str]) -> str:
    units = found[1] or "RPM"
    return f"{found[0]:g} {'%' if units == 'Percent' else units}"


def _log(tree: Tree) -> tuple[Logged, ...]:
    """Return what was logged and is not over, newest first; what says the same of the same part is one."""
    every = [each for log in redfish_log.logs(Gathered(_whole(tree, reading.LOGGED), ())) for each in log.entries]
    dated = filter(sel.matters, every)
    newest = sorted(dated, key=lambda each: (each.at is not None, each.at or 0.0), reverse=True)
    found: dict[tuple[str, str], list[Any]] = {}
    for each in newest:
        found.setdefault((each.part, each.message), []).append(each)
    return tuple(
        Logged(_dated(same[0].at), same[0].severity, printable(part), " ".join(printable(message).split()), len(same))
        for (part, message), same in found.items()
    )


def _dated(at: float | None) -> str:
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}" if at is not None else ""
    except (ValueError, OverflowError):  # the last day of year 9999, west of Greenwich
        return ""
