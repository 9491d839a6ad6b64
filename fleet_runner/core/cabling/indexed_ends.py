"""A large design as a matching: of each port's other end few are asked for, so that no dict of them all is made."""

from collections.abc import ItemsView, Iterator, MutableMapping

from fleet_runner.core.cabling.port_index import NONE, PortIndex
from fleet_runner.core.inventory.records import Termination


class IndexedEnds(MutableMapping[Termination, Termination]):
    """Each port's other end, where `index` has both ends of each link in turn, but for what was changed.

    `changed` gives the other ends that are not those, None for a port that has none. Who goes through all ports has a
    dict made of them, which is as good from then on.
    """

    __slots__ = ("_all", "changed", "index")

    def __init__(self, index: PortIndex, changed: dict[Termination, Termination | None] | None = None) -> None:
        self.index = index
        self.changed = changed or {}
        self._all: dict[Termination, Termination] | None = None

    def _find(self, port: Termination) -> Termination | None:
        if port in self.changed:
            return self.changed[port]
        at = self.index.of(port)
        return None if at == NONE else self.index.ports[at ^ 1]

    def __getitem__(self, port: Termination) -> Termination:
        found = self._find(port)
        if found is None:
            raise KeyError(port)
        return found

    def __contains__(self, port: object) -> bool:
        return isinstance(port, Termination) and self._find(port) is not None

    def __setitem__(self, port: Termination, far: Termination) -> None:
        self.changed[port] = far
        self._all = None

    def __delitem__(self, port: Termination) -> None:
        if self._find(port) is None:
            raise KeyError(port)
        self.changed[port] = None
        self._all = None

    def __iter__(self) -> Iterator[Termination]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made()) if self.changed else len(self.index.ports)

    def items(self) -> ItemsView[Termination, Termination]:
        """Return each port with its other end."""
        return self._made().items()

    def copy(self) -> "IndexedEnds":
        """Return the same, to be changed alone."""
        return IndexedEnds(self.index, dict(self.changed))

    def are_of(self, index: PortIndex) -> bool:
        """Whether these are ports of an index as they are there, none changed."""
        return self.index is index and not self.changed

    def devices(self) -> set[str]:
        """Return the devices of all ports."""
        return {port.device for port in self._made()} if self.changed else set(self.index.devices)

    def _made(self) -> dict[Termination, Termination]:
        if self._all is None:
            ports = self.index.ports
            ends: dict[Termination, Termination | None] = dict(zip(ports[::2], ports[1::2], strict=True))
            ends.update(zip(ports[1::2], ports[::2], strict=True))
            ends.update(self.changed)
            self._all = {port: far for port, far in ends.items() if far is not None}
        return self._all
