"""What comes next for a flash whose image is written: the resets that make it run, then the look whether it does.

Each row: what is seen, what follows. The first row that fits counts.

    a reset was written down and may not be over     wait: for the BMC to be gone and back (its last start tells, else
                                                     `outage` is over), for the host to be on again (within `boot`)
    the host is still off after `boot`               reset again: one may have been cut between off and on
    resets are missing (`times`), and a task runs,
    or the BMC says that it is updating              wait for it
    resets are missing                               reset
    the versions cannot be read                      wait, for as long as it takes
    the versions are right, in several looks         VERIFIED
    wrong for less than `settle`                     wait
    wrong, and fewer resets than `times` were seen
    to be done                                       reset again: one may have been written down and never sent
    wrong, and a task runs, or the BMC is updating   wait for it
    wrong                                            FAILED, with what is where

A reset that is done twice harms nothing; one that was never done would leave the image pending, and the next try
would send it a second time. After `AGAIN` more resets than asked for, a person must look.
"""

from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import Act, Conclude, End, Flash, FlashTiming, Reset, Seen, Wait
from fleet_runner.core.firmware.flash_events import (
    MOST_IDS,
    at_work,
    clock,
    cut,
    elapsed,
    off,
    silence,
    silent,
    started,
    unread,
    where,
)
from fleet_runner.core.firmware.unobserved import unwatched

AGAIN = 4
"""How many resets more than asked for are done where none was seen to be taken."""

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
    return _verify(flash, seen, pace)


def _goes_on(flash: Flash, seen: Seen, pace: FlashTiming) -> str:
    """Return what a reset that was written down is still waited for; "" once it is over, or was never done."""
    age = elapsed(flash, seen, _since(flash))
    if age < pace.stable * pace.poll:
        return f"{_named(flash)} was just asked for."
    if flash.activate is Activate.HOST_RESET:
        booting = seen.power != "On" or flash.activations < flash.times
        return f"The host is on its way up; its power is {seen.power}." if booting and age < pace.boot else ""
    back = seen.bmc_reset_at is not None and started(seen) >= _since(flash) - clock(pace)
    return "" if back or age >= pace.outage else f"{_named(flash)} is under way, or the BMC has yet to begin it."


def _reset(flash: Flash, seen: Seen, pace: FlashTiming) -> Act:
    if busy := at_work(flash, seen):
        return Wait(f"No reset while the BMC is busy with {busy}.", pace.poll)
    return Reset(flash.activate, flash.activations + 1)


def _verify(flash: Flash, seen: Seen, pace: FlashTiming) -> Act:
    if seen.versions is None or seen.stable < pace.stable:
        return unread(seen, pace)
    if not off(flash, seen):
        return Conclude(End.VERIFIED, f"{_targets(flash)}, read {seen.stable} times in a row.")
    left = pace.settle - elapsed(flash, seen, max(_since(flash), started(seen)))
    busy = at_work(flash, seen)
    if left > 0 or busy:
        why = f": {left:.0f} s more" if left > 0 else f", and the BMC is busy with {busy}"
        return Wait(f"{where(flash, seen)}{why}.", pace.poll)
    if _taken(flash, seen, pace) < _times(flash):
        if _may_again(flash):
            return _reset(flash, seen, pace)
        asked = f"{flash.activations} resets were asked for, and fewer than {flash.times} seen to be done"
        return Wait(f"{where(flash, seen)}; {asked}: look at the BMC.", pace.poll)
    return Conclude(End.FAILED, f"{_story(flash)}{where(flash, seen)}.")


def _taken(flash: Flash, seen: Seen, pace: FlashTiming) -> int:
    """Return how many resets were certainly done: those that the BMC answered well; or one, if it started since.

    A start of the BMC proves a reset of the BMC, whoever asked for it, but not that all power was away; nor anything
    where the clock may have been set since, which moves that start.
    """
    since = _since(flash)
    sure = flash.activate is Activate.BMC_RESET and unwatched(seen.gaps, since) == 0
    back = sure and started(seen) >= since - clock(pace)
    return max(flash.activated, int(back))


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
