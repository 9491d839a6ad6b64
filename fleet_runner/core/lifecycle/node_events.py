"""What is announced of a Kubernetes node as Events: where it moved, what was newly found on it, its tickets.

An Event has the name of what it tells, and carries the number of the newest occurrence that was told. So whoever
tells it again, after a restart or beside another runner, finds it told.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from fleet_runner.core.base.plural import counted
from fleet_runner.core.checks.verdicts import Finding, Verdict
from fleet_runner.core.lifecycle.node_conditions import LOOKED_AT, OUT, camel, meaning, utc
from fleet_runner.core.lifecycle.runs import RUNNER, Entry, Node, Stored, Ticket
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition

WINDOW = 1800.0
"""Seconds for which something is worth an Event. Shorter than the hour that an API server keeps Events by default
(`--event-ttl`): what was told is still there to be found, or is too old to be told again."""

NOTICE = 900.0
"""Seconds before work is ended at a drain's deadline from which on that is told: jobs may write a checkpoint."""

NOTE = 1000
"""Characters of a note at most; the API server takes 1,024 bytes, and these are ASCII."""

NORMAL, WARNING = "Normal", "Warning"

WORK_ENDS = "WorkEndsSoon"
"""The reason of what is told at a time of its own, and not when its node changes."""


class NodeEvent(NamedTuple):
    """One thing to be told of a node. `about` names it, `occurrence` grows each time that it happens again."""

    node: str
    about: str
    occurrence: int
    at: float
    type: str
    reason: str
    action: str
    note: str


def events(
    node: Node, moves: Iterable[Entry], found: Sequence[tuple[Stored, Stored | None]], tickets: Iterable[Ticket]
) -> tuple[NodeEvent, ...]:
    """Return what is to be told of a node, oldest first; what is older than `WINDOW` is `fresh`'s to leave out.

    `found` are the newest results of its checks, each with the one before it.
    """
    open_tickets = sorted(tickets, key=lambda each: each.id)
    numbers = {each.fault: each.id for each in open_tickets}
    faults = {each.fault: each for stored, _ in found for each in stored.result.findings}
    told = [*_moved(node, moves), *_pending(node)]
    for stored, before in found:
        told.extend(_newly_found(node, stored, before, numbers))
    told.extend(_ticket(node, each, faults.get(each.fault)) for each in open_tickets)
    return tuple(sorted(told, key=lambda each: (each.at, each.about)))


def fresh(told: Iterable[NodeEvent], now: float) -> tuple[NodeEvent, ...]:
    """Return the events that are worth telling at a moment."""
    return tuple(each for each in told if now - WINDOW < each.at <= now)


def _moved(node: Node, moves: Iterable[Entry]) -> Iterable[NodeEvent]:
    """Yield the transitions, in the words of the table: a history's own sentence may name other nodes."""
    for entry in moves:
        row = TRANSITIONS.get((entry.state, entry.event)) if entry.state and entry.event else None
        if row is not None:
            kind = WARNING if row.to in OUT else NORMAL
            about = f"moved {row.state} {row.event}"
            told = (kind, camel(row.to), camel(row.event), row.sentence)
            yield NodeEvent(node.name, about, entry.id, entry.at, *told)


def _pending(node: Node) -> Iterable[NodeEvent]:
    held = node.conditions.get(Condition.PENDING)
    if held is not None:
        remedy = held.detail or "a remedy"
        note = _note(f"{remedy} follows once the node's work has ended.")
        yield NodeEvent(
            node.name, f"pending {remedy}", int(held.since), held.since, WARNING, "RemedyPending", "Drain", note
        )


