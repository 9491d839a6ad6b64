"""Do the server's own sensors say that it is cool, fanned and fed as it should be?"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import HEALTHY, PROFILE, changed, judged, remedies

BODIES: dict[str, Any] = json.loads(HEALTHY["sensors"]["redfish_sensors"])
THERMAL, POWER = "/redfish/v1/Chassis/1/Thermal", "/redfish/v1/Chassis/1/Power"
SENSOR = "/redfish/v1/Chassis/2/Sensors/Rack_Inlet"
WANTED = PROFILE["sensors"]
OK = {"Health": "OK", "State": "Enabled"}


def told(bodies: Any, expected: Expected | None = None) -> Result:
    """Judge what a BMC told."""
    texts = {"redfish_sensors": json.dumps(bodies)}
    return judged("sensors", texts, expected) if expected else judged("sensors", texts)


def row(rows: str, name: str, expected: Expected | None = None, **values: Any) -> Result:
    """Judge the sensors with some values of one row changed."""
    uri = POWER if rows == "Voltages" else THERMAL
    bent = [each | values if each["Name"] == name else each for each in BODIES[uri][rows]]
    return told(BODIES | {uri: BODIES[uri] | {rows: bent}}, expected)


@given(
    reading=st.floats(-40, 200, allow_nan=False),
    caution=st.none() | st.floats(30, 110),
    critical=st.floats(20, 120),
)
def test_a_temperature_is_judged_by_its_own_thresholds(
    reading: float, caution: float | None, critical: float
) -> None:
    """At the critical one it fails hard, at the caution one it is looked at, and below both it is well."""
    found = remedies(
        row(
            "Temperatures", "TEMP_CPU0", ReadingCelsius=reading, UpperThresholdNonCritical=caution,
            UpperThresholdCritical=critical,
        )
    )  # fmt: skip
    near = critical - WANTED["celsius_margin"] if caution is None else min(caution, critical)
    wanted = {"sensor.hot": Remedy.TRIAGE} if reading >= critical else {"sensor.warm": Remedy.WATCH}
    assert found == (wanted if reading >= near else {})


@given(reading=st.floats(-20, 60))
def test_a_sensor_that_shows_how_far_its_limit_is_is_judged_from_below(reading: float) -> None:
    """And a GPU's heat is recorded: gpu_thermals judges it."""
    result = row("Temperatures", "TLIMIT_GB_SXM1", ReadingCelsius=reading)
    assert result.verdict is Verdict.PASS
    codes = ["sensor.hot"] if reading <= -3 else ["sensor.warm"] if reading <= 0 else []
    assert [finding.code for finding in result.findings] == codes
    assert all(finding.remedy is Remedy.RECORD for finding in result.findings)


def test_a_margin_without_a_caution_threshold_has_its_critical_one_alone() -> None:
    """Not every vendor gives both."""
    values: dict[str, Any] = {"LowerThresholdNonCritical": None, "LowerThresholdCritical": 0, "ReadingCelsius": 0}
    assert [f.code for f in row("Temperatures", "TLIMIT_GB_SXM1", **values).findings] == ["sensor.hot"]


@pytest.mark.parametrize(
    ("health", "found"),
    [("Critical", {"sensor.hot": Remedy.TRIAGE}), ("Warning", {"sensor.warm": Remedy.WATCH}), ("OK", {})],
)
def test_the_bmcs_own_word_counts_where_there_is_no_threshold(health: str, found: dict[str, Remedy]) -> None:
    """Of whatever it reads."""
    values: dict[str, Any] = dict.fromkeys(("UpperThresholdNonCritical", "UpperThresholdCritical"))
    result = row("Temperatures", "TEMP_CPU0", Status={"Health": health, "State": "Enabled"}, **values)
    assert remedies(result) == found


@pytest.mark.parametrize("rows", [("Temperatures", "TEMP_CPU0", "ReadingCelsius"), ("Fans", "FAN1", "Reading")])
def test_a_sensor_that_tells_nothing_is_unknown(rows: tuple[str, str, str]) -> None:
    """Neither a reading nor a health."""
    result = row(rows[0], rows[1], **{rows[2]: None, "Status": {"State": "Enabled"}})
    assert result.verdict is Verdict.UNKNOWN
    assert f"{rows[1]} reports neither" in result.message


@pytest.mark.parametrize(
    ("rows", "name", "reading"),
    [("Temperatures", "TEMP_CPU0", "ReadingCelsius"), ("Voltages", "12V", "ReadingVolts")],
)
@pytest.mark.parametrize("health", ["Warning", "Critical"])
def test_a_sensor_that_is_called_bad_and_reads_nothing_is_unknown(
    rows: str, name: str, reading: str, health: str
) -> None:
    """A DPU's BMC calls the sensor of an empty cage Critical; nothing is too warm there."""
    result = row(rows, name, **{reading: None, "Status": {"Health": health, "State": "Enabled"}})
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert f"{name} is called {health} and gives no reading" in result.message


def test_an_absent_sensor_is_none() -> None:
    """An empty slot has no temperature, whatever its threshold."""
    assert row("Temperatures", "TEMP_CPU0", ReadingCelsius=200, Status={"State": "Absent"}).verdict is Verdict.PASS


