"""What is known of a job's nodes and its time, from the store's rows to events, and what was already done about it.

A `message` is made of our own words and the names of parts; what a log, a BMC, a person or another program said
stands in `line` alone. So a message may be shown to whom a line may not.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.faults.signals.alarm import UNPROVEN, Alarm
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.kinds import kind, meaning
from fleet_runner.core.lifecycle.runs import Entry, Node, Run, Ticket
from fleet_runner.core.lifecycle.states import SERVING, STATES, Stage
from fleet_runner.core.lifecycle.timeline import MACHINES

DRIFT = 5.0
"""Seconds by which dmesg's times may be wrong: they count from the boot, by a clock that is not set right since."""

ALERTED = 300.0
"""Seconds by which an alert may be late: its rule waits for that long, mostly, before it fires."""

POST = 1800.0
"""Seconds that a server of GPUs may take from its end to the start of its next kernel."""

SURVIVED = 30.0
"""Seconds for which a link may be down and no job end: NCCL's default has an adapter try again for as long, 7 times
4.096 µs x 2^20."""

AFTER = 60.0
"""Seconds after a job's end in which what happens may still have ended it: clocks differ, and schedulers are late."""

LINKS = frozenset({"fabric.link_down", "ib.port_down", "nic.down"})

MOMENTS = frozenset({Source.KERNEL, Source.REDFISH, Source.FABRIC})
"""Who tells of a moment each time; the others say again and again that something goes on."""

OURS = {
    Stage.REBOOT: "run.reboot", Stage.RESET: "run.reset", Stage.FIRMWARE: "run.firmware", Stage.WIPE: "run.wipe",
    Stage.PROVISION: "run.provision", Stage.DRAIN: "run.drain",
}  # fmt: skip
"""What we do to nodes that a job may feel."""

BOOTS = frozenset({Stage.REBOOT, Stage.FIRMWARE, Stage.PROVISION, Stage.WIPE})

SIGNAL, CHECK = "signal: ", "check "

OTHERS = (SIGNAL, CHECK)
"""How the source of an event begins whose code and component are words of whoever sent it, or of a check."""

_LAST = re.compile(
    r"logged (?:once|(\d{1,9}) times), last at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (UTC|[+-]\d\d:?\d\d)"
)


class Seen(NamedTuple):
    """A finding of a check on a node, when its results first told of it in a time: `at`.

    `before` is when the same check had answered without it last, None where no such answer is known. It `stood`
    where the answer before that time had it already.
    """

    node: str
    check: str
    code: str
    component: str
    message: str
    remedy: Remedy
    at: float
    before: float | None = None
    stood: bool = False


class Booted(NamedTuple):
    """A node's kernel started at a moment by its own clock; `before` is when its one before was last heard of."""

    node: str
    at: float
    before: float


