"""Designed ports by index, so that the links of a large fabric can be pairs of numbers.

A port's index is its place in the order of the design. Where that names both ends of each link in turn, the other end
of the port with index `at` is `at ^ 1`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, overload

from fleet_runner.core.inventory.records import Termination

NONE = -1
"""No port's index."""

_DIGITS = 3
"""Of the numbers of a switch's ports that are kept by number: larger ones are looked up by name."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, eq=False)
class Answers(Mapping[str, Termination]):
    """What the ports of one device answer to.

    `every` are all designed ports, `mine` the indices of the device's. `names` gives which of these answers to a
    name, `numbers` which of these to a number, from 0 on: NONE for those that none answers to.
    """

    every: Sequence[Termination]
    mine: Sequence[int]
    names: Mapping[str, int]
    numbers: Sequence[int]

    def __getitem__(self, name: str) -> Termination:
        return self.every[self.mine[self.names[name]]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def get(self, key: str, default: None = None, /) -> Termination | None: ...
    @overload
    def get(self, key: str, default: Termination | _T, /) -> Termination | _T: ...
    def get(self, key: str, default: Termination | _T | None = None, /) -> Termination | _T | None:
        """Return the port that answers to a name, without the cost of an error for one that none does."""
        at = self.index(key)
        return default if at == NONE else self.every[at]

    def index(self, name: str) -> int:
        """Return the index of the port that answers to a name."""
        place = self.names.get(name, NONE)
        return place if place == NONE else self.mine[place]

    def by_number(self) -> list[int]:
        """Return the index of the port that answers to each number, from 0 on."""
        return list(map([*self.mine, NONE].__getitem__, self.numbers))


@dataclass(frozen=True, slots=True, eq=False)
class PortIndex:
    """All designed ports in the order of the design, and what those of each device answer to.

    They are `distinct` if each is named once: no port has two links, and none is joined to itself.
    """

    ports: Sequence[Termination] = ()
    devices: Mapping[str, Answers] = field(default_factory=dict[str, Answers])
    distinct: bool = True

    def of(self, port: Termination) -> int:
        """Return a port's index; NONE for one that is not designed."""
        device, interface = port
        answers = self.devices.get(device)
        at = NONE if answers is None else answers.index(interface)
        return at if at == NONE or self.ports[at][1] == interface else NONE


def by_number(names: Mapping[str, int]) -> list[int]:
    """Return what answers to each number, from 0 on, of what answers to names: a number is a name in digits."""
    last = max((int(name) for name in names if name.isdecimal() and len(name) <= _DIGITS), default=NONE)
    return [names.get(str(number), NONE) for number in range(last + 1)]


class IndexedPorts:
    """The designed ports, and others as they are met: their indices are even, so that none is another one's `^ 1`."""

    __slots__ = ("_added", "every", "index")

    def __init__(self, index: PortIndex) -> None:
        self.index = index
        self.every = list(index.ports)
        self.every += self.every[-1:] * (len(self.every) % 2)
        self._added: dict[Termination, int] = {}

    def find(self, port: Termination) -> int:
        """Return a port's index; NONE for one that was not met."""
        at = self.index.of(port)
        return self._added.get(port, NONE) if at == NONE else at

    def add(self, port: Termination) -> int:
        """Return a port's index, a new one where it was not met before."""
        at = self.find(port)
        if at == NONE:
            at = self._added[port] = len(self.every)
            self.every += [port, port]
        return at
