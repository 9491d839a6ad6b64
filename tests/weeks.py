"""A store with a past to report: nodes that come up, fall out, return, are held, and what is known of why."""

from random import Random

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.actions import (
    BeginAttempt,
    ClearCondition,
    CloseTicket,
    Decision,
    EndAttempt,
    Move,
    OpenTicket,
    SetCondition,
)
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State
from tests.web.hall import HOSTILE, TO_PRODUCTION, act, described, node

HOUR, DAY = 3_600.0, 86_400.0

CODES = (("xid.79", Remedy.REBOOT), ("ecc.uncorrected", Remedy.REBOOT), ("nvlink.down", Remedy.TRIAGE))
FALLS = {Remedy.REBOOT: Event.REBOOT_NEEDED, Remedy.TRIAGE: Event.TRIAGE_NEEDED}


def lived(store: Store, now: float, count: int = 24, seed: int = 1) -> None:
    """Fill a store with three weeks before a moment."""
    dice = Random(seed)
    servers = [each for each in described(count).devices.values() if each.role == "gpu-server"]
    store.register(servers, now - 22 * DAY)
    for number, server in enumerate(servers):
        late = number % 3 == 0  # a third comes up in the last week
        begins = now - (6.5 * DAY if late else 21 * DAY) + dice.random() * DAY
        serves = come_up(store, server.name, begins, dice)
        if number % 2 == 0 and not late:
            fall(store, server.name, now - 6 * DAY + dice.random() * DAY, dice)
        if number % 4 == 2 and node(store, server.name).state is State.PRODUCTION:
            fall(store, server.name, now - 3 * DAY, dice)
        if serves < now - 2 * DAY and number % 6 == 1:
            hold(store, server.name, now - 2 * DAY, dice)


def come_up(store: Store, name: str, at: float, dice: Random) -> float:
    """Bring a node from its first boot into production; return when it is there."""
    here = State.REGISTERED
    for event, hours in zip(TO_PRODUCTION, (0, 0.4, 9, 0.3, 2, 30), strict=True):
        at += hours * HOUR * (0.5 + dice.random())
        row = TRANSITIONS[here, event]
        act(store, name, Move(row, "alice" if event is Event.CERTIFIED else "runner"), at=at)
        here = row.to
    return at


def fall(store: Store, name: str, at: float, dice: Random) -> None:
    """Take a node out for a fault that a check found; some come back, some wait for hands."""
    code, remedy = dice.choice(CODES)
    finding = Finding(code, "GPU 3", f"GPU 3 is bad {HOSTILE}", remedy, f"{code}:{name}", (name,))
    failed = Judged(name, at - 60, Result("gpu_errors", Verdict.FAIL, "GPU 3 is bad", (finding,)))
    hung = Judged(name, at - 60, Result("dcgm", Verdict.UNKNOWN, "no answer within 30 s"))
    store.record_by_hand(Stage.HEALTH_PASSIVE, "runner", (failed, hung), at - 60)
    result = next(each.id for each in store.latest_results(name) if each.result.check == "gpu_errors")
    out = Move(TRANSITIONS[State.PRODUCTION, FALLS[remedy]], "runner", results=(result,))
    opened = OpenTicket(finding.fault, "gpu_errors", f"{name}: {code} {HOSTILE}", "Look.", (name,), remedy.value)
    if remedy is Remedy.TRIAGE:
        act(store, name, out, opened, at=at)
        return
    act(store, name, BeginAttempt(remedy, (finding.fault,), "runner"), out, at=at)
    (attempt,) = (each for each in store.attempts(name, 0.0) if each.ended_at is None)
    helped, ends = dice.random() < 0.7, at + HOUR * (0.5 + dice.random())
    event = Event.PASSED if helped else Event.FAILED
    back = Move(TRANSITIONS[State.REBOOT, event], "runner")
    act(store, name, EndAttempt(attempt.id, helped=helped, because="it is gone." if helped else "no."), back, at=ends)
    if not helped:
        act(store, name, opened, at=ends)


def hold(store: Store, name: str, at: float, dice: Random) -> None:
    """Have a person hold a node; half of the holds are over."""
    act(store, name, SetCondition(Condition.HELD, Held(at, f"its fans {HOSTILE}", "alice")), at=at)
    if dice.random() < 0.5:
        gone = ClearCondition(Condition.HELD, "alice", "Released: automation continues.")
        act(store, name, gone, at=at + 5 * HOUR)


def closed(store: Store, at: float) -> None:
    """Close the first open ticket."""
    ticket = store.tickets(open_only=True)[0]
    known = node(store, ticket.nodes[0])
    store.apply(known, Decision((CloseTicket(ticket.id, "the check passes"),), "", at), at)
