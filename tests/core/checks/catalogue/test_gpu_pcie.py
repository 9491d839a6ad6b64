"""How GPUs are linked, as nvidia-smi tells."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue.gpu_pcie import REPLAYS_MAX
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.judging import NODE, remedies
from tests.core.checks.catalogue.looking import GPU, PCI, asked, remembering, seen

BUSY = ("<gpu_util>0 %", "<gpu_util>97 %")


@pytest.mark.parametrize(
    ("swaps", "found"),
    [
        ([("<current_link_width>16x", "<current_link_width>8x")], {"gpu.pcie_width": Remedy.TRIAGE}),
        ([("<max_link_gen>5", "<max_link_gen>4")], {"gpu.pcie_generation_max": Remedy.TRIAGE}),
        ([("<current_link_gen>5", "<current_link_gen>1"), BUSY], {"gpu.pcie_generation": Remedy.REBOOT}),
        ([("<current_link_gen>5", "<current_link_gen>1")], {}),
        ([("<max_link_gen>5", "<max_link_gen>6"), BUSY], {}),
        ([("<max_host_link_gen>N/A", "<max_host_link_gen>4"), BUSY], {}),
        ([("<current_link_gen>5", "<current_link_gen>N/A"), BUSY], {}),
    ],
)
def test_a_link_is_judged_by_lanes_by_what_it_can_reach_and_under_load_by_what_it_runs(
    swaps: list[tuple[str, str]], found: dict[str, Remedy]
) -> None:
    """An idle GPU lowers its generation to save power, and some boards say nonsense of their host."""
    result = seen("gpu_pcie", *swaps)
    assert remedies(result) == found
    assert result.verdict is (Verdict.FAIL if found else Verdict.PASS)


@pytest.mark.parametrize(
    ("swap", "what"),
    [
        (("<current_link_width>16x", "<current_link_width>N/A"), "lanes"),
        (("<max_link_gen>5", "<max_link_gen>[Unknown Error]"), "generation"),
        (("<replay_counter>150", "<replay_counter>N/A"), "replays"),
    ],
)
def test_what_a_link_does_not_tell_is_unknown(swap: tuple[str, str], what: str) -> None:
    """Neither good nor bad."""
    result = seen("gpu_pcie", swap, expected=remembering("gpu_pcie", {"gpus": {PCI: {"replays": 150}}}))
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == f"{GPU} does not report its PCIe {what}"


def before(replays: int, rollovers: int = 0, *, over: bool = False) -> dict[str, Any]:
    """Return what gpu_pcie observed at its last look."""
    return {"gpus": {PCI: {"replays": replays, "rollovers": rollovers, "over": over}}}


@given(replays=st.integers(0, 10**6), more=st.integers(0, 10**6), seconds=st.floats(1, 80_000), over=st.booleans())
def test_replays_are_judged_by_their_rate_over_lanes_and_minutes(
    replays: int, more: int, seconds: float, over: bool
) -> None:
    """At most 1.92 per lane and minute at generation 5; twice in a row is for a person."""
    told = ("<replay_counter>150", f"<replay_counter>{replays + more}")
    expected = remembering("gpu_pcie", before(replays, over=over), seconds)
    since = expected.run["now"] - expected.run["before"]["gpu_pcie"]["at"]
    result = seen("gpu_pcie", told, expected=expected)
    bad = more / 16 / max(1.0, since / 60) > REPLAYS_MAX[5]
    assert remedies(result) == ({"gpu.pcie_replays": Remedy.TRIAGE if over else Remedy.WATCH} if bad else {})
    assert result.observed["gpus"][PCI]["over"] is bad


def test_a_replay_counter_that_fell_began_anew() -> None:
    """150 within an hour is nothing; after a driver reload it is not a million less."""
    assert seen("gpu_pcie", expected=remembering("gpu_pcie", before(10**6))).verdict is Verdict.PASS
    assert seen("gpu_pcie", expected=remembering("gpu_pcie", before(10**6), 60.0)).verdict is Verdict.FAIL


@pytest.mark.parametrize("generation", [1, 2, 3, 4, 5, 6, 7])
def test_every_generation_has_a_limit(generation: int) -> None:
    """Those before the first and after the last take theirs."""
    swaps = (("<max_link_gen>5", f"<max_link_gen>{generation}"), ("<replay_counter>150", "<replay_counter>100000"))
    result = seen("gpu_pcie", *swaps, expected=remembering("gpu_pcie", before(0)))
    limit = REPLAYS_MAX[min(max(generation, 3), 6)]
    assert f"expected at most {limit:g}" in result.message


def test_a_link_that_was_trained_anew_is_watched() -> None:
    """Its packets were sent again in vain."""
    swap = ("<replay_rollover_counter>0", "<replay_rollover_counter>2")
    result = seen("gpu_pcie", swap, expected=remembering("gpu_pcie", before(150, 1)))
    assert remedies(result) == {"gpu.pcie_rollovers": Remedy.WATCH}


@pytest.mark.parametrize(
    "run",
    [
        {},
        {"before": {"gpu_pcie": {"at": 5.0, "observed": {}}}},
        {"before": {"gpu_pcie": {"at": 9.0, "observed": before(0)}}, "now": 8.0},
        {"before": {"gpu_pcie": {"at": 1.0, "observed": "none"}}, "now": 8.0},
        {"before": {"gpu_pcie": {"at": 1.0, "observed": {"gpus": []}}}, "now": 8.0},
    ],
)
def test_without_a_look_before_nothing_grew(run: dict[str, Any]) -> None:
    """The first look, one from the future, and one that cannot be read."""
    expected = asked()
    assert seen("gpu_pcie", expected=type(expected)(NODE, expected.profile, run=run)).verdict is Verdict.PASS
