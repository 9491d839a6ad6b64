"""The night's look from end to end: what was put into weeks of results is gathered, foreseen, raised."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import update

from fleet_runner.adapters.files import policy as policy_file
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.core import nodes
from fleet_runner.core.base.errors import ConflictError, FleetError
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.reliability.forecasts import Foresight, Kind, StoredForecast
from fleet_runner.reconcile.reliability import nightly
from fleet_runner.reconcile.reliability.alarms import foretell
from fleet_runner.reconcile.schedules.runner import JOBS
from fleet_runner.settings import Settings
from tests.adapters.store.builders import device

DAY = 86_400
START, DAYS = 20_000, 45
NIGHT = (START + DAYS) * DAY + 3 * 3_600.0
NODES, GPUS = tuple(f"gpu-{number:02d}" for number in range(12)), 8
HOT = NODES[4], 3
"""The node and slot of the GPU that jumps by 12 C after thirty days."""

Jumps = dict[tuple[str, int], float]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A folder of site files that is not there: the store alone knows the fleet."""
    folder = tmp_path / "site"
    folder.mkdir()
    return Settings(state_dir=tmp_path, source=str(folder))


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    """A store with weeks of results, of which one GPU's are warmer than they were."""
    with Store.create(settings.store_url) as opened:
        opened.register([device(name) for name in NODES], START * DAY)
        tell(opened, range(DAYS), {HOT: 12.0})
        yield opened


def tell(store: Store, days: range, jumps: Jumps) -> None:
    """Store how warm each GPU was on each day; `jumps` are by how much some were warmer after thirty days."""
    chance = np.random.default_rng(days.start)
    for name in NODES:
        lines = [
            Judged(name, (START + day) * DAY + DAY / 2, warm(name, chance, jumps if day >= 30 else {}))
            for day in days
        ]
        assert store.record_by_hand(Stage.HEALTH_PASSIVE, "ada", lines, NIGHT) == ()


def warm(name: str, chance: np.random.Generator, jumps: Jumps) -> Result:
    """Each GPU tells how warm it is."""
    numbers = {
        f"0000:{16 * slot + 11:02x}:00.0": 55.0 + slot + jumps.get((name, slot), 0.0) + round(chance.normal(0, 1), 1)
        for slot in range(GPUS)
    }
    return Result("gpu_thermals", Verdict.PASS, "They are cool.", observed={"core_celsius": numbers})


def night(settings: Settings, store: Store, now: float = NIGHT) -> str:
    """Look once, whatever of it could not be done."""
    try:
        return nightly.run(settings, store, lambda: None, lambda _: None, now)
    except FleetError as error:
        return str(error)


def test_it_is_a_job_of_its_schedule() -> None:
    assert JOBS[nightly.NAME].does is nightly.look


def test_what_jumped_is_foreseen_once_and_its_alarm_asks_for_nothing_but_a_watch(
    settings: Settings, store: Store
) -> None:
    night(settings, store)
    (found,) = [each.what for each in store.foresights() if each.what.kind is Kind.SHIFT]
    assert (found.node, found.component) == (HOT[0], f"GPU 0000:{16 * HOT[1] + 11:02x}:00.0")
    (alarm,) = store.alarms(HOT[0])
    assert (alarm.code, alarm.component, alarm.source) == ("foresight.shift", found.component, Source.FORESIGHT)
    assert (alarm.remedy, alarm.raised_at) == (Remedy.WATCH, NIGHT)
    assert found.sentence in alarm.message
    assert "0 predicted, 0 no longer seen" in night(settings, store, NIGHT + 600)
    (again,) = store.alarms(HOT[0])
    assert (again.id, again.heard_at) == (alarm.id, NIGHT + 600)
    assert store.analysis("drift") is not None


def test_what_is_seen_no_more_takes_its_alarm_back(settings: Settings, store: Store) -> None:
    night(settings, store)
    tell(store, range(DAYS, DAYS + 60), {})
    night(settings, store, NIGHT + 60 * DAY)
    assert [each.what for each in store.foresights() if each.what.kind is Kind.SHIFT] == []
    assert store.alarms(HOT[0]) == ()


