"""What stands, what was tried and what comes next for a node, in the words of `status`, `node` and `explain`."""

import time
from collections.abc import Iterable
from dataclasses import replace

from fleet_runner.adapters import policy_file
from fleet_runner.adapters.store import Store
from fleet_runner.cli.session import age, stamp
from fleet_runner.core.errors import SettingsError
from fleet_runner.core.ladder import Attempt
from fleet_runner.core.needs import needed, waived
from fleet_runner.core.rules.rules import DEFAULT, Rules
from fleet_runner.core.runs import Node
from fleet_runner.core.signals.alarm import Alarm
from fleet_runner.core.view import View
from fleet_runner.settings import Settings

FEW = 2
"""Alarms that a node's line in `status` names; the rest is counted."""


def raised(alarms: Iterable[Alarm]) -> dict[str, list[Alarm]]:
    """Return the alarms that count, by node."""
    found: dict[str, list[Alarm]] = {}
    for alarm in alarms:
        if alarm.raised_at is not None:
            found.setdefault(alarm.node, []).append(alarm)
    return found


def alarmed(node: Node, alarms: list[Alarm]) -> Node:
    """Name a node's alarms in what it waits for: they may ask for nothing and be worth a look."""
    if not alarms:
        return node
    names = ", ".join(_name(alarm) for alarm in alarms[:FEW])
    more = f" and {len(alarms) - FEW} more" if len(alarms) > FEW else ""
    word = "alarm" if len(alarms) == 1 else "alarms"
    return replace(node, waiting="; ".join(filter(None, (node.waiting, f"{word} {names}{more}"))))


def told(alarm: Alarm, rules: Rules, node: Node, now: float) -> str:
    """Say what is known of an alarm, what follows from it, and which rule says so."""
    following = rules.of(node.device_type, alarm.code)
    source = rules.sayings(node.device_type, alarm.code).get("remedy")
    times = f"{alarm.count} {'time' if alarm.count == 1 else 'times'}, last {age(now - alarm.last_at)} ago"
    when = " at once" if following.at_once else ""
    who = f"; {source.source}" if source is not None else "; as its signal proposes"
    follows = f"{following.remedy or alarm.remedy}{when}{who}"
    state = follows if alarm.raised_at is not None else f"does not count yet: {following.repeats} are needed"
    return f"alarm {_name(alarm)}: {alarm.message} ({times}, told by {alarm.source}) → {state}"


def remedies(settings: Settings, store: Store, node: Node, now: float | None = None) -> list[str]:
    """Say what stands of a node, what was tried for it, and what it needs now by the rules and the ladder."""
    now = time.time() if now is None else now
    rules = _rules(settings)
    alarms = store.alarms(node.name)
    attempts = store.attempts(node.name, now - rules.remembered())
    view = View(node, None, latest=store.latest_results(node.name), alarms=alarms, attempts=attempts, rules=rules)
    need = needed(view, now, waived(view))
    lines = [told(alarm, rules, node, now) for alarm in alarms]
    lines += [_tried(attempt) for attempt in attempts]
    return lines + ([f"needed: {need.remedy}: {need.reason}"] if need is not None else [])


def alarm_lines(settings: Settings, store: Store, node: Node, now: float) -> list[str]:
    """Say what stands of a node."""
    rules = _rules(settings)
    return [told(alarm, rules, node, now) for alarm in store.alarms(node.name)]


def _rules(settings: Settings) -> Rules:
    """What is shown of a node must not fail because of the policy file: the built-in rules stand in for it."""
    try:
        return policy_file.rules(settings)
    except SettingsError:
        return DEFAULT


def _name(alarm: Alarm) -> str:
    return f"{alarm.code} of {alarm.component}" if alarm.component else alarm.code


def _tried(attempt: Attempt) -> str:
    if attempt.ended_at is None:
        came = "goes on"
    elif attempt.helped is None:
        came = f"nobody knows if it helped: {attempt.because}"
    else:
        came = "helped" if attempt.helped else f"did not help: {attempt.because}"
    return f"tried: {attempt.remedy} at {stamp(attempt.at)} by {attempt.by}, {came}"
