"""Has a node's BIOS settings set as its profile names them; thin over `fleet_runner.reconcile.firmware.driver`."""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from fleet_runner import settings
from fleet_runner.adapters.plays.task_failure import failure
from fleet_runner.core.base.errors import EvidenceError, FleetError, NoStoreError, SourceError

if TYPE_CHECKING:
    from fleet_runner.core.firmware.bios_text import Report
    from fleet_runner.reconcile.firmware.driver import BiosContext, Target

DOCUMENTATION = r"""
module: fleet_bios
short_description: Has a node's BIOS settings set
description:
  - Compares what the node's BMC says with C(fleet_profile.bios) and
    C(fleet_profile.boot_settings), and has what differs set at the next reset.
  - Everything is checked first, against what the BMC reports and allows; nothing is sent if anything is wrong.
  - Each setting is tried once in a node's stay in a state; the reset is left to the play.
  - In check mode it reads, sends nothing, and returns the request that it would send.
  - Never fails because of the node; the checks C(bios_settings) and C(boot_settings) judge what this brings.
options:
  since:
    description: The moment (epoch seconds) from which a try counts, if the runner gives none; else now.
    type: float
  boot_seconds:
    description: How long after a reset the BMC may still tell of the settings from before.
    type: float
    default: 900
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: BIOS settings are as the profile says, or wait for a reset
  fleet_bios:
  register: bios_update
"""

RETURN = r"""
done: {description: Whether every setting is in force or will be after the reset., returned: always, type: bool}
waiting: {description: Whether a reset of the host is needed., returned: always, type: bool}
since: {description: The moment (epoch seconds) from which that reset counts., returned: where waiting, type: float}
request: {description: "What was sent, or would be: method, uri, body.", returned: where there is one, type: dict}
progress: {description: The reading bios_progress., returned: always, type: dict}
"""


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"since", "boot_seconds"})

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Have them set, then say where they stand."""
        answer = super().run(tmp, task_vars)
        from fleet_runner.core.firmware.bios_text import GOING_ON  # noqa: PLC0415  only this task needs it

        variables = task_vars or {}
        since, boot_seconds = _arguments(self._task.args)
        try:
            report = self._set(variables, since, boot_seconds)
        except FleetError as error:
            raise failure("fleet_bios", error) from error
        told = report.to_json()
        answer.update(
            changed=report.changed or (self._task.check_mode and report.request is not None),
            done=report.stand in GOING_ON,
            waiting=report.since is not None,
            since=report.since,
            request=told["request"],
            progress=told,
            msg="; ".join((report.message, *report.notes)),
        )
        return answer

    def _set(self, variables: dict[str, Any], since: float, boot_seconds: float) -> Report:
        """Open what is needed and go; a profile that cannot be read is nobody's fault but its author's."""
        from fleet_runner.adapters import redfish  # noqa: PLC0415  likewise
        from fleet_runner.core.boot import boot_interface  # noqa: PLC0415  likewise
        from fleet_runner.core.firmware import bios, boot_settings  # noqa: PLC0415  likewise
        from fleet_runner.core.firmware.bios_text import Report, SettingStatus  # noqa: PLC0415  likewise
        from fleet_runner.core.firmware.flash import FlashTiming  # noqa: PLC0415  likewise
        from fleet_runner.reconcile.firmware import driver  # noqa: PLC0415  only this task pays for the store and for HTTP

        try:
            profile = _plain(self._templar.template(variables.get("fleet_profile"))) or {}
            wanted = {**bios.read(profile), **boot_settings.read(profile)}
            device = _plain(self._templar.template(variables.get("fleet_device"))) or {}
            mac = boot_interface.chosen(profile, device)
        except EvidenceError as error:
            return Report(SettingStatus.REFUSED, str(error))
        configured = settings.load()
        url = str(self._templar.template(variables.get("fleet_bmc_url")) or "")
        if wanted and not url:
            why = "fleet_bmc_url is not set; give the device an out-of-band address"
            raise failure("fleet_bios", SourceError(variables.get("fleet_bmc_refused") or why))
        means = driver.BiosContext(
            store=None,
            open=partial(redfish.opened, configured, url, name=str(variables["inventory_hostname"])),
            wanted=wanted,
            pace=FlashTiming(boot=boot_seconds),
            device=device,
            mac=mac,
        )
        mine = self._run(variables) if os.environ.get("FLEET_BATCH") else {}
        target = replace(_target(variables, mine, since), bmc=url)
        until = time.time() + configured.firmware_visit_seconds if mine else float("inf")
        return self._with_store(configured.store_url, target, means, until)

    def _with_store(self, url: str, target: Target, means: BiosContext, until: float) -> Report:
        """Go with the store, if there is one: by hand, before the first tick, only what is planned can be said."""
        from fleet_runner.adapters.store import Store  # noqa: PLC0415  likewise
        from fleet_runner.reconcile.firmware.driver import set_bios  # noqa: PLC0415  likewise

        check = bool(self._task.check_mode)
        try:
            opened = Store.open(url)
        except NoStoreError:
            return set_bios(target, means, until=until, check=check)
        with opened as store:
            return set_bios(target, replace(means, store=store), until=until, check=check)

    def _run(self, variables: dict[str, Any]) -> dict[str, Any]:
        """Return what the runner says about its run of this node; nothing by hand."""
        runs = self._templar.template(variables.get("fleet_runs")) or {}
        return runs.get(variables.get("inventory_hostname")) or {}


def _arguments(args: dict[str, Any]) -> tuple[float, float]:
    since, boot_seconds = args.get("since"), args.get("boot_seconds")
    try:
        return time.time() if since is None else float(since), 900.0 if boot_seconds is None else float(boot_seconds)
    except (TypeError, ValueError) as error:
        raise AnsibleActionFail(
            f"fleet_bios: since is {since!r} and boot_seconds {boot_seconds!r}, expected numbers"
        ) from error


def _target(variables: dict[str, Any], mine: dict[str, Any], since: float) -> Target:
    from fleet_runner.reconcile.firmware.driver import Target  # noqa: PLC0415  likewise

    return Target(
        node=str(variables["inventory_hostname"]),
        holder=f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}",
        run=(int(mine["run"]), int(mine["fence"])) if mine else None,
        since=float(mine.get("since") or since),
        by="runner" if mine else "hand",
    )


def _plain(value: Any) -> Any:
    """Strip Ansible's tags: only JSON's own types cross the border."""
    return json.loads(json.dumps(value, default=str))
