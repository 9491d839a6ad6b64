"""Are the modules of the node's adapters well?"""

import json
from typing import Any

import pytest

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import NODE, judged, modules, text_of

NOW = 1_740_900_000.0
OPTICAL, COPPER = text_of("mlxlink/optical.json"), text_of("mlxlink/copper.json")
PROFILE: dict[str, Any] = {
    "hca_interfaces": {"mlx5_0": "ib0", "mlx5_1": "ib1"},
    "optics": {"celsius_max": 70, "celsius_change_max": 10},
}
DEVICE = {
    "place": "h rack A1 U4",
    "links": [{"interface": "ib0", "far_device": "leaf-1", "far_interface": "1", "far_place": "h rack N1 U1"}],
}


def asked(first: str, second: str = COPPER, profile: Any = None, **run_data: Any) -> Result:
    """Judge a node by what its two adapters answer."""
    held = Expected(NODE, PROFILE if profile is None else profile, DEVICE, run=run_data)
    return judged("optics", {"mlxlink": modules(mlx5_0=first, mlx5_1=second)}, held)


def was(celsius: object, seconds: float) -> dict[str, Any]:
    """Return what the run is told of a look so long ago."""
    return {"now": NOW, "before": {"optics": {"at": NOW - seconds, "observed": {"celsius": {"mlx5_0": celsius}}}}}


def test_modules_that_are_well_pass_and_are_remembered() -> None:
    result = asked(OPTICAL)
    assert (result.verdict, result.message) == (Verdict.PASS, "the modules of 1 adapters are within their limits")
    assert result.observed["celsius"] == {"mlx5_0": 61.0}


def test_copper_has_nothing_to_judge() -> None:
    assert asked(COPPER).message == "no adapter has a module that reports measurements"


@pytest.mark.parametrize(
    ("celsius", "why"),
    [
        ("71 [-10..80]", "its module is at 71 °C, expected at most 70"),
        ("-12 [-10..80]", "its module is at -12 °C, outside of its own range -10 to 80"),
        ("66 [0..65]", "its module is at 66 °C, outside of its own range 0 to 65"),
    ],
)
def test_a_module_that_is_too_warm_or_too_cold_is_a_fault(celsius: str, why: str) -> None:
    result = asked(OPTICAL.replace("61 [-10..80]", celsius))
    (finding,) = result.findings
    assert (finding.code, finding.remedy, finding.component) == ("optics.temperature", Remedy.RECABLE, "ib0")
    assert finding.message == f"ib0: {why} (module MMA4Z00-NS400 MT2344FT00001)"
    assert finding.steps[0].startswith("At gpu-01 port ib0 (h rack A1 U4): is air flowing")


@pytest.mark.parametrize(
    ("celsius", "seconds", "verdict"),
    [
        (50.0, 300.0, Verdict.FAIL),
        (72.0, 60.0, Verdict.FAIL),
        (51.0, 300.0, Verdict.PASS),
        (45.0, 600.0, Verdict.PASS),
        (40.0, 600.0, Verdict.FAIL),
        (10.0, 14_400.0, Verdict.PASS),
        (10.0, 0.0, Verdict.PASS),
        ("hot", 300.0, Verdict.PASS),
    ],
)
def test_a_temperature_may_change_by_the_step_in_five_minutes(
    celsius: object, seconds: float, verdict: Verdict
) -> None:
    """Over hours it says nothing: a node that was idle warms up."""
    assert asked(OPTICAL, **was(celsius, seconds)).verdict is verdict


def test_a_change_is_told_with_both_temperatures_and_the_time() -> None:
    message = asked(OPTICAL, **was(40.0, 600.0)).findings[0].message
    assert "its module went from 40 to 61 °C in 10 min, expected a change of at most 20" in message


def test_without_the_runners_clock_no_change_is_judged() -> None:
    told = was(10.0, 300.0)
    assert asked(OPTICAL, before=told["before"]).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("old", "new", "code", "why"),
    [
        ("2.281", "-13.8", "optics.rx_power", "receives -13.8 dBm on lane 2, outside of its own range -10.41 to 6"),
        ("1.427", "-40", "optics.tx_power", "sends -40 dBm on lane 1, outside of its own range -8.508 to 5"),
    ],
)
def test_a_lane_with_too_little_light_is_a_fault_of_its_link(old: str, new: str, code: str, why: str) -> None:
    (finding,) = asked(OPTICAL.replace(old, new)).findings
    assert (finding.code, finding.fault) == (code, f"{NODE}/{code}/ib0")
    assert why in finding.message
    assert finding.steps[1] == "At its other end, leaf-1 port 1 (h rack N1 U1): do the same."


def test_a_port_that_is_down_is_dark_and_that_is_no_fault_of_its_module() -> None:
    down = OPTICAL.replace('"Active"', '"Polling"').replace("1.886,1.989,2.281,1.976", "-40,-40,-40,-40")
    assert asked(down).verdict is Verdict.PASS


def test_a_module_that_measures_light_and_no_temperature_is_judged_by_its_light() -> None:
    cold = OPTICAL.replace("61 [-10..80]", "N/A")
    assert asked(cold).verdict is Verdict.PASS
    assert asked(cold.replace("2.281", "-13.8")).verdict is Verdict.FAIL
    assert asked(cold.replace("1.886,1.989,2.281,1.976 [-10.41..6]", "N/A")).verdict is Verdict.PASS


def test_a_module_without_a_name_is_of_unknown_model() -> None:
    bare = OPTICAL.replace("MMA4Z00-NS400   ", "N/A").replace("MT2344FT00001   ", "N/A")
    assert "(module of unknown model)" in asked(bare.replace("61 [", "71 [")).message


def test_one_adapter_without_an_answer_makes_a_pass_unknown_and_no_more() -> None:
    assert asked(OPTICAL, "").verdict is Verdict.UNKNOWN
    assert asked(OPTICAL, "").message.startswith("mlx5_1: mlxlink's answer is not JSON")
    assert asked(OPTICAL.replace("61 [", "71 ["), "").verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"end": "missing"}, "mlxlink is not on the node; install NVIDIA's mft, or take optics out of the profile"),
        ({"end": "timeout", "error": "no end within 60 s"}, "mlxlink: no end within 60 s"),
        ({"end": "truncated"}, "mlxlink: truncated"),
        (None, "it was not asked"),
        ("x", "it was not asked"),
    ],
)
def test_an_adapter_that_could_not_be_asked_says_why(answer: object, says: str) -> None:
    text = json.dumps({"mlx5_0": answer} if answer else {})
    profile = {**PROFILE, "hca_interfaces": {"mlx5_0": "ib0"}}
    result = judged("optics", {"mlxlink": text}, Expected(NODE, profile, DEVICE))
    assert result.verdict is Verdict.UNKNOWN
    assert says in result.message


def test_a_fleet_without_the_tool_leaves_the_section_out_and_passes() -> None:
    """It is not UNKNOWN for ever in every sweep."""
    result = asked("", profile={"hca_interfaces": PROFILE["hca_interfaces"]})
    assert (result.verdict, result.message) == (Verdict.PASS, "the profile has no limits for modules (optics)")


def test_a_section_that_cannot_be_read_is_unknown_and_names_its_key() -> None:
    assert "fleet_profile.optics.celsius_max: found" in asked(OPTICAL, profile={**PROFILE, "optics": {}}).message
