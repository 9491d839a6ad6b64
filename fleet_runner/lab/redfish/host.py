"""The host behind a BMC: its power, its starts, and what is gone while it is off."""

import asyncio
import time
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from fleet_runner.lab.redfish.bios import Bios
from fleet_runner.lab.redfish.boot import Boot
from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.firmware import Firmware
from fleet_runner.lab.redfish.hpe_boot import HpeBoot
from fleet_runner.lab.redfish.secure_boot import SecureBoot
from fleet_runner.lab.redfish.wire import Refused

ACTIONS = ("On", "ForceOff", "GracefulShutdown", "ForceRestart", "GracefulRestart", "PowerCycle", "ForceOn")
OFF = frozenset({"ForceOff", "GracefulShutdown"})
SOFT = frozenset({"GracefulShutdown", "GracefulRestart"})
RESTARTS = frozenset({"ForceRestart", "GracefulRestart"})

Interrupt = Callable[[str, bool], None]


class Host:
    """The power of one host. `interrupt` ends updates that cannot go on without it."""

    def __init__(self, chip: Chip, firmware: Firmware, interrupt: Interrupt) -> None:
        self._chip = chip
        self._firmware = firmware
        self._interrupt = interrupt
        said = [chip.tree.get(uri).get("PowerState") for uri in chip.tree.systems]
        self._state = "Off" if "Off" in said else "On"
        self.last_reset: float | None = None
        self.bioses: list[Bios] = []
        self.boot = Boot(chip, lambda: self.state)
        self.hpe_boot = HpeBoot(chip)
        self.secure_boot = SecureBoot(chip, lambda: self.bioses)
        self.started: Callable[[Mapping[str, Mapping[str, Any]]], None] = lambda _faults: None
        self._booted = 0.0  # by the monotonic clock
        self._there = 0.0
        self._moving: asyncio.Task[None] | None = None
        self._turns = asyncio.Lock()  # what stands behind the BMC does one thing at a time
        self._starts = chip.behind.starts() if chip.behind is not None else 0

    @property
    def state(self) -> str:
        """The power state: On, Off, PoweringOn or PoweringOff."""
        return self._chip.behind.power() if self._chip.behind is not None else self._state

    async def act(self, action: str, why: str = "a client") -> None:
        """Begin a power action; what it would do while it makes no sense is refused or does nothing."""
        running = self.state in ("On", "PoweringOn")
        ignored = self._chip.habits.ignores_restart_while_off
        if action in RESTARTS and not running and not ignored:
            raise Refused(409, f"{action} is not possible while the host is off", "ActionNotSupported")
        self._chip.emit("power", action=action, was=self.state, why=why)
        if action in ("On", "ForceOn") if running else action in OFF | RESTARTS:
            return
        if self._chip.behind is None:
            self._move(self._do(action))
        else:
            await self._act_behind(action)

    async def lose_power(self) -> str:
        """Lose all power at once; returns the state from before."""
        was = self.state
        self._stop()
        if self._chip.behind is None:
            self._go_off("all power was taken away")
        else:
            await self._act_behind("ForceOff")
        return was

    async def restore(self, was: str) -> None:
        """Be what it was before all power was lost."""
        if was not in ("On", "PoweringOn"):
            return
        if self._chip.behind is None:
            self._move(self._do("On"))
        else:
            await self._act_behind("On")

    def look(self) -> None:
        """Take note of a start that somebody else saw to."""
        starts = self._chip.behind.starts() if self._chip.behind is not None else 0
        if starts != self._starts:
            self._starts = starts
            self._interrupt("the host was started", True)  # noqa: FBT003  host side only
            self._start()

    def progress(self) -> str:
        """Return how far the boot has come, in Redfish's words."""
        if self.state != "On":
            return "None"
        return "OSRunning" if time.monotonic() >= self._booted else "SystemHardwareInitializationComplete"

    def hides(self, uri: str) -> bool:
        """Whether a resource is gone with the host."""
        off = self.state != "On" or time.monotonic() < self._there
        return off and any(fnmatchcase(uri, glob) for glob in self._chip.habits.host_side)

    async def moved(self) -> None:
        """Wait until the power action that is under way is over."""
        if self._moving is not None:
            await asyncio.wait([self._moving])

    async def _act_behind(self, action: str) -> None:
        behind = self._chip.behind
        if behind is not None:
            async with self._turns:
                if self.state != "Off":
                    self._interrupt(f"the host lost its power ({action})", True)  # noqa: FBT003  host side only
                await asyncio.to_thread(behind.act, action)
            self.look()

    def _move(self, work: Any) -> None:
        self._stop()
        self._moving = self._chip.spawn(work)

    def _stop(self) -> None:
        if self._moving is not None:
            self._moving.cancel()

    async def _do(self, action: str) -> None:
        pace = self._chip.pace
        if self.state != "Off":
            self._state = "PoweringOff" if action in OFF or action == "PowerCycle" else "On"
            await asyncio.sleep(pace.graceful if action in SOFT else pace.power_off)
            if action in RESTARTS:
                self._interrupt(f"the host was reset ({action})", True)  # noqa: FBT003  host side only
            else:
                self._go_off(f"the host was switched off ({action})")
        if action not in OFF:
            if self.state == "Off":
                self._state = "PoweringOn"
                await asyncio.sleep(pace.power_on)
            self._start()

    def _go_off(self, why: str) -> None:
        self._interrupt(why, True)  # noqa: FBT003  host side only
        self._state = "Off"

    def _start(self) -> None:
        """Start: written versions run, settings apply, the override chooses what is booted."""
        now = time.time()
        self._chip.emit("host_reset", override=dict(self.boot.override()))
        faults: Mapping[str, Any] = self._chip.rules.fire("host_reset")
        self._firmware.disturb(faults)
        self._firmware.activate("host_reset")
        for bios in self.bioses:
            bios.apply(now)
        if self.hpe_boot.uri:
            self.boot.reorder(self.hpe_boot.options())
        self.boot.start()
        self.secure_boot.start()
        self._state, self.last_reset = "On", now
        self._there = time.monotonic() + self._chip.pace.baseboard
        self._booted = time.monotonic() + self._chip.pace.boot
        self.started(faults)
