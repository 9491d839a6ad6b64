"""One look at a BMC after the other: what it says of a node's firmware, and how often in a row it said the same."""

import time
from dataclasses import replace

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.redfish.updates import NoTasksError, Updates
from fleet_runner.core.base.errors import BmcError, EvidenceError
from fleet_runner.core.firmware import inventory
from fleet_runner.core.firmware.flash import Flash, Phase, Seen, Task, TaskEnd
from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.reconcile.firmware.driver.lease import steady


class BmcReadings:
    """The looks of one driver. `entries` are those of the newest one that could read them, else empty."""

    def __init__(self, bmc: Bmc) -> None:
        self.bmc = bmc
        self.updates = Updates(bmc)
        self.entries: dict[str, Entry] = {}
        self._last: dict[str, str] | None = None
        self._times = 0

    def see(self, flash: Flash | None = None) -> Seen:
        """Look, for a flash or before one begins. While its task runs, nothing else is asked of a busy BMC."""
        at = steady()
        task: Task | None = None
        try:
            if flash and flash.task:
                task = self.updates.task(flash.task)
                task = task and _steadied(task)
                if task and task.state is TaskEnd.RUNNING and flash.phase is Phase.SENT:
                    self._count(None)
                    return Seen(at, task=task)
            return self._whole(at, flash, task)
        except BmcError as error:
            self._count(None)
            return Seen(at, task=task, trouble=str(error), partial=True)

    def _whole(self, at: float, flash: Flash | None, task: Task | None) -> Seen:
        """Read what a BMC can be asked; what it cannot tell now makes a look that brought nothing."""
        versions, trouble = self._versions()
        tasks = self.tasks()
        busy, failure = self.updates.said()
        return Seen(
            at=at,
            versions=versions,
            stable=self._count(versions),
            tasks=tasks,
            task=task,
            task_gone=bool(flash and flash.task) and task is None,
            power=self.bmc.power_state(),
            bmc_reset_at=self._started(),
            trouble=trouble,
            busy=busy,
            failure=failure,
        )

    def _started(self) -> float | None:
        """Return when the BMC started, by the clock that nobody sets."""
        return _steady(self.updates.bmc_reset_at())

    def tasks(self) -> dict[str, Task] | None:
        """Return the BMC's tasks, None where it has no list of them."""
        try:
            return {uri: _steadied(task) for uri, task in self.updates.tasks().items()}
        except NoTasksError:
            return None

    def _versions(self) -> tuple[dict[str, str] | None, str]:
        """Return every entry's version, or why they are not known: GPUs answer nothing while the host is off."""
        try:
            self.entries = inventory.entries(self.updates.inventory())
        except (BmcError, EvidenceError) as error:
            self.entries = {}
            return None, str(error)
        return {name: entry.version for name, entry in self.entries.items()}, ""

    def _count(self, versions: dict[str, str] | None) -> int:
        """Count how often in a row everything was read and was the same."""
        self._times = 0 if versions is None else self._times + 1 if versions == self._last else 1
        self._last = versions
        return self._times


def _steady(told: float | None) -> float | None:
    """Return a moment of our clock's by the one that nobody sets."""
    return None if told is None else told - time.time() + steady()


def _steadied(task: Task) -> Task:
    """Return a task with its times by that clock, as a flash's are."""
    return replace(task, started_at=_steady(task.started_at), ended_at=_steady(task.ended_at))
