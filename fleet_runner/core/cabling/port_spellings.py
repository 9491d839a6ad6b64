"""The ways in which vendors write one Ethernet port: "Ethernet1/28", "Eth1/28" and "Et1/28"; SONiC's alias "etp2".

A port answers to another spelling of its own name only where no other designed port of its device could be meant.
"""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from fleet_runner.core.cabling.port_numbers import Numbering

_WRITTEN = (
    ("", ("e", "et", "eth", "ethernet")),
    ("1g", ("gi", "ge", "gig", "gige", "gigabitethernet", "1ge", "1gige")),
    ("10g", ("te", "ten", "tengige", "tengigabitethernet", "xe", "xge", "10ge", "10gige")),
    ("25g", ("twe", "twentyfivegige", "twentyfivegigabitethernet", "25ge", "25gige")),
    ("40g", ("fo", "fortygige", "fortygigabitethernet", "40ge", "40gige")),
    ("50g", ("fi", "fiftygige", "fiftygigabitethernet", "50ge", "50gige")),
    ("100g", ("hu", "hundredgige", "hundredgigabitethernet", "100ge", "100gige")),
    ("200g", ("th", "twohundredgige", "twohundredgigabitethernet", "200g", "200ge", "200gige")),
    ("400g", ("f", "fh", "fou", "fourhundredgige", "fourhundredgigabitethernet", "400g", "400ge", "400gige")),
    ("800g", ("eh", "eighthundredgige", "eighthundredgigabitethernet", "800g", "800ge", "800gige")),
)
"""What a port of each speed is called: Cisco's IOS, NX-OS and IOS-XR, Arista, Juniper, H3C, Huawei."""

_SORT = {word: sort for sort, words in _WRITTEN for word in words}
_NAME = re.compile(r"([0-9]*[a-z]+)[ -]*([0-9]+(?:[/:.][0-9]+)*)$")
_DIGITS = re.compile(r"[0-9]+")
_ALIAS = re.compile(r"etp([0-9]{1,4})$")
_LANE = re.compile(r"Ethernet([0-9]{1,4})$")

_FIRST = "/1"
_WHOLE = re.compile(r"[0-9]{1,3}/1", re.ASCII)
"""A port of a switch without slots, and its first lane."""

STRIDES = (1, 2, 4, 8, 16)
"""Lanes that a port of a SONiC switch may have."""

FEWEST_LANES = 4
"""Lanes of a port, at least, of a switch whose port names count lanes."""

Spelled = tuple[str, str]
"""What sort of port a name tells ("100g", "" for any Ethernet), and where it is ("1/28")."""


@lru_cache(maxsize=65_536)
def spelled(name: str) -> Spelled | None:
    """Return what a port's name tells, whoever wrote it; None for a name of another kind."""
    found = _NAME.match(name.strip().lower())
    sort = _SORT.get(found[1]) if found else None
    return None if found is None or sort is None else (sort, found[2])


def respelled(name: str, designed: Collection[str]) -> str | None:
    """Return the designed port that a name is another spelling of; "" for one that is none, None if nobody can tell.

    A port's speed may be told otherwise than designed, for its place says enough: "0/0/0/1".
    """
    if name.isdecimal() or _by_lane(designed):
        return None
    told, mine = spelled(name), {each: spelled(each) for each in designed}
    same = [each for each, found in mine.items() if told and found == told]
    place = [each for each, found in mine.items() if told and found and found[1] == told[1] and "/" in told[1]]
    if len(same) == 1 or (not same and len(place) == 1):
        return (same or place)[0]
    if same or place:
        return None
    alike = len(_DIGITS.findall(name)) == 1 and _shape(name) in {_shape(each) for each in designed}
    deep = {_shape(found[1]) for found in mine.values() if found}
    return "" if alike or (told and None not in mine.values() and _shape(told[1]) in deep) else None


def same_place(name: str, other: str) -> bool:
    """Whether two names tell the same sort and place, or any sort at one of several numbers."""
    one, two = spelled(name), spelled(other)
    return bool(one and two and (one == two or (one[1] == two[1] and "/" in one[1])))


def first_lane(name: str) -> str:
    """Return the port whose first lane a name is, as EOS calls a port that is not split ("Ethernet5/1"); else ""."""
    told = spelled(name)
    return name.strip()[: -len(_FIRST)] if told and not told[0] and _WHOLE.fullmatch(told[1]) else ""


def _by_lane(designed: Collection[str]) -> bool:
    """Whether a SONiC switch's ports are named by their first lanes: no other name has the same numbers."""
    lanes = [int(found[1]) for each in designed if (found := _LANE.match(each))]
    return 0 in lanes and all(lane % FEWEST_LANES == 0 for lane in lanes)


def _shape(name: str) -> str:
    return _DIGITS.sub("0", name)


def panel_number(name: str, designed: Collection[str]) -> int | None:
    """Return what a SONiC switch's port is called in the other of its two ways than the designed ones; else None."""
    other = other_way(designed)
    found = other.match(name) if other else None
    return int(found[1]) if found else None


def other_way(designed: Collection[str]) -> re.Pattern[str] | None:
    """Return what a SONiC switch's ports are called in the other of its two ways; None for any other switch."""
    by_front, by_lane = (any(map(each.match, designed)) for each in (_ALIAS, _LANE))
    return None if by_front == by_lane else _LANE if by_front else _ALIAS


def panel_ways(designed: Iterable[str]) -> tuple[Numbering, ...]:
    """Return each way in which a SONiC switch's ports may be called otherwise: "Ethernet8" is "etp2" or "etp3".

    Names that are no multiples and have no zero may count lanes or ports: none of two neighbours is meant for sure.
    """
    names = tuple(designed)
    lanes = {name: int(found[1]) for name in names if (found := _LANE.match(name))}
    panel = {name: int(found[1]) for name in names if (found := _ALIAS.match(name))}
    ways: list[Numbering] = []
    for stride in STRIDES:
        way = {name: lane // stride + 1 for name, lane in lanes.items()} | {
            name: (number - 1) * stride for name, number in panel.items()
        }
        counted = stride > 1 or not lanes or 0 in lanes.values()
        if counted and all(lane % stride == 0 for lane in lanes.values()) and way not in ways:
            ways.append(way)
    return tuple(ways)
