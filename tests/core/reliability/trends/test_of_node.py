"""What is foreseen of one node: what stands, when a mark is crossed, its score, and parts that failed again."""

from dataclasses import replace

from fleet_runner.core.reliability.forecasts import Foresight, Kind, StoredForecast
from fleet_runner.core.reliability.trends.answers import Ahead, Days, Expected, Scored
from fleet_runner.core.reliability.trends.of_node import LINES, NEXT, ahead

CROSSES = {"crosses_in_days": 20.3, "crosses_soonest_days": 17.0, "crosses_latest_days": 24.2}
DRIFT = Foresight(Kind.TREND, "n1", "GPU 3", "It rises.", "gpu_core", "S1", CROSSES)
FAILURES = [{"at": float(at), "sentence": f"S{at} failed"} for at in range(9)]
SLOT = Foresight(Kind.SLOT, "n1", "GPU 5", "Three failed.", numbers={"lines": FAILURES, "failures": 9})
LEMONS = {
    "mark": 12.0,
    "lemons": [
        {"node": "n2", "points": 1.0, "suggested": False, "sentence": "of another"},
        {"node": "n1", "points": 14.5, "suggested": True, "sentence": "14.5 points", "lines": [{"sentence": "out"}]},
    ],
}
PARTS = {
    "slots": [{"node": "n1", "sentence": "Three failed."}, {"node": "n2", "sentence": "of another"}],
    "parts": [{"node": "n1", "sentence": "S7 failed in 2 nodes."}, "nonsense"],
}


def test_each_is_told_with_when_and_what_to_do() -> None:
    standing = [StoredForecast(2, SLOT, 5.0, 9.0), StoredForecast(1, DRIFT, 3.0, 9.0)]
    slot, drift = ahead("n1", standing, None, None).foreseen
    assert slot == Expected(Kind.SLOT, "GPU 5", "Three failed.", 5.0, failures=slot.failures)
    assert slot.failures == tuple(f"S{at} failed" for at in range(9 - LINES, 9))
    assert (drift.since, drift.metric, drift.serial, drift.failures) == (3.0, "gpu_core", "S1", ())
    assert (drift.mark_in, drift.next) == (Days(20.3, 17.0, 24.2), NEXT[Kind.TREND])


def test_a_node_has_its_score_and_parts_of_which_nothing_is_foreseen_now() -> None:
    found = ahead("n1", [StoredForecast(2, SLOT, 5.0, 9.0)], LEMONS, PARTS)
    assert found.lemon == Scored(14.5, 12.0, suggested=True, sentence="14.5 points", lines=("out",))
    assert found.parts == ("S7 failed in 2 nodes.",)


def test_where_there_is_nothing_nothing_is_told() -> None:
    """Also where another release kept what this one does not know."""
    assert ahead("n1", [], None, None) == ahead("n3", [], LEMONS, PARTS) == Ahead()
    odd = {"lemons": [{"node": "n1", "sentence": "?", "points": "many"}]}
    assert ahead("n1", [], odd, {"parts": 7}).lemon == Scored(0.0, None, suggested=False, sentence="?")
    assert (
        ahead("n1", [StoredForecast(1, replace(DRIFT, numbers={}), 3.0, 9.0)], None, None).foreseen[0].mark_in is None
    )
