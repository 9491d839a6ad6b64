"""What a decision about one node is made from, and how patient it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet_runner.core.budgets.modes import ACTING, Modes
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.faults.rules.rules import DEFAULT, Rules
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.inventory.identity import Refused
from fleet_runner.core.inventory.records import Termination
from fleet_runner.core.lifecycle.actions import Move
from fleet_runner.core.lifecycle.runs import RUNNER, Intent, Node, Run, Stored, Ticket
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event
from fleet_runner.core.schedules.known import SWEEPS
from fleet_runner.core.schedules.sweep import Sweep

FAR = 3600.0
"""Seconds after which a resting node is looked at even if nothing happened."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long to wait before looking again, in seconds; and when a node's turn comes in a sweep."""

    retry: float = 60.0
    working: float = 300.0
    firmware: float = 15.0
    drain: float = 60.0
    drain_deadline: float = 86_400.0
    passive: Sweep = SWEEPS["passive"]
    active: Sweep = SWEEPS["active"]
    active_visit: float = 60.0
    cabling: Sweep = SWEEPS["cabling"]
    confirm: float = 600.0


@dataclass(frozen=True, slots=True)
class View:
    """Everything known about one node, or one fabric.

    `status` is its status in the source of truth, None when it is not there. `run` is its open run; `runs` are the
    ended ones since it entered its state, oldest first; `latest` the newest result of each check; `tickets` the open
    ones that name it; `estimate` the usual length of the open run in seconds, None if never seen; `released_at` when
    a hold on it last ended (epoch seconds).
    `before` is what spoke last before each of `latest`, by the same check in the same stage; `excused` says why no
    ticket is opened about a device; `observers` are the ports through which a fabric can be read, the best first.
    `began_at` is when the first run of its stay in `firmware` was opened, None where none was; `waited_until`, until
    when its stay was or is a rollout's pause; `called_off`, why a rollout asks its pending remedy no more. `flash` is
    the open one of a node in `firmware_failed`. `tested` says whether its device type's profile asks for active
    tests in service; `rounds` are their newest runs that came to an answer or gave way, where the last one gave way.
    `alarms` are those that stand, raised or not; `alike` those of applications' Xids on other nodes of its tenant,
    where it has one itself; `attempts` the remedies that are remembered, oldest first. `rules`
    say what follows from which fault. `scheduled` says whether a scheduler gives nodes work; `wishes`, whether that
    can tell of work that is never to be interrupted, or of who else has a node; `drained`, that it may keep work
    away still, because of a drain that is not known to be undone. `barred` says why automation may not take it out
    of service now. `modes` say how far automation may go at it. `refused` says why nothing is done to it at all:
    which machine it is is not settled. `domain_fault` says what is wrong outside of a compute tray that takes links
    from it, as the newest sweep of its NVLink domain has it; "" for nothing. `suspected_at` is when a compute tray
    of a domain last lost links that it had before (epoch seconds). `domain_leak` says which other compute tray of
    its NVLink domain leaks; "" for none. `domain_turn` says what it waits for in a firmware rollout; "" for nothing.
    `domain_out` says which trays are out that drain as one with it, or spare it; "" for none.
    """

    node: Node
    status: str | None
    place: str = ""
    run: Run | None = None
    runs: tuple[Run, ...] = ()
    latest: tuple[Stored, ...] = ()
    intents: tuple[Intent, ...] = ()
    tickets: tuple[Ticket, ...] = ()
    estimate: float | None = None
    released_at: float = 0.0
    before: tuple[Stored, ...] = ()
    excused: Mapping[str, str] = field(default_factory=dict[str, str])
    observers: tuple[Termination, ...] = ()
    began_at: float | None = None
    waited_until: float = 0.0
    called_off: str = ""
    flash: Flash | None = None
    tested: bool = False
    rounds: tuple[Run, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    alike: tuple[Alarm, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    rules: Rules = DEFAULT
    scheduled: bool = False
    wishes: bool = False
    drained: bool = False
    barred: str = ""
    modes: Modes = ACTING
    refused: Refused | None = None
    domain_fault: str = ""
    suspected_at: float = 0.0
    domain_leak: str = ""
    domain_turn: str = ""
    domain_out: str = ""


def move(view: View, event: Event, because: str = "", results: tuple[int, ...] = (), run: int | None = None) -> Move:
    """Return the move that `event` causes from the node's state; `results` and `run` are what speaks for it."""
    return Move(TRANSITIONS[view.node.state, event], RUNNER, because, results, run)


def move_by(view: View, event: Event, run: Run, because: str = "") -> Move:
    """Return the move that a run's end causes, with all the results of that run."""
    results = tuple(stored.id for stored in view.latest if stored.run == run.id)
    return move(view, event, because, results, run.id)
