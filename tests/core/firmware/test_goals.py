"""Who has everything already is not asked; whoever nobody can be certain of is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.firmware.catalogue import Catalogue, Component
from fleet_runner.core.firmware.goals import reached, settled

BMC = Component("BMC", "BMC", "1.2", ("1.2", "1.1"))
GPUS = Component("VBIOS", "GPU_*", "96.0", ("96.0",))
CATALOGUE = Catalogue((BMC, GPUS))
RIGHT = {"BMC": "1.2", "GPU_1": "96.0", "GPU_2": "96.0"}


def seen(versions: Any, verdict: Verdict = Verdict.PASS) -> Result:
    """What the check saw."""
    return Result("firmware_pins", verdict, "as seen", observed={"versions": versions})


@given(st.dictionaries(st.sampled_from(["BMC", "GPU_1", "GPU_2", "CPLD"]), st.sampled_from(["1.2", "1.1", "96.0"])))
def test_only_targets_reach_it(versions: dict[str, str]) -> None:
    """An accepted version is none, and what the catalogue does not speak of does not matter."""
    gpus = [version for name, version in versions.items() if name.startswith("GPU")]
    right = versions.get("BMC") == "1.2" and bool(gpus) and set(gpus) == {"96.0"}
    assert reached(CATALOGUE, seen(versions)) is right


def test_a_failed_check_saw_the_versions_all_the_same() -> None:
    """The catalogue has changed since; only an UNKNOWN one may have seen half of them."""
    assert reached(CATALOGUE, seen(RIGHT, Verdict.FAIL))
    assert not reached(CATALOGUE, seen(RIGHT, Verdict.UNKNOWN))


@pytest.mark.parametrize("result", [None, seen(None), seen([]), Result("firmware_pins", Verdict.PASS, "none")])
def test_without_evidence_nothing_is_certain(result: Result | None) -> None:
    """Nor where evidence is of another shape."""
    assert not reached(CATALOGUE, result)


def test_a_catalogue_that_cannot_be_told_from_ids_is_not_certain() -> None:
    """Nor one that names nothing."""
    assert not reached(Catalogue(), seen(RIGHT))
    assert not reached(Catalogue((Component("BMC", "*", "1.2", ("1.2",), inventory_name="BMC"),)), seen({"1": "1.2"}))


def test_bios_settings_that_nobody_saw_are_not_certain() -> None:
    """Unless the profile names none."""
    assert settled({}, None)
    assert not settled({"SRIOV": "On"}, None)


@pytest.mark.parametrize(
    ("verdict", "attributes", "right"),
    [
        (Verdict.PASS, {"SRIOV": "On", "Other": 1}, True),
        (Verdict.PASS, {"SRIOV": "Off"}, False),
        (Verdict.PASS, {}, False),
        (Verdict.PASS, None, False),
        (Verdict.FAIL, {"SRIOV": "On"}, False),
    ],
)
def test_bios_settings_are_held_against_the_profile_as_it_is_now(
    verdict: Verdict, attributes: object, right: bool
) -> None:
    """It may have changed since they were seen."""
    result = Result("bios_settings", verdict, "as seen", observed={"attributes": attributes})
    assert settled({"SRIOV": "On"}, result) is right
