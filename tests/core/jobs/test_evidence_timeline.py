"""A job's evidence on a line of time."""

import pytest

from fleet_runner.core.jobs.evidence_timeline import LANES, LEFT, NOWHERE, WIDTH, evidence_timeline
from tests.core.jobs.made import BEGUN, ENDED, fallen


def test_nothing_is_drawn_of_what_has_no_time() -> None:
    assert evidence_timeline([], BEGUN, ENDED) is None
    assert evidence_timeline([fallen(at=None).to_json(), {"at": "soon"}], BEGUN, ENDED) is None


def test_each_node_has_a_lane_and_time_goes_from_left_to_right() -> None:
    cause = fallen(ENDED - 600, blur=300.0).to_json()
    symptom = {"at": ENDED, "role": "symptom", "node": "gpu-02", "code": "job.nccl", "message": "it waits"}
    whose = {"at": ENDED - 60}
    found = evidence_timeline([cause, symptom, whose, {"at": None}], BEGUN, ENDED)
    assert found is not None
    assert [each.words for each in found.lanes] == ["gpu-01", "gpu-02", NOWHERE]
    first, second, third = found.marks
    assert LEFT < first.x < third.x < second.x < WIDTH
    assert first.y < second.y < third.y < found.height
    assert (first.role, first.words) == ("cause", "xid.79: gpu-01: GPU 3 has fallen off the bus")
    assert 0 < first.blur <= first.x - LEFT
    assert found.bar == (LEFT, second.x)
    assert found.left_out == 0
    assert [each.words for each in found.ticks][-1] == "end"
    assert "5 min before" in [each.words for each in found.ticks]


def test_of_a_job_that_runs_or_that_ended_at_once_there_is_a_picture_too() -> None:
    found = evidence_timeline([fallen(BEGUN + 5).to_json()], BEGUN, None)
    assert found is not None
    assert found.bar[1] == found.marks[0].x
    assert found.ticks[0].words == "last event"
    late = evidence_timeline([fallen(ENDED + 50).to_json()], BEGUN, ENDED)
    assert late is not None
    assert any(each.words.endswith("after") for each in late.ticks)


@pytest.mark.parametrize("days", [0.01, 1, 30, 4_000])
def test_there_are_few_ticks_however_long_it_took(days: float) -> None:
    found = evidence_timeline([fallen(ENDED - days * 86_400).to_json()], 0.0, ENDED)
    assert found is not None
    assert 1 <= len(found.ticks) <= 8


def test_more_nodes_than_a_picture_has_room_for_are_counted() -> None:
    found = evidence_timeline(
        [fallen(ENDED - at, node=f"gpu-{at:03}").to_json() for at in range(LANES + 5)], BEGUN, ENDED
    )
    assert found is not None
    assert (len(found.lanes), len(found.marks), found.left_out) == (LANES, LANES, 5)
