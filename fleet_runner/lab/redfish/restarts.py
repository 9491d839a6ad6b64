"""The BMC's own restarts, and the loss of all power: silence, and what it no longer knows afterwards."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.eventing import Eventing
from fleet_runner.lab.redfish.firmware import Firmware
from fleet_runner.lab.redfish.floor import Listener
from fleet_runner.lab.redfish.gate import Gate
from fleet_runner.lab.redfish.host import Host, Interrupt
from fleet_runner.lab.redfish.tasks import Tasks


class Restarts:
    """The BMC's life: up, going down, silent, starting."""

    def __init__(self, chip: Chip, listener: Listener, parts: tuple[Gate, Tasks, Firmware, Host, Eventing]) -> None:
        self._chip = chip
        self._listener = listener
        self._gate, self._tasks, self._firmware, self._host, self._eventing = parts
        self.interrupt: Interrupt = lambda _why, _host_side: None
        self.restarted: Callable[[Mapping[str, Mapping[str, Any]]], None] = lambda _faults: None
        self.last_reset: float | None = None
        self._ready = 0.0  # by the monotonic clock
        self._down: asyncio.Task[None] | None = None

    def starting(self) -> bool:
        """Whether it is back, but not yet ready to answer."""
        return time.monotonic() < self._ready

    def restart(self, why: str, *, spare: bool = False) -> None:
        """Restart the BMC. An update that is `spare`d goes on, because another chip does the writing."""
        self._chip.emit("bmc_reset", why=why)
        self._begin(self._silence(spare=spare))

    def drain(self, why: str) -> None:
        """Take all power away for a while: BMC and host start anew."""
        self._chip.emit("ac_drain", why=why)
        self._begin(self._drain())

    async def over(self) -> None:
        """Wait until the BMC is back and ready."""
        if self._down is not None:
            await asyncio.wait([self._down])
        await asyncio.sleep(max(self._ready - time.monotonic(), 0.0))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        if self._down is not None:
            self._down.cancel()
        self._down = self._chip.spawn(work)

    async def _silence(self, *, spare: bool) -> None:
        await asyncio.sleep(self._chip.pace.go_down)
        if not spare:
            self.interrupt("the BMC restarted", False)  # noqa: FBT003  of the BMC's side as well
        await self._go_silent()
        await asyncio.sleep(self._chip.pace.outage)
        self._activate("bmc_reset")
        await self._come_back()

    async def _drain(self) -> None:
        await asyncio.sleep(self._chip.pace.go_down)
        self.interrupt("all power was taken away", False)  # noqa: FBT003  of the BMC's side as well
        was = await self._host.lose_power()
        await self._go_silent()
        await asyncio.sleep(self._chip.pace.drain + self._chip.pace.outage)
        self._activate("ac_drain")
        await self._come_back()
        await self._host.restore(was)

    async def _go_silent(self) -> None:
        self._gate.forget("restart")
        self._tasks.forget()
        self._eventing.silence()
        await self._listener.silence()
        self.last_reset = time.time()

    def _activate(self, by: str) -> None:
        faults = self._chip.rules.fire("bmc_reset")
        self._firmware.disturb(faults)
        if "lose_subscriptions" in faults:
            self._eventing.forget("fault")
        self._firmware.activate(by)
        self.restarted(faults)

    async def _come_back(self) -> None:
        self._ready = time.monotonic() + self._chip.pace.starting
        await self._listener.listen()
