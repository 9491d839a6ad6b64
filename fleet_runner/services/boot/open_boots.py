"""The open boots, in memory: as a look at the store found them, and with what was told through here since."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from fleet_runner.core.boot.boots import Boot, Told
from fleet_runner.core.boot.identity import Armed
from fleet_runner.core.boot.steps import Step, after, kind


class OpenBoots:
    """Open boots by node and by number.

    `line` is the newest line of what happened that was looked at, None before the first look. `own` are the steps
    told through here since then: a look need not read those boots again. `armed` is who is expected by them.
    """

    def __init__(self) -> None:
        self.line: int | None = None
        self.own: set[tuple[int, str]] = set()
        self.armed = Armed()
        self._numbers: dict[int, Boot] = {}
        self._nodes: dict[str, Boot] = {}

    @property
    def by_node(self) -> Mapping[str, Boot]:
        """Every open boot, by its node."""
        return MappingProxyType(self._nodes)

    @property
    def by_number(self) -> Mapping[int, Boot]:
        """Every open boot, by its number."""
        return MappingProxyType(self._numbers)

    def replace(self, line: int, boots: Iterable[Boot]) -> None:
        """Take these boots for all there are, at a line."""
        found = tuple(boots)
        opened = {boot.id for boot in found}
        for number in [number for number in self._numbers if number not in opened]:
            self._drop(self._numbers[number])
        self.change(line, found)

    def change(self, line: int, boots: Iterable[Boot]) -> None:
        """Take in boots that changed up to a line, oldest first; those that are closed are no longer here."""
        for boot in boots:
            self._put(boot)
        self.line = line
        self.own.clear()  # all of them lie before the line

    def learn(self, told: Told) -> None:
        """Know at once what was told, and was news."""
        if not isinstance(told, Step):
            return
        self.own.add((told.boot, kind(told)))
        if (boot := self._numbers.get(told.boot)) is not None:
            self._put(after(boot, told))

    def _put(self, boot: Boot) -> None:
        known = self._nodes.get(boot.node)
        opened = boot.closed_at is None
        if known is not None and (known.id == boot.id) is not opened:  # another's place is taken, or its own is left
            self._drop(known)
        if opened:
            if boot.id not in self._numbers:
                self.armed.add(boot)
            self._numbers[boot.id] = self._nodes[boot.node] = boot

    def _drop(self, boot: Boot) -> None:
        del self._numbers[boot.id], self._nodes[boot.node]
        self.armed.drop(boot)
