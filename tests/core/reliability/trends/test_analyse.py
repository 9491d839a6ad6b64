"""Drift over a whole fleet: what was put in is told, what was not is not, and what cannot be known is counted."""

from dataclasses import replace

import numpy as np
import pytest

from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.core.reliability.trends.analyse import MOST_TOLD, Drift, analyse, look
from fleet_runner.core.reliability.trends.metrics import BY_NAME
from fleet_runner.core.reliability.trends.peers import Location
from fleet_runner.core.reliability.trends.silence import Silence
from tests.core.reliability.trends.fleets import DAYS, METRIC, given, looked, looked_at, noise, scattering

NODES = 12


def told(values: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> tuple[Foresight, ...]:
    """Return what is foreseen of these numbers."""
    return looked(values).found


def test_nothing_is_told_of_noise() -> None:
    """And every series could be judged."""
    found = looked(noise(NODES))
    assert (found.found, found.together, found.judged) == ((), (), NODES * 8)
    assert not any(found.silences.values())


def test_a_jump_is_told_with_its_day_and_its_size() -> None:
    """Of the part that jumped, and of no other."""
    values = noise(NODES)
    values[5, -20:] += 8
    (one,) = told(values)
    assert (one.kind, one.node, one.component, one.serial) == (Kind.SHIFT, "gpu-00", "GPU 0000:05:00.0", "S5")
    assert one.numbers["since_day"] == "2024-12-13"
    assert one.numbers["change"] == pytest.approx(8, abs=1)
    assert one.numbers["peers"] == NODES - 1  # those in the same slot
    assert one.numbers["crosses_in_days"] is None
    assert one.sentence.startswith("gpu_core (how warm a GPU is) rose from 61.3 to 69.5 celsius")
    assert "at once on 2024-12-13" in one.sentence
    assert one.sentence.endswith("beyond what its 11 peers did; its pass mark is 85")


def test_a_drift_is_told_with_the_day_on_which_it_crosses_its_mark() -> None:
    """It goes 0.3 a day, and would be there in some weeks."""
    values = noise(NODES)
    values[9, -60:] += 0.3 * np.arange(1, 61)
    truth = (85 - values[9, :30].mean() - 18) / 0.3
    (one,) = told(values)
    assert one.kind is Kind.TREND
    assert one.numbers["slope_low_per_day"] < 0.3 < one.numbers["slope_high_per_day"]
    assert one.numbers["crosses_soonest_days"] < truth < one.numbers["crosses_latest_days"]
    assert "it crosses its pass mark of 85 in" in one.sentence


def test_a_drift_over_the_whole_window_is_told() -> None:
    """It has no days before; without a mark nothing is said of one."""
    values = noise(NODES)
    values[9] += 0.1 * np.arange(DAYS)
    what = replace(given(values), marks={})
    (one,) = looked_at(what).found
    assert one.kind is Kind.TREND
    assert "pass mark" not in one.sentence
    assert one.numbers["crosses_why"] == "it has no pass mark"


def test_a_drift_away_from_the_mark_in_sight_says_why_no_day_is_told() -> None:
    """As the sentence does."""
    values = noise(NODES)
    values[9, -60:] += 0.1 * np.arange(1, 61)
    (one,) = looked(values, mark=1_000).found
    assert "when it crosses its pass mark of 1000 is not predicted: it is further ahead than" in one.sentence


def test_two_parts_in_the_same_slot_are_told_apart() -> None:
    """Of different nodes, and beside the same peers."""
    values = noise(NODES)
    values[[5, 21], -20:] += 8
    first, second = sorted(told(values), key=lambda each: each.node)
    assert (first.node, second.node) == ("gpu-00", "gpu-02")
    assert first.numbers["peers_median"] == second.numbers["peers_median"]


def test_what_scatters_more_is_told() -> None:
    """Its level is what it was."""
    (one,) = looked_at(scattering(noise(NODES), 17, 5, 30)).found
    assert (one.kind, one.serial) == (Kind.SPREAD, "S17")
    assert one.numbers["ratio"] == pytest.approx(4, abs=1)
    assert "scatters by" in one.sentence


def test_what_scatters_by_less_than_matters_is_not_told() -> None:
    """But counted."""
    what = scattering(noise(NODES), 17, 5, 30)
    found = looked_at(replace(what, metric=METRIC._replace(least=4.5)))
    assert (found.found, found.silences[Silence.SMALL]) == ((), 1)


def test_most_parts_of_a_node_are_told_as_one() -> None:
    """Seven of eight grow warmer: one sentence about the node; and the eighth, which does later, is its own."""
    values = noise(NODES)
    values[8:15, -40:] += 7
    values[15, -15:] += 9
    both = told(values)
    assert [(each.node, each.component, each.numbers["parts"]) for each in both] == [
        ("gpu-01", "", 7), ("gpu-01", "GPU 0000:07:00.0", 1),
    ]  # fmt: skip
    assert "in 7 of 8 parts of this node, rose" in both[0].sentence


def test_a_node_that_is_told_as_one_is_so_while_a_few_parts_of_it_are_seen() -> None:
    """Three of eight are told one by one, but not where the node was told the night before: it would be by turns."""
    values = noise(NODES)
    values[8:11, -40:] += 7
    alone = looked(values)
    assert [each.numbers["parts"] for each in alone.found] == [1, 1, 1]
    values[11, -40:] += 7
    night = looked(values)
    assert [each.numbers["parts"] for each in night.found] == [4]
    values[11, -40:] -= 7
    what = given(values)
    (still,) = look(what.metric, what.window, what.stays, what.places, what.marks, stood=night.found).found
    assert (still.key, still.numbers["parts"]) == (night.found[0].key, 3)


def test_a_rack_that_moves_as_a_whole_is_told_once_and_no_part_of_it_is() -> None:
    """Thirty-two GPUs behind a warmer inlet."""
    values = noise(NODES)
    values[32:64, -30:] += 6
    found = looked(values)
    assert found.found == ()
    (rack,) = found.together
    assert (rack.what, rack.name, rack.kind) == ("rack", "hall-a r1", Kind.SHIFT)
    assert rack.numbers["parts"] == 32
    assert "all 32 parts in rack hall-a r1 rose together by" in rack.sentence
    body = Drift((found,)).to_json()
    assert body["together"] == [rack.to_json()]
    assert "1 rack or site changed as a whole" in body["sentences"][2]


def test_a_rack_that_grows_colder_bothers_nobody() -> None:
    """Nor does one that moves by less than matters."""
    values = noise(24)
    values[32:64, -30:] -= 6
    values[64:96, -30:] += 0.8
    assert (looked(values).found, looked(values).together) == ((), ())


def test_a_fleet_that_moves_as_a_whole_is_not_told() -> None:
    """A summer is no part's fault, and neither is a week."""
    values = noise(NODES) + 5 * np.sin(np.arange(DAYS) * 2 * np.pi / 7) + 0.2 * np.arange(DAYS)
    assert told(values) == ()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (-8.0, Silence.BETTER),
        (0.95, Silence.SMALL),
    ],
)
def test_what_is_no_chance_and_not_worth_a_word_is_counted(change: float, reason: Silence) -> None:
    """In little noise, so that it is certain."""
    values = 60 + (noise(NODES) - 60) / 10
    values[5, -20:] += change
    found = looked(values)
    assert (found.found, found.silences[reason]) == ((), 1)


