"""Alarms: one stands per node, code and component; only what decides wakes a node and is history."""

from collections.abc import Iterable
from dataclasses import replace
from threading import Barrier, Thread
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.faults.alarms import Known
from fleet_runner.adapters.store.faults.signal_counters import SignalCount
from fleet_runner.core.base.errors import UnwritableError
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.checks.answers import fault_key
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.lifecycle.runs import IntentKind
from tests.adapters.store.builders import UrlMaker, decision, device, node

NOW = 1_000.0


def alarm(name: str = "gpu-01", code: str = "xid.79", component: str = "0000:0f:00.0", **more: Any) -> Alarm:
    """Return an alarm that counts since it was first heard."""
    given = {"message": "GPU fell off the bus", "remedy": Remedy.POWER_CYCLE, "at_once": True, "raised_at": NOW}
    more = {"authenticated": True, **more}
    times = {"first_at": NOW, "last_at": NOW, "heard_at": NOW}
    fault = fault_key(name, code, component)
    return Alarm(name, code, component, fault, Source.KERNEL, **{**given, **times, **more})


def keep(store: Store, *changed: Alarm, now: float = NOW) -> frozenset[str]:
    """Write alarms."""
    return store.keep_alarms({each.node for each in changed}, lambda known: changed if known else (), now)


def told(store: Store, name: str = "gpu-01") -> list[str]:
    """Return what the history says of alarms."""
    return [entry.sentence for entry in store.history(name, kind="alarm")]


def test_one_is_read_as_it_was_written(stocked: Store) -> None:
    """With an id of its own."""
    wanted = alarm(count=3, cleared_because="", message="Straße \N{SNOWMAN}", raised_at=None, at_once=False)
    keep(stocked, wanted)
    (found,) = stocked.alarms("gpu-01")
    assert found.id > 0
    assert replace(found, id=0) == wanted
    assert stocked.standing_alarms() == (found,)


def test_a_signal_again_changes_the_row_and_nothing_else(stocked: Store) -> None:
    """The node is woken once, by what raised it."""
    assert keep(stocked, alarm()) == {"gpu-01"}
    version = node(stocked).version
    assert not keep(stocked, alarm(count=2, last_at=NOW + 5, heard_at=NOW + 5), now=NOW + 5)
    (found,) = stocked.alarms("gpu-01")
    assert (found.count, found.last_at) == (2, NOW + 5)
    assert node(stocked).version == version
    assert told(stocked) == ["Alarm xid.79 of 0000:0f:00.0: GPU fell off the bus"]


def test_what_does_not_count_yet_wakes_nobody_until_it_does(stocked: Store) -> None:
    """Then the history says so, once."""
    assert not keep(stocked, alarm(raised_at=None))
    assert told(stocked) == []
    assert keep(stocked, alarm(count=2, raised_at=NOW + 1), now=NOW + 1) == {"gpu-01"}
    assert len(told(stocked)) == 1


@pytest.mark.parametrize("more", [{"remedy": Remedy.RESET}, {"at_once": False}])
def test_another_remedy_wakes_the_node(stocked: Store, more: dict[str, Any]) -> None:
    """It is no new alarm."""
    keep(stocked, alarm())
    assert keep(stocked, alarm(**more)) == {"gpu-01"}
    assert len(told(stocked)) == 1


def test_what_is_cleared_is_kept_and_the_next_begins_anew(stocked: Store) -> None:
    """Also within one batch."""
    keep(stocked, alarm())
    gone = alarm(cleared_at=NOW + 9, cleared_because="its sender ended it")
    assert keep(stocked, gone, alarm(first_at=NOW + 10, count=1), now=NOW + 10) == {"gpu-01"}
    first, second = stocked.past_alarms("gpu-01")
    assert stocked.standing_alarms(since=NOW + 9) == (first, second)
    assert stocked.standing_alarms(since=NOW + 9.5) == stocked.standing_alarms() == (second,)
    assert (first.cleared_at, first.cleared_because) == (NOW + 9, "its sender ended it")
    assert stocked.alarms("gpu-01") == (second,)
    assert second.first_at == NOW + 10
    assert told(stocked)[1] == "Alarm xid.79 of 0000:0f:00.0 is cleared: its sender ended it"
    assert len(told(stocked)) == 3


def test_raised_and_cleared_in_one_batch_leaves_a_row_and_both_sentences(stocked: Store) -> None:
    """Changed in between, too: the last word on each is written."""
    gone = alarm(count=2, cleared_at=NOW + 2, cleared_because="over")
    keep(stocked, alarm(), alarm(count=2), gone)
    assert stocked.alarms("gpu-01") == ()
    (found,) = stocked.past_alarms()
    assert (found.count, found.cleared_at) == (2, NOW + 2)
    assert len(told(stocked)) == 2


def test_what_never_counted_clears_in_silence(stocked: Store) -> None:
    """With a row or without one."""
    keep(stocked, alarm(raised_at=None))
    gone = alarm(raised_at=None, cleared_at=NOW + 1, cleared_because="over")
    assert not keep(stocked, gone)
    assert not keep(stocked, gone)
    assert told(stocked) == []
    assert len(stocked.past_alarms()) == 1


