"""Power and firmware: who may switch a node's power, and what is said to who may not."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.firmware.flash import Phase
from fleet_runner.core.firmware.guard import AT_WORK, by_hand, refusal
from fleet_runner.core.lifecycle.states import SERVING, State
from tests.core.firmware.bmc_model import a_flash

STATES = st.one_of(st.none(), st.sampled_from(State))
FLASHES = st.one_of(st.none(), st.builds(a_flash, phase=st.sampled_from(Phase)))


@given(state=STATES, flash=FLASHES, allowed=st.sampled_from(["", "ada: the vendor asks for it"]))
def test_power_goes_on_where_nothing_is_open_and_nothing_failed_or_a_person_allowed_it(
    state: State | None, flash: object, allowed: str
) -> None:
    refused = refusal("gpu-01", state, flash, allowed)  # type: ignore[arg-type]  # hypothesis types it as object
    assert bool(refused) is (not allowed and (flash is not None or state is State.FIRMWARE_FAILED))


def test_who_is_refused_is_told_why_and_what_to_do() -> None:
    said = refusal("gpu-01", State.FIRMWARE, a_flash(id=7, phase=Phase.SENT), "")
    assert said.startswith("flash 7 of gpu-01 (AB) is sent and its end is not certain, so power could ruin the node")
    assert "`fleet-runner firmware settle gpu-01`" in said
    assert '`fleet-runner firmware allow-power gpu-01 --reason "…"`' in said
    assert "gpu-01 is in firmware_failed" in refusal("gpu-01", State.FIRMWARE_FAILED, None, "")


@given(state=st.sampled_from(State), anyway=st.sampled_from([(), ("gpu-01",), ("gpu-02",)]))
def test_no_play_by_hand_begins_where_tenants_or_the_runner_use_a_node_that_is_not_named(
    state: State, anyway: tuple[str, ...]
) -> None:
    refused = by_hand("gpu-01", state, anyway)
    assert bool(refused) is (state in SERVING | AT_WORK and "gpu-01" not in anyway)
    assert not refused or f"gpu-01 is in {state}" in refused
    assert not refused or refused.endswith("or name it: -e firmware_anyway=gpu-01")


def test_every_state_in_which_tenants_may_use_a_node_is_refused() -> None:
    for state in SERVING:
        assert "where tenants may use it" in by_hand("gpu-01", state, ())
