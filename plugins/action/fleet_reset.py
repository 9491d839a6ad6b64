"""Restarts services of a node or resets its GPUs, as its remedy says: see `fleet_runner.core.faults.reset.plan`."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

from fleet_runner import settings
from fleet_runner.adapters.plays.task_failure import failure
from fleet_runner.core.base.errors import EvidenceError, FleetError, RunOverError
from fleet_runner.core.checks.catalogue import gpu_usage
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers import systemctl
from fleet_runner.core.checks.reads import READS
from fleet_runner.core.checks.shared.gpus import presence
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.reset import plan, progress
from fleet_runner.core.faults.reset.plan import Order

if TYPE_CHECKING:
    from collections.abc import Mapping

DOCUMENTATION = r"""
module: fleet_reset
short_description: Restarts services of a node or resets its GPUs
description:
  - Under the runner, the run says which (its remedy) and for which faults; by hand the arguments do.
  - Reads what the node has, decides, and has the node do it, once in a stay; nothing is done to a node in use.
  - In check mode it reads, and says what would be done. Never fails because of the node; the check C(resets) judges.
options:
  remedy: {description: RESTART or RESET where no run says it., type: str, default: RESET}
  faults: {description: "Keys of faults (node/code/component) where no run says them.", type: list, elements: str,
           default: []}
  stop: {description: "Units that hold GPUs; they are stopped for a reset.", type: list, elements: str, default: []}
  seconds: {description: How long a command on the node may take., type: float, default: 240}
  dir: {description: Where the node keeps its logs., type: path, default: /run/fleet-runner/resets}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: What failed is restarted, or the GPUs are reset
  fleet_reset:
    stop: [nvidia-persistenced.service, nvidia-dcgm.service]
  register: reset_done
"""

RETURN = r"""
progress: {description: The reading reset_progress., returned: always, type: dict}
"""

ASKED = ("nvidia_smi", "our_jobs", "fabric_manager_unit")
REMEDIES = (Remedy.RESTART, Remedy.RESET)


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"remedy", "faults", "stop", "seconds", "dir"})

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read, decide, have it done."""
        answer = super().run(tmp, task_vars)
        self._variables = task_vars or {}
        runs = _plain(self._templar.template(self._variables.get("fleet_runs"))) or {}
        self._mine = runs.get(self._variables["inventory_hostname"]) or {}
        remedy = self._mine.get("remedy") or self._task.args.get("remedy") or Remedy.RESET.value
        if remedy not in REMEDIES:
            raise AnsibleActionFail(f"fleet_reset: remedy is {remedy!r}, expected {' or '.join(REMEDIES)}")
        faults = plan.named(self._mine.get("faults") or _plain(self._task.args.get("faults") or []))
        told, changed = self._done(Remedy(remedy), faults)
        answer.update(changed=changed, progress=told)
        return answer

    def _done(self, remedy: Remedy, faults: tuple[plan.Fault, ...]) -> tuple[dict[str, Any], bool]:
        """Return the reading, and whether anything was done."""
        checking = self._task.check_mode
        empty = Order(remedy).to_json()
        try:
            readings = self._read()
            wanted = self._order(remedy, faults, readings)
            self._refuse_if_taken_over()
            if busy := self._busy(readings):
                return progress.to_json(wanted.to_json(), check=checking, trouble=busy), False
        except EvidenceError as error:
            return progress.to_json(empty, check=checking, trouble=str(error)), False
        except FleetError as error:
            raise failure("fleet_reset", error) from error
        if wanted.gone:
            return progress.to_json(wanted.to_json(), check=checking), False
        try:
            report, changed = self._module(wanted)
        except EvidenceError as error:
            return progress.to_json(wanted.to_json(), check=checking, trouble=str(error)), False
        return progress.to_json(wanted.to_json(), check=checking, report=report), changed

    def _order(self, remedy: Remedy, faults: tuple[plan.Fault, ...], readings: Mapping[str, Reading]) -> Order:
        if remedy is Remedy.RESTART:
            profile = _plain(self._templar.template(self._variables.get("fleet_profile"))) or {}
            return plan.restart(faults, profile)
        reading = readings["nvidia_smi"]
        if reading.end is not ReadEnd.OK:
            raise EvidenceError(f"nvidia-smi: {reading.error or reading.end.value}; nothing was reset")
        unit = readings["fabric_manager_unit"]
        known = unit.end is ReadEnd.OK and not unit.rc
        return plan.reset(faults, presence(readings), systemctl.one(unit.text) if known else None)

    def _busy(self, readings: Mapping[str, Reading]) -> str:
        """Say who uses the GPUs, as nvidia-smi lists it; tests of ours were ended before."""
        if readings["nvidia_smi"].end is not ReadEnd.OK:
            return ""
        node = str(self._variables["inventory_hostname"])
        try:
            found = gpu_usage.judge(readings, Expected(node))
        except EvidenceError:
            return ""  # GPUs that do not answer run nothing; who holds one is seen on the node
        return f"{found.message}; nothing was done, and nobody's process ended" if found.observed["in_use"] else ""

    def _refuse_if_taken_over(self) -> None:
        """Ask the store, under the runner, whether this run is still open: a frozen play may wake up long after."""
        if not self._mine or not os.environ.get("FLEET_BATCH"):
            return
        from fleet_runner.adapters.store import Store  # noqa: PLC0415  by hand nothing is asked of it

        with Store.open(settings.load().store_url) as store:
            run = store.run(int(self._mine["run"]))
        if run is None or run.outcome is not None or run.fence != int(self._mine["fence"]):
            over = RunOverError(f"run {self._mine['run']} is over or was taken over; nothing was done")
            raise failure("fleet_reset", over)

    def _read(self) -> dict[str, Reading]:
        arguments = {"reads": [READS[name].to_json() for name in ASKED]}
        answer = self._asked("fleet_collect", arguments)
        if answer.get("failed") or not isinstance(answer.get("readings"), list):
            raise EvidenceError(f"nothing can be read on the node: {answer.get('msg') or 'it gave no readings'}")
        found = [Reading.from_json(raw) for raw in _plain(answer["readings"])]
        return {each.name: each for each in found}

    def _module(self, wanted: Order) -> tuple[dict[str, Any], bool]:
        """Have the node do it, or tell of what it did before in this stay."""
        since = self._mine.get("since")
        arguments = {
            "stay": str(int(float(since) * 1000)) if since is not None else f"by-hand-{time.time_ns()}",
            "restart": list(wanted.units),
            "gpus": list(wanted.gpus),
            "stop": _plain(self._task.args.get("stop") or []),
            **{name: self._task.args[name] for name in ("seconds", "dir") if self._task.args.get(name)},
        }
        answer = self._asked("fleet_reset", arguments)
        if answer.get("failed") or not isinstance(answer.get("report"), dict):
            raise EvidenceError(f"the node could not do it: {answer.get('msg') or 'it gave no report'}; ask again")
        return _plain(answer["report"]), bool(answer.get("changed"))

    def _asked(self, module: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Run a module on the node; an unreachable node is Ansible's to report."""
        try:
            return self._execute_module(module_name=module, module_args=arguments, task_vars=self._variables)
        except AnsibleConnectionFailure:
            raise
        except AnsibleError as error:
            return {"failed": True, "msg": str(error)}


def _plain(value: Any) -> Any:
    """Strip Ansible's tags: only JSON's own types cross the border, in either direction."""
    return json.loads(json.dumps(value, default=str))
