"""Power actions and one-time boot through the node's BMC; thin over `adapters.redfish` and `services.boot.arming`."""

from __future__ import annotations

import contextlib
import json
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

from fleet_runner import settings
from fleet_runner.adapters.plays.task_failure import failure
from fleet_runner.adapters.redfish import power
from fleet_runner.adapters.redfish.power import plan, start
from fleet_runner.core.base.errors import (
    BmcError,
    FleetError,
    NoStoreError,
    NotOfferedError,
    SettingsError,
    SourceError,
)
from fleet_runner.core.checks.evidence import Reading
from fleet_runner.core.checks.parsers import uptime
from fleet_runner.core.checks.reads import READS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fleet_runner.adapters.ipmi import PowerBmc
    from fleet_runner.adapters.store import Store
    from fleet_runner.services.boot.arming import BootToArm
    from fleet_runner.settings import Settings

DOCUMENTATION = r"""
module: redfish_power
short_description: Switches a node's power and chooses its next boot
description:
  - Asks the BMC first and does only what is still to be done; a second run changes nothing where that can be known.
  - A BMC that says another serial number than the source of truth is another machine's, and is sent nothing.
  - Under the runner it also asks the store, and does nothing for a run that is over or was taken over.
  - Where there is a store, nothing is sent while a flash of the node is open, while somebody works on its firmware,
    or while it is in firmware_failed, unless a person allowed it (C(fleet-runner firmware allow-power)).
  - Where the settings name a boot service (boot_url), a boot from the network starts from a node that is off. It is
    armed when its BMC says so, and no longer if the node cannot be switched on; the system before it sees none of it.
    Nothing is sent while no boot service is heard; that is no try of the node's.
  - A C(reboot) is as gentle as it can be; the node's own system is asked first, and only for as long as C(grace).
    Without a BMC that answers, it reboots itself, if it answers ssh and does not boot from the boot service.
options:
  action:
    description:
      - on and off are states; cycle removes power and gives it back; restart resets the running node; reboot has its
        system restart, and resets it only if it does not.
    type: str
    choices: ["on", "off", cycle, restart, reboot]
    required: true
  ac: {description: "For cycle: take standby power away, too, where the BMC can.", type: bool, default: false}
  grace: {description: Seconds that a system may take to restart by itself., type: float, default: 180}
  boot_once:
    description:
      - Where the next boot comes from. C(served) is C(pxe) where the settings name a boot service, else C(none).
      - With the setting boot_proof, a boot from the boot service is always one over UEFI HTTP.
    type: str
    choices: [pxe, http, served, none]
    default: none
  unless_reset_since:
    description:
      - Do nothing if the node is on and its BMC reset it after this moment (epoch seconds).
      - With a boot service, only if the boot that was armed since then has come to its end or still may.
    type: float
  medium:
    description:
      - The file in boot_loaders, ending in .iso, that a boot from the boot service starts from, as virtual media.
      - It is inserted before the node is switched off, and C(fleet_boot) ejects it; nobody else's is ejected.
    type: str
    default: ""
  loader: {description: The file that a BMC has its node load over UEFI HTTP., type: str, default: snponly.efi}
  limits: {description: Seconds of each milestone of a boot; see C(fleet_boot)., type: dict, default: {}}
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
boot: {description: The boot that is armed for it or was made since; none without a boot service., type: int}
"""

ACTIONS = ("on", "off", "cycle", "restart", "reboot")
TARGETS = {"none": "", "pxe": "Pxe", "http": "UefiHttp", "served": "Pxe"}
IN_BAND = "systemctl reboot"
GRACE_SECONDS = 180.0
PAUSE = 1.0


