"""A night's look at a small fleet of which the truth is known: one GPU drifts, parts fail in one slot."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import delete, insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.trends import episodes, panels, stays
from fleet_runner.core.base.errors import ConflictError, FleetError
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.reliability.forecasts import Kind
from fleet_runner.core.reliability.trends import packing
from fleet_runner.core.reliability.trends.panel import Panel
from fleet_runner.reconcile.reliability import nightly
from fleet_runner.reconcile.reliability.nightly import run
from fleet_runner.settings import Settings

DAY, DAYS, NODES, GPUS = 86_400, 60, 8, 8
NOW = 20_780 * DAY + 9_000.0
LAST = int(NOW // DAY) - 1
WARM, SLOT = 11, ("gpu-04", "GPU 0000:2b:00.0")

METRIC = "gpu_core"


def name(node: int) -> str:
    """Name a node."""
    return f"gpu-{node:02d}"


def component(slot: int) -> str:
    """Name a place as findings do."""
    return f"GPU 0000:{16 * slot + 11:02x}:00.0"


def temperatures(slope: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return two months of noise, and of one GPU that has become warmer by so much a day for five weeks."""
    chance = np.random.default_rng(5)
    found = 55 + chance.normal(0, 2, (NODES * GPUS, 1)) + chance.normal(0, 0.6, (NODES * GPUS, DAYS))
    found[WARM, DAYS - 35 :] += slope * np.arange(35)
    return found.astype(np.float32)


def measured(store: Store, slope: float) -> None:
    """Keep them as days, in place of what was kept."""
    middle, rows = temperatures(slope), NODES * GPUS
    ids, ones = np.arange(1, rows + 1, dtype=np.uint32), np.full(rows, 24, np.uint32)
    given = [
        {"metric": METRIC, "day": day, "rows": rows, "body": packing.encode(
            Panel(METRIC, day, ids, ones, middle[:, at], np.full(rows, 0.4, np.float32)))}
        for at, day in enumerate(range(LAST - DAYS + 1, LAST + 1))
    ]  # fmt: skip
    with store._database.write() as connection:
        connection.execute(delete(panels))
        connection.execute(insert(panels), given)


def befell(store: Store) -> None:
    """Have three GPUs fail one after the other in one slot; the third was replaced, too."""
    first = NODES * GPUS + 1
    place = {"node": SLOT[0], "component": SLOT[1]}
    past = [
        {"id": first + at, "kind": "gpu", "serial": f"OLD-{at}", **place, "slot": "GPU 2",
         "first_at": NOW - (90 - 25 * at) * DAY, "last_at": NOW - (66 - 25 * at) * DAY}
        for at in range(3)
    ]  # fmt: skip
    faults = [
        {"id": at + 1, **place, "code": "xid.79", "fault": "f", "check": "", "serial": f"OLD-{at}",
         "first_at": NOW - (67 - 25 * at) * DAY, "last_at": NOW - (67 - 25 * at) * DAY + 60, "seen": 1}
        for at in range(3)
    ]  # fmt: skip
    with store._database.write() as connection:
        connection.execute(insert(stays), past)
        connection.execute(insert(episodes), faults)


def small_fleet(store: Store) -> Store:
    """Give a store nodes with eight GPUs each, and what they told."""
    store.register([Device(name(node), "hgx-h100", "gpu-server", "hall-1") for node in range(NODES)], NOW - 100 * DAY)
    given = [
        {"id": 1 + node * GPUS + slot, "kind": "gpu", "serial": f"S-{node}-{slot}", "node": name(node),
         "component": component(slot), "slot": f"GPU {slot}",
         "first_at": NOW - (15 if (name(node), component(slot)) == SLOT else 100) * DAY, "last_at": NOW - DAY}
        for node in range(NODES)
        for slot in range(GPUS)
    ]  # fmt: skip
    with store._database.write() as connection:
        connection.execute(insert(stays), given)
    measured(store, 0.5)
    befell(store)
    return store


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A source of truth that is away: what is not known of racks and profiles keeps nothing from being foreseen."""
    (tmp_path / "site").mkdir()
    (tmp_path / "inventory").mkdir()
    return Settings(state_dir=tmp_path, source=str(tmp_path / "site"), policy_file=None)


def look(store: Store, settings: Settings, now: float = NOW) -> str:
    """Look once, and say what came of it, also where something could not be done."""
    try:
        return run(settings, store, lambda: None, lambda _: None, now)
    except FleetError as error:
        return str(error)


def alarms(store: Store) -> dict[tuple[str, str], Remedy]:
    """Return what stands, by node and code, with what follows."""
    return {
        (each.node, each.code): each.remedy for each in store.standing_alarms() if each.source is Source.FORESIGHT
    }


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    """The small fleet's."""
    with Store.create(settings.store_url) as opened:
        yield small_fleet(opened)


def test_what_drifts_and_a_bad_slot_are_foreseen_and_watched(store: Store, settings: Settings) -> None:
    """A second look, and one after a look that was ended between two of its steps, doubles nothing."""

    def progress(sentence: str) -> None:
        if sentence.startswith("lemons"):  # a drift and a slot are foreseen, and no alarm is raised yet
            raise ConflictError("its lease is over")

    with pytest.raises(ConflictError):
        run(settings, store, lambda: None, progress, NOW)
    assert (len(store.foresights()), alarms(store)) == (2, {})
    said = run(settings, store, lambda: None, lambda _: None, NOW)
    assert "racks, sites and models of parts are left out, because the source of truth is away: " in said
    assert "not done" not in said
    seen = {(each.what.kind, each.what.node, each.what.component) for each in store.foresights()}
    assert seen == {(Kind.TREND, name(WARM // GPUS), component(WARM % GPUS)), (Kind.SLOT, *SLOT)}
    watched = {(name(WARM // GPUS), "foresight.trend"): Remedy.WATCH, ("gpu-04", "foresight.slot"): Remedy.WATCH}
    assert alarms(store) == watched
    look(store, settings, NOW + 60)
    assert alarms(store) == watched
    assert len(store.foresights(standing=False)) == len(store.past_alarms()) == 2
    assert all(store.analysis(each) for each in ("drift", "heat", "parts", "lemons", "lifetimes", "worth", "limits"))


def test_the_end_of_a_drift_clears_its_alarm(store: Store, settings: Settings) -> None:
    look(store, settings)
    measured(store, 0.0)
    look(store, settings, NOW + 3_600)
    assert alarms(store) == {("gpu-04", "foresight.slot"): Remedy.WATCH}
    assert [each.cleared_because for each in store.past_alarms() if each.cleared_at] == ["its sender ended it"]


def test_a_policy_makes_more_of_a_bad_slot(store: Store, settings: Settings, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yml"
    policy.write_text("rules:\n  - code: foresight.slot\n    remedy: TRIAGE\n")
    look(store, settings.model_copy(update={"policy_file": policy}))
    assert alarms(store)["gpu-04", "foresight.slot"] is Remedy.TRIAGE
    assert alarms(store)[name(WARM // GPUS), "foresight.trend"] is Remedy.WATCH


def test_an_analysis_that_cannot_be_made_leaves_the_others(
    store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it foresaw before stands."""
    look(store, settings)

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setitem(nightly.ANALYSES, "parts", broken)
    said = look(store, settings, NOW + 60)
    assert "; not done: parts: ZeroDivisionError" in said
    assert alarms(store)["gpu-04", "foresight.slot"] is Remedy.WATCH
    made = store.analysis("limits")
    assert made is not None
    assert made.at == NOW + 60
