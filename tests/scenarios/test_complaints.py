"""What users of every peer complain about, one test each, named after the complaint: this product must have none.

All go through the real loop and store, with plays whose answers are scripted.
"""

from collections.abc import Callable

import pytest

from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import STATES, Condition, Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.making import an_alarm
from tests.reconcile.scripted import BUSY, IDLE, Script, Scripted, in_service, pass_time, path, played

WELL = Result("gpu_present", Verdict.PASS, "8 of 8")
HOUR = 3600.0
SWEEPS = {Stage.HEALTH_PASSIVE, Stage.DRAIN}
KEPT = {Condition.PENDING, Condition.CORDONED, Condition.DRAINING}


def fault(remedy: Remedy = Remedy.REBOOT, number: int = 3) -> Result:
    """A GPU that is lost."""
    lost = Finding(
        "gpu.lost", f"GPU {number}", f"GPU {number} is gone.", remedy, f"gpu-01/gpu.lost/{number}", ("gpu-01",)
    )
    return Result("gpu_present", Verdict.FAIL, "7 of 8", (lost,))


def scripted(world: TickContext, script: Script) -> Scripted:
    """Give the world's plays their answers."""
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.script = script
    return engine


def holding(world: TickContext) -> set[Condition]:
    """What holds of the node."""
    return set(world.store.nodes()[0].conditions)


def test_remediation_loops_without_an_attempt_cap(make_world: Callable[..., TickContext]) -> None:
    """Verification passes each time, and each time another GPU is gone: after its cap a person looks."""
    world = make_world()
    now = in_service(world)
    boots = [0]

    def script(_node: str, stage: Stage) -> tuple[Result, ...]:
        boots[0] += stage is Stage.REBOOT
        return (fault(number=boots[0]) if stage in SWEEPS else WELL, IDLE)

    scripted(world, script)
    pass_time(world, now, 6 * HOUR, pause=60)
    assert path(world)[-1] is State.TRIAGE
    assert boots[0] == world.policy.rules(world.settings).caps[Remedy.REBOOT].most
    assert (
        "3 of at most 3 times in 24 h: a person decides"
        in world.store.history("gpu-01", kind="transition")[-1].sentence
    )


def test_remediation_loops_of_one_fault(make_world: Callable[..., TickContext]) -> None:
    """The same fault that comes back is not rebooted a second time: the next rung, then a person."""
    world = make_world()
    now = in_service(world)
    scripted(world, lambda _node, stage: (fault() if stage in SWEEPS else WELL, IDLE))
    pass_time(world, now, 3 * HOUR, pause=30)
    assert [each.remedy for each in world.store.attempts("gpu-01")] == [Remedy.REBOOT, Remedy.POWER_CYCLE]
    assert path(world)[-1] is State.TRIAGE


@pytest.mark.parametrize("state", [state for state, place in STATES.items() if place.stages])
def test_states_stuck_for_hours(make_world: Callable[..., TickContext], state: State) -> None:
    """What a node gives no answer about ends by its deadline, in a state that a person is told of."""
    world = make_world()
    now = in_service(world, state)
    scripted(world, lambda _node, _stage: (Result("gpu_present", Verdict.UNKNOWN, "nvidia-smi hung"),))
    pass_time(world, now, (STATES[state].deadline or 0.0) + 2 * HOUR, pause=600)
    row = world.store.nodes()[0]
    assert row.state is not state
    assert STATES[row.state].stages == ()
    assert row.waiting


@pytest.mark.parametrize("state", [state for state, place in STATES.items() if place.stages])
def test_nodes_condemned_because_our_plays_died(make_world: Callable[..., TickContext], state: State) -> None:
    """However long they do: the node was not asked, and the sentence blames the play; it goes on once they live."""
    world = make_world()
    now = in_service(world, state)
    scripted(world, lambda _node, _stage: None)
    now = pass_time(world, now, (STATES[state].deadline or 0.0) + 6 * HOUR, pause=600)
    row = world.store.nodes()[0]
    assert (row.state, path(world), world.store.tickets(node="gpu-01")) == (state, [], ())
    assert row.waiting.startswith("not the node: the play ended without a result")


def test_cancelled_drains_that_still_reboot(make_world: Callable[..., TickContext]) -> None:
    """Cancelled is cancelled: the node takes work again at once, and never leaves for that fault."""
    world = make_world()
    now = in_service(world)
    busy = [True]
    scripted(world, lambda _node, _stage: (fault(), BUSY if busy[0] else IDLE))
    now = played(world, lambda world: holding(world) >= KEPT, now=now)
    intent = world.store.leave_intent("gpu-01", IntentKind.CANCEL, "ann", reason="a demo runs on it", now=now)
    tick(world, now + 1)
    assert world.store.answer(intent) == (True, "The pending remedy is cancelled; the node stays in service.")
    assert not holding(world) & KEPT
    busy[0] = False
    pass_time(world, now + 1, HOUR, pause=20)
    assert path(world) == []
    assert not holding(world) & KEPT


def test_nodes_not_returned_after_healing(make_world: Callable[..., TickContext]) -> None:
    """A remedy that helped ends in service: not cordoned here, and resumed at the scheduler that drained it."""
    world = make_world()
    world.settings = world.settings.model_copy(update={"scheduler": "slurm"})
    now = in_service(world)
    sick = [True]
    free = Result("scheduler", Verdict.PASS, "idle", observed={"in_use": False})

    def script(_node: str, stage: Stage) -> tuple[Result, ...]:
        sick[0] = sick[0] and stage is not Stage.REBOOT
        return (fault() if sick[0] else WELL, IDLE, *((free,) if stage is Stage.DRAIN else ()))

    engine = scripted(world, script)
    now = played(world, lambda world: path(world) == [State.REBOOT, State.PRODUCTION], now=now)
    pass_time(world, now, 60)
    assert not holding(world) & KEPT
    assert [batch.stage for batch in engine.launched if batch.stage in {Stage.DRAIN, Stage.RESUME}][
        -1
    ] is Stage.RESUME