def test_nothing_is_foreseen_of_a_node_that_left_the_fleet(settings: Settings, store: Store) -> None:
    """Its numbers and what befell it are still there for months."""
    night(settings, store)
    with store._database.write() as connection:
        connection.execute(update(nodes).where(nodes.c.name == HOT[0]).values(state=State.RETIRED.value))
    night(settings, store, NIGHT + 600)
    assert (store.foresights(), store.alarms(HOT[0])) == ((), ())


def test_alarms_agree_with_what_stands_whatever_was_broken_off(settings: Settings, store: Store) -> None:
    """An alarm of which nothing stands any more is taken back, and others' alarms are left alone."""
    night(settings, store)
    rules = policy_file.rules(settings)
    assert foretell(store, rules, (), NIGHT + DAY, lambda: None) == {HOT[0]}
    (alarm,) = store.past_alarms(HOT[0])
    assert (alarm.cleared_at, alarm.cleared_because) == (NIGHT + DAY, "its sender ended it")
    assert foretell(store, rules, (), NIGHT + 2 * DAY, lambda: None) == frozenset()


def test_what_is_seen_since_before_a_repair_asks_again_only_when_it_goes_on(settings: Settings, store: Store) -> None:
    """A drift after a week, or seven; a slot with the next failure in it, a lemon after four weeks."""
    back, rules = NIGHT + DAY, policy_file.rules(settings)
    with store._database.write() as connection:
        connection.execute(update(nodes).where(nodes.c.name == HOT[0]).values(since=back))

    def told(kind: Kind, days: float, **numbers: float) -> bool:
        what = Foresight(kind, HOT[0], "GPU 3", "It is so.", numbers=numbers)
        foretell(store, rules, (StoredForecast(1, what, NIGHT, back, None),), back + days * DAY, lambda: None)
        stands = bool(store.alarms(HOT[0]))
        foretell(store, rules, (), back + days * DAY + 1, lambda: None)
        return stands

    assert not told(Kind.SHIFT, 6)
    assert not told(Kind.SLOT, 40, last_at=NIGHT)
    assert told(Kind.SLOT, 41, last_at=back + DAY)
    assert not told(Kind.LEMON, 27)
    assert [told(Kind.LEMON, 42), told(Kind.SHIFT, 43)] == [True, True]
    assert [told(Kind.TREND, 48, step_days=7), told(Kind.TREND, 49, step_days=7)] == [False, True]


def test_the_policy_may_have_more_follow(settings: Settings, store: Store, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yml"
    policy.write_text("rules:\n  - {code: foresight.shift, remedy: TRIAGE}\n", encoding="utf-8")
    night(settings.model_copy(update={"policy_file": policy}), store)
    (alarm,) = store.alarms(HOT[0])
    assert alarm.remedy is Remedy.TRIAGE


def test_who_is_to_end_loses_nothing_of_what_was_done(settings: Settings, store: Store) -> None:
    """Wherever it is broken off, the next look comes to the same."""
    for steps in (0, 1, 3, 60, 100):
        left = steps

        def go_on() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise ConflictError("this runner ends")

        with pytest.raises(ConflictError):
            nightly.run(settings, store, go_on, lambda _: None, NIGHT)
    night(settings, store)
    assert [each.what.node for each in store.foresights() if each.what.kind is Kind.SHIFT] == [HOT[0]]
    assert len(store.alarms(HOT[0])) == 1


def test_one_that_breaks_is_said_and_the_others_are_made(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(nightly, "ANALYSES", {**nightly.ANALYSES, "parts": breaks})
    said = night(settings, store)
    assert "parts: ZeroDivisionError; this runner's log says more" in said
    assert store.analysis("parts") is None
    assert store.analysis("worth") is not None
    assert len(store.alarms(HOT[0])) == 1


def test_who_waits_is_told_how_far_it_is(settings: Settings, store: Store) -> None:
    told: list[str] = []
    assert "the source of truth is away: " in nightly.run(settings, store, lambda: None, told.append, NIGHT)
    assert any(said.startswith("drift: metric 1 of ") for said in told)
    assert told[-1] == "alarms: updated from the predictions"
