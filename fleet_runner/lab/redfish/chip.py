"""What the parts of one emulated BMC share: tree, pace, habits, rules, log, and the work under way."""

import asyncio
import contextlib
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from fleet_runner.lab.redfish.behind import BackingMachine
from fleet_runner.lab.redfish.events import Event, Log
from fleet_runner.lab.redfish.pace import BmcBehaviour, Durations
from fleet_runner.lab.redfish.rules import Rules
from fleet_runner.lab.redfish.trees import Tree


@dataclass(slots=True)
class Chip:
    """The inside of one BMC, without its state."""

    tree: Tree
    pace: Durations
    habits: BmcBehaviour
    rules: Rules
    log: Log
    behind: BackingMachine | None = None
    work: set[asyncio.Task[None]] = field(default_factory=set)

    def emit(self, kind: str, **details: Any) -> Event:
        """Write an event down, before what it tells can be seen."""
        return self.log.emit(kind, **details)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Let something go on beside the requests."""
        task = asyncio.get_running_loop().create_task(work)
        self.work.add(task)
        task.add_done_callback(self.work.discard)
        return task

    async def end(self) -> None:
        """End all that goes on."""
        for task in list(self.work):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
