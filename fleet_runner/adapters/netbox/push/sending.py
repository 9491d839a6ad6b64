"""Objects of a push sent in bulk: all of a request or none, and those alone that NetBox refuses."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fleet_runner.adapters.netbox.client import Client, Json, RefusedError

CHUNK = 50
"""Objects a request. More makes NetBox no quicker, and one that it refuses costs more to find."""


class Sent(NamedTuple):
    """Something to be sent: what people call it, and its body; one with an id is changed, one without is new."""

    name: str
    body: Json


def send(
    client: Client, path: str, what: Sequence[Sent], made: Callable[[Sent, int], None], chunk: int = CHUNK
) -> list[str]:
    """Send objects of one kind, new ones or changed ones; return a sentence for each that NetBox refused.

    `made` is told of each that was taken, with its id.
    """
    conflicts: list[str] = []
    waiting = deque(list(what[at : at + chunk]) for at in range(0, len(what), chunk))
    while waiting:
        some = waiting.popleft()
        try:
            conflicts.extend(_some(client, path, some, made))
        except RefusedError as error:
            if len(some) == 1:
                conflicts.append(f"{some[0].name}: {error}; correct it, then push again")
                continue
            half = len(some) // 2  # all or none: the others are sent without the one that is wrong
            waiting.extendleft((some[half:], some[:half]))
    return conflicts


def _some(client: Client, path: str, some: Sequence[Sent], made: Callable[[Sent, int], None]) -> list[str]:
    bodies = [each.body for each in some]
    fields = ",".join(dict.fromkeys(["id", *(key for body in bodies for key in body)]))
    if "id" not in bodies[0]:
        rows = client.add(path, bodies, fields)
        for each, row in zip(some, rows, strict=True):
            made(each, row["id"])
        return []
    rows = client.change(path, bodies, fields, ())
    there = {row["id"] for row in rows}
    lost: list[str] = []
    for each in some:
        if each.body["id"] in there:
            made(each, each.body["id"])
        else:
            lost.append(f"{each.name}: not in NetBox's answer: deleted meanwhile; push again")
    return lost
