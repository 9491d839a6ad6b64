"""Erases everything on a node that is its own, and keeps what proves it: see `fleet_runner.core.lifecycle.wipe`."""

from __future__ import annotations

import getpass
import json
import os
import time
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from fleet_runner import settings
from fleet_runner.adapters.plays.task_failure import failure
from fleet_runner.core.base.errors import EvidenceError, FleetError, RunOverError
from fleet_runner.core.checks.evidence import Read, ReadEnd, Reading
from fleet_runner.core.checks.parsers import lsblk
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.lifecycle.wipe import identity, planner, reads, reports, wanted
from fleet_runner.core.lifecycle.wipe.devices import Device, devices
from fleet_runner.core.lifecycle.wipe.planner import Item, Next, Stay
from fleet_runner.core.lifecycle.wipe.progress_text import Progress, proven, record, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fleet_runner.adapters.store import Store
    from fleet_runner.core.lifecycle.wipe.wanted import WipePlan

DOCUMENTATION = r"""
module: fleet_wipe
short_description: Erases everything on a node, and keeps what proves it
description:
  - Reads what the node has, decides about each device, writes into the node's history what is to be erased, and has
    it erased, until all is done or the visit is over; the next one finds what still runs.
  - Only a node in the state wipe is erased, by hand too, and only what its device type's profile lists (section wipe)
    on a machine whose serial number is the one in the source of truth.
  - In check mode it reads, and says what would be erased.
  - Never fails because of a device; the check C(wiped) judges what this brings.
options:
  seconds: {description: How long to stay with what is being erased; 0 looks once., type: float, default: 300}
  pause: {description: Seconds between two looks., type: float, default: 5}
  dir: {description: Where the node keeps its logs., type: path, default: /run/fleet-runner/wipes}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: Everything is erased
  fleet_wipe:
  register: wipe_done
"""

