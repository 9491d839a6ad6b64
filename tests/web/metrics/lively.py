"""A hall in which everything happens that a dashboard has a panel for."""

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.faults.signal_counters import SignalCount
from fleet_runner.core.boot.boots import Heartbeat
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.faults.signals.speakers import ANOTHER, NO_RELAY
from fleet_runner.core.lifecycle.actions import Decision, Move, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from fleet_runner.core.schedules import firing
from fleet_runner.reconcile.lifecycle.batches import NO_ROOM
from tests.web.hall import NOW, Hall, act, node


def prepared(hall: Hall) -> None:
    """Have everything be there that is no history: signals, a boot service, a tracker that is away, schedules."""
    store = hall.store
    heard = [
        SignalCount("kernel", "taken", 7, NOW),
        SignalCount("alert", "refused: \u202eno <b>token</b>", 2, NOW),
        SignalCount("kernel", ANOTHER, 4, NOW, "from 10.0.0.1: gpu-02"),
        SignalCount("kernel", NO_RELAY, 3, NOW, "from 10.0.9.9"),
        SignalCount("netbox", "taken", 1, NOW),
        SignalCount("listener", "127.0.0.1:8490", 5, NOW),
    ]
    store.count_heard({(each.source, each.what): each for each in heard}, {})
    store.tell([Heartbeat("boot", NOW - 5)])
    store.take_tracker("jira", "tests", NOW, 60.0)
    store.tracker_failed("jira", "it does not answer", NOW + 60)
    store.note_schedule("retention", "runner", firing.Outcome.DONE, "")
    store.see_to(["passive", "cabling"], "runner")


def went_on(hall: Hall, now: float) -> None:
    """Have nodes move, runs end and checks answer."""
    store = hall.store
    moved(store, hall.in_state(State.RESET)[0], Event.PASSED, now)
    moved(store, hall.in_state(State.BURN_IN)[0], Event.PASSED, now)
    moved(store, hall.in_state(State.PROVISION)[0], Event.OVERDUE, now)
    name = hall.in_state(State.VERIFY)[0]
    moved(store, name, Event.FAILED, now)
    (run,) = store.apply(
        node(store, name), Decision((OpenRun(Stage.CABLING, "now", batch="g-1"),), "", now), now - 60
    )
    store.close_run(run, Outcome.UNKNOWN, "it did not answer", now)
    leaves, in_line, *_ = reversed(hall.in_state(State.PRODUCTION))
    said = Decision((), f"waits: 1 play runs, {NO_ROOM}", now + 900.0)
    store.apply(node(store, in_line), said, now)
    moved(store, leaves, Event.REBOOT_NEEDED, now)
    answers = [Result(check, verdict, "so") for check in ("time_sync", "kernel_log") for verdict in Verdict]
    still = hall.in_state(State.PRODUCTION)[-1]
    store.record_by_hand(Stage.HEALTH_PASSIVE, "runner", [Judged(still, now, each) for each in answers], now)


def moved(store: Store, name: str, event: Event, now: float) -> None:
    """Move a node by an event."""
    act(store, name, Move(TRANSITIONS[node(store, name).state, event], "runner"), at=now)
