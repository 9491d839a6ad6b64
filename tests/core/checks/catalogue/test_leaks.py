"""Leak detectors: coolant that is seen, a detector that lies, and one that says nothing."""

import json
from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import NOT_SOUGHT, Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import HEALTHY, PROFILE, changed, judged, remedies

BODIES: dict[str, Any] = json.loads(HEALTHY["sensors"]["redfish_sensors"])
CHASSIS = "/redfish/v1/Chassis/2"
DETECTION = f"{CHASSIS}/ThermalSubsystem/LeakDetection"
LEAK = f"{DETECTION}/LeakDetectors/Moisture"
SECOND = f"{DETECTION}/LeakDetectors/Manifold"
ROPE, POLICY = f"{CHASSIS}/Sensors/Moisture", f"{CHASSIS}/Oem/Nvidia/Policies/LeakDetectionPolicy"
OK = {"Health": "OK", "State": "Enabled"}
GONE: dict[str, Any] = {}
SEEN, DOUBTED = {"leak.detected": Remedy.TRIAGE}, {"leak.suspected": Remedy.TRIAGE}


def detector(state: str | None, uri: str = LEAK, **more: Any) -> dict[str, Any]:
    """A leak detector in some state."""
    name = uri.rpartition("/")[2]
    body = {"@odata.type": "#LeakDetector.v1_1_0.LeakDetector", "Id": name, "Name": f"Leak {name}", "Status": OK}
    return {uri: body | ({"DetectorState": state} if state is not None else {}) | more}


def rope(volts: float | None, limit: float | None = 1.617, **more: Any) -> dict[str, Any]:
    """The voltage of the rope of that detector, as GB200 trays tell it."""
    thresholds = {} if limit is None else {"LowerCritical": {"Reading": limit}}
    body = {"@odata.type": "#Sensor.v1_7_0.Sensor", "Name": "leak_moisture", "ReadingType": "Voltage",
            "Reading": volts, "ReadingUnits": "V", "Thresholds": thresholds, "Status": OK}  # fmt: skip
    return {ROPE: body | more}


def own(enabled: object, uri: str = POLICY) -> dict[str, Any]:
    """What an NVIDIA BMC does by itself."""
    reactions = [{"CommonReaction": "HardPowerOff", "ReactionDelaySeconds": 5.0}]
    return {
        uri: {
            "@odata.type": "#NvidiaPolicy.v1_0_0.NvidiaPolicy",
            "PolicyEnabled": enabled,
            "PolicyReactions": reactions,
        }
    }


def told(*bodies: dict[str, Any], **wanted: Any) -> Result:
    """Judge what a BMC told beside what it tells of a healthy node, under a profile with more wanted."""
    changed_ones = {uri: body for each in bodies for uri, body in each.items()}
    every = {uri: body for uri, body in (BODIES | changed_ones).items() if body != GONE}
    texts = {"redfish_sensors": json.dumps(every)}
    return judged("sensors", texts, changed("sensors", PROFILE["sensors"] | wanted))


def test_a_leak_is_a_persons_case_with_the_makers_order() -> None:
    """Power first, then the valves, then eyes on it, then the rack if there is more."""
    result = told(detector("Critical"))
    assert remedies(result) == SEEN
    power, valves, look, rack = result.findings[0].steps
    assert "Power gpu-01 off first" in power
    assert ("valves by hand" in valves, "trays below" in look, "whole rack off" in rack) == (True, True, True)


@pytest.mark.parametrize(
    ("state", "volts", "found"),
    [
        ("Critical", 1.2, SEEN),
        ("Warning", 1.617, SEEN),
        ("Critical", 1.73, DOUBTED),
        ("Warning", 1.73, DOUBTED),
        ("OK", 1.2, DOUBTED),
        ("OK", 1.73, {}),
        ("OK", 0, {}),
        ("Critical", 0, SEEN),
        ("Critical", None, SEEN),
        ("Warning", None, DOUBTED),
    ],
)
def test_a_detectors_state_and_its_reading_are_compared(
    state: str, volts: float | None, found: dict[str, Remedy]
) -> None:
    """What they contradict each other about is a doubt, for which nothing is powered off. Nought is no reading."""
    assert remedies(told(detector(state), rope(volts))) == found


