"""Asks a node, its BMC and its scheduler, right before something is done to it: is it this one, is its work over?"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase

from fleet_runner import settings
from fleet_runner.adapters.plays.task_failure import failure
from fleet_runner.core.base.errors import FleetError, NoStoreError
from fleet_runner.core.boot.boots import Milestone
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import also, reads, run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.reads import READS
from fleet_runner.core.lifecycle.preflight import identity_sources
from fleet_runner.core.lifecycle.preflight.decision import Ends, Known, Used, unended, unproven
from fleet_runner.core.lifecycle.preflight.machine import designed, identify

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType

    from fleet_runner.adapters.store import Store
    from fleet_runner.core.checks.verdicts import Result
    from fleet_runner.settings import Settings

DOCUMENTATION = r"""
module: fleet_proof
short_description: Says whether something may be done to a node that ends work, cuts power, boots, flashes or erases
description:
  - Asks the node's BMC and the node itself which machine they are, and the node and its scheduler for its work.
  - A node that does not answer says nothing; its BMC and its scheduler do.
  - It changes nothing and never fails because of what it finds; C(proven) says what was found.
  - Once a flash was written down in this stay, the node was proven before that, and is not asked again; the one who
    flashes asks its BMC again before each step.
options:
  work: {description: Whether its work must have ended., type: bool, default: true}
  sure: {description: "Whether its identity must be proven; else it is enough that nothing speaks against it.",
         type: bool, default: true}
  boots: {description: Whether what follows is a boot from the boot service., type: bool, default: false}
  scheduler: {description: The readings of C(fleet_scheduler)., type: dict, default: {}}
  anyway: {description: "Nodes to which a person does it whatever is found.", type: str, default: ""}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: It is this very machine, and its work has ended
  fleet_proof:
    scheduler: "{{ proof_scheduler.readings }}"
  register: proof_done
