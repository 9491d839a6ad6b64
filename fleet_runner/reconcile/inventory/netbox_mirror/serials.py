"""Serial numbers of parts that came in, written into NetBox: over the one that went out or none, over no other."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

import structlog

from fleet_runner.adapters.netbox import node_fields
from fleet_runner.adapters.netbox.client import Client, NetBoxBusyError, RefusedError
from fleet_runner.adapters.netbox.node_fields import Slot
from fleet_runner.core.inventory.netbox.mirror.serials import Due, Step, step
from fleet_runner.core.tickets.trackers.backoff import pause
from fleet_runner.reconcile.inventory.netbox_mirror.fields import AGAIN, absent
from fleet_runner.reconcile.inventory.netbox_mirror.writer import TRIES, Mirror

log = structlog.get_logger()


@dataclass(slots=True)
class SerialsMirror(Mirror):
    """What writes serial numbers."""

    name: ClassVar[str] = "netbox serials"
    of: ClassVar[str] = "serial numbers"

    def waits(self) -> bool:
        """Whether a part came in whose number is not written."""
        return bool(self._due())

    def tell(self, client: Client) -> int:
        """Write what is due; return how many."""
        told = 0
        for node, group in groupby(sorted(self._due(), key=lambda due: due.node), key=lambda due: due.node):
            if not self.keep():
                break
            told += self._of_node(client, node, list(group))
        return told

    def _due(self) -> list[Due]:
        return [due for due in self.store.serials_due() if due.due_at <= self.now() and self.may(due.node)]

    def _of_node(self, client: Client, node: str, given: Sequence[Due]) -> int:
        found = node_fields.devices(client, [node])[node]
        if len(found) != 1:
            for due in given:
                self._failed(due, absent(node, len(found)))
            return 0
        return sum(self._write(client, found[0].id, due) for due in given)

    def _write(self, client: Client, device: int, due: Due) -> int:
        """Write one serial number, reading what is there right before."""
        for left in reversed(range(TRIES)):
            try:
                return self._try(client, device, due)
            except NetBoxBusyError as error:
                if not left:
                    self._failed(due, str(error))
                    raise
        return 0

    def _try(self, client: Client, device: int, due: Due) -> int:
        slot = _slot(node_fields.slots(client, device), due)
        if isinstance(slot, str):
            self._failed(due, slot)
            return 0
        match step(slot.serial, due):
            case Step.KEEP:
                now = self.now()
                if self.store.serial_conflict(due, slot.serial, now, now + AGAIN):
                    about = {"node": due.node, "slot": due.slot, "found": slot.serial, "expected": due.out or "none"}
                    log.warning("NetBox has another serial number, which is not changed", **about)
                return 0
            case Step.WRITE:
                try:
                    there = node_fields.set_serial(client, slot, due.came)
                except RefusedError as error:
                    self._failed(due, str(error))
                    return 0
                if there != due.came:
                    text = "not in NetBox's answer to the change: deleted meanwhile, or the token may not change it"
                    self._failed(due, f"{text}; give the token's user the permission to change it")
                    return 0
            case Step.DONE:
                pass
        self.store.serials_written(self.name, [due], self.now())
        return 1

    def _failed(self, due: Due, why: str) -> None:
        self.store.serial_not_written(due, why, self.now() + pause(due.tries + 1))


def foretold(client: Client, due: Due) -> str:
    """Say what would be done about a serial number, and change nothing."""
    found = node_fields.devices(client, [due.node])[due.node]
    if len(found) != 1:
        return absent(due.node, len(found))
    slot = _slot(node_fields.slots(client, found[0].id), due)
    if isinstance(slot, str):
        return slot
    said = {Step.DONE: "stands there", Step.WRITE: "is to be written", Step.KEEP: "is not to be written"}
    return f"{said[step(slot.serial, due)]}: NetBox has {slot.serial or 'none'}"


def _slot(slots: Sequence[Slot], due: Due) -> Slot | str:
    """Return the part that is meant, or why it is not known."""
    found = [slot for slot in slots if slot.name == due.slot]
    if len(found) == 1:
        return found[0]
    if found:
        return f"NetBox has {len(found)} parts {due.slot} in {due.node}; write {due.came} there by hand"
    return f"NetBox has no part {due.slot} in {due.node} that this token may see; add it there"
