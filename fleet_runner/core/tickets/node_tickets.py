"""What a ticket says, and which open ones agree with what was last seen: opened, seen again, or proved done."""

from fleet_runner.core.cabling.fabrics import ETHERNET, INFINIBAND, NVLINK
from fleet_runner.core.checks.verdicts import Finding, Remedy, is_unasked
from fleet_runner.core.faults.confirmation import Worth, hides, overlooks, speaks, suspect, weigh
from fleet_runner.core.lifecycle.actions import CloseTicket, OpenTicket
from fleet_runner.core.lifecycle.runs import Stored, Ticket
from fleet_runner.core.lifecycle.states import FABRICS, Stage, State
from fleet_runner.core.lifecycle.view import View

EYES = {
    INFINIBAND: frozenset({"cabling_infiniband", "fabric_cabling"}),
    ETHERNET: frozenset({"cabling_ethernet", "fabric_ethernet"}),
    NVLINK: frozenset({"fabric_nvlink"}),
}
"""Checks that see the same faults under the same keys, by kind of fabric: what one opened, the other may close."""

BOOTING = frozenset({Stage.PROVISION, Stage.REBOOT})
"""Stages that boot a node: one that failed them is off, or not what it should be, until it has booted."""

CABLING = "cabling/"
"""How the keys of those faults begin."""

AFTER: dict[Remedy, str] = {
    Remedy.TRIAGE: "When it is repaired: fleet-runner repaired {node}, then certify it. The check that saw the "
    "fault closes this ticket when it passes.",
    Remedy.RMA: "When it is back: fleet-runner repaired {node}, then certify it. The check that saw the fault closes "
    "this ticket when it passes.",
}
BOOT = "When it is repaired: fleet-runner retry {node} boots it again. This ticket closes when it is up."
CERTIFY = "Then certify it: fleet-runner certify {node}. The next check closes this ticket."
WIPE = "Then wipe it again: fleet-runner wipe {node}. A wipe that no longer finds it closes this ticket."
LOOK = "A check that does not find it closes this ticket; to check now: fleet-runner run {stage} --node {node}."
"""What a technician types when the hands' work is done."""


def draft(view: View, stored: Stored, finding: Finding) -> OpenTicket:
    """Return the ticket for a finding."""
    steps = [f"{number}. {step}" for number, step in enumerate(finding.steps, start=1)]
    after = _after(view.node.state, stored, finding.remedy).format(node=stored.node, stage=stored.stage)
    body = "\n".join([f"{stored.node}, {view.place}.", finding.message, *steps, after])
    return OpenTicket(
        fault=finding.fault,
        check=stored.result.check,
        title=f"{stored.node}: {finding.message.removeprefix(f'{stored.node}: ')}"[:200],
        body=body,
        nodes=_named(view, finding),
        remedy=finding.remedy.value,
        at=stored.at,
    )


def eyes_of(check: str) -> frozenset[str]:
    """Return the checks that see the same faults as one does, with it."""
    return next((eye for eye in EYES.values() if check in eye), frozenset({check}))


def follow(view: View) -> tuple[OpenTicket | CloseTicket, ...]:
    """Return what must happen to tickets so that they agree with the newest result of each check.

    Only results since the node came to its state open one: an older fault was dealt with in an earlier state. A
    result that says nothing neither opens nor closes any; that nobody asks any more closes those of the node alone.
    """
    known = {ticket.fault: ticket for ticket in view.tickets}
    actions: list[OpenTicket | CloseTicket] = []
    for stored in view.latest:
        if is_unasked(stored.result):
            actions += [
                CloseTicket(ticket.id, _unasked(stored)) for ticket in view.tickets if _is_own(stored, ticket)
            ]
        if not speaks(stored.result):
            continue
        because = f"{stored.result.check} on {stored.node}: {stored.result.message}"
        actions += [CloseTicket(ticket.id, because) for ticket in view.tickets if _is_gone(stored, ticket)]
        actions += [
            draft(view, stored, finding)
            for finding, worth in weigh(view, stored)
            if worth is Worth.TICKET and _is_news(stored, known.get(finding.fault))
        ]
    return tuple(actions)


def _is_own(stored: Stored, ticket: Ticket) -> bool:
    """Whether a ticket is about what a check of this node alone saw: of others it is not known who asks."""
    return ticket.check == stored.result.check and set(ticket.nodes) == {stored.node} and _is_news(stored, ticket)


def _unasked(stored: Stored) -> str:
    return f"{stored.result.check} on {stored.node}: it is no longer checked: {stored.result.message}"


def _is_gone(stored: Stored, ticket: Ticket) -> bool:
    """Whether a result proves that a ticket's fault is gone: it looked there, and did not see it."""
    result = stored.result
    looked = ticket.check == result.check or (
        result.check in eyes_of(ticket.check) and ticket.fault.startswith(CABLING)
    )
    return (
        looked
        and suspect(result) is None
        and not any(finding.fault == ticket.fault for finding in result.findings)
        and _is_news(stored, ticket)
        and not hides(result, ticket.nodes)
        and not overlooks(result, ticket.fault)
    )


def _is_news(stored: Stored, ticket: Ticket | None) -> bool:
    return ticket is None or stored.at > ticket.last_seen_at


def _named(view: View, finding: Finding) -> tuple[str, ...]:
    """Return whom a ticket names: who can prove the fault gone, and every device that it touches."""
    whole = (view.node.name,) if view.node.state in FABRICS or not finding.nodes else ()
    return tuple(dict.fromkeys((*whole, *finding.nodes, *finding.devices)))


def _after(state: State, stored: Stored, remedy: Remedy) -> str:
    if stored.stage in BOOTING:
        return BOOT
    if stored.stage is Stage.WIPE:
        return WIPE
    if state in FABRICS or (state is State.PRODUCTION and remedy not in AFTER):
        return LOOK
    return AFTER.get(remedy, CERTIFY)
