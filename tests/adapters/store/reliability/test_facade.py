"""What is foreseen stands while it is seen; analyses are kept, and panels come back as windows."""

import numpy as np
from sqlalchemy import insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.trends import episodes, panels, stays
from fleet_runner.core.reliability.forecasts import Analysis, Foresight, Kind
from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.reliability.trends import packing
from fleet_runner.core.reliability.trends.panel import Panel

DRIFTS = frozenset({Kind.SHIFT, Kind.TREND})


def shift(node: str = "gpu-01", sentence: str = "It jumped.", **numbers: object) -> Foresight:
    """Foresee that a number of a GPU jumped."""
    return Foresight(Kind.SHIFT, node, "GPU 3", sentence, "gpu_core_celsius", "S-1", numbers)


def test_what_is_seen_again_stands_and_is_told_anew(store: Store) -> None:
    begun = store.foresee(DRIFTS, [shift(by=3.0)], 100.0)
    assert [(each.what, each.first_at, each.ended_at) for each in begun.begun] == [(shift(by=3.0), 100.0, None)]
    again = store.foresee(DRIFTS, [shift(sentence="It jumped further.", by=float("nan"))], 200.0)
    assert again.begun == again.ended == ()
    (standing,) = store.foresights()
    assert (standing.id, standing.first_at, standing.last_at) == (begun.begun[0].id, 100.0, 200.0)
    assert (standing.what.sentence, standing.what.numbers) == ("It jumped further.", {"by": None})


def test_what_is_not_seen_any_more_ends_and_may_begin_anew(store: Store) -> None:
    store.foresee(DRIFTS, [shift(), shift("gpu-02")], 100.0)
    ended = store.foresee(DRIFTS, [shift("gpu-02")], 200.0).ended
    assert [(each.what.node, each.ended_at) for each in ended] == [("gpu-01", 200.0)]
    assert [each.what.node for each in store.foresights()] == ["gpu-02"]
    assert [each.what.node for each in store.foresee(DRIFTS, [shift(), shift("gpu-02")], 300.0).begun] == ["gpu-01"]
    assert [each.first_at for each in store.foresights(node="gpu-01", standing=False)] == [300.0, 100.0]
    assert len(store.foresights(limit=1)) == 1


def test_an_analysis_ends_only_what_it_looks_for(store: Store) -> None:
    lemon = Foresight(Kind.LEMON, "gpu-01", "", "It is one.")
    store.foresee(frozenset({Kind.LEMON}), [lemon], 100.0)
    told = store.foresee(DRIFTS, [lemon], 200.0)
    assert (told.begun, told.ended) == ((), ())
    assert [each.what for each in store.foresights()] == [lemon]


def test_the_newest_of_each_analysis_is_kept(store: Store) -> None:
    assert store.analysis("lemons") is None
    store.keep_analysis("lemons", {"nodes": ["gpu-01"]}, 100.0, 1.0)
    store.keep_analysis("lemons", {"nodes": [], "share": float("inf")}, 200.0, 2.0)
    assert store.analysis("lemons") == Analysis("lemons", 200.0, 2.0, {"nodes": [], "share": None})


def test_panels_come_back_as_a_window_of_days(store: Store) -> None:
    for day, ids in ((10, [1, 3]), (12, [3, 70_000])):
        values = np.asarray(ids, np.float32)
        panel = Panel("watts", day, np.asarray(ids, np.uint32), np.asarray(ids, np.uint32), values, values / 8)
        row = {"metric": "watts", "day": day, "rows": 2, "body": packing.encode(panel)}
        with store._database.write() as connection:
            connection.execute(insert(panels), row)
    assert store.panel_days("watts") == (10, 12)
    window = store.window("watts", 9, 12)
    assert (window.days.tolist(), window.stays.tolist()) == ([9, 10, 11, 12], [1, 3, 70_000])
    assert window.count.tolist() == [[0, 1, 0, 0], [0, 3, 0, 3], [0, 0, 0, 70_000]]
    assert np.nan_to_num(window.middle, nan=-1).tolist() == [[-1, 1, -1, -1], [-1, 3, -1, 3], [-1, -1, -1, 70_000]]
    assert store.window("celsius", 9, 12).middle.shape == (0, 4)


def test_stays_and_faults_are_found_by_what_they_are_about(store: Store) -> None:
    there = [
        Stay(1, "gpu", "S-1", "gpu-01", "GPU 0000:1b:00.0", "GPU 3", 100.0, 200.0),
        Stay(2, "hca", "S-2", "gpu-01", "mlx5_0", "", 100.0, 200.0),
        Stay(3, "gpu", "S-1", "gpu-02", "GPU 0000:1b:00.0", "GPU 3", 300.0, 400.0),
    ]
    befell = [Episode(number, "gpu-01", "GPU 3", "xid.79", "f", "xid", "S-1", 1.0, number) for number in (100, 200)]
    with store._database.write() as connection:
        columns = [column.name for column in stays.columns]
        connection.execute(
            insert(stays), [{name: getattr(stay, name) for name in columns} for stay in reversed(there)]
        )
        columns = [column.name for column in episodes.columns]
        connection.execute(insert(episodes), [{name: getattr(each, name) for name in columns} for each in befell])
    assert store.stays() == tuple(there)
    assert store.stays(serial="S-1") == (there[0], there[2])
    assert store.stays(node="gpu-01", kind="hca") == (there[1],)
    assert store.stays_by_id() == {1: there[0], 2: there[1], 3: there[2]}
    assert store.episodes(200.0) == (befell[1],)