class Order(NamedTuple):
    """What is to be sent, and where the next boot comes from; `alive` raises where a power action comes too late."""

    sent: list[str]
    target: str
    wanted: BootToArm | None
    mac: str
    alive: Callable[[], None]


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset(
        {"action", "boot_once", "unless_reset_since", "limits", "loader", "medium", "ac", "grace"}
    )

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read, decide, act."""
        answer = super().run(tmp, task_vars)
        variables = task_vars or {}
        action, source, since = _arguments(self._task.args)
        url = str(self._templar.template(variables.get("fleet_bmc_url")) or "")
        configured = settings.load()
        may_itself = action == "reboot" and not (configured.boot_url and source != "none")
        if not url and may_itself:
            return answer | self._in_band(configured, variables, since)
        if not url:
            why = "fleet_bmc_url is not set; give the device an out-of-band address"
            raise failure("redfish_power", SourceError(variables.get("fleet_bmc_refused") or why))
        from fleet_runner.adapters import ipmi  # noqa: PLC0415  loaded only where a BMC is asked
        from fleet_runner.reconcile.firmware.driver import identity, power_guard  # noqa: PLC0415  likewise

        now = time.time()
        asked = False
        try:
            served = action != "off" and source != "none" and bool(configured.boot_url)
            target = "" if source == "served" and not served else TARGETS[source]
            if target and not served and self._task.args.get("medium"):
                raise SettingsError("boot_medium needs the boot service; set boot_url, or take boot_medium out")
            bmc_of = ipmi.opened(configured, url, name=str(variables["inventory_hostname"]))
            with bmc_of as bmc, self._opened(configured, variables, served=served) as store:
                state = bmc.power_state()
                asked = True
                age = bmc.last_reset_age() if since is not None else None
                boot = self._made(store, variables, since, age) if store and served else None
                reset = since is not None and age is not None and age < max(0.0, now - since)
                done = boot is not None if served else reset
                answers = action == "reboot" and not done and bool(self._boot_id())
                sent = plan(action, state, bmc.power_actions(), done=done, served=served, answers=answers)
                if sent and (why := identity.stranger(bmc, self._device(variables))):
                    raise AnsibleActionFail(f"redfish_power: {why}")
                if sent and not self._task.check_mode:
                    wanted = self._wanted(bmc, store, configured, target, variables) if store and served else None
                    medium = wanted.medium if wanted else ""
                    power.can_insert(bmc, medium)
                    mac = self._card(variables)
                    where = wanted.source if wanted else (target, "")
                    if note := bmc.can_boot_once(*where, mac, proof=bool(wanted and wanted.proof)):
                        self._display.warning(f"redfish_power: {note}")
                    name, run = str(variables["inventory_hostname"]), self._fence(variables)
                    guard = power_guard.power(store, name, url, run)
                    with guard as alive, power.medium(bmc, medium, alive):
                        boot = self._send(bmc, store, Order(sent, target, wanted, mac, alive), variables) or boot
        except FleetError as error:
            if may_itself and not asked and isinstance(error, BmcError) and self._boot_id():
                return answer | self._in_band(configured, variables, since)
            raise failure("redfish_power", error) from error
        answer.update(changed=bool(sent), sent=sent, since=now if since is None else since, boot=boot)
        return answer

    def _send(self, bmc: PowerBmc, store: Store | None, order: Order, variables: dict[str, Any]) -> int | None:
        """Send the power actions, the last one with the next boot's source; return the boot that was armed for it."""
        if self._task.args.get("ac") and self._task.args.get("action") == "cycle" and self._drained(bmc, order):
            return None
        if {"ForceOff", "GracefulShutdown"}.intersection(order.sent):
            if order.sent[0] != "GracefulShutdown" or not power.shut_down(bmc, order.alive, self._grace):
                power.switch_off(bmc, order.alive)
            order.alive()
        if order.wanted and store:
            power.insert(bmc, order.wanted.medium)  # some BMCs lose it with the power; one that is in stays as it is
            return self._boot(bmc, store, order, variables)
        before = self._boot_id() if order.sent[-1] == "GracefulRestart" else ""
        start(bmc, order.sent[-1], order.alive, (order.target, "", order.mac))
        if before and not power.restarts(bmc, self._grace, lambda: self._boot_id() != before):
            order.alive()
            forced = plan("restart", bmc.power_state(), bmc.power_actions(), done=False)
            order.sent.extend(forced)
            if len(forced) > 1:
                power.switch_off(bmc, order.alive)
            start(bmc, forced[-1], order.alive)
        return None

    def _drained(self, bmc: PowerBmc, order: Order) -> bool:
        """Take all power away where the BMC can; say whether the node needs nothing else: it has its power back."""
        try:
            state = power.drain(bmc, order.alive)
        except NotOfferedError as error:
            self._display.warning(f"redfish_power: {error}; its power is switched off and on instead")
            return False
        order.sent[:] = ["AC", *(order.sent if order.wanted and state != "Off" else ["On"])]
        return state != "Off" and order.wanted is None

    def _in_band(self, configured: Settings, variables: dict[str, Any], since: float | None) -> dict[str, Any]:
        """Have the node reboot itself, unless it has booted since: there is no BMC that could be asked."""
        from fleet_runner.reconcile.firmware.driver import power_guard  # noqa: PLC0415  likewise

        now, name = time.time(), str(variables["inventory_hostname"])
        try:
            age = self._uptime(variables)
            done = since is not None and age < max(0.0, now - since)
            if not done and not self._task.check_mode:
                mine = self._fence(variables)
                with (
                    self._opened(configured, variables, served=False) as store,
                    power_guard.power(store, name, run=mine) as alive,
                ):
                    alive()
                    self._reboots_itself()
        except FleetError as error:
            raise failure("redfish_power", error) from error
        return {"changed": not done, "sent": [] if done else [IN_BAND], "since": since or now, "boot": None}

    def _reboots_itself(self) -> None:
        """Have the node reboot, and wait until it has gone: its old system must not answer in the new one's place."""
        before = self._boot_id()
        with contextlib.suppress(AnsibleConnectionFailure):  # it may be gone before it has answered
            self._low_level_execute_command(IN_BAND)
        until = time.monotonic() + self._grace
        while self._boot_id() == before:
            if time.monotonic() > until:
                raise AnsibleActionFail(f"redfish_power: {IN_BAND} did nothing within {self._grace:g} s; look at it")
            time.sleep(PAUSE)

    def _uptime(self, variables: dict[str, Any]) -> float:
        """Return for how many seconds the node runs, by its own clock."""
        asked = {"reads": [READS["uptime"].to_json()]}
        answer = self._execute_module(module_name="fleet_collect", module_args=asked, task_vars=variables)
        found = Reading.from_json(answer["readings"][0])
        return found.at - uptime.parse(found.text)

    def _boot_id(self) -> str:
        """Return what the node's kernel calls this boot; "" where the node does not answer."""
        try:
            answer = self._low_level_execute_command(f'cat "$FLEET_ROOT"{READS["boot_id"].path}')
        except AnsibleError:
            return ""
        return str(answer.get("stdout", "")).strip() if answer.get("rc") == 0 else ""

    @property
    def _grace(self) -> float:
        return float(self._task.args.get("grace") or GRACE_SECONDS)

    @contextlib.contextmanager
    def _opened(self, configured: Settings, variables: dict[str, Any], *, served: bool) -> Iterator[Store | None]:
        """Open the store; by hand, before there is one, nothing was ever flashed, and nobody's run taken over."""
        from fleet_runner.adapters.store import Store  # noqa: PLC0415  likewise

        try:
            store = Store.open(configured.store_url)
        except NoStoreError:
            if served or (os.environ.get("FLEET_BATCH") and self._run(variables)):
                raise
            yield None
            return
        with store:
            yield store

    def _run(self, variables: dict[str, Any]) -> dict[str, Any]:
        """Return what the runner says about its run of this node; nothing by hand."""
        runs = self._templar.template(variables.get("fleet_runs")) or {}
        return runs.get(variables.get("inventory_hostname")) or {}

    def _fence(self, variables: dict[str, Any]) -> tuple[int, int] | None:
        """Return the runner's run of this node, and its fence; None by hand."""
        mine = self._run(variables) if os.environ.get("FLEET_BATCH") else {}
        return (int(mine["run"]), int(mine["fence"])) if mine else None

    def _made(self, store: Store, variables: dict[str, Any], since: float | None, age: float | None) -> int | None:
        """Return the boot since a moment after which the node needs no other."""
        from fleet_runner.services.boot import arming  # noqa: PLC0415  only a boot from the boot service needs it

        node = str(variables["inventory_hostname"])
        boot = arming.made(store, node, since, age, arming.limits(self._task.args.get("limits") or {}))
        return boot.id if boot else None

    def _device(self, variables: dict[str, Any]) -> dict[str, Any]:
        """Return what the source of truth says of the node; nothing where a play has no such inventory."""
        found = self._templar.template(variables.get("fleet_device")) or {}
        return json.loads(json.dumps(found, default=str))

    def _card(self, variables: dict[str, Any]) -> str:
        """Return the MAC address of the card that the profile names to boot from, "" for none."""
        from fleet_runner.core.boot import boot_interface  # noqa: PLC0415  likewise

        profile = self._templar.template(variables.get("fleet_profile")) or {}
        return boot_interface.chosen(json.loads(json.dumps(profile, default=str)), self._device(variables))

    def _wanted(
        self, bmc: PowerBmc, store: Store, configured: Settings, target: str, variables: dict[str, Any]
    ) -> BootToArm:
        """Say who is to boot, or why it cannot, as long as nothing has been done to the node."""
        from fleet_runner.services.boot import arming  # noqa: PLC0415  likewise

        arming.served(store, time.time())
        device = {**variables["fleet_device"], "name": variables["inventory_hostname"]}
        limits = arming.limits(self._task.args.get("limits") or {})
        loader = str(self._task.args.get("loader") or arming.LOADER)
        medium = str(self._task.args.get("medium") or "")
        told = bmc.system()
        return arming.wanted(configured, device, told, target, limits=limits, loader=loader, medium=medium)

    def _boot(self, bmc: PowerBmc, store: Store, order: Order, variables: dict[str, Any]) -> int:
        """Arm the boot of a node that is off, and switch it on; one that cannot be is not left armed."""
        from fleet_runner.services.boot import arming  # noqa: PLC0415  likewise

        mine = self._fence(variables)
        armed = arming.arm(store, order.wanted, run=mine[0] if mine else None, now=time.time())
        try:
            start(bmc, "On", order.alive, (armed.target, armed.http_uri, order.mac))
        except FleetError as error:
            why = armed.without_nonce(str(error))
        else:
            return armed.boot.id
        store.close_boot(armed.boot.id, "its BMC did not take it", time.time())
        raise AnsibleActionFail(f"redfish_power: {why}")  # not from the error, which may quote the nonce


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
        return str(action), str(target), None if since is None else float(since)
    except (TypeError, ValueError):
        raise AnsibleActionFail(f"redfish_power: unless_reset_since is {since!r}, expected epoch seconds") from None
