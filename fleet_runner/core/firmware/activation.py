"""What comes next for a flash whose image is written, or staged: the resets that make it run, then whether it does.

Each row: what is seen, what follows. The first row that fits counts.

    a reset was written down and may not be over     wait: for the BMC to be gone and back (its last start tells, else
                                                     `outage` is over), for the host to be on again, and to begin
                                                     what is staged (within `boot`)
    the host is still off after `boot`               reset again: one may have been cut between off and on
    resets are missing (`times`), and a task runs,
    its own too, or the BMC says that it is updating wait for it
    resets are missing, and something of somebody
    else's is staged that a start of the host would
    do as well                                       wait: a person has it done, or takes it away
    resets are missing, and the look broke off       wait: nobody knows what else runs or is staged
    resets are missing                               reset; what that begins is the flash's from then on
    its own task runs                                wait: no look counts before its end; past `seconds` it says so
    it is staged still, and every reset was answered wait: a person must look, for it may be about to begin
    it is staged still                               reset again: the one before was never sent
    the versions cannot be read                      wait, for as long as it takes
    the versions are right, in several looks         VERIFIED; of what was staged once the BMC is at rest
    wrong for less than `settle`; of what was staged
    since its task ended, else for `seconds` as well wait; an end counts that lies between the reset and now
    wrong, and a task runs, or the BMC is updating   wait for it
    wrong, and fewer resets than `times` were seen
    to be done                                       reset again: one may have been written down and never sent
    wrong                                            FAILED, with what is where, and what its task or the BMC said

What is staged is written by the host's start itself, in a system of the maker's own (Dell's Lifecycle Controller)
while the power is on: there the reset comes before the task's end, and a second one then can ruin the part.
Otherwise a reset that is done twice harms nothing; one that was never done would leave the image pending, and the
next try would send it a second time. After `AGAIN` more resets than asked for, a person must look.
Each row that resets looks first whether anything runs or is somebody else's, as the rows before "reset" have it.
Somebody else's staged task is never begun by a reset of ours: whose time it was chosen for nobody here knows. Nor is
it taken away. It holds up no flash that needs no start of the host.
"""

from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import Act, Conclude, End, Flash, FlashTiming, Reset, Seen, Task, TaskEnd, Wait
from fleet_runner.core.firmware.flash_events import (
    MOST_IDS,
    at_work,
    clock,
    cut,
    elapsed,
    foreign,
    late,
    mine,
    named,
    new,
    off,
    silence,
    silent,
    staged,
    started,
    unproven,
    unread,
    where,
)
from fleet_runner.core.firmware.unobserved import unwatched

AGAIN = 4
"""How many resets more than asked for are done where none was seen to be taken."""

STARTS = frozenset({Activate.HOST_RESET, Activate.AC_DRAIN})
"""Activations in which the host starts, and so does what is staged."""

ENDED = frozenset({TaskEnd.DONE, TaskEnd.FAILED})

NAMES = {
    Activate.NONE: "nothing",
    Activate.BMC_RESET: "a reset of the BMC",
    Activate.HOST_RESET: "a reset of the host",
    Activate.AC_DRAIN: "a removal of all power",
}


def decide(flash: Flash, seen: Seen, pace: FlashTiming) -> Act:
    """Return what to do next about a flash whose image is written."""
    if silent(seen):
        return silence(seen, pace, _since(flash))
    if flash.activations and (goes_on := _goes_on(flash, seen, pace)):
        return Wait(goes_on, pace.poll)
    if flash.activations < _times(flash) or (_dark(flash, seen) and _may_again(flash)):
        return _reset(flash, seen, pace)
    if waits := _begun(flash, seen, pace):
        return waits
    return _verify(flash, seen, pace)


def start(flash: Flash, seen: Seen, pace: FlashTiming, task: Task) -> Act:
    """Return what to do about the flash's own task that is staged: the reset comes before its end."""
    if flash.activate not in STARTS:
        return Wait(
            f"It is staged as {named(task)} and written when the host starts next, for which its row of the catalogue"
            f" does not ask: set `activate: {{how: host_reset}}` there, and restart the host.",
            pace.poll,
        )
    return _reset(flash, seen, pace)


