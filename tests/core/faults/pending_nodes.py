"""Nodes whose remedy waits, and what a decision does of it."""

from typing import Any

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.lifecycle.actions import (
    Action,
    Decision,
    Move,
)
from fleet_runner.core.lifecycle.states import Condition, Event, Stage
from fleet_runner.core.lifecycle.view import Timing, View
from tests.making import (
    a_node,
    a_run,
    a_view,
    an_alarm,
    conditions,
    held,
    paced,
    usage,
)

TIMING = Timing(drain=60, passive=paced(300), cabling=paced(14_400), drain_deadline=500)


SWEPT = (a_run(Stage.HEALTH_PASSIVE), a_run(Stage.CABLING, id=8))


ASKED = (a_run(Stage.DRAIN), *SWEPT)


BUSY = usage(in_use=True)


FALLEN = an_alarm(code="xid.79", fault="gpu-01/xid.79/GPU 3", remedy=Remedy.POWER_CYCLE, message="GPU 3: Xid 79.")


OBSERVING = Rules(observe=True)


def pending(remedy: Remedy, by: str = "runner", **values: Any) -> View:
    """A busy, cordoned node whose remedy waits."""
    waits = {Condition.PENDING: held("why", by, detail=remedy.value)}
    node = a_node(conditions=waits | conditions(Condition.CORDONED, Condition.DRAINING, Condition.IN_USE))
    return a_view(node, **{"latest": (BUSY,), "runs": ASKED} | values)


def of(kind: type[Action], decision: Decision) -> list[Any]:
    """The actions of a kind."""
    return [action for action in decision.actions if isinstance(action, kind)]


def event(decision: Decision) -> Event | None:
    """The event that moves the node, if any."""
    return next((action.transition.event for action in of(Move, decision)), None)