@pytest.mark.parametrize("changed", [lambda x: x * 1000, lambda x: x / 1000, lambda x: x * 1.8 + 32])
def test_another_unit_is_no_drift(changed: object) -> None:
    """Milli, kilo, Fahrenheit: whoever updates a tool gets no ticket."""
    assert callable(changed)
    values = noise(NODES)
    values[5, -20:] = changed(values[5, -20:])
    found = looked(values)
    assert (found.found, found.silences[Silence.UNIT]) == ((), 1)


def test_a_part_that_stays_while_all_others_change_is_counted_and_not_told() -> None:
    """Everybody grew colder but one."""
    values = noise(NODES)
    values[np.arange(len(values)) != 5, -20:] -= 8
    found = looked(values)
    assert (found.found, found.silences[Silence.ALL]) == ((), 1)


def test_what_cannot_be_judged_is_counted_by_reason() -> None:
    """Each series for one reason, the first that holds."""
    values = noise(NODES)
    values[0, :-3] = np.nan
    values[1, -20:] = np.nan
    values[2, 20:60] = np.nan
    values[3] = 60.0
    values[4] = np.nan
    what = given(values)
    stays = dict(what.stays) | {8: replace(what.stays[8], node="unheard-of")}
    del stays[16]
    places = dict(what.places) | {"gpu-11": Location("new")}
    found = looked_at(replace(what, stays=stays, places=places))
    assert {reason: count for reason, count in found.silences.items() if count} == {
        Silence.UNKNOWN: 2, Silence.SHORT: 2, Silence.STALE: 1, Silence.GAPS: 1, Silence.PEERS: 8, Silence.CONSTANT: 1
    }  # fmt: skip
    assert found.judged == NODES * 8 - 15
    assert sum(found.to_json()["silences"].values()) == 15
    assert found.to_json()["quiet"] == found.judged


