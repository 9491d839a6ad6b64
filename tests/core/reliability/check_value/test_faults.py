"""What belongs together is one fault; who was first is told, and what came of it."""

from dataclasses import replace

import pytest

from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.check_value.faults import Confirmed, Fault, faults, is_active
from fleet_runner.core.reliability.check_value.past import DAY, FleetPast, Moved, Remedied, StateHistory
from tests.core.reliability.check_value.builders import SINCE, UNTIL, episode, past


def only(found: tuple[Fault, ...]) -> Fault:
    """Return the one fault that there is."""
    (fault,) = found
    return fault


def test_what_two_checks_saw_of_one_component_is_one_fault_of_the_first() -> None:
    told = [episode(2, "gpu-01", "gemm", 1.25, seen=2), episode(1, "gpu-01", "gpu_errors", 1.0)]
    fault = only(faults(told, past()))
    assert [sight.check for sight in fault.sights] == ["gpu_errors", "gemm"]
    assert (fault.first.check, fault.lead_hours, fault.seen) == ("gpu_errors", 6.0, 3)
    assert fault.lasts == pytest.approx(6 + 5 / 60)
    assert (fault.serving, fault.confirmed) == (True, Confirmed.YES)


def test_another_component_another_node_and_a_later_week_are_other_faults() -> None:
    told = [
        episode(1, "gpu-01", "gemm", 1.0), episode(2, "gpu-01", "gemm", 1.0, component="GPU 4"),
        episode(3, "gpu-02", "gemm", 1.0), episode(4, "gpu-01", "gemm", 8.0),
    ]  # fmt: skip
    assert len(faults(told, past())) == 4


def test_a_check_that_sees_two_things_of_one_fault_is_one_finder() -> None:
    told = [episode(1, "gpu-01", "gemm", 1.0), replace(episode(2, "gpu-01", "gemm", 1.1), code="gemm.slow")]
    fault = only(faults(told, past()))
    assert (len(fault.sights), fault.lead_hours) == (1, None)


@pytest.mark.parametrize(("at", "counted"), [(-1.0, 0), (0.0, 1), (29.0, 1), (30.0, 0)])
def test_a_fault_is_of_the_span_in_which_it_began(at: float, counted: int) -> None:
    assert len(faults([episode(1, "gpu-01", "gemm", at)], past())) == counted


def test_what_was_told_once_and_not_again_was_none_unless_somebody_did_something() -> None:
    """A log tells once, a ticket or a triage may have mended it, and what is new may come again."""
    once = [episode(1, "gpu-01", "gemm", 1.0)]
    assert only(faults(once, past())).confirmed is Confirmed.NO
    for open_one, known in (
        (episode(1, "gpu-01", "xid", 1.0), past()),
        (episode(1, "gpu-01", "", 1.0), past()),
        (episode(1, "gpu-01", "gemm", 29.5), past()),
        (once[0], past(tickets=frozenset({"gpu-01/gemm"}))),
        (once[0], past(moves=(Moved("gpu-01", SINCE + 2 * DAY, State.PRODUCTION, State.TRIAGE),))),
    ):
        assert only(faults([open_one], known)).confirmed is Confirmed.OPEN


@pytest.mark.parametrize(
    ("helped", "confirmed", "unhelped"),
    [(True, Confirmed.YES, 0), (False, Confirmed.OPEN, 1), (None, Confirmed.OPEN, 0)],
)
def test_a_remedy_that_helped_confirms_and_one_that_did_not_is_counted(
    helped: bool | None, confirmed: Confirmed, unhelped: int
) -> None:
    done = Remedied("gpu-01", ("gpu-01/gemm",), SINCE + 2 * DAY, helped)
    fault = only(faults([episode(1, "gpu-01", "gemm", 1.0)], past(remedied=(done,))))
    assert (fault.confirmed, fault.unhelped, fault.mended) == (confirmed, unhelped, helped is True)


@pytest.mark.parametrize(("days", "mended"), [(0.5, False), (2.0, True), (14.0, True), (16.0, False)])
def test_what_was_seen_twice_and_repaired_did_not_pass_by_itself(days: float, mended: bool) -> None:
    moved = (Moved("gpu-01", SINCE + days * DAY, State.TRIAGE, State.ONBOARD, mended=True),)
    twice, once = (episode(1, "gpu-01", "gemm", 1.0, seen=seen) for seen in (2, 1))
    fault = only(faults([twice], past(moves=moved)))
    assert (fault.mended, fault.lasts == 12.0) == (mended, mended)
    assert only(faults([once], past(moves=moved))).lasts == 0.0


def test_a_node_was_where_its_moves_say() -> None:
    moves = (
        Moved("gpu-01", SINCE + 5 * DAY, State.TRIAGE, State.PRODUCTION),
        Moved("gpu-01", SINCE + 3 * DAY, State.BURN_IN, State.TRIAGE),
    )
    where = StateHistory(FleetPast(SINCE, UNTIL, {"gpu-01": State.PRODUCTION, "gpu-02": State.VERIFY}, moves))
    days = [where.at("gpu-01", SINCE + day * DAY) for day in (1, 4, 6)]
    assert days == [State.BURN_IN, State.TRIAGE, State.PRODUCTION]
    assert (where.at("gpu-02", SINCE), where.at("gpu-99", SINCE)) == (State.VERIFY, None)
    assert where.sick_after("gpu-01", SINCE) == SINCE + 3 * DAY
    assert where.sick_after("gpu-01", SINCE + 4 * DAY) is None


def test_what_was_seen_before_service_is_no_fault_in_service() -> None:
    moved = (Moved("gpu-01", SINCE + 3 * DAY, State.BURN_IN, State.PRODUCTION),)
    told = [episode(1, "gpu-01", "gemm", 1.0), episode(2, "gpu-01", "gemm", 10.0)]
    assert [fault.serving for fault in faults(told, past(moves=moved))] == [False, True]


def test_a_check_that_is_gone_takes_no_gpu() -> None:
    assert [is_active(name) for name in ("gemm", "gpu_errors", "gone", "")] == [True, False, False, False]
