"""What is asked to prove a ticket done, and how that stands afterwards."""

import pytest

from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.runs import Held, IntentKind, Node, Outcome, Run, Stored, Ticket
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from fleet_runner.core.tickets.trackers.changes import Act, Change
from fleet_runner.core.tickets.work_orders import verification
from fleet_runner.core.tickets.work_orders.verification import Answers, Ask, Claim, ProofStatus

TICKET = Ticket(7, "cabling/x", "cabling_infiniband", "t", "", ("n",), "RECABLE", 0.0, last_seen_at=10.0)
OTHER = Ticket(8, "gpu/x", "gpus", "t", "", ("n",), "TRIAGE", 0.0, last_seen_at=10.0)


def node(state: State, name: str = "n", **conditions: Held) -> Node:
    return Node(name, "t", state, 0.0, 1, conditions={Condition(each): held for each, held in conditions.items()})


def asked(
    state: State, stage: Stage | None = None, ticket: Ticket = OTHER
) -> tuple[tuple[IntentKind, str], ...] | str:
    found = verification.ask(ticket, [node(state)], stage)
    return found.intents if isinstance(found, Ask) else found


RUN = IntentKind.RUN
CERTIFIED = (IntentKind.CERTIFY, "")


@pytest.mark.parametrize(
    ("state", "stage", "intents"),
    [
        (State.ONBOARD, Stage.VERIFY, (CERTIFIED,)),
        (State.TRIAGE, Stage.HEALTH_PASSIVE, ((IntentKind.REPAIRED, ""), CERTIFIED)),
        (State.RMA, None, ((IntentKind.REPAIRED, ""), CERTIFIED)),
        (State.TRIAGE, Stage.PROVISION, ((IntentKind.RETRY, ""),)),
        (State.DEBUG, Stage.REBOOT, ((IntentKind.RETRY, ""),)),
        (State.FIRMWARE_FAILED, Stage.FIRMWARE, ((IntentKind.RETRY, ""),)),
        (State.PRODUCTION, Stage.HEALTH_PASSIVE, ((RUN, "health_passive"),)),
        (State.PRODUCTION, Stage.HEALTH_ACTIVE, ((RUN, "health_active"),)),
        (State.VERIFY, Stage.HEALTH_ACTIVE, ((RUN, "health_passive"),)),
        (State.BURN_IN, Stage.BURN_IN, ((RUN, "burn_in"),)),
        (State.PRODUCTION, None, ((RUN, "health_passive"),)),
        (State.WATCHED, Stage.FABRIC, ((RUN, "fabric"),)),
    ],
)
def test_every_state_has_its_proof(state: State, stage: Stage | None, intents: tuple[object, ...]) -> None:
    assert asked(state, stage) == intents


def test_cables_are_looked_at_where_nothing_else_is_known() -> None:
    assert asked(State.PRODUCTION, None, TICKET) == ((RUN, "cabling"),)


def test_every_state_says_something() -> None:
    for state in State:
        assert asked(state)


def test_why_nothing_can_be_asked_is_said() -> None:
    assert "retired" in str(asked(State.RETIRED))
    assert "Day 0" in str(asked(State.REGISTERED))
    assert "an operator must request it" in str(asked(State.TRIAGE, Stage.WIPE))
    assert "an operator must close it" in str(verification.ask(OTHER, [], None))
    for reason, said in (("fans", "held by bob (fans)"), ("", "no reason given")):
        assert said in str(verification.ask(OTHER, [node(State.ONBOARD, held=Held(0.0, reason, "bob"))], None))


def test_a_fabric_is_asked_before_its_nodes() -> None:
    rows = [node(State.RETIRED, "gone"), node(State.PRODUCTION), node(State.WATCHED, "fabric")]
    found = verification.ask(TICKET, rows, Stage.CABLING)
    assert isinstance(found, Ask)
    assert found.node == "fabric"
    only = verification.ask(TICKET, rows[:2], Stage.CABLING)
    assert isinstance(only, Ask)
    assert only.node == "n"


def change(act: Act, sentence: str = "", at: float = 20.0) -> Change:
    return Change(1, 7, act, sentence, "alice", at)


