"""Brings a node's firmware to its catalogue, or part of the way: `fleet_runner.reconcile.firmware.driver`."""

from __future__ import annotations

import contextlib
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
from fleet_runner.core.inventory.records import Management

if TYPE_CHECKING:
    from collections.abc import Callable

    from fleet_runner.adapters.store import Store
    from fleet_runner.core.firmware.flash import FlashTiming
    from fleet_runner.core.firmware.progress_text import Report
    from fleet_runner.reconcile.firmware.driver import Target
    from fleet_runner.settings import Settings

DOCUMENTATION = r"""
module: fleet_firmware
short_description: Brings a node's firmware to its catalogue
description:
  - Reads the node's BMC, plans from the catalogue in C(fleet_profile.firmware), and sends one image after the other.
  - What it does is in the store before it is done; a play that was killed is gone on with by the next one.
  - Under the runner it leaves after C(firmware_visit_seconds) and is started again; by hand it stays to the end.
  - In check mode it reads, sends nothing, and returns every request that it would send.
  - Leaves the network adapters of a node alone that its customer manages, and says so.
  - Never fails because of the node; the check C(firmware_update) judges what this brings.
options:
  pace:
    description:
      - "Seconds that may be more or less here: poll (between two looks), settle (how long a version stays wrong
        before that is believed), send (of one image), outage (of a BMC that restarts), boot."
    type: dict
    default: {}
  anyway:
    description:
      - Nodes, with commas between them, in which a flash may begin by hand although tenants or the runner use them.
      - Of the others there an open flash is followed, and none begins. Without meaning under the runner.
    type: str
    default: ""
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: Firmware is brought to its pins
  fleet_firmware:
  register: firmware_done
"""

RETURN = r"""
done: {description: Whether every component is on a version that is right., returned: always, type: bool}
rebooted: {description: Whether the host was reset since C(since)., returned: always, type: bool}
since: {description: The moment (epoch seconds) from which resets and attempts count., returned: always, type: float}
steps: {description: The requests that check mode would send., returned: always, type: list, elements: dict}
progress: {description: The reading firmware_progress., returned: always, type: dict}
"""

PACE = ("poll", "settle", "send", "outage", "boot")
CTRL_C = "Ctrl-C ends this play and cancels nothing on the BMC; the same command goes on where it was"
"""Said before anything else: after a Ctrl-C nobody shows any more what a task says."""

