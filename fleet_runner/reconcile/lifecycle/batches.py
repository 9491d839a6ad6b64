"""Batches of one tick: nodes that need the same stage, and are reached by the same runners, share a play."""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from math import inf
from uuid import uuid4

from fleet_runner.adapters.store import Store
from fleet_runner.core.lifecycle.actions import OpenRun
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import Stage

NO_ROOM = "as many as may at once (batches_at_once)"
"""How it ends what a node says that waits for a play: a process that begins takes the line up from that."""

AGAIN = 900.0
"""Seconds until a node that waits for a play is decided anew though its turn has not come."""

NOBODY = frozenset[str]()
"""Who reaches a node where one runner carries everything."""


@dataclass(slots=True)
class Batches:
    """What a tick opens: up to `most` nodes to a batch, and no more than `room` batches beside those that are open.

    Where several runners carry them, each of them takes what it has room for, so any number may be opened.
    """

    most: int
    room: float = inf
    _last: dict[tuple[Stage, frozenset[str]], str] = field(default_factory=dict[tuple[Stage, frozenset[str]], str])
    _sizes: dict[str, int] = field(default_factory=lambda: defaultdict[str, int](int))

    def takes(self, stage: Stage) -> bool:
        """Whether another node's run of a stage finds a batch."""
        return self.room >= 1 or self._begun(stage, NOBODY) != ""

    def join(self, action: OpenRun, reached: frozenset[str] = NOBODY) -> OpenRun:
        """Return a run with its batch: one that has been begun, or another one."""
        batch = self._begun(action.stage, reached)
        if not batch:
            batch = self._last[action.stage, reached] = f"{action.stage}-{uuid4().hex[:12]}"
            self.room -= 1
        self._sizes[batch] += 1
        return replace(action, batch=batch)

    def _begun(self, stage: Stage, reached: frozenset[str]) -> str:
        """Return the batch that was begun and is not full, or ""."""
        last = self._last.get((stage, reached), "")
        return last if last and self._sizes[last] < self.most else ""


def in_line(store: Store) -> tuple[Node, ...]:
    """Return the nodes and fabrics that wait for room for a play, the first one first, as the store knows them."""
    return store.waiting_with(NO_ROOM)
