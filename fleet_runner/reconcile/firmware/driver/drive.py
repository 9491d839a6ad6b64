"""The loop that brings one node's firmware to its catalogue: take the lease, look, decide, write down, act.

It may be killed at any point. Whatever it does is in the store before it is done, and whoever comes next goes on from
there: what the BMC was told is found again in its tasks and versions, and nothing is told to it twice unless it is
certain that it never heard.
"""

import os
import time
from dataclasses import replace

from fleet_runner.core.base.errors import BmcError, BmcRefused, ConflictError, NotOfferedError
from fleet_runner.core.firmware import flash_events, flash_steps, planner, task_owner
from fleet_runner.core.firmware.catalogue import Activate, Power
from fleet_runner.core.firmware.flash import Adopt, Conclude, End, Flash, Mark, Phase, Reset, Seen, Send, Wait
from fleet_runner.core.firmware.planner import Step
from fleet_runner.core.firmware.progress_text import FirmwareStatus, Report, line
from fleet_runner.reconcile.firmware.driver import activate, dry_run, next_step, send
from fleet_runner.reconcile.firmware.driver.lease import LapsedError, Lease, Target, steady
from fleet_runner.reconcile.firmware.driver.look import BmcReadings
from fleet_runner.reconcile.firmware.driver.shutdown import ended_gently
from fleet_runner.reconcile.firmware.driver.visit import MOST_DETAIL, NO_STORE, DriverContext, Unsent, Visit

ROOM = 2
"""Pauses between two looks that a visit has beside those that a verification takes."""

REFUSALS = 3
"""How often an image is sent that the BMC surely does not take, before the flash has ended."""

ALONE = "the play that began this was ended; run it again, and it continues where it stopped"
"""What a driver says that outlived its play: nobody would see what it does."""


def drive(
    target: Target, means: DriverContext, *, until: float = float("inf"), start: str = "", check: bool = False
) -> Report:
    """Work on a node's firmware until all is done, nothing can be done, or the moment `until` (epoch seconds).

    A visit is never so short that a version could not be read as often as it must be. With `start`, the reason why
    nothing may begin, only what is under way is finished. With `check` nothing is sent and nothing written: the
    report says what would be.
    """
    until = max(until, time.time() + means.pace.poll * (means.pace.stable + ROOM))
    with ended_gently(), means.open() as bmc:
        if check or means.store is None:
            return _only_planned(Visit(target, means, None, BmcReadings(bmc), until, start), check=check)
        lease = Lease(means.store, target, means.lease_seconds)
        visit = Visit(target, means, lease, BmcReadings(bmc), until, start)
        try:
            while True:
                bmc.watch(visit.alive)  # a slow BMC takes longer to look at than a lease lasts
                try:
                    return _visit(visit, lease)
                except LapsedError as error:  # it stood still for long: whatever it knew may be otherwise by now
                    if time.time() > until:
                        return visit.report(FirmwareStatus.WAITING, str(error))
                    visit.say(str(error))
                    visit = Visit(target, means, lease, BmcReadings(bmc), until, start)
        except ConflictError as error:  # the run is over, or another driver came in between: it goes on from here
            return visit.report(FirmwareStatus.WAITING, str(error))
        finally:
            lease.leave()


def _only_planned(visit: Visit, *, check: bool) -> Report:
    report = dry_run.report(visit)
    return (
        report
        if check or not report.steps
        else replace(report, stand=FirmwareStatus.REFUSED, message=NO_STORE, steps=())
    )


def _visit(visit: Visit, lease: Lease) -> Report:
    parent = os.getppid()  # of a worker of Ansible's, the play
    if taken := lease.wait(visit.until):
        return visit.report(FirmwareStatus.WAITING, taken)
    while True:
        if os.getppid() != parent:
            return visit.report(FirmwareStatus.WAITING, ALONE)
        lease.alive()
        if (report := _turn(visit)) is not None:
            return report


