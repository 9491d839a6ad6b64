"""Watching one boot from the side of the play that made it: how far it came, and what else its verdict needs."""

import json
from collections.abc import Mapping
from dataclasses import replace

from fleet_runner.adapters.store import Store
from fleet_runner.core.boot import progress, progress_text
from fleet_runner.core.boot.boots import Milestone, Reached
from fleet_runner.core.boot.progress import Progress
from fleet_runner.core.checks import network_boot
from fleet_runner.core.checks.check import run
from fleet_runner.core.errors import StoreError
from fleet_runner.core.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.verdicts import Verdict

UP = "it came up"

NEWEST = 100
"""Lines of what happened at the boot service that are looked at."""


def look(store: Store, boot: int, limits: Mapping[Milestone, float], now: float) -> Progress:
    """Return what is known about a boot.

    Raises:
        StoreError: there is no such boot, or the store cannot be read.
    """
    found = store.boot(boot)
    if found is None:
        raise StoreError(f"boot {boot} is not in the store; was another store named when it was armed?")
    refused = tuple(
        event
        for event in store.boot_events(found.node, NEWEST)
        if event.kind == "refused" and event.last_at >= found.armed_at and event.boot in {None, boot}
    )
    return Progress(found, now, limits, refused, store.beats())


def over(seen: Progress) -> bool:
    """Whether there is nothing left to wait for: it is up, late, closed, or another machine came in its place."""
    return (
        progress.missing(seen.boot) is None
        or progress.overdue(seen)
        or seen.boot.closed_at is not None
        or network_boot.contradiction(seen) is not None
    )


def answers_ssh(store: Store, seen: Progress, address: str) -> Progress:
    """Tell that the node answers ssh, and return its progress with that."""
    store.tell([Reached(seen.boot.id, Milestone.SSH, seen.now, address)])
    return replace(look(store, seen.boot.id, seen.limits, seen.now), ssh="")


def concluded(store: Store, seen: Progress) -> Progress:
    """Return a boot's progress with its neighbours', and close the boot unless another try may follow.

    A boot that is over has nothing more to fetch. One that stopped by the fleet's own fault stays open: it may come
    up by itself until it expires, and shows to its neighbours that they are not alone.
    """
    whole = progress.beside(seen, store.open_boots(), store.boot_events(limit=NEWEST))
    text = json.dumps(progress_text.to_json(whole), sort_keys=True)
    reading = Reading(network_boot.READ, ReadEnd.OK, text, at=seen.now)
    result = run(network_boot.CHECK, {reading.name: reading}, Expected(seen.boot.node))
    if result.verdict is not Verdict.UNKNOWN:
        because = UP if result.verdict is Verdict.PASS else result.message
        store.close_boot(seen.boot.id, because, seen.now)
    return whole
