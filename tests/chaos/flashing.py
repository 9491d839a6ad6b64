"""The firmware stage of a simulated machine: one flash, written down in the store before it is sent.

The store's part is the product's own: the lease (`reconcile.firmware.driver.lease`), the intent, its phases and its
end. What is simulated is the BMC, and which look follows which: `reconcile.firmware.driver.drive` itself needs a
Redfish service for each node.
"""

import time
from collections.abc import Generator
from dataclasses import replace
from typing import Any

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import End, Flash, Phase
from fleet_runner.reconcile.firmware.driver.lease import Lease, Target, written
from tests.chaos.fates import OLD, PIN
from tests.chaos.machine import POLL, Answers, Machine, Told, Work

COMPONENT = "BMC"
SECONDS = 6.0
"""A lease of a driver that was killed lasts this long."""


def flashed(machine: Machine, store: Store, told: Told, holder: str) -> Work:
    """Bring a machine's firmware to its pin, whoever began it; no driver but the one with the lease touches it."""
    target = Target(machine.name, holder, (told["run"], told["fence"]), told["since"])
    lease = Lease(store, target, SECONDS)
    yield machine.fate.step
    try:
        lease.take(SECONDS)
        return (yield from _driven(machine, store, lease, target))
    except ConflictError as error:  # as the real driver reports it: somebody else is at it
        return (Result("firmware_update", Verdict.UNKNOWN, str(error), observed={"working": True}),)
    finally:
        lease.leave()


def _driven(machine: Machine, store: Store, lease: Lease, target: Target) -> Generator[float, None, Answers]:
    """Look, take one step, look again."""
    while True:
        yield machine.fate.step
        lease.alive()
        flash = store.open_flash(machine.name)
        if flash is not None:
            yield from _follow(machine, store, lease, flash, target.holder)
        elif machine.version() == PIN:
            return (Result("firmware_update", Verdict.PASS, "on its pin"),)
        elif any(each.end is End.FAILED for each in store.flashes(machine.name, since=target.since)):
            return (_failed(machine),)
        else:
            flash = _intend(store, _wanted(machine, target), target.holder)
            yield from _send(machine, store, lease, flash, target.holder)


def _follow(machine: Machine, store: Store, lease: Lease, flash: Flash, holder: str) -> Generator[float, None, None]:
    """Take an open flash one step on."""
    mine = [each for each in machine.events("flash") if each["task"] not in flash.tasks_before]
    if flash.phase is Phase.INTENDED and not mine:
        yield from _send(machine, store, lease, flash, holder)
    elif flash.phase is Phase.INTENDED:
        _note(store, replace(flash, phase=Phase.SENT, task=mine[0]["task"]), holder)
    elif mine[0]["until"] > machine.now():
        yield POLL
    elif flash.phase is Phase.SENT:
        _note(store, replace(flash, phase=Phase.UPDATED), holder)
    else:
        end = End.VERIFIED if machine.version() == PIN else End.FAILED
        written(lambda: store.end_flash(flash.id, holder, end, machine.version(), time.time()), SECONDS)


def _send(machine: Machine, store: Store, lease: Lease, flash: Flash, holder: str) -> Generator[float, None, None]:
    """Send what is written down; whoever is killed right after leaves it to the next one to find the BMC's task."""
    yield machine.fate.step
    lease.alive()
    task = f"/tasks/{len(machine.events('flash')) + 1}"
    machine.log("flash", task=task, until=machine.now() + machine.fate.flash)
    yield machine.fate.step
    lease.alive()
    _note(store, replace(flash, phase=Phase.SENT, task=task), holder)


def _intend(store: Store, flash: Flash, holder: str) -> Flash:
    return written(lambda: store.intend(flash, holder, now=time.time()), SECONDS)


def _note(store: Store, flash: Flash, holder: str) -> None:
    written(lambda: store.note_flash(flash, holder, now=time.time()), SECONDS)


def _wanted(machine: Machine, target: Target) -> Flash:
    given: dict[str, Any] = {"before": {COMPONENT: OLD}, "targets": {COMPONENT: PIN}}
    given |= {"image": "bmc.bin", "sha256": "0" * 64, "activate": Activate.NONE, "times": 0, "seconds": 60.0}
    known = tuple(each["task"] for each in machine.events("flash"))
    run = target.run[0] if target.run else None
    return Flash(0, machine.name, COMPONENT, attempt=1, intended_at=time.time(), run=run, tasks_before=known, **given)


def _failed(machine: Machine) -> Result:
    said = f"{COMPONENT} has {machine.version()}, and {PIN} was sent."
    fault = f"{machine.name}/firmware.failed/{COMPONENT}"
    finding = Finding("firmware.failed", COMPONENT, said, Remedy.TRIAGE, fault, (machine.name,), ("Look at it.",))
    return Result("firmware_update", Verdict.FAIL, said, (finding,))
