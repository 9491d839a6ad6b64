"""Remedies through the loop: what is told to plays, what is remembered, what signals and the policy file change."""

from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.runs import IntentKind, Outcome
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.reconcile.faults.policy import Policy
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.settings import Settings, load
from tests.making import an_alarm
from tests.reconcile.scripted import GOOD, IDLE, Scripted, in_state, path, played

FAULT = "gpu-01/gpu.remap_pending/GPU 3"
PENDING = Finding("gpu.remap_pending", "GPU 3", "GPU 3 waits to be reset.", Remedy.RESET, FAULT, ("gpu-01",))
SICK = Result("gpu_errors", Verdict.FAIL, "GPU 3 waits to be reset.", (PENDING,))
WELL = Result("gpu_errors", Verdict.PASS, "nothing waits")


def heals_by(*stages: Stage) -> Callable[[TickContext], list[bool]]:
    """Let a world's node have a fault that ends with one of these stages; return its switch."""

    def set_up(world: TickContext) -> list[bool]:
        sick = [True]

        def script(_node: str, stage: Stage) -> tuple[Result, ...]:
            sick[0] = sick[0] and stage not in stages
            return (SICK if sick[0] else WELL, IDLE, GOOD)

        engine = world.engine
        assert isinstance(engine, Scripted)
        engine.script = script
        return sick

    return set_up


def back(world: TickContext) -> bool:
    """Whether the node was out of service and serves again."""
    return path(world)[-2:-1] != [State.BURN_IN] and path(world)[-1] is State.PRODUCTION


def told(world: TickContext, stage: Stage) -> list[dict[str, object]]:
    """What the plays of a stage were told of the node."""
    engine = world.engine
    assert isinstance(engine, Scripted)
    return [dict(batch.runs["gpu-01"]) for batch in engine.launched if batch.stage is stage]


def test_a_reset_is_told_what_to_reset_remembered_and_climbed_from(make_world: Callable[..., TickContext]) -> None:
    """The fault that is back within a week is rebooted; logs know since when what they say is no news."""
    world = make_world()
    now = played(world, in_state(State.PRODUCTION))
    heals_by(Stage.RESET)(world)
    now = played(world, back, now=now)
    (reset,) = told(world, Stage.RESET)
    assert (reset["remedy"], reset["faults"], reset["ends"]) == ("RESET", [FAULT], "none")
    (attempt,) = world.store.attempts("gpu-01")
    assert (attempt.remedy, attempt.helped) == (Remedy.RESET, True)
    sick = heals_by(Stage.REBOOT)(world)
    now = played(world, lambda world: path(world)[-2:] == [State.REBOOT, State.PRODUCTION], now=now)
    assert not sick[0]
    assert [each.helped for each in world.store.attempts("gpu-01")] == [False, True]
    assert told(world, Stage.REBOOT)[-1]["remedy"] == "REBOOT"
    assert told(world, Stage.HEALTH_PASSIVE)[-1]["treated"] == {FAULT: world.store.attempts("gpu-01")[-1].at}
    assert "remedy" not in told(world, Stage.HEALTH_PASSIVE)[-1]


def test_a_clock_that_was_set_back_leaves_no_attempt_open(make_world: Callable[..., TickContext]) -> None:
    """The node earned production later than its reset began, by the clock: what came of it is written down still."""
    world = make_world()
    now = played(world, in_state(State.PRODUCTION), now=100_000.0)
    heals_by(Stage.RESET)(world)
    played(world, lambda world: any(each.ended_at for each in world.store.attempts("gpu-01")), now=now - 200)
    (attempt,) = world.store.attempts("gpu-01")
    assert attempt.at < now
    assert attempt.helped is True


def test_an_alarm_cordons_its_node_at_the_next_tick(make_world: Callable[..., TickContext]) -> None:
    """Nobody waits for the next sweep."""
    world = make_world()
    now = played(world, in_state(State.PRODUCTION)) + 50
    tick(world, now)
    heard = {"first_at": now, "last_at": now, "heard_at": now, "raised_at": now}
    world.store.keep_alarms(["gpu-01"], lambda _: [an_alarm(id=0, **heard)], now)
    tick(world, now + 1)
    node = world.store.nodes()[0]
    assert {Condition.PENDING, Condition.CORDONED} <= set(node.conditions) or node.state is State.RESET


