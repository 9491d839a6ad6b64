"""What the runner makes of a scheduler's answers: it waits, acts when the node is free, and gives it back once."""

from collections.abc import Callable

import pytest

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.spool import Ended, Judged, PlayEnd
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from tests.reconcile.scripted import (
    GOOD,
    IDLE,
    Scripted,
    all_good,
    in_service,
    in_state,
    pass_time,
    played,
)

MakeWorld = Callable[..., TickContext]

WORKS = Result("scheduler", Verdict.PASS, "job 7 (running)", observed={"in_use": True, "ours": True})
FREE = Result("scheduler", Verdict.PASS, "no work on it", observed={"in_use": False, "ours": True})
SILENT = Result("scheduler", Verdict.UNKNOWN, "slurmctld does not answer")
APART = Result("scheduler", Verdict.SKIPPED, "no scheduler gives it work")


def scripted(world: TickContext, said: Result) -> None:
    """Have the scheduler say this whenever it is asked, of a node whose processes are idle."""
    assert isinstance(world.engine, Scripted)

    def script(node: str, stage: Stage) -> tuple[Result, ...]:
        match stage:
            case Stage.DRAIN:
                return (IDLE, said)
            case Stage.RESUME:
                return (said,)
            case _:
                return all_good(node, stage)

    world.engine.script = script


def scheduled(make_world: MakeWorld) -> tuple[TickContext, float]:
    """Return a world with Slurm and a node that serves, and the time."""
    world = make_world()
    world.settings = world.settings.model_copy(update={"scheduler": "slurm"})
    return world, in_service(world)


def asked_to_reboot(world: TickContext, now: float) -> None:
    world.store.leave_intent("gpu-01", IntentKind.REBOOT, "ann", reason="a new kernel", now=now)


def launched(world: TickContext, stage: Stage) -> list[dict[str, object]]:
    """Return what the plays of a stage were told of the node, oldest first."""
    assert isinstance(world.engine, Scripted)
    return [dict(batch.runs["gpu-01"]) for batch in world.engine.launched if batch.stage is stage]


def states(world: TickContext) -> set[State]:
    return {node.state for node in world.store.nodes()}


@pytest.mark.parametrize("said", [WORKS, SILENT])
def test_a_node_whose_processes_are_idle_waits_for_its_scheduler(make_world: MakeWorld, said: Result) -> None:
    """Work of the scheduler's may be between two processes; and no answer is no leave."""
    world, now = scheduled(make_world)
    scripted(world, said)
    asked_to_reboot(world, now)
    now = pass_time(world, now, 300.0)
    assert states(world) == {State.PRODUCTION}
    assert "its scheduler has work on it, or does not answer" in next(iter(world.store.nodes())).waiting
    told = launched(world, Stage.DRAIN)
    assert len(told) > 2
    assert {each["reason"] for each in told} == {"REBOOT: a new kernel"}
    assert launched(world, Stage.RESUME) == []
    scripted(world, FREE)
    played(world, in_state(State.REBOOT), now=now)


def test_a_node_that_serves_again_is_given_back_once(make_world: MakeWorld) -> None:
    """After the reboot and its verification, not before."""
    world, now = scheduled(make_world)
    scripted(world, FREE)
    asked_to_reboot(world, now)
    now = played(world, in_state(State.REBOOT), now=now)
    assert launched(world, Stage.RESUME) == []
    now = played(world, in_state(State.PRODUCTION), now=now)
    pass_time(world, now, 600.0)
    assert len(launched(world, Stage.RESUME)) == 1


def test_a_resume_that_the_scheduler_did_not_answer_is_tried_again(make_world: MakeWorld) -> None:
    """The node serves meanwhile, and status says what it lacks."""
    world, now = scheduled(make_world)
    scripted(world, FREE)
    asked_to_reboot(world, now)
    now = played(world, in_state(State.REBOOT), now=now)
    scripted(world, SILENT)
    now = played(world, in_state(State.PRODUCTION), now=now)
    now = pass_time(world, now, 300.0)
    assert len(launched(world, Stage.RESUME)) > 1
    assert "slurmctld does not answer" in next(iter(world.store.nodes())).waiting
    scripted(world, FREE)
    now = pass_time(world, now, 900.0)
    tries = len(launched(world, Stage.RESUME))
    pass_time(world, now, 900.0)
    assert len(launched(world, Stage.RESUME)) == tries


def test_a_cancelled_remedy_gives_the_node_back(make_world: MakeWorld) -> None:
    """It was drained, and nothing came of it."""
    world, now = scheduled(make_world)
    scripted(world, WORKS)
    asked_to_reboot(world, now)
    now = pass_time(world, now, 60.0)
    world.store.leave_intent("gpu-01", IntentKind.CANCEL, "ann", reason="not today", now=now)
    now = pass_time(world, now, 60.0)
    assert Condition.PENDING not in next(iter(world.store.nodes())).conditions
    assert len(launched(world, Stage.RESUME)) == 1


def test_what_a_person_drained_by_hand_is_theirs_to_give_back(make_world: MakeWorld) -> None:
    """The playbook's results are kept; nothing follows from them at the scheduler."""
    world, now = scheduled(make_world)
    lines = [Judged("gpu-01", now, FREE), Judged("gpu-01", now, GOOD), Ended("gpu-01", now, PlayEnd.OK)]
    assert not world.store.record_by_hand(Stage.DRAIN, "kim", lines, now)
    pass_time(world, now, 300.0)
    assert [run.stage for run in world.store.runs("gpu-01") if run.by == "kim"] == [Stage.DRAIN]
    assert launched(world, Stage.RESUME) == []


def test_a_node_that_no_scheduler_gives_work_waits_for_its_processes_alone(make_world: MakeWorld) -> None:
    """A head node of the same fleet."""
    world, now = scheduled(make_world)
    scripted(world, APART)
    asked_to_reboot(world, now)
    played(world, in_state(State.REBOOT), now=now)


def test_without_a_scheduler_none_is_asked_to_give_a_node_back(make_world: MakeWorld) -> None:
    """Its processes alone say whether it is idle."""
    world = make_world()
    now = in_service(world)
    asked_to_reboot(world, now)
    now = played(world, in_state(State.REBOOT), now=now)
    now = played(world, in_state(State.PRODUCTION), now=now)
    pass_time(world, now, 300.0)
    assert launched(world, Stage.RESUME) == []
