"""Two listeners share a store: what one of them hears goes on, however silent it is for the other."""

from dataclasses import replace

from fleet_runner.adapters.store import Store
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.services.signals.counters import Counts
from fleet_runner.services.signals.inbox import Inbox
from fleet_runner.services.signals.senders import Roll
from fleet_runner.services.signals.worker import Worker, WorkerContext
from tests.adapters.store.builders import UrlMaker, device
from tests.adapters.store.faults.test_alarms import alarm, keep

DAY = 86_400.0
NOW = 20_000 * DAY


def worker(store: Store, times: list[float]) -> Worker:
    """Return who judges for one listener, by a clock that tells the last of some times."""
    roll, rules = Roll(store, lambda: Fleet((), {}, {}, {}, (), "1")), Rules()
    return Worker(WorkerContext(store, Inbox(), Counts(), roll, lambda: rules, lambda: None, lambda: times[-1]))


def test_an_alarm_that_another_listener_hears_of_is_not_silent(urls: UrlMaker) -> None:
    """The first one learns that it goes on; once nobody hears of it any more, it clears."""
    url, times = urls(), [NOW]
    with Store.open(url) as one, Store.open(url) as other:
        one.register([device("gpu-01")], 1.0)
        told = replace(alarm(), first_at=NOW, last_at=NOW, heard_at=NOW, raised_at=NOW)
        keep(one, told, now=NOW)
        mine = worker(one, times)
        mine.tend()
        later = NOW + 300 * DAY
        keep(other, replace(told, last_at=later, heard_at=later, count=7), now=later)
        times.append(later + 1)
        mine.tend()
        (stands,) = other.alarms("gpu-01")
        assert (stands.heard_at, stands.count, stands.cleared_at) == (later, 7, None)
        times.append(later + 300 * DAY)
        mine.tend()
        assert other.alarms("gpu-01") == ()
        assert "no more signals" in other.past_alarms("gpu-01")[0].cleared_because
