"""Copies to, from, between and within the GPUs."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.catalogue import gpu_bandwidth
from fleet_runner.core.checks.check import Order
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import NODE, SMI, judged, remedies
from tests.core.checks.healthy import text_of
from tests.core.checks.healthy.active_gpu import PROFILE as ACTIVE
from tests.core.checks.healthy.active_gpu import ended

GOOD = text_of("nvbandwidth/v0.8_two.txt")
MARKS = ACTIVE["active"]["gpu_bandwidth"]
GPUS = 8


def expecting(gpus: int = 2, **marks: Any) -> Expected:
    """Return what is expected of so many GPUs; without marks, those of an H100."""
    return Expected(NODE, {"parts": {"gpu": {"count": gpus}}, "active": {"gpu_bandwidth": marks or MARKS}})


def copied(text: str = GOOD, expected: Expected | None = None, /, **state: Any) -> Result:
    """Judge a report."""
    return judged("gpu_bandwidth", {"gpu_bandwidth_job": ended(text, **state)}, expected or expecting())


def between(rates: dict[frozenset[int], float]) -> str:
    """Return a report of eight GPUs that copy to each other at 390 GB/s, but for some pairs."""
    rows = "".join(
        f"{row} {' '.join(str(rates.get(frozenset({row, column}), 390.0)) for column in range(GPUS))}\n"
        for row in range(GPUS)
    )
    numbers = " ".join(map(str, range(GPUS)))
    test = "device_to_device_memcpy_write_ce"
    return f"nvbandwidth Version: v0.4\nRunning {test}.\nbandwidth (GB/s)\n{numbers}\n{rows}\n"


@given(slow=st.sets(st.integers(0, GPUS - 1), min_size=1, max_size=2))
def test_a_gpu_whose_links_are_slow_is_named_and_its_neighbours_are_not(slow: set[int]) -> None:
    """All pairs with it are slow: that is one fault each, not fourteen."""
    rates = {frozenset({one, other}): 200.0 for one, other in combinations(range(GPUS), 2) if {one, other} & slow}
    result = copied(between(rates), expecting(GPUS, device_to_device_gbps_min=335))
    assert sorted(finding.component for finding in result.findings) == sorted(f"GPU {gpu}" for gpu in slow)
    assert remedies(result) == {"gpu_bandwidth.device_to_device": Remedy.TRIAGE}


def test_one_slow_pair_blames_both() -> None:
    """Nobody knows which end it is."""
    result = copied(between({frozenset({2, 5}): 100.0}), expecting(GPUS, device_to_device_gbps_min=335))
    [finding] = result.findings
    assert finding.component == "GPU 2 and GPU 5"
    assert finding.message.startswith("GPU 2 and GPU 5 copies between GPUs at 100.0 GB/s, expected 335 or more")


def test_a_slow_gpu_is_named_by_its_address() -> None:
    """Its slot may hold it badly."""
    result = copied(GOOD.replace("55.31     55.28", "55.31     27.90"))
    assert remedies(result) == {"gpu_bandwidth.host_to_device": Remedy.TRIAGE}
    assert result.message == (
        "GPU 0000:9b:00.0 copies from the host at 27.9 GB/s, expected 48 or more (the node's median is 41.6)"
    )
    assert "GPU 0000:9b:00.0" in result.findings[0].steps[0]
    assert result.observed["gpus"]["GPU 0000:9b:00.0"] == {
        "host_to_device": 27.9, "device_to_host": 55.57, "device_to_device": 390.87,
    }  # fmt: skip


def test_without_addresses_nvidia_smi_names_the_gpu() -> None:
    """Early versions tell only models."""
    text = text_of("nvbandwidth/v0.2_two.txt")
    wanted = expecting(2, host_to_device_gbps_min=24.9)
    texts = {"gpu_bandwidth_job": ended(text), "nvidia_smi": SMI}
    assert judged("gpu_bandwidth", texts, wanted).findings[0].component == "GPU 0000:9b:00.0"
    assert copied(text, wanted).findings[0].component == "GPU 1"
    assert copied(text, expecting(2, host_to_device_gbps_min=21)).verdict is Verdict.PASS


def test_all_gpus_slow_is_the_node() -> None:
    """Its settings, most likely."""
    result = copied(GOOD.replace("55.31     55.28", "12.31     12.28"))
    assert [finding.component for finding in result.findings] == ["GPUs"]
    assert "all copies from the host are slow: 12.3 GB/s is usual" in result.message


def test_a_gpu_behind_its_neighbours_is_watched_though_it_passes() -> None:
    """Where the profile asks for that."""
    text = GOOD.replace("55.31     55.28", "70.00     49.00")
    assert copied(text).verdict is Verdict.PASS
    result = copied(text, expecting(2, **MARKS, share_min=0.9))
    assert remedies(result) == {"gpu_bandwidth.behind": Remedy.WATCH}
    assert "82% of the node's median, expected at least 90%" in result.message


def test_changed_data_fails_whatever_the_tool_exits_with() -> None:
    """It ends itself once it sees it."""
    text = GOOD + " Invalid value when checking the pattern at <0x7f0000000000>\n"
    assert remedies(copied(text, rc=1)) == {"gpu_bandwidth.wrong": Remedy.TRIAGE}


@pytest.mark.parametrize(
    ("text", "state", "why"),
    [
        ("", {"rc": 127}, "it exited with 127"),
        ("", {}, "no report of nvbandwidth"),
        ("", {"state": "lost"}, "gone without an end"),
        (GOOD + "ERROR: x\n", {"rc": 1}, "it exited with 1, last output: ERROR: x; expected 0; its output: ERROR: x"),
        (GOOD, {"rc": 1}, "it exited with 1"),
        (GOOD[: GOOD.index("Running device_to_device")], {}, "between GPUs were measured on 0 of 1 pairs of GPUs"),
        (GOOD.replace("55.62", "N/A") + "Error: x\n", {}, "to the host were measured on 1 of 2 GPUs (Error: x)"),
    ],
)
def test_half_a_measurement_is_unknown(text: str, state: dict[str, Any], why: str) -> None:
    """A tool that failed says nothing about hardware."""
    result = copied(text, **state)
    assert result.verdict is Verdict.UNKNOWN
    assert why in result.message


def test_where_nothing_is_asked_nothing_is_known() -> None:
    """Nor is anything run."""
    result = copied(GOOD, expecting(2, seconds=30))
    assert (result.verdict, "asks for nothing" in result.message) == (Verdict.UNKNOWN, True)
    with pytest.raises(EvidenceError, match="asks for nothing"):
        gpu_bandwidth.order(expecting(2, seconds=30))
    with pytest.raises(EvidenceError, match="found sideways, expected some of host_to_device"):
        gpu_bandwidth.order(expecting(2, ways=["sideways"]))


def test_a_way_can_be_measured_before_there_is_a_mark() -> None:
    """So that one can be learned."""
    wanted = expecting(2, ways=["host_to_device"], device_to_host_gbps_min=48)
    result = copied(GOOD, wanted)
    assert result.verdict is Verdict.PASS
    assert result.message.endswith("as they should: host_to_device (no pass mark), device_to_host")
    assert gpu_bandwidth.order(wanted).argv[-2:] == ("host_to_device_memcpy_ce", "device_to_host_memcpy_ce")


def test_the_order_runs_the_tests_that_have_a_mark() -> None:
    """Unless the profile knows better."""
    tests = ("host_to_device_memcpy_ce", "device_local_copy")
    found = gpu_bandwidth.order(expecting(2, local_copy_gbps_min=1, host_to_device_gbps_min=2))
    assert found == Order(("env", "CUDA_DEVICE_ORDER=PCI_BUS_ID", "nvbandwidth", "-t", *tests), 60.0)
    assert gpu_bandwidth.order(expecting(2, argv="nvb", seconds=5)) == Order(("nvb",), 5.0)


def test_a_measurement_that_runs_is_work() -> None:
    """Its answer comes."""
    assert copied("", state="running").observed["working"] is True


def test_the_captured_report_passes_marks_that_it_reaches(samples: Path) -> None:
    """Edited values of a Grace Hopper; cutting it never fails."""
    text = (samples / "gpu" / "superbench_nvbandwidth.log").read_text(encoding="utf-8")
    wanted = expecting(1, host_to_device_gbps_min=250, device_to_host_gbps_min=250)
    assert copied(text, wanted).verdict is Verdict.PASS
    for end in range(0, len(text), 31):
        assert copied(text[:end], wanted).verdict is not Verdict.FAIL
