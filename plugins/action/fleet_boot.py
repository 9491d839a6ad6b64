"""Watches a boot that was armed until the node answers ssh, or until it is known at which milestone it stopped."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase

from fleet_runner import settings
from fleet_runner.adapters.plays.task_failure import failure
from fleet_runner.core.base.errors import FleetError

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store
    from fleet_runner.core.boot.progress import Progress
    from fleet_runner.services.boot.progress import BootWatch
    from fleet_runner.settings import Settings

DOCUMENTATION = r"""
module: fleet_boot
short_description: Waits for a node that boots over the network
description:
  - Reads in the store how far an armed boot has come, until the node answers ssh or a milestone has had its time.
  - Keeps the ssh host keys that the node told, so that ssh knows it from the first connection on.
  - Never fails because of the node; the check C(network_boot) judges what this brings.
options:
  boot: {description: The boot that C(redfish_power) armed; nothing is waited for without one., type: raw}
  medium:
    description: The medium that C(redfish_power) inserted for it, which is ejected once the boot is over.
    type: str
    default: ""
  limits:
    description: "Seconds that each milestone may take after the one before: dhcp, script, kernel, cloud_init, ..."
    type: dict
    default: {}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: The node comes up, milestone by milestone
  fleet_boot:
    boot: "{{ network_boot_power.boot }}"
"""

RETURN = r"""
watched: {description: Whether there was a boot to wait for., returned: always, type: bool}
up: {description: Whether the node came to its last milestone., returned: always, type: bool}
progress: {description: The reading boot_progress., returned: always, type: dict}
"""

PAUSE = 0.5  # the boot service writes a milestone within tenths of a second
MOST_WHY = 300
SSH_PORT = 22


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True  # without a boot, and check mode arms none, there is nothing to do
    _VALID_ARGS = frozenset({"boot", "limits", "medium"})

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Watch, then say what was seen."""
        answer = super().run(tmp, task_vars)
        boot = self._task.args.get("boot")
        answer.update(changed=False, watched=bool(boot), up=False, progress={})
        if not boot:
            return answer
        from fleet_runner.adapters.store import Store  # noqa: PLC0415  only a boot that is watched needs the store
        from fleet_runner.core.boot import progress, progress_text  # noqa: PLC0415  likewise

        try:
            configured = settings.load()
            with Store.open(configured.store_url) as store:
                seen = self._watch(store, configured, int(boot), task_vars or {})
            if medium := self._task.args.get("medium"):
                self._eject(configured, str(medium), task_vars or {})
        except FleetError as error:
            raise failure("fleet_boot", error) from error
        up = progress.missing(seen.boot) is None
        answer.update(up=up, progress=progress_text.to_json(seen), msg=progress.timeline(seen.boot))
        return answer

    def _watch(self, store: Store, configured: Settings, boot: int, variables: dict[str, Any]) -> Progress:
        from fleet_runner.core.boot.boots import Milestone  # noqa: PLC0415  likewise
        from fleet_runner.services.boot import arming  # noqa: PLC0415  likewise
        from fleet_runner.services.boot import progress as watching  # noqa: PLC0415  likewise

        watch = watching.BootWatch(store, boot, arming.limits(self._task.args.get("limits") or {}))
        while True:
            seen = watch.look()
            if Milestone.PHONE_HOME in seen.boot.reached and Milestone.SSH not in seen.boot.reached:
                seen = self._greet(watch, configured, seen, variables)
            if watching.over(seen):
                return watch.concluded(self._with_power(configured, seen, variables))
            time.sleep(PAUSE)

    def _eject(self, configured: Settings, medium: str, variables: dict[str, Any]) -> None:
        """Take the boot's medium out; what keeps it in is told, and is not the node's fault."""
        from fleet_runner.adapters import redfish  # noqa: PLC0415  likewise
        from fleet_runner.services.boot import arming  # noqa: PLC0415  likewise

        url = str(self._templar.template(variables.get("fleet_bmc_url")) or "")
        try:
            with redfish.opened(configured, url, name=str(variables["inventory_hostname"])) as bmc:
                bmc.eject(arming.medium_address(configured, medium))
        except FleetError as error:
            self._display.warning(f"fleet_boot: {error}")

    def _greet(self, watch: BootWatch, configured: Settings, seen: Progress, variables: dict[str, Any]) -> Progress:
        """Keep the node's host keys, and try to reach it by them."""
        from dataclasses import replace  # noqa: PLC0415  likewise

        from fleet_runner.adapters.files import known_hosts  # noqa: PLC0415  likewise

        host = str(self._templar.template(variables.get("ansible_host")) or variables["inventory_hostname"])
        port = int(self._templar.template(variables.get("ansible_port")) or SSH_PORT)
        known_hosts.pin(known_hosts.folder(configured), host, port, seen.boot.host_keys)
        why = self._unreached()
        return replace(seen, ssh=why) if why else watch.answers_ssh(seen, host)

    def _unreached(self) -> str:
        """Say why the node cannot be reached by its connection; empty where it answers."""
        with contextlib.suppress(AnsibleError, AttributeError):
            self._connection.reset()  # what is kept open leads to the system before the boot
        try:
            said = self._low_level_execute_command("exit 0", sudoable=False)
        except AnsibleError as error:
            return _line(error)
        return "" if said.get("rc") == 0 else _line(said.get("stderr") or f"a shell exits with {said.get('rc')}")

    def _with_power(self, configured: Settings, seen: Progress, variables: dict[str, Any]) -> Progress:
        """Ask the BMC of a node that stopped before its kernel whether it is on at all."""
        from dataclasses import replace  # noqa: PLC0415  likewise

        from fleet_runner.core.boot import progress  # noqa: PLC0415  likewise
        from fleet_runner.core.boot.boots import Milestone  # noqa: PLC0415  likewise

        url = str(self._templar.template(variables.get("fleet_bmc_url")) or "")
        if not url or not progress.overdue(seen) or progress.last(seen.boot) not in {None, Milestone.DHCP}:
            return seen
        from fleet_runner.adapters import ipmi  # noqa: PLC0415  likewise

        name = str(variables["inventory_hostname"])
        with contextlib.suppress(FleetError), ipmi.opened(configured, url, name=name) as bmc:
            return replace(seen, power=bmc.power_state() or "")
        return seen


def _line(words: object) -> str:
    return " ".join(str(words).split())[:MOST_WHY]
