"""The answer about a job that nothing ended: who holds the others back, or that nobody is known to."""

from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.cause import decide
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.node_measures import MEASURES, NodesCompared, OddNode
from fleet_runner.core.jobs.rank_times import Measure
from fleet_runner.core.jobs.slow_ranks import Compared, SlowRank
from fleet_runner.core.jobs.slowdown import Evidence, answered
from fleet_runner.core.jobs.straggler import Straggler

NODES = tuple(f"gpu-{number:02}" for number in range(8))
RUNS = Job("7", NODES, 10.0, None, ranks={0: "gpu-00", 1: "gpu-01"})
SLOW = SlowRank(1, "gpu-01", Measure("forward-compute"), 1.9, 1.2, " on 7 other nodes")
CLOCK = OddNode("gpu-01", "3", MEASURES[0], 1200.0, 1980.0, 31)
WARM = OddNode("gpu-01", "3", next(each for each in MEASURES if not each.alone), 2.0, 40.0, 31)
DUMPED = Straggler(1, 0.1, 0.05, 39, 39)


def told(found: Evidence, *events: Event, **job: Any) -> Answer:
    return answered(decide(replace(RUNS, **job), events), found)


def nodes(*odd: OddNode) -> NodesCompared:
    return NodesCompared(("GPU clocks", "PCIe lanes"), 8, odd)


def test_times_name_the_node_and_its_machine_says_why() -> None:
    answer = told(Evidence(ranks=Compared(("forward-compute",), (SLOW,), ("so it is",)), nodes=nodes(CLOCK, WARM)))
    assert answer.sentence == (
        "Slowed by one node: gpu-01 (rank 1) holds the others back: forward-compute 1.90 s beside 1.20 s on 7"
        " other nodes; its GPU 3 is at 1,200 MHz beside 1,980 MHz on 31 others; it is 2 °C from its limit"
        " beside 40 °C on 31 others."
    )
    assert (answer.held_by, answer.look_at) == ("gpu-01", ("rank 1 on gpu-01",))
    assert answer.unsure[-1] == "so it is"
    assert answer.todo[0].startswith("compare rank 1 on gpu-01 with the others")
    assert answer.exclude == ()
    assert answer.area is Area.UNKNOWN
    assert answer.to_json()["held_by"] == "gpu-01"


def test_without_nodes_a_rank_is_named_and_another_one_told_beside_it() -> None:
    lone = replace(SLOW, node="")
    other = replace(SLOW, rank=3, node="", measure=Measure("data_time"))
    answer = told(Evidence(ranks=Compared(("x",), (lone, other))), ranks={})
    assert answer.sentence.startswith("Slowed by one rank: rank 1 holds the others back: forward-compute")
    assert answer.held_by == "rank 1"
    assert answer.unsure[-1] == "rank 3 is slow too: data_time 1.90 s beside 1.20 s on 7 other nodes"


def test_a_machine_that_differs_only_may_hold_others_back() -> None:
    also = replace(CLOCK, node="gpu-05")
    answer = told(Evidence(nodes=nodes(CLOCK, WARM, also)))
    assert answer.sentence.startswith(
        "It still runs. One node differs from the others, and may hold them back: gpu-01: its GPU 3 is at 1,200 MHz"
    )
    assert answer.held_by == "gpu-01"
    assert "gpu-05 differs, too: its GPU 3 is at 1,200 MHz beside 1,980 MHz on 31 others" in answer.unsure
    assert "how long each rank works is not known" in answer.unsure[-1]


def test_what_times_of_ranks_do_not_show_is_only_mentioned() -> None:
    answer = told(Evidence(ranks=Compared(("forward-compute",)), nodes=nodes(CLOCK)))
    assert answer.sentence == (
        "It still runs. No node holds the others back by what is known: forward-compute, GPU clocks, PCIe lanes of 8"
        " nodes are alike."
    )
    assert answer.held_by == ""
    assert answer.unsure[-1].startswith("gpu-01 differs, which the times of its ranks do not show: its GPU 3")


def test_what_is_warm_alone_names_nobody() -> None:
    assert told(Evidence(nodes=nodes(WARM))).held_by == ""


@pytest.mark.parametrize(
    ("job", "begins"),
    [
        ({"ended": 99.0, "state": "COMPLETED"}, "It ended well. No node"),
        ({"ended": 99.0, "state": "TIMEOUT"}, "It reached its time limit. No node"),
        ({"ended": 99.0}, "Not known: nothing was found that ended it. No node"),
        ({"begun": 0.0}, "Not known: nothing was found that ended it. No node"),
    ],
)
def test_how_the_job_went_is_said_first(job: dict[str, Any], begins: str) -> None:
    assert told(Evidence(ranks=Compared(("x",))), **job).sentence.startswith(begins)


def test_where_nothing_was_compared_nothing_is_said() -> None:
    assert told(Evidence()) == decide(RUNS, ())


@pytest.mark.parametrize("code", ["job.ended", "job.node_lost"])
def test_a_job_that_died_is_not_slow(code: str) -> None:
    """By times of its ranks; nor one whose scheduler says that it failed."""
    event = Event(50.0, Area.UNKNOWN, Role.SYMPTOM, code, "it went", "gpu-02")
    found = Evidence(ranks=Compared(("x",), (SLOW,)), nodes=nodes(CLOCK))
    assert told(found, event, ended=99.0) == decide(replace(RUNS, ended=99.0), (event,))
    failed = replace(RUNS, ended=99.0, state="FAILED")
    assert answered(decide(failed, ()), found) == decide(failed, ())


def test_what_only_its_node_has_may_be_why() -> None:
    """What all nodes have slows none of them; a job that something ended is not slow."""
    job = Job("7", ("gpu-00", "gpu-01"), 0.0, 100.0, state="COMPLETED", ranks={0: "gpu-00", 1: "gpu-01"})
    hot = Event(
        90.0, Area.HARDWARE, Role.CONTEXT, "gpu.hw_slowdown", "it is slowed down", "gpu-01", component="GPU 3"
    )
    logged = [replace(hot, code="cpu.logged", node=node) for node in job.nodes]
    answer = decide(job, (hot, *logged))
    found = Evidence(DUMPED)
    said = answered(answer, found)
    assert said.sentence.startswith(
        "Slowed by one rank: rank 1 on gpu-01 came last to 39 of 39 collectives: it worked"
    )
    assert said.sentence.endswith("Only there: GPU 3: it is slowed down.")
    assert (said.look_at, said.held_by) == (("rank 1 on gpu-01",), "gpu-01")
    nowhere = answered(decide(replace(job, ranks={}), ()), found)
    assert nowhere.sentence.startswith("Slowed by one rank: rank 1 came last")
    assert nowhere.held_by == "rank 1"
    assert "Only there" not in nowhere.sentence
    ended = decide(job, (replace(hot, role=Role.CAUSE),))
    assert answered(ended, found) == ended
