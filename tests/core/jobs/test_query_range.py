"""Answers of Prometheus that somebody saved."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.jobs.query_range import take
from fleet_runner.core.jobs.rank_times import SECONDS, Measure, RankTimes, Whose


def answer(*result: Any, kind: str = "matrix") -> str:
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": list(result)}})


def one(labels: dict[str, str], *values: str) -> dict[str, Any]:
    return {"metric": labels, "values": [[1_700_000_000 + number, each] for number, each in enumerate(values)]}


def taken(text: str) -> dict[tuple[Measure, Whose], list[float]]:
    times = RankTimes()
    take(text, times, "steps")
    return {key: list(values) for key, values in times.series.items()}


@pytest.mark.parametrize(
    ("labels", "measure", "whose", "scale"),
    [
        ({"instance": "gpu-07:9400"}, Measure("steps"), Whose(None, "gpu-07"), 1.0),
        ({"node": "gpu-07", "instance": "10.0.0.1:9400", "rank": "12"}, Measure("steps"), Whose(12, "gpu-07"), 1.0),
        ({"__name__": "train_step_seconds", "host": "a"},
         Measure("train_step_seconds", is_step=True), Whose(None, "a"), 1.0),
        ({"__name__": "forward_ms", "host": "a", "gpu": "3"}, Measure("forward_ms"), Whose(None, "a", "3"), 1e-3),
        ({"__name__": "DCGM_FI_DEV_SM_CLOCK", "Hostname": "a", "gpu": "3"},
         Measure("DCGM_FI_DEV_SM_CLOCK", "", is_low=True), Whose(None, "a", "3"), 1.0),
        ({"rank": "-1"}, Measure("steps"), Whose(), 1.0),
    ],
)  # fmt: skip
def test_labels_say_whose_it_is(labels: dict[str, str], measure: Measure, whose: Whose, scale: float) -> None:
    assert taken(answer(one(labels, "2", "NaN", "4"))) == {(measure, whose): [2 * scale, 4 * scale]}


def test_values_are_kept_with_their_moments() -> None:
    """In UTC."""
    times = RankTimes()
    take(answer(one({"node": "a"}, "2", "NaN", "4")), times, "steps")
    (history,) = times.histories.values()
    assert (history.label, history.points(0.0)) == ("", [(1_700_000_000.0, 2.0), (1_700_000_002.0, 4.0)])
    entry = {"metric": {"node": "a"}, "values": [["NaN", "1"], [None, "2"]]}
    assert taken(answer(entry)) == {}


def test_one_value_of_a_query_is_taken_too() -> None:
    assert taken(answer({"metric": {"node": "a"}, "value": [1.0, "2.5"]}, kind="vector")) == {
        (Measure("steps", SECONDS), Whose(None, "a")): [2.5]
    }


def test_values_that_are_none_are_left_out() -> None:
    entry = {"metric": {"node": "a"}, "values": [[1, "x"], [2], 3, {}, [4, None], [5, "+Inf"], [6, "7"]]}
    assert list(taken(answer(entry)).values()) == [[7.0]]
    assert taken(answer({"metric": {"node": "a"}, "values": 5})) == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"resultType": ', "it is no whole JSON"),
        ("[]", "of type None, expected a matrix"),
        ('{"data": {"resultType": "matrix"}}', "expected a matrix"),
        (answer(kind="scalar"), "of type scalar, expected a matrix"),
        (answer(), "without any series; look at the query and its time"),
        (answer({"values": []}), "a series has no labels"),
    ],
)
def test_what_is_none_is_told(text: str, told: str) -> None:
    with pytest.raises(EvidenceError, match=told):
        taken(text)


@given(st.integers(0, 200))
def test_an_answer_that_was_cut_is_refused(at: int) -> None:
    whole = answer(one({"node": "gpu-01"}, "1.5", "2.5"))
    if at < len(whole):
        with pytest.raises(EvidenceError):
            taken(whole[:at])
