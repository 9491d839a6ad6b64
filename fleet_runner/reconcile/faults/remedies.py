"""What stands, what was tried and what comes next for a node, a sentence each."""

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fleet_runner.core.base.durations import age
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.faults.signals.alarm import UNPROVEN, Alarm
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.settings import Settings

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store
    from fleet_runner.core.faults.escalation import Attempt
    from fleet_runner.core.faults.rules.rules import Rules


def told(alarm: Alarm, rules: "Rules", node: Node, now: float) -> str:
    """Say what is known of an alarm, what follows from it, and which rule says so."""
    following = rules.of(node.device_type, alarm.code)
    source = rules.sayings(node.device_type, alarm.code).get("remedy")
    times = f"{alarm.count} {'time' if alarm.count == 1 else 'times'}, last {age(now - alarm.last_at)} ago"
    when = " at once" if following.at_once else ""
    who = f"; {source.source}" if source is not None else "; as its signal proposes"
    follows = f"{following.remedy or alarm.remedy}{when}{who}"
    counts = follows if alarm.authenticated else UNPROVEN
    state = counts if alarm.raised_at is not None else f"does not count yet: {following.repeats} are needed"
    return f"alarm {named(alarm)}: {alarm.message} ({times}, reported by {alarm.source}) → {state}"


def remedies(settings: Settings, store: "Store", node: Node, now: float | None = None) -> list[str]:
    """Say what stands of a node, what was tried for it, and what it needs now by the rules and the ladder."""
    from fleet_runner.core.faults.needs import needed, waived  # noqa: PLC0415  `status` needs only the alarms' names
    from fleet_runner.core.lifecycle.view import View  # noqa: PLC0415  likewise

    now = time.time() if now is None else now
    rules = rules_in_use(settings)
    alarms = store.alarms(node.name)
    attempts = store.attempts(node.name, now - rules.remembered())
    view = View(node, None, latest=store.latest_results(node.name), alarms=alarms, attempts=attempts, rules=rules)
    need = needed(view, now, waived(view))
    lines = [told(alarm, rules, node, now) for alarm in alarms]
    lines += [_tried(attempt) for attempt in attempts]
    return lines + ([f"needed: {need.remedy}: {need.reason}"] if need is not None else [])


def alarm_lines(settings: Settings, store: "Store", node: Node, now: float) -> list[str]:
    """Say what stands of a node."""
    alarms = store.alarms(node.name)
    if not alarms:
        return []
    rules = rules_in_use(settings)
    return [told(alarm, rules, node, now) for alarm in alarms]


def rules_in_use(settings: Settings) -> "Rules":
    """What is shown of a node must not fail because of the policy file: the built-in rules stand in for it."""
    from fleet_runner.adapters.files import policy  # noqa: PLC0415  likewise
    from fleet_runner.core.faults.rules.rules import DEFAULT  # noqa: PLC0415  likewise

    try:
        return policy.rules(settings)
    except SettingsError:
        return DEFAULT


def named(alarm: Alarm) -> str:
    """Return an alarm in a word or two: what it is, and of what."""
    return f"{alarm.code} of {alarm.component}" if alarm.component else alarm.code


def _tried(attempt: "Attempt") -> str:
    if attempt.ended_at is None:
        came = "goes on"
    elif attempt.helped is None:
        came = f"result unknown: {attempt.because}"
    else:
        came = "helped" if attempt.helped else f"did not help: {attempt.because}"
    return f"tried: {attempt.remedy} at {_stamp(attempt.at)} by {attempt.by}, {came}"


def _stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
