"""Halls of which it is known which place and which part is bad; short ways to say what befell a part."""

import random

from fleet_runner.core.reliability.parts.failures import DAY
from fleet_runner.core.reliability.parts.repeat_failures import DAYS, Given
from fleet_runner.core.reliability.parts.stay import Episode, Stay

NOW = 2_000 * DAY
SINCE = NOW - DAYS * DAY
GPUS = 8


def stay(number: int, serial: str, node: str, slot: int, *, since: float = SINCE, until: float = NOW) -> Stay:
    """A GPU in a slot."""
    return Stay(number, "gpu", serial, node, f"GPU {slot}", f"SXM{slot}", since, until)


def fault(
    number: int, node: str, component: str, at: float, code: str = "xid.79", *, serial: str = "", until: float = 0.0
) -> Episode:
    """A fault that was told."""
    return Episode(number, node, component, code, "f", "xid", serial, at, until or at)


def hall(
    seed: int, slots: int, parts: int, nodes: int = 60, a_year: float = 12.0
) -> tuple[Given, set[str], set[str]]:
    """A hall of which so many places and parts are bad; return both beside it.

    A part that failed is swapped for a new one, or for a bad one in which nobody found a trouble.
    """
    chance = random.Random(seed)
    places = [(f"gpu-{node:03}", slot) for node in range(nodes) for slot in range(GPUS)]
    here = {where: (f"S{number}", SINCE) for number, where in enumerate(places)}
    bad = set(chance.sample(places, slots))
    sick = {here[where][0] for where in chance.sample(sorted(set(places) - bad), parts)}
    stays: list[Stay] = []
    told: list[Episode] = []
    shelf: list[str] = []
    for day in range(int(DAYS)):
        fails = [each for each in places if (each in bad or here[each][0] in sick) and chance.random() < 12 / 365]
        fails += [each for each in places if chance.random() < 0.06 / 365]
        for node, slot in sorted(set(fails)):
            at = SINCE + day * DAY + chance.random() * DAY / 2
            serial, since = here[node, slot]
            told.append(fault(len(told) + 1, node, f"GPU {slot}", at, serial=serial))
            stays.append(stay(len(stays) + 1, serial, node, slot, since=since, until=at + 3_600))
            mended = [each for each in shelf if each in sick]  # "no trouble found": it goes in again first
            fresh = mended[0] if mended else f"N{len(stays)}"
            shelf = [each for each in shelf if each != fresh]
            shelf.append(serial)
            here[node, slot] = (fresh, at + DAY / 4)
    for (node, slot), (serial, since) in here.items():
        stays.append(stay(len(stays) + 1, serial, node, slot, since=since))
    given = Given(SINCE, NOW, stays, told, types=dict.fromkeys({node for node, _ in places}, "hgx"))
    return given, {f"{node} GPU {slot}" for node, slot in bad}, sick
