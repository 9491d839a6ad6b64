"""Reads a compute tray of an NVLink domain; see `fleet_runner.core.checks.parsers.nvlink_trays`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase

from fleet_runner.core.checks.evidence import Reading
from fleet_runner.core.checks.parsers import nvlink_trays
from fleet_runner.core.checks.reads import READS

if TYPE_CHECKING:
    from collections.abc import Mapping

DOCUMENTATION = r"""
module: fleet_tray
short_description: Reads what a compute tray says of its NVLink domain
description:
  - Reads the tray that the task is delegated to, in one round trip, and keeps what it says of its GPUs' place in the
    domain, of their links and of IMEX. It changes nothing.
  - Never fails because of the tray. One that does not answer has its reason told.
options:
  seconds: {description: How long one read may take; all go on at once., type: float, default: 25}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: Read each compute tray
  fleet_tray:
  register: fabric_trays
  delegate_to: "{{ tray }}"
  loop: [tray-1, tray-2]
  loop_control: {loop_var: tray}
"""

RETURN = r"""
tray: {description: What it says., returned: always, type: dict}
"""


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True  # it only reads
    _VALID_ARGS = frozenset({"seconds"})

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read the tray and return what it says."""
        answer = super().run(tmp, task_vars)
        seconds = float(self._task.args.get("seconds") or 25)
        reads = [replace(READS[name], seconds=seconds) for name in nvlink_trays.READS]
        try:
            arguments = {"reads": [read.to_json() for read in reads]}
            said = self._execute_module(module_name="fleet_collect", module_args=arguments, task_vars=task_vars)
            tray = nvlink_trays.told(_readings(said))
        except AnsibleError as error:
            tray = nvlink_trays.silent(f"it does not answer: {error}")
        count = len(tray.get("gpus", ()))
        told = f"{count} GPUs" if count else "; ".join(tray["unread"])
        answer.update(changed=False, tray=tray, msg=told[:300])
        return answer


def _readings(said: Mapping[str, Any]) -> dict[str, Reading]:
    """Return what the tray sent, by name; it is not trusted to be what was asked for."""
    rows = json.loads(json.dumps(said.get("readings") or [], default=str))
    found: dict[str, Reading] = {}
    for row in rows if isinstance(rows, list) else []:
        try:
            reading = Reading.from_json(row)
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        found[reading.name] = reading
    return found
