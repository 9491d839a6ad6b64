"""From a job's events to the answer: which one it began with, by time and by what each can be.

The order of events decides. The timeout of a collective tells when a rank began to wait: what ended the job happened
shortly before. A node that had a fault five hours earlier, and went on, is not the cause. What a sweep found has no
moment but a span of time. Hardware is named only by evidence of the hardware itself: a symptom, or the scheduler's
word that a node failed, names a place to look at.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fleet_runner.core.base.plural import counted
from fleet_runner.core.faults.xid import OF_APPLICATIONS
from fleet_runner.core.jobs import complaints
from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.record import KINDS
from fleet_runner.core.jobs.sentences import CLEAN, STOPPED, place, sentence, unknown, where

LEAD = 600.0
"""Seconds before the first symptom in which its cause is looked for."""

LONG_LEAD = 3600.0
"""The same where no symptom tells when the waiting began, but only the job's end is known: watchdogs wait long."""

GRACE = 120.0
"""Seconds before the program's last step in which a cause may have come: ranks log late, and run on for steps."""

SLACK = 120.0
"""Seconds after the first symptom in which a cause may be told: clocks differ, and drivers log late."""

OWN_WORDS = frozenset(
    {
        complaints.EXCEPTION, complaints.MISMATCH, "job.nccl_usage", "job.locked_memory", "job.gpu_memory",
        "job.host_memory", "job.oom",
        "job.shared_memory", "job.out_of_memory", "kernel.out_of_memory", "job.collective_mismatch",
        "job.size_mismatch", "job.type_mismatch", "job.group_order",
    }
)  # fmt: skip
"""What a program does wrong whatever machine it runs on."""

HELD_UP = frozenset(
    {
        complaints.NODE_LOST, complaints.BEHIND, "job.rank_missing", "job.no_dump", "job.rank_not_started",
        "job.rank_unfinished", "job.rank_late", "job.partner_missing",
    }
)  # fmt: skip
"""Symptoms that name who held the others up; the flight recorder's are those of `collectives`."""

STATES = {
    "TIMEOUT": complaints.TIME_LIMIT,
    "DEADLINE": complaints.TIME_LIMIT,
    "CANCELLED": complaints.CANCELLED,
    "PREEMPTED": complaints.PREEMPTED,
}
"""How a scheduler says that a job was ended from outside."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far was looked.

    `silent` are nodes of which nothing was heard in the job's time. `progress` is when the program last made a step
    (epoch seconds), None where that is not told. `unsure` and `done` are sentences for the answer.
    """

    silent: tuple[str, ...] = ()
    progress: float | None = None
    unsure: tuple[str, ...] = ()
    done: tuple[str, ...] = ()


def decide(job: Job, events: Iterable[Event], reach: Reach | None = None) -> Answer:
    """Return why a job ended."""
    reach = reach or Reach()
    told = sorted(events, key=lambda each: (each.at is None, each.at or 0.0))
    since, until = _window(job, told, reach.progress)
    causes = [_weighed(each, told, job) for each in told if each.role is Role.CAUSE and _within(each, since, until)]
    symptoms = [each for each in told if each.role is Role.SYMPTOM and _lasting(each, job, reach.progress)]
    stopped = _stopped(job, told)
    origin = _first(causes)
    others = _others(origin, causes)
    symptom = next((each for each in symptoms if each is not origin), None)
    look_at = () if origin is not None else _look_at(job, symptoms, stopped)
    area = Area.UNKNOWN if origin is None else origin.area
    matter = {id(each) for each in (*causes, *symptoms)}
    matters = [each for each in told if id(each) in matter or _near(each, since, until)]
    return Answer(
        job,
        area,
        sentence(job, origin, others, unknown(job, look_at, symptom, stopped[0])),
        origin,
        symptom,
        others,
        tuple(matters),
        look_at,
        _exclude(job, origin, others),
        reach.done,
        tuple(_todo(job, origin, look_at, reach, stopped[0])),
        (*reach.unsure, *_unsure(reach, told, since)),
    )


def _of_job(event: Event, job: Job) -> bool:
    """Return whether an event can be of this job by its time."""
    if event.at is None:
        return True
    return event.at >= job.begun and (job.ended is None or event.at - event.blur <= job.ended + SLACK)


