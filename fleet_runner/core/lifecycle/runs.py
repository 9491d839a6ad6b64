"""What is known about nodes, their runs and people's requests: the rows the store keeps, as values.

Times are seconds since the epoch (UTC), as floats.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.states import Condition, Event, Stage, State

RUNNER = "runner"
"""Who acted, where no person did."""

BY_CLUSTER = "NodeRemediation "
"""What the name of a Kubernetes cluster's custom resource begins with, where it asks: most are made by programs."""


def is_of_cluster(by: str) -> bool:
    """Whether it is a cluster that asked."""
    return by.startswith(BY_CLUSTER)


@dataclass(frozen=True, slots=True)
class Held:
    """Why and since when a condition holds. `detail` is the remedy of a pending one."""

    since: float
    reason: str
    by: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """A node's row. `version` grows with every change of it and guards against two writers.

    `waiting` is the sentence a person reads in `status`: what the node waits for; `wake_at` is when the
    reconciler looks at it again even if nothing happens.
    """

    name: str
    device_type: str
    state: State
    since: float
    version: int
    management: Management = Management.FULL
    conditions: Mapping[Condition, Held] = field(default_factory=dict[Condition, Held])
    waiting: str = ""
    wake_at: float = 0.0


class Outcome(StrEnum):
    """How a run ended."""

    PASSED = "passed"
    FAILED = "failed"  # a check found a fault
    UNKNOWN = "unknown"  # no verdict: unreachable, unreadable, hung, or Ansible itself failed
    WORKING = "working"  # what it started goes on on the node; look again later
    LOST = "lost"  # nobody saw its end
    CANCELLED = "cancelled"
    SKIPPED = "skipped"  # nothing was asked, or what was gave way to a tenant: no news about the node


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a stage on one node; open while `outcome` is None.

    `fence` is the node's fencing number at opening: a write that carries an older one is refused. `batch` names
    the process that carries it (several nodes of one stage can share one). `done` of `total` tasks are behind it.
    """

    id: int
    node: str
    stage: Stage
    fence: int
    batch: str
    opened_at: float
    by: str = "runner"
    reason: str = ""
    ended_at: float | None = None
    outcome: Outcome | None = None
    detail: str = ""
    done: int = 0
    total: int = 0
    task: str = ""


class IntentKind(StrEnum):
    """What a person (or a webhook for one) may ask of the reconciler."""

    ADOPT = "adopt"  # take it into production as it is
    PROVISION = "provision"  # boot it anew, although something may run on it
    CERTIFY = "certify"
    HOLD = "hold"
    MAINTENANCE = "maintenance"  # planned work begins
    RELEASE = "release"  # end a hold, or else planned work
    RETIRE = "retire"
    RETRY = "retry"
    DEBUG = "debug"
    RMA = "rma"
    REPAIRED = "repaired"
    REPLACED = "replaced"  # its chassis was, or only its record was wrong: `detail` is "record" then
    WIPE = "wipe"
    TRIAGE = "triage"
    RESET = "reset"
    REBOOT = "reboot"
    FIRMWARE = "firmware"  # bring a production node's firmware to its pins
    CANCEL = "cancel"  # drop a pending remedy
    RUN = "run"  # run a stage now; `detail` names it


INTENT_EVENTS: dict[IntentKind, Event] = {
    IntentKind.ADOPT: Event.ADOPTED,
    IntentKind.PROVISION: Event.START,
    IntentKind.CERTIFY: Event.CERTIFIED,
    IntentKind.RETIRE: Event.RETIRE,
    IntentKind.RETRY: Event.RETRY,
    IntentKind.DEBUG: Event.DEBUG,
    IntentKind.RMA: Event.RMA,
    IntentKind.REPAIRED: Event.REPAIRED,
    IntentKind.REPLACED: Event.REPLACED,
    IntentKind.WIPE: Event.WIPE,
}
"""Requests that are events of the lifecycle; the others set conditions or start runs."""


@dataclass(frozen=True, slots=True)
class Intent:
    """A request about a node, as it was left; the reconciler answers each exactly once."""

    id: int
    node: str
    kind: IntentKind
    by: str
    at: float
    reason: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """A result as the store keeps it."""

    id: int
    run: int
    node: str
    stage: Stage
    at: float
    result: Result


@dataclass(frozen=True, slots=True)
class Ticket:
    """One physical fix, or one decision, that a person must make; open while `closed_at` is None.

    `fault` is the key of the fault; at most one open ticket carries it. `check` on any of `nodes` proves it gone.
    """

    id: int
    fault: str
    check: str
    title: str
    body: str
    nodes: tuple[str, ...]
    remedy: str
    opened_at: float
    seen: int = 1
    last_seen_at: float = 0.0
    closed_at: float | None = None
    closed_because: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a node's history: a transition, a condition, a request, a run, a ticket or a boot, with its sentence.

    `kind` is one of "transition", "condition", "intent", "run", "ticket", "boot", "identity"; `state` and `to` are
    set for transitions. `results` are the ids of the results it was decided from.
    """

    id: int
    node: str
    at: float
    kind: str
    sentence: str
    by: str
    state: State | None = None
    event: Event | None = None
    to: State | None = None
    results: tuple[int, ...] = ()
    run: int | None = None
