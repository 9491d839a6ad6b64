"""Do the server's own sensors say that it is cool, fanned and fed as it should be?

Each is held against its own thresholds, as its BMC gives them. How warm GPUs are is for `gpu_thermals` to judge,
which knows their limits better: here it is recorded.
"""

import re
from collections.abc import Iterator, Sequence

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import redfish, redfish_leaks
from fleet_runner.core.checks.parsers import redfish_sensors as parser
from fleet_runner.core.checks.parsers.redfish_sensors import Kind, Sensor
from fleet_runner.core.checks.shared import leaks
from fleet_runner.core.checks.verdicts import NOT_SOUGHT, Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME = SECTION = "sensors"

_GPU = re.compile(r"GPU|SXM|HBM|NVSwitch|_NVS[0-9]", re.ASCII)
"""Names of sensors that tell of the GPU baseboard's own chips."""

AIR = "Check the fans, the air baffles, the blanking panels and the inlet temperature of the rack."


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge every sensor that is in use; what answers with an error, or reads nothing, makes a PASS UNKNOWN."""
    wanted = profile.section(expected.profile, SECTION)
    found = redfish.gathered(text_of(readings["redfish_sensors"]), "the chassis' sensors")
    every = parser.sensors(found)
    detectors, own = redfish_leaks.detectors(found, every), redfish_leaks.own_policy(found)
    used = [each for each in every if each.status.there and not redfish_leaks.is_of_a_detector(each)]
    fans = [each for each in used if each.kind is Kind.FAN]
    findings = [finding for each in used for finding in _findings(each, wanted, expected)]
    still = bool(fans) and all(fan.reading == 0 for fan in fans)
    if still:  # a server that is off stands still, and says so of its fans
        findings = [each for each in findings if each.code != "fan.failed"]
    gone = [each for each in every if each.kind is Kind.FAN and each.status.state == "Absent"]
    if gone and wanted.has("fans") and len(fans) < wanted.whole("fans"):
        findings += [_gone(each, len(fans), wanted, expected) for each in gone]
    findings += [*leaks.findings(detectors, expected.node), *leaks.unlike(own, wanted, expected.node)]
    findings += _inlet(used, wanted, expected)
    mute = list(leaks.mute(detectors, wanted))
    unread = [*found.told(), *_unread(used), *_short(fans, wanted), *mute, *leaks.untold(own, wanted)]
    if still:
        unread.append("every fan stands still; is the host on?")
    if not every:
        unread.append("the BMC reports no temperature, fan or voltage")
    observed = {
        "sensors": len(used),
        "fans": len(fans),
        "warmest": _warmest(used),
        "celsius": _readings([each for each in used if not _is_margin(each)], Kind.TEMPERATURE),
        "turns": _readings(used, Kind.FAN),
        "volts": _readings(used, Kind.VOLTAGE),
        **leaks.observed(detectors, own),
        NOT_SOUGHT: sorted(leaks.SOUGHT) if mute or found.unread else [],
    }
    passed = f"{len(used)} sensors are within their own thresholds, {len(fans)} fans turn"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _findings(sensor: Sensor, wanted: Section, expected: Expected) -> Iterator[Finding]:
    """Yield what a sensor says. One that reads nothing says nothing, whatever it is called: an empty cage's does so.

    A fan is another matter: one that failed may well tell no speed.
    """
    if sensor.kind is Kind.FAN:
        yield from _fan(sensor, expected)
    elif sensor.reading is not None and sensor.kind is Kind.TEMPERATURE:
        yield from _temperature(sensor, sensor.reading, wanted, expected)
    elif sensor.reading is not None:
        yield from _voltage(sensor, sensor.reading, expected)


def _temperature(sensor: Sensor, reading: float, wanted: Section, expected: Expected) -> Iterator[Finding]:
    bounds, health = sensor.bounds, sensor.status.health
    margin = wanted.number("celsius_margin")
    gpu = _GPU.search(sensor.name) is not None
    # A threshold of nought is none. One that shows how far away its limit is has lower ones alone, from nought down.
    top, caution = bounds.upper_critical or None, bounds.upper_caution or None
    if top is not None:
        caution = min(caution, top) if caution is not None else top - margin
        beyond, close = reading >= top, reading >= caution
        said = f"{reading:g} C, its critical threshold is {top:g} C"
    elif bounds.lower_critical is not None and _is_margin(sensor):
        limit = bounds.lower_caution if bounds.lower_caution is not None else bounds.lower_critical
        beyond, close = reading <= bounds.lower_critical, reading <= limit
        said = f"{reading:g} C, its lowest is {bounds.lower_critical:g} C"
    else:
        beyond = close = False
        said = f"{reading:g} C"
    if beyond or health == "Critical":
        yield about(expected.node, "sensor.hot", sensor.name)(
            message=f"{sensor.name} is beyond its limit: {said}{_says(health)}",
            remedy=Remedy.RECORD if gpu else Remedy.TRIAGE,
            steps=() if gpu else (AIR, f"If only {sensor.name} is hot, look at the part itself and its heat sink."),
        )
    elif close or health == "Warning":
        yield about(expected.node, "sensor.warm", sensor.name)(
            message=f"{sensor.name} comes close to its limit: {said}{_says(health)}",
            remedy=Remedy.RECORD if gpu else Remedy.WATCH,
        )


def _fan(fan: Sensor, expected: Expected) -> Iterator[Finding]:
    reading, least, health = fan.reading, fan.bounds.lower_critical, fan.status.health
    slow = reading is not None and (reading == 0 or (least is not None and reading <= least))
    speed = f"{reading:g} {fan.units}" if reading is not None else "an unknown speed"
    limit = f", expected over {least:g}" if least is not None else ""
    if slow or health == "Critical":
        yield about(expected.node, "fan.failed", fan.name)(
            message=f"the fan {fan.name} turns at {speed}{limit}{_says(health)}",
            remedy=Remedy.TRIAGE,
            steps=(f"Look at {fan.name}: does it turn, is it seated?", "Replace the fan module."),
        )
    elif health == "Warning":
        yield about(expected.node, "fan.slow", fan.name)(
            message=f"the fan {fan.name} turns at {speed}{_says(health)}", remedy=Remedy.WATCH
        )


def _gone(fan: Sensor, count: int, wanted: Section, expected: Expected) -> Finding:
    return about(expected.node, "fan.missing", fan.name)(
        message=f"the fan {fan.name} is absent: {count} of {wanted.whole('fans')} are there",
        remedy=Remedy.TRIAGE,
        steps=(f"Seat a fan module in the bay of {fan.name}.",),
    )


def _voltage(sensor: Sensor, reading: float, expected: Expected) -> Iterator[Finding]:
    bounds, health = sensor.bounds, sensor.status.health
    low, high = bounds.lower_critical, bounds.upper_critical
    # A rail that is switched off reads nothing; whether it should be on, only the BMC knows.
    beyond = bool(reading) and (
        (low is not None and reading < low) or (bool(high) and high is not None and reading > high)
    )  # fmt: skip
    said = f"{reading:g} V"
    if beyond or health == "Critical":
        yield about(expected.node, "voltage.out", sensor.name)(
            message=f"{sensor.name} is at {said}, expected {_between(low, high)}{_says(health)}",
            remedy=Remedy.TRIAGE,
            steps=("Look at the power supplies first; otherwise replace the board behind this rail.",),
        )
    elif health == "Warning":
        yield about(expected.node, "voltage.near", sensor.name)(
            message=f"{sensor.name} is at {said}{_says(health)}", remedy=Remedy.WATCH
        )


def _between(low: float | None, high: float | None) -> str:
    return f"{'any' if low is None else f'{low:g}'} to {'any' if high is None else f'{high:g}'} V"


def _inlet(used: Sequence[Sensor], wanted: Section, expected: Expected) -> Iterator[Finding]:
    """The air that comes in is the room's matter, not the node's: it is looked at sooner, and nothing moves."""
    if not wanted.has("inlet"):
        return
    names, most = wanted.texts("inlet"), wanted.number("inlet_celsius_max")
    for each in used:
        if each.name in names and each.kind is Kind.TEMPERATURE and each.reading is not None and each.reading > most:
            yield about(expected.node, "sensor.inlet", each.name)(
                message=f"{each.name}: the inlet air is at {each.reading:g} C, expected at most {most:g};"
                " look at the room's cooling",
                remedy=Remedy.WATCH,
            )


def _unread(used: Sequence[Sensor]) -> Iterator[str]:
    for each in used:
        if each.reading is None and not each.status.health and each.kind is not Kind.VOLTAGE:
            yield f"{each.name} reports neither a reading nor its health"
        elif each.reading is None and each.kind is not Kind.FAN and each.status.health in {"Warning", "Critical"}:
            yield f"{each.name} is called {each.status.health} and gives no reading; is its slot empty?"


def _short(fans: Sequence[Sensor], wanted: Section) -> Iterator[str]:
    """Fewer fans than the profile knows: one that is gone is no fault that is seen, and proves nothing good."""
    least = wanted.whole("fans") if wanted.has("fans") else 0
    if len(fans) < least:
        yield f"the BMC reports {len(fans)} fans, expected {least}"


def _is_margin(sensor: Sensor) -> bool:
    """Whether a sensor tells how far away its limit is: it has lower thresholds alone, from nought down."""
    upper = sensor.bounds.upper_critical or sensor.bounds.upper_caution
    return not upper and sensor.bounds.lower_critical is not None and sensor.bounds.lower_critical <= 0


def _readings(used: Sequence[Sensor], kind: Kind) -> dict[str, float]:
    return {each.name: each.reading for each in used if each.kind is kind and each.reading is not None}


def _warmest(used: Sequence[Sensor]) -> str:
    near = [
        (each.bounds.upper_critical - each.reading, each.name)
        for each in used
        if each.kind is Kind.TEMPERATURE and each.reading is not None and each.bounds.upper_critical
    ]
    return f"{min(near)[1]}, {min(near)[0]:g} C below its threshold" if near else ""


def _says(health: str) -> str:
    return f"; the BMC reports its health as {health}" if health in {"Warning", "Critical"} else ""


CHECK = Check(
    name=NAME,
    question="Are temperatures, fans and voltages within their own thresholds, and is nothing leaking?",
    reads=("redfish_sensors",),
    judge=judge,
    section=SECTION,
    codes=(
        Code("sensor.hot", (Remedy.TRIAGE, Remedy.RECORD), "at its critical limit; of GPUs, `gpu_thermals` decides"),
        Code(
            "sensor.warm",
            (Remedy.WATCH, Remedy.RECORD),
            "at its caution threshold, or less than `sensors.celsius_margin` from the critical one where it has none",
        ),
        Code("sensor.inlet", (Remedy.WATCH,), "the inlet air is warmer than `sensors.inlet_celsius_max`"),
        Code("fan.failed", (Remedy.TRIAGE,), "a fan stands still, turns too slowly, or is reported as Critical"),
        Code("fan.missing", (Remedy.TRIAGE,), "a fan is absent, and fewer than `sensors.fans` are there"),
        Code("fan.slow", (Remedy.WATCH,), "the BMC reports a warning for a fan"),
        Code("voltage.out", (Remedy.TRIAGE,), "a voltage beyond its critical thresholds"),
        Code("voltage.near", (Remedy.WATCH,), "the BMC reports a warning for a voltage"),
        *leaks.CODES,
    ),
    source="DMTF's Redfish schemas Thermal, Power, Sensor, Fan and LeakDetector: each sensor's own thresholds and"
    " Status; the profile's `sensors`. Of leaks: OpenBMC's design of leak detection, NVIDIA's `LeakDetectionPolicy`"
    " (GB200), and its Mission Control and Infra Controller guides: a tray that leaks is powered off, a rack of which"
    " several trays leak is isolated from power and coolant, a detector out of use says nothing.",
)
