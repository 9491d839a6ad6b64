"""What the design's ports are called elsewhere: by a fabric, by a neighbour, by whoever declared it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from fleet_runner.core.cabling.directors import port_key
from fleet_runner.core.cabling.links import Link, Port, far_ends, in_turn
from fleet_runner.core.cabling.port_index import Answers, PortIndex, by_number
from fleet_runner.core.cabling.port_numbers import Numbering, ways

_NUMBER = re.compile(r"([0-9]{1,9})$")
_ADAPTER_PORT = re.compile(r"(.*[A-Za-z].*)/[Pp](?:ort ?)?([12])", re.ASCII)
_DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class Names:
    """What the design's ports are called: by device and spoken name, and by port GUID.

    `only` is the port of each device that has just one. `whole` gives a device's full name by its short one, where it
    is the only one of that short name, and `folded` by either in small letters. `ways` are those to number a switch's
    ports where names leave several, or others than their last numbers, and `numbers` what `numbered` chose of them.
    `far` is each designed port's other end, `index` gives all ports that were named a number.
    """

    spoken: Mapping[str, Mapping[str, Port]]
    guids: Mapping[str, Port]
    only: Mapping[str, Port] = field(default_factory=dict[str, Port])
    whole: Mapping[str, str] = field(default_factory=dict[str, str])
    folded: Mapping[str, str] = field(default_factory=dict[str, str])
    ways: Mapping[str, tuple[Numbering, ...]] = field(default_factory=dict[str, tuple[Numbering, ...]])
    numbers: Mapping[str, Mapping[str, Port]] = field(default_factory=dict[str, Mapping[str, Port]])
    far: Mapping[Port, Port] = field(default_factory=dict[Port, Port])
    index: PortIndex = field(default_factory=PortIndex)


def names(
    ports: Iterable[Port],
    guids: Mapping[str, Port],
    adapters: Mapping[str, Mapping[str, str]],
    links: Iterable[Link] = (),
) -> Names:
    """Gather the names of designed ports.

    `adapters` gives, by device, the interface of each adapter ("mlx5_0"), or of a switch's number. `_answers` tells
    the other names. By the designed `links` ports are numbered whose names leave that open.
    """
    every = tuple(ports)
    found: dict[str, tuple[list[int], list[str]]] = defaultdict(lambda: ([], []))
    same: dict[str, str] = {}  # a few strings that stay at hand, for some hundred thousand that are far apart
    for at, (device, interface) in enumerate(every):
        mine, interfaces = found[device]
        mine.append(at)
        interfaces.append(same.setdefault(interface, interface))
    sorts = {device: _sort(tuple(interfaces)) for device, (_, interfaces) in found.items()}
    spoken = {device: Answers(every, mine, *sorts[device][:2]) for device, (mine, _) in found.items()}
    several = {device: sort.ways for device, sort in sorts.items() if sort.ways is not None}
    only = {device: every[mine[0]] for device, (mine, _) in found.items() if len(mine) == 1}
    index = PortIndex(every, spoken, all(sort.distinct for sort in sorts.values()))
    joined = tuple(links if several else ())
    far = in_turn(index, joined) or far_ends(joined)
    known = Names(spoken, guids, only, _whole(found), _folded(found), several, far=far, index=index)
    return declared(known, adapters)


def declared(known: Names, adapters: Mapping[str, Mapping[str, str]]) -> Names:
    """Return the names with those that are declared, too; `adapters` is what `names` takes."""
    spoken, several = {**known.spoken}, {**known.ways}
    for device, told in adapters.items():
        if not told or device not in spoken:
            continue
        spoken[device] = {**spoken[device], **{each: Port(device, name) for each, name in told.items()}}
        if device in several:
            several[device] = _declared(several[device], told, spoken[device])
    return replace(known, spoken=spoken, ways=several)


def answered_by(ports: Iterable[Port]) -> Mapping[str, Port]:
    """Return a switch's ports by name, and by number where their names tell one way to count."""
    every = tuple(ports)
    sort = _sort(tuple(map(itemgetter(1), every)))
    if sort.ways is None or len(sort.ways) != 1:
        return Answers(every, range(len(every)), sort.names, sort.numbers)
    mine = {port.interface: port for port in every}
    return {**mine, **{str(number): mine[name] for name, number in sort.ways[0].items()}}


