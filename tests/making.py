"""Short ways to make the values that decisions are made from."""

from dataclasses import dataclass
from typing import Any

from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.lifecycle.runs import Held, Intent, IntentKind, Node, Outcome, Run, Stored, Ticket
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.core.lifecycle.view import View
from fleet_runner.core.schedules.known import parsed
from fleet_runner.core.schedules.schedule import Missed, Schedule
from fleet_runner.core.schedules.sweep import Sweep

NOW = 1_000_000.0
SINCE = NOW - 100.0


@dataclass(frozen=True)
class After:
    """Moments so many seconds after the last one, for tests in which it matters how long that is."""

    pause: float

    def after(self, at: float) -> float:
        """Return the next one."""
        return at + self.pause


def paced(seconds: float) -> Sweep:
    """A sweep whose turns come so many seconds after the last one's end."""
    return Sweep(Schedule("paced", f"after {seconds:g} s", After(seconds), "UTC", 0.0, Missed.CATCH_UP))


OFF = Sweep(parsed("active", "never"))
"""A sweep in which no turn ever comes."""


def a_node(state: State = State.PRODUCTION, **values: Any) -> Node:
    """A node that entered its state 100 seconds ago."""
    return Node(**{"name": "gpu-01", "device_type": "t", "state": state, "since": SINCE, "version": 1} | values)


def a_fabric(**values: Any) -> Node:
    """A fabric that is looked after since 100 seconds."""
    return a_node(State.WATCHED, **{"name": "infiniband.hall", "device_type": FABRIC_TYPES[0]} | values)


def held(reason: str = "because", by: str = "ann", *, since: float = SINCE, detail: str = "") -> Held:
    """Why a condition holds."""
    return Held(since, reason, by, detail)


def a_run(stage: Stage = Stage.VERIFY, outcome: Outcome | None = Outcome.PASSED, **values: Any) -> Run:
    """A run that ended 10 seconds ago, or is open when it has no outcome."""
    ended = None if outcome is None else NOW - 10.0
    given = {"id": 7, "node": "gpu-01", "stage": stage, "fence": 1, "batch": "b", "opened_at": NOW - 50.0}
    return Run(**given | {"outcome": outcome, "ended_at": ended, "detail": ""} | values)


def a_finding(remedy: Remedy = Remedy.REBOOT, **values: Any) -> Finding:
    """A fault of GPU 3."""
    given = {"code": "gpu.lost", "component": "GPU 3", "message": "GPU 3 fell off the bus.", "remedy": remedy}
    return Finding(**given | {"fault": "gpu-01/gpu.lost/GPU 3", "nodes": ("gpu-01",)} | values)


def stored(*findings: Finding, check: str = "xid", **values: Any) -> Stored:
    """The newest result of a check, 10 seconds old; FAIL when it has findings, else PASS."""
    observed = values.pop("observed", {})
    verdict = values.pop("verdict", Verdict.FAIL if findings else Verdict.PASS)
    result = Result(check, verdict, values.pop("message", "as seen"), findings, observed)
    given = {"id": 3, "run": 7, "node": "gpu-01", "stage": Stage.HEALTH_PASSIVE, "at": NOW - 10.0}
    return Stored(**given | {"result": result} | values)


def sweep(*findings: Finding, **values: Any) -> Stored:
    """What a sweep of the fabric saw."""
    return stored(
        *findings,
        **{"check": "fabric_cabling", "node": "infiniband.hall", "stage": Stage.FABRIC, "message": "swept"} | values,
    )


def usage(*, in_use: bool, **values: Any) -> Stored:
    """What the usage check saw."""
    return stored(check="gpu_usage", observed={"in_use": in_use}, **{"id": 4} | values)


def a_ticket(**values: Any) -> Ticket:
    """An open ticket about a cable."""
    given = {"id": 5, "fault": "cable-1", "check": "cabling", "title": "t", "body": "b", "nodes": ("gpu-01",)}
    return Ticket(**given | {"remedy": "RECABLE", "opened_at": SINCE, "last_seen_at": SINCE} | values)


def an_intent(intent: IntentKind, **values: Any) -> Intent:
    """A request of Ann's."""
    return Intent(**{"id": 9, "node": "gpu-01", "kind": intent, "by": "ann", "at": NOW - 1.0} | values)


def a_view(node: Node | None = None, **values: Any) -> View:
    """A node in production, described and idle, unless told otherwise."""
    return View(**{"node": node or a_node(), "status": "active", "place": "hall rack A U1"} | values)


def an_attempt(remedy: Remedy = Remedy.RESET, **values: Any) -> Attempt:
    """A remedy for GPU 3's Xid 119, an hour ago, that did not help."""
    given: dict[str, Any] = {"id": 2, "node": "gpu-01", "faults": ("gpu-01/xid.119/GPU 3",), "by": "runner"}
    given |= {"at": NOW - 3600.0, "ended_at": NOW - 3000.0, "helped": False, "because": "it came back."}
    given |= {"remedy": remedy} | values
    return Attempt(**given)


def an_alarm(**values: Any) -> Alarm:
    """A raised alarm about GPU 3, heard 10 seconds ago."""
    given: dict[str, Any] = {"node": "gpu-01", "code": "xid.119", "component": "GPU 3", "id": 6}
    given |= {"fault": "gpu-01/xid.119/GPU 3", "source": Source.KERNEL, "message": "GPU 3: Xid 119."}
    given |= {"remedy": Remedy.RESET, "at_once": False, "first_at": NOW - 20.0, "last_at": NOW - 10.0}
    given |= {"heard_at": NOW - 10.0, "raised_at": NOW - 10.0, "authenticated": True} | values
    return Alarm(**given)


def conditions(*names: Condition, **values: Any) -> dict[Condition, Held]:
    """Conditions that hold, all for the same reason."""
    return {name: held(**values) for name in names}
