"""What stands of a node, in the words of `status`."""

from collections.abc import Iterable
from dataclasses import replace

from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.reconcile.faults.remedies import named

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
    names = ", ".join(named(alarm) for alarm in alarms[:FEW])
    more = f" and {len(alarms) - FEW} more" if len(alarms) > FEW else ""
    word = "alarm" if len(alarms) == 1 else "alarms"
    return replace(node, waiting="; ".join(filter(None, (node.waiting, f"{word} {names}{more}"))))
