"""What the boot service tells: many things in one transaction, and of each whether it was news."""

from collections.abc import Sequence

from sqlalchemy import Connection

from fleet_runner.adapters.store.boot import boots, discovered, events, heartbeats, refusals, steps
from fleet_runner.adapters.store.boot.events import News
from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.core.boot.boots import (
    Claim,
    Discovered,
    Heartbeat,
    Leased,
    PhonedHome,
    Proved,
    Reached,
    Refused,
    Told,
)

STEPS = (Reached, Leased, Proved, Claim, PhonedHome)


def tell(connection: Connection, told: Sequence[Told]) -> tuple[bool, ...]:
    """Store what is told, its lines in the order it is told; return of each whether it was news.

    The boots are locked first, in one order, so that two who tell of the same ones wait and do not deadlock.
    """
    named = {each.boot for each in told if isinstance(each, (*STEPS, Refused))}
    standing = boots.stand(
        connection, {number for number in named if number is not None and abs(number) < boots.MANY}
    )
    taken = {at: each for at, each in enumerate(told) if isinstance(each, STEPS)}
    refused = {at: each for at, each in enumerate(told) if isinstance(each, Refused)}
    news = dict(zip(taken, steps.take(connection, standing, list(taken.values())), strict=True))
    news |= zip(refused, refusals.take(connection, standing, list(refused.values())), strict=True)
    _write(connection, [each for _, each in sorted(news.items()) if each is not None])
    events.prune(connection, {said.line["node"] for at in refused if (said := news[at])})
    answers = {at: each is not None for at, each in news.items()}
    found = {at: each for at, each in enumerate(told) if isinstance(each, Discovered)}
    answers |= zip(found, discovered.take(connection, list(found.values())), strict=True)
    alive = {at: each for at, each in enumerate(told) if isinstance(each, Heartbeat)}
    answers |= zip(alive, heartbeats.take(connection, list(alive.values())), strict=True)
    return tuple(answers[at] for at in range(len(told)))


def _write(connection: Connection, news: Sequence[News]) -> None:
    events.add(connection, [each.line for each in news])
    history.add(connection, [each.entry for each in news if each.entry is not None])