def test_nodes_not_returned_when_the_fault_went_away_by_itself(make_world: Callable[..., TickContext]) -> None:
    """Cordoned for a fault that nobody sees any more: it takes work again, without a remedy."""
    world = make_world()
    now = in_service(world)
    sick = [True]
    scripted(world, lambda _node, _stage: (fault() if sick[0] else WELL, BUSY))
    now = played(world, lambda world: holding(world) >= KEPT, now=now)
    sick[0] = False
    pass_time(world, now, 600)
    assert not holding(world) & KEPT
    assert path(world) == []


def test_sticky_alarms(make_world: Callable[..., TickContext]) -> None:
    """Every way out: silence, a check that looked, and a remedy after which the node serves again."""
    world = make_world(lambda _node, _stage: (IDLE,))
    now = in_service(world)

    def raised(code: str, remedy: Remedy) -> None:
        heard = dict.fromkeys(("first_at", "last_at", "heard_at", "raised_at"), now)
        key = f"gpu-01/{code}/GPU 3"
        alarm = an_alarm(id=0, code=code, fault=key, remedy=remedy, **heard)
        world.store.keep_alarms(["gpu-01"], lambda _: [alarm], now)

    raised("xid.119", Remedy.RESET)  # healed by its remedy
    now = played(world, lambda world: path(world) == [State.RESET, State.PRODUCTION], now=now)
    tick(world, now + 1)
    assert world.store.alarms("gpu-01") == ()
    now += 2
    raised("gpu.lost", Remedy.WATCH)  # a check that looks for it, and does not see it
    raised("alert.FanSlow", Remedy.WATCH)  # a day of silence
    scripted(world, lambda _node, _stage: (WELL, IDLE))
    now = pass_time(world, now, 400)
    assert "alert.FanSlow" in [alarm.code for alarm in world.store.alarms("gpu-01")]
    pass_time(world, now, 25 * HOUR, pause=1800)
    assert world.store.alarms("gpu-01") == ()
    assert path(world) == [State.RESET, State.PRODUCTION]


def test_manual_holds_overwritten(make_world: Callable[..., TickContext]) -> None:
    """Nothing moves a held node, cordons it or lets it go: not a fault that cannot wait, not an hour of ticks."""
    world = make_world()
    now = in_service(world)
    world.store.leave_intent("gpu-01", IntentKind.HOLD, "ann", reason="mine", now=now)
    tick(world, now + 1)
    scripted(world, lambda _node, _stage: (fault(), IDLE))
    heard = {"first_at": now + 2, "last_at": now + 2, "heard_at": now + 2, "raised_at": now + 2}
    bus = an_alarm(id=0, code="xid.79", fault="gpu-01/xid.79/GPU 3", remedy=Remedy.POWER_CYCLE, at_once=True, **heard)
    world.store.keep_alarms(["gpu-01"], lambda _: [bus], now + 2)
    now = pass_time(world, now + 2, HOUR, pause=60)
    assert path(world) == []
    held = world.store.nodes()[0].conditions
    assert set(held) == {Condition.HELD}
    assert (held[Condition.HELD].by, held[Condition.HELD].reason) == ("ann", "mine")
    world.store.leave_intent("gpu-01", IntentKind.RELEASE, "ann", now=now)
    played(world, lambda world: path(world)[:1] == [State.REBOOT], now=now)


@pytest.mark.parametrize("how", ["crashed", "says nothing", "lost"])
def test_the_diagnostic_tools_own_failure_condemning_hardware(
    make_world: Callable[..., TickContext], how: str
) -> None:
    """A tool that crashed, a play that said nothing or was lost: the node serves on, and nobody is sent."""
    world = make_world()
    now = in_service(world)
    broken = Finding("gpu.lost", "GPU 3", "nvidia-smi: Unknown Error", Remedy.RMA, "gpu-01/gpu.lost/3", ("gpu-01",))
    crashed = Result("gpu_present", Verdict.UNKNOWN, "nvidia-smi ended with 226", (broken,))
    engine = scripted(world, lambda _node, _stage: (crashed, IDLE) if how == "crashed" else None)
    engine.state = BatchState.LOST if how == "lost" else BatchState.ENDED
    pass_time(world, now, 2 * HOUR, pause=60)
    assert path(world) == []
    assert not holding(world) & KEPT
    assert world.store.tickets(open_only=False) == ()
    assert world.store.attempts("gpu-01") == ()


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.UNKNOWN, None])
def test_success_shown_for_a_flash_that_failed(
    make_world: Callable[..., TickContext], verdict: Verdict | None
) -> None:
    """A play that ended well proves no flash: without its pass the node is never burned in.

    That a BMC's own `Completed` is not believed is proved in tests/core/firmware/test_tasks.py, test_flash_steps.py
    and tests/reconcile/firmware/.
    """
    world = make_world()
    now = in_service(world, State.FIRMWARE)
    pin = Finding(
        "firmware.drift", "BMC", "1.1, expected 1.2", Remedy.REFLASH, "gpu-01/firmware.drift/BMC", ("gpu-01",)
    )
    found = (pin,) if verdict is Verdict.FAIL else ()
    said = () if verdict is None else (Result("firmware", verdict, "1.1", found),)
    scripted(world, lambda _node, _stage: said)
    pass_time(world, now, 8 * HOUR, pause=300)
    assert path(world) == ([] if verdict is None else [State.FIRMWARE_FAILED])
