"""Which node of the fleet a sender means: hosts are told with and without their domain."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from fleet_runner.core.faults.signals.signal import Signal

MOST_UNKNOWN = 50
"""Names that nobody in the fleet has, told apart in one answer; the others are counted as one."""

OTHERS = "others"

LONGEST = 253
"""Characters of a host's name that are kept: as many as DNS allows."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Signals of nodes, and how many were told of each host that is no node of the fleet."""

    signals: tuple[Signal, ...]
    unknown: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Places:
    """The fleet's nodes by each name that somebody may know them by.

    `whole` has the nodes' own names and further ones (addresses of BMCs, GUIDs of ports); `short` what stands before
    their first dot, where just one has it.
    """

    whole: Mapping[str, str]
    short: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, nodes: Iterable[str], aliases: Mapping[str, str] | None = None) -> "Places":
        """Take the names of nodes, and further names of them."""
        every = tuple(nodes)
        whole = {_plain(name): node for name, node in (aliases or {}).items()} | {
            _plain(node): node for node in every
        }
        times = Counter(_short(node) for node in every)
        return cls(whole, {_short(node): node for node in every if times[_short(node)] == 1})

    def find(self, said: str) -> str | None:
        """Return the node that a host's name stands for: by the whole name, else where one is the other's beginning.

        A host of another domain is another host, also where its first name is a node's.
        """
        name = _plain(said)
        short = _short(name)
        if name in self.whole:
            return self.whole[name]
        near = (
            None if short.isdigit() else self.short.get(short)
        )  # an address is no name: its first number is nobody's
        return near if near and (_begins(name, _plain(near)) or _begins(_plain(near), name)) else None

    def place(self, signals: Iterable[Signal]) -> Placed:
        """Return the signals with their nodes' names; those of strangers are left out and counted."""
        known: list[Signal] = []
        unknown: Counter[str] = Counter()
        for signal in signals:
            node = self.find(signal.node)
            if node is None:
                said = signal.node[:LONGEST]
                unknown[said if said in unknown or len(unknown) < MOST_UNKNOWN else OTHERS] += 1
            else:
                known.append(signal if node == signal.node else replace(signal, node=node))
        return Placed(tuple(known), unknown)


def _begins(name: str, whole: str) -> bool:
    """Whether a name is the beginning of another, up to one of its dots."""
    return whole.startswith(f"{name}.")


def _plain(name: str) -> str:
    return name.strip().rstrip(".").lower()


def _short(name: str) -> str:
    return _plain(name).partition(".")[0]
