"""What a node that is only registered needs: Day 0 begins by itself where nothing runs, and nowhere else."""

from typing import Any

import pytest

from fleet_runner.core.budgets.modes import Modes
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.actions import Answer, Move, OpenRun
from fleet_runner.core.lifecycle.adoption import reasons
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.runs import RUNNER, IntentKind, Outcome, Stored
from fleet_runner.core.lifecycle.states import Event, Stage, State
from fleet_runner.core.lifecycle.view import FAR, Timing, View
from tests.making import NOW, a_node, a_run, a_view, an_intent, stored

TIMING = Timing()
REGISTERED = a_node(State.REGISTERED)
EITHER = "fleet-runner adopt takes it into production as it is, fleet-runner provision boots it anew"


def power(power: str, boot: str = "", **values: Any) -> Stored:
    """What the BMC said in the survey."""
    return stored(
        check="machine_power", observed={"power": power, "boot": boot}, message=f"the machine is {power}", **values
    )


def up(**values: Any) -> Stored:
    """The node answered in the survey."""
    return stored(check="node_up", message="it answers over ssh, up 41 d", **values)


def surveyed(*results: Stored, outcome: Outcome = Outcome.PASSED, tries: int = 1, **values: Any) -> View:
    """A registered node after so many surveys, the last of which said this."""
    runs = tuple(a_run(Stage.SURVEY, outcome, id=7 - nth) for nth in reversed(range(tries)))
    return a_view(**{"node": REGISTERED, "runs": runs, "latest": results} | values)


def test_nothing_is_done_before_it_was_looked_at() -> None:
    (run,) = decide(a_view(REGISTERED), TIMING, NOW).actions
    assert isinstance(run, OpenRun)
    assert run.stage is Stage.SURVEY


def test_day_0_of_a_machine_that_is_off_begins_by_itself() -> None:
    (move,) = decide(surveyed(power("Off"), outcome=Outcome.UNKNOWN), TIMING, NOW).actions
    assert isinstance(move, Move)
    assert (move.transition.event, move.by) == (Event.START, RUNNER)
    assert move.because == "its BMC says: the machine is Off."
    assert move.results == (3,)


def test_where_it_may_not_begin_it_is_said_what_would() -> None:
    decision = decide(surveyed(power("Off"), modes=Modes()), TIMING, NOW)
    assert decision.actions == ()
    assert decision.waiting.startswith("its BMC says: the machine is Off; observing: provision would continue")
    assert decision.wake_at == NOW - 10 + FAR


def test_a_machine_that_was_off_a_while_ago_is_looked_at_again_before_day_0() -> None:
    """A mode that is raised finds what was seen an hour ago."""
    (run,) = decide(surveyed(power("Off")), TIMING, NOW + 1000).actions
    assert isinstance(run, OpenRun)


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ((up(),), "it runs: it answers over ssh, up 41 d"),
        ((power("Off"), up(id=4)), "it runs: it answers over ssh, up 41 d"),
        ((power("On", "OSRunning"),), "its BMC says: the machine is On, and it does not answer over ssh"),
    ],
)
def test_what_runs_is_left_as_it_is(results: tuple[Stored, ...], words: str) -> None:
    """What answers runs, whatever its BMC says: it may be another machine's."""
    decision = decide(surveyed(*results), TIMING, NOW)
    assert (decision.actions, decision.waiting) == ((), f"{words}; {EITHER}")
    assert decision.wake_at == NOW - 10 + FAR


@pytest.mark.parametrize(
    ("results", "words"),
    [
        (
            (power("On", "PCIResourceConfigStarted"),),
            "its BMC says: the machine is On, and it does not answer over ssh",
        ),
        (
            (power("Off"), up(id=4, verdict=Verdict.UNKNOWN)),
            "its BMC says: the machine is Off, and it does not answer over ssh",
        ),
        ((power("", verdict=Verdict.UNKNOWN, run=7),), "the machine is "),
        ((), "the survey gave no answer"),
        ((power("Off", run=6),), "the survey gave no answer"),
    ],
)
def test_what_nobody_knows_is_left_as_it_is_too(results: tuple[Stored, ...], words: str) -> None:
    """Many a BMC tells no boot beyond its own: a node that serves looks like one that never booted."""
    decision = decide(surveyed(*results), TIMING, NOW)
    assert (decision.actions, decision.waiting) == (
        (),
        f"UNKNOWN whether it runs: {words}; looked at again; {EITHER}",
    )


def test_it_is_looked_at_less_and_less_often_where_nobody_answers() -> None:
    pauses = [decide(surveyed(tries=tries), TIMING, NOW).wake_at - NOW + 10 for tries in (1, 2, 3, 20)]
    assert pauses == [60.0, 120.0, 240.0, 3600.0]