def start_unproven(flash: Flash, seen: Seen, pace: FlashTiming) -> Act | None:
    """Return what to do where something new is staged and no task is known to be the flash's; None where it is not.

    A flash that needs no start of the host has nothing staged.
    """
    if flash.activate not in STARTS:
        return None
    if staged(flash, seen):
        return _reset(flash, seen, pace)
    waiting = (task for task in new(flash, seen) if task.state is TaskEnd.STAGED and unproven(flash, task))
    if (task := next(waiting, None)) is None:
        return None
    return Wait(
        f"Whether the BMC took the image is not known, and {named(task)} is staged, which may be this image's or"
        f" somebody else's: look whose it is, and have it done, or delete it ({task.uri}).",
        pace.poll,
    )


def _begun(flash: Flash, seen: Seen, pace: FlashTiming) -> Act | None:
    """Go by a task that is written while the host starts; None where it has ended, or there is none."""
    own = mine(flash, seen)
    if own and own.state is TaskEnd.RUNNING:
        return Wait(f"The BMC is at it: {named(own)}.{late(flash, seen, _since(flash))}", pace.poll)
    task = staged(flash, seen) if flash.activate in STARTS else None
    if task is None:
        return None
    if flash.activated < _times(flash) and _may_again(flash):
        return _reset(flash, seen, pace)
    return Wait(
        f"The host was reset, and {named(task)} is staged still: look whether the BMC may collect the inventory and"
        f" begin updates at a start, and restart the host by hand.",
        pace.poll,
    )


def _goes_on(flash: Flash, seen: Seen, pace: FlashTiming) -> str:
    """Return what a reset that was written down is still waited for; "" once it is over, or was never done."""
    age = elapsed(flash, seen, _since(flash))
    if age < pace.stable * pace.poll:
        return f"{_named(flash)} was just asked for."
    if flash.activate in STARTS and age < pace.boot and (task := staged(flash, seen)):
        return f"The host is on its way up, and {named(task)} has yet to begin."
    if flash.activate is Activate.HOST_RESET:
        booting = seen.power != "On" or flash.activations < flash.times
        age = elapsed(flash, seen, _written(flash, seen))
        return f"The host is on its way up; its power is {seen.power}." if booting and age < pace.boot else ""
    back = seen.bmc_reset_at is not None and started(seen) >= _since(flash) - clock(pace)
    return "" if back or age >= pace.outage else f"{_named(flash)} is under way, or the BMC has yet to begin it."


def _reset(flash: Flash, seen: Seen, pace: FlashTiming) -> Act:
    if busy := at_work(flash, seen):
        return Wait(f"No reset while the BMC is busy with {busy}.", pace.poll)
    if seen.partial:
        said = cut(seen.trouble).rstrip(".")
        return Wait(f"No reset before a look at the BMC shows all that runs and is staged: {said}.", pace.poll)
    if flash.activate in STARTS and (other := foreign(flash, seen)):
        return Wait(
            f"No reset while {named(other)} is staged, which is not this update's and would be done as well: have it"
            f" done, or delete it ({other.uri}).",
            pace.poll,
        )
    task = staged(flash, seen) if flash.activate in STARTS else None
    begins = task.uri if task and task.uri != flash.task else ""
    return Reset(flash.activate, flash.activations + 1, begins)


def _verify(flash: Flash, seen: Seen, pace: FlashTiming) -> Act:
    if seen.versions is None or seen.stable < pace.stable:
        return unread(seen, pace)
    busy = at_work(flash, seen)
    if not off(flash, seen):
        writes = f"{_targets(flash)}, and the BMC is busy with {busy}." if busy and _was_staged(flash) else ""
        verified = Conclude(End.VERIFIED, f"{_targets(flash)}, read {seen.stable} times in a row.")
        return Wait(writes, pace.poll) if writes else verified
    left = _patience(flash, seen, pace) - elapsed(flash, seen, max(_written(flash, seen), started(seen)))
    if left > 0 or busy:
        why = f": {left:.0f} s more" if left > 0 else f", and the BMC is busy with {busy}"
        return Wait(f"{where(flash, seen)}{why}.", pace.poll)
    if _taken(flash, seen, pace) < _times(flash):
        if _may_again(flash):
            return _reset(flash, seen, pace)
        asked = f"{flash.activations} resets were asked for, and fewer than {flash.times} seen to be done"
        return Wait(f"{where(flash, seen)}; {asked}: look at the BMC.", pace.poll)
    return Conclude(End.FAILED, f"{_story(flash)}{where(flash, seen)}{_said(flash, seen)}.")


