"""The loop and active tests: a round on an idle node, looked at to its end; a tenant's work goes first."""

from collections.abc import Callable
from dataclasses import replace

from fleet_runner.core.checks.active_schedule import ROUNDS
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import IDLE, Scripted, all_good, in_state, pass_time, played

WORKING = Result("gpu_burn", Verdict.UNKNOWN, "it runs", observed={"working": True, "elapsed": 1, "seconds": 9})
GAVE_WAY = Result("gpu_burn", Verdict.SKIPPED, "it gave way to python (7)", observed={"preempted": True})
BURNT = Result("gpu_burn", Verdict.PASS, "8 GPUs")
BAD = Result(
    "gpu_burn", Verdict.FAIL, "GPU 3", (Finding("gpu_burn.faulty", "GPU 3", "GPU 3 is bad.", Remedy.TRIAGE, "f"),)
)
SLOW = Result(
    "gpu_burn",
    Verdict.FAIL,
    "GPU 3 is slow",
    (Finding("gpu_burn.slow", "GPU 3", "GPU 3 is slow.", Remedy.TRIAGE, "gpu-01/gpu_burn.slow/GPU 3", ("gpu-01",)),),
    {},
    ("ab",),
)
PAUSE = 300.0


def serving(make_world: Callable[..., TickContext], answers: list[Result]) -> tuple[TickContext, float]:
    """A node in production whose profile asks for tests; each look at them gets the next answer, then the last."""

    def script(node: str, stage: Stage) -> tuple[Result, ...]:
        if stage is not Stage.HEALTH_ACTIVE:
            return all_good(node, stage)
        return (answers.pop(0) if len(answers) > 1 else answers[0],)

    world = make_world(script)
    folder = world.settings.state_dir / "group_vars"
    folder.mkdir()
    (folder / "device_type_t.yml").write_text("fleet_profile: {health_active: {tests: [gpu_burn]}}\n")
    active = f"every {PAUSE:.0f}s"
    update = {"inventory": folder.parent / "fleet.yml", "active_schedule": active, "drain_seconds": 60.0}
    world.settings = world.settings.model_copy(update=update)
    return world, played(world, in_state(State.PRODUCTION))


def rounds(world: TickContext) -> list[tuple[float, Outcome | None]]:
    """What each look was told: the round that it belongs to; and how it ended."""
    engine = world.engine
    assert isinstance(engine, Scripted)
    told = [
        run["round"] for batch in engine.launched if batch.stage is Stage.HEALTH_ACTIVE for run in batch.runs.values()
    ]
    ended = [run.outcome for run in world.store.runs("gpu-01", limit=2000) if run.stage is Stage.HEALTH_ACTIVE]
    return list(zip(told, ended, strict=True))


def passed(world: TickContext, now: float, seconds: float) -> float:
    """Let time go by, in steps of half a minute, and until nothing runs on the node."""
    until = now + seconds
    while now < until or world.store.open_runs():
        now += 30
        tick(world, now)
    return now


def test_a_round_is_looked_at_to_its_end_and_the_next_comes_an_hour_later(
    make_world: Callable[..., TickContext],
) -> None:
    """All looks of a round find the same tests on the node; sweeps go on beside it."""
    world, now = serving(make_world, [WORKING, WORKING, BURNT])
    passed(world, now, 2 * PAUSE - 60)
    seen = rounds(world)
    first = seen[0][0]
    assert [each for each in seen if each[0] == first] == [
        (first, Outcome.WORKING), (first, Outcome.WORKING), (first, Outcome.PASSED),
    ]  # fmt: skip
    assert len({at for at, _ in seen}) in {1, 2}
    assert all(at - first >= PAUSE - 150 for at, _ in seen[3:])
    sweeps = [run for run in world.store.runs("gpu-01", limit=2000) if run.stage is Stage.HEALTH_PASSIVE]
    assert len(sweeps) >= 4


def test_tests_that_gave_way_are_tried_again_an_hour_later_and_raise_nothing(
    make_world: Callable[..., TickContext],
) -> None:
    world, now = serving(make_world, [WORKING, GAVE_WAY])
    passed(world, now, 3 * PAUSE)
    seen = rounds(world)
    assert [outcome for _, outcome in seen[:2]] == [Outcome.WORKING, Outcome.SKIPPED]
    assert 3 <= len(seen) <= 4
    [node] = world.store.nodes()
    assert (node.state, node.waiting, dict(node.conditions)) == (State.PRODUCTION, "", {})
    assert world.store.tickets() == ()
    assert world.store.tickets(open_only=False) == ()