def _turn(visit: Visit) -> Report | None:
    flash = visit.store.open_flash(visit.target.node)
    try:
        if flash is not None:
            return _follow(visit, flash)
        why = visit.stranger()
        return visit.report(FirmwareStatus.UNREAD, why) if why else next_step.begin(visit)
    except BmcError as error:  # between two looks; the next one tells
        if flash is None:
            return next_step.unread(visit, str(error))
        told = line(flash, str(error), steady(), None, visit.then)
        return visit.wait(FirmwareStatus.WORKING, told, visit.means.pace.poll, flash)


def _follow(visit: Visit, flash: Flash) -> Report | None:
    """Take the open flash one step on; a report where the visit is over before there is news."""
    seen = replace(visit.looks.see(flash), gaps=visit.gaps(flash))
    if visit.unsent and visit.unsent.flash == flash.id and flash.phase is Phase.INTENDED:
        theirs = all(task_owner.anothers(flash, task) for task in flash_events.new(flash, seen))
        if theirs and not seen.busy and not _moved(flash, seen):
            return _unsent(visit, flash, seen, visit.unsent)
        visit.unsent = None  # something was begun since, by whomever: what the BMC said is no longer all there is
    act = flash_steps.decide(flash, seen, visit.means.pace)
    if isinstance(act, Wait):
        if _dark(visit, flash, seen):
            next_step.switch(visit, Power.ON)
        told = line(flash, act.why, seen.at, seen.task, visit.then)
        return visit.wait(FirmwareStatus.WORKING, told, act.seconds, flash)
    if isinstance(act, Send):
        return _send_again(visit, flash, seen)
    visit.changed = True
    _act(visit, flash, seen, act)
    return None


def _moved(flash: Flash, seen: Seen) -> bool:
    return seen.versions is not None and not flash_events.unchanged(flash, seen)


def _unsent(visit: Visit, flash: Flash, seen: Seen, unsent: Unsent) -> Report | None:
    """Send again, some times and each later than the one before, what the BMC surely has not."""
    pace = visit.means.pace
    if unready := _unready(visit):  # it refused for that, and would again
        visit.unsent = unsent._replace(tries=0)
        told = f"{unsent.why}; {unready}; it is sent again once it is ready"
        return visit.wait(FirmwareStatus.WORKING, line(flash, told, seen.at, None, visit.then), pace.poll, flash)
    if unsent.tries >= REFUSALS:
        _end(visit, flash, End.NOT_SENT, unsent.why)
        return None
    at = flash.intended_at + pace.poll * unsent.tries**2
    if seen.at < at or seen.versions is None:
        told = line(flash, f"{unsent.why}; it is sent again", seen.at, None, visit.then)
        return visit.wait(FirmwareStatus.WORKING, told, pace.poll, flash)
    return _send_again(visit, flash, seen)


def _unready(visit: Visit) -> str:
    """Say why the BMC takes no update; "" also where it cannot be asked: what it refused must come to an end."""
    try:
        return visit.looks.updates.unready()
    except BmcError:
        return ""


def _dark(visit: Visit, flash: Flash, seen: Seen) -> bool:
    """Say whether what was written cannot be read because the host is off; it is switched on once."""
    written = flash.phase in {Phase.UPDATED, Phase.ACTIVATING}
    off = seen.versions is None and seen.power == "Off" and not flash_events.at_work(flash, seen)
    return written and off and visit.switched_at is None and flash_events.foreign(flash, seen) is None


def _act(visit: Visit, flash: Flash, seen: Seen, act: Adopt | Mark | Reset | Conclude) -> None:
    match act:
        case Adopt(task):
            _note(visit, replace(flash, phase=Phase.SENT, task=task, sent_at=flash.sent_at or seen.at))
        case Mark(Phase.SENT):
            _note(visit, replace(flash, phase=Phase.SENT, sent_at=flash.sent_at or seen.at))
        case Mark(Phase.UPDATED):
            _note(visit, replace(flash, phase=Phase.UPDATED, updated_at=seen.at))
        case Mark(phase):
            _note(visit, replace(flash, phase=phase))
        case Reset(number=number, task=task):
            _reset(visit, replace(flash, task=task or flash.task), number)
        case Conclude(end, detail):
            _end(visit, flash, end, detail)