"""

RETURN = r"""
proven: {description: Whether it may be done., returned: always, type: bool}
checks: {description: The checks that say why not., returned: always, type: list, elements: str}
readings: {description: What they are to be given., returned: always, type: dict}
"""

IDENTITY = ("dmi", "network_interfaces")
GRACE = 60.0  # seconds to reach a node and to come back, on top of the longest read
BOOTS = 20  # newest boots of a node among which the one is looked for that proved it
PROVING = frozenset({Milestone.SCRIPT, Milestone.KERNEL, Milestone.CLOUD_INIT, Milestone.PHONE_HOME})
"""Milestones to which a machine comes only if it says what the boot service expects of the node."""


class LateError(Exception):
    """A node took the connection, and said nothing for too long."""


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True  # it only reads
    _VALID_ARGS = frozenset({"work", "sure", "boots", "scheduler", "anyway"})

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read, decide, say."""
        answer = super().run(tmp, task_vars)
        self._variables = task_vars or {}
        self._name = str(self._variables["inventory_hostname"])
        anyway = {each.strip() for each in str(self._task.args.get("anyway") or "").split(",")}
        if self._name in anyway:
            return answer | _said([], {}, "a person has it done whatever is found")
        try:
            configured = settings.load()
            with self._opened(configured) as store:
                if begun := self._begun(store):
                    return answer | _said([], {}, begun)
                boot = self._boot(store)
        except FleetError as error:
            raise failure("fleet_proof", error) from error
        return answer | self._proof(configured, boot)

    def _proof(self, configured: Settings, boot: str) -> dict[str, Any]:
        asks_work = boolean(self._task.args.get("work", True))
        readings = self._node((*IDENTITY, *self._usage()) if asks_work else IDENTITY) | self._bmc(configured)
        known = Known(
            boot=boot,
            off=_is_off(readings[identity_sources.MACHINE]),
            served=bool(configured.boot_url) and boolean(self._task.args.get("boots", False)),
            sure=boolean(self._task.args.get("sure", True)),
            wishes=configured.scheduler == "kubernetes",
        )
        found = identify(designed(self._plain("fleet_device") or {}), identity_sources.told(readings))
        stranger = unproven(found, known)
        why = self._work(configured, readings, known) if asks_work and not stranger else ""
        checks = [name for name, said in {"machine_identity": stranger, "work_ended": why}.items() if said]
        told: dict[str, Any] = {name: _parsed(readings[name]) for name in identity_sources.READS} if stranger else {}
        return _said(
            checks, told | ({"work_progress": {"why": why}} if why else {}), stranger or why or found.sentence
        )

    def _work(self, configured: Settings, readings: Mapping[str, Reading], known: Known) -> str:
        """Say which work would end, by what the node and its scheduler say now."""
        given = self._task.args.get("scheduler") or {}
        said = {name: Reading(name, ReadEnd.OK, json.dumps(_plain(value))) for name, value in given.items()}
        asked = configured.scheduler != "none"
        usage = self._judged("gpu_usage", readings)
        scheduler = self._judged("scheduler", said) if asked else None
        ends = Ends(self._mine().get("ends") or Ends.NONE)
        return unended(Used(usage, scheduler), known, ends, scheduled=asked)

    def _usage(self) -> tuple[str, ...]:
        """Return the reads that tell who uses the node's GPUs."""
        usage, healthy = CHECKS["gpu_usage"], self._plain("fleet_profile") or {}
        return (*reads(usage, healthy), *also(usage, healthy))

    def _judged(self, name: str, readings: Mapping[str, Reading]) -> Result:
        return run(CHECKS[name], readings, Expected(self._name, self._plain("fleet_profile") or {}))

    def _node(self, names: tuple[str, ...]) -> dict[str, Reading]:
        """Read on the node; one that does not answer in time says nothing, and holds up nothing."""
        reads = [READS[name] for name in names]
        limit = max(read.seconds for read in reads) + GRACE
        asked = {"reads": [read.to_json() for read in reads]}
        try:
            with _within(limit):
                answer = self._execute_module(
                    module_name="fleet_collect", module_args=asked, task_vars=self._variables
                )
            sent = answer.get("readings")
            why = str(answer.get("msg") or "it gave no readings")
        except LateError:
            sent, why = None, f"the node said nothing within {limit:g} s"
        except AnsibleError as error:
            sent, why = None, str(error)
        silent = {name: Reading(name, ReadEnd.UNREACHABLE, error=why, at=time.time()) for name in names}
        try:
            found = {str(raw["name"]): Reading.from_json(_plain(raw)) for raw in sent or ()}
        except (KeyError, TypeError, ValueError) as error:
            silent = {name: Reading(name, ReadEnd.ERROR, error=f"no reading: {error}") for name in names}
            found = {}
        return silent | {name: found[name] for name in names if name in found}

    def _bmc(self, configured: Settings) -> dict[str, Reading]:
        """Ask the BMC what it calls the machine; one that does not answer says nothing."""
        from fleet_runner.adapters import ipmi, redfish  # noqa: PLC0415  only where a BMC is asked

        read = READS[identity_sources.MACHINE]
        url = str(self._templar.template(self._variables.get("fleet_bmc_url")) or "")
        if not url:
            return {read.name: Reading(read.name, ReadEnd.MISSING, error="no fleet_bmc_url is known")}
        try:
            limits = redfish.Limits(total_seconds=read.seconds)
            with ipmi.opened(configured, url, limits, name=self._name) as bmc:
                text = json.dumps(bmc.gather(read.argv))
        except FleetError as error:
            return {read.name: Reading(read.name, ReadEnd.UNREACHABLE, error=str(error))}
        return {read.name: Reading(read.name, ReadEnd.OK, text, at=time.time())}

    @contextlib.contextmanager
    def _opened(self, configured: Settings) -> Iterator[Store | None]:
        """Open the store; before there is one, nothing was ever booted or flashed."""
        from fleet_runner.adapters.store import Store  # noqa: PLC0415  likewise

        try:
            store = Store.open(configured.store_url)
        except NoStoreError:
            yield None
            return
        with store:
            yield store

    def _begun(self, store: Store | None) -> str:
        """Say that a flash was begun in this stay, or is open: whoever wrote it down had proven the node."""
        since = self._mine().get("since")
        if store is None or store.node(self._name) is None:
            return ""
        flashes = store.flashes(self._name, since=time.time() if since is None else float(since))
        return f"flash {flashes[-1].id} has begun" if flashes else ""

    def _boot(self, store: Store | None) -> str:
        """Return the newest boot of the node in which its machine said what was expected of it; "" for none."""
        if store is None or store.node(self._name) is None:
            return ""
        boots = reversed(store.boots(self._name, BOOTS))
        return next((f"boot {boot.id}" for boot in boots if PROVING & boot.reached.keys()), "")

    def _mine(self) -> dict[str, Any]:
        """Return what the runner says about its run of this node; nothing by hand."""
        runs = self._plain("fleet_runs") or {}
        return (runs.get(self._name) or {}) if os.environ.get("FLEET_BATCH") else {}

    def _plain(self, name: str) -> Any:
        return _plain(self._templar.template(self._variables.get(name)))


def _said(checks: list[str], readings: dict[str, Any], words: str) -> dict[str, Any]:
    return {"changed": False, "proven": not checks, "checks": checks, "readings": readings, "msg": words}


def _is_off(reading: Reading) -> bool:
    """Whether a BMC calls its system off."""
    if reading.end is not ReadEnd.OK:
        return False
    bodies = [body for uri, body in json.loads(reading.text).items() if body and "/Systems/" in uri]
    states = {body["PowerState"] for body in bodies if body.get("PowerState")}
    return states == {"Off"}


def _parsed(reading: Reading) -> dict[str, Any]:
    """Return a reading's files or bodies, none where it could not be read: the check says that it was not."""
    try:
        found = json.loads(reading.text) if reading.end is ReadEnd.OK and not reading.rc else {}
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Give a connection up that neither answers nor ends; a worker of Ansible's has a process of its own."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(_signal: int, _frame: FrameType | None) -> None:
        raise LateError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _plain(value: Any) -> Any:
    """Strip Ansible's tags: only JSON's own types cross the border."""
    return json.loads(json.dumps(value, default=str))
