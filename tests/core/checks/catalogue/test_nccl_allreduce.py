"""The all-reduce within a node."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue import nccl_allreduce
from fleet_runner.core.checks.check import Order
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import NODE, judged, remedies
from tests.core.checks.healthy import text_of
from tests.core.checks.healthy.active_gpu import ended

GOOD = text_of("nccl_tests/h100_two.txt")


def expecting(gpus: int = 2, mark: float = 460, **more: Any) -> Expected:
    """Return what is expected of so many GPUs."""
    wanted = {"bus_gbps_min": mark, **more}
    return Expected(NODE, {"parts": {"gpu": {"count": gpus}}, "active": {"nccl_allreduce": wanted}})


def reduced(text: str = GOOD, expected: Expected | None = None, /, **state: Any) -> Result:
    """Judge a test's output."""
    return judged("nccl_allreduce", {"nccl_allreduce_job": ended(text, **state)}, expected or expecting())


@given(mark=st.floats(1, 1000))
def test_the_best_large_size_is_held_against_the_mark(mark: float) -> None:
    """478.65 is the mean of out of place and in place at 2 GiB."""
    result = reduced(GOOD, expecting(mark=mark))
    assert result.verdict is (Verdict.PASS if mark <= 478.65 else Verdict.FAIL)
    assert result.observed["bus_gbps"] == 478.65


def test_the_captured_sweep_of_eight_a100_passes_its_systems_mark(samples: Path) -> None:
    """228 GB/s; values were not compared, and the answer says so."""
    text = (samples / "gpu" / "superbench_nccl_allreduce_a100.log").read_text(encoding="utf-8")
    result = reduced(text, expecting(8, 228))
    assert result.verdict is Verdict.PASS
    assert result.message.endswith("235.1 GB/s of bus bandwidth, expected 228 or more, values not compared")
    assert reduced(text, expecting(8, 460)).verdict is Verdict.FAIL
    asked = reduced(text, expecting(8, 228, compare=True))
    assert (asked.verdict, "compared no values" in asked.message) == (Verdict.UNKNOWN, True)
    for end in range(0, len(text), 97):
        assert reduced(text[:end], expecting(8, 228)).verdict is not Verdict.FAIL


def test_without_a_mark_the_number_is_kept_to_learn_one() -> None:
    """Values are looked at all the same."""
    bare = Expected(NODE, {"parts": {"gpu": {"count": 2}}, "active": {"nccl_allreduce": {}}})
    result = reduced(GOOD, bare)
    assert (result.verdict, result.observed["bus_gbps"]) == (Verdict.PASS, 478.65)
    assert "no pass mark is given" in result.message


def test_a_slow_fabric_fails() -> None:
    """Nobody knows yet which GPU it is."""
    result = reduced(GOOD, expecting(mark=480))
    assert remedies(result) == {"nccl_allreduce.slow": Remedy.TRIAGE}
    assert result.message == "the GPUs reduce at 478.6 GB/s of bus bandwidth, expected 480 or more"
    assert result.findings[0].component == "GPUs"


@pytest.mark.parametrize("state", [{}, {"rc": 1}])
def test_wrong_values_are_silent_corruption_whatever_the_tool_exits_with(state: dict[str, int]) -> None:
    """It exits with 1 to say so."""
    text = GOOD.replace("467.31       0", "467.31       3").replace("values : 0 OK", "values : 1 FAILED")
    result = reduced(text, **state)
    assert remedies(result) == {"nccl_allreduce.wrong": Remedy.TRIAGE}
    assert "3 values" in result.message
    cut = text[: text.index("  1073741824")]
    assert reduced(cut, rc=134).verdict is Verdict.FAIL


def test_wrong_values_that_the_sum_does_not_count_are_garble() -> None:
    """Lines of several processes that run into each other move a row's columns."""
    result = reduced(GOOD.replace("467.31       0", "467.31       3"))
    assert result.verdict is Verdict.UNKNOWN
    assert "rows count 3 wrong values, its sum none" in result.message


def test_out_of_bounds_count_where_rows_do_not() -> None:
    """Early versions print an error's size in the row."""
    text = GOOD.replace("values : 0 OK", "values : 2 FAILED")
    assert remedies(reduced(text)) == {"nccl_allreduce.wrong": Remedy.TRIAGE}


@pytest.mark.parametrize(
    ("text", "state", "why"),
    [
        (text_of("nccl_tests/crashed.txt"), {"rc": 3}, "NCCL said: gpu-01:41233:41312 [1] misc/strongstream.cc:53"),
        (text_of("nccl_tests/crashed.txt"), {}, "did not come to its end"),
        (GOOD, {"rc": 2}, "it exited with 2"),
        ("", {"rc": 127}, "it exited with 127"),
        ("", {}, "no output of nccl-tests"),
        ("", {"state": "lost"}, "gone without an end"),
        ("", {"rc": 124, "elapsed": 999}, "it hung"),
        (text_of("nccl_tests/two_nodes.txt"), {}, "ran over 2 nodes"),
        (
            GOOD.replace("  1073741824", "   107374182").replace("  2147483648", "   214748364"),
            {},
            "largest size was",
        ),
    ],
)
def test_half_a_test_is_unknown(text: str, state: dict[str, Any], why: str) -> None:
    """A crash is not yet a broken GPU, and another size of test has another mark."""
    result = reduced(text, **state)
    assert result.verdict is Verdict.UNKNOWN
    assert why in result.message


def test_a_test_on_fewer_gpus_is_unknown_however_slow() -> None:
    """The mark is the whole system's."""
    result = reduced(GOOD, expecting(8, 1000))
    assert (result.verdict, result.message) == (
        Verdict.UNKNOWN, "the test ran on 2 GPUs, expected 8; look at parts_gpu"
    )  # fmt: skip


def test_a_test_that_runs_tells_how_far_it_is() -> None:
    """The largest size so far."""
    half = GOOD[: GOOD.index("  2147483648")]
    assert reduced(half, state="running").observed["bytes"] == 1073741824
    assert "bytes" not in reduced("x", state="running").observed
    assert "bytes" not in reduced(GOOD[: GOOD.index("   536870912")], state="running").observed


def test_the_order_sweeps_large_sizes_on_all_gpus() -> None:
    """Unless the profile knows better."""
    by_pci = ("env", "CUDA_DEVICE_ORDER=PCI_BUS_ID")
    words = (*by_pci, "all_reduce_perf", "-b", "1G", "-e", "8G", "-f", "2", "-g", "8", "-c")
    assert nccl_allreduce.order(expecting(8)) == Order((*words, "1"), 120.0)
    assert nccl_allreduce.order(expecting(8, compare=False)) == Order((*words, "0"), 120.0)
    own = expecting(8, argv=["mpirun", "x"], seconds=60)
    assert nccl_allreduce.order(own) == Order(("mpirun", "x"), 60.0)
    assert "16G" in nccl_allreduce.order(expecting(8, bytes="16G")).argv
