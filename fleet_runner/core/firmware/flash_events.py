"""What is said of a flash, and what a look at its BMC shows of it."""

from collections.abc import Iterable

from fleet_runner.core.base.printable import printable
from fleet_runner.core.firmware.flash import Flash, FlashTiming, Seen, Task, TaskEnd, Wait
from fleet_runner.core.firmware.task_owner import CLOCK, anothers, elses, fits, is_update
from fleet_runner.core.firmware.unobserved import unwatched

MOST_IDS = 4
MOST_LETTERS = 300


def new(flash: Flash, seen: Seen) -> tuple[Task, ...]:
    """Return the BMC's tasks that can have begun since the flash was written down, but for the one known as its own.

    None ran then: one that does now is new even where a BMC that restarted gave it an old one's address.
    """
    told = sorted((seen.tasks or {}).items())
    fresh = (task for uri, task in told if uri not in flash.tasks_before or task.state is TaskEnd.RUNNING)
    return tuple(task for task in fresh if task.uri != flash.task)


def running(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """Return those that go on."""
    return tuple(task for task in tasks if task.state is TaskEnd.RUNNING)


def mine(flash: Flash, seen: Seen) -> Task | None:
    """Return the task at the flash's address."""
    return seen.task or (seen.tasks or {}).get(flash.task)


def at_work(flash: Flash, seen: Seen) -> str:
    """Say what the BMC does just now, for whomever; "" where it is at rest, as far as it tells."""
    own = mine(flash, seen)
    if found := running((*((own,) if own else ()), *new(flash, seen))):
        return named(found[0])
    return "an update, as it says" if seen.busy else ""


def staged(flash: Flash, seen: Seen) -> Task | None:
    """Return what the host's next start writes of the flash.

    That is its own task; where none is known, the only new update that nothing speaks against. One that was not
    listed before began since.
    """
    if own := mine(flash, seen):
        return own if own.state is TaskEnd.STAGED else None
    may_be = [task for task in new(flash, seen) if unproven(flash, task) and fits(flash, task)]
    return may_be[0] if len(may_be) == 1 and may_be[0].state is TaskEnd.STAGED else None


def foreign(flash: Flash, seen: Seen) -> Task | None:
    """Return what the host's next start would do and is not known to be the flash's."""
    ours = staged(flash, seen)
    waiting = (task for _, task in sorted((seen.tasks or {}).items()) if task.state is TaskEnd.STAGED)
    return next((task for task in waiting if ours is None or task.uri != ours.uri), None)


def unproven(flash: Flash, task: Task) -> bool:
    """Say if a new task is an update that its request does not tell to be somebody else's."""
    return is_update(task) and not elses(flash, task)


def silent(seen: Seen) -> bool:
    """Say if a look brought nothing of use."""
    return seen.versions is None and seen.tasks is None and seen.task is None


def legible(seen: Seen, pace: FlashTiming) -> bool:
    """Say if the versions were read often enough, or cannot be because the host is off while the BMC answers."""
    if seen.versions is None:
        return seen.tasks is not None and seen.power == "Off"
    return seen.stable >= pace.stable


def beside(flash: Flash, seen: Seen, pace: FlashTiming) -> Wait | None:
    """Wait for a task that runs and is not known to be the flash's, and say what it may be; None where none does."""
    if not (others := running(new(flash, seen))):
        return None
    why = anothers(flash, others[0]) or "which may be this image's or somebody else's"
    return Wait(f"The BMC is busy with {named(others[0])}, {why}.", pace.poll)


def right(flash: Flash, seen: Seen, pace: FlashTiming) -> bool:
    """Say if every version is the target's, in enough looks in a row."""
    return seen.versions is not None and seen.stable >= pace.stable and not off(flash, seen)


def unchanged(flash: Flash, seen: Seen) -> bool:
    """Say if every version is the one from before."""
    return seen.versions is not None and all(seen.versions.get(each) == was for each, was in flash.before.items())


def off(flash: Flash, seen: Seen) -> tuple[str, ...]:
    """Return of each entry that is not on its target a few words that say where it is."""
    versions = seen.versions or {}
    return tuple(
        f"{each} is at {versions[each] or 'no version'}, expected {to}"
        if each in versions
        else f"{each} is not in the inventory, expected at {to}"
        for each, to in sorted(flash.targets.items())
        if versions.get(each) != to
    )


def where(flash: Flash, seen: Seen) -> str:
    """Return which entries are not on their targets, of many the first."""
    if seen.versions is None:
        return "its versions cannot be read"
    wrong = off(flash, seen)
    more = f"; so are {len(wrong) - MOST_IDS} more" if len(wrong) > MOST_IDS else ""
    return cut("; ".join(wrong[:MOST_IDS])) + more


def cut(text: str) -> str:
    """Return what a BMC said on one line of bearable length, safe to show."""
    line = " ".join(printable(text).split())
    return line if len(line) <= MOST_LETTERS else f"{line[:MOST_LETTERS]} …"


def started(seen: Seen) -> float:
    """Return when the BMC last started, as far as it tells; not in the future, whatever the clocks say."""
    return 0.0 if seen.bmc_reset_at is None else min(seen.bmc_reset_at, seen.at)


def elapsed(flash: Flash, seen: Seen, since: float) -> float:
    """Return the seconds since something was written down, less what our clock was set forward by or nobody looked.

    A moment from before that lies so much further back; one from after it does not, and counts for less if anything.
    None lies further back than the flash, also if the BMC's start has moved with our clock.
    """
    gone = seen.at - since
    forward = _set_forward(flash, seen)
    whole = seen.at - flash.intended_at - max(forward, unwatched(seen.gaps, flash.intended_at))
    known = max(gone - forward, 0.0) if gone >= forward - CLOCK else gone
    return min(known, max(gone - unwatched(seen.gaps, since), 0.0), max(whole, 0.0)) if seen.gaps else known


def _set_forward(flash: Flash, seen: Seen) -> float:
    """Return by how many seconds our clock was surely set forward since the flash was written down.

    A BMC that now seems to have started later, and yet before that, did not: its start has moved with our clock.
    """
    before, now = flash.bmc_reset_before, seen.bmc_reset_at
    moved = 0.0 if before is None or now is None else now - before
    return moved if moved > CLOCK and (now or 0.0) < flash.intended_at - CLOCK else 0.0


def clock(pace: FlashTiming) -> float:
    """Return by how many seconds two tellings of a BMC's start may differ and still be of one start."""
    return min(CLOCK, pace.poll)


def silence(seen: Seen, pace: FlashTiming, since: float) -> Wait:
    """Wait for a BMC that says nothing, and say since when at the latest it should have spoken."""
    said = cut(seen.trouble).rstrip(".") or "it does not answer"
    long = seen.at - since > pace.outage
    more = f" It has had more than the {pace.outage:.0f} s that a restart may take: look at the BMC." if long else ""
    return Wait(f"Nothing can be known or done until the BMC answers: {said}.{more}", pace.poll)


def unread(seen: Seen, pace: FlashTiming) -> Wait:
    """Wait for versions that were not read yet, or not often enough."""
    if seen.versions is None:
        said = cut(seen.trouble).rstrip(".") or "the BMC does not report them"
        return Wait(f"The versions cannot be read: {said}.", pace.poll)
    return Wait(f"The versions are read again: {seen.stable} of {pace.stable} looks were the same.", pace.poll)


def late(flash: Flash, seen: Seen, since: float) -> str:
    """Say of what is being written that it takes longer than it may; "" where it does not."""
    over = elapsed(flash, seen, since) > flash.seconds
    return f" It has had more than the {flash.seconds:.0f} s that it may take: look at the BMC." if over else ""


def named(task: Task) -> str:
    """Return a task in words."""
    begun = task.percent is not None and task.state is not TaskEnd.STAGED
    percent = f" at {task.percent} %" if begun else ""
    return f"task {cut(task.name or task.uri)}{percent}"