@pytest.mark.parametrize(
    ("nodes", "days", "reason"), [(1, 90, Silence.PEERS), (12, 3, Silence.SHORT), (12, 1, Silence.SHORT)]
)
def test_one_node_or_three_days_say_nothing(nodes: int, days: int, reason: Silence) -> None:
    """Whatever happened there."""
    values = noise(nodes, days=days)
    values[0, -2:] += 50
    found = looked(values)
    assert (found.found, found.silences[reason], found.judged) == ((), nodes * 8, 0)


def test_a_source_of_truth_that_knows_nothing_is_said() -> None:
    """The nodes' numbers are there, and nobody to compare them with."""
    found = looked_at(replace(given(noise(NODES)), places={}))
    assert (found.found, found.together, found.judged) == ((), (), 0)
    assert found.silences[Silence.UNKNOWN] == NODES * 8


def test_a_part_that_was_replaced_is_another_story() -> None:
    """The new one is warmer: it has a stay of its own, and too few days."""
    values = np.concatenate([noise(NODES), np.full((1, DAYS), np.nan)])
    values[-1, -12:] = 75
    values[5, -12:] = np.nan
    found = looked_at(replace(given(values), places=given(noise(NODES)).places | {"gpu-12": Location("dgxh100")}))
    assert (found.found, found.silences[Silence.SHORT]) == ((), 1)


def test_nothing_at_all_is_nothing() -> None:
    """A metric that nobody told, and a window without days."""
    drift = analyse([given(np.empty((0, DAYS))), given(np.empty((8, 0)))])
    body = drift.to_json()
    assert (body["series"], body["judged"], body["since_day"], body["days"], body["foresights"]) == (
        8,
        0,
        None,
        0,
        [],
    )
    assert body["sentences"][1] == "0 changes are predicted to matter."


def test_the_body_says_what_was_looked_at_and_how_often_chance_may_be_told() -> None:
    """In numbers, and in sentences."""
    values = noise(NODES)
    values[5, -20:] += 8
    drift = analyse([given(values), given(noise(NODES), BY_NAME["gpu_watts"])])
    body = drift.to_json()
    assert (body["series"], body["judged"], body["days"]) == (192, 192, 90)
    assert (body["since_day"], body["until_day"]) == ("2024-10-04", "2025-01-01")
    assert body["false_alarms_per_night"] == pytest.approx(192e-6, abs=1e-6)
    assert body["sentences"][0] == "192 series of 2 metrics were looked at; 192 could be judged."
    assert body["sentences"][1] == "1 change is predicted to matter (1 of kind shift)."
    assert [each["foreseen"] for each in body["metrics"]] == [{"shift": 1}, {}]
    assert [Foresight.from_json(each) for each in body["foresights"]] == list(drift.foresights())


def test_no_more_is_kept_than_is_read() -> None:
    """And what was cut is said."""
    values = noise(NODES)
    values[5, -20:] += 8
    one = looked(values)
    many = replace(one, found=tuple(replace(one.found[0], node=f"n{at}") for at in range(MOST_TOLD + 7)))
    assert Drift((many,)).to_json()["foresights_cut"] == 7