def _note(visit: Visit, flash: Flash) -> Flash:
    return visit.write(lambda store: store.note_flash(flash, visit.target.holder, now=time.time()))


def _end(visit: Visit, flash: Flash, end: End, detail: str) -> None:
    said = detail[:MOST_DETAIL]
    visit.write(lambda store: store.end_flash(flash.id, visit.target.holder, end, said, time.time()))
    visit.say(line(flash, f"{end.value}: {detail}", steady(), None, visit.then))


def _send_again(visit: Visit, flash: Flash, seen: Seen) -> Report | None:
    """Send what was written down and certainly never taken, if it is still what the catalogue asks for.

    The host may have been switched since by somebody else; with nothing under way it is switched back, once.
    """
    step = _step(visit, flash)
    if step and activate.wrong(step.power, seen.power):
        held = next_step.left(visit, seen, step)
        if not held and seen.at > (visit.switched_at or 0.0) + visit.means.pace.boot:
            next_step.switch(visit, step.power)
        why = held or f"it is written while the host is {step.power}, and it is {seen.power}"
        return visit.wait(
            FirmwareStatus.WORKING, line(flash, why, seen.at, None, visit.then), visit.means.pace.poll, flash
        )
    visit.changed = True
    if step is None:
        _end(visit, flash, End.NOT_SENT, "the BMC never took it, and the catalogue asks for something else by now")
    else:
        # What comes from now on is this try's: how long it may take is counted anew.
        send.send(visit, _note(visit, replace(flash, intended_at=steady())), step)
    return None


def _step(visit: Visit, flash: Flash) -> Step | None:
    steps: tuple[Step | str, ...] = next_step.plan(visit).steps
    undone = next((one for one in visit.flashes() if one.id == flash.rolls_back), None)
    if undone:
        whole = next_step.undone(visit.flashes(), undone)
        steps = (planner.rollback(visit.means.catalogue, whole, visit.looks.entries),)
    wanted = (flash.sha256, dict(flash.targets))
    return next((step for step in steps if isinstance(step, Step) and _asks(step) == wanted), None)


def _asks(step: Step) -> tuple[str, dict[str, str]]:
    return step.image.sha256, dict(step.targets)


def _reset(visit: Visit, flash: Flash, number: int) -> None:
    """Write a reset down, then do it: one that is done twice after a crash harms nothing.

    One that the BMC did not take is asked for again, by what the versions say. What was written is pending meanwhile:
    only where the BMC has no way to make it run does the flash end, for a person to do it.
    """
    now = steady()
    noted = _note(visit, replace(flash, phase=Phase.ACTIVATING, activations=number, activated_at=now))
    visit.say(line(flash, f"reset {number} of {flash.times}: {flash.activate}", now, None, visit.then))
    try:
        visit.confirm()
        activate.reset(visit.looks.updates, flash.activate, visit.alive)
    except NotOfferedError as error:
        _end(visit, noted, End.FAILED, _by_hand(noted, str(error)))
    except BmcRefused as error:
        visit.say(f"{flash.component}: the BMC did not reset; it may be asked again: {error}")
    except BmcError as error:
        visit.say(f"{flash.component}: whether the BMC did the reset is not known: {error}")
    else:
        _note(visit, replace(noted, activated=noted.activated + 1))


def _by_hand(flash: Flash, why: str) -> str:
    """Say what a technician must do where the BMC offers nothing that makes a written image run."""
    if flash.activate is Activate.AC_DRAIN:
        times = "once" if flash.times == 1 else f"{flash.times} times"
        return (
            f"{flash.component} is written and runs only after all power was off: {why}; pull every power cord of "
            f"{flash.node} for a minute, {times}, then: fleet-runner retry {flash.node}"
        )
    return (
        f"{flash.component} is written and runs only after a restart of the BMC: {why}; restart it by hand, then: "
        f"fleet-runner retry {flash.node}"
    )
