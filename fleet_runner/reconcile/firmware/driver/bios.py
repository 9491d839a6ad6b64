"""Has a BMC set the BIOS settings that a profile names: look, decide, send, write down; the reset is the play's.

It may be killed at any point. Sending a setting twice is harmless, and a reset that is asked for is written down
before, so that whoever comes next neither goes round in circles nor resets a host that was reset already.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.redfish.host_settings import HostSettings
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import BmcError, BmcRefused, ConflictError
from fleet_runner.core.firmware.bios import Plan, told
from fleet_runner.core.firmware.bios_steps import (
    Clock,
    Commit,
    Lost,
    Refused,
    Reset,
    Set,
    Settled,
    Try,
    Turn,
    Wait,
    decide,
    first,
    noted,
    taken,
)
from fleet_runner.core.firmware.bios_text import Report, SettingStatus
from fleet_runner.core.firmware.bios_values import Value
from fleet_runner.core.firmware.flash import FlashTiming
from fleet_runner.reconcile.firmware.driver import identity
from fleet_runner.reconcile.firmware.driver.lease import PATIENCE, Lease, Target, written
from fleet_runner.reconcile.firmware.driver.shutdown import ended_gently

NO_STORE = (
    "settings are recorded before they are sent, and there is no store for that; `fleet-runner tick` creates it"
)

FAULTY = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
"""Answers of a BMC that finds fault with what it was sent."""

BUSY = frozenset(
    {HTTPStatus.CONFLICT, HTTPStatus.LOCKED, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
)
"""Answers of one that cannot just now: it is looked at again after a while."""

LOOKS = 3
"""Looks at a BMC that does not answer before it is left alone."""


@dataclass(frozen=True, slots=True)
class BiosContext:
    """What the settings of one node are set with; `open` opens its BMC, `wanted` is what its profile names.

    `device` is what the source of truth says of it (`fleet_device`), `mac` the card that it is to boot from.
    Without a store nothing is sent: whether a flash is under way, or another is at the node, is not known.
    """

    store: Store | None
    open: Callable[[], AbstractContextManager[Bmc]]
    wanted: Mapping[str, Value]
    pace: FlashTiming = field(default_factory=FlashTiming)
    lease_seconds: float = 60.0
    device: Mapping[str, Any] = field(default_factory=dict[str, Any])
    mac: str = ""


@dataclass(frozen=True, slots=True)
class _Visit:
    """One visit: the node, what it is done with, its BMC; no lease where nothing is to be sent."""

    target: Target
    means: BiosContext
    bmc: Bmc
    lease: Lease | None


def set_bios(target: Target, means: BiosContext, *, until: float = float("inf"), check: bool = False) -> Report:
    """Have what is not in force set at the next reset of the host, once in a stay; with `check`, say what would be.

    `until` (epoch seconds) is when it gives up to wait for the lease or the BMC.
    """
    if not means.wanted:
        return Report(SettingStatus.SETTLED, "the profile names no BIOS or boot settings")
    with ended_gently(), means.open() as bmc:
        if check or means.store is None:
            return _only_planned(_patiently(_Visit(target, means, bmc, None), until), check=check)
        lease = Lease(means.store, target, means.lease_seconds)
        try:
            taken = lease.wait(until)
            bmc.watch(lease.alive)  # a slow BMC takes longer to look at than a lease lasts
            return (
                Report(SettingStatus.BUSY, taken) if taken else _patiently(_Visit(target, means, bmc, lease), until)
            )
        except ConflictError as error:  # the run is over, or another came in between
            return Report(SettingStatus.BUSY, str(error))
        finally:
            lease.leave()


def _only_planned(report: Report, *, check: bool) -> Report:
    if check or report.stand is not SettingStatus.PLANNED:
        return report
    return Report(SettingStatus.REFUSED, NO_STORE, notes=report.notes)


def _patiently(visit: _Visit, until: float) -> Report:
    """Look again for a while where a BMC does not answer; whatever it took meanwhile is seen by then."""
    pause = visit.means.pace.poll
    left = LOOKS
    while True:
        left -= 1
        try:
            return _turn(visit)
        except BmcError as error:
            if not left or time.time() + pause > until:
                return Report(SettingStatus.UNREAD, str(error))
        time.sleep(pause)


def _turn(visit: _Visit) -> Report:
    """Look, decide, act."""
    store, target = visit.means.store, visit.target
    if visit.lease:
        visit.lease.alive()
    if store and (flash := store.open_flash(target.node)):
        why = f"flash {flash.id} ({flash.component}) is {flash.phase}: no BIOS setting is changed before its end"
        return Report(SettingStatus.BUSY, why)
    plan = _plan(visit)
    tried = store.bios_try(target.node, target.since) if store else None
    match _decided(visit, plan, tried):
        case Settled():
            message = f"BIOS settings are as the profile says: {len(plan.settled)}"
            report = Report(SettingStatus.SETTLED, message, notes=plan.notes)
        case Refused(why):
            report = Report(SettingStatus.REFUSED, why, notes=plan.notes)
        case Lost(why):
            report = Report(SettingStatus.FAILED, why, notes=plan.notes)
        case Wait(why):
            report = Report(SettingStatus.BUSY, why, notes=plan.notes)
        case Set(changes):
            report = _set(visit, plan, tried, changes)
        case Commit(again):
            report = _commit(visit, plan, again, new=again != tried)
        case Reset(again):
            report = _reset(visit, plan, again, new=again != tried)
    return report


def _decided(visit: _Visit, plan: Plan, tried: Try | None) -> Turn:
    """Return what is to be done; nothing that needs a reset while something else waits for one."""
    settings = _settings(visit)
    turn = decide(plan, tried, _clock(visit), settings.queue())
    if isinstance(turn, Set | Commit | Reset) and (why := settings.kept()):
        return Wait(f"no reset of the host is asked for: {why}")
    return turn


def _set(visit: _Visit, plan: Plan, tried: Try | None, changes: Mapping[str, Value]) -> Report:
    """Send the changes; then they are written down, with the reset that is asked for."""
    settings = _settings(visit)
    request = _request(settings, changes)
    if visit.lease is None:
        message = f"to be set at the next reset of the host: {told(changes)}"
        return Report(SettingStatus.PLANNED, message, request, time.time(), plan.notes)
    if why := identity.stranger(visit.bmc, visit.means.device):
        return Report(SettingStatus.REFUSED, why, request, notes=plan.notes)
    visit.lease.confirm()
    refused: tuple[str, ...] = ()
    try:
        sent = _sent(settings, plan)
    except BmcRefused as error:
        if error.status in BUSY:
            raise
        sent = _in_part(plan, _plan(visit))
        refused = (str(error),)
        if not sent.changes:
            job = settings.queue().scheduled
            why = f"{error}; {job.told} waits for a reset of the host" if job else str(error)
            return Report(SettingStatus.REFUSED, why, request, notes=plan.notes)
    if sent.changes != changes:
        request = _request(settings, sent.changes)
    after = _plan(visit)
    if not after.wrong and not after.changes:
        return Report(
            SettingStatus.SETTLED, f"set at once: {told(changes)}", request, notes=after.notes, changed=True
        )
    kept = taken(sent, after)
    if not kept.changes and not after.waiting:
        why = f"the BMC answered that it took {told(sent.changes)}, and shows none of it; look what else they need"
        return Report(SettingStatus.REFUSED, f"{why}: no reset is asked for", request, notes=after.notes)
    sent = kept
    silent = ", ".join(sorted(set(after.changes) & set(sent.changes)))
    unseen = (f"the BMC took {silent} and does not show that it waits for a reset",) if silent else ()
    if after.waiting and settings.queue().lacking:
        settings.make_job()
    report = _reset(visit, plan, noted(sent, tried, _clock(visit)), new=True)
    return replace(report, request=request, notes=(*after.notes, *unseen, *refused), changed=True)


def _in_part(plan: Plan, after: Plan) -> Plan:
    """Return a plan with those of its changes alone that wait for a reset, though the BMC refused one after them."""
    return replace(plan, changes={name: value for name, value in plan.changes.items() if name in after.waiting})


def _sent(settings: HostSettings, plan: Plan) -> Plan:
    """Send the changes; where the BMC finds fault with them, those alone that others rest on. Return what was sent.

    Raises:
        BmcRefused: it takes neither.
    """
    try:
        settings.set(plan.changes)
    except BmcRefused as error:
        now = first(plan)
        if error.status not in FAULTY or not plan.later or not now.changes:
            raise
        settings.set(now.changes)
        return now
    return plan


def _commit(visit: _Visit, plan: Plan, again: Try, *, new: bool) -> Report:
    """Have a job made of what waits; the reset comes after it."""
    settings = _settings(visit)
    uri, body = settings.commit()
    request = {"method": "POST", "uri": uri, "body": body}
    if visit.lease is None:
        message = f"a job, then a reset of the host, for {told(plan.waiting)}"
        return Report(SettingStatus.PLANNED, message, request, again.reset_from, plan.notes)
    if why := identity.stranger(visit.bmc, visit.means.device):
        return Report(SettingStatus.REFUSED, why, request, notes=plan.notes)
    visit.lease.confirm()
    try:
        settings.make_job()
    except BmcRefused as error:
        if error.status in BUSY:
            raise
        return Report(SettingStatus.REFUSED, str(error), request, notes=plan.notes)
    return replace(_reset(visit, plan, again, new=new), request=request, changed=True)


def _reset(visit: _Visit, plan: Plan, tried: Try, *, new: bool) -> Report:
    """Say that a reset of the host comes next, once that is written down."""
    all_of_it = {**plan.waiting, **plan.changes}
    later = tuple(sorted(set(all_of_it) - set(tried.attributes)))
    message = f"a reset of the host is next, for {told({n: v for n, v in all_of_it.items() if n not in later})}"
    if later:
        message += f"; {', '.join(later)} can be set once these are in force"
    if visit.lease is None or visit.means.store is None:
        return Report(SettingStatus.PLANNED, message, None, tried.reset_from, plan.notes, later=later)
    if new:
        store, target = visit.means.store, visit.target
        by = (target.holder, target.by)
        written(lambda: store.note_bios(target.node, tried, by, now=time.time()), PATIENCE)
    return Report(SettingStatus.WAITING, message, None, tried.reset_from, plan.notes, later=later)


def _plan(visit: _Visit) -> Plan:
    return _settings(visit).plan()


def _settings(visit: _Visit) -> HostSettings:
    return HostSettings(visit.bmc, visit.means.wanted, visit.means.mac)


def _request(settings: HostSettings, changes: Mapping[str, Value]) -> dict[str, Any]:
    """Return what is sent: a request, and those that come after it."""
    first, *others = [{"method": "PATCH", "uri": uri, "body": body} for uri, body in settings.requests(changes)]
    return {**first, "then": others} if others else first


def _clock(visit: _Visit) -> Clock:
    now, age = time.time(), visit.bmc.last_reset_age()
    return Clock(now, None if age is None else now - age, visit.means.pace.boot)
