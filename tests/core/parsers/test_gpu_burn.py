"""gpu-burn's output."""

import gzip
from pathlib import Path

import pytest

from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.parsers.gpu_burn import Burn, parse
from tests.core.checks.judging import text_of

OK = text_of("gpu_burn/ok.txt")


def test_a_finished_run_reads_as_it_is() -> None:
    """Speed and errors are those of the last progress line."""
    assert parse(OK) == Burn((False, False), (51300, 51210), (0, 0))


def test_a_faulty_gpu_is_named_with_its_errors() -> None:
    """`4130  (WARNING!)` is a count."""
    assert parse(text_of("gpu_burn/faulty.txt")) == Burn((False, True), (51300, 51210), (0, 4130))


def test_a_captured_run_on_eight_gpus_is_read(samples: Path) -> None:
    """Real carriage returns, 196 progress lines, and zeros in the first ones."""
    with gzip.open(samples / "gpu" / "superbench_gpu_burn.log.gz", "rt", encoding="utf-8", newline="") as file:
        found = parse(file.read())
    assert found.faulty == (False,) * 8
    assert found.gflops == (16942, 17093, 16957, 16926, 16890, 16950, 17010, 16926)
    assert found.errors == (0,) * 8


def test_without_a_whole_progress_line_speed_is_unknown() -> None:
    """The end of a long output may begin in the middle of a line."""
    assert parse(OK[OK.index("Killing") :]).gflops == ()
    assert parse(OK.replace("temps:", "")).gflops == ()


@pytest.mark.parametrize("gone", ["Tested 2 GPUs:", "\tGPU 1: OK\n", "OK\n"])
def test_a_summary_that_is_not_whole_is_refused(gone: str) -> None:
    """Every GPU that it tested must be named."""
    with pytest.raises(EvidenceError, match="gpu-burn"):
        parse(OK.replace(gone, ""))


def test_a_summary_of_no_gpu_is_refused() -> None:
    """Nothing tested is nothing known."""
    with pytest.raises(EvidenceError, match="0 GPUs"):
        parse("Tested 0 GPUs:\n")
