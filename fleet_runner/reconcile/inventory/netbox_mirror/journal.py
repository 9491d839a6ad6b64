"""What happened to nodes, told to their journals in NetBox: each line once, whatever is killed or lost.

Before lines are sent it is written down that they are. Where no answer came, they are looked for when none can be on
its way any more, and only what is not there is sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import ClassVar

from fleet_runner.adapters.netbox import node_fields
from fleet_runner.adapters.netbox.client import Client, ForbiddenError, NetBoxBusyError, RefusedError
from fleet_runner.adapters.netbox.node_fields import CHUNK
from fleet_runner.core.inventory.netbox.mirror import lines
from fleet_runner.core.inventory.netbox.mirror.standing import JournalPosition
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.tickets.trackers.backoff import pause
from fleet_runner.reconcile.inventory.netbox_mirror.fields import absent
from fleet_runner.reconcile.inventory.netbox_mirror.writer import LEASE, Mirror

SETTLES = 150.0
"""Seconds for which a NetBox may still work on a request that nobody waits for; its own limit is 120."""

DAY = 86_400.0
"""Seconds by which the clocks here and in NetBox may differ when lines are looked for."""


@dataclass(frozen=True, slots=True)
class JournalBatch:
    """The next lines of a node that are not there, up to the line `last`; its device's id, and how far it is told."""

    of: JournalPosition
    device: int
    lines: tuple[Entry, ...]
    last: int


@dataclass(slots=True)
class JournalMirror(Mirror):
    """What tells nodes' history."""

    name: ClassVar[str] = "netbox journal"
    of: ClassVar[str] = "lines of history"
    settles: float = SETTLES

    def waits(self) -> bool:
        """Whether something happened that is not told."""
        return bool(self._due())

    def tell(self, client: Client) -> int:
        """Tell what happened; return how many lines."""
        told = 0
        while (due := self._due()) and self.keep():
            told += self._some(client, due)
        return told

    def _due(self) -> list[JournalPosition]:
        """Return the nodes of the next request; one that failed before is alone, so that it hinders no other."""
        now = self.now()
        due = [each for each in self.store.untold_lines(self.url) if each.due_at <= now and self.may(each.node)]
        return [each for each in due if not each.tries][:CHUNK] or due[:1]

    def _some(self, client: Client, due: Sequence[JournalPosition]) -> int:
        """Tell one request's lines."""
        letters: list[JournalBatch] = []
        room = CHUNK
        found = node_fields.devices(client, [each.node for each in due])
        for each in due:
            if not found[each.node] and self._retired(each.node):  # its page is gone, and the history here stays
                self.store.lines_told(self.name, self.url, {each.node: each.newest}, self.now())
            elif len(found[each.node]) != 1:
                self._failed(each, absent(each.node, len(found[each.node])))
            elif room:
                next_ = self.store.lines(each, room)
                room -= len(next_)
                letters.append(
                    JournalBatch(each, found[each.node][0].id, next_, next_[-1].id if next_ else each.newest)
                )
        known = self._known(client, letters)
        told, fresh = 0, []
        for letter in letters:
            sent = self._unsaid(letter, known)
            told += len(letter.lines) - len(sent)
            if sent:
                fresh.append(replace(letter, lines=sent))
        return told + self._send(client, [letter for letter in fresh if self._settled(letter)])

    def _retired(self, name: str) -> bool:
        node = self.store.node(name)
        return node is not None and node.state is State.RETIRED

    def _known(self, client: Client, letters: Sequence[JournalBatch]) -> frozenset[str]:
        """Look for lines whose answer was lost; return their marks."""
        unsure = [each for each in letters if each.lines and each.of.doubted >= each.lines[0].id]
        if not unsure:
            return frozenset()
        first = min(each.lines[0].at for each in unsure) - DAY
        after = datetime.fromtimestamp(max(first, 0.0), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return lines.marks(node_fields.entries(client, {each.device for each in unsure}, lines.MARKED, after))

    def _unsaid(self, letter: JournalBatch, known: frozenset[str]) -> tuple[Entry, ...]:
        """Return the lines that are not there, and note how far it is told without a gap."""
        unsaid = tuple(line for line in letter.lines if lines.mark(line) not in known)
        before = [line.id for line in letter.lines if not unsaid or line.id < unsaid[0].id]
        if before or not unsaid:
            until = before[-1] if unsaid else letter.last
            self.store.lines_told(self.name, self.url, {letter.of.node: until}, self.now())
        return unsaid

    def _settled(self, letter: JournalBatch) -> bool:
        """Whether no line can be on its way any more; where one can, the node waits."""
        ready = letter.of.asked_at + self.settles
        if letter.of.doubted < letter.lines[0].id or ready <= self.now():
            return True
        text = "lines were sent and no answer came; NetBox is searched for them"
        self.store.lines_not_told(self.url, letter.of, text, ready)
        return False

    def _send(self, client: Client, letters: Sequence[JournalBatch]) -> int:
        if not letters:
            return 0
        until = {letter.of.node: letter.last for letter in letters}
        self.store.begin_lines(self.name, self.holder, (self.now(), LEASE), self.url, until)
        try:
            there = node_fields.add_entries(client, _entries(letters))
        except RefusedError as error:
            self.store.lines_not_taken(self.url, [letter.of for letter in letters])
            if len(letters) == 1:
                self._failed(letters[0].of, str(error))
                return 0
            half = len(letters) // 2  # all or none: the others are told without the one that is wrong
            return self._send(client, letters[:half]) + self._send(client, letters[half:])
        except ForbiddenError:
            self.store.lines_not_taken(self.url, [letter.of for letter in letters])
            raise
        except NetBoxBusyError as error:
            for letter in letters:
                self._failed(letter.of, str(error))
            raise
        return self._told(letters, lines.marks(there))

    def _told(self, letters: Sequence[JournalBatch], marks: frozenset[str]) -> int:
        taken = [letter for letter in letters if all(lines.mark(line) in marks for line in letter.lines)]
        until: Mapping[str, int] = {letter.of.node: letter.last for letter in taken}
        self.store.lines_told(self.name, self.url, until, self.now())
        for letter in letters:
            if letter not in taken:
                self._failed(letter.of, "lines are not in NetBox's answer as they were sent; they are looked for")
        return sum(len(letter.lines) for letter in taken)

    def _failed(self, each: JournalPosition, why: str) -> None:
        self.store.lines_not_told(self.url, each, why, self.now() + pause(each.tries + 1))


def _entries(letters: Sequence[JournalBatch]) -> list[tuple[int, str, str]]:
    return [(letter.device, lines.kind(line), lines.comments(line)) for letter in letters for line in letter.lines]
