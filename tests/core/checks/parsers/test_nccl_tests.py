"""nccl-tests' output: the layouts of several versions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.nccl_tests import Rank, Row, parse
from tests.core.checks.healthy import text_of

NEW = text_of("nccl_tests/h100_two.txt")
HALF = "time   algbw   busbw #wrong"
HEADING = f"#       size         count      type   redop    root     {HALF}     {HALF}\n"


@given(lines=st.permutations(NEW.splitlines()), tag=st.sampled_from(["", "[1,0]<stdout>:", "0: ", " 0:  "]))
def test_lines_in_any_order_give_no_rate_that_was_not_printed(lines: list[str], tag: str) -> None:
    """A heading that comes late, or tags before each line, change no number."""
    found = parse("".join(f"{tag}{line}\n" for line in lines))
    assert {rate for row in found.rows for rate in row.bus_gbps} <= {467.31, 467.86, 475.56, 475.74, 478.57, 478.73}


def test_a_whole_test_reads_as_it_is() -> None:
    """Of a version that tells whole PCI addresses."""
    found = parse(NEW)
    assert found.ranks[1] == Rank(1, "gpu-01", 1, "0000:9b:00.0", "NVIDIA H100 80GB HBM3")
    assert found.rows[-1] == Row(2147483648, (478.57, 478.73), 0)
    assert (found.average_gbps, found.out_of_bounds, found.trouble) == (473.962, 0, ())


def test_the_captured_sweep_of_an_old_version_is_read(samples: Path) -> None:
    """No root, "error" in place of a count, a line of NCCL's in the middle, rows of size 0."""
    found = parse((samples / "gpu" / "superbench_nccl_allreduce_a100.log").read_text(encoding="utf-8"))
    assert len(found.ranks) == 8
    assert found.ranks[7] == Rank(7, "localhost", 7, "", "A100-SXM4-40GB")
    assert len(found.rows) == 34
    assert found.rows[-1] == Row(8589934592, (235.26, 235.03), None)
    assert found.average_gbps == 68.4048


def test_a_test_over_two_nodes_tells_its_hosts() -> None:
    """Values were not compared."""
    found = parse(text_of("nccl_tests/two_nodes.txt"))
    assert {rank.host for rank in found.ranks} == {"gpu-01", "gpu-02"}
    assert found.rows == (Row(1073741824, (46.66, 46.71), None),)


def test_a_test_that_crashed_keeps_what_it_said() -> None:
    """And has no end."""
    found = parse(text_of("nccl_tests/crashed.txt"))
    assert len(found.rows) == 1
    assert found.average_gbps is None
    assert found.out_of_bounds is None
    assert "uncorrectable ECC error" in found.trouble[0]
    assert len(found.trouble) == 3


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("1024 256 float sum -1 35.20 0.03 0.05 2 34.05 0.03 0.06 1e+02", Row(1024, (0.05, 0.06), 100)),
        ("1024 256 float sum -1 35.20 0.03 0.05 2", Row(1024, (0.05,), 2)),
        ("1024 256 float sum -1 35.20 nan nan N/A 34.05 0.03 0.06 N/A", None),
        ("1024 256 float sum -1 35.20 0.03 0.05 34.05 0.03 0.06 0 0", None),
        ("1024 256 float sum -1 35.20 fast 0.05 0 34.05 0.03 0.06 0", None),
        ("9" * 30 + " 256 float sum -1 35.20 0.03 0.05 0 34.05 0.03 0.06 0", None),
        ("1024 apples", None),
    ],
)
def test_rows_are_read_by_their_heading(row: str, found: Row | None) -> None:
    """What only looks like a row is none."""
    rows = parse(f"{HEADING}{row}\n# Out of bounds values : 0 OK\n").rows
    assert rows == ((found,) if found is not None else ())


def test_figures_of_each_iteration_are_passed_over() -> None:
    """Version 2.19 with -I 1."""
    times = "time algbw busbw #wrong i_min i_max i_p99 i_cv%"
    text = f"# size count type redop root {times} {times}\n1024 256 float sum -1 9 1 5 0 1 2 3 4 9 1 6 0 1 2 3 4\n"
    assert parse(text).rows == (Row(1024, (5.0, 6.0), 0),)


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ("1024 256 float sum -1 9 1 5 0 9 1 6 2", 2),
        ("1024 256 float sum 9 1 5 0 9 1 6 2", None),
        ("1024 256 float sum 9.5 1 5 34.05 9 1 6 99 12:30:05", None),
    ],
)
def test_rows_whose_heading_is_lost_are_read_by_their_length(row: str, wrong: int | None) -> None:
    """Only the end of a long output is kept; what early versions print last is an error's size, and no count."""
    assert parse(f"{row}\n").rows == (Row(1024, (5.0, 6.0), wrong),)


@pytest.mark.parametrize(("error", "wrong"), [("4e-07", 0), ("0e+00", 0), ("N/A", None)])
def test_the_size_of_an_error_says_that_values_were_compared(error: str, wrong: int | None) -> None:
    """Before version 2.11; how many were wrong only its sum tells."""
    half = "time   algbw   busbw  error"
    text = f"#   size   count   type   redop   {half}   {half}\n1024 256 float sum 9 1 5 {error} 9 1 6 {error}\n"
    assert parse(text).rows == (Row(1024, (5.0, 6.0), wrong),)


def test_half_a_line_at_the_end_is_passed_over() -> None:
    """A rate that was cut is another rate."""
    cut = NEW[: NEW.index("478.73") + 3]
    assert parse(cut).rows[-1].bytes == 1073741824


@pytest.mark.parametrize("text", ["", "bash: all_reduce_perf: command not found\n", "1 2 3\n"])
def test_anything_else_is_refused(text: str) -> None:
    """A missing tool measures nothing."""
    with pytest.raises(EvidenceError, match="no output of nccl-tests"):
        parse(text)