def _window(job: Job, events: Sequence[Event], progress: float | None) -> tuple[float, float]:
    """Return from when to when a cause may have happened; what came long before the last step was survived."""
    since, until = _around(job, events, progress)
    return (since if progress is None else min(max(since, progress - GRACE), until)), until


def _lasting(event: Event, job: Job, progress: float | None) -> bool:
    """Return whether a symptom can be of the job's end: what came long before the last step was survived, too."""
    survived = progress is not None and event.at is not None and event.at < progress - GRACE
    return _of_job(event, job) and not survived


def _stopped(job: Job, told: Sequence[Event]) -> tuple[str, float | None]:
    """Return how a job was ended from outside, "" where it was not, and when: by its scheduler, or its output."""
    by_state = next((why for state, why in STATES.items() if job.state.startswith(state)), "")
    said = next((each for each in told if each.code in STOPPED and _of_job(each, job)), None)
    if by_state or said is None:
        return by_state, job.ended
    return said.code, said.at


def _around(job: Job, events: Sequence[Event], progress: float | None) -> tuple[float, float]:
    """Return from when to when a cause may have happened: around the first of the symptoms that the job ended with.

    Symptoms that are followed by an hour without any were survived, like faults.
    """
    waited = sorted(
        each.at
        for each in events
        if each.role is Role.SYMPTOM
        and each.code != complaints.NCCL
        and each.at is not None
        and _lasting(each, job, progress)
        and not _is_end(each, job)
    )
    last = (
        job.ended
        if job.ended is not None
        else max((each.at for each in events if each.at is not None), default=job.begun)
    )
    if not waited or last - waited[-1] > LONG_LEAD:
        return max(job.begun, last - LONG_LEAD), last + SLACK
    first = waited[-1]
    for at in reversed(waited):
        first = at if first - at <= LONG_LEAD else first
    return max(job.begun, first - LEAD), first + SLACK


def _is_end(event: Event, job: Job) -> bool:
    """Return whether an event is only the scheduler's word that the job ended: what led to it may be an hour old."""
    return event.code in KINDS and job.ended is not None and event.at is not None and event.at >= job.ended - 1


def _within(event: Event, since: float, until: float) -> bool:
    """Return whether an event may have happened in a span; one without a time may."""
    return event.at is None or (event.at >= since and event.at - event.blur <= until)


def _near(event: Event, since: float, until: float) -> bool:
    return event.at is not None and _within(event, since, until)


def _weighed(event: Event, told: Sequence[Event], job: Job) -> Event:
    """Return an event; an application's Xid on one GPU, which had it before this job as well, becomes UNKNOWN.

    A faulty program makes the same error on many GPUs. A GPU that makes it under two jobs is suspect itself.
    """
    if event.code not in OF_APPLICATIONS:
        return event
    again = any(
        each.code == event.code
        and (each.node, each.component) == (event.node, event.component)
        and each.at is not None
        and each.at < job.begun
        for each in told
    )
    wide = {(each.node, each.component) for each in told if each.code == event.code and _of_job(each, job)}
    if not again or len(wide) > 1:
        return event
    message = f"{event.message}; the same GPU did so under an earlier job, so the GPU itself is suspect"
    return Event(
        event.at, Area.UNKNOWN, Role.CAUSE, event.code, message, event.node, event.rank, event.component, event.line,
        event.source, event.blur,
    )  # fmt: skip


def _first(causes: Sequence[Event]) -> Event | None:
    """Return what came first; an event of a sweep may have come as early as its span begins.

    Of two that may have come at the same moment, the machine's goes before the program's: a program fails because of
    its GPU, not a GPU because of its program. (Xids of applications are SOFTWARE already.)
    """
    if not causes:
        return None
    timed = [each for each in causes if each.at is not None]
    if not timed:
        return causes[0]
    earliest = min(each.at for each in timed if each.at is not None)
    early = [each for each in timed if each.at is not None and each.at - each.blur <= earliest]
    programs = [each for each in early if each.area is Area.SOFTWARE]
    machine = [each for each in early if each not in programs and _explains(each, programs)]
    return (machine or early)[0]


