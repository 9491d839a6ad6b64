"""Power actions and one-time boot through the node's BMC; thin over `fleet_runner.adapters.redfish`."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from fleet_runner import settings
from fleet_runner.core.errors import FleetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleet_runner.adapters.redfish import Bmc

DOCUMENTATION = r"""
module: redfish_power
short_description: Switches a node's power and chooses its next boot
description:
  - Asks the BMC first and does only what is still to be done; a second run changes nothing where that can be known.
  - Under the runner it also asks the store, and does nothing for a run that is over or was taken over.
options:
  action:
    description: on and off are states; cycle removes power and gives it back; restart resets the running node.
    type: str
    choices: ["on", "off", cycle, restart]
    required: true
  boot_once: {description: Where the next boot comes from., type: str, choices: [pxe, none], default: none}
  unless_reset_since:
    description: Do nothing if the node is on and its BMC reset it after this moment (epoch seconds).
    type: float
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: The node boots from the network
  redfish_power:
    action: cycle
    boot_once: pxe
"""

RETURN = r"""
since: {description: The moment from which a boot of the node counts (epoch seconds)., returned: always, type: float}
sent: {description: The power actions sent to the BMC., returned: always, type: list, elements: str}
"""

ACTIONS = ("on", "off", "cycle", "restart")
TARGETS = {"none": "", "pxe": "Pxe"}
OFF_SECONDS = 60.0  # a server that is cut off is off within seconds; some BMCs notice late
PAUSE = 1.0


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"action", "boot_once", "unless_reset_since"})

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read, decide, act."""
        answer = super().run(tmp, task_vars)
        action, target, since = _arguments(self._task.args)
        url = str(self._templar.template((task_vars or {}).get("fleet_bmc_url")) or "")
        if not url:
            raise AnsibleActionFail("redfish_power: fleet_bmc_url is not set; give the device an out-of-band address")
        from fleet_runner.adapters import redfish  # noqa: PLC0415  loaded only where a BMC is asked

        now = time.time()
        try:
            with redfish.opened(settings.load(), url) as bmc:
                state = bmc.power_state()
                age = bmc.last_reset_age() if since is not None else None
                done = since is not None and age is not None and age < max(0.0, now - since)
                sent = plan(action, state, bmc.power_actions(), done=done)
                if sent and not self._task.check_mode:
                    self._refuse_if_taken_over(task_vars or {})
                    if target:
                        bmc.boot_once(target)
                    send(bmc, sent)
        except FleetError as error:
            raise AnsibleActionFail(f"redfish_power: {error}") from error
        answer.update(changed=bool(sent), sent=sent, since=now if since is None else since)
        return answer

    def _refuse_if_taken_over(self, variables: dict[str, Any]) -> None:
        """Ask the store, under the runner, whether this run is still open: a frozen play may wake up long after."""
        runs = self._templar.template(variables.get("fleet_runs")) or {}
        mine = runs.get(variables.get("inventory_hostname"))
        if not mine or not os.environ.get("FLEET_BATCH"):
            return
        from fleet_runner.adapters.store import Store  # noqa: PLC0415  only a power action pays for it

        store = Store.open(settings.load().store_url)
        try:
            run = store.run(int(mine["run"]))
        finally:
            store.close()
        if run is None or run.outcome is not None or run.fence != int(mine["fence"]):
            raise AnsibleActionFail(
                f"redfish_power: run {mine['run']} is over or was taken over; nothing was sent to the BMC"
            )


def plan(action: str, state: str | None, allowed: tuple[str, ...], *, done: bool) -> list[str]:
    """Return the power actions that are still to be sent; `done` says that the BMC has reset the node already.

    A node that is off is only switched on, even when `done`: an earlier try may have ended between off and on.
    """
    if action == "off":
        return [] if state == "Off" else ["ForceOff"]
    if state == "Off":
        return ["On"]
    if done or (action, state) == ("on", "On"):
        return []
    if action == "on":
        return ["On"]
    reset = {"cycle": "PowerCycle", "restart": "ForceRestart"}[action]
    # A DGX H100's BMC knows no PowerCycle; off and on is the same.
    return [reset] if not allowed or reset in allowed else ["ForceOff", "On"]


def send(bmc: Bmc, actions: list[str], pause: Callable[[float], None] = time.sleep) -> None:
    """Send the actions in order; wait until the node is off before it is switched on again."""
    for number, action in enumerate(actions):
        if number:
            _wait_for_off(bmc, pause)
        bmc.power(action)


def _wait_for_off(bmc: Bmc, pause: Callable[[float], None]) -> None:
    deadline = time.monotonic() + OFF_SECONDS
    while (state := bmc.power_state()) != "Off":
        if time.monotonic() > deadline:
            raise AnsibleActionFail(
                f"redfish_power: switched off, but its BMC is {state} after {OFF_SECONDS:g} s; look at it"
            )
        pause(PAUSE)


def _arguments(args: dict[str, Any]) -> tuple[str, str, float | None]:
    # YAML reads a bare `on` as a truth value, as it does everywhere in Ansible.
    words: dict[Any, str] = {True: "on", False: "off"}
    action = words.get(args.get("action"), args.get("action"))
    target = args.get("boot_once") or "none"
    if action not in ACTIONS or target not in TARGETS:
        raise AnsibleActionFail(
            f"redfish_power: action is {action!r} and boot_once {target!r};"
            f" expected one of {', '.join(ACTIONS)} and one of {', '.join(TARGETS)}"
        )
    since = args.get("unless_reset_since")
    try:
        return str(action), TARGETS[str(target)], None if since is None else float(since)
    except (TypeError, ValueError):
        raise AnsibleActionFail(f"redfish_power: unless_reset_since is {since!r}, expected epoch seconds") from None
