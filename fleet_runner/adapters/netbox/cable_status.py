"""Planned cables called connected in NetBox: in bulk, and never over what somebody else changed meanwhile."""

import time
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from fleet_runner.adapters.netbox.client import Client, Json, NetBoxBusyError, RefusedError, Timeouts
from fleet_runner.adapters.netbox.rest import value
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.records import CONNECTED, PLANNED

QUICK = Timeouts(connect_seconds=5.0, read_seconds=30.0, retries=1)
SECONDS = 60.0  # for one call: it holds up the runner's tick, and the next sweep goes on where it ends
CHUNK = 50  # cables a request: their entity tags must fit into a header, and NetBox traces each path again
TRIES = 3  # at cables that others change while they are written

WHY = "A fabric sweep saw the cable as designed."
"""What NetBox's change log says, from 4.4 on."""

PATH = "dcim/cables"


@dataclass(slots=True)
class Written:
    """What came of a call: how many cables are connected now, and why others are not."""

    done: int = 0
    warnings: list[str] = field(default_factory=list[str])
    lost: list[int] = field(default_factory=list[int])
    kept: list[int] = field(default_factory=list[int])


def connect_cables(url: str, token: str, ids: Collection[int], patience: Timeouts | None = None) -> Written:
    """Give cables, by their ids, the status "connected" where they still are "planned".

    Never raises for what NetBox does: a warning says what was not written, and the next sweep finds it again.
    """
    written = Written()
    try:
        with Client(url, token, patience or QUICK) as client:
            _write(client, sorted(ids), written)
    except SourceError as error:
        written.warnings.append(f"{error}; cable statuses are written after the next sweep")
    page = f"{url.rstrip('/')}/{PATH}"
    for some, text in (
        (written.lost, "not in NetBox's answer to the change: deleted meanwhile, or the token may not change it"),
        (written.kept, "NetBox accepted the change and did not make it; check its log"),
    ):
        if some:
            others = f" and {len(some) - 1} more" if len(some) > 1 else ""
            written.warnings.append(f"{page}/{some[0]}/{others}: {text}")
    return written


def _write(client: Client, ids: Sequence[int], written: Written) -> None:
    waiting = deque(ids[at : at + CHUNK] for at in range(0, len(ids), CHUNK))
    until = time.monotonic() + SECONDS
    while waiting:
        if time.monotonic() > until:
            left = sum(map(len, waiting))
            text = f"{left} cable statuses are not written within {SECONDS:g} s; the next sweep continues"
            written.warnings.append(f"{client.url}: {text}")
            return
        chunk = waiting.popleft()
        try:
            _some(client, chunk, written)
        except RefusedError as error:
            if len(chunk) == 1:
                written.warnings.append(f"{client.url}/{PATH}/{chunk[0]}/: {error}; correct the cable")
            half = len(chunk) // 2  # all or none: the others are asked for without the one that is wrong
            waiting.extend(part for part in (chunk[:half], chunk[half:]) if half)


def _some(client: Client, ids: Sequence[int], written: Written) -> None:
    """Write one request's cables, reading them right before; what somebody else has changed is left as it is."""
    for left in reversed(range(TRIES)):
        rows = client.rows(PATH, "id,status,created,last_updated", id=list(ids))
        due = [row for row in rows if row["id"] in ids and value(row["status"]) == PLANNED]
        if not due:
            return
        sent = [row["id"] for row in due]
        asked = [{"id": number, "status": CONNECTED, "changelog_message": WHY} for number in sent]
        try:
            answer = client.change(PATH, asked, "id,status,changelog_message", map(tag, due))
        except NetBoxBusyError:
            if not left:
                raise
        else:
            _compare(sent, answer, written)
            return


def _compare(sent: Iterable[int], answer: Iterable[Json], written: Written) -> None:
    """NetBox leaves out of its answer what it did not find, and takes fields that it does not know."""
    now = {row["id"]: value(row["status"]) for row in answer}
    for number in sent:
        if number not in now:
            written.lost.append(number)
        elif now[number] != CONNECTED:
            written.kept.append(number)
        else:
            written.done += 1


def tag(row: Mapping[str, Any]) -> str:
    """Return an object's entity tag, which NetBox makes from the time of its last change."""
    changed = datetime.fromisoformat(row["last_updated"] or row["created"])
    return f'W/"{changed.astimezone(UTC).isoformat()}"'
