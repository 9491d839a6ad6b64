"""Times of ranks, as frameworks write them behind the prefixes of launchers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs import rank_times
from fleet_runner.core.jobs.rank_times import Extreme, Measure, RankTimes, Whose
from fleet_runner.core.jobs.time_lines import BAR, RTT, SCORED, TimeLines

Told = dict[tuple[str, Whose], list[float]]


def read(*lines: str, rank: int | None = None) -> RankTimes:
    times = RankTimes()
    reader = TimeLines(times, 2026, rank)
    reader.feed("\n".join(lines))
    reader.end()
    told = bool(times.series or times.extremes or times.spreads)
    assert reader.found == told
    return times


def series(times: RankTimes) -> Told:
    return {(measure.name, whose): [round(each, 9) for each in values]
            for (measure, whose), values in times.series.items()}  # fmt: skip


@pytest.mark.parametrize("prefix", ["", " 3: ", "[1,3]<stdout>:", "[rank3]:", "[default3]:"])
def test_megatrons_timers_of_all_ranks(prefix: str) -> None:
    """Only those of a rank's own work; forward-backward holds the waiting for others, too."""
    lines = ("times across ranks (ms):", "  forward-backward:", "     rank  0: 900.00", "     rank  1: 900.10",
             "  forward-compute:", "     rank  0: 312.50", "     rank 11: 1,312.50", "  optimizer:")  # fmt: skip
    told = series(read(*(prefix + line for line in lines), "something else", "     rank  0: 1.00"))
    assert told == {("forward-compute", Whose(0)): [0.3125], ("forward-compute", Whose(11)): [1.3125]}


def test_megatrons_smallest_and_largest_times_name_nobody() -> None:
    times = read(
        "(min, max) time across ranks (ms):",
        "    forward-compute ................................: (250.00, 500.00)",
        "    optimizer ......................................: (4.00, 5.00)",
        "max time across ranks (ms):",
        "    forward-compute ................................: 500.00",
    )
    assert times.spreads == {Measure("forward-compute"): (0.25, 0.5)}
    assert times.series == {}


def test_megatrons_straggler_lines() -> None:
    head = " 0: INFO:megatron.core.utils:[2026-11-28 23:07:56] | MnRtt/Rnk: 3000.00ms/8 | MxRtt/Rnk: 4000.00ms/0 |"
    times = read(
        f"{head} MnPwr/Rnk: 601796W/8 | MnClk/Rnk: 1200.00MHz/0 | MxClk/Rnk: 1980MHz/3 | MnDRtt/Rnk: 14.27ms/23",
        head,
        "MnRtt/Rnk: 1.00ms/8",
        "MnRtt/Rnk: 0.00ms/8 | MxRtt/Rnk: 4.0ms/1",
    )
    assert list(times.extremes[RTT]) == [
        Extreme(Whose(0), 4.0, 3.0, (1200.0, 0, 1980.0)),
        Extreme(Whose(0), 4.0, 3.0),
    ]


def test_nvrx_reports_with_their_nodes() -> None:
    """The next one is the slowest of another node; what a rank was worth before counts nothing."""
    report = (
        "GPU relative performance:",
        " Worst performing 3/512 ranks:",
        "  Rank=76 Node=h100-012 Score=0.50",
        "  Rank=77 Node=h100-012 Score=0.60",
        "  Rank=45 Node=h100-026 Score=0.80",
        " Best performing 1/512 ranks:",
        "  Rank=432 Node=h100-027 Score=1.00",
    )
    after = ("", "GPU individual performance:", "  Rank=1 Node=h100-001 Score=0.10")
    expected = Extreme(Whose(76, "h100-012"), 2.0, 1.25)
    assert list(read(*report, *after, *report).extremes[SCORED]) == [expected, expected]
    assert read(*report[:4], *after).extremes == {}, "one node alone is beside none"
    assert read(report[0], "  Rank=1 Node=a Score=0.00", "  Rank=2 Node=b Score=0.50", "").extremes == {}


