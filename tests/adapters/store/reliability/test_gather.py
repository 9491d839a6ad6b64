"""New results are read once: days, parts and faults come of them, and a kill in the middle changes nothing."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import delete, insert, update

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.faults import alarm_episodes
from fleet_runner.adapters.store.reliability import chunks
from fleet_runner.adapters.store.reliability import gather as gathering
from fleet_runner.adapters.store.schema.core import results
from fleet_runner.adapters.store.schema.remedies import alarms
from fleet_runner.adapters.store.schema.trends import episodes
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.reliability.forecasts import Gathered
from fleet_runner.core.reliability.trends.metrics import METRICS
from tests.adapters.store.builders import UrlMaker, device, failing_after
from tests.waiting import PATIENCE

DAY = 86_400
NOON = 20_000 * DAY + DAY / 2
NODES = tuple(f"gpu-{number:02d}" for number in range(1, 8))
PCI = "0000:1b:00.0"
GPU = f"GPU {PCI}"


ALARM: dict[str, Any] = dict.fromkeys(("fault", "message", "remedy", "cleared_because"), "") | {
    "node": "gpu-01", "source": "kernel", "at_once": False, "heard_at": NOON, "component": GPU, "first_at": NOON,
    "last_at": NOON + 1, "count": 2, "cleared_at": None, "authenticated": True,
}  # fmt: skip
"""A row of an alarm that stands."""


def said(node: str, check: str, at: float, observed: dict[str, Any], *faults: Finding) -> Judged:
    """A result of a node."""
    verdict = Verdict.FAIL if faults else Verdict.PASS
    return Judged(node, at, Result(check, verdict, "It says so.", faults, observed))


def part(node: str, at: float, serial: str) -> Judged:
    """A GPU tells its serial number."""
    return said(node, "parts_gpu", at, {"parts": {GPU: {"serial": serial, "slot": "SXM3"}}})


def warm(node: str, at: float, celsius: object) -> Judged:
    """A GPU tells how warm it is."""
    return said(node, "gpu_thermals", at, {"core_celsius": {PCI: celsius}})


def replays(node: str, at: float, count: int) -> Judged:
    """A GPU tells how often it has sent a packet again."""
    return said(node, "gpu_pcie", at, {"gpus": {PCI: {"replays": count, "width": 16}}})


def fell(node: str, at: float) -> Judged:
    """A GPU fell off the bus."""
    finding = Finding("xid.79", GPU, "It fell off the bus.", Remedy.REBOOT, f"xid.79:{node}", (node,))
    return said(node, "xid", at, {}, finding)


def tell(store: Store, *lines: Judged) -> None:
    """Store results, each node's as a run of its own."""
    assert store.record_by_hand(Stage.HEALTH_PASSIVE, "ada", lines, NOON) == ()


def gather(store: Store, now: float = NOON + DAY) -> Gathered:
    """Gather everything that is followed."""
    return store.gather(METRICS, lambda _: None, now=now)


