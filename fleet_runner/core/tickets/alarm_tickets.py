"""Tickets of what signals tell: one a fault, as those of checks, and only for what a person must do."""

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.alarm_clearing import coverage
from fleet_runner.core.faults.confirmation import BEFORE_SERVICE, NEEDS_HANDS
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.actions import CloseTicket, OpenTicket
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.lifecycle.view import View
from fleet_runner.core.tickets.node_tickets import AFTER

SIGNALS = "signals"
"""What stands for the check of a ticket whose fault no check looks for: it closes with its alarm."""


def told(view: View) -> tuple[OpenTicket | CloseTicket, ...]:
    """Return what must happen to tickets so that they agree with the alarms of a node; unproven ones open none."""
    alarms = [alarm for alarm in view.alarms if alarm.authenticated]
    known = {ticket.fault: ticket for ticket in view.tickets}
    standing = {alarm.fault for alarm in alarms}
    opened = (_draft(view, alarm) for alarm in alarms if _is_wanted(view, alarm, known.get(alarm.fault)))
    over = (ticket for ticket in view.tickets if ticket.check == SIGNALS and ticket.fault not in standing)
    return (*opened, *(CloseTicket(ticket.id, "its alarm is over") for ticket in over))


def _is_wanted(view: View, alarm: Alarm, known: Ticket | None) -> bool:
    """Whether a person must do something about an alarm, of which its open ticket does not know yet."""
    hands = NEEDS_HANDS if view.node.management is Management.FULL else BEFORE_SERVICE - {Remedy.WATCH}
    counts = alarm.raised_at is not None and alarm.last_at >= view.node.since
    return counts and _remedy(view, alarm) in hands and (known is None or alarm.last_at > known.last_seen_at)


def _remedy(view: View, alarm: Alarm) -> Remedy:
    return view.rules.of(view.node.device_type, alarm.code).remedy or alarm.remedy


def _draft(view: View, alarm: Alarm) -> OpenTicket:
    node, remedy = view.node.name, _remedy(view, alarm)
    often = f"{alarm.count} {'time' if alarm.count == 1 else 'times'}"
    said = f"Reported by {alarm.source}, {often} so far ({alarm.code})."
    after = AFTER.get(remedy, "It closes when the alarm is no longer reported.").format(node=node)
    return OpenTicket(
        fault=alarm.fault,
        check=next(iter(coverage(alarm.code)), SIGNALS),
        title=f"{node}: {alarm.message.removeprefix(f'{node}: ')}"[:200],
        body=f"{node}, {view.place}.\n{alarm.message}\n{said}\n{after}",
        nodes=(node,),
        remedy=remedy.value,
        at=alarm.last_at,
    )
