"""Which findings need a person's hands, and what their ticket says; when a ticket is proved done."""

from collections.abc import Iterable

from fleet_runner.core.actions import CloseTicket, OpenTicket
from fleet_runner.core.runs import Stored, Ticket
from fleet_runner.core.verdicts import Finding, Remedy, Verdict

NEEDS_HANDS = frozenset({Remedy.RECABLE, Remedy.REFLASH, Remedy.TRIAGE, Remedy.RMA})
"""Remedies that a person carries out, whatever state the node is in."""

BEFORE_SERVICE = frozenset(Remedy) - {Remedy.RECORD}
"""Remedies that need a person while a node earns production: nothing less than a pass lets it go on."""

AFTER: dict[Remedy, str] = {
    Remedy.TRIAGE: "When it is whole again: fleet-runner repaired {node}, then certify it. The check that saw the "
    "fault closes this ticket when it passes.",
    Remedy.RMA: "When it is back: fleet-runner repaired {node}, then certify it. The check that saw the fault closes "
    "this ticket when it passes.",
}
CERTIFY = "Then certify it: fleet-runner certify {node}. The next check closes this ticket."
"""What a technician types when the hands' work is done."""


def draft(stored: Stored, finding: Finding, place: str) -> OpenTicket:
    """Return the ticket for a finding; `place` says where the node stands."""
    steps = [f"{number}. {step}" for number, step in enumerate(finding.steps, start=1)]
    after = AFTER.get(finding.remedy, CERTIFY).format(node=stored.node)
    body = "\n".join([f"{stored.node}, {place}.", finding.message, *steps, after])
    return OpenTicket(
        fault=finding.fault,
        check=stored.result.check,
        title=f"{stored.node}: {finding.message}"[:200],
        body=body,
        nodes=finding.nodes or (stored.node,),
        remedy=finding.remedy.value,
    )


def follow(
    latest: Iterable[Stored],
    tickets: Iterable[Ticket],
    *,
    since: float,
    place: str,
    hands: frozenset[Remedy] = NEEDS_HANDS,
) -> tuple[OpenTicket | CloseTicket, ...]:
    """Return what must happen to tickets so that they agree with the newest result of each check.

    Only results from `since` on open one: an older fault was dealt with in an earlier state. A result that is
    UNKNOWN neither opens nor closes anything. `hands` are the remedies that become tickets.
    """
    known = {ticket.fault: ticket for ticket in tickets}
    actions: list[OpenTicket | CloseTicket] = []
    for stored in latest:
        if stored.result.verdict is Verdict.UNKNOWN:
            continue
        seen = {finding.fault for finding in stored.result.findings}
        actions += [
            CloseTicket(ticket.id, f"{stored.result.check} on {stored.node}: {stored.result.message}")
            for ticket in known.values()
            if ticket.check == stored.result.check and ticket.fault not in seen and stored.at > ticket.last_seen_at
        ]
        actions += [
            draft(stored, finding, place)
            for finding in stored.result.findings
            if finding.remedy in hands and stored.at >= since and _is_news(stored, known.get(finding.fault))
        ]
    return tuple(actions)


def _is_news(stored: Stored, ticket: Ticket | None) -> bool:
    return ticket is None or stored.at > ticket.last_seen_at
