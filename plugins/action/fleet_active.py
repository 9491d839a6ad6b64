"""Has a node run active tests, or finds those that run; decided by `fleet_runner.core.checks.active`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

from fleet_runner.core.checks import active
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fleet_runner.core.checks.active import Plan
    from fleet_runner.core.checks.check import Check

DOCUMENTATION = r"""
module: fleet_active
short_description: Has a node run active tests, or finds those that run
description:
  - Hands the node the tests as one chain, under a key; the node runs them one after the other, and needs no visits.
  - A later call with the key looks at all of them at once, and starts nothing anew. After a fault it ends the rest;
    without one it has begun again what gave way.
  - Never fails because of a test; C(fleet_check) judges what this brings.
options:
  checks: {description: "Names of checks, in their order.", type: list, elements: str, required: true}
  key: {description: What the chain is called on the node; see C(fleet_job)., type: str, required: true}
  yields: {description: Whether tests give way at once to whoever else works on the node., type: bool, default: true}
  workers: {description: Names of processes that are work by themselves., type: list, elements: str, default: []}
  ignored:
    description: Names of processes that hold a GPU and do not work; of pods, as C(namespace/name), that are no work.
    type: list
    elements: str
    default: []
  resources: {description: What pods are given that work on GPUs., type: list, elements: str, default: []}
  stop: {description: Why the tests are to end now; nothing is started., type: str, default: ""}
  slurm: {description: Arguments of srun where work comes through Slurm., type: list, elements: str, default: []}
  dir: {description: Where the node keeps the state of its jobs., type: path, default: /run/fleet-runner/jobs}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: The tests run on the node
  fleet_active:
    checks: [gpu_burn, dcgm]
    key: burn_in-1763697123
  register: active_tests
"""

RETURN = r"""
readings: {description: "The readings \"<check>_job\".", returned: always, type: dict}
checks: {description: The checks that may be asked now., returned: always, type: list}
"""

SUPERVISOR = ("supervise.py", "watch.py")
"""What runs the tests on the node."""

PROGRAMS = Path(__file__).resolve().parent.parent.parent / "roles" / "active" / "files"


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True  # the module starts nothing then
    _VALID_ARGS = frozenset({"checks", "key", "yields", "workers", "ignored", "resources", "stop", "slurm", "dir"})

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Look first: a node whose test found a fault is not loaded again. Then begin what has not been, or end."""
        answer = super().run(tmp, task_vars)
        self._variables = task_vars or {}
        checks = [CHECKS[name] for name in self._names()]
        expected = self._expected()
        made = active.plan(checks, expected)
        if made.orders and (stop := str(self._task.args.get("stop") or "")):
            changed, jobs, trouble = self._module(made, stop=stop)
            return _answered(answer, checks, active.brought(made, jobs, trouble), changed=changed)
        changed, jobs, trouble = self._module(made, look=True) if made.orders else (False, {}, "")
        readings = active.brought(made, jobs, trouble)
        fault = active.faulty(checks, _read(readings), expected)
        if fault and any(map(_goes_on, readings.values())):
            readings = active.brought(made, {**jobs, **self._ended(made, jobs, fault)}, trouble)
        elif not fault and (changed or any(map(_is_lost, readings.values()))):
            changed, jobs, trouble = self._module(made)
            readings = active.brought(made, jobs, trouble)
        return _answered(answer, checks, readings, changed=changed)

    def _names(self) -> list[str]:
        names = [str(name) for name in self._task.args.get("checks") or ()]
        unknown = [name for name in names if name not in CHECKS]
        if unknown or not names:
            raise AnsibleActionFail(f"fleet_active: no check {', '.join(unknown)}; there are: {', '.join(CHECKS)}")
        return names

    def _expected(self) -> Expected:
        node = str(self._variables["inventory_hostname"])
        runs = _plain(self._templar.template(self._variables.get("fleet_runs"))) or {}
        return Expected(
            node=node,
            profile=_plain(self._templar.template(self._variables.get("fleet_profile"))) or {},
            device=_plain(self._variables.get("fleet_device")) or {},
            run={**(runs.get(node) or {}), "now": time.time()},
        )

    def _ended(self, made: Plan, jobs: Mapping[str, Any], fault: str) -> dict[str, Any]:
        """End the rest of the chain; return what became of jobs that went on: what has ended stays as it was told."""
        try:
            _, now, _ = self._module(made, stop=f"what {fault} found")
        except AnsibleError:
            return {}  # the node is gone, or cannot: the fault is told all the same, and it leaves its state
        return {name: each for name, each in now.items() if _goes_on(jobs.get(name))}

    def _module(self, made: Plan, *, stop: str = "", look: bool = False) -> tuple[bool, Mapping[str, Any], str]:
        """Have the node start or find the chain; return whether it started any, the jobs, and why none is known.

        With `look` nothing is started: what it would start waits.
        """
        asked = self._task.args
        slurm = _plain(asked.get("slurm") or [])
        # Slurm itself looks after its steps, of which the tests are some.
        workers = [] if slurm else asked.get("workers") or []
        others = (_plain(asked.get(name) or []) for name in ("ignored", "resources"))
        way = active.gives_way(_plain(workers), *others)
        programs = {*SUPERVISOR, *(order.program for order in made.orders.values() if order.program)}
        arguments = {
            "key": str(asked["key"]),
            "jobs": [active.wire(name, order, slurm) for name, order in made.orders.items()],
            "programs": {name: _text(name) for name in sorted(programs)},
            "stop": stop,
            "lasts": active.lasts(str(asked["key"])),
            "age": _age(str(asked["key"])),
            **({"yield_to": way} if asked.get("yields", True) else {}),
            **({"dir": str(asked["dir"])} if asked.get("dir") else {}),
        }
        checking = self._task.check_mode
        self._task.check_mode = checking or look
        try:
            told = self._execute_module(module_name="fleet_job", module_args=arguments, task_vars=self._variables)
        except AnsibleConnectionFailure:
            raise
        except AnsibleError as error:
            told = {"failed": True, "msg": str(error)}
        finally:
            self._task.check_mode = checking
        if told.get("failed") or not isinstance(told.get("jobs"), dict):
            return False, {}, str(told.get("msg") or told.get("module_stderr") or "the node gave no answer")[:500]
        return bool(told.get("changed")), _plain(told["jobs"]), ""


def _answered(
    answer: dict[str, Any], checks: Sequence[Check], readings: Mapping[str, Any], *, changed: bool
) -> dict[str, Any]:
    told = ", ".join(f"{name.removesuffix('_job')} {each['state']}" for name, each in readings.items())
    answer.update(changed=changed, readings=_plain(readings), checks=active.asked(checks, readings), msg=told)
    return answer


def _goes_on(job: Any) -> bool:
    return isinstance(job, dict) and job.get("state") in ("running", "waiting")


def _is_lost(job: Any) -> bool:
    return isinstance(job, dict) and job.get("state") == "lost"


def _age(key: str) -> float:
    """Return how long ago began what a key names; 0 where it does not tell."""
    try:
        return max(0.0, time.time() - float(key.rpartition("-")[2]))
    except ValueError:
        return 0.0


def _text(program: str) -> str:
    return (PROGRAMS / program).read_text(encoding="utf-8")


def _read(readings: Mapping[str, Any]) -> dict[str, Reading]:
    return {name: Reading(name, ReadEnd.OK, json.dumps(value), at=time.time()) for name, value in readings.items()}


def _plain(value: Any) -> Any:
    """Strip Ansible's tags: only JSON's own types cross the border, in either direction."""
    return json.loads(json.dumps(value, default=str))