def test_a_doubt_says_what_was_read() -> None:
    """Somebody has to find out which of both is right."""
    assert told(detector("Critical"), rope(1.73)).message == (
        "the leak detector Leak Moisture says Critical, expected OK; it reads 1.73 V, above its limit of 1.617 V as"
        " a dry one does"
    )
    assert "1.2 V, at or below its limit of 1.617 V as a wet one does" in told(detector("OK"), rope(1.2)).message


def test_a_reading_without_a_limit_contradicts_nothing() -> None:
    """Nor does one of a sensor that is out of use."""
    assert remedies(told(detector("Critical"), rope(1.73, None))) == SEEN
    off = {"State": "Disabled"}
    assert remedies(told(detector("Critical"), rope(1.73, Status=off))) == SEEN


def test_two_detectors_that_warn_confirm_each_other() -> None:
    """One that contradicts itself confirms nothing."""
    both = told(detector("Warning"), detector("Warning", SECOND))
    assert remedies(both) == SEEN
    assert len(both.findings) == 2
    assert remedies(told(detector("Warning"), detector("Warning", SECOND), rope(1.73))) == DOUBTED


@pytest.mark.parametrize("gone", ["Absent", "Disabled", "UnavailableOffline"])
@pytest.mark.parametrize("state", ["OK", "Critical"])
def test_a_detector_that_is_out_of_use_is_neither_wet_nor_dry(gone: str, state: str) -> None:
    """Whatever it says: BMCs call detectors Critical that are not there."""
    result = told(detector(state, Status={"State": gone, "Health": "Critical"}))
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    said = ", and says Critical" if state == "Critical" else ""
    assert result.message == f"the leak detector Leak Moisture is {gone}{said}: whether it is dry is unknown"
    assert result.observed["leak_detectors"] == {"Leak Moisture": "unknown"}


def test_a_detector_that_says_nothing_is_unknown() -> None:
    """One without a state of its own is as well as its Status, one without that as its reading."""
    mute = detector(None, Status={})
    assert told(mute).message == "the leak detector Leak Moisture says nothing"
    assert told(detector("Unavailable")).message == "the leak detector Leak Moisture says Unavailable"
    assert told(detector(None)).verdict is Verdict.PASS
    assert told(mute, rope(1.7)).verdict is Verdict.PASS
    assert remedies(told(mute, rope(1.2))) == DOUBTED


@pytest.mark.parametrize(
    "mute", [detector(None, Status={}), detector("OK", Status={"State": "Absent"}), {LEAK: GONE}]
)
def test_beside_a_mute_detector_another_fault_is_no_proof_that_all_is_dry(mute: dict[str, Any]) -> None:
    """The result says what it could not look for; of an own reaction that is not told, it does not."""
    body = {"ReadingType": "Temperature", "Reading": 99, "Thresholds": {"UpperCritical": {"Reading": 90}}}
    hot = {f"{CHASSIS}/Sensors/Hot": body | {"@odata.type": "#Sensor.v1_7_0.Sensor", "Name": "Hot", "Status": OK}}
    result = told(hot, mute)
    assert (result.verdict, remedies(result)) == (Verdict.FAIL, {"sensor.hot": Remedy.TRIAGE})
    assert result.observed[NOT_SOUGHT] == ["leak.detected", "leak.suspected"]
    unread: dict[str, Any] = {f"{CHASSIS}/LeakDetectors/1": None}
    assert told(hot, unread).observed[NOT_SOUGHT] == ["leak.detected", "leak.suspected"]
    assert told(hot, leak_power_off=True).observed[NOT_SOUGHT] == []


def test_a_missing_detector_is_unknown() -> None:
    """A resource that is gone is no leak, and no proof that all is dry."""
    sound = {uri: body for uri, body in BODIES.items() if uri != LEAK}
    result = judged("sensors", {"redfish_sensors": json.dumps(sound)})
    assert (result.verdict, result.message) == (Verdict.UNKNOWN, "the BMC reports 0 leak detectors, expected 1")


