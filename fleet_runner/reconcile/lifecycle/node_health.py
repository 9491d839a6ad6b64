"""What others say of the health of a cluster's nodes, kept as alarms: heard from the list that is read anyway."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.faults.alarms import Known, key
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals import kubernetes
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from fleet_runner.core.faults.signals.signal import Source

NODES = 200
"""Nodes whose alarms are written in one transaction."""

Conditions = Mapping[str, Iterable[Mapping[str, Any]]]


def hear(
    store: Store, rules: Rules, found: Conditions, heard: Mapping[str, str], go_on: Callable[[], bool]
) -> frozenset[str]:
    """Make alarms agree with what nodes' conditions say, by our names; return the nodes that are to be looked at."""
    now, woken = store.clock(), set[str]()
    standing = {alarm.node for alarm in store.standing_alarms() if alarm.source is Source.CLUSTER}
    names = sorted(name for name in found if name in standing or kubernetes.faulty(found[name], heard))
    for start in range(0, len(names), NODES):
        if not go_on():
            break
        woken |= store.keep_alarms(
            names[start : start + NODES], lambda known: _judged(known, rules, (found, heard), now), now
        )
    return frozenset(woken)


def _judged(
    known: Iterable[Known], rules: Rules, said: tuple[Conditions, Mapping[str, str]], now: float
) -> Iterator[Alarm]:
    found, heard = said
    for node in known:
        engine = AlarmEngine.of(node.standing, partial(_following, rules, node.device_type))
        codes = [alarm.code for alarm in node.standing if alarm.source is Source.CLUSTER]
        told = tuple(kubernetes.signals(node.name, found[node.name], heard, codes, now))
        changed = {key(alarm): alarm for alarm in engine.hear(told, now).changed}
        changed |= {key(alarm): alarm for alarm in engine.unstored(now)}
        yield from changed.values()


def _following(rules: Rules, device_type: str, node: str, code: str) -> Following:
    del node
    return rules.of(device_type, code)
