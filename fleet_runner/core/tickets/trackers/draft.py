"""What a tracker is told of a ticket: one draft, rendered by each tracker in its own markup."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.trackers.changes import Act, Change
from fleet_runner.core.tickets.trackers.links import Link, marker

OURS = "fleet-runner"
"""The label of every issue that was opened from here."""

OWN = ("remedy:", "type:", "site:", "rack:", "priority:")
"""How labels begin that are kept up to date; others, which people gave, stay."""

MOST_LABELS = 12
MOST_NOTES = 50
LABEL = 50
"""Characters of a label; GitHub allows no more."""

PRIORITIES: dict[Remedy, int] = {
    Remedy.RMA: 2,
    Remedy.TRIAGE: 2,
    Remedy.POWER_CYCLE: 2,
    Remedy.RECABLE: 3,
    Remedy.REFLASH: 3,
    Remedy.REBOOT: 3,
    Remedy.RESET: 3,
    Remedy.RESTART: 3,
}
"""From 1, the most urgent, to 4. A node that is out until hands come is more urgent than one that still works."""

_LABEL = re.compile(r"[^A-Za-z0-9_.:-]+")


@dataclass(frozen=True, slots=True)
class Draft:
    """A ticket as it should stand elsewhere. `text` is from nodes: hostile until it is made inert."""

    marker: str
    ticket: int
    fault: str
    title: str
    text: str
    priority: int
    labels: tuple[str, ...]
    nodes: tuple[str, ...]
    remedy: str
    opened_at: float
    open: bool
    because: str = ""

    @property
    def footer(self) -> str:
        """Return the lines that say where an issue comes from, and by which it is found again."""
        return f"fleet-runner ticket {self.ticket}, fault {self.fault}\n{self.marker}"

    @property
    def digest(self) -> str:
        """Return what changes with what an issue says, not with where its nodes stand or whether it is open."""
        said = f"{self.marker}\n{self.title}\n{self.text}"
        return sha256(said.encode("utf-8", "replace")).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class Update:
    """What brings an issue up to date: how it should stand, what is added to it, and whether its text is another.

    `newest` is the last line of the outbox that is told with it.
    """

    draft: Draft
    newest: int
    rewritten: bool
    note: str  # "" where there is nothing to add
    mark: str  # the line below a note by which it is known again


def draft(ticket: Ticket, link: Link, device_type: str, fleet: Fleet) -> Draft:
    """Return a ticket as it should stand elsewhere; `device_type` is that of the first node that has one."""
    nodes = f"Nodes and devices: {', '.join(ticket.nodes)}" if ticket.nodes else ""
    return Draft(
        marker=marker(ticket, link.serial),
        ticket=ticket.id,
        fault=ticket.fault,
        title=ticket.title,
        text="\n".join(filter(None, (ticket.body, nodes, f"Remedy: {ticket.remedy}"))),
        priority=priority(ticket.remedy),
        labels=labels(ticket, device_type, fleet),
        nodes=ticket.nodes,
        remedy=ticket.remedy,
        opened_at=ticket.opened_at,
        open=ticket.closed_at is None,
        because=ticket.closed_because,
    )


def priority(remedy: str) -> int:
    """Return how urgent a remedy is, from 1 to 4."""
    return next((level for known, level in PRIORITIES.items() if known == remedy), 4)


def labels(ticket: Ticket, device_type: str, fleet: Fleet) -> tuple[str, ...]:
    """Return the labels of an issue: ours, and by what people sort."""
    known = [fleet.devices[name] for name in ticket.nodes if name in fleet.devices]
    sorted_by = [
        ("remedy:", ticket.remedy),
        ("priority:", str(priority(ticket.remedy))),
        ("type:", device_type),
        *(("site:", device.site) for device in known),
        *(("rack:", device.rack or "") for device in known),
    ]
    found = [_label(f"{kind}{value}") for kind, value in sorted_by if value]
    return tuple(dict.fromkeys((OURS, *found)))[:MOST_LABELS]


def relabelled(found: Iterable[str], wanted: Iterable[str]) -> tuple[str, ...]:
    """Return an issue's labels with ours brought up to date, and those of people left as they are."""
    theirs = [label for label in found if label != OURS and not label.startswith(OWN)]
    return tuple(dict.fromkeys((*wanted, *theirs)))


def update(draft: Draft, link: Link, changes: Iterable[Change], said: int = 0) -> Update:
    """Return what a tracker has to be told so that an issue stands as the ticket does.

    `said` is the newest line that a note of an earlier try told already, where that is known.
    """
    lines = tuple(changes)
    newest = max((change.id for change in lines), default=link.told)
    notes = [told for change in lines if change.id > max(link.told, said) and (told := _note(change))]
    left_out = len(notes) - MOST_NOTES
    if left_out > 0:
        notes = [f"({left_out} notes before these are in fleet-runner alone)", *notes[left_out:]]
    return Update(draft, newest, draft.digest != link.digest, "\n".join(notes), mark(draft.marker, newest))


def opening(link: Link, changes: Iterable[Change]) -> int:
    """Return the newest line that an issue knows which is opened now: its text has all but what people noted."""
    fresh = [change for change in changes if change.id > link.told]
    noted = [change.id - 1 for change in fresh if change.act is Act.NOTED]
    return min(noted, default=max((change.id for change in fresh), default=link.told))


def mark(marker: str, change: int) -> str:
    """Return the line by which a note is known again."""
    return f"{marker} line {change}"


def newest_said(marker: str, notes: str) -> int:
    """Return the newest line of the outbox that some notes, in any markup, told; 0 if none of ours is among them."""
    found = re.finditer(rf"{re.escape(marker)} line ([0-9]{{1,18}})", notes)
    return max((int(each[1]) for each in found), default=0)


def carries(text: str, marker: str) -> bool:
    """Whether an issue's text names a ticket's issue, and not another one of the same ticket."""
    return re.search(rf"{re.escape(marker)}(?![\w-])", text) is not None


def _note(change: Change) -> str:
    """Return a line as a note, "" for one that is none."""
    begins = {Act.CHANGED: "", Act.REOPENED: "Found again, so it is open again: ", Act.CLOSED: "Closed: "}
    begins[Act.NOTED] = f"{change.by}: "
    return f"{begins[change.act]}{change.sentence}" if change.act in begins else ""


def _label(text: str) -> str:
    return _LABEL.sub("-", text)[:LABEL]
