"""One signal of a person, written as a listener would write it."""

from collections.abc import Iterator
from functools import partial

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.faults.alarms import Known
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from fleet_runner.core.faults.signals.memory import Outcome
from fleet_runner.core.faults.signals.signal import Signal


def send(store: Store, rules: Rules, signal: Signal, now: float) -> Outcome:
    """Have a signal judged by a desk that knows of its node what the store does; return what became of it."""
    became: list[Outcome] = []

    def judge(known: tuple[Known, ...]) -> Iterator[Alarm]:
        for node in known:
            desk = AlarmEngine.of(node.standing, partial(_following, rules, node.device_type))
            heard = desk.hear([signal], now)
            became.extend(heard.outcomes)
            yield from heard.changed

    store.keep_alarms([signal.node], judge, now)
    return became[0]


def _following(rules: Rules, device_type: str, node: str, code: str) -> Following:
    del node
    return rules.of(device_type, code)
