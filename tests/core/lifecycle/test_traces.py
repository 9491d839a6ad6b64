"""A run as a trace: its spans lie within it, its ids stay, and nothing that a node said is in it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.runs import Outcome, Run, Stored
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.lifecycle.traces import LONGEST, Times, spans

RUN = Run(7, "gpu-1", Stage.VERIFY, 1, "v-1", 100.0, reason="as planned", ended_at=160.0, outcome=Outcome.PASSED)
ANSWER = Stored(1, 7, "gpu-1", Stage.VERIFY, 130.0, Result("xid", Verdict.FAIL, "secret words of a node"))


def test_a_run_has_a_span_with_its_play_and_the_time_it_waited() -> None:
    whole, waiting, play = spans(RUN, Times(110.0, 150.0), [ANSWER])
    assert (whole.began, whole.ended, whole.parent, whole.failed) == (100.0, 160.0, None, False)
    assert (waiting.name, waiting.began, waiting.ended) == ("waiting", 100.0, 110.0)
    assert (play.name, play.began, play.ended) == ("play", 110.0, 150.0)
    assert {waiting.parent, play.parent} == {whole.id}
    assert {span.trace for span in (whole, waiting, play)} == {whole.trace}
    assert whole.facts["fleet.reason"] == "as planned"
    (mark,) = play.marks
    assert (mark.name, mark.at, mark.facts["fleet.verdict"]) == ("xid", 130.0, "FAIL")
    assert "secret" not in repr((whole, waiting, play))


def test_where_nobody_knows_when_the_play_began_it_is_the_whole_run() -> None:
    whole, play = spans(RUN, Times(), [replace(ANSWER, at=20.0)])
    assert (play.began, play.ended, play.marks) == (whole.began, whole.ended, ())


def test_an_open_run_is_no_trace() -> None:
    assert spans(replace(RUN, ended_at=None, outcome=None), Times(), []) == ()
    assert spans(replace(RUN, outcome=None), Times(), []) == ()


def test_a_run_without_a_verdict_is_an_error() -> None:
    assert spans(replace(RUN, outcome=Outcome.LOST), Times(), [])[0].failed


def test_the_same_run_has_the_same_ids_and_another_has_others() -> None:
    assert spans(RUN, Times(), []) == spans(RUN, Times(), [])
    other = spans(replace(RUN, node="gpu-2"), Times(), [])
    assert other[0].trace != spans(RUN, Times(), [])[0].trace


def test_a_reason_is_cut_and_made_harmless() -> None:
    facts = spans(replace(RUN, reason="\u202e\x1b[31m" * 200), Times(), [])[0].facts
    assert len(facts["fleet.reason"]) == LONGEST
    assert "\x1b" not in facts["fleet.reason"]


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(0, 1e9) | st.none(), st.floats(0, 1e9) | st.none(), st.text())
def test_children_lie_within_whatever_the_clocks_say(
    opened: float, ended: float, began: float | None, over: float | None, node: str
) -> None:
    whole, *children = spans(replace(RUN, node=node, opened_at=opened, ended_at=ended), Times(began, over), [])
    assert whole.began <= whole.ended
    for child in children:
        assert whole.began <= child.began <= child.ended <= whole.ended
        assert 0 < child.id < 1 << 64
    assert 0 < whole.trace < 1 << 128