def test_one_that_somebody_else_cleared_begins_anew(stocked: Store) -> None:
    """`clear` is a decision's; a listener that did not know of it opens a new row."""
    keep(stocked, alarm())
    (found,) = stocked.alarms("gpu-01")

    def judged(known: tuple[Known, ...]) -> Iterable[Alarm]:
        assert [each.standing for each in known] == [(found,)]
        return [alarm(cleared_at=NOW, cleared_because="a check passed"), alarm(first_at=NOW + 1)]

    stocked.keep_alarms(["gpu-01"], judged, NOW)
    assert len(stocked.past_alarms()) == 2


def test_nodes_are_shown_with_what_is_known_of_them_and_strangers_are_left_out(stocked: Store) -> None:
    """In the order of their names."""
    seen: list[Known] = []
    keep(stocked, alarm("gpu-02"))

    def judged(known: tuple[Known, ...]) -> Iterable[Alarm]:
        seen.extend(known)
        return ()

    stocked.keep_alarms(["gpu-99", "gpu-02", "gpu-01"], judged, NOW)
    assert [(each.name, each.device_type, each.since, len(each.standing)) for each in seen] == [
        ("gpu-01", "hgx", 100.0, 0),
        ("gpu-02", "hgx", 100.0, 1),
    ]


def test_hostile_words_are_bounded_and_stay_one_alarm(stocked: Store) -> None:
    """A name that is cut is still found again."""
    long = alarm(component="x" * 5_000, message="\0" + "y" * 50_000, count=2**40)
    keep(stocked, long)
    assert not keep(stocked, long)
    (found,) = stocked.alarms("gpu-01")
    assert len(found.component) == 400
    assert len(found.message) < 21_000


def test_counters_add_up(stocked: Store) -> None:
    """Each source and word has one."""
    counted = {("kernel", "taken"): SignalCount("kernel", "taken", 2, NOW, "192.0.2.1")}
    for _ in range(2):
        stocked.count_heard(counted, {})
    assert stocked.heard() == (SignalCount("kernel", "taken", 4, NOW, "192.0.2.1"),)


def test_writers_beside_each_other_lose_and_double_nothing(urls: UrlMaker) -> None:
    """Each adds to what it is shown, as two listeners do; the count is exact."""
    url, writers, times = urls(), 4, 10
    with Store.open(url) as store:
        store.register([device("gpu-01"), device("gpu-02")], 1.0)
    start = Barrier(writers)

    def judged(known: tuple[Known, ...]) -> Iterable[Alarm]:
        for each in known:
            before = sum(one.count for one in each.standing)
            yield alarm(each.name, count=before + 1)

    def work(order: tuple[str, str]) -> None:
        with Store.open(url) as store:
            start.wait()
            for _ in range(times):
                store.keep_alarms(order, judged, NOW)

    orders = [("gpu-01", "gpu-02"), ("gpu-02", "gpu-01")] * (writers // 2)
    threads = [Thread(target=work, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Store.open(url) as store:
        assert [(each.node, each.count) for each in store.standing_alarms()] == [
            ("gpu-01", writers * times),
            ("gpu-02", writers * times),
        ]


def test_the_types_of_nodes_are_known_by_name(stocked: Store) -> None:
    """Of all of them at once, and of no fabric."""
    stocked.register([device("ib-1", device_type=FABRIC_TYPES[0])], 1.0)
    assert stocked.node_types() == {"gpu-01": "hgx", "gpu-02": "hgx", "gpu-03": "hgx"}


def test_what_can_never_be_written_is_told_apart_from_a_store_in_trouble(stocked: Store) -> None:
    """An alarm of no node: trying again would change nothing."""
    with pytest.raises(UnwritableError, match="nothing was half-written"):
        stocked.keep_alarms(["gpu-01"], lambda _: (alarm(name="gpu-99"),), NOW)


def test_nodes_that_alarms_tell_of_come_before_all_others(store: Store) -> None:
    """Until they are decided for; a request only wakes."""
    store.register([device(f"gpu-{number:02d}") for number in (1, 2, 3, 4)], NOW)
    for number in (1, 2, 3, 4):
        store.apply(node(store, f"gpu-{number:02d}"), decision(wake_at=NOW + 100), NOW)
    store.leave_intent("gpu-01", IntentKind.HOLD, "ada", now=NOW)
    keep(store, alarm("gpu-03"), alarm("gpu-02"))
    assert [found.name for found in store.due(NOW)] == ["gpu-02", "gpu-03", "gpu-01"]
    assert [found.name for found in store.pressing(20)] == ["gpu-02", "gpu-03"]
    assert [found.name for found in store.pressing(1)] == ["gpu-02"]
    store.apply(node(store, "gpu-02"), decision(wake_at=NOW), NOW)
    assert [found.name for found in store.pressing(20)] == ["gpu-03"]