def test_a_rope_alone_is_a_detector_and_no_rail() -> None:
    """Some BMCs list the sensor alone: coolant is not called a bad voltage."""
    result = told({LEAK: GONE}, {ROPE: rope(1.2)[ROPE] | {"Name": "HSC Leak 1"}}, leak_detectors=1)
    assert remedies(result) == DOUBTED
    assert result.findings[0].component == "HSC Leak 1"
    assert told({LEAK: GONE}, {ROPE: rope(1.7)[ROPE] | {"Name": "HSC Leak 1"}}).observed["leak_detectors"] == {
        "HSC Leak 1": "OK"
    }


def test_a_rope_without_a_limit_that_its_bmc_calls_critical_is_a_doubt() -> None:
    """Nothing else says that it is wet. One that gives no reading is an empty slot, which BMCs call Critical, too."""
    bad = {"State": "Enabled", "Health": "Critical"}
    alone = rope(1.2, None, Name="HSC Leak 1", Status=bad)
    result = told({LEAK: GONE}, alone, leak_detectors=1)
    assert remedies(result) == DOUBTED
    assert result.message == (
        "the leak detector HSC Leak 1 says Critical, expected OK; it reads 1.2 V, which the BMC calls Critical"
    )
    assert remedies(told(detector("OK"), rope(1.2, None, Status=bad))) == DOUBTED
    assert told({LEAK: GONE}, rope(0, None, Name="HSC Leak 1", Status=bad)).verdict is Verdict.UNKNOWN


def test_detectors_that_are_called_alike_do_not_speak_for_each_other() -> None:
    """Two chassis may both have a Moisture: the dry one must not hide the wet one, in whatever order they come."""
    other = LEAK.replace("/2/", "/3/")
    for first, second in (("Critical", "OK"), ("OK", "Critical")):
        result = told(detector(first), detector(second, other))
        assert remedies(result) == SEEN
        assert sorted(result.observed["leak_detectors"].values()) == ["Critical", "OK"]
    ropes = rope(1.2), {ROPE.replace("/2/", "/3/"): rope(1.73)[ROPE]}
    result = told(detector("OK"), *ropes)
    assert remedies(result) == DOUBTED
    assert set(result.observed["leak_detectors"]) == {"Leak Moisture", "leak_moisture (2)", "leak_moisture (3)"}


def test_detectors_that_are_told_of_in_a_group_alone_count() -> None:
    """DMTF's LeakDetection may hold them as excerpts; one that has a resource, too, counts once."""
    rows = [
        {"DataSourceUri": LEAK, "DetectorState": "Critical"},
        {"DataSourceUri": f"{SECOND}/", "DetectorState": "Critical"},
        {"Name": "Rope 3", "DetectorState": "OK"},
    ]
    group = {"@odata.type": "#LeakDetection.v1_0_0.LeakDetection", "LeakDetectorGroups": [{"Detectors": rows}]}
    result = told({DETECTION: group})
    assert result.observed["leak_detectors"] == {"Moisture": "OK", "Manifold": "Critical", "Rope 3": "OK"}
    assert [finding.component for finding in result.findings] == ["Manifold"]


def test_a_bmc_that_reacts_other_than_the_profile_wants_is_told() -> None:
    """What powers a tray off by itself, or does not, is somebody's decision: the profile's."""
    assert told(own(enabled=False)).findings == ()
    assert told(own(enabled=False), leak_power_off=False).verdict is Verdict.PASS
    asleep = told(own(enabled=False), leak_power_off=True)
    assert remedies(asleep) == {"leak.policy": Remedy.REFLASH}
    assert asleep.message == "the BMC's own HardPowerOff after 5 s at a leak is switched off, expected on"
    assert "is switched on, expected off" in told(own(enabled=True), leak_power_off=False).message
    assert told(own(enabled=True)).observed["leak_power_off"] is True


@pytest.mark.parametrize("bodies", [{}, own(None), own(enabled=True, uri=f"{CHASSIS}/Oem/Nvidia/Policies/Other")])
def test_a_bmc_that_does_not_tell_how_it_reacts_is_unknown(bodies: dict[str, Any]) -> None:
    """Only where the profile asks."""
    assert told(bodies).verdict is Verdict.PASS
    result = told(bodies, leak_power_off=True)
    assert (result.verdict, result.message) == (
        Verdict.UNKNOWN, "the BMC does not say what it does by itself at a leak",
    )  # fmt: skip
