"""What happened to a node as one list: in order, in pages, each line once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.runs import Entry, Stored
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.lifecycle.timeline import (
    FILTERS,
    FINDINGS,
    HISTORY,
    Cursor,
    Line,
    cursor,
    of_entry,
    of_result,
    shown,
)

LINES = st.lists(
    st.builds(
        Line,
        st.sampled_from([1.0, 2.0, 3.5]),
        st.sampled_from([HISTORY, FINDINGS]),
        st.integers(1, 99),
        kind=st.just("run"),
        sentence=st.text(max_size=3),
        by=st.just("runner"),
    ),
    unique_by=lambda line: (line.source, line.id),
    max_size=30,
)


def behind(lines: list[Line], at: Cursor) -> list[Line]:
    """What a store returns behind a cursor."""

    def older(line: Line) -> bool:
        below = at.below(line.source)
        return line.at < at.at or (line.at == at.at and (below is None or line.id < below))

    return [line for line in lines if older(line)]


@given(lines=LINES, limit=st.integers(1, 5))
def test_pages_hold_every_line_once_and_in_order(lines: list[Line], limit: int) -> None:
    seen: list[Line] = []
    page = shown(lines, limit)
    while True:
        seen += page.lines
        if page.older is None:
            break
        again = cursor(str(page.older))
        assert again == page.older
        page = shown(behind(lines, page.older), limit)
    assert sum(line.seen for line in seen) == len(lines)
    moments = [line.at for line in seen]
    assert moments == sorted(moments, reverse=True)


@pytest.mark.parametrize(
    "text", ["", "x", "1.0", "1.0_0", "1.0_2_3", "nan_0_1", "inf_1_1", "1.0_0_-4", "a_0_1", "1.0_0_" + "9" * 30]
)
def test_what_is_no_cursor_is_none(text: str) -> None:
    assert cursor(text) is None


def test_a_finding_that_is_seen_again_and_again_is_said_once() -> None:
    seen = [Line(float(at), FINDINGS, at, "finding", "GPU 3 is gone", "", check="gpus") for at in range(1, 6)]
    other = Line(3.5, HISTORY, 1, "run", "GPU 3 is gone", "runner")
    (first, second) = shown([*seen, other]).lines
    assert (first.at, first.seen, first.first) == (5.0, 5, 1.0)
    assert second == other


def test_a_line_says_what_was_found_or_else_what_the_check_said() -> None:
    finding = Finding("gpu.lost", "GPU 3", "GPU 3 is gone", Remedy.REBOOT, "f")
    result = Result("gpus", Verdict.FAIL, "1 of 8 is gone", (finding, finding))
    line = of_result(Stored(7, 1, "gpu-01", Stage.VERIFY, 9.0, result))
    assert (line.sentence, line.result, line.by) == ("GPU 3 is gone; GPU 3 is gone", 7, "verify")
    bare = Stored(8, 1, "gpu-01", Stage.VERIFY, 9.0, Result("gpus", Verdict.FAIL, "1 of 8 is gone"))
    assert of_result(bare).sentence == "1 of 8 is gone"


def test_a_move_keeps_its_states() -> None:
    entry = Entry(3, "gpu-01", 9.0, "transition", "It moved.", "alice", State.TRIAGE, None, State.DEBUG)
    line = of_entry(entry)
    assert (line.state, line.to, line.by) == (State.TRIAGE, State.DEBUG, "alice")


def test_the_first_filter_leaves_nothing_out() -> None:
    assert (FILTERS[""].kinds, FILTERS[""].findings, FILTERS[""].people) == ((), True, False)