def day(store: Store, metric: str, at: float = NOON) -> dict[int, tuple[int, float, float]]:
    """Return one day of a metric: by stay how many numbers, their median and the deviation from it."""
    window = store.window(metric, int(at // DAY), int(at // DAY))
    rows = zip(window.stays, window.count[:, 0], window.middle[:, 0], window.spread[:, 0], strict=True)
    return {int(stay): (int(count), float(middle), float(spread)) for stay, count, middle, spread in rows}


@pytest.fixture
def fleet(store: Store) -> Store:
    """A store that knows seven nodes."""
    store.register([device(name) for name in NODES], 100.0)
    return store


def test_a_day_becomes_a_median_of_each_part(fleet: Store) -> None:
    tell(fleet, part("gpu-01", NOON, "S-1"))
    tell(fleet, *(warm("gpu-01", NOON + number, celsius) for number, celsius in enumerate((60, 61.5, 70))))
    told = gather(fleet)
    (stay,) = fleet.stays()
    assert (stay.kind, stay.serial, stay.node, stay.component, stay.slot) == ("gpu", "S-1", "gpu-01", GPU, "SXM3")
    assert (stay.first_at, stay.last_at) == (NOON, NOON + 2)
    assert day(fleet, "gpu_core") == {stay.id: (3, 61.5, 1.5)}
    assert told == Gathered(results=4, numbers=3, panels=1, stays=1)
    assert gather(fleet) == Gathered()


def test_a_part_that_was_replaced_begins_a_history_of_its_own(fleet: Store) -> None:
    tell(fleet, warm("gpu-01", NOON, 60), part("gpu-01", NOON + 1, "S-1"))
    tell(fleet, warm("gpu-01", NOON + 100, 80), part("gpu-01", NOON + 101, "S-2"))
    gather(fleet)
    tell(fleet, warm("gpu-01", NOON + 200, 82), part("gpu-01", NOON + 201, "S-2"))
    gather(fleet)
    first, second = fleet.stays()
    assert (first.serial, first.last_at, second.serial, second.last_at) == ("S-1", NOON + 1, "S-2", NOON + 201)
    assert day(fleet, "gpu_core") == {first.id: (1, 60.0, 0.0), second.id: (2, 81.0, 1.0)}


def test_a_place_whose_part_tells_its_serial_later_is_that_parts(fleet: Store) -> None:
    tell(fleet, warm("gpu-01", NOON, 60))
    gather(fleet)
    tell(fleet, part("gpu-01", NOON + 1, "S-1"))
    gather(fleet)
    assert [(stay.serial, stay.first_at) for stay in fleet.stays()] == [("S-1", NOON)]


def test_counters_grow_across_nights_and_boots(fleet: Store) -> None:
    tell(fleet, replays("gpu-01", NOON - DAY, 100))
    tell(fleet, replays("gpu-01", NOON - 10, 107))
    gather(fleet, NOON)
    assert [row[:2] for row in day(fleet, "gpu_pcie_replays").values()] == [(1, 7.0)]
    tell(fleet, replays("gpu-01", NOON, 109))
    tell(fleet, replays("gpu-01", NOON + 10, 3))
    gather(fleet)
    assert [row[:2] for row in day(fleet, "gpu_pcie_replays").values()] == [(3, 12.0)]


def test_faults_that_go_on_are_one_episode_with_the_part_that_was_there(fleet: Store) -> None:
    tell(fleet, part("gpu-01", NOON, "S-1"))
    tell(fleet, fell("gpu-01", NOON + 1), fell("gpu-02", NOON))
    gather(fleet)
    tell(fleet, fell("gpu-01", NOON + DAY))
    tell(fleet, fell("gpu-01", NOON + 10 * DAY))
    gather(fleet, NOON + 20 * DAY)
    found = [(each.node, each.serial, each.first_at - NOON, each.seen) for each in fleet.episodes(0.0)]
    assert found == [("gpu-01", "S-1", 1, 2), ("gpu-02", "", 0, 1), ("gpu-01", "S-1", 10 * DAY, 1)]
    assert [each.first_at - NOON for each in fleet.episodes(NOON + 2 * DAY)] == [10 * DAY]


def test_what_cannot_be_is_left_out_and_counted(fleet: Store) -> None:
    tell(fleet, warm("gpu-01", NOON, "60 C"), warm("gpu-01", NOON, True), warm("gpu-01", NOON, None))  # noqa: FBT003  what a node may tell
    tell(fleet, warm("gpu-01", NOON, 333.0), warm("gpu-01", NOON, float("nan")), warm("gpu-01", NOON, 10**400))
    tell(fleet, said("gpu-01", "gpu_thermals", NOON, {"core_celsius": [60], "margin_celsius": {"\x1b[2J": 3}}))
    tell(fleet, warm("gpu-01", NOON, 61))
    told = gather(fleet)
    assert (told.numbers, dict(told.left_out)) == (1, {"garbage": 4, "absurd": 3})
    assert [row[1] for row in day(fleet, "gpu_core").values()] == [61.0]


def test_what_is_told_of_a_time_to_come_counts_once_when_it_has_come(fleet: Store) -> None:
    """Of a run whose clock was wrong nothing is lost, and what else was told among it counts once."""
    tell(fleet, warm("gpu-01", NOON + 10 * DAY, 70), warm("gpu-01", NOON, 60), warm("gpu-02", NOON + 4 * DAY, 65))
    tell(fleet, fell("gpu-03", NOON + 4 * DAY), replays("gpu-01", NOON, 3))
    assert dict(gather(fleet).left_out) == {"ahead": 3}
    tell(fleet, warm("gpu-01", NOON + 1, 62), warm("gpu-03", NOON + 10 * DAY, 71))
    assert (gather(fleet).numbers, gather(fleet).results) == (1, 0)
    assert gather(fleet, NOON + 4 * DAY).numbers == 1
    assert [each.node for each in fleet.episodes(0.0)] == ["gpu-03"]
    assert gather(fleet, NOON + 11 * DAY).numbers == 2
    assert [each.seen for each in fleet.episodes(0.0)] == [1]
    assert gather(fleet, NOON + 12 * DAY) == Gathered()
    told = [[row[:2] for row in day(fleet, "gpu_core", NOON + at * DAY).values()] for at in (0, 4, 10)]
    assert told == [[(2, 61.0)], [(1, 65.0)], [(1, 70.0), (1, 71.0)]]


def test_what_is_told_late_is_of_its_day_and_counts_once(fleet: Store) -> None:
    """Also where the clock of who gathers is years behind, or ahead."""
    tell(fleet, warm("gpu-01", NOON, 60), fell("gpu-01", NOON))
    assert gather(fleet, NOON - 900 * DAY).numbers == 0
    assert gather(fleet, NOON + 900 * DAY).numbers == 1
    tell(fleet, warm("gpu-01", NOON - 500 * DAY, 50), warm("gpu-01", NOON + 1, 64), fell("gpu-01", NOON + 2))
    assert (gather(fleet).numbers, gather(fleet, NOON + 900 * DAY)) == (2, Gathered())
    assert [row[:2] for row in day(fleet, "gpu_core").values()] == [(2, 62.0)]
    assert [row[:2] for row in day(fleet, "gpu_core", NOON - 500 * DAY).values()] == [(1, 50.0)]
    assert [each.seen for each in fleet.episodes(0.0)] == [2]


def test_a_look_at_what_waits_that_is_broken_off_goes_on_as_it_began(
    fleet: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second half is read a day later, and both halves up to the same moment: what came since counts once."""
    monkeypatch.setattr(gathering, "GROUP", 1)
    monkeypatch.setattr(gathering, "LARGEST", 0)
    stamps = [NOON + each * DAY for each in (0, 2, 3)]
    tell(fleet, *(warm(node, at, 60) for node in ("gpu-01", "gpu-02") for at in stamps))

    def stop(_: str) -> None:
        raise InterruptedError

    for now in (NOON, NOON + 2 * DAY):
        with pytest.raises(InterruptedError):
            fleet.gather(METRICS, stop, now=now)
        gather(fleet, now + DAY)
    gather(fleet, NOON + 9 * DAY)
    assert [[row[0] for row in day(fleet, "gpu_core", at).values()] for at in stamps] == [[1, 1]] * 3


def lines() -> list[list[Judged]]:
    """Return what seven nodes tell in four runs."""
    return [
        [
            line
            for number, node in enumerate(NODES)
            for line in (
                part(node, NOON + run, f"S-{number}"),
                warm(node, NOON + run + 1, 50 + number + run),
                replays(node, NOON + run + 2, 10 * run * number),
                *([fell(node, NOON + run)] if number == 3 else []),
            )
        ]
        for run in range(4)
    ]


def everything(store: Store) -> Any:
    """Return all that gathering came to, but for the numbers of what was numbered."""
    named = {stay.id: stay for stay in store.stays()}
    metrics = {
        metric: {(named[stay].node, named[stay].serial): row for stay, row in day(store, metric).items()}
        for metric in ("gpu_core", "gpu_pcie_replays", "gpu_pcie_width")
    }
    befell = sorted((each.node, each.first_at, each.last_at, each.seen) for each in store.episodes(0.0))
    return metrics, befell, sorted((each.node, each.first_at, each.last_at) for each in named.values())


def test_a_kill_at_any_statement_loses_nothing_and_doubles_nothing(
    urls: UrlMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "GROUP", 2)
    monkeypatch.setattr(gathering, "LARGEST", 5)
    expected = None
    for statements in (10_000, 3, 9, 14, 20, 27, 33, 40):
        with Store.open(urls()) as store:
            store.register([device(name) for name in NODES], 100.0)
            for run in lines():
                tell(store, *run)
            for _ in range(3):
                with failing_after(store, statements):
                    try:
                        gather(store)
                    except (OSError, StoreError):
                        continue
            gather(store)
            expected = expected or everything(store)
            assert everything(store) == expected
            assert gather(store).results == 0
    assert expected is not None
    assert expected[0]["gpu_core"]["gpu-07", "S-6"] == (4, 57.5, 1.0)
    assert expected[0]["gpu_pcie_replays"]["gpu-07", "S-6"] == (3, 180.0, 0.0)
    assert expected[1] == [("gpu-04", NOON, NOON + 3, 4)]


def test_whoever_stops_it_between_pieces_has_what_was_read(fleet: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "GROUP", 2)
    monkeypatch.setattr(gathering, "LARGEST", 1)
    for run in lines():
        tell(fleet, *run)

    def stop(_: str) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        fleet.gather(METRICS, stop, now=NOON + DAY)
    assert len(day(fleet, "gpu_core")) == 2
    assert gather(fleet).results == 5 * 4 * 3 + 4
    assert len(day(fleet, "gpu_core")) == 7


def test_of_two_who_gather_one_gives_up(fleet: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(fleet, warm("gpu-01", NOON, 60), warm("gpu-02", NOON, 61))
    write = chunks.write

    def late(*given: Any) -> Any:
        monkeypatch.setattr(gathering, "write", write)
        assert gather(fleet).numbers == 2
        return write(*given)

    monkeypatch.setattr(gathering, "write", late)
    with pytest.raises(ConflictError, match="somebody else"):
        gather(fleet)
    assert [row[0] for row in day(fleet, "gpu_core").values()] == [1, 1]


def test_whoever_writes_results_for_a_while_is_waited_for(postgresql_urls: UrlMaker) -> None:
    """The prune takes results away for seconds; a night whose look gave up for that would be lost."""
    url = postgresql_urls()
    with closing(connect(url)) as slow, Store.open(url) as store, ThreadPoolExecutor(1) as pool:
        store.register([device("gpu-01")], 100.0)
        tell(store, warm("gpu-01", NOON, 60))
        with slow.write() as connection:
            connection.execute(delete(results).where(results.c.node == "nobody"))
            told = pool.submit(gather, store)
            with pytest.raises(TimeoutError):
                told.result(1.0)
        assert told.result(PATIENCE).numbers == 1


def test_two_who_read_alarms_at_once_keep_each_once(postgresql_urls: UrlMaker) -> None:
    url = postgresql_urls()
    with closing(connect(url)) as other, Store.open(url) as store, ThreadPoolExecutor(1) as pool:
        store.register([device("gpu-01")], 100.0)
        with store._database.write() as connection:
            connection.execute(insert(alarms), [ALARM | {"code": "xid.48", "raised_at": NOON}])
        gather(store, NOON - DAY)
        with store._database.write() as connection:
            connection.execute(delete(episodes))
        with other.write() as connection:
            assert alarm_episodes.keep(connection, NOON + DAY) == 1
            told = pool.submit(gather, store)
            with pytest.raises(TimeoutError):
                told.result(1.0)
        assert told.result(PATIENCE).episodes == 1
        assert len(store.episodes(0.0)) == 1


def test_what_a_node_says_of_others_is_not_held_against_them(fleet: Store) -> None:
    finding = Finding("xid.79", GPU, "It fell off the bus.", Remedy.REBOOT, "f", ("gpu-02", "gpu-03", "nobody"))
    tell(fleet, said("gpu-01", "xid", NOON, {}, finding))
    gather(fleet)
    assert [each.node for each in fleet.episodes(0.0)] == ["gpu-01"]


def test_alarms_that_stand_befell_the_part_that_is_there_if_their_sender_was_authenticated(fleet: Store) -> None:
    tell(fleet, part("gpu-01", NOON, "S-1"))
    rows = [
        ALARM | {"code": "xid.48", "raised_at": NOON},
        ALARM | {"code": "xid.63", "raised_at": None},
        ALARM | {"code": "xid.94", "raised_at": NOON, "authenticated": False},
        ALARM | {"code": "foresight.shift", "raised_at": NOON},
        ALARM | {"code": "xid.31", "raised_at": NOON, "cleared_at": NOON - 5},
    ]
    with fleet._database.write() as connection:
        connection.execute(insert(alarms), rows)
    assert gather(fleet).episodes == 2
    with fleet._database.write() as connection:
        connection.execute(update(alarms).values(last_at=NOON + 90, count=3))
    assert gather(fleet, NOON + 3 * DAY).episodes == 1
    found = [(each.code, each.serial, each.last_at - NOON, each.seen, each.check) for each in fleet.episodes(0.0)]
    assert found == [("xid.48", "S-1", 90, 3, ""), ("xid.31", "S-1", 1, 2, "")]
