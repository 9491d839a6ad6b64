"""The analyses of what checks are worth and of limits, from the store and the profiles of device types."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from fleet_runner.adapters.plays import profiles
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.reliability.check_value import chosen
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.check_value import analyse, proposals
from fleet_runner.core.reliability.check_value.analyse import CheckValue
from fleet_runner.core.reliability.check_value.limits import LIMITS, Limit, Look
from fleet_runner.core.reliability.check_value.past import DAY
from fleet_runner.core.reliability.check_value.proposals import Fleet, Limits
from fleet_runner.settings import Settings

DAYS = 30
"""Days that are looked back on."""


def worth(store: Store, now: float | None = None) -> CheckValue:
    """Judge the checks by the last 30 days."""
    until = time.time() if now is None else now
    since = until - DAYS * DAY
    return analyse.analyse(store.episodes(since), store.past_of_checks(since, until))


def limits(store: Store, settings: Settings, now: float | None = None) -> Limits:
    """Propose the limits that the last 30 days speak for; device types without a readable profile are left out."""
    until = time.time() if now is None else now
    since = until - DAYS * DAY
    fleet = known(store, since)
    looks = looked(store, fleet, (since, until))
    held: dict[str, dict[str, Any]] = {}
    for kind in sorted({*fleet.device_types.values()}):
        try:
            held[kind] = profiles.read(settings, kind)
        except SettingsError:
            continue  # a device type that nobody described has no limits to change; other places say that it has none
    return proposals.analyse(looks, fleet, held, (since, until))


def known(store: Store, since: float) -> Fleet:
    """Return which nodes there are, which have been good since a moment, and when which turned out bad."""
    here = [node for node in store.nodes() if node.device_type not in FABRIC_TYPES]
    bad = store.turned_bad(since)
    faulty = {each.node for each in store.episodes(since)} | bad.keys()
    good = {node.name for node in here if node.state is State.PRODUCTION} - faulty
    return Fleet({node.name: node.device_type for node in here}, frozenset(good), bad)


def looked(
    store: Store, fleet: Fleet, span: tuple[float, float], wanted: Sequence[Limit] = LIMITS
) -> Mapping[Limit, list[Look]]:
    """Return what looks at some nodes told: at those that turned out bad, and evenly at others."""
    mine = store.limit_looks(wanted, chosen(fleet.device_types, fleet.bad), *span)
    return mine | _counted(store, fleet, span, [limit for limit in wanted if limit.is_counted])


def _counted(
    store: Store, fleet: Fleet, span: tuple[float, float], wanted: Sequence[Limit]
) -> dict[Limit, list[Look]]:
    """Return what grew in each day: of what is counted since a boot, the panels of days hold the growth."""
    stays = {stay.id: stay.node for stay in store.stays()} if wanted else {}
    days = [int(at // DAY) for at in span]
    found: dict[Limit, list[Look]] = {}
    for limit in wanted:
        worst: dict[tuple[str, int], float] = {}
        for metric in limit.metrics:
            window = store.window(metric.name, days[0], days[1])
            for row, stay in enumerate(window.stays.tolist()):
                for column, value in enumerate(window.middle[row].tolist()):
                    if value == value:  # noqa: PLR0124  NaN: nothing was told that day
                        key = (stays.get(stay, ""), days[0] + column)
                        worst[key] = max(worst.get(key, value), value)
        found[limit] = [
            Look(node, day * DAY, value) for (node, day), value in worst.items() if node in fleet.device_types
        ]
    return found
