"""What comes next for a node's BIOS settings: one try in a stay, which is known again after a crash."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fleet_runner.core.base.fields import shown
from fleet_runner.core.firmware.bios import Plan, told
from fleet_runner.core.firmware.bios_jobs import Job, Queue
from fleet_runner.core.firmware.bios_messages import about
from fleet_runner.core.firmware.bios_values import Value

MOST_RESETS = 3
"""Resets that are asked for in vain until it is given up, where it is not certain that one was done or is needed.

Only a play that was killed asks twice: else its check answers right after the first.
"""

CLOCK_SECONDS = 2.0
"""By how much a BMC's clock, that counts whole seconds, may be wrong about the host's last reset."""


@dataclass(frozen=True, slots=True)
class Try:
    """Settings that a BMC took, in a node's present stay. Times are epoch seconds.

    `at` is when it took the newest; `resets` counts the resets of the host that were asked for in the stay, and
    `reset_from` is the moment from which the newest of them counts.
    """

    attributes: Mapping[str, Value]
    at: float
    resets: int
    reset_from: float


@dataclass(frozen=True, slots=True)
class Clock:
    """Now, when the host was last reset as its BMC tells (None: it does not), and how long a boot may take."""

    now: float
    host_reset_at: float | None
    boot_seconds: float


@dataclass(frozen=True, slots=True)
class Settled:
    """Every setting is in force."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Profile and BMC contradict each other; nothing is sent."""

    why: str


@dataclass(frozen=True, slots=True)
class Set:
    """Send these, write them down, and have the host reset."""

    changes: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Reset:
    """Have the host reset, unless it was since `noted.reset_from`; `noted` is what is written down before."""

    noted: Try


@dataclass(frozen=True, slots=True)
class Commit:
    """Have the BMC make a job of what waits, which no reset applies without; then as `Reset`."""

    noted: Try


@dataclass(frozen=True, slots=True)
class Wait:
    """A job of the BMC is at work on the settings; nothing is certain before its end."""

    why: str


@dataclass(frozen=True, slots=True)
class Lost:
    """They were taken, the host was reset, and they are not in force: trying again would only go round in circles."""

    why: str


Turn = Settled | Refused | Set | Reset | Commit | Wait | Lost

NO_JOBS = Queue()


def decide(plan: Plan, tried: Try | None, clock: Clock, queue: Queue = NO_JOBS) -> Turn:
    """Return what to do; pure. `tried` is the try of this stay, None where there is none.

    A job that is at work comes before all: an iDRAC shows settings as in force before it has applied them.
    """
    if queue.running:
        return Wait(f"{queue.running.told} is at the BIOS settings; they are compared again once it has ended")
    if plan.refused:
        return Refused("; ".join(plan.refused))
    if not plan.changes and not plan.waiting:
        return Settled()
    if queue.scheduled and plan.changes and not _ours(plan, tried):
        return Refused(
            f"{told(plan.changes)}: not sent, because {queue.scheduled.told} waits for a reset of the host, and the"
            " BMC takes no other settings until then; reset the host, or delete that job if nobody needs it"
        )
    if tried and (ours := _of_failed_job(plan, tried, clock, queue)):
        return Lost(_not_kept(plan, ours, queue.failure))
    turn = _next(plan, tried, clock, queue)
    return Commit(turn.noted) if isinstance(turn, Reset) and queue.lacking and not _in_boot(tried, clock) else turn


def taken(plan: Plan, after: Plan) -> Plan:
    """Return a plan with those of its changes that a BMC took, as it shows afterwards.

    Of what may come later, an iDRAC drops in silence what it does not take yet
    (dell/dellemc-openmanage-ansible-modules issue 1072): that is sent again once the others are in force. Where
    nothing is shown of the rest, it was taken.
    """
    dropped = set(plan.later) & set(after.changes)
    return replace(plan, changes={name: value for name, value in plan.changes.items() if name not in dropped})


def first(plan: Plan) -> Plan:
    """Return a plan with those of its changes alone that a BMC takes now, for one that does not take all at once."""
    return replace(plan, changes={name: value for name, value in plan.changes.items() if name not in plan.later})


def noted(plan: Plan, tried: Try | None, clock: Clock) -> Try:
    """Return the try that is written down once a BMC has taken the plan's changes.

    A reset that was asked for and surely not done is the one that is asked for now.
    """
    before = tried.attributes if tried else {}
    resets = tried.resets + _reset_since(tried.reset_from, clock) if tried else 1
    return Try({**before, **plan.waiting, **plan.changes}, clock.now, resets, clock.now)


