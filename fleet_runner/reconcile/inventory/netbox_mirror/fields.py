"""The state of nodes in the fields of their pages in NetBox: written where it differs, never over somebody else's.

Nothing is queued: what differs is found again, however long NetBox was away. What was sent is noted first, so that a
value whose answer was lost is known for ours when it is found.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import structlog

from fleet_runner.adapters.netbox import node_fields
from fleet_runner.adapters.netbox.client import Client, NetBoxBusyError, RefusedError
from fleet_runner.adapters.netbox.node_fields import CHUNK, Page
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.netbox.mirror import fields
from fleet_runner.core.inventory.netbox.mirror.standing import Written
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.tickets.trackers.backoff import pause
from fleet_runner.reconcile.inventory.netbox_mirror.writer import LEASE, TRIES, Mirror

log = structlog.get_logger()

LOOK = 3600.0
"""Seconds after which a node's fields are compared again, though nobody moved it."""

AGAIN = 300.0
"""Seconds until a field that somebody else wrote is looked at again."""

Pair = tuple[Written, Page]


@dataclass(frozen=True, slots=True)
class Found:
    """What a look at some pages showed: what is due, what is as it should be, what is in the way, what is lost."""

    due: tuple[Pair, ...]
    same: tuple[Written, ...]
    conflicts: tuple[tuple[Written, str], ...]
    lost: tuple[tuple[Written, str], ...]


@dataclass(slots=True)
class FieldsMirror(Mirror):
    """What writes nodes' states."""

    name: ClassVar[str] = "netbox fields"
    of: ClassVar[str] = "states"
    over: frozenset[str] = frozenset()
    """Nodes in whose fields what somebody else wrote is written over, on a person's word."""

    anew: float = 0.0
    """A moment: what was compared before it is compared again."""

    def waits(self) -> bool:
        """Whether a node moved, or it is time to look at some again."""
        return bool(self._due())

    def tell(self, client: Client) -> int:
        """Write what differs; return of how many nodes."""
        told = 0
        for chunk in _chunks(self._due()):
            if not self.keep():
                break
            told += self._some(client, chunk)
        return told

    def look(self, client: Client) -> Iterator[Found]:
        """Compare the fields of all nodes, and change nothing."""
        for chunk in _chunks(self.store.mirrored_fields(self.url)):
            yield found(client, chunk)

    def _due(self) -> list[Written]:
        now = self.now()
        before = max(now - LOOK, self.anew)
        unwritten = self.store.unwritten_fields(self.url, before)
        return [each for each in unwritten if each.due_at <= now and self.may(each.node)]

    def _some(self, client: Client, chunk: Sequence[Written]) -> int:
        """Write one request's nodes, reading them right before; one that hinders the others is singled out."""
        for left in reversed(range(TRIES)):
            seen = found(client, chunk, self.over)
            self._note(seen)
            try:
                return self._write(client, seen.due)
            except NetBoxBusyError as error:
                if not left and len(chunk) == 1:
                    self._failed(chunk[0], str(error))
                    raise
                again = self.store.mirrored_fields(self.url, {each.node for each in chunk})
                chunk = sorted(again, key=lambda each: each.tries)
        half = len(chunk) // 2
        return self._some(client, chunk[:half]) + self._some(client, chunk[half:])

    def _note(self, seen: Found) -> None:
        now = self.now()
        if seen.same:
            self.store.fields_written(self.name, self.url, seen.same, now)
        for each, conflict in seen.conflicts:
            if self.store.fields_conflict(self.url, each, conflict, (now, now + AGAIN)):
                log.warning(
                    "a field in NetBox belongs to somebody else and is not changed", node=each.node, found=conflict
                )
        for each, why in seen.lost:
            self.store.fields_not_written(self.url, each, why, now + pause(each.tries + 1))

    def _write(self, client: Client, due: Sequence[Pair]) -> int:
        if not due:
            return 0
        given = [each for each, _ in due]
        self.store.begin_fields(self.name, self.holder, (self.now(), LEASE), self.url, given)
        try:
            answer = node_fields.set_fields(client, [(page, fields.fields(each.wanted)) for each, page in due])
        except RefusedError as error:
            if len(due) == 1:
                self._failed(given[0], str(error))
                return 0
            half = len(due) // 2  # all or none: the others are written without the one that is wrong
            return self._write(client, due[:half]) + self._write(client, due[half:])
        done: list[Written] = []
        for each, page in due:
            now = answer.get(page.id)
            if now is None:
                text = "not in NetBox's answer to the change: deleted meanwhile, or the token may not change it"
                self._failed(each, f"{text}; give the token's user dcim.change_device")
            elif fields.judge(now, each.wanted, ()).due or fields.judge(now, each.wanted, ()).conflict:
                self._failed(each, "NetBox accepted the change and did not make it; check its log")
            else:
                done.append(each)
        self.store.fields_written(self.name, self.url, done, self.now())
        return len(done)

    def _failed(self, each: Written, why: str) -> None:
        self.store.fields_not_written(self.url, each, why, self.now() + pause(each.tries + 1))


def found(client: Client, chunk: Sequence[Written], over: Container[str] = ()) -> Found:
    """Look at the pages of some nodes; those of `over` hold nothing that is in the way.

    Raises SourceError where NetBox lacks the fields.
    """
    rows = node_fields.devices(client, [each.node for each in chunk])
    due: list[Pair] = []
    same: list[Written] = []
    conflicts: list[tuple[Written, str]] = []
    lost: list[tuple[Written, str]] = []
    for each in chunk:
        if not rows[each.node] and each.wanted.state == State.RETIRED:
            same.append(each)  # a page that is gone has nothing to say
            continue
        if len(rows[each.node]) != 1:
            lost.append((each, absent(each.node, len(rows[each.node]))))
            continue
        [page] = rows[each.node]
        if names := fields.missing(page.fields):
            text = f"{client.url}: devices have no custom field {', '.join(names)}"
            raise SourceError(f"{text}; run fleet-runner netbox init")
        judged = fields.judge(page.fields, each.wanted, each.ours)
        if judged.conflict and each.node not in over:
            conflicts.append((each, judged.conflict))
        elif judged.due or judged.conflict:
            due.append((each, page))
        else:
            same.append(each)
    return Found(tuple(due), tuple(same), tuple(conflicts), tuple(lost))


def absent(node: str, count: int) -> str:
    """Say that a name leads to no page, or to several."""
    if count:
        return f"NetBox has {count} devices {node}; give each a name of its own"
    return f"NetBox has no device {node} that this token may see: deleted or renamed there"


def _chunks(given: Sequence[Written]) -> Iterator[Sequence[Written]]:
    return (given[at : at + CHUNK] for at in range(0, len(given), CHUNK))
