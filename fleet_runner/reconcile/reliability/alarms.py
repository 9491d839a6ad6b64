"""What is foreseen becomes alarms, so that the rules of the policy say what follows: a watch, unless they say more.

Alarms are made to agree with what stands, whatever happened in between: a night that was broken off is made up for by
the next one, and an alarm of which no night speaks any more clears by silence.

What rests on the past is still seen after a repair. So an alarm that its node came back from begins anew only with
what has befallen it since then; what a number does is believed again once it has done so for a week more, and a lemon
after four weeks.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.faults.alarms import Known, key
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from fleet_runner.core.faults.signals.signal import Signal, Source
from fleet_runner.core.reliability.forecasts import DRIFTS, PREFIX, Kind, StoredForecast

NODES = 200
"""Nodes whose alarms are written in one transaction."""

DAY = 86_400.0

AGAIN: Mapping[Kind, float] = {**dict.fromkeys(DRIFTS, 7 * DAY), Kind.LEMON: 28 * DAY}
"""Seconds in a state after which it is believed of a node though it began before; of other kinds it never is.

Of a number that is looked at in weeks it takes seven times as long: it has told as many new ones then.
"""

WORDS = 1_000
"""Characters of a message."""

Place = tuple[str, str]


def foretell(
    store: Store, rules: Rules, found: Sequence[StoredForecast], now: float, go_on: Callable[[], None]
) -> frozenset[str]:
    """Make alarms agree with what stands; return the nodes for which something is to be decided anew."""
    told: dict[str, list[StoredForecast]] = defaultdict(list)
    for each in found:
        told[each.what.node].append(each)
    standing = {alarm.node for alarm in store.standing_alarms() if alarm.source is Source.FORESIGHT}
    woken: set[str] = set()
    for names in _pieces(sorted({*told, *standing})):
        go_on()
        woken |= store.keep_alarms(names, lambda known: _judged(known, told, rules, now), now)
    return frozenset(woken)


def _judged(
    known: Iterable[Known], told: Mapping[str, Sequence[StoredForecast]], rules: Rules, now: float
) -> Iterator[Alarm]:
    """Tell each node's alarms what is seen of it now, and take back what is no longer seen."""
    for node in known:
        desk = AlarmEngine.of(node.standing, partial(_following, rules, node.device_type))
        signals = tuple(_signals(node, told.get(node.name, ()), now))
        changed = {key(alarm): alarm for alarm in desk.hear(signals, now).changed}
        changed |= {key(alarm): alarm for alarm in desk.unstored(now)}
        yield from changed.values()


def _following(rules: Rules, device_type: str, node: str, code: str) -> Following:
    del node
    return rules.of(device_type, code)


def _is_news(each: StoredForecast, since: float, now: float) -> bool:
    """Whether something foreseen says anything of a node as it is since it came to its state."""
    newest = max(each.first_at, each.what.numbers.get("last_at") or 0.0)
    again = AGAIN.get(each.what.kind, math.inf) * each.what.numbers.get("step_days", 1)
    return newest >= since or now >= since + again


def _signals(node: Known, found: Sequence[StoredForecast], now: float) -> Iterator[Signal]:
    """Say of each component and kind what is foreseen, in one sentence however many metrics say so."""
    seen: dict[Place, list[str]] = defaultdict(list)
    news: set[Place] = {(alarm.code, alarm.component) for alarm in node.standing}
    for each in found:
        place = each.what.code, each.what.component
        seen[place].append(each.what.sentence)
        if _is_news(each, node.since, now):
            news.add(place)
    for (code, component), sentences in seen.items():
        if (code, component) not in news:
            continue
        more = f" ({len(sentences) - 1} more like it: fleet-runner trends show {node.name})" if sentences[1:] else ""
        said = f"{sentences[0]}{more}"[:WORDS]
        yield Signal(node.name, code, component, now, Source.FORESIGHT, said, authenticated=True)
    for alarm in node.standing:
        mine = alarm.source is Source.FORESIGHT and alarm.code.startswith(PREFIX)
        if mine and (alarm.code, alarm.component) not in seen:
            over = "it is no longer seen"
            about = node.name, alarm.code, alarm.component
            yield Signal(*about, now, Source.FORESIGHT, over, ended=True, authenticated=True)


def _pieces(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[start : start + NODES] for start in range(0, len(names), NODES))