RETURN = r"""
progress: {description: The reading wipe_progress., returned: always, type: dict}
"""


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"seconds", "pause", "dir"})

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Look, decide, act, until nothing is left to do or the time is over."""
        answer = super().run(tmp, task_vars)
        self._variables = task_vars or {}
        self._reports: list[dict[str, Any]] = []
        self._seen: dict[str, Reading] = {}
        begun: list[str] = []
        try:
            progress = self._wiped(begun)
        except EvidenceError as error:
            progress = Progress(check=self._task.check_mode, trouble=str(error))
        except FleetError as error:
            raise failure("fleet_wipe", error) from error
        texts = {name: reading.text for name, reading in self._seen.items() if reading.text}
        answer.update(changed=bool(begun), begun=begun, progress=_plain(to_json(progress, texts, self._reports)))
        return answer

    def _wiped(self, begun: list[str]) -> Progress:
        profile = _plain(self._templar.template(self._variables.get("fleet_profile"))) or {}
        asked = wanted.read(profile)
        if self._task.check_mode:
            items, found = self._look(asked, Stay(0.0, 0.0))
            return self._progress(asked, items, found)
        from fleet_runner.adapters.store import Store  # noqa: PLC0415  check mode needs no store

        until = time.monotonic() + float(self._task.args.get("seconds", 300))
        with Store.open(settings.load().store_url) as store:
            while True:
                items, found = self._look(asked, self._stay(store))
                todo = [item for item in items if item.next is Next.ERASE]
                self._erase(store, todo, begun)
                going = todo or [item for item in items if item.next is Next.WAIT]
                if not going or time.monotonic() >= until:
                    return self._progress(asked, items, found)
                time.sleep(float(self._task.args.get("pause", 5)))

    def _stay(self, store: Store) -> Stay:
        """Return what is known of this stay: what the node's own log says, and what was proven before."""
        store.intend_wipe(self._node, (), by=self._by, run=self._fence, now=time.time())
        row = store.node(self._node)
        if row is None or row.state is not State.WIPE:
            raise failure("fleet_wipe", RunOverError(f"{self._node} is not in the state wipe any more"))
        self._folder = str(int(row.since * 1000))
        self._module([])
        runs = [run for run in store.runs(self._node, since=row.since) if run.stage is Stage.WIPE]
        observed = [each.result.observed for run in runs for each in store.results(run.id)]
        told = tuple(reports.read(each) for each in self._reports)
        return Stay(row.since, time.time(), told, proven(observed))

    def _look(self, asked: WipePlan, stay: Stay) -> tuple[tuple[Item, ...], tuple[Device, ...]]:
        """Read the node anew and decide about each of its devices; nothing is decided about another machine."""
        self._seen = self._collect(reads.first(tpm=asked.tpm))
        listed = self._seen[reads.LSBLK]
        if listed.end is ReadEnd.OK and not listed.rc:
            self._seen |= self._collect(reads.each(lsblk.parse(listed.text)))
        serial = str(self._device.get("serial") or "")
        strange = identity.stranger(serial, self._own, self._seen)
        if strange:
            raise EvidenceError(strange)
        self._term = identity.term(self._seen)
        found = devices(self._seen, tpm=asked.tpm)
        return planner.plan(asked, self._own, found, stay), found

    def _progress(self, asked: WipePlan, items: Iterable[Item], found: tuple[Device, ...]) -> Progress:
        gone = planner.missing(asked, self._own, found)
        return Progress(self._task.check_mode, "", tuple(record(item) for item in items), gone)

    def _erase(self, store: Store, todo: list[Item], begun: list[str]) -> None:
        """Write down what is to be erased, then begin with each device, if this run is still the one that may."""
        said = [f"{item.device.name} by {item.method}" for item in todo]
        if said:
            store.intend_wipe(self._node, said, by=self._by, run=self._fence, now=time.time())
        for item, words in zip(todo, said, strict=True):
            store.intend_wipe(self._node, (), by=self._by, run=self._fence, now=time.time())
            refused = self._module([planner.order(item) | self._term])
            if refused:  # time went by since the look, or the node booted: it is looked at anew
                self._display.display(f"fleet_wipe: {self._node}: {'; '.join(refused)}")
                return
            begun.append(words)

    def _module(self, orders: list[dict[str, Any]]) -> list[str]:
        """Have the node begin what is ordered, and take all its logs; return why it refused to."""
        arguments = {"stay": self._folder, "orders": orders}
        if self._task.args.get("dir"):
            arguments["dir"] = self._task.args["dir"]
        answer = self._execute_module(module_name="fleet_wipe", module_args=arguments, task_vars=self._variables)
        if answer.get("failed") or not isinstance(answer.get("reports"), list):
            raise AnsibleActionFail(f"fleet_wipe: {answer.get('msg') or 'the node gave no logs'}")
        self._reports = _plain(answer["reports"])
        return _plain(answer.get("refused") or [])

    def _collect(self, asked: tuple[Read, ...]) -> dict[str, Reading]:
        """Read on the node; what cannot be read is said so, and makes what needs it unread."""
        if not asked:
            return {}
        arguments = {"reads": [each.to_json() for each in asked]}
        answer = self._execute_module(module_name="fleet_collect", module_args=arguments, task_vars=self._variables)
        if answer.get("failed") or not isinstance(answer.get("readings"), list):
            raise EvidenceError(f"nothing can be read on the node: {answer.get('msg') or 'it gave no readings'}")
        found = [Reading.from_json(raw) for raw in _plain(answer["readings"])]
        return {each.name: each for each in found}

    @property
    def _node(self) -> str:
        return str(self._variables["inventory_hostname"])

    @property
    def _device(self) -> Mapping[str, Any]:
        return _plain(self._variables.get("fleet_device")) or {}

    @property
    def _own(self) -> frozenset[str]:
        """The serial numbers of the node's disks, where the source of truth has them."""
        parts = self._device.get("parts") or ()
        return frozenset(str(each["serial"]) for each in parts if each.get("kind") == "drive" and each.get("serial"))

    @property
    def _fence(self) -> tuple[int, int] | None:
        """The run that the runner gave us and its fencing number; nothing by hand."""
        runs = self._templar.template(self._variables.get("fleet_runs")) or {}
        mine = runs.get(self._node) or {}
        return (int(mine["run"]), int(mine["fence"])) if mine and os.environ.get("FLEET_BATCH") else None

    @property
    def _by(self) -> str:
        return "runner" if self._fence else getpass.getuser()


def _plain(value: Any) -> Any:
    """Strip Ansible's tags: only JSON's own types cross the border, in either direction."""
    return json.loads(json.dumps(value, default=str))
