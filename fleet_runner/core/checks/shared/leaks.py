"""What leak detectors say together: a leak, a doubt, or nothing. One that is out of use says neither wet nor dry."""

from collections.abc import Iterator, Sequence
from typing import Any

from fleet_runner.core.checks.answers import about
from fleet_runner.core.checks.check import Code
from fleet_runner.core.checks.parsers.redfish_leaks import Detector, OwnPolicy
from fleet_runner.core.checks.verdicts import Finding, Remedy
from fleet_runner.core.inventory.profile import Section

DETECTED, SUSPECTED = "leak.detected", "leak.suspected"

SOUGHT = frozenset({DETECTED, SUSPECTED})

ALARMS = frozenset({"Warning", "Critical"})

KNOWN = frozenset({"OK", *ALARMS})

STEPS = (
    "Do not touch anything wet. Power {node} off first: through its BMC, or at its power button.",
    "Close its coolant valves by hand, supply and return; have whoever runs the cooling called.",
    "Look for coolant at {detector}, at the tray's manifold, on the trays below it and on the floor.",
    "If another tray, the rack's manifold or the floor is wet, too: power the whole rack off and close its valves.",
)
"""The makers' order."""

DOUBT = (
    "Look at once for coolant at {detector}, at the manifold and on the trays below it: is anything wet?",
    "If it is: power {node} off, close its coolant valves, supply and return, and call whoever runs the cooling.",
    "If all is dry: seat the detector's cable, and replace the detector if it says so still.",
)

CODES = (
    Code(
        DETECTED,
        (Remedy.TRIAGE,),
        "a leak detector says Critical and its reading does not contradict it, or several detectors agree",
    ),
    Code(
        SUSPECTED,
        (Remedy.TRIAGE,),
        "a leak detector warns alone, or its state and its reading contradict each other: a person looks, and nothing"
        " is powered off for it",
    ),
    Code(
        "leak.policy",
        (Remedy.REFLASH,),
        "the BMC's own reaction to a leak is switched on or off, other than `sensors.leak_power_off` of the profile",
    ),
)


def findings(detectors: Sequence[Detector], node: str) -> Iterator[Finding]:
    """Yield one finding for each detector that tells of coolant: by its state, by its reading, or both."""
    spoken = [each for each in detectors if _tells(each)]
    agreed = sum(_state(each) in ALARMS and each.wet is not False for each in spoken) > 1
    for each in spoken:
        state = _state(each)
        if state not in ALARMS and not each.wet:
            continue
        alone = each.state == "Critical" or (each.state == "Warning" and each.wet)
        sure = state in ALARMS and each.wet is not False and (agreed or alone)
        code, steps = (DETECTED, STEPS) if sure else (SUSPECTED, DOUBT)
        yield about(node, code, each.name)(
            message=f"the leak detector {each.name} says {state}, expected OK{_reading(each)}",
            remedy=Remedy.TRIAGE,
            steps=tuple(step.format(node=node, detector=each.name) for step in steps),
        )


def mute(detectors: Sequence[Detector], wanted: Section) -> Iterator[str]:
    """Yield what is not known: a detector that is out of use or says nothing may lie in water all the same."""
    least = wanted.whole("leak_detectors") if wanted.has("leak_detectors") else 0
    if len(detectors) < least:
        yield f"the BMC reports {len(detectors)} leak detectors, expected {least}"
    for each in detectors:
        if not each.status.there:
            said = f", and says {each.state}" if each.state in ALARMS else ""
            yield f"the leak detector {each.name} is {each.status.state}{said}: whether it is dry is unknown"
        elif not _tells(each):
            yield f"the leak detector {each.name} says {each.state or 'nothing'}"


def untold(own: OwnPolicy | None, wanted: Section) -> Iterator[str]:
    """Yield that the profile asks what a BMC does by itself, and nobody knows."""
    if own is None and wanted.has("leak_power_off"):
        yield "the BMC does not say what it does by itself at a leak"


def unlike(own: OwnPolicy | None, wanted: Section, node: str) -> Iterator[Finding]:
    """Yield that a BMC would power a node off at a leak, or would not, other than the profile wants it."""
    if own is None or not wanted.has("leak_power_off") or own.enabled == wanted.flag("leak_power_off"):
        return
    way = f"{own.reaction or 'a reaction'} after {own.delay:g} s"
    now, then = ("on", "off") if own.enabled else ("off", "on")
    yield about(node, "leak.policy", "LeakDetectionPolicy")(
        message=f"the BMC's own {way} at a leak is switched {now}, expected {then}",
        remedy=Remedy.REFLASH,
        steps=(f"Set PolicyEnabled of {node}'s LeakDetectionPolicy (Redfish: Chassis, Oem, Nvidia, Policies).",),
    )


def observed(detectors: Sequence[Detector], own: OwnPolicy | None) -> dict[str, Any]:
    """Return what is kept of them: each detector's state, and of those with a rope its volts."""
    told: dict[str, Any] = {
        "leak_detectors": {each.name: _state(each) if _tells(each) else "unknown" for each in detectors},
        "leak_volts": {each.name: each.volts for each in detectors if each.volts is not None},
    }
    if own is not None:
        told["leak_power_off"] = own.enabled
    return told


def _tells(detector: Detector) -> bool:
    return detector.status.there and (_state(detector) in KNOWN)


def _state(detector: Detector) -> str:
    """Return its state; that of one that has none is as its reading says."""
    if detector.state or detector.wet is None:
        return detector.state
    return "Critical" if detector.wet else "OK"


def _reading(detector: Detector) -> str:
    if detector.wet is None:
        return ""
    if detector.below is None:
        return f"; it reads {detector.volts:g} V, which the BMC calls {detector.rope}"
    side, sense = ("at or below", "wet") if detector.wet else ("above", "dry")
    return f"; it reads {detector.volts:g} V, {side} its limit of {detector.below:g} V as a {sense} one does"
