"""Heat: slots and racks against the rest of the fleet, each part among those of its own device type."""

import numpy as np
import pytest

from fleet_runner.core.reliability.parts.stay import Stay
from fleet_runner.core.reliability.trends import heat
from fleet_runner.core.reliability.trends.metrics import BY_NAME
from fleet_runner.core.reliability.trends.panel import Window
from fleet_runner.core.reliability.trends.peers import Location

METRIC = BY_NAME["gpu_memory_margin"]
SLOTS, DAYS = 8, 10


def fleet(nodes: int) -> tuple[dict[int, Stay], dict[str, Location]]:
    """Return so many nodes of eight GPUs, four to a rack; every other one is of another device type."""
    stays = {
        node * SLOTS + slot: Stay(
            node * SLOTS + slot, "gpu", "", f"gpu-{node}", f"GPU {slot:x}b", f"GPU {slot}" if slot else ""
        )
        for node in range(nodes)
        for slot in range(SLOTS)
    }
    places = {f"gpu-{node}": Location("a" if node % 2 else "b", "hall", f"R{node // 4}") for node in range(nodes)}
    return stays, places


def told(nodes: int) -> Window:
    """Return what they told: each type around a level of its own, slot 5 three spreads lower."""
    chance = np.random.default_rng(7)
    middle = chance.normal(40, 2, (nodes * SLOTS, DAYS)).astype(np.float32)
    middle.reshape(nodes, SLOTS, DAYS)[::2] += 20
    middle[5::SLOTS] -= 6
    ones = np.ones_like(middle)
    days = np.arange(100, 100 + DAYS, dtype=np.int32)
    return Window(METRIC.name, days, np.arange(nodes * SLOTS, dtype=np.uint32), ones.astype(np.uint32), middle, ones)


def test_a_slot_stands_out_in_every_device_type_alike() -> None:
    stays, places = fleet(60)
    seen = heat.look(METRIC, told(60), stays, places)
    apart = {spot.name: spot.apart for spot in seen.slots}
    assert list(apart) == ["GPU 0b", *(f"GPU {slot}" for slot in range(1, SLOTS))]
    assert apart["GPU 5"] < -1.8
    assert max(abs(value) for slot, value in apart.items() if slot != "GPU 5") < 0.6
    assert (seen.parts, seen.nodes, seen.day, seen.rows_of, len(seen.rows), seen.rows_cut) == (
        480,
        60,
        109,
        "rack",
        15,
        0,
    )
    assert {odd.slot for odd in seen.stand_out} == {"GPU 5"}
    body = heat.HeatMap((seen,)).to_json()
    assert body["sentences"][1].startswith("GPU 5: gpu_memory_margin lies ")
    assert body["sentences"][1].endswith(" spreads below the middle of its device type (60 parts).")
    assert [(band.device_type, band.parts) for band in seen.bands] == [("a", 240), ("b", 240)]
    assert all(band.low[0] < band.middle[0] < band.high[0] for band in seen.bands)


def test_a_small_fleet_is_told_node_by_node_and_a_part_by_its_newest_number() -> None:
    stays, _ = fleet(3)
    window = told(3)
    window.middle[0, -3:] = np.nan
    window.middle[0, -4] = 7.0
    window.middle[1, :] = np.nan
    window.middle[2, -7:] = np.nan
    window.middle[:, 0] = np.nan
    seen = heat.look(METRIC, window, stays, {})
    assert (seen.parts, seen.rows_of, [row.name for row in seen.rows]) == (22, "node", ["gpu-0", "gpu-1", "gpu-2"])
    assert seen.rows[0].cells[1:3] == (None, None)
    assert seen.stand_out[0].number == 7.0
    assert (seen.bands[0].device_type, seen.bands[0].middle[0]) == ("", None)


def test_a_slot_above_the_others_is_said_so_and_a_fleet_without_racks_has_one_row() -> None:
    stays, _ = fleet(60)
    window = told(60)
    window.middle[5::SLOTS] += 90
    seen = heat.look(METRIC, window, stays, {})
    assert [row.name for row in seen.rows] == ["no rack known"]
    assert any("GPU 5" in each and " above " in each for each in heat.HeatMap((seen,)).sentences())


@pytest.mark.parametrize("known", [True, False])
def test_where_nothing_was_told_nothing_is_said(known: bool) -> None:
    stays, places = fleet(2)
    window = told(2)
    window.middle[:] = np.nan if known else 1.0
    given = heat.analyse([Asked(window, stays if known else {}, places)])
    assert given.to_json() == {
        "until_day": None,
        "sentences": ["0 newest numbers of 0 metrics are compared, each with its own device type."],
        "metrics": [],
        "silent": [METRIC.name],
    }


class Asked:
    """What every analysis of metrics is given."""

    def __init__(self, window: Window, stays: dict[int, Stay], places: dict[str, Location]) -> None:
        """Ask about the one metric."""
        self.metric, self.window, self.stays, self.places = METRIC, window, stays, places
        self.marks: dict[str, float] = {}


def test_numbers_that_never_change_are_apart_from_nothing() -> None:
    stays, places = fleet(10)
    window = told(10)
    window.middle[:] = 4.0
    seen = heat.look(METRIC, window, stays, places)
    assert {spot.apart for spot in seen.slots} == {0.0}
    assert seen.stand_out == ()


def test_a_metric_of_many_slots_keeps_those_with_most_parts() -> None:
    window = told(5)
    stays = {number: Stay(number, "dimm", "", "gpu-0", f"DIMM {number}") for number in range(40)}
    seen = heat.look(METRIC, window, stays, {})
    assert (len(seen.slots), seen.slots_cut) == (heat.SLOTS, 40 - heat.SLOTS)
