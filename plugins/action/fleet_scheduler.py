"""Has the scheduler drain a node or give it work again, and brings what it says of the node."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleActionFail
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase

from fleet_runner import settings
from fleet_runner.adapters.plays.task_failure import failure
from fleet_runner.core.base.errors import FleetError, RunOverError, SchedulerError
from fleet_runner.core.lifecycle.clusters import CLUSTER
from fleet_runner.core.lifecycle.scheduler import By, SchedulerOutcome

if TYPE_CHECKING:
    from fleet_runner.adapters.schedulers import Scheduler
    from fleet_runner.settings import Settings

DOCUMENTATION = r"""
module: fleet_scheduler
short_description: Has the scheduler drain a node or give it work again
description:
  - Asks the scheduler of the settings (C(scheduler)); where there is none, nothing is done or asked.
  - A drain gives a reason with a mark of fleet-runner's, and only what carries the mark whole is given back. What
    somebody else drained, and a drain of ours whose reason somebody has changed, is left as it is, and told.
  - By hand, all of fleet-runner's drains are given back; under the runner, its own.
  - Never fails because of the scheduler; the check C(scheduler) judges what this brings.
  - The variable C(scheduler_node) is the node's name there, if it has another one; empty where it has no part in it.
  - The variable C(kubernetes_cluster) is the name of its cluster, one of the setting C(kubernetes_clusters).
options:
  action:
    description: C(evict) ends what runs on the node in the scheduler's own way; C(read) only asks.
    choices: [drain, resume, evict, read]
    type: str
    required: true
  seconds: {description: How long an eviction may take., type: float, default: 120}
  devices: {description: Whether an eviction ends only what asks for a device., type: bool, default: false}
  reason: {description: "Why, if the runner does not say; in one line.", type: str, default: ""}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: The scheduler gives the node no new work
  fleet_scheduler:
    action: drain
    reason: a fan is replaced at noon
"""

RETURN = r"""
asked: {description: Whether there is a scheduler to be asked., returned: always, type: bool}
readings: {description: The reading scheduler_node., returned: always, type: dict}
"""

ACTIONS = ("drain", "resume", "evict", "read")
READ = "scheduler_node"


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"action", "reason", "seconds", "devices"})

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Act, then read."""
        answer = super().run(tmp, task_vars)
        self._variables = task_vars or {}
        action = str(self._task.args.get("action"))
        if action not in ACTIONS:
            raise AnsibleActionFail(f"fleet_scheduler: action is {action!r}, expected one of {', '.join(ACTIONS)}")
        try:
            configured = settings.load()
        except FleetError as error:
            raise failure("fleet_scheduler", error) from error
        node = str(self._value(READ, self._variables["inventory_hostname"]))
        said: dict[str, Any] = {"scheduler": configured.scheduler, "name": node, "did": action}
        if configured.scheduler == "kubernetes" and (cluster := self._value(CLUSTER, "")):
            said["cluster"] = cluster
        did = SchedulerOutcome(changed=False, told="no scheduler gives it work")
        if configured.scheduler != "none" and node:
            did = self._done(configured, said)
        answer.update(changed=did.changed, msg=did.told, asked=configured.scheduler != "none", readings={READ: said})
        return answer

    def _done(self, configured: Settings, said: dict[str, Any]) -> SchedulerOutcome:
        """Act and read, into what is said; whatever the scheduler cannot do or tell is trouble to be judged."""
        from fleet_runner.adapters import schedulers  # noqa: PLC0415  most fleets' plays end before this

        did = SchedulerOutcome(changed=False, told="")
        try:
            self._refuse_if_taken_over(configured)
            scheduler = schedulers.opened(configured, self._value(CLUSTER, None))
            if scheduler is not None:
                did = self._act(scheduler, said["did"], said["name"])
                said["said"] = scheduler.read(said["name"])
        except SchedulerError as error:
            said["trouble"] = str(error)
            return SchedulerOutcome(did.changed, str(error))
        except FleetError as error:
            raise failure("fleet_scheduler", error) from error
        if self._task.check_mode:
            said["did"] = "read"
        return did

    def _act(self, scheduler: Scheduler, action: str, node: str) -> SchedulerOutcome:
        mine, dry = self._run(), bool(self._task.check_mode)
        by = By.RUNNER if mine else By.PERSON
        match action:
            case "drain":
                reason = str(mine.get("reason") or self._task.args.get("reason") or "")
                return scheduler.drain(node, reason, by, dry=dry)
            case "resume":
                return scheduler.resume(node, by, dry=dry)
            case "evict":
                devices = boolean(self._task.args.get("devices", False))
                return scheduler.evict(node, float(self._task.args.get("seconds", 120)), devices=devices, dry=dry)
            case _:
                return SchedulerOutcome(changed=False, told="")

    def _run(self) -> dict[str, Any]:
        """Return what the runner says about its run of this node; nothing by hand."""
        runs = self._value("fleet_runs", {}) or {}
        return runs.get(self._variables["inventory_hostname"]) or {} if os.environ.get("FLEET_BATCH") else {}

    def _refuse_if_taken_over(self, configured: Settings) -> None:
        """Ask the store, under the runner, whether this run is still open: a frozen play may wake up long after."""
        mine = self._run()
        if not mine:
            return
        from fleet_runner.adapters.store import Store  # noqa: PLC0415  by hand no store is needed

        with Store.open(configured.store_url) as store:
            run = store.run(int(mine["run"]))
        if run is None or run.outcome is not None or run.fence != int(mine["fence"]):
            why = f"run {mine['run']} is over or was taken over; nothing was said to the scheduler"
            raise failure("fleet_scheduler", RunOverError(why))

    def _value(self, name: str, default: Any) -> Any:
        found = self._variables.get(name)
        return default if found is None else json.loads(json.dumps(self._templar.template(found), default=str))
