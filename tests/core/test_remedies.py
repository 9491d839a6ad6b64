"""From findings to the one remedy that should follow."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.remedies import EVENTS, ORDER, needed
from fleet_runner.core.verdicts import Remedy, Verdict
from tests.making import SINCE, a_finding, stored


@given(st.lists(st.sampled_from(list(Remedy)), max_size=5))
def test_the_hardest_remedy_wins(remedies: list[Remedy]) -> None:
    """And those that move nothing call for nothing."""
    need = needed([stored(a_finding(remedy), id=index) for index, remedy in enumerate(remedies)], SINCE)
    moving = [remedy for remedy in remedies if remedy in EVENTS]
    assert (need.remedy if need else None) == max(moving, key=ORDER.index, default=None)


def test_every_result_that_calls_for_it_is_named() -> None:
    """So that explain can show them all."""
    need = needed([stored(a_finding(), id=3), stored(a_finding(Remedy.TRIAGE), id=8)], SINCE)
    assert need is not None
    assert need.results == (3, 8)


def test_old_unknown_and_waived_findings_call_for_nothing() -> None:
    """UNKNOWN is not FAIL; what was before this state is over; a person's word counts."""
    assert needed([stored(a_finding(), at=SINCE - 1)], SINCE) is None
    assert needed([stored(a_finding(), verdict=Verdict.UNKNOWN)], SINCE) is None
    assert needed([stored(a_finding())], SINCE, frozenset({"gpu-01/xid.79/GPU 3"})) is None