def test_who_said_that_it_is_done_is_known_again() -> None:
    noted = change(Act.NOTED, verification.told("n is checked now.", (3, 14), "a plug"))
    assert noted.sentence == "Done: n is checked now. (request 3, 14) What was done: a plug"
    assert verification.claim([change(Act.OPENED), noted, change(Act.SEEN)]) == Claim(
        20.0, "alice", noted.sentence, (3, 14)
    )
    assert verification.claim([change(Act.NOTED, verification.told("It is retired.", ()))]) == Claim(
        20.0, "alice", "Done: It is retired.", ()
    )
    assert verification.claim([change(Act.OPENED), change(Act.NOTED, "a word")]) is None


def test_what_comes_after_it_undoes_it() -> None:
    noted, stuck = change(Act.NOTED, "Done: x"), change(Act.NOTED, "Cannot be done: no key")
    assert verification.claim([noted, change(Act.REOPENED)]) is None
    assert verification.claim([noted, stuck]) is None
    assert verification.stuck([noted, stuck, change(Act.SEEN), change(Act.NOTED, "a word")]) == stuck
    assert verification.stuck([stuck, noted]) is None
    assert verification.stuck([stuck, change(Act.REOPENED)]) is None


SAID = Claim(20.0, "alice", "Done: x", (3,))


def run(outcome: Outcome | None, detail: str = "") -> Run:
    ended = None if outcome is None else 30.0
    return Run(1, "n", Stage.CABLING, 1, "b", 21.0, "alice", ended_at=ended, outcome=outcome, detail=detail)


def stored(verdict: Verdict, fault: str = "", at: float = 25.0) -> Stored:
    findings = (Finding("c", "x", "m", Remedy.RECABLE, fault),) if fault else ()
    return Stored(1, 1, "n", Stage.CABLING, at, Result("cabling_infiniband", verdict, "so", findings))


@pytest.mark.parametrize(
    ("came", "stand", "words"),
    [
        (Answers((None,)), ProofStatus.ASKED, "has not answered yet"),
        (Answers(), ProofStatus.ASKED, "No check was requested"),
        (Answers(((True, "cabling starts."),)), ProofStatus.ASKED, "still pending"),
        (Answers(((False, "It is held."),)), ProofStatus.REFUSED, "It is held."),
        (Answers(((True, ""),), (run(None),)), ProofStatus.RUNNING, "cabling runs"),
        (Answers(((True, ""),), (run(None),), stored(Verdict.PASS)), ProofStatus.RUNNING, "cabling runs"),
        (Answers(((True, ""),), (run(Outcome.PASSED),), stored(Verdict.PASS)), ProofStatus.PASSED, "passed: so"),
        (Answers(((True, ""),), (), stored(Verdict.FAIL, TICKET.fault)), ProofStatus.SEEN, "still finds it"),
        (Answers(((True, ""),), (), stored(Verdict.FAIL, "another")), ProofStatus.UNSURE, "says FAIL"),
        (Answers(((True, ""),), (), stored(Verdict.UNKNOWN)), ProofStatus.UNSURE, "says UNKNOWN"),
        (Answers(((True, ""),), (run(Outcome.LOST),), stored(Verdict.PASS, at=9.0)), ProofStatus.UNSURE, "result of"),
        (Answers(((True, ""),), (run(Outcome.UNKNOWN, "no ssh."),)), ProofStatus.UNSURE, "no ssh."),
    ],
)
def test_how_it_stands_is_said(came: Answers, stand: ProofStatus, words: str) -> None:
    found = verification.standing(TICKET, SAID, came)
    assert found.stand is stand
    assert words in found.sentence


def test_only_a_check_closes_a_ticket() -> None:
    closed = Ticket(7, "f", "c", "t", "", ("n",), "R", 0.0, closed_at=30.0, closed_because="c on n: fine")
    assert verification.standing(closed, SAID, Answers()).stand is ProofStatus.CLOSED
    assert verification.standing(TICKET, None, Answers()).stand is ProofStatus.OPEN


def test_a_ticket_waits_until_its_fault_is_seen_again() -> None:
    seen = Ticket(7, "f", "c", "t", "", ("n",), "R", 0.0, last_seen_at=40.0)
    assert verification.waits(TICKET, SAID)
    assert not verification.waits(seen, SAID)
    assert not verification.waits(TICKET, None)
    assert verification.standing(seen, SAID, Answers()).stand is ProofStatus.SEEN
