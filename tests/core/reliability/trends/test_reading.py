"""What a node told is read in the order of time, with the parts that were there then."""

from itertools import count
from typing import Any

from fleet_runner.core.reliability.parts.events import MOST as MOST_FAULTS
from fleet_runner.core.reliability.parts.events import Episodes
from fleet_runner.core.reliability.parts.places import MOST, Places
from fleet_runner.core.reliability.parts.stay import Stay
from fleet_runner.core.reliability.trends import samples
from fleet_runner.core.reliability.trends.metrics import METRICS
from fleet_runner.core.reliability.trends.reading import NEVER, Reading, ReadingBuffer, read

NOW = 1_000_000_000.0


def told(
    number: int, check: str, observed: dict[str, Any], at: float = NOW, *, by: str = "", run: int = 1
) -> Reading:
    """A result without findings."""
    return Reading(run, number, at, check, observed, (), by)


def heaped(*results: Reading) -> tuple[dict[str, list[tuple[int, float]]], Places, ReadingBuffer]:
    """Read a node's results; return the numbers of each metric with their stays."""
    heap, places = ReadingBuffer(METRICS, samples.readers(METRICS)), Places("gpu-01", (), count(1))
    read(results, places, Episodes((), count(1)), heap, ("gpu-01", NOW))
    numbers = {
        METRICS[number].name: list(zip(mine.stays, mine.values, strict=True)) for number, mine in heap.numbers.items()
    }
    return numbers, places, heap


def test_numbers_of_a_run_are_those_of_the_parts_that_were_there_in_it() -> None:
    """Its serial number is told at the end of a run, and holds for all of it."""
    parts = [{"parts": {"GPU 1b": {"serial": serial}}} for serial in ("S-1", "S-2")]
    numbers, places, _ = heaped(
        told(1, "gpu_thermals", {"core_celsius": {"1b": 50}}, NOW - 1),
        told(2, "parts_gpu", parts[0], NOW - 1),
        told(3, "gpu_thermals", {"core_celsius": {"1b": 70}}, run=2),
        told(4, "parts_gpu", parts[1], run=2),
    )
    assert numbers == {"gpu_core": [(1, 50.0), (2, 70.0)]}
    assert [stay.serial for stay in places.changed()[0]] == ["S-1", "S-2"]


def test_a_test_counts_once_and_at_its_end() -> None:
    """A test that ended is judged again at each visit; another one of the same node has other evidence."""
    ended = {"bus_gbps": 470.0}
    numbers, _, _ = heaped(
        told(1, "nccl_allreduce", {"working": True, "bus_gbps": 3.0}, by="half"),
        told(2, "nccl_allreduce", ended, by="one"),
        told(3, "nccl_allreduce", ended, by="one"),
        told(4, "nccl_allreduce", {"bus_gbps": 480.0}, by="two"),
        told(5, "nccl_allreduce", {"bus_gbps": 490.0}),
        told(6, "time_sync", {"offset_seconds": 0.5}, by="one"),
        told(7, "time_sync", {"offset_seconds": 0.5}, by="one"),
    )
    assert [value for _, value in numbers["nccl_allreduce"]] == [470.0, 480.0, 490.0]
    assert len(numbers["clock_offset"]) == 2


def test_what_is_told_of_a_time_to_come_waits_and_what_is_told_late_counts() -> None:
    """What no clock tells is nothing."""
    times = (NOW, NOW + 9, NOW + 5, NOW + 7, 86_400.0, -1.0, NEVER, float("inf"))
    numbers, _, heap = heaped(*(told(each, "sel", {"bad": 1}, at) for each, at in enumerate(times)))
    assert len(numbers["event_log"]) == 2
    assert (heap.left_out, heap.ahead) == ({"ahead": 3, "clock": 3}, NOW + 5)


def test_a_fault_is_that_of_the_nodes_it_names() -> None:
    """A fabric's check finds faults of nodes; whose serial numbers are there, it does not know."""
    befell, places = Episodes((), count(1)), Places("gpu-01", (), count(1))
    own = {"code": "xid.79", "component": "GPU 1b", "fault": "f-1", "nodes": ["gpu-01"]}
    cable = {"code": "cabling.swap", "component": "a to b", "fault": "f-2", "nodes": ["gpu-02", "gpu-03"]}
    nobody = {"code": "cabling.link_down", "component": "c to d", "fault": "f-3", "nodes": []}
    results = [
        told(1, "parts_gpu", {"parts": {"GPU 1b": {"serial": "S-1"}}}),
        Reading(1, 2, NOW, "xid", {}, (own, cable, nobody), ""),
    ]
    read(results, places, befell, ReadingBuffer(METRICS, samples.readers(METRICS)), ("gpu-01", NOW))
    found = [(each.node, each.code, each.serial, each.check) for each in befell.changed()[0]]
    assert found == [
        ("gpu-01", "xid.79", "S-1", "xid"),
        ("gpu-02", "cabling.swap", "", "xid"),
        ("gpu-03", "cabling.swap", "", "xid"),
        ("gpu-01", "cabling.link_down", "", "xid"),
    ]


def test_more_parts_and_faults_than_a_node_has_are_left_out_and_counted() -> None:
    full = [Stay(number, "gpu", "", "gpu-01", f"GPU {number}") for number in range(1, MOST + 1)]
    heap, befell = ReadingBuffer(METRICS, samples.readers(METRICS)), Episodes((), count(1))
    faults = [{"code": "xid.79", "component": f"GPU {number}", "fault": "f"} for number in range(MOST_FAULTS + 2)]
    results = [
        told(1, "gpu_thermals", {"core_celsius": {"1": 50, "1b": 50}, "margin_celsius": {"1b": 30}}),
        Reading(1, 2, NOW, "xid", {}, faults, ""),
    ]
    read(results, Places("gpu-01", full, count(MOST + 1)), befell, heap, ("gpu-01", NOW))
    assert sum(len(each.stays) for each in heap.numbers.values()) == 1
    assert heap.left_out == {"crowd": 4}
