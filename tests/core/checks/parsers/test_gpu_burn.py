"""gpu-burn's output."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.gpu_burn import Burn, Progress, parse, progress
from tests.core.checks.catalogue.judging import text_of

OK = text_of("gpu_burn/ok.txt")
WARM = (58, 60)
ALIVE = (False, False)


@given(lines=st.lists(st.sampled_from([*OK.splitlines(), "50.0%  proc'd: 1 (2 Gflop/s)   errors: 0   temps: 1 C"])))
def test_lines_in_any_order_are_read_or_refused(lines: list[str]) -> None:
    """And what could be told of each GPU is told of all or of none."""
    try:
        found = parse("\n".join(lines))
    except EvidenceError:
        return
    counts = {len(each) for each in (found.gflops, found.errors, found.celsius, found.died)}
    assert counts in ({0}, {len(found.faulty)})
    assert len(found.numbers) == len(found.faulty)


def test_a_finished_run_reads_as_it_is() -> None:
    """Temperatures are those of the last progress line."""
    assert parse(OK) == Burn((False, False), (51300, 51210), (0, 0), WARM, ALIVE, (0, 1))


def test_a_faulty_gpu_is_named_with_its_errors() -> None:
    """`4130  (WARNING!)` is a count."""
    found = parse(text_of("gpu_burn/faulty.txt"))
    assert (found.faulty, found.errors) == ((False, True), (0, 4130))


def test_errors_that_a_later_line_no_longer_counts_are_kept() -> None:
    """The tool counts anew after each of its summaries."""
    text = text_of("gpu_burn/faulty.txt").replace("errors: 0 - 0 ", "errors: 0 - 9  (WARNING!) ")
    assert parse(text.replace("4130  (WARNING!)", "0")).errors == (0, 9)


def test_a_captured_run_on_eight_gpus_is_read(samples: Path) -> None:
    """Real carriage returns, 196 progress lines, and zeros in the first ones."""
    with gzip.open(samples / "gpu" / "superbench_gpu_burn.log.gz", "rt", encoding="utf-8", newline="") as file:
        text = file.read()
    found = parse(text)
    assert found.faulty == (False,) * 8
    assert all(16_500 < rate < 17_500 for rate in found.gflops)
    assert found.errors == (0,) * 8
    assert found.celsius is not None
    last = progress(text)
    assert last is not None
    assert last.percent == 100.0
    assert last.gflops == (16942, 17093, 16957, 16926, 16890, 16950, 17010, 16926)


def test_a_speed_is_the_usual_one_of_late() -> None:
    """One GPU that was slow in a single line is not slow."""
    line = "100.0%  proc'd: 9 (51300 Gflop/s) - 9 (100 Gflop/s)   errors: 0 - 0   temps: 58 C - 60 C \n"
    good = line.replace("(100 ", "(51210 ")
    assert parse(good * 9 + line + OK).gflops == (51300, 51210)


def test_the_first_lines_of_a_short_run_do_not_count() -> None:
    """A GPU takes a moment to raise its clocks."""
    assert parse(OK.replace("655 (51300", "655 (9000")).gflops == (51300, 51210)


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


def test_the_one_gpu_that_was_chosen_has_its_own_number() -> None:
    """`gpu_burn -i 5` calls it 0 in its summary."""
    text = "Initialized device 5 with 81251 MB of memory\nTested 1 GPUs:\n\tGPU 0: OK\n"
    assert parse(text).numbers == (5,)


def test_what_a_dead_client_counts_is_no_error() -> None:
    """The tool prints what lay in its memory, another number in each line; what it counted before is kept."""
    died = (
        "9%  proc'd: -1 (90 Gflop/s) - 7 (90 Gflop/s)   errors: 1641686072  (DIED!)- 3  (WARNING!)  temps: -- - --\n"
    )
    found = parse(died * 2 + OK[OK.index("Killing") :])
    assert (found.errors, found.died) == ((0, 3), (True, False))
    before = died.replace("-1 (90", "5 (90").replace("1641686072  (DIED!)", "-41  (WARNING!)")
    assert parse(before + died + OK[OK.index("Killing") :]).errors == (-41, 3)


@pytest.mark.parametrize("said", ["Couldn't init a GPU test: Error in ", "Failure during compute: Error"])
def test_a_run_whose_clients_all_died_says_what_they_said(said: str) -> None:
    """Its last words, that none is alive, say less."""
    with pytest.raises(EvidenceError, match=f"no summary .*; its output: {said[:20]}"):
        parse(f"GPU 0: x\n{said}\n\nNo clients are alive!  Aborting\n")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("9%  proc'd: -1 (0 Gflop/s) - 8 (4 Gflop/s) - 8 (4 Gflop/s) errors: 7  (DIED!)- -5  (WARNING!)- 0 temps: ",
         Progress(9.0, (0, 4, 4), (7, -5, 0), (None, None, None), (True, False, False))),
        ("9%  proc'd: 5 (1 Gflop/s) (DIED!) - 8 (4 Gflop/s)  errors: 0 - 0   temps: -- - 9 C",
         Progress(9.0, (1, 4), (0, 0), (None, 9), (True, False))),
        ("12.5%  proc'd: 1 (2 Gflop/s)   errors: 0   temps: 58 C ", Progress(12.5, (2,), (0,), (58,), (False,))),
        ("\tproc'd: 1 (2.6 GFLOP/s) / 3 (4 Gflop/s)   errors: 0 / 7  (WARNING!)   temps: -- / 9 C",
         Progress(None, (2, 4), (0, 7), (None, 9), (False, False))),
        ("3%  proc'd: 1 (2 Gflop/s) - -1 (0 Gflop/s)   errors: 0 - -1  (DIED!)  temps: 5 C - --",
         Progress(3.0, (2, 0), (0, -1), (5, None), (False, True))),
        ("3%  proc'd: 1 (2 Gflop/s)   errors: 0   temps: 5 C - 6 C", Progress(3.0, (2,), (0,), (None,), (False,))),
        ("3%  proc'd: 1 (2 Gflop/s) - 3 (4 Gflop/s)   errors: 0   temps: 5 C", None),
        ("3%  proc'd: 1 (2 Gflop/s)   errors: many   temps: 5 C", None),
        ("3%  proc'd:   errors:    temps: ", None),
        ("Results are 268435456 bytes each", None),
        ("", None),
    ],
)  # fmt: skip
def test_progress_lines_of_several_builds_are_read(line: str, found: Progress | None) -> None:
    """With other separators, no temperatures, decimals, and GPUs that died."""
    assert progress(f"before\n{line}\nafter") == found
