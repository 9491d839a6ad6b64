"""Watching one boot from the side of the play that made it: how far it came, and what else its verdict needs."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.boot import progress, progress_text
from fleet_runner.core.boot.boots import Boot, BootEvent, Milestone, Reached
from fleet_runner.core.boot.progress import Progress
from fleet_runner.core.checks.catalogue import network_boot
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Verdict

UP = "it came up"

NEWEST = 500
"""Lines of what happened at the boot service that are looked at."""


class _Wait(NamedTuple):
    came: Milestone | None
    begun: float


@dataclass(slots=True)
class BootWatch:
    """A boot that is looked at until it is over.

    How long it waits is counted by `clock`, from when it was first seen to wait: the boot service's clock, by which
    milestones are told, may differ from ours.
    """

    store: Store
    boot: int
    limits: Mapping[Milestone, float]
    clock: Callable[[], float] = time.monotonic
    _wait: _Wait | None = field(default=None, init=False)

    def look(self) -> Progress:
        """Return what is known about the boot.

        Raises:
            StoreError: there is no such boot, or the store cannot be read.
        """
        found = self.store.boot(self.boot)
        if found is None:
            raise StoreError(f"boot {self.boot} is not in the store; was another store named when it was armed?")
        moment, came = self.clock(), progress.last(found)
        if self._wait is None or self._wait.came is not came:
            self._wait = _Wait(came, moment)
        now = progress.since(found) + moment - self._wait.begun
        refused = tuple(event for event in self.store.boot_events(found.node, NEWEST) if _refuses(event, found))
        return Progress(found, now, self.limits, refused, self.store.beats())

    def answers_ssh(self, seen: Progress, address: str) -> Progress:
        """Tell that the node answers ssh, and return its progress with that."""
        self.store.tell([Reached(self.boot, Milestone.SSH, seen.now, address)])
        return self.look()

    def concluded(self, seen: Progress) -> Progress:
        """Return the boot's progress with what other boots say, and close it unless another try may follow.

        A boot that is over has nothing more to fetch. One that stopped by the fleet's own fault stays open: it may
        come up by itself until it expires, and shows to its neighbours that they are not alone.
        """
        store, node = self.store, seen.boot.node
        before = next((each for each in reversed(store.boots(node)) if each.id < self.boot), None)
        whole = progress.beside(seen, store.open_boots(), store.boot_events(limit=NEWEST), before)
        text = json.dumps(progress_text.to_json(whole), sort_keys=True)
        reading = Reading(network_boot.READ, ReadEnd.OK, text, at=seen.now)
        result = run(network_boot.CHECK, {reading.name: reading}, Expected(node))
        if result.verdict is not Verdict.UNKNOWN:
            because = UP if result.verdict is Verdict.PASS else result.message
            store.close_boot(self.boot, because, seen.now)
        return whole


def over(seen: Progress) -> bool:
    """Whether there is nothing left to wait for: it is up, late or closed.

    A machine that is refused in its place ends nothing: anybody can ask, and the right one may still come.
    """
    return progress.missing(seen.boot) is None or progress.overdue(seen) or seen.boot.closed_at is not None


def _refuses(event: BootEvent, boot: Boot) -> bool:
    """Whether a line is a refusal of this boot, or of its node since it was armed."""
    told_since = event.boot is None and event.last_at >= boot.armed_at
    return event.kind == "refused" and (event.boot == boot.id or told_since)
