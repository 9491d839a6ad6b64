"""What the store does about which machine a node is, and where it is."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.lifecycle import machines, nodes, places, renaming
from fleet_runner.core.inventory.identity import DesignedMachine, Renamed
from fleet_runner.core.inventory.records import Fleet, Place


class IdentityMethods:
    """Methods of the Store, which extends this: they would not fit into its file, and callers know one Store."""

    _database: Database

    def machines(self) -> tuple[dict[str, DesignedMachine], frozenset[str]]:
        """Return the machine of each node that is not retired, and the names that no machine can be given."""
        with self._database.read() as connection:
            return machines.every(connection), machines.retired(connection)

    def machine(self, node: str) -> DesignedMachine:
        """Return which machine a node is, as far as the source of truth ever said it."""
        with self._database.read() as connection:
            return machines.one(connection, node)

    def placed(self, fleet: Fleet) -> Fleet:
        """Return a fleet that also knows where the source last said that each node is."""
        with self._database.read() as connection:
            known = places.every(connection)
        return fleet if fleet.last_places == known else replace(fleet, last_places=known)

    def keep_places(self, found: Mapping[str, Place]) -> None:
        """Keep where the source says that some nodes are."""
        with self._database.write() as connection:
            places.put(connection, found)

    def rename(self, group: tuple[Renamed, ...], now: float) -> bool:
        """Give nodes their new names, with their state, history and tickets; False while something works on one."""
        with self._database.write() as connection:
            return renaming.rename(connection, group, now)

    def wake(self, names: Iterable[str]) -> None:
        """Have the reconciler look at some nodes next."""
        with self._database.write() as connection:
            nodes.wake(connection, names)