def work_ends(node: Node, deadline: float | None) -> tuple[NodeEvent, ...]:
    """Return the word that a node's work is to be ended: its remedy waits that many seconds, None: for ever."""
    held = node.conditions.get(Condition.PENDING)
    if held is None or held.by != RUNNER or deadline is None:
        return ()
    remedy, ends = held.detail or "a remedy", held.since + deadline
    note = _note(
        f"From {utc(ends)} on {remedy} waits for work no longer: its pods are evicted then, with their grace period,"
        " but for those that are never to be interrupted. Write checkpoints before."
    )
    at = max(held.since, ends - NOTICE)
    about = f"work ends {remedy}"
    return (NodeEvent(node.name, about, int(held.since), at, WARNING, WORK_ENDS, "Drain", note),)


def _newly_found(
    node: Node, stored: Stored, before: Stored | None, numbers: Mapping[str, int]
) -> Iterable[NodeEvent]:
    """Yield one event for each code whose faults the result before did not have."""
    if stored.result.verdict is not Verdict.FAIL:
        return
    known = {each.fault for each in before.result.findings} if before is not None else set[str]()
    by_code: dict[str, list[Finding]] = {}
    for finding in stored.result.findings:
        if finding.fault not in known and finding.remedy not in LOOKED_AT:
            by_code.setdefault(finding.code, []).append(finding)
    for code, findings in sorted(by_code.items()):
        faults = sorted({numbers[each.fault] for each in findings if each.fault in numbers})
        more = f"; {counted(len(findings) - 1, 'more part')}" if len(findings) > 1 else ""
        number = f"; ticket {faults[0]}" if faults else ""
        note = _note(f"{meaning(findings[0])}{more}{number}")
        about = f"found {stored.result.check} {code}"
        yield NodeEvent(node.name, about, stored.id, stored.at, WARNING, camel(code)[:120], "Check", note)


def _ticket(node: Node, ticket: Ticket, finding: Finding | None) -> NodeEvent:
    """Return the opening of a ticket; its own title may name other nodes."""
    why = f": {meaning(finding)}" if finding is not None else ""
    note = _note(f"Ticket {ticket.id} was opened{why}")
    return NodeEvent(
        node.name, f"ticket {ticket.id}", ticket.id, ticket.opened_at, WARNING, "TicketOpened", "Ticket", note
    )


def _note(text: str) -> str:
    return " ".join(text.encode("ascii", "replace").decode().split())[:NOTE]


def object_name(there: str, about: str) -> str:
    """Return the name of an Event's object, from what the cluster calls the node and what the event is about."""
    digest = sha256(f"{there}\n{about}".encode()).hexdigest()
    return f"{there[:200].rstrip('.-')}.{digest[:16]}"


@dataclass(frozen=True, slots=True)
class Rate:
    """How many events may be told at once, and how many a second after that."""

    burst: float
    per_second: float


PER_NODE = Rate(10, 1 / 60)
PER_CLUSTER = Rate(100, 2.0)
"""Kubernetes' own recorders keep to 25 and one per five minutes for each source and object (client-go's
EventSourceObjectSpamFilter); a node of ours tells less at once, and the rest within the half hour."""


@dataclass(slots=True)
class Allowance:
    """What is left of a rate, by node and for all of them; time is given, and never goes back."""

    per_node: Rate = PER_NODE
    per_cluster: Rate = PER_CLUSTER
    _left: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])

    def take(self, node: str, now: float) -> bool:
        """Take one event of a node, where both it and the cluster have one left."""
        mine, every = self._has(node, self.per_node, now), self._has("", self.per_cluster, now)
        if min(mine, every) < 1:
            return False
        self._left[node], self._left[""] = (mine - 1, now), (every - 1, now)
        return True

    def forget(self, now: float) -> None:
        """Forget the nodes whose rate is whole again."""
        whole = [name for name in self._left if name and self._has(name, self.per_node, now) >= self.per_node.burst]
        for name in whole:
            del self._left[name]

    def _has(self, name: str, rate: Rate, now: float) -> float:
        left, at = self._left.get(name, (rate.burst, -math.inf))
        return min(rate.burst, left + max(0.0, now - at) * rate.per_second)
