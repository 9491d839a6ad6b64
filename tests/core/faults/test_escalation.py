"""What was tried for a fault is not tried again: the next rung, or a person."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.escalation import Attempt, climb, going_on, recurring
from fleet_runner.core.faults.rules.rules import LADDER, Cap, Rules
from tests.making import NOW, an_attempt

DAY = 86_400.0
FAULT, OTHER = "gpu-01/xid.119/GPU 3", "gpu-01/nvlink.down/GPU 1"
ROOMY = Rules(caps={each: Cap(1000) for each in LADDER})

remedies = st.sampled_from(LADDER)
attempts = st.lists(
    st.builds(
        lambda remedy, fault, ago: an_attempt(remedy, faults=(fault,), at=NOW - ago),
        remedies,
        st.sampled_from((FAULT, OTHER)),
        st.floats(0, 20 * DAY),
    ),
    max_size=8,
)


def test_the_first_try_is_what_the_rules_say() -> None:
    """Nothing was tried: nothing is told."""
    assert climb(Remedy.RESET, {FAULT}, (), Rules(), NOW) == (Remedy.RESET, "")


@pytest.mark.parametrize(
    ("tried", "expected"),
    [
        ((Remedy.RESTART,), Remedy.RESET),
        ((Remedy.RESET,), Remedy.REBOOT),
        ((Remedy.RESET, Remedy.REBOOT), Remedy.POWER_CYCLE),
        ((Remedy.POWER_CYCLE,), Remedy.TRIAGE),
        ((Remedy.POWER_CYCLE, Remedy.RESET), Remedy.TRIAGE),
    ],
)
def test_the_same_fault_climbs(tried: tuple[Remedy, ...], expected: Remedy) -> None:
    """Never back to what was tried, nor to anything milder."""
    known = [an_attempt(remedy, faults=(FAULT,)) for remedy in tried]
    assert climb(Remedy.RESTART, {FAULT}, known, ROOMY, NOW).remedy is expected


def test_another_fault_starts_anew_and_an_old_one_is_forgotten() -> None:
    """Memory is of a fault, for so long."""
    assert climb(Remedy.RESET, {OTHER}, [an_attempt(faults=(FAULT,))], ROOMY, NOW).remedy is Remedy.RESET
    old = an_attempt(faults=(FAULT,), at=NOW - 8 * DAY)
    assert climb(Remedy.RESET, {FAULT}, [old], ROOMY, NOW) == (Remedy.RESET, "")


def test_the_sentence_says_what_was_tried_when_and_what_came_of_it() -> None:
    """A person reads it in the history."""
    known = [
        an_attempt(Remedy.RESTART, helped=True, because="It was verified."),
        an_attempt(Remedy.RESET, at=NOW - 1800, because="verify failed."),
        an_attempt(Remedy.REBOOT, at=NOW - 600, helped=None, because=""),
    ]
    rung = climb(Remedy.RESTART, {FAULT}, known, ROOMY, NOW)
    assert rung.remedy is Remedy.POWER_CYCLE
    assert rung.sentence == (
        "RESTART at 1970-01-12 12:46 UTC did not last: the fault is back. RESET at 1970-01-12 13:16 UTC did not "
        "help: verify failed. REBOOT at 1970-01-12 13:36 UTC: its result is unknown. POWER_CYCLE comes next."
    )


@pytest.mark.parametrize("boot", [Remedy.REBOOT, Remedy.POWER_CYCLE])
def test_a_node_that_was_just_booted_is_not_reset(boot: Remedy) -> None:
    """For whatever fault it was: its GPUs have begun anew, and here is a fault again. A boot may be tried."""
    boots = [an_attempt(boot, faults=(OTHER,), at=NOW - ago, helped=True) for ago in (11.9 * 3600, 12 * 3600)]
    assert climb(Remedy.RESET, {FAULT}, boots, Rules(), NOW) == (
        Remedy.REBOOT,
        f"A RESET is left out after the {boot} at 1970-01-12 01:52 UTC. REBOOT comes next.",
    )
    assert climb(Remedy.RESET, {FAULT}, boots[1:], Rules(), NOW) == (Remedy.RESET, "")
    assert climb(Remedy.RESTART, {FAULT}, boots, Rules(), NOW) == (Remedy.RESTART, "")
    restarted = [*boots, an_attempt(Remedy.RESTART, faults=(FAULT,))]
    assert climb(Remedy.RESTART, {FAULT}, restarted, Rules(), NOW).remedy is Remedy.REBOOT
    assert climb(Remedy.RESET, {FAULT}, boots, Rules(ladder=(Remedy.RESET,)), NOW).remedy is Remedy.TRIAGE


def test_a_cap_ends_in_front_of_a_person() -> None:
    """No remediation loop, whatever the faults are."""
    known = [an_attempt(Remedy.REBOOT, faults=(f"f{number}",), at=NOW - number) for number in range(3)]
    assert climb(Remedy.REBOOT, {FAULT}, known, Rules(), NOW) == (
        Remedy.TRIAGE,
        "REBOOT was tried 3 of at most 3 times in 24 h: a person decides.",
    )


def test_a_fleet_may_leave_rungs_out() -> None:
    """The next one that it has is taken; where there is none, a person is."""
    short = Rules(ladder=(Remedy.RESET, Remedy.POWER_CYCLE))
    assert climb(Remedy.RESTART, {FAULT}, (), short, NOW).remedy is Remedy.RESET
    assert climb(Remedy.REBOOT, {FAULT}, (), short, NOW).remedy is Remedy.POWER_CYCLE
    assert climb(Remedy.POWER_CYCLE, {FAULT}, (), Rules(ladder=(Remedy.RESET,)), NOW) == (
        Remedy.TRIAGE,
        "No harder remedy is left: a person decides.",
    )


@given(st.sampled_from((Remedy.TRIAGE, Remedy.RMA)), attempts)
def test_what_people_do_is_no_rung(remedy: Remedy, known: list[Attempt]) -> None:
    """It stays as it is."""
    assert climb(remedy, {FAULT}, known, Rules(), NOW) == (remedy, "")


@given(remedies, attempts)
def test_nothing_is_tried_twice_nor_beyond_its_cap(first: Remedy, known: list[Attempt]) -> None:
    """Whatever was tried, in whatever order."""
    rules = Rules()
    remedy = climb(first, {FAULT}, known, rules, NOW).remedy
    if remedy is Remedy.TRIAGE:
        return
    assert LADDER.index(remedy) >= LADDER.index(first)
    mine = [each for each in known if FAULT in each.faults and each.at > NOW - rules.memory]
    assert all(LADDER.index(each.remedy) < LADDER.index(remedy) for each in mine)
    cap = rules.caps[remedy]
    assert sum(each.remedy is remedy and each.at > NOW - cap.within for each in known) < cap.most


def test_a_fault_that_is_back_did_not_stay_away() -> None:
    """Only what seemed to help against it, and is remembered, is taken back."""
    ids: dict[str, Any] = {
        "back": an_attempt(id=1, helped=True),
        "failed": an_attempt(id=2, helped=False),
        "old": an_attempt(id=3, helped=True, at=NOW - 9 * DAY),
        "other": an_attempt(id=4, helped=True, faults=(OTHER,)),
    }
    assert recurring({FAULT}, ids.values(), Rules(), NOW) == (ids["back"],)


def test_one_attempt_goes_on_at_most() -> None:
    """That which has no end yet."""
    open_one = an_attempt(id=9, ended_at=None, helped=None)
    assert going_on([an_attempt(), open_one]) == open_one
    assert going_on([an_attempt()]) is None