def _next(plan: Plan, tried: Try | None, clock: Clock, queue: Queue) -> Turn:
    if tried is None:
        # What waits already was sent by somebody, or by us before a crash: a reset is all that it needs.
        return Set(plan.changes) if _sendable(plan) else Reset(Try(plan.waiting, clock.now, 1, clock.now))
    if _booting(tried, clock):
        return Reset(tried)
    lost = [name for name, value in plan.changes.items() if name in plan.wrong and _was(tried, name, value)]
    if lost and _spent(tried, clock):
        return Lost(_not_kept(plan, lost, about(lost[0], plan.said) or queue.failure))
    if not _sendable(plan) or queue.scheduled:
        return _again(plan, tried, clock, queue)
    if tried.resets >= MOST_RESETS and _reset_since(tried.reset_from, clock):
        why = f"the host was to be reset {tried.resets} times for BIOS settings since it is in this state"
        return Lost(f"{told(plan.changes)}: not sent, because {why}")
    return Set(plan.changes)


def _sendable(plan: Plan) -> bool:
    """Say whether anything can be sent before what waits is in force."""
    return bool(plan.changes) and not (plan.waiting and set(plan.changes) <= set(plan.later))


def _ours(plan: Plan, tried: Try | None) -> bool:
    """Say whether what waits was sent in this stay: its reset comes first, then what else is wanted is sent."""
    return tried is not None and any(_was(tried, name, value) for name, value in plan.waiting.items())


def _in_boot(tried: Try | None, clock: Clock) -> bool:
    return tried is not None and _booting(tried, clock)


def _again(plan: Plan, tried: Try, clock: Clock, queue: Queue) -> Turn:
    """Ask for a reset where everything waits for one: for the one that was asked for, until it is surely over.

    A job that stayed scheduled over a reset waits for something else, such as a maintenance window.
    """
    known = clock.host_reset_at is not None
    done = known and _reset_since(tried.reset_from, clock)
    if known and not done:
        return Reset(tried)
    if known and (job := queue.scheduled):
        why = f"{job.told} was not carried out at the reset of the host"
        return Lost(f"{told(plan.waiting)} still waits: {why}{job.message and f'; it says: {job.message}'}")
    if tried.resets >= MOST_RESETS:
        return Lost(f"{told(plan.waiting)} still waits, although the host was to be reset {tried.resets} times")
    return Reset(replace(tried, resets=tried.resets + 1, reset_from=clock.now if done else tried.reset_from))


def _spent(tried: Try, clock: Clock) -> bool:
    """Say whether what is not in force had its reset; a BMC that does not tell of resets is asked a few times."""
    return _reset_since(tried.at, clock) and (clock.host_reset_at is not None or tried.resets >= MOST_RESETS)


def _of_failed_job(plan: Plan, tried: Try, clock: Clock, queue: Queue) -> list[str]:
    """Return what was tried and is not in force because its job failed."""
    if queue.failed is None or queue.scheduled or not _ended_since(queue.failed, tried, clock):
        return []
    everything = {**plan.changes, **plan.waiting}
    return [name for name, value in everything.items() if name in plan.wrong and _was(tried, name, value)]


def _ended_since(job: Job, tried: Try, clock: Clock) -> bool:
    """Say whether a job ended after the try; without its time, whether the host that carries jobs out was reset."""
    if job.ended is not None:
        return job.ended > tried.at - CLOCK_SECONDS
    return clock.host_reset_at is not None and _reset_since(tried.at, clock)


def _booting(tried: Try, clock: Clock) -> bool:
    """Say whether the host may still be on its way through the reset: until then, a BMC tells of before."""
    if clock.host_reset_at is None:
        return clock.now < tried.reset_from + clock.boot_seconds
    return _reset_since(tried.at, clock) and clock.now < clock.host_reset_at + clock.boot_seconds


def _reset_since(at: float, clock: Clock) -> bool:
    """Say whether the host may have been reset since a moment: where its BMC tells, whether it was."""
    return clock.host_reset_at is None or clock.host_reset_at > at - CLOCK_SECONDS


def _was(tried: Try, name: str, value: Value) -> bool:
    return name in tried.attributes and tried.attributes[name] == value


def _not_kept(plan: Plan, lost: Sequence[str], said: str) -> str:
    wanted = {**plan.changes, **plan.waiting}
    each = [f"{name} is {shown(plan.wrong[name])}, expected {shown(wanted[name])}" for name in lost]
    why = f"; it says: {said}" if said else ""
    return f"{'; '.join(each)}: the BMC took it, and it is not in force after the reset{why}"
