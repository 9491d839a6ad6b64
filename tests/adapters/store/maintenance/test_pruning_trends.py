"""What foresight rests on goes with time; which part was where stays, and so does what stands."""

from pathlib import Path

from sqlalchemy import insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.trends import episodes, panels, stays
from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.core.schedules.retention import DAY
from fleet_runner.reconcile.schedules.retention import pruned
from fleet_runner.settings import load

LATE = 20_000 * DAY
LEMONS = frozenset({Kind.LEMON})


def lemon(node: str) -> Foresight:
    """Foresee that a node is one."""
    return Foresight(Kind.LEMON, node, "", "It is one.")


def test_old_days_faults_and_what_was_foreseen_go(store: Store, tmp_path: Path) -> None:
    words = {"node": "gpu-01", "component": "GPU 3", "serial": "S-1"}
    fault = words | {"code": "xid.79", "fault": "f", "check": "xid", "first_at": 1.0, "seen": 1}
    with store._database.write() as connection:
        days = [{"metric": "watts", "day": day, "rows": 0, "body": b""} for day in (19_599, 19_600, 20_000)]
        connection.execute(insert(panels), days)
        connection.execute(insert(episodes), [fault | {"last_at": at} for at in (1.0, LATE - 400 * DAY, 2.0)])
        connection.execute(insert(stays), words | {"kind": "gpu", "slot": "", "first_at": 1.0, "last_at": 2.0})
    store.foresee(LEMONS, [lemon("gpu-01"), lemon("gpu-02")], 1.0)
    store.foresee(LEMONS, [lemon("gpu-02")], 2.0)
    always = load(state_dir=tmp_path, keep_trend_days=0.0)
    assert pruned(always, store, LATE) == pruned(always, store, LATE, dry=True)
    would = pruned(load(state_dir=tmp_path), store, LATE, dry=True)
    gone = pruned(load(state_dir=tmp_path), store, LATE)
    assert (gone.days, gone.episodes, gone.foreseen) == (would.days, would.episodes, would.foreseen) == (1, 1, 1)
    assert store.panel_days("watts") == (19_600, 20_000)
    assert [each.id for each in store.episodes(0.0)] == [2, 3], "the newest keeps its number"
    assert [each.what for each in store.foresights(standing=False)] == [lemon("gpu-02")]
    assert len(store.stays()) == 1


def test_the_store_says_how_much_of_it_there_is(store: Store) -> None:
    with store._database.write() as connection:
        days = [{"metric": "watts", "day": day, "rows": 0, "body": b""} for day in (19_999, 20_000)]
        connection.execute(insert(panels), days)
    (kind,) = [each for each in store.weighed(LATE).kinds if each.name == "days of metrics"]
    assert (kind.rows, kind.oldest, kind.newest, kind.lately) == (2, LATE - DAY, LATE, 1)
