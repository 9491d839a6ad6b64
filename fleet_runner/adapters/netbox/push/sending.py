"""Objects of a push sent in bulk: all of a request or none, and those alone that NetBox refuses."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fleet_runner.adapters.netbox.cable_status import tag
from fleet_runner.adapters.netbox.client import Client, Json, NetBoxBusyError, RefusedError

CHUNK = 50
"""Objects a request, unless a kind costs NetBox more."""

CHUNKS = {"dcim/cables": 10}
"""NetBox traces each path anew, 0.1 s for a cable: a short request loses little when it is interrupted."""

TRIES = 3  # at objects that others change while they are written


class Sent(NamedTuple):
    """Something to be sent: what people call it, and its body.

    One whose body has an id is changed, where NetBox still has `before` for what changes; one without is new.
    """

    name: str
    body: Json
    before: Mapping[str, Any] = {}


Made = Callable[[Sent, int], None]
"""Told of each object that was taken, with its id."""


def send(client: Client, path: str, what: Sequence[Sent], made: Made) -> list[str]:
    """Send objects of one kind, all new or all changed; return a sentence for each that was not taken."""
    conflicts: list[str] = []
    chunk = CHUNKS.get(path, CHUNK)
    waiting = deque(list(what[at : at + chunk]) for at in range(0, len(what), chunk))
    while waiting:
        some = waiting.popleft()
        try:
            one = _change if "id" in some[0].body else _add
            conflicts.extend(one(client, path, some, made))
        except RefusedError as error:
            if len(some) == 1:
                conflicts.append(f"{some[0].name}: {error}; correct it, then push again")
                continue
            half = len(some) // 2  # all or none: the others are sent without the one that is wrong
            waiting.extendleft((some[half:], some[:half]))
    return conflicts


def _add(client: Client, path: str, some: Sequence[Sent], made: Made) -> list[str]:
    rows = client.add(path, [each.body for each in some], _fields(some))
    for each, row in zip(some, rows, strict=True):
        made(each, row["id"])
    return []


def _change(client: Client, path: str, some: Sequence[Sent], made: Made) -> list[str]:
    """Change objects, read right before; what somebody else has changed since it was planned stays as it is."""
    for left in reversed(range(TRIES)):
        ids = [each.body["id"] for each in some]
        there = {row["id"]: row for row in client.rows(path, f"{_fields(some)},created,last_updated", id=ids)}
        still = [each for each in some if (row := there.get(each.body["id"])) and _as_before(row, each)]
        lost = [each for each in some if each not in still]
        conflicts = [f"{each.name}: somebody else changed it meanwhile; push again" for each in lost]
        try:
            tags = [tag(there[each.body["id"]]) for each in still]
            rows = client.change(path, [each.body for each in still], _fields(some), tags) if still else []
        except NetBoxBusyError:
            if not left:
                raise
            continue
        taken = {row["id"] for row in rows}
        for each in still:
            if each.body["id"] in taken:
                made(each, each.body["id"])
            else:
                conflicts.append(f"{each.name}: not in NetBox's answer, so it was deleted meanwhile; push again")
        return conflicts
    return []


def _fields(some: Sequence[Sent]) -> str:
    """Return the fields that are sent: NetBox takes no others from a request that asks for some."""
    return ",".join(dict.fromkeys(["id", *(key for each in some for key in each.body)]))


def _as_before(row: Json, sent: Sent) -> bool:
    return all(_plain(row.get(field)) == _plain(value) for field, value in sent.before.items())


def _plain(value: Any) -> Any:
    """Return a value as it is sent: of a choice its value, of another object its id, of nothing None."""
    if isinstance(value, Mapping):
        value = value.get("value", value.get("id"))
    return None if value == "" else value