QUIET_SECONDS = 2.0  # between two lines about one node


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"pace", "anyway"})

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Drive, then say how far it came."""
        answer = super().run(tmp, task_vars)
        variables = task_vars or {}
        mine = self._run(variables)
        since = float(mine.get("since") or time.time())
        try:
            report = self._drive(settings.load(), variables, mine, since)
        except FleetError as error:
            raise failure("fleet_firmware", error) from error
        told = report.to_json()
        answer.update(
            changed=report.changed or bool(report.steps),
            done=told["state"] == "done",
            rebooted=report.rebooted,
            since=since,
            steps=told["steps"],
            progress=told,
            msg="; ".join((report.message, *report.notes)),
        )
        return answer

    def _drive(self, configured: Settings, variables: dict[str, Any], mine: dict[str, Any], since: float) -> Report:
        """Open what is needed and go; a catalogue that cannot be read is nobody's fault but its author's."""
        from fleet_runner.adapters import redfish  # noqa: PLC0415  likewise
        from fleet_runner.adapters.store import Store  # noqa: PLC0415  likewise
        from fleet_runner.core.firmware import catalogue  # noqa: PLC0415  likewise
        from fleet_runner.core.firmware.progress_text import FirmwareStatus, Report  # noqa: PLC0415  likewise
        from fleet_runner.reconcile.firmware import driver  # noqa: PLC0415  only this task pays for the store and for HTTP

        url = str(self._templar.template(variables.get("fleet_bmc_url")) or "")
        if not url:
            why = "fleet_bmc_url is not set; give the device an out-of-band address"
            raise failure("fleet_firmware", SourceError(variables.get("fleet_bmc_refused") or why))
        pace = _pace(self._task.args.get("pace") or {})
        try:
            wanted = catalogue.read(_plain(self._templar.template(variables.get("fleet_profile"))) or {})
        except EvidenceError as error:
            return Report(FirmwareStatus.REFUSED, str(error))
        runner = bool(os.environ.get("FLEET_BATCH")) and bool(mine)
        name = str(variables["inventory_hostname"])
        with contextlib.ExitStack() as opened:
            try:
                known = opened.enter_context(Store.open(configured.store_url))
                store = known if known.node(name) else None
            except NoStoreError:  # by hand, before the first tick: what is to be sent is planned, and none is sent
                store = None
            means = driver.DriverContext(
                store=store,
                open=partial(redfish.opened, configured, url, name=name),
                catalogue=wanted,
                images=configured.firmware_dir,
                pace=pace,
                url=configured.firmware_url,
                say=_silent if runner else self._teller(name),
                customer=self._is_customers(variables),
                device=_plain(self._templar.template(variables.get("fleet_device"))) or {},
            )
            return driver.drive(
                replace(_target(variables, mine if runner else {}, since), bmc=url),
                means,
                until=time.time() + configured.firmware_visit_seconds if runner else float("inf"),
                start=_start(mine) if runner else self._not_by_hand(store, name),
                check=bool(self._task.check_mode),
            )

    def _not_by_hand(self, store: Store | None, name: str) -> str:
        """Say why a person's play may begin no flash here; without a store nothing is sent anyway."""
        from fleet_runner.core.firmware.guard import by_hand  # noqa: PLC0415  likewise

        known = store.node(name) if store else None
        anyway = str(self._task.args.get("anyway") or "").split(",")
        return by_hand(name, known.state, {each.strip() for each in anyway}) if known else ""

    def _run(self, variables: dict[str, Any]) -> dict[str, Any]:
        """Return what the runner says about its run of this node; nothing by hand."""
        runs = self._templar.template(variables.get("fleet_runs")) or {}
        return runs.get(variables.get("inventory_hostname")) or {}

    def _is_customers(self, variables: dict[str, Any]) -> bool:
        """Whether the source of truth says that the node's customer manages it."""
        device = self._templar.template(variables.get("fleet_device")) or {}
        return device.get("management") == Management.CUSTOMER.value

    def _teller(self, node: str) -> Callable[[str], None]:
        """Return what tells a person of anything that takes longer than a moment."""
        last = [time.monotonic()]

        told: list[str] = []

        def tell(message: str) -> None:
            if not told:
                told.append(CTRL_C)
                self._display.display(f"{node}: {CTRL_C}")
            if time.monotonic() - last[0] >= QUIET_SECONDS:
                last[0] = time.monotonic()
                self._display.display(f"{node}: {message}")

        return tell


def _start(mine: dict[str, Any]) -> str:
    """Return why the runner lets no flash begin; "" where one may."""
    return str((mine.get("firmware") or {}).get("start") or "")


def _pace(given: dict[str, Any]) -> FlashTiming:
    """Return how patient flashes are, with what a role says otherwise."""
    from fleet_runner.core.firmware.flash import FlashTiming  # noqa: PLC0415  likewise

    if set(given) <= set(PACE):
        with contextlib.suppress(TypeError, ValueError):
            seconds: dict[str, Any] = {str(name): float(value) for name, value in given.items()}
            return FlashTiming(**seconds)
    raise AnsibleActionFail(f"fleet_firmware: pace is {given!r:.120}, expected seconds of {', '.join(PACE)}")


def _target(variables: dict[str, Any], mine: dict[str, Any], since: float) -> Target:
    from fleet_runner.reconcile.firmware.driver import Target  # noqa: PLC0415  likewise

    return Target(
        node=str(variables["inventory_hostname"]),
        holder=f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}",
        run=(int(mine["run"]), int(mine["fence"])) if mine else None,
        since=since,
        by="runner" if mine else "hand",
    )


def _silent(_: str) -> None:
    pass


def _plain(value: Any) -> Any:
    """Strip Ansible's tags: only JSON's own types cross the border."""
    return json.loads(json.dumps(value, default=str))