def _declared(
    found: tuple[Numbering, ...], adapters: Mapping[str, str], mine: Mapping[str, Port]
) -> tuple[Numbering, ...]:
    """Return the ways that agree with declared numbers; if none does, the declared ones alone."""
    numbers = {interface: int(each) for each, interface in adapters.items() if each.isdecimal() and interface in mine}
    agreeing = [way for way in found if all(way.get(name, number) == number for name, number in numbers.items())]
    taken = set(numbers.values())
    both = [{name: way[name] for name in way if way[name] not in taken} | numbers for way in agreeing or [{}]]
    return tuple(both) if numbers else found


class _Sort(NamedTuple):
    """What the ports of a device answer to, by their places among these; devices of a sort have the same.

    `names` and `numbers` are those of `Answers`. `ways` are those to number the ports; None where their last numbers
    are the only one. Ports are `distinct` if none is named twice.
    """

    names: Mapping[str, int]
    numbers: Sequence[int]
    ways: tuple[Numbering, ...] | None
    distinct: bool


@lru_cache(maxsize=256)
def _sort(interfaces: tuple[str, ...]) -> _Sort:
    places = {name: at for at, name in enumerate(interfaces)}
    answers = _answers(places)
    found = ways(tuple(places))
    plain = len(found) == 1 and all(answers.get(str(number)) == name for name, number in found[0].items())
    several = None if plain and len(found[0]) == len(places) else found
    told = {answer: places[name] for answer, name in answers.items()}
    return _Sort(told, by_number(told), several, len(places) == len(interfaces))


def _whole(devices: Iterable[str]) -> dict[str, str]:
    """A fabric may tell short names where the design has them with a domain."""
    domains = [device for device in devices if "." in device]
    count = Counter(short(device) for device in domains)
    return {short(device): device for device in domains if count[short(device)] == 1}


def _folded(devices: Iterable[str]) -> dict[str, str]:
    """A fabric may tell names in other letters than the design; two that differ in those alone stay two."""
    spelled = [(device, {device.casefold(), short(device).casefold()}) for device in devices]
    count = Counter(name for _, each in spelled for name in each)
    return {name: device for device, each in spelled for name in each if count[name] == 1}


def short(name: str) -> str:
    """Return a device's name without its domain."""
    return name.partition(".")[0]


def bind_port(device: str, interface: str, known: Names) -> Port:
    """Return a port that was named by device, with or without its domain, and interface."""
    name, spoken = device_of(device, known)
    return spoken.get(interface) or Port(name, interface)


Spoken = tuple[str, Mapping[str, Port]]
"""A device's name in the design, and its ports by spoken name; none for a device that the design does not know."""


def device_of(name: str, known: Names) -> Spoken:
    """Return a device by its name in the design, or where one of both has a domain and the other has not."""
    if name in known.spoken:
        return name, known.spoken[name]
    found = known.whole.get(name, short(name))
    if found not in known.spoken:
        found = known.folded.get(name.casefold()) or known.folded.get(short(name).casefold(), "")
        if "." in name and "." in found and found.casefold() != name.casefold():
            found = ""  # another domain's
    return (found, known.spoken[found]) if found else (name, {})


def _answers(interfaces: Iterable[str]) -> dict[str, str]:
    """Return the names that a device's ports answer to, each with the port's own.

    Each answers to its own name ("HCA-1/P1" to "HCA-1/1" as well) and, where no other of its device ends in the same
    number, to that number ("swp7", "1/7" and "7" are one port). Where what stands before the number counts as well
    ("1/1", "2/2"), nobody knows which port of the fabric is which.
    """
    ends = {each: found for each in interfaces if (found := _NUMBER.search(each))}
    heads = {each: each[: found.start()] for each, found in ends.items()}
    alike = Counter(_DIGITS.sub("0", head) for head in set(heads.values()))
    counted = Counter(int(found[1]) for found in ends.values())
    numbers = {
        str(int(found[1])): each
        for each, found in ends.items()
        if counted[int(found[1])] == 1 and alike[_DIGITS.sub("0", heads[each])] == 1
    }
    keys = {key: each for each in interfaces if (key := port_key(each))}
    adapters = {f"{found[1]}/{found[2]}": each for each in interfaces if (found := _ADAPTER_PORT.fullmatch(each))}
    return numbers | keys | adapters | {each: each for each in interfaces}
