"""A node's turn: whether it may be asked, and what became of it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.firmware.flash import End, Flash
from fleet_runner.core.firmware.turns import NAMED, Member, MemberStatus, RolloutStep, judge, later, spoiled, unfit
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, State
from tests.core.firmware.rolling import ENDED, START, a_flash, moved
from tests.making import a_node, conditions, held

ASKED = Member("n", 1, RolloutStep.ASKED, "", START, 9)
NEEDED = moved(State.PRODUCTION, Event.FIRMWARE_NEEDED)
PASSED = moved(State.FIRMWARE, Event.PASSED)
BURNED = moved(State.BURN_IN, Event.PASSED)
YES = (True, "REFLASH is pending.")
OURS = {Condition.PENDING: held("BMC 1.2", "rollout 3", detail="REFLASH")}


def seen(state: State = State.PRODUCTION, *moves: Entry, **values: Any) -> MemberStatus:
    """A node that was asked, as it is now."""
    holding = values.pop("conditions", {})
    return MemberStatus(a_node(state, conditions=holding), moves=moves, **values)


def judged(sight: MemberStatus, **values: Any) -> tuple[RolloutStep, str]:
    """What became of it."""
    member = judge(ASKED, sight, "rollout 3", **values)
    return member.turn, member.detail


walks = st.lists(st.sampled_from(Event), max_size=12)


@given(walks, st.sampled_from([None, YES, (False, "no")]), st.booleans(), st.booleans())
def test_whatever_happened_it_is_still_asked_waits_or_has_ended_in_one_way(
    walk: list[Event], answer: tuple[bool, str] | None, pending: bool, off: bool
) -> None:
    """And done means: it is back in production after its firmware."""
    state, moves = State.PRODUCTION, []
    for event in walk:
        row = TRANSITIONS.get((state, event))
        if row is not None:
            moves.append(moved(state, event))
            state = row.to
    sight = seen(state, *moves, answer=answer, conditions=OURS if pending else {})
    member = judge(ASKED, sight, "rollout 3", called_off=off)
    assert member.turn in ENDED | {RolloutStep.ASKED, RolloutStep.WAITING}
    came = [move.to for move in moves]
    if member.turn is RolloutStep.DONE:
        assert State.FIRMWARE in came
        assert State.PRODUCTION in came[came.index(State.FIRMWARE) :]
    if State.FIRMWARE in came:
        assert member.turn not in {RolloutStep.SKIPPED, RolloutStep.WAITING}
    assert judge(ASKED, sight, "rollout 3", called_off=off) == member


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"state": State.RETIRED}, "it is retired"),
        ({"status": None}, "it is no longer in the source of truth"),
        ({"status": "offline"}, "it is 'offline' in the source of truth"),
        ({"conditions": conditions(Condition.HELD)}, "it is held by ann: because"),
        ({"conditions": conditions(Condition.HELD, reason="")}, "it is held by ann: no reason given"),
        ({"conditions": conditions(Condition.MAINTENANCE)}, "it is in maintenance"),
        ({"state": State.VERIFY}, "it is in verify, and comes through firmware on its way to production"),
        ({"state": State.RMA}, "it is in rma, where a person decides"),
        ({"right": True}, "everything is already on its target"),
        ({}, ""),
        ({"state": State.REBOOT}, ""),
    ],
)
def test_who_is_skipped_is_told_why(values: dict[str, Any], why: str) -> None:
    """Each in a few words that can follow its name."""
    assert unfit(Member("n", 1), seen(values.pop("state", State.PRODUCTION), **values)) == why


def test_a_customers_node_is_only_updated_when_somebody_names_it() -> None:
    """After its first delivery, that is: before, it comes through firmware like any other."""
    sight = MemberStatus(a_node(management=Management.CUSTOMER))
    assert "customer-managed" in unfit(Member("n", 1), sight)
    assert unfit(Member("n", 1, detail=NAMED), sight) == ""


def test_a_turn_waits_for_a_reboot_a_burn_in_or_a_remedy() -> None:
    """All of them end by themselves, or a person ends them."""
    assert later(seen(State.REBOOT))
    assert later(seen(State.BURN_IN))
    assert later(seen(conditions=conditions(Condition.PENDING)))
    assert not later(seen(conditions=conditions(Condition.CORDONED, Condition.IN_USE)))


@pytest.mark.parametrize(
    ("sight", "turn", "detail"),
    [
        (seen(), RolloutStep.ASKED, ""),
        (seen(answer=YES, conditions=OURS), RolloutStep.ASKED, ""),
        (seen(State.FIRMWARE, NEEDED, answer=YES), RolloutStep.ASKED, ""),
        (seen(State.BURN_IN, NEEDED, PASSED), RolloutStep.ASKED, ""),
        (seen(State.PRODUCTION, NEEDED, PASSED, BURNED), RolloutStep.DONE, ""),
        (
            seen(State.REBOOT, NEEDED, PASSED, BURNED, moved(State.PRODUCTION, Event.REBOOT_NEEDED)),
            RolloutStep.DONE,
            "",
        ),
        (seen(answer=(False, "It is not.")), RolloutStep.SKIPPED, "It is not."),
        (seen(answer=YES), RolloutStep.SKIPPED, "its update was cancelled before it began"),
        (
            seen(answer=YES, conditions=conditions(Condition.PENDING, by="runner", detail="REBOOT")),
            RolloutStep.SKIPPED,
            "REBOOT came first: because",
        ),
        (
            seen(State.TRIAGE, moved(State.PRODUCTION, Event.TRIAGE_NEEDED), answer=YES),
            RolloutStep.SKIPPED,
            "it went to triage before its update began",
        ),
        (
            seen(answer=YES, conditions=OURS | conditions(Condition.HELD)),
            RolloutStep.SKIPPED,
            "it is held by ann: because",
        ),
        (seen(State.FIRMWARE, NEEDED, conditions=conditions(Condition.HELD)), RolloutStep.ASKED, ""),
    ],
)
def test_what_became_of_a_node(sight: MemberStatus, turn: RolloutStep, detail: str) -> None:
    """Ended, or not yet."""
    assert judged(sight) == (turn, detail)


@pytest.mark.parametrize(
    ("moves", "state"),
    [
        ((NEEDED, moved(State.FIRMWARE, Event.FAILED)), State.FIRMWARE_FAILED),
        ((NEEDED, moved(State.FIRMWARE, Event.OVERDUE)), State.FIRMWARE_FAILED),
        ((NEEDED, PASSED, moved(State.BURN_IN, Event.FAILED)), State.TRIAGE),
        ((NEEDED, moved(State.FIRMWARE, Event.RETIRE)), State.RETIRED),
    ],
)
def test_going_anywhere_but_back_to_production_is_a_failure(moves: tuple[Entry, ...], state: State) -> None:
    """Also when a person brought it back before anybody looked."""
    turn, detail = judged(seen(state, *moves))
    assert turn is RolloutStep.FAILED
    assert detail == f"it went to {state}: {moves[-1].sentence}"
    if state is State.FIRMWARE_FAILED:
        again = moved(State.FIRMWARE_FAILED, Event.RETRY)
        assert judged(seen(State.PRODUCTION, *moves, again, PASSED, BURNED))[0] is RolloutStep.FAILED


def test_a_stopped_rollout_gives_back_what_has_not_begun() -> None:
    """It waits for its turn again; what has begun goes on."""
    member = judge(ASKED, seen(answer=YES, conditions=OURS), "rollout 3", called_off=True)
    assert member == replace(ASKED, turn=RolloutStep.WAITING, intent=None)
    assert judged(seen(State.FIRMWARE, NEEDED), called_off=True) == (RolloutStep.ASKED, "")
    assert judged(seen(State.RETIRED), called_off=True)[0] is RolloutStep.SKIPPED


def test_a_rollback_is_a_failure_at_once() -> None:
    """Though the node is well, and will serve again."""
    back = a_flash(id=2, targets={"BMC": "1.1"}, rolls_back=1, end=None, ended_at=None)
    wrong = a_flash(end=End.FAILED, detail="it is 0.9 now")
    assert judged(seen(State.FIRMWARE, NEEDED, flashes=(wrong, back))) == (
        RolloutStep.FAILED,
        "BMC is rolled back to 1.1",
    )


@pytest.mark.parametrize(
    ("flashes", "finished", "why"),
    [
        ((), True, ""),
        ((a_flash(),), True, ""),
        ((a_flash(end=End.FAILED, detail="it is 1.1 still"),), True, "BMC failed: it is 1.1 still"),
        ((a_flash(end=End.FAILED, detail="it is 1.1 still"),), False, ""),
        ((a_flash(end=End.FAILED), a_flash(id=2)), True, ""),
        ((a_flash(), a_flash(id=2, end=End.FAILED, detail="no")), True, "BMC failed: no"),
        ((a_flash(end=End.FAILED), a_flash(id=2, end=End.NOT_SENT)), True, "BMC failed: "),
        ((a_flash(end=None, ended_at=None),), True, ""),
    ],
)
def test_a_flash_that_failed_and_was_not_made_good_spoils_the_update(
    flashes: tuple[Flash, ...], finished: bool, why: str
) -> None:
    """An accepted version is not the one that was to be rolled out."""
    assert spoiled(flashes, finished=finished) == why
    moves = (NEEDED, PASSED, BURNED) if finished else (NEEDED,)
    if why:
        state = State.PRODUCTION if finished else State.FIRMWARE
        assert judged(seen(state, *moves, flashes=flashes)) == (RolloutStep.FAILED, why)