def test_a_survey_whose_end_nobody_saw_is_made_again_soon() -> None:
    decision = decide(surveyed(up(), outcome=Outcome.LOST), TIMING, NOW)
    assert decision.wake_at == NOW - 10 + TIMING.retry


def identity(verdict: Verdict = Verdict.PASS, message: str = "the serial number is as designed") -> Stored:
    """Whose machine it is."""
    return stored(check="machine_identity", verdict=verdict, message=message, id=5)


def scheduler(verdict: Verdict = Verdict.PASS, *, takes_work: bool = True) -> Stored:
    """What the scheduler says of it."""
    return stored(
        check="scheduler", verdict=verdict, observed={"takes_work": takes_work}, message="drained: fan", id=6
    )


SERVES = (power("On", "OSRunning"), up(id=4), identity(), scheduler())


def test_a_node_that_serves_as_designed_is_adopted_without_anything_done_to_it() -> None:
    """In whichever mode: nothing is done."""
    view = surveyed(*SERVES, scheduled=True, modes=Modes(), intents=(an_intent(IntentKind.ADOPT, reason="Monday"),))
    move, answer = decide(view, TIMING, NOW).actions
    assert isinstance(move, Move)
    assert (move.transition.to, move.by, move.because) == (State.PRODUCTION, "ann", "Monday")
    assert (move.results, move.run) == ((3, 4, 5, 6), 7)
    assert answer == Answer(9, accepted=True, sentence=move.transition.sentence)


@pytest.mark.parametrize("view", [a_view(REGISTERED), surveyed(*SERVES)])
def test_a_node_that_was_not_looked_at_lately_is_looked_at_first(view: View) -> None:
    """The request waits for that."""
    intent = an_intent(IntentKind.ADOPT, at=NOW + 2000)
    (run,) = decide(
        a_view(REGISTERED, runs=view.runs, latest=view.latest, intents=(intent,)), TIMING, NOW + 2000
    ).actions
    assert isinstance(run, OpenRun)
    assert (run.stage, run.by) == (Stage.SURVEY, "ann")


def test_a_survey_whose_end_nobody_saw_answers_only_the_request_it_was_made_for() -> None:
    """Else a broken play would be begun again at every tick."""
    again = surveyed(outcome=Outcome.LOST, intents=(an_intent(IntentKind.ADOPT),))
    (run,) = decide(again, TIMING, NOW).actions
    assert isinstance(run, OpenRun)
    mine = surveyed(outcome=Outcome.LOST, intents=(an_intent(IntentKind.ADOPT, at=NOW - 60),))
    (answer,) = decide(mine, TIMING, NOW).actions
    assert answer == Answer(9, accepted=False, sentence="Left as it is: it does not answer over ssh.")


def test_only_a_registered_node_is_adopted() -> None:
    (answer,) = decide(a_view(intents=(an_intent(IntentKind.ADOPT),)), TIMING, NOW).actions
    assert isinstance(answer, Answer)
    assert not answer.accepted


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ((), "it does not answer over ssh"),
        ((up(verdict=Verdict.UNKNOWN),), "it does not answer over ssh (it answers over ssh, up 41 d)"),
        ((power("Off"), up(id=4), identity(), scheduler()),
         "it answers over ssh, and its BMC says: the machine is Off; is that its BMC?"),
        ((up(), identity(Verdict.FAIL, "its serial number is X, expected Y"), scheduler()),
         "its serial number is X, expected Y"),
        ((up(), scheduler()), "its machine was not identified"),
        ((up(), identity()), "the scheduler does not know it"),
        ((up(), identity(), scheduler(Verdict.SKIPPED)), "the scheduler does not know it"),
        ((up(), identity(), scheduler(Verdict.UNKNOWN)), "the scheduler's answer is missing: drained: fan"),
        ((up(), identity(), scheduler(takes_work=False)), "the scheduler gives it no work: drained: fan"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_left_alone_and_says_why(results: tuple[Stored, ...], words: str) -> None:
    assert reasons(surveyed(*results, scheduled=True)) == (words,)


def test_without_a_scheduler_none_is_asked() -> None:
    assert reasons(surveyed(up(), identity())) == ()
    assert reasons(a_view(REGISTERED)) == ("it does not answer over ssh",)


def test_a_registered_node_may_be_surveyed_by_hand() -> None:
    (run, _) = decide(a_view(REGISTERED, intents=(an_intent(IntentKind.RUN, detail="survey"),)), TIMING, NOW).actions
    assert isinstance(run, OpenRun)
    assert run.stage is Stage.SURVEY


def test_a_persons_word_boots_anew_what_runs() -> None:
    (move, answer) = decide(
        surveyed(*SERVES, intents=(an_intent(IntentKind.PROVISION, reason="reimage"),)), TIMING, NOW
    ).actions
    assert isinstance(move, Move)
    assert (move.transition.to, move.by) == (State.PROVISION, "ann")
    assert isinstance(answer, Answer)
    assert answer.accepted