def test_a_drain_is_undone_at_the_scheduler_whatever_the_node_went_through(
    make_world: Callable[..., TickContext],
) -> None:
    """Also when it comes back from a reset; once that has passed it is not asked again."""
    world = make_world()
    world.settings = world.settings.model_copy(update={"scheduler": "slurm"})
    now = played(world, in_state(State.PRODUCTION))
    assert told(world, Stage.RESUME) == []
    heals_by(Stage.RESET)(world)
    engine = world.engine
    assert isinstance(engine, Scripted)
    inner = engine.script
    free = Result("scheduler", Verdict.PASS, "idle", observed={"in_use": False})
    engine.script = lambda node, stage: (*(inner(node, stage) or ()), *((free,) if stage is Stage.DRAIN else ()))
    played(world, lambda world: bool(told(world, Stage.RESUME)), now=now)
    assert State.RESET in path(world)
    resumed = world.store.runs_of("gpu-01", Stage.RESUME, 5)
    for later in range(4):
        tick(world, now + 2000 + 10 * later)
    assert [run.outcome for run in world.store.runs_of("gpu-01", Stage.RESUME, 5)] == [Outcome.PASSED] * len(resumed)


def test_a_repaired_node_starts_anew(make_world: Callable[..., TickContext]) -> None:
    """What was tried before it earned production again is forgotten."""
    world = make_world()
    now = played(world, in_state(State.PRODUCTION))
    heals_by()(world)
    now = played(world, in_state(State.TRIAGE), now=now)
    tried = [each.remedy for each in world.store.attempts("gpu-01")]
    assert tried == [Remedy.RESET, Remedy.REBOOT]
    heals_by(Stage.VERIFY)(world)
    world.store.leave_intent("gpu-01", IntentKind.REPAIRED, "ann", reason="new GPU", now=now)
    now = played(world, in_state(State.PRODUCTION), now=now)
    heals_by(Stage.RESET)(world)
    played(world, lambda world: path(world)[-2:] == [State.RESET, State.PRODUCTION], now=now)
    assert [each.remedy for each in world.store.attempts("gpu-01")] == [*tried, Remedy.RESET]


def test_the_policy_is_read_again_and_a_broken_one_changes_nothing(tmp_path: Path) -> None:
    """Unless there is none yet that could stay in use."""
    file = tmp_path / "policy.yml"
    settings = replace_policy(file, "observe: true\n")
    policy = Policy()
    assert policy.rules(settings).observe is True
    assert policy.rules(settings) is policy.rules(settings)
    file.write_text("observe: 12345\n", encoding="utf-8")
    assert policy.rules(settings).observe is True
    file.write_text("observe: false  # now\n", encoding="utf-8")
    assert policy.rules(settings).observe is False
    file.write_text("observe: perhaps\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="observe: found 'perhaps'"):
        Policy().rules(settings)


@pytest.mark.parametrize("named", [True, False])
def test_a_policy_that_is_emptied_or_gone_stays_in_use(tmp_path: Path, *, named: bool) -> None:
    """Whoever writes it anew, or checks out another branch, must not end observing for a tick."""
    file = tmp_path / "policy.yml"
    settings = replace_policy(file, "observe: true\n") if named else load(inventory=tmp_path / "fleet.yml")
    file.write_text("observe: true\n", encoding="utf-8")
    policy = Policy()
    assert policy.rules(settings).observe is True
    for ruin in (lambda: file.write_text("", encoding="utf-8"), file.unlink):
        ruin()
        with capture_logs() as said:
            assert [policy.rules(settings).observe for _ in range(3)] == [True] * 3
        assert [row["event"] for row in said] == ["the policy cannot be used; the last good one stays in use"]
    file.write_text("{}\n", encoding="utf-8")
    assert policy.rules(settings).observe is False


def test_a_policy_that_is_added_later_comes_into_use(tmp_path: Path) -> None:
    """Until then the built-in rules hold."""
    settings = load(inventory=tmp_path / "fleet.yml")
    policy = Policy()
    assert [policy.rules(settings).observe for _ in range(2)] == [False] * 2
    (tmp_path / "policy.yml").write_text("observe: true\n", encoding="utf-8")
    assert policy.rules(settings).observe is True


def replace_policy(file: Path, text: str) -> Settings:
    """Settings that name a policy file with such a text."""
    file.write_text(text, encoding="utf-8")
    return load(policy_file=file)
