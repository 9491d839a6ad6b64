"""What the boot service tells: many things in one transaction, and of each whether it was news."""

from collections.abc import Sequence

from sqlalchemy import Connection

from fleet_runner.adapters.store import beats, boots, discovered, refusals, steps
from fleet_runner.core.boot.boots import Beat, Claim, Discovered, PhonedHome, Proved, Reached, Refused, Told

STEPS = (Reached, Proved, Claim, PhonedHome)


def tell(connection: Connection, told: Sequence[Told]) -> tuple[bool, ...]:
    """Store what is told, in the order it is told; return of each whether it was news. The boots are locked first."""
    numbers = {each.boot for each in told if isinstance(each, (*STEPS, Refused)) and each.boot is not None}
    standing = boots.stand(connection, numbers)
    answers = dict[int, bool]()
    moved = {at: each for at, each in enumerate(told) if isinstance(each, STEPS)}
    answers |= zip(moved, steps.take(connection, standing, list(moved.values())), strict=True)
    refused = {at: each for at, each in enumerate(told) if isinstance(each, Refused)}
    answers |= zip(refused, refusals.take(connection, standing, list(refused.values())), strict=True)
    found = {at: each for at, each in enumerate(told) if isinstance(each, Discovered)}
    answers |= zip(found, discovered.take(connection, list(found.values())), strict=True)
    alive = {at: each for at, each in enumerate(told) if isinstance(each, Beat)}
    answers |= zip(alive, beats.take(connection, list(alive.values())), strict=True)
    return tuple(answers[at] for at in range(len(told)))