def test_fatal_thresholds_stand_in_for_critical_ones() -> None:
    """And a threshold of nought is none."""
    values: dict[str, Any] = {"UpperThresholdNonCritical": 0, "UpperThresholdCritical": None}
    assert remedies(row("Temperatures", "TEMP_CPU0", UpperThresholdFatal=31, **values)) == {
        "sensor.hot": Remedy.TRIAGE
    }
    assert row("Temperatures", "TEMP_CPU0", UpperThresholdFatal=0, **values).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"Reading": 420}, {"fan.failed": Remedy.TRIAGE}),
        ({"Reading": 421}, {}),
        ({"Reading": 0, "LowerThresholdCritical": None}, {"fan.failed": Remedy.TRIAGE}),
        ({"Reading": None, "Status": {"Health": "Critical"}}, {"fan.failed": Remedy.TRIAGE}),
        ({"Status": {"Health": "Warning"}}, {"fan.slow": Remedy.WATCH}),
    ],
)
def test_a_fan_fails_that_stands_still_or_turns_too_slowly(values: Any, found: dict[str, Remedy]) -> None:
    """Or that its BMC calls Critical."""
    assert remedies(row("Fans", "FAN1", **values)) == found


def test_fans_that_all_stand_still_are_those_of_a_server_that_is_off() -> None:
    """That is no fault of three fans at once."""
    fans = [each | {"Reading": 0} for each in BODIES[THERMAL]["Fans"]]
    own = {uri: body for uri, body in BODIES.items() if "/Fans/" not in uri}
    result = told(own | {THERMAL: BODIES[THERMAL] | {"Fans": fans}})
    assert result.verdict is Verdict.UNKNOWN
    assert "every fan stands still; is the host on?" in result.message


def test_a_fan_that_is_absent_is_missing_only_where_one_is_missed() -> None:
    """Empty bays are listed too."""
    gone: dict[str, Any] = {"Status": {"State": "Absent"}}
    assert remedies(row("Fans", "FAN1", **gone)) == {"fan.missing": Remedy.TRIAGE}
    assert row("Fans", "FAN1", changed("sensors", WANTED | {"fans": 2}), **gone).verdict is Verdict.PASS
    assert row("Fans", "FAN1", changed("sensors", {"celsius_margin": 5}), **gone).verdict is Verdict.PASS


def test_fewer_fans_than_the_profile_knows_prove_nothing() -> None:
    """None is seen to be gone."""
    result = told(BODIES, changed("sensors", WANTED | {"fans": 10}))
    assert result.message == "the BMC reports 3 fans, expected 10"


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"ReadingVolts": 13.4}, {"voltage.out": Remedy.TRIAGE}),
        ({"ReadingVolts": 10.2}, {"voltage.out": Remedy.TRIAGE}),
        ({"ReadingVolts": 0}, {}),
        ({"LowerThresholdCritical": None, "UpperThresholdCritical": None}, {}),
        ({"LowerThresholdCritical": None, "Status": {"Health": "Critical"}}, {"voltage.out": Remedy.TRIAGE}),
        ({"Status": {"Health": "Warning"}}, {"voltage.near": Remedy.WATCH}),
    ],
)
def test_a_voltage_is_judged_by_its_own_thresholds(values: Any, found: dict[str, Remedy]) -> None:
    """A rail that is switched off reads nothing."""
    assert remedies(row("Voltages", "12V", **values)) == found


@pytest.mark.parametrize("value", [None, "x"])
def test_without_an_upper_threshold_a_voltage_may_be_any(value: Any) -> None:
    """Words are no thresholds."""
    assert row("Voltages", "12V", UpperThresholdCritical=value).verdict is Verdict.PASS


def test_warm_air_is_the_rooms_matter() -> None:
    """It is looked at sooner, by the sensor that the profile names."""
    result = row("Temperatures", "Inlet Temp", ReadingCelsius=36)
    assert remedies(result) == {"sensor.inlet": Remedy.WATCH}
    assert row("Temperatures", "Inlet Temp", ReadingCelsius=None, Status=OK).verdict is Verdict.PASS


def test_sensors_with_resources_of_their_own_are_judged_alike() -> None:
    """Newer BMCs have no Thermal."""
    hot = BODIES[SENSOR] | {"Reading": 45}
    assert remedies(told(BODIES | {SENSOR: hot})) == {"sensor.hot": Remedy.TRIAGE}
    low = {"LowerFatal": {"Reading": -8}, "UpperFatal": 7, "LowerCaution": {"Reading": 0}}
    assert remedies(told(BODIES | {SENSOR: hot | {"Reading": -2, "Thresholds": low}})) == {
        "sensor.warm": Remedy.WATCH
    }
    cold = {"LowerCritical": {"Reading": 5}}
    assert told(BODIES | {SENSOR: hot | {"Reading": 3, "Thresholds": cold}}).verdict is Verdict.PASS
    assert told(BODIES | {SENSOR: hot | {"Thresholds": None}}).verdict is Verdict.PASS
    assert told(BODIES | {SENSOR: hot | {"ReadingType": "Humidity"}}).verdict is Verdict.PASS


def test_a_fan_of_its_own_may_tell_percent_or_nothing() -> None:
    """Its speed is an excerpt of a sensor."""
    uri = "/redfish/v1/Chassis/2/ThermalSubsystem/Fans/1"
    percent = BODIES[uri] | {"SpeedPercent": {"Reading": 0}}
    assert "turns at 0 %" in told(BODIES | {uri: percent}).message
    assert told(BODIES | {uri: BODIES[uri] | {"SpeedPercent": None}}).verdict is Verdict.PASS


def test_a_resource_that_answers_with_an_error_is_unknown() -> None:
    """The GPU baseboard while the host is off."""
    result = told(BODIES | {"/redfish/v1/Chassis/3": None})
    assert result.message == "the BMC answers /redfish/v1/Chassis/3 with an error; is the host on?"


def test_a_bmc_without_any_sensor_is_unknown() -> None:
    """No server has none."""
    assert told({"/x": {}}, changed("sensors", {"celsius_margin": 5})).message == (
        "the BMC reports no temperature, fan or voltage"
    )
