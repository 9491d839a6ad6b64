"""What the API answers beside the rows of the store: shapes that it and its client agree on.

Times are seconds since the epoch (UTC), as floats.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from fleet_runner.core.access.overview import Paused
from fleet_runner.core.firmware.rollout import Rollout
from fleet_runner.core.firmware.turns import Member
from fleet_runner.core.lifecycle.runs import IntentKind, Node, Ticket
from fleet_runner.core.tickets.trackers.changes import Change
from fleet_runner.core.tickets.trackers.links import Link

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list. `next` is the cursor of the page behind it, null where this is the last one."""

    items: tuple[T, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why something was refused, in a sentence."""

    detail: str


@dataclass(frozen=True, slots=True)
class RequestTaken:
    """What was asked for was left; `id` is how its answer is found."""

    id: int


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """Nothing was left yet: what would be lost, and the token with which the same request is left.

    `confirm` is good for some minutes, for this node and request, and for whoever was answered.
    """

    detail: str
    lost: tuple[str, ...]
    confirm: str


@dataclass(frozen=True, slots=True)
class NodeRequest:
    """A request about a node and its answer. `accepted` is null, and `answer` empty, while nobody has answered it."""

    id: int
    node: str
    kind: IntentKind
    by: str
    at: float
    reason: str = ""
    detail: str = ""
    accepted: bool | None = None
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of the queue: `since` is how many seconds ago it was offered, `why` what it waits for."""

    batch: str
    stage: str
    nodes: tuple[str, ...]
    places: tuple[str, ...]
    runner: str
    since: float
    state: str
    why: str


@dataclass(frozen=True, slots=True)
class Queue:
    """Every batch that has not ended, and who paused the queue."""

    batches: tuple[Batch, ...]
    paused: Paused | None = None


@dataclass(frozen=True, slots=True)
class Runner:
    """Who runs: `silent` is for how many seconds it was not heard of, `used` how many of its `slots` are taken.

    `state` is "decides", "runs", "ending", "ended" or "silent"; `places` are those it reaches, all where it is empty.
    """

    id: str
    host: str
    release: str
    places: tuple[str, ...]
    slots: int
    started_at: float | None
    beat_at: float | None
    ending: bool
    used: int
    silent: float
    state: str


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A schedule and how it stands. `jitter` is the seconds over which its moments are spread.

    `running` and `overdue` count nodes; they are null where there are none to count, and `overdue` where a node's
    turn depends on more than the clock. `waits` is the node whose turn is due and has not begun.
    """

    name: str
    what: str
    schedule: str
    zone: str
    jitter: float
    missed: str
    last_at: float | None
    last_by: str
    last_ended: str
    next_at: float | None
    running: int | None
    overdue: int | None
    paused: Paused | None
    waits: Node | None = None
    unmet: str = ""


@dataclass(frozen=True, slots=True)
class Schedules:
    """Every schedule, at the time of the store's own clock."""

    at: float
    schedules: tuple[Scheduled, ...]


@dataclass(frozen=True, slots=True)
class TicketDetail:
    """A ticket, what happened to it, and where else it is written."""

    ticket: Ticket
    changes: tuple[Change, ...]
    elsewhere: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class EvidenceText:
    """A piece of evidence: the text as it was read, and its SHA-256 in hex."""

    hash: str
    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """Whether something was changed, and how it stands now, in a sentence."""

    done: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Out:
    """A node that is out of service: why, and until when it counts at the latest, null where nobody can say."""

    node: str
    where: str
    until: float | None


@dataclass(frozen=True, slots=True)
class Budget:
    """How many nodes of a rack, a failure domain, a tenant or the fleet are out, of at most `most`."""

    scope: str
    name: str
    out: tuple[Out, ...]
    most: int
    total: int


@dataclass(frozen=True, slots=True)
class Rolled:
    """A rollout of firmware, and each of its nodes."""

    rollout: Rollout
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Happening:
    """What happened at a moment, in a tenant's words."""

    at: float
    sentence: str


@dataclass(frozen=True, slots=True)
class TenantNode:
    """A tenant's own node in plain words.

    `kind` is "serving", "planned" (it serves, and something is to be done), "out" or "ended"; `since` is when that
    began. `back_by` is when it serves again at the latest if all goes well, null where nobody knows. `served` is the
    share of the last 30 days in which it served, null where it never has. `happened` is told of one node alone.
    """

    name: str
    kind: str
    word: str
    since: float
    now: str
    next: str
    back_by: float | None = None
    served: float | None = None
    happened: tuple[Happening, ...] = ()
