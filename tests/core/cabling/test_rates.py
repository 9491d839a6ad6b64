"""Links that run below their peers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.rates import LANE_GBPS, degraded, gbps
from tests.core.cabling.fabrics import SERVERS, rails

RATES = st.one_of(
    st.builds(lambda width, speed: f"{width}x {speed}", st.sampled_from([1, 2, 4]), st.sampled_from(list(LANE_GBPS)))
)


@given(st.dictionaries(st.sampled_from(rails(4, 2)), st.one_of(RATES, st.just(""), st.just("4x ODR"))))
def test_what_is_degraded_runs_below_most_of_its_kind(there: dict[Link, str]) -> None:
    for joined, rate, usual in degraded(there, SERVERS):
        assert there[joined] == rate
        assert 0 < gbps(rate) < gbps(usual)


@given(st.sampled_from(["", "4x NDR", "4x ODR"]))
def test_where_all_run_alike_none_is_degraded(rate: str) -> None:
    """Also where nobody tells."""
    assert degraded(dict.fromkeys(rails(), rate), SERVERS) == ()


def test_servers_links_are_held_against_servers_links_and_trunks_against_trunks() -> None:
    designed = rails(3, 2)
    down = [each for each in designed if each.a.device in SERVERS]
    up = [each for each in designed if each not in down]
    rates = dict.fromkeys(down, "4x NDR") | dict.fromkeys(up, "4x XDR")
    found = degraded(rates | {down[1]: "1x NDR", up[0]: "4x HDR", down[0]: "", down[2]: "4x XDR"}, SERVERS)
    assert found == ((down[1], "1x NDR", "4x NDR"), (up[0], "4x HDR", "4x XDR"))


@pytest.mark.parametrize(("rate", "carries"), [("4x SDR", 10.0), ("2x FDR10", 20.6), ("", 0.0), ("4x ???", 0.0)])
def test_a_rate_carries_its_lanes(rate: str, carries: float) -> None:
    assert gbps(rate) == carries
