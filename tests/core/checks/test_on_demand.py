"""A person is told which checks can be asked now, and who asks the others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.on_demand import FEW, nearest, refusal
from fleet_runner.core.lifecycle.states import Stage


@pytest.mark.parametrize("name", ["gpu_errors", "xid", "firmware_pins", "cabling_infiniband", "rebooted"])
def test_what_only_reads_can_be_asked(name: str) -> None:
    assert not refusal(CHECKS[name], [Stage.VERIFY])
    assert not refusal(CHECKS[name], [])


def test_what_is_about_a_fabric_is_asked_of_the_fabric() -> None:
    assert "fleet-runner run fabric --node FABRIC asks it" in refusal(CHECKS["fabric_cabling"], [Stage.FABRIC])


def test_an_active_check_waits_for_the_node_to_be_idle() -> None:
    why = refusal(CHECKS["dcgm"], [Stage.BURN_IN])
    assert why.startswith("dcgm is active")
    assert "fleet-runner run burn_in --node NODE asks it once the node is idle" in why
    assert "no stage asks it yet" in refusal(CHECKS["dcgm"], [])


def test_stages_of_a_serving_node_are_named_first() -> None:
    why = refusal(CHECKS["dcgm"], [Stage.BURN_IN, Stage.HEALTH_PASSIVE])
    assert why.index("health_passive") < why.index("burn_in")


def test_what_a_stage_brings_is_not_asked_without_it() -> None:
    """And nobody is told to type a command that erases a node."""
    why = refusal(CHECKS["wiped"], [Stage.WIPE])
    assert why == "wiped judges what its stage brings (wipe_progress), and only that asks it: wipe"
    assert "fleet-runner" not in why
    assert refusal(CHECKS["wiped"], []).endswith("none yet")


@given(st.text(max_size=20))
def test_few_names_are_offered_and_all_of_them_are_known(name: str) -> None:
    found = nearest(name, CHECKS)
    assert len(found) <= FEW
    assert set(found) <= set(CHECKS)


def test_a_slip_and_a_part_of_a_name_are_understood() -> None:
    assert nearest("gpu_eror", CHECKS)[0] == "gpu_errors"
    assert "power_supplies" in nearest("supplies", CHECKS)
    assert nearest("", CHECKS) == []