@dataclass(frozen=True, slots=True)
class Known:
    """What the store has of some nodes in a time, oldest first; `left_out` says in sentences what was too much."""

    since: float
    until: float
    nodes: tuple[Node, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    seen: tuple[Seen, ...] = ()
    booted: tuple[Booted, ...] = ()
    moves: tuple[Entry, ...] = ()
    conditions: tuple[Entry, ...] = ()
    runs: tuple[Run, ...] = ()
    flashes: tuple[Flash, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    tickets: tuple[Ticket, ...] = ()
    left_out: tuple[str, ...] = ()


class Done(NamedTuple):
    """What was done about a node, in a sentence of our own words; what people or logs said of it stands in `line`."""

    node: str
    at: float
    sentence: str
    line: str = ""


def events(known: Known) -> tuple[Event, ...]:
    """Return what happened, oldest first; what a sweep found is left out where a signal tells of the same."""
    told = [event for alarm in known.alarms for event in _of_alarm(alarm, known)]
    there: dict[tuple[str, str, str], list[float]] = {}
    for event in told:
        there.setdefault((event.node, event.code, event.component), []).append(event.at or 0.0)
    told += [event for seen in known.seen if not _is_told(event := _of_seen(seen, known), there)]
    told += [_of_boot(booted, known.runs) for booted in known.booted]
    told += [_of_move(move) for move in known.moves]
    told += [_context(entry.at, "node.condition", entry.node, "a condition of it changed", entry.sentence)
             for entry in known.conditions]  # fmt: skip
    told += [_of_run(run) for run in known.runs if run.stage in OURS]
    told += [event for flash in known.flashes for event in _of_flash(flash)]
    late = [_late(event, known.until) for event in told]
    return tuple(sorted(late, key=lambda event: (event.at or 0.0, event.node, event.code)))


def done(known: Known) -> tuple[Done, ...]:
    """Return what was done about nodes, oldest first, and which of them are out."""
    found = [*_tried(known.attempts), *_ticketed(known.tickets, {node.name for node in known.nodes})]
    for node in known.nodes:
        if node.state not in SERVING:
            said = f"{node.name} is out of production: {_meant(node)}"
            found.append(Done(node.name, node.since, said))
    return tuple(sorted(found))


def _of_alarm(alarm: Alarm, known: Known) -> Iterator[Event]:
    """Yield when it began, and when it happened last where that is a moment of its own.

    What stood before the job began is CONTEXT, and so is what nobody proved to have said.
    """
    mine = kind(alarm.code)
    role = mine.of(alarm.remedy) if alarm.authenticated and not _came_back(alarm) else Role.CONTEXT
    unproven = "" if alarm.authenticated else f" ({UNPROVEN})"
    whole = Event(
        alarm.first_at, mine.area, role, alarm.code, f"{_part(alarm.component)}{meaning(alarm.code)}{unproven}",
        node=alarm.node, component=alarm.component, line=alarm.message, source=f"{SIGNAL}{alarm.source.value}",
        blur=ALERTED if alarm.source is Source.ALERT else 1.0,
    )  # fmt: skip
    yield whole if alarm.first_at >= known.since else replace(whole, role=Role.CONTEXT)
    if alarm.last_at > alarm.first_at and alarm.last_at >= known.since and alarm.source in MOMENTS:
        yield replace(whole, at=alarm.last_at, message=f"{whole.message}, the last of {alarm.count} times")


def _came_back(alarm: Alarm) -> bool:
    """Whether a link was up again before a job would feel it, and nothing more than a look follows."""
    short = alarm.cleared_at is not None and alarm.cleared_at - alarm.first_at <= SURVIVED
    return short and alarm.code in LINKS and alarm.remedy in {Remedy.RECORD, Remedy.WATCH}


def _of_seen(seen: Seen, known: Known) -> Event:
    """Return a finding as it came to be: by its log's own time where it tells one, else between two looks."""
    mine = kind(seen.code)
    earliest = seen.before if seen.before is not None else known.since
    whole = Event(
        seen.at, mine.area, mine.of(seen.remedy), seen.code, f"{_part(seen.component)}{meaning(seen.code)}",
        node=seen.node, component=seen.component, line=seen.message, source=f"{CHECK}{seen.check}",
        blur=max(1.0, seen.at - earliest),
    )  # fmt: skip
    last = _LAST.search(seen.message)
    at = None if last is None else _moment(last)
    if last is not None and at is not None and at <= seen.at + AFTER:
        several = last[1] is not None and not seen.stood
        blur = max(DRIFT, at - earliest if several else 0.0)
        whole = replace(whole, at=at, blur=blur, role=whole.role if at >= known.since - DRIFT else Role.CONTEXT)
    elif seen.stood:
        whole = replace(whole, role=Role.CONTEXT)
    return whole


def _moment(last: re.Match[str]) -> float | None:
    _, day, clock, zone = last.groups()
    try:
        return datetime.fromisoformat(f"{day}T{clock}{'+00:00' if zone == 'UTC' else zone}").timestamp()
    except ValueError:
        return None


def _is_told(event: Event, there: Mapping[tuple[str, str, str], Sequence[float]]) -> bool:
    at = event.at or 0.0
    mine = there.get((event.node, event.code, event.component), ())
    return any(at - event.blur - AFTER <= each <= at + AFTER for each in mine)


def _of_boot(booted: Booted, runs: Iterable[Run]) -> Event:
    """Return a boot; one that a run of ours brought about is no cause."""
    mine = kind("node.rebooted")
    ours = any(
        run.node == booted.node and run.stage in BOOTS and run.opened_at - AFTER <= booted.at
        and (run.ended_at is None or booted.at <= run.ended_at + AFTER)
        for run in runs
    )  # fmt: skip
    return Event(
        booted.at, mine.area, Role.SYMPTOM if ours else mine.role, "node.rebooted",
        "it booted, as a run of ours had it do" if ours else meaning("node.rebooted"),
        node=booted.node, component="kernel", source="uptime", blur=min(POST, max(1.0, booted.at - booted.before)),
    )  # fmt: skip


def _of_move(move: Entry) -> Event:
    """Return that a node left production, and who took it; other moves are only shown."""
    where = "" if move.to is None else f": {STATES[move.to].meaning.removesuffix('.').lower()}"
    if move.state in SERVING and move.to not in SERVING:
        person = move.by not in MACHINES
        said = "a person took it out of production" if person else "it left production"
        role, area = (Role.CAUSE, Area.UNKNOWN) if person else (Role.SYMPTOM, Area.HARDWARE)
        return Event(
            move.at, area, role, "node.left", said + where, node=move.node, line=move.sentence, source="the journal"
        )
    return _context(move.at, "node.moved", move.node, f"it moved on{where}", move.sentence)


def _of_run(run: Run) -> Event:
    role = Role.CONTEXT if run.stage is Stage.DRAIN else Role.SYMPTOM
    said = f"the stage {run.stage.value} was run on it"
    return Event(
        run.opened_at, Area.HARDWARE, role, OURS[run.stage], said, node=run.node, line=run.reason, source="the runner"
    )  # fmt: skip


def _of_flash(flash: Flash) -> Iterator[Event]:
    said = f"firmware of {flash.component} was"
    if flash.sent_at is not None:
        yield _context(flash.sent_at, "firmware.sent", flash.node, f"{said} sent to it", "")
    if flash.activated_at is not None:
        yield _context(flash.activated_at, "firmware.activated", flash.node, f"{said} activated", "")


def _context(at: float, code: str, node: str, message: str, line: str) -> Event:
    return Event(at, Area.HARDWARE, Role.CONTEXT, code, message, node=node, line=line, source="the journal")


def _late(event: Event, until: float) -> Event:
    """What happened after the job's end did not end it, however long it may have gone unseen."""
    return replace(event, role=Role.CONTEXT) if (event.at or 0.0) - event.blur > until + AFTER else event


def _part(component: str) -> str:
    return f"{component}: " if component else ""


def _tried(attempts: Iterable[Attempt]) -> Iterator[Done]:
    for each in attempts:
        came = {True: "it helped", False: "it did not help", None: "what came of it is not known"}[each.helped]
        came = "it goes on" if each.ended_at is None else came
        yield Done(each.node, each.at, f"{each.remedy.value} was tried on {each.node}: {came}", each.because)


def _ticketed(tickets: Iterable[Ticket], names: frozenset[str] | set[str]) -> Iterator[Done]:
    for each in tickets:
        how = "is open" if each.closed_at is None else "is closed"
        for node in each.nodes:
            if node in names:
                yield Done(node, each.opened_at, f"ticket {each.id} of {node} {how} ({each.remedy})", each.title)


def _meant(node: Node) -> str:
    return STATES[node.state].meaning.removesuffix(".").lower()
