"""Cable statuses written to NetBox: in bulk, and never over what somebody else changed meanwhile."""

import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from fleet_runner.adapters.netbox.cables import value
from fleet_runner.adapters.netbox.client import AgainError, Client, Json, Patience, RefusedError
from fleet_runner.core.errors import SourceError
from fleet_runner.core.records import CONNECTED, PLANNED

QUICK = Patience(connect_seconds=5.0, read_seconds=30.0, retries=1)
SECONDS = 60.0  # for one call: it holds up the runner's tick, and the next sweep goes on where it ends
CHUNK = 50  # cables a request: their entity tags must fit into a header, and NetBox traces each path again
TRIES = 3  # at cables that others change while they are written

FROM = {CONNECTED: PLANNED, PLANNED: CONNECTED}
"""The status that a cable must still have for it to get another."""

WHY = {
    CONNECTED: "A fabric sweep saw the cable as designed.",
    PLANNED: "Two fabric sweeps in a row did not see the cable as designed.",
}
"""What NetBox's change log says, from 4.4 on."""

PATH = "dcim/cables"


@dataclass(slots=True)
class Written:
    """What came of a call: how many cables got their status, and why others did not."""

    done: int = 0
    warnings: list[str] = field(default_factory=list[str])
    lost: list[int] = field(default_factory=list[int])
    kept: list[int] = field(default_factory=list[int])


def write_cable_status(url: str, token: str, changes: Mapping[int, str], patience: Patience | None = None) -> Written:
    """Give cables a status ("connected" or "planned") by their ids, where they still have the other one.

    Never raises for what NetBox does: a warning says what was not written, and the next sweep finds it again.
    """
    written = Written()
    try:
        with Client(url, token, patience or QUICK) as client:
            _write(client, changes, written)
    except SourceError as error:
        written.warnings.append(f"{error}; cable statuses are written after the next sweep")
    page = f"{url.rstrip('/')}/{PATH}"
    for ids, text in (
        (written.lost, "not in NetBox's answer to the change: deleted meanwhile, or the token may not change it"),
        (written.kept, "not changed though NetBox took the change; look into its log"),
    ):
        if ids:
            others = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
            written.warnings.append(f"{page}/{ids[0]}/{others}: {text}")
    return written


def _write(client: Client, changes: Mapping[int, str], written: Written) -> None:
    ids = sorted(changes)
    waiting = deque(ids[at : at + CHUNK] for at in range(0, len(ids), CHUNK))
    until = time.monotonic() + SECONDS
    while waiting:
        if time.monotonic() > until:
            left = sum(map(len, waiting))
            text = f"{left} cable statuses are not written within {SECONDS:g} s; the next sweep goes on with them"
            written.warnings.append(f"{client.url}: {text}")
            return
        chunk = waiting.popleft()
        try:
            _some(client, {number: changes[number] for number in chunk}, written)
        except RefusedError as error:
            if len(chunk) == 1:
                written.warnings.append(f"{client.url}/{PATH}/{chunk[0]}/: {error}; correct the cable")
            half = len(chunk) // 2  # all or none: the others are asked for without the one that is wrong
            waiting.extend(part for part in (chunk[:half], chunk[half:]) if half)


def _some(client: Client, changes: Mapping[int, str], written: Written) -> None:
    """Write one request's cables, reading them right before; what somebody else has changed is left as it is."""
    for left in reversed(range(TRIES)):
        rows = client.rows(PATH, "id,status,created,last_updated", id=list(changes))
        due = [row for row in rows if row["id"] in changes and value(row["status"]) == FROM[changes[row["id"]]]]
        if not due:
            return
        sent = {row["id"]: changes[row["id"]] for row in due}
        asked = [
            {"id": number, "status": status, "changelog_message": WHY[status]} for number, status in sent.items()
        ]
        try:
            answer = client.change(PATH, asked, "id,status,changelog_message", map(_tag, due))
        except AgainError:
            if not left:
                raise
        else:
            _compare(sent, answer, written)
            return


def _compare(sent: Mapping[int, str], answer: Iterable[Json], written: Written) -> None:
    """NetBox leaves out of its answer what it did not find, and takes fields that it does not know."""
    now = {row["id"]: value(row["status"]) for row in answer}
    for number, status in sent.items():
        if number not in now:
            written.lost.append(number)
        elif now[number] != status:
            written.kept.append(number)
        else:
            written.done += 1


def _tag(row: Json) -> str:
    """Return a cable's entity tag, which NetBox makes from the time of its last change."""
    changed = datetime.fromisoformat(row["last_updated"] or row["created"])
    return f'W/"{changed.astimezone(UTC).isoformat()}"'
