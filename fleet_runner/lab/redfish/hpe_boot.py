"""HPE's boot order: a settings object of the BIOS takes it by HPE's names, and the host's next start applies it."""

from collections.abc import Mapping
from typing import Any

from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.trees import Body
from fleet_runner.lab.redfish.wire import Refused

ORDER = "PersistentBootConfigOrder"


class HpeBoot:
    """The boot order of an HPE's host, and the one that waits; nothing of any other maker's."""

    def __init__(self, chip: Chip) -> None:
        self._chip = chip
        tree = chip.tree
        bioses = [tree.spelled(tree.link(system, "Bios")) for system in tree.systems]
        shown = [tree.spelled(tree.link(bios, "Oem", "Hpe", "Links", "Boot")) for bios in bioses]
        self.uri = next((tree.spelled(tree.settings_of(each)) for each in shown if each), "")
        self.waiting: list[str] = list(tree.get(self.uri).get(ORDER) or ())

    def set(self, said: Mapping[str, Any]) -> None:
        """Have another order in force after the next start."""
        order = said.get(ORDER)
        if set(said) != {ORDER} or not isinstance(order, list) or sorted(order) != sorted(self.waiting):
            raise Refused(400, f"{ORDER} does not name each boot source once", "PropertyValueNotInList")
        self._chip.emit("boot_order_set", order=list(order))
        self.waiting = order

    def body(self, uri: str) -> Body:
        """Return the settings object as it is."""
        return {**self._chip.tree.get(uri), ORDER: list(self.waiting)}

    def options(self) -> list[str]:
        """Return the order that waits, as boot options."""
        rows = self._chip.tree.get(self.uri).get("BootSources") or ()
        numbers = {row["StructuredBootString"]: f"Boot{row['BootOptionNumber']}" for row in rows}
        return [numbers[name] for name in self.waiting]