def _explains(event: Event, programs: Sequence[Event]) -> bool:
    """Return whether an event may be behind all that programs said at the same moment.

    It is on the same node, or nobody says on which; and either its moment is known, or a program that says what it
    did wrong itself is not among them.
    """
    return all(
        (not each.node or not event.node or each.node == event.node)
        and (event.blur <= SLACK or each.code not in OWN_WORDS)
        for each in programs
    )


def _others(origin: Event | None, causes: Sequence[Event]) -> tuple[Event, ...]:
    """Return causes of another area, node or file system: they do not follow from the first."""
    if origin is None:
        return ()
    found = {_what(origin): origin}
    for each in causes:
        found.setdefault(_what(each), each)
    return tuple(found.values())[1:]


def _what(event: Event) -> tuple[Area, str]:
    """Return what an event is of: the program, a file system that many nodes tell of, or one node's machine."""
    if event.area is Area.SOFTWARE:
        return event.area, ""
    return event.area, event.component if event.area is Area.STORAGE else event.node


def _look_at(job: Job, symptoms: Sequence[Event], stopped: tuple[str, float | None]) -> tuple[str, ...]:
    """Return where to look first: a node that the scheduler lost, a rank that others waited for, who ended first.

    Processes that end when their job is stopped were stopped with it.
    """
    why, when = stopped
    named = [each for each in symptoms if each.code in HELD_UP]
    first = {complaints.KILLED, complaints.ENDED, "job.failed"}
    named += [
        each
        for each in symptoms
        if each.code in first
        and (each.node or each.rank is not None)
        and not (why and (when is None or each.at is None or each.at + each.blur >= when - SLACK))
    ][:1]
    places = [job.failed_node] if job.failed_node else []
    places += [told for each in named if (told := place(each, job))]
    return tuple(dict.fromkeys(places))


def _exclude(job: Job, origin: Event | None, others: Sequence[Event]) -> tuple[str, ...]:
    """Return the nodes that a new start should leave out: those whose hardware is at fault, and one that was lost."""
    machine = [
        each.node for each in (origin, *others) if each is not None and each.area in {Area.HARDWARE, Area.FABRIC}
    ]
    lost = [job.failed_node] if origin is None else []
    return tuple(dict.fromkeys(node for node in (*machine, *lost) if node in job.nodes))


def _todo(job: Job, origin: Event | None, look_at: Sequence[str], reach: Reach, stopped: str) -> Iterable[str]:
    area = Area.UNKNOWN if origin is None else origin.area
    out = _exclude(job, origin, ())
    if area in {Area.HARDWARE, Area.FABRIC}:
        yield f"resubmit without {', '.join(out)}" if out else "resubmit once the part is repaired"
    elif area is Area.STORAGE:
        yield "ask who runs the file system; resubmit once it answers"
    elif area is Area.SOFTWARE:
        yield "nothing was found against the nodes: mend the program or its settings, then resubmit"
    elif origin is not None:
        yield f"test {where(origin, job)} before it is used again: fleet-runner run {origin.node or 'NODE'} burn_in"
    elif look_at:
        yield f"look at {look_at[0]}: its output, its stack, its node's kernel log"
    elif stopped:
        yield "see whether it still made steps until then: its output, its flight recorder dumps (--log FILE...)"
    elif job.state not in CLEAN:
        yield "give the job's own output and its flight recorder dumps: --log FILE..."
    if area is Area.UNKNOWN and not reach.silent and job.state not in CLEAN and job.nodes:
        yield f"nothing that ends a job was found on any of {counted(len(job.nodes), 'node')}"


def _unsure(reach: Reach, told: Sequence[Event], since: float) -> Iterable[str]:
    if reach.silent:
        some = ", ".join(reach.silent[:5])
        more = f" and {len(reach.silent) - 5} more" if len(reach.silent) > 5 else ""  # noqa: PLR2004  as many as above
        yield f"nothing was heard of {some}{more} in the job's time: what happened there is not known"
    before = [each for each in told if each.role is Role.CAUSE and each.at is not None and each.at < since]
    if before:
        yield (
            f"{counted(len(before), 'fault')} came earlier and the job went on, so"
            f" {'it is' if len(before) == 1 else 'they are'} not taken as its cause"
        )
    if any(each.at is None and each.role is Role.CAUSE for each in told):
        yield "some of the output tells no time: the order is that of its lines"
