"""One emulated BMC: put together, started, looked into and stopped."""

import ssl
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from fleet_runner.lab.redfish import floor
from fleet_runner.lab.redfish.actions import Actions
from fleet_runner.lab.redfish.answers import Answers
from fleet_runner.lab.redfish.behind import BackingMachine
from fleet_runner.lab.redfish.bios import bioses
from fleet_runner.lab.redfish.bodies import Resources
from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.eventing import Eventing
from fleet_runner.lab.redfish.events import Event, Log
from fleet_runner.lab.redfish.firmware import Firmware
from fleet_runner.lab.redfish.gate import Gate
from fleet_runner.lab.redfish.host import Host
from fleet_runner.lab.redfish.lifecycle_controller import LifecycleController
from fleet_runner.lab.redfish.media import Media
from fleet_runner.lab.redfish.pace import BmcBehaviour, Durations
from fleet_runner.lab.redfish.restarts import Restarts
from fleet_runner.lab.redfish.rules import Rules
from fleet_runner.lab.redfish.tasks import Tasks
from fleet_runner.lab.redfish.trees import ROOT, Tree, load
from fleet_runner.lab.redfish.updates import Update, Updates

Credentials = tuple[str, str] | Mapping[str, str]


class Emulator:
    """One BMC on a port of 127.0.0.1; a context manager, or `start` and `stop`."""

    def __init__(  # noqa: PLR0913  each is said by its name, and has a default
        self,
        tree: Tree | Path | Mapping[str, Any],
        *,
        credentials: Credentials,
        pace: Durations | None = None,
        habits: BmcBehaviour | None = None,
        rules: Iterable[Any] = (),
        seed: int = 0,
        on: Callable[[Event], None] | None = None,
        changes: Mapping[str, Mapping[str, Any] | None] | None = None,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        behind: BackingMachine | None = None,
    ) -> None:
        known = tree if isinstance(tree, Tree) else load(tree) if isinstance(tree, Path) else Tree(dict(tree))
        self.tree = known.changed(changes) if changes else known
        self._tls = tls is not None
        log = Log(on)
        self._chip = Chip(self.tree, pace or Durations(), habits or BmcBehaviour(), Rules(rules, seed), log, behind)
        self._gate = Gate(self._chip, _pair(credentials))
        self._tasks = Tasks(self.tree, self._chip.habits)
        self._firmware = Firmware(self._chip)
        self._controller = LifecycleController(self._chip, self._tasks)
        self._updates = Updates(self._chip, self._firmware, self._tasks, self._gate, self._controller)
        self._host = Host(self._chip, self._firmware, self._updates.interrupt)
        self._host.bioses = list(bioses(self._chip))
        self._listener = floor.Listener(self._handle, port, tls)
        self._eventing = Eventing(self._chip)
        parts = (self._gate, self._tasks, self._firmware, self._host)
        self._restarts = Restarts(self._chip, self._listener, (*parts, self._eventing))
        self._restarts.interrupt = self._updates.interrupt
        self._updates.restart = self._restarts.restart
        self._updates.start_host = lambda: self._host.act("PowerCycle", "own")
        self._host.started, self._restarts.restarted = self._controller.started, self._controller.restarted
        self._updates.host_on = lambda: self._host.state == "On"
        self._media = Media(self._chip, self._tasks)
        self._bodies = Resources(self._chip, (*parts, self._restarts, self._updates, self._eventing), self._media)
        actions = Actions(self._chip, self._host, self._restarts, self._tasks, self._controller)
        served = (self._gate, self._tasks, self._host, self._restarts, self._updates, self._eventing, self._media)
        self._answers = Answers(self._chip, self._bodies, served, actions)

    async def _handle(self, request: Any) -> Any:
        return await self._answers.handle(request)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> Self:
        """Begin to answer."""
        floor.run(self._listener.listen())
        return self

    def stop(self) -> None:
        """End everything that goes on, and give the port back."""
        floor.run(self._stop())

    async def _stop(self) -> None:
        await self._chip.end()
        await self._listener.close()

    @property
    def url(self) -> str:
        """The address: http://127.0.0.1:PORT, or https where it has a certificate."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._listener.port}"

    @property
    def log(self) -> list[Event]:
        """All events, oldest first; a copy."""
        return list(self._chip.log.events)

    @property
    def power(self) -> str:
        """The host's power state: On, Off, PoweringOn or PoweringOff."""
        return self._host.state

    def events(self, *kinds: str) -> list[Event]:
        """Return the events of some kinds, oldest first."""
        return list(self._chip.log.of(*kinds))

    def updates(self) -> list[Update]:
        """Return every update that was taken, in order, with what it wrote and what became of it."""
        return list(self._updates.all)

    def versions(self) -> dict[str, str]:
        """Return what runs, by inventory id; faults that show something else do not matter here."""
        return dict(self._firmware.running)

    def pending(self) -> dict[str, str]:
        """Return what is written and waits for a reset, by inventory id."""
        return {entry: pending.version for entry, pending in list(self._firmware.pending.items())}

    def set_version(self, entry: str, version: str) -> None:
        """Let something else run, as if somebody had changed it by other means."""
        if entry not in self._firmware.running:
            raise KeyError(entry)
        self._firmware.running[entry] = version

    def attributes(self) -> dict[str, Any]:
        """Return the BIOS attributes that are in force."""
        return {name: value for bios in self._host.bioses for name, value in bios.running.items()}

    def subscribed(self) -> bool:
        """Whether anybody subscribed to its events."""
        return self._eventing.anybody()

    def tell(self, event: Mapping[str, Any]) -> None:
        """Send an event (MessageId, MessageSeverity, OriginOfCondition, …) to those who subscribed to such."""
        floor.run(self._told(dict(event)))

    async def _told(self, event: dict[str, Any]) -> None:
        service = self._bodies.get(self.tree.link(ROOT, "EventService")) or {}
        self._eventing.tell(event, enabled=service.get("ServiceEnabled") is not False)

    def schedule(self, name: str) -> str:
        """Stage a job of somebody else's, which a start of the host does; returns its task."""
        return self._controller.schedule(name, self._chip.pace.write)

    def unready(self, seconds: float, says: object = "NotReady") -> None:
        """Let Dell's Lifecycle Controller take no jobs for a while, and say this of itself."""
        self._controller.restarted({"controller_unready": {"seconds": seconds, "state": says}})

    def start_host(self) -> None:
        """Let somebody else restart the host, and wait until it is on again."""
        floor.run(self._started())

    def drain(self, times: int = 1) -> None:
        """Take all power away as somebody does who pulls the cords, and wait until it is back; so many times."""
        for _ in range(times):
            floor.run(self._drained())

    def restart(self) -> None:
        """Let the BMC restart by itself, and wait until it is back."""
        floor.run(self._restarted())

    async def _started(self) -> None:
        await self._host.act("PowerCycle", "by hand")
        await self._host.moved()

    async def _drained(self) -> None:
        self._restarts.drain("by hand")
        await self._restarts.over()

    async def _restarted(self) -> None:
        self._restarts.restart("by hand")
        await self._restarts.over()


def _pair(credentials: Credentials) -> tuple[str, str]:
    if isinstance(credentials, Mapping):
        return credentials["username"], credentials["password"]
    return credentials
