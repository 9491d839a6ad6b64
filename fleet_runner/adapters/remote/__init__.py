"""A server's store, as far as commands need it from afar: each method asks the API what the Store's would read.

What a server knows and a Store alone does not, for it follows from the server's settings, has methods of its own.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from urllib.parse import quote

from fleet_runner.core.access.api import (
    Ended,
    EvidenceText,
    NodeRequest,
    Page,
    Queue,
    RequestTaken,
    Schedules,
    TicketDetail,
)
from fleet_runner.core.access.overview import NodeSummary, Overview
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.boot.boots import Boot
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.lifecycle.runs import Entry, IntentKind, Node, Run, Stored, Ticket
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.reliability.forecasts import Analysis
from fleet_runner.core.reliability.forecasts import StoredForecast as Foreseen
from fleet_runner.core.reliability.parts.travels import Line
from fleet_runner.core.reliability.trends.answers import Ahead, Followed
from fleet_runner.core.tickets.trackers.changes import Change

if TYPE_CHECKING:
    from fleet_runner.adapters.remote.wire import Connection
    from fleet_runner.adapters.store import ResultFilter
    from fleet_runner.settings import Settings

T = TypeVar("T")

_HASH = re.compile(r"[0-9a-f]{1,64}", re.ASCII)

MOST = 500
"""Items that a server gives at a time."""

IDS = 100
"""Results that are asked for by id at a time."""

NEVER = 253_402_300_799.0
"""How a moment that never comes is written in JSON: the end of the year 9999."""


def reached(settings: "Settings", url: str) -> "Remote":
    """Return the store of a server, of which nothing is asked yet."""
    from fleet_runner.adapters.remote import reaching, wire  # noqa: PLC0415  httpx is slow to load, and rarely needed

    where = reaching.address(url)
    return Remote(wire.Connection(where, reaching.token(settings), reaching.trust(where, settings.server_ca)))


class Remote:
    """What is known at a server. FleetError for every method of the Store that has no counterpart there."""

    def __init__(self, wire: "Connection") -> None:
        self._wire = wire

    def __getattr__(self, name: str) -> NoReturn:
        raise FleetError(f"this works only on the server's own machine; run it there (server {self._wire.url})")

    def close(self) -> None:
        """Let go of the connection."""
        self._wire.close()

    # What follows answers as the Store's methods of the same names do.

    def nodes(self) -> tuple[Node, ...]:
        """Return every node, by name."""
        return tuple(map(_node, self._pages(Page[Node], "/nodes")))

    def fabrics(self) -> tuple[Node, ...]:
        """Return every fabric, by name."""
        return tuple(map(_node, self._list(Node, "/fabrics")))

    def node(self, name: str) -> Node | None:
        """Return a node or a fabric, or None."""
        found = self._wire.get(Node, f"/nodes/{quote(name, safe='')}") if name else None
        return _node(found) if found is not None else None

    def history(self, node: str, limit: int = 200, kind: str | None = None) -> tuple[Entry, ...]:
        """Return the newest entries of a node's history, oldest first."""
        if limit > MOST:
            raise FleetError(f"a server gives at most {MOST} lines of a history; ask for fewer, or on its machine")
        return self._of(Entry, node, "history", limit=limit, kind=kind)

    def latest_results(self, node: str) -> tuple[Stored, ...]:
        """Return the newest result of each check on a node, by check."""
        return self._of(Stored, node, "latest")

    def alarms(self, node: str) -> tuple[Alarm, ...]:
        """Return what stands of a node, oldest first."""
        return self._of(Alarm, node, "alarms")

    def attempts(self, node: str, since: float = 0.0) -> tuple[Attempt, ...]:
        """Return the attempts on a node that were begun since a moment, oldest first."""
        return self._of(Attempt, node, "attempts", since=since)

    def boots(self, node: str, limit: int = 20) -> tuple[Boot, ...]:
        """Return the newest boots of a node, oldest first."""
        return self._of(Boot, node, "boots", limit=limit)

    def open_flash(self, node: str) -> Flash | None:
        """Return a node's open flash, or None."""
        return next((each for each in self.open_flashes() if each.node == node), None)

    def open_flashes(self) -> tuple[Flash, ...]:
        """Return every open flash."""
        return self._list(Flash, "/flashes")

    def open_boots(self) -> tuple[Boot, ...]:
        """Return every open boot, oldest first."""
        return self._list(Boot, "/boots")

    def open_runs(self) -> tuple[Run, ...]:
        """Return every open run, oldest first."""
        return self._list(Run, "/runs")

    def standing_alarms(self) -> tuple[Alarm, ...]:
        """Return what stands of all nodes, oldest first."""
        return self._list(Alarm, "/alarms")

    def foresights(self, *, node: str = "", standing: bool = True, limit: int = 1000) -> tuple[Foreseen, ...]:
        """Return what is foreseen, the newest first: of a node or of all, what stands or what ever did."""
        return self._list(Foreseen, "/trends", node=node, ended=str(not standing).lower(), limit=limit)

    def analysis(self, name: str) -> Analysis | None:
        """Return what an analysis came to last; None where it never ran."""
        return self._wire.get(Analysis, f"/trends/analyses/{quote(name, safe='')}")

    def part_history(self, word: str, limit: int) -> tuple[Line, ...]:
        """Return the newest of what befell a part, or the parts of a node, oldest first."""
        return self._list(Line, "/trends/parts", of=word, limit=limit)

    def followed(self, node: str, metric: str) -> Followed:
        """Return what the parts of a node told of a metric, and what their peers did."""
        return self._one(Followed, f"/trends/nodes/{quote(node, safe='')}/metrics/{quote(metric, safe='')}")

    def durations(self, stage: Stage) -> tuple[float, ...]:
        """Return the seconds that the newest runs of a stage took to a verdict."""
        return self._list(float, "/durations", stage=stage.value)

    def tickets(self, *, node: str | None = None, open_only: bool = True) -> tuple[Ticket, ...]:
        """Return tickets, oldest first; all of them, or those that name a node."""
        return tuple(self._pages(Page[Ticket], "/tickets", node=node, closed=str(not open_only).lower()))

    def ticket(self, number: int) -> Ticket | None:
        """Return a ticket, or None."""
        told = self.ticket_told(number)
        return told.ticket if told is not None else None

    def ticket_changes(self, number: int) -> tuple[Change, ...]:
        """Return what happened to a ticket, oldest first."""
        told = self.ticket_told(number)
        return told.changes if told is not None else ()

    def note_ticket(self, number: int, words: str, by: str, now: float) -> bool:
        """Add a note to a ticket, in the name that the token has."""
        del by, now
        return self._end(f"/tickets/{number}/notes", {"text": words})

    def close_ticket(self, number: int, reason: str, by: str, now: float) -> bool:
        """Close a ticket, in the name that the token has; False where it is closed already."""
        del by, now
        return self._end(f"/tickets/{number}/close", {"text": reason})

    def find_results(
        self, sought: "ResultFilter", *, below: int | None = None, limit: int = 50
    ) -> tuple[Stored, ...]:
        """Return the newest results, newest first, of those with an id below `below`."""
        verdict = sought.verdict.value if sought.verdict is not None else None
        given = {"node": sought.node, "check": sought.check, "verdict": verdict, "since": sought.since}
        found = self._pages(Page[Stored], "/results", most=limit, cursor=below, **given)
        return tuple(found)

    def stored(self, ids: Iterable[int]) -> tuple[Stored, ...]:
        """Return results by id, in the order of their ids."""
        wanted = sorted(set(ids))
        chunks = (wanted[start : start + IDS] for start in range(0, len(wanted), IDS))
        return tuple(each for chunk in chunks for each in self._list(Stored, "/results/some", id=chunk))

    def evidence(self, digest: str) -> str | None:
        """Return the text a hash names, or None."""
        if not _HASH.fullmatch(digest):
            return None
        found = self._wire.get(EvidenceText, f"/evidence/{quote(digest, safe='')}")
        return found.text if found is not None else None

    def leave_intent(  # noqa: PLR0913  as the Store's
        self, node: str, intent: IntentKind, by: str, *, reason: str = "", detail: str = "", now: float
    ) -> int:
        """Leave a request about a node, in the name that the token has; return the request's id."""
        del by, now
        body = {"kind": intent.value, "reason": reason, "detail": detail}
        asked = self._wire.confirmed(RequestTaken, f"/nodes/{quote(node, safe='')}/requests", body)
        if asked is None:
            raise FleetError(f"no node {node!r} at {self._wire.url}; nothing was asked")
        return asked.id

    def answer(self, intent: int) -> tuple[bool, str] | None:
        """Return whether a request was accepted and the sentence that answered it; None while nobody has."""
        found = self._wire.get(NodeRequest, f"/requests/{intent}")
        return (found.accepted, found.answer) if found is not None and found.accepted is not None else None

    def pause_schedule(self, name: str, by: str, reason: str) -> None:
        """Have nothing begin by a schedule, in the name that the token has."""
        del by
        self._end(f"/schedules/{name}/pause", {"reason": reason})

    def resume_schedule(self, name: str) -> bool:
        """Have a schedule come again; False where it was not paused."""
        return self._end(f"/schedules/{name}/resume")

    # What follows is known at the server, by its settings.

    def overview(self) -> Overview:
        """Return how the fleet is looked after now."""
        return self._one(Overview, "/status")

    def standing(self, node: str) -> NodeSummary:
        """Return what stands of a node, what was tried and what comes next."""
        return self._one(NodeSummary, f"/nodes/{quote(node, safe='')}/standing")

    def ahead(self, node: str) -> Ahead:
        """Return what is foreseen of a node."""
        return self._one(Ahead, f"/nodes/{quote(node, safe='')}/foresight")

    def queue(self) -> Queue:
        """Return every batch that has not ended, and why what waits does."""
        return self._one(Queue, "/queue")

    def coming(self) -> Schedules:
        """Return every schedule and how it stands."""
        return self._one(Schedules, "/schedules")

    def ticket_told(self, number: int) -> TicketDetail | None:
        """Return a ticket with what happened to it, and where else it is written; None where there is none."""
        return self._wire.get(TicketDetail, f"/tickets/{number}")

    def _one(self, shape: type[T], path: str) -> T:
        found = self._wire.get(shape, path)
        if found is None:
            raise FleetError(f"{self._wire.url} does not know {path}")
        return found

    def _list(self, shape: Any, path: str, **given: Any) -> tuple[Any, ...]:
        found: tuple[Any, ...] | None = self._wire.get(tuple[shape, ...], path, **given)
        return found or ()

    def _of(self, shape: Any, node: str, what: str, **given: Any) -> tuple[Any, ...]:
        return self._list(shape, f"/nodes/{quote(node, safe='')}/{what}", **given)

    def _pages(self, shape: Any, path: str, *, most: int | None = None, **given: Any) -> Iterator[Any]:
        """Yield the items of a list, page by page; a server that gives no new page ends it."""
        left = math.inf if most is None else most
        while left > 0:
            page: Page[Any] | None = self._wire.get(shape, path, limit=int(min(MOST, left)), **given)
            if page is None:
                return
            yield from page.items
            left -= len(page.items)
            if page.next is None or not page.items or page.next == given.get("cursor"):
                return
            given["cursor"] = page.next

    def _end(self, path: str, body: dict[str, str] | None = None) -> bool:
        ended = self._wire.post(Ended, path, body)
        if ended is None:
            raise FleetError(f"{self._wire.url} does not know {path}; nothing was changed")
        return ended.done


def _node(node: Node) -> Node:
    return replace(node, wake_at=math.inf) if node.wake_at >= NEVER else node