@pytest.mark.parametrize(
    ("line", "name", "whose", "value"),
    [
        ("[2023-06-21 07:39:09,443] [INFO] [logging.py:96:log_dist] [Rank 3] time (ms) | fwd_microstep: 27.50",
         "fwd_microstep", Whose(3), 0.0275),
        ("[2023-06-21 07:39:09,443] [INFO] [x.py:96:log_dist] [Rank 0] rank=0 time (ms) | forward: 27.41",
         "forward", Whose(0), 0.02741),
        ("[rank12]: data_time: 0.452", "data_time", Whose(12), 0.452),
        ("[1,7]<stdout>:compute time = 35.1 ms", "compute time", Whose(7), 0.0351),
        ("gpu-07: 2026-11-28 16:04:01,338 before-barrier time: 1.9 s",
         "before-barrier time", Whose(5, "gpu-07"), 1.9),
        ("forward_time_ms=1,250.5", "forward_time_ms", Whose(5), 1.2505),
        ("5: iteration 100/ 500 | elapsed time per iteration (ms): 9499.5 | lm loss: 7.3E+00",
         "elapsed time per iteration", Whose(5), 9.4995),
        ("2: Epoch 0: 7/15 [06:19<07:13, reduced_train_loss=11.50, train_step_timing in s=49.50]",
         "train_step_timing", Whose(2), 49.5),
        ("[rank0]:[titan] 2026-05-18 16:04:46,338 - root - INFO - step: 14  loss:  3.24  tps: 7,282  tflops: 0.52",
         "tps", Whose(0), 7282.0),
        ("1: 12%|# | 6/50 [00:07<06:50,  1.25s/it]", BAR.name, Whose(1), 1.25),
        ("1: 12%|# | 6/50 [00:07<06:50,  4.00it/s]", BAR.name, Whose(1), 0.25),
    ],
)  # fmt: skip
def test_lines_of_one_rank(line: str, name: str, whose: Whose, value: float) -> None:
    """The rank is the launcher's, the program's own word, or that of the file's name."""
    assert series(read(line, rank=5)) == {(name, whose): [value]}


def test_whose_a_time_is_may_not_be_told() -> None:
    """It still says how long a step takes."""
    times = read("iteration 1/ 5 | elapsed time per iteration (ms): 2000.0 |", "0.00it/s", "forward: 0.0 ms")
    assert series(times) == {("elapsed time per iteration", Whose()): [2.0]}


def test_times_are_kept_with_the_moment_of_their_line_or_of_the_last_one_before_them() -> None:
    """Rows of a report tell none; a line of PyTorch's C++ part tells no year, so it sets no clock."""
    times = read(
        "forward: 1.0 s",
        "2026-11-28 23:00:00 iteration 1/ 5 | elapsed time per iteration (ms): 2000.0 |",
        "times across ranks (ms):",
        "  forward-compute:",
        "     rank  0: 312.50",
        "[rank1]:[I1128 23:30:00.000 x.cpp:1] forward: 1.0 s",
        "[rank1]: 2026-11-28 23:01:00 forward: 1.0 s",
    )
    at = 1_795_906_800.0
    told = {whose: history.points(0.0) for (_, whose), history in times.histories.items()}
    assert told == {Whose(): [(at, 2.0)], Whose(0): [(at, 0.3125)], Whose(1): [(at, 1.0), (at + 60, 1.0)]}
    assert all(history.label == "" for history in times.histories.values())


def test_a_history_is_that_of_the_last_output_that_tells_of_a_rank() -> None:
    """An output of the attempt before tells nothing about this one."""
    times = RankTimes()
    for label in ("attempt_0", "attempt_1"):
        reader = TimeLines(times, 2026, 3, label=label)
        reader.feed("2026-11-28 23:00:00 forward: 1.0 s\n")
        reader.end()
    (history,) = times.histories.values()
    assert (history.label, len(history.points(0.0))) == ("attempt_1", 1)


def test_pipeline_stages_are_known() -> None:
    head = "using world size: 8, data-parallel size: 2, tensor-model-parallel size: 1, pipeline-model-parallel size:"
    assert read(f"{head} 4").has_stages
    assert read(f"{head} 4", f"{head} 1").has_stages
    assert not read(f"{head} 1").has_stages
    assert read("  pipeline_model_parallel_size .................... 2").has_stages


def test_words_that_only_look_alike_are_none() -> None:
    """Losses, lengths and memory; a rank's number is no time."""
    lines = ("backward: 44.0 ms", "fastforward: 3", "update_time: 3", "metadata_time: 4", "rank 3: 4.5", "tpsx: 4",
             "GPU absolute performance:", "time across the ranks (ms):", "Rank=3 Node=a Score=0.5")  # fmt: skip
    assert read(*lines) == RankTimes()


def test_no_more_is_kept_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_times, "MOST", 2)
    times = read(*(f"{rank}: forward: {value} ms" for value in range(1, 300) for rank in range(4)))
    assert [len(values) for values in times.series.values()] == [rank_times.KEPT] * 2
    assert next(iter(times.series.values()))[-1] == 0.299


PIECES = (
    "times across ranks (ms):", "  forward-compute:", "     rank  0: 3.5", "GPU relative performance:", "forward: ",
    "  Rank=1 Node=a Score=0.5", "| MnRtt/Rnk: 3ms/1 ", "| MxRtt/Rnk: 4ms/2 ", "\n", "9", "1.5s/it", "0: ",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=30))
def test_no_text_is_too_strange(pieces: list[str]) -> None:
    times = read("".join(pieces))
    assert all(value > 0 for values in times.series.values() for value in values)
