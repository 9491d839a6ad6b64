"""What a decision can ask for: frozen values, carried out by the store and the reconciler, never here."""

import math
from dataclasses import dataclass

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.inventory.identity import DesignedMachine
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.states import Condition, Stage, Transition


@dataclass(frozen=True, slots=True)
class Move:
    """Take the node along a transition. `because` follows the transition's own sentence in the history."""

    transition: Transition
    by: str
    because: str = ""
    results: tuple[int, ...] = ()
    run: int | None = None


@dataclass(frozen=True, slots=True)
class SetCondition:
    """A condition begins to hold, or holds for another reason now."""

    condition: Condition
    held: Held
    results: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ClearCondition:
    """A condition no longer holds; `sentence` says why."""

    condition: Condition
    by: str
    sentence: str


@dataclass(frozen=True, slots=True)
class OpenRun:
    """Start a stage on the node; the reconciler names the batch that carries it."""

    stage: Stage
    reason: str
    by: str = "runner"
    batch: str = ""


@dataclass(frozen=True, slots=True)
class OpenTicket:
    """A fault that needs hands; where an open ticket has the same fault, it is only seen once more.

    `at` (epoch seconds) is when it was seen: a ticket that was closed after that is not opened again.
    """

    fault: str
    check: str
    title: str
    body: str
    nodes: tuple[str, ...]
    remedy: str
    at: float = math.inf


@dataclass(frozen=True, slots=True)
class CloseTicket:
    """The fault is gone; `because` says what proved it."""

    ticket: int
    because: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a request, in one sentence."""

    intent: int
    accepted: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class BeginAttempt:
    """A remedy is carried out from now on, against these faults."""

    remedy: Remedy
    faults: tuple[str, ...]
    by: str


@dataclass(frozen=True, slots=True)
class EndAttempt:
    """What came of an attempt is known, or known better: whether it helped, None where nobody can tell."""

    attempt: int
    helped: bool | None
    because: str


@dataclass(frozen=True, slots=True)
class Identify:
    """The node is this machine from now on; `sentence` says who said so, and what changed."""

    machine: DesignedMachine
    by: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ClearAlarm:
    """What an alarm told of is over; `because` says how that is known."""

    alarm: int
    because: str


Action = (
    Move
    | SetCondition
    | ClearCondition
    | OpenRun
    | OpenTicket
    | CloseTicket
    | Answer
    | BeginAttempt
    | EndAttempt
    | ClearAlarm
    | Identify
)


@dataclass(frozen=True, slots=True)
class Decision:
    """All that follows for one node now, applied as a whole or not at all.

    `waiting` is the sentence people read meanwhile; `wake_at` (epoch seconds) is the latest next look.
    """

    actions: tuple[Action, ...]
    waiting: str
    wake_at: float