def _taken(flash: Flash, seen: Seen, pace: FlashTiming) -> int:
    """Return how many resets were certainly done: those that the BMC answered well; or one, if it started since.

    A start of the BMC proves a reset of the BMC, whoever asked for it, but not that all power was away; nor anything
    where the clock may have been set since, which moves that start.
    """
    since = _since(flash)
    sure = flash.activate is Activate.BMC_RESET and unwatched(seen.gaps, since) == 0
    back = sure and started(seen) >= since - clock(pace)
    return max(flash.activated, int(back))


def _patience(flash: Flash, seen: Seen, pace: FlashTiming) -> float:
    """Return how long a version must stay wrong; as long as it may be written as well, where no end of that shows."""
    shown = _ended_at(flash, seen) is not None
    return pace.settle + (flash.seconds if _was_staged(flash) and not shown else 0.0)


def _written(flash: Flash, seen: Seen) -> float:
    """Return since when nothing of it is being written, as far as anything tells."""
    return max(_since(flash), _ended_at(flash, seen) or 0.0)


def _ended_at(flash: Flash, seen: Seen) -> float | None:
    """Return when its task ended, None where it does not tell, or tells a time that cannot be: a clock was set."""
    job = _job(flash, seen)
    at = job.ended_at if job and job.state in ENDED else None
    return at if at is not None and _since(flash) <= at <= seen.at else None


def _job(flash: Flash, seen: Seen) -> Task | None:
    """Return the task of what was staged, which keeps its address; any other's may be somebody else's by now."""
    return mine(flash, seen) if _was_staged(flash) else None


def _was_staged(flash: Flash) -> bool:
    return flash.activations > 0 and flash.updated_at is None


def _said(flash: Flash, seen: Seen) -> str:
    """Return why it failed, where its task still says so; what the BMC says of an update may be of another one."""
    job = _job(flash, seen)
    messages = cut("; ".join(job.messages)) if job and job.state is TaskEnd.FAILED else ""
    if messages:
        return f"; its task failed: {messages.rstrip('.')}"
    return f"; the BMC says of its last update: {cut(seen.failure).rstrip('.')}" if seen.failure else ""


def _dark(flash: Flash, seen: Seen) -> bool:
    """Say if the reset of the host left it off."""
    return flash.activate is Activate.HOST_RESET and flash.activations > 0 and seen.power == "Off"


def _may_again(flash: Flash) -> bool:
    return flash.activations < _times(flash) + AGAIN


def _times(flash: Flash) -> int:
    return 0 if flash.activate is Activate.NONE else flash.times


def _since(flash: Flash) -> float:
    return flash.activated_at or flash.updated_at or flash.sent_at or flash.intended_at


def _targets(flash: Flash) -> str:
    """Return where every entry is now, of many the first."""
    told = [f"{each} is at {to}" for each, to in sorted(flash.targets.items())]
    more = f" and {len(told) - MOST_IDS} more are on their targets" if len(told) > MOST_IDS else ""
    return cut(", ".join(told[:MOST_IDS])) + more


def _story(flash: Flash) -> str:
    """Return what was done before the versions were found wrong."""
    done = f"After {flash.activations} x {NAMES[flash.activate]}" if flash.activations else "After the update"
    taken = "" if flash.sent_at is not None else " (whether the BMC took the image cannot be known)"
    return f"{done}{taken}, "


def _named(flash: Flash) -> str:
    return f"{NAMES[flash.activate].capitalize()} (number {flash.activations})"
