"""The actions of a BMC: resets of hosts and of itself, and the ways in which vendors take all power away."""

import asyncio
from collections.abc import Mapping
from typing import Any

from fleet_runner.lab.redfish import host as hosts
from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.host import Host
from fleet_runner.lab.redfish.lifecycle_controller import STATUS, LifecycleController
from fleet_runner.lab.redfish.restarts import Restarts
from fleet_runner.lab.redfish.tasks import Tasks
from fleet_runner.lab.redfish.trees import Action, clean
from fleet_runner.lab.redfish.wire import Refused, Reply

DRAINS = frozenset(
    {"FullPowerCycle", "ACCycle", "ACPowerCycle", "AuxCycle", "AuxPowerCycle", "AuxPowerCycleForce", "VirtualACCycle"}
)
"""Values of ResetType with which vendors take standby power away as well."""

RESET_TYPE = "ResetType"


class Actions:
    """What POST does at the targets of actions."""

    def __init__(
        self, chip: Chip, host: Host, restarts: Restarts, tasks: Tasks, controller: LifecycleController
    ) -> None:
        self._chip = chip
        self._host = host
        self._restarts = restarts
        self._tasks = tasks
        self._controller = controller

    async def do(self, action: Action, said: Mapping[str, Any]) -> Reply:
        """Do an action, or raise Refused."""
        last = action.name.rpartition(".")[2]
        wanted = said.get(RESET_TYPE)
        if last in ("Reset", "AuxPowerReset", "ExtendedReset", "SystemReset"):
            self._allowed(action, wanted)
        if wanted in DRAINS or (action.name == "Chassis.Reset" and wanted == "PowerCycle"):
            self._restarts.drain(f"{action.name} {wanted}")
            return Reply(204)
        match action.name:
            case "ComputerSystem.Reset" if action.resource in self._chip.tree.systems:
                return await self._power(str(wanted))
            case status if status == STATUS:
                return self._controller.status()
            case "Chassis.Reset":
                return await self._power(str(wanted))
            case "Manager.Reset":
                self._restarts.restart(f"Manager.Reset {wanted}")
                return Reply(204)
            case "Bios.ResetBios":
                for bios in self._host.bioses:
                    bios.reset()
                return Reply(204)
        raise Refused(501, f"the action {action.name} is not emulated", "ActionNotSupported")

    async def _power(self, action: str) -> Reply:
        if action not in hosts.ACTIONS:
            raise Refused(400, f"ResetType {action!r} is not possible", "ActionParameterNotSupported")
        await self._host.act(action)
        wished = self._chip.habits.reset_tasks
        if not (self._chip.tree.reset_tasks if wished is None else wished):
            return Reply(204)
        uri = self._tasks.begin("Computer Reset")
        self._chip.spawn(self._follow(uri))
        return Reply(202, self._tasks.body(uri), {"Location": self._tasks.monitor(uri)})

    async def _follow(self, uri: str) -> None:
        """End the task of a reset when the reset is over."""
        await asyncio.sleep(0)
        await self._host.moved()
        task = self._tasks.get(uri)
        if task is not None:
            task.end("Completed", "OK", "TaskEvent.1.0.TaskCompletedOK", "The task has completed.")

    def _allowed(self, action: Action, wanted: object) -> None:
        """Refuse what the tree does not list; where it lists nothing, what Redfish knows is taken."""
        if not isinstance(wanted, str):
            if action.name == "Manager.Reset" and wanted is None:
                return
            raise Refused(400, f"{RESET_TYPE} is missing", "ActionParameterMissing")
        allowed = action.described.get(f"{RESET_TYPE}@Redfish.AllowableValues")
        if allowed is None and isinstance(info := action.described.get("@Redfish.ActionInfo"), str):
            rows = self._chip.tree.get(clean(info)).get("Parameters") or ()
            allowed = next((row.get("AllowableValues") for row in rows if row.get("Name") == RESET_TYPE), None)
        if isinstance(allowed, list) and wanted not in allowed:
            raise Refused(
                400, f"ResetType {wanted!r} is not among {', '.join(allowed)}", "ActionParameterNotSupported"
            )