def test_a_node_whose_tests_always_give_way_is_told_of_after_a_day_of_rounds(
    make_world: Callable[..., TickContext],
) -> None:
    """And an answer ends that."""
    answers = [GAVE_WAY]
    world, now = serving(make_world, answers)
    now = passed(world, now, (ROUNDS - 2) * PAUSE)
    assert world.store.nodes()[0].waiting == ""
    now = passed(world, now, 4 * PAUSE)
    [node] = world.store.nodes()
    assert node.waiting.startswith("not tested since 1970-01-01 00:")
    assert node.waiting.endswith(
        "gpu_burn: it gave way to python (7); if that only watches, name it in active_ignored"
    )
    answers[0] = BURNT
    passed(world, now, 2 * PAUSE)
    assert world.store.nodes()[0].waiting == ""


def test_a_node_that_was_slow_is_sent_away_after_the_second_round(make_world: Callable[..., TickContext]) -> None:
    """Two looks at one test are one round: it is told once, by its evidence."""
    world, now = serving(make_world, [SLOW, BURNT, SLOW, replace(SLOW, evidence=("cd",))])
    now = passed(world, now, 1.5 * PAUSE)
    assert world.store.tickets() == ()
    now = passed(world, now, PAUSE)
    assert (world.store.nodes()[0].state, world.store.tickets()) == (State.PRODUCTION, ())
    passed(world, now, 2 * PAUSE)
    [node] = world.store.nodes()
    assert node.state is State.TRIAGE
    [ticket] = world.store.tickets()
    assert ticket.fault == "gpu-01/gpu_burn.slow/GPU 3"


def test_an_overdue_burn_in_is_stopped_on_the_node_before_triage(make_world: Callable[..., TickContext]) -> None:
    """By the play that a drain is; that it does not reach the node keeps it from nothing."""

    def script(node: str, stage: Stage) -> tuple[Result, ...] | None:
        if stage is Stage.DRAIN:
            return None
        return (WORKING,) if stage is Stage.BURN_IN else all_good(node, stage)

    world = make_world(script)
    now = pass_time(world, played(world, in_state(State.BURN_IN)), 51 * 3600.0, pause=1200)
    pass_time(world, now, 3 * 3600.0, pause=60)
    engine = world.engine
    assert isinstance(engine, Scripted)
    assert [batch.stage for batch in engine.launched[-3:]] == [Stage.BURN_IN, Stage.DRAIN, Stage.COLLECT]
    assert world.store.nodes()[0].state is State.TRIAGE


def test_a_fault_that_tests_find_takes_the_idle_node_to_triage(make_world: Callable[..., TickContext]) -> None:
    world, now = serving(make_world, [WORKING, BAD])
    passed(world, now, 1.5 * PAUSE)
    [node] = world.store.nodes()
    assert node.state is State.TRIAGE
    [ticket] = world.store.tickets()
    assert ticket.title == "gpu-01: GPU 3 is bad."


def test_a_node_that_is_used_is_not_tested(make_world: Callable[..., TickContext]) -> None:
    world, now = serving(make_world, [BURNT])
    engine = world.engine
    assert isinstance(engine, Scripted)
    busy = replace(IDLE, observed={"in_use": True})
    engine.script = lambda _node, _stage: (busy,)
    now = passed(world, now, 150)
    before = len(rounds(world))
    passed(world, now, 2 * PAUSE)
    assert len(rounds(world)) == before
    [node] = world.store.nodes()
    assert set(node.conditions) == {Condition.IN_USE}


def test_what_a_burn_in_was_told_long_ago_counts_at_its_end(make_world: Callable[..., TickContext]) -> None:
    """The answer of a test that has ended is stored once; each run is judged by it."""
    ended = Result("cpu_stress", Verdict.PASS, "right", evidence=("aa",))
    looks = [(ended, WORKING)] * 5 + [(ended, BURNT)]

    def script(node: str, stage: Stage) -> tuple[Result, ...]:
        return all_good(node, stage) if stage is not Stage.BURN_IN else looks.pop(0)

    world = make_world(script)
    played(world, in_state(State.PRODUCTION))
    burnt = [run for run in world.store.runs("gpu-01", limit=2000) if run.stage is Stage.BURN_IN]
    assert [run.outcome for run in burnt] == [Outcome.WORKING] * 5 + [Outcome.PASSED]
    told = [(run.id, each.result.check) for run in burnt for each in world.store.results(run.id)]
    assert [run for run, check in told if check == "cpu_stress"] == [burnt[-1].id]
    assert burnt[-1].detail == "2 checks passed"
