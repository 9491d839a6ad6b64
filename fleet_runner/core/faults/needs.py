"""What a serving node needs: findings of checks and alarms, weighed by the same rules, become one remedy at most."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fleet_runner.core.checks.verdicts import Finding, Remedy, Verdict
from fleet_runner.core.faults.escalation import climb
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.xid import OF_APPLICATIONS
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.states import MINUTE, Condition, Event
from fleet_runner.core.lifecycle.view import View
from fleet_runner.core.nvlink import common_cause

EVENTS: dict[Remedy, Event] = {
    Remedy.RESTART: Event.RESET_NEEDED,
    Remedy.RESET: Event.RESET_NEEDED,
    Remedy.REBOOT: Event.REBOOT_NEEDED,
    Remedy.POWER_CYCLE: Event.REBOOT_NEEDED,
    Remedy.TRIAGE: Event.TRIAGE_NEEDED,
    Remedy.RMA: Event.TRIAGE_NEEDED,  # a person confirms before a part goes back
}
"""Remedies that take a node out of service, and the event each becomes. The others only leave a record or ticket."""

CARRIED_OUT: dict[Remedy, Event] = {**EVENTS, Remedy.REFLASH: Event.FIRMWARE_NEEDED}
"""What a pending remedy becomes once the node is idle. Drift calls for no reflash; a person or a rollout asks."""

TOGETHER = 10 * MINUTE
"""How near to each other GPUs fail in one crash; our judgement."""

AT_ONCE = 2 * MINUTE
"""How near to each other nodes fail as one job on all of them crashes; our judgement."""

MANY = 2
"""Other nodes that fail alike, so that it is their job and no coincidence."""

ORDER = tuple(Remedy)
"""From the mildest to the hardest, as Remedy lists them."""


@dataclass(frozen=True, slots=True)
class Call:
    """A fault that calls for a remedy; `result` is the id of the result that saw it, None where signals told."""

    fault: str
    remedy: Remedy
    at_once: bool
    message: str
    result: int | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """The hardest remedy that a node's faults call for, what was tried before it considered.

    `at_once` does not wait for an idle node where all of its work is lost: a fault that calls for this very remedy
    has ended work. One that is content with a milder remedy ends no work for a harder one. `reason` says of the fault
    behind it, and of what was tried; `results` are those that saw the faults.
    """

    remedy: Remedy
    at_once: bool
    faults: tuple[str, ...]
    reason: str
    results: tuple[int, ...] = ()


def ruled(rules: Rules, device_type: str, finding: Finding) -> Finding:
    """Return a finding with the remedy that the rules name for what is seen."""
    remedy = rules.seen(device_type, finding.code).remedy
    return finding if remedy is None else replace(finding, remedy=remedy)


def needed(view: View, now: float, without: frozenset[str] = frozenset()) -> Need | None:
    """Return what a node needs now, None where nothing moves it; from the faults `without` nothing follows."""
    found = [call for call in calls(view) if call.fault not in without]
    rungs = [(call, climb(call.remedy, {call.fault}, view.attempts, view.rules, now)) for call in found]
    if not rungs:
        return None
    call, rung = max(rungs, key=lambda each: ORDER.index(each[1].remedy))
    remedy = _done(rung.remedy)
    return Need(
        remedy=remedy,
        at_once=any(each.at_once and _done(its.remedy) is remedy for each, its in rungs),
        faults=tuple(dict.fromkeys(each.fault for each in found)),
        reason=f"{call.message} {rung.sentence}".rstrip(),
        results=tuple(sorted({each.result for each in found if each.result is not None})),
    )


def _done(remedy: Remedy) -> Remedy:
    """Return what the runner does for a remedy: a part is sent back by a person, who looks at it first."""
    return Remedy.TRIAGE if EVENTS[remedy] is Event.TRIAGE_NEEDED else remedy


def calls(view: View) -> tuple[Call, ...]:
    """Return the faults that take a node out of service: seen, or told of by alarms, since it came to its state.

    What has no answer calls for nothing, whatever it says beside that; nor does an alarm without authentication: the
    node is asked first (see `unproven`), and what its checks find calls.
    """
    return tuple(call for call in (*_seen(view), *_raised(view)) if call.remedy in EVENTS)


def faults(view: View) -> frozenset[str]:
    """Return every fault that is seen, or told of by who proved to be its sender, whatever follows from it."""
    seen = {finding.fault for stored in view.latest for finding in stored.result.findings}
    return frozenset(seen | {alarm.fault for alarm in view.alarms if alarm.authenticated})


def waived(view: View) -> frozenset[str]:
    """Return the keys of the faults from which a person said that nothing follows."""
    held = view.node.conditions.get(Condition.WAIVED)
    return frozenset(held.detail.splitlines()) if held else frozenset()


def _seen(view: View) -> Iterable[Call]:
    for stored in view.latest:
        if stored.at >= view.node.since and stored.result.verdict in {Verdict.PASS, Verdict.FAIL}:
            yield from (_call(view, stored, finding) for finding in stored.result.findings)


def _call(view: View, stored: Stored, finding: Finding) -> Call:
    following = view.rules.seen(view.node.device_type, finding.code)
    remedy = following.remedy or finding.remedy
    if view.domain_fault and finding.code in common_cause.CODES:
        remedy = Remedy.RECORD  # nothing done to the tray brings its links back
    return Call(finding.fault, remedy, following.at_once, finding.message, stored.id)


def _raised(view: View) -> Iterable[Call]:
    for alarm in view.alarms:
        if alarm.authenticated and alarm.raised_at is not None and alarm.last_at >= view.node.since:
            call = _of_alarm(alarm, view.rules.of(view.node.device_type, alarm.code))
            own = call.remedy is Remedy.TRIAGE and _of_application(alarm, view)
            yield replace(call, remedy=Remedy.RECORD) if own else call


def _of_application(alarm: Alarm, view: View) -> bool:
    """Whether other GPUs failed in the same way at the same time: then the work is to blame, not a GPU.

    One other GPU of the node is enough; of one job on many nodes, GPUs of MANY others. One GPU that fails alone,
    again and again, stays suspect.
    """
    if alarm.code not in OF_APPLICATIONS:
        return False
    here = any(each.component != alarm.component for each in _with(alarm, view.alarms, TOGETHER))
    return here or len({each.node for each in _with(alarm, view.alike, AT_ONCE)} - {alarm.node}) >= MANY


def _with(alarm: Alarm, others: Iterable[Alarm], seconds: float) -> list[Alarm]:
    """Return authenticated alarms with the same code that happened within so many seconds."""
    return [
        each
        for each in others
        if each.code == alarm.code and each.authenticated and abs(each.last_at - alarm.last_at) <= seconds
    ]


def _of_alarm(alarm: Alarm, following: Following) -> Call:
    """The rules of today count: they may have changed since the alarm was raised."""
    return Call(alarm.fault, following.remedy or alarm.remedy, following.at_once, alarm.message)
