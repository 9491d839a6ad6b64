"""Links that run below their peers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.rates import LANE_GBPS, degraded, designed_rate, gbps
from tests.core.cabling.fabrics import SERVERS, rails

RATES = st.one_of(
    st.builds(lambda width, speed: f"{width}x {speed}", st.sampled_from([1, 2, 4]), st.sampled_from(list(LANE_GBPS)))
)


LINKS = st.sampled_from(rails(4, 2))
KINDS = st.sampled_from(["infiniband-ndr", "infiniband-hdr", "infiniband", "infiniband-odr"])


@given(
    st.dictionaries(LINKS, st.one_of(RATES, st.just(""), st.just("4x ODR"))),
    st.one_of(st.just({}), st.dictionaries(LINKS, KINDS)),
)
def test_what_is_degraded_runs_below_what_it_is_held_against(there: dict[Link, str], kinds: dict[Link, str]) -> None:
    for joined, rate, against in degraded(there, SERVERS, kinds):
        assert there[joined] == rate
        told, width, speed = against.rsplit(" ", 2)
        assert 0 < gbps(rate) < gbps(f"{width} {speed}")
        assert told == ("designed" if designed_rate(kinds.get(joined, "")) else "most run at")


@given(st.sampled_from(["", "4x NDR", "4x ODR"]))
def test_where_all_run_alike_none_is_degraded(rate: str) -> None:
    """Also where nobody tells."""
    assert degraded(dict.fromkeys(rails(), rate), SERVERS, {}) == ()


def test_servers_links_are_held_against_servers_links_and_trunks_against_trunks() -> None:
    designed = rails(3, 2)
    down = [each for each in designed if each.a.device in SERVERS]
    up = [each for each in designed if each not in down]
    rates = dict.fromkeys(down, "4x NDR") | dict.fromkeys(up, "4x XDR")
    found = degraded(rates | {down[1]: "1x NDR", up[0]: "4x HDR", down[0]: "", down[2]: "4x XDR"}, SERVERS, {})
    assert found == ((down[1], "1x NDR", "most run at 4x NDR"), (up[0], "4x HDR", "most run at 4x XDR"))


def test_a_link_is_held_against_its_designed_type() -> None:
    """HDR servers in an NDR fabric are no slow ones, and a slow one among them is."""
    designed = rails(4, 2)
    kinds = {each: "infiniband-hdr" if each.a.device == "gpu-01" else "infiniband-ndr" for each in designed}
    rates = {each: designed_rate(kind) for each, kind in kinds.items()}
    assert degraded(rates, SERVERS, kinds) == ()
    assert degraded(rates | {designed[0]: "4x EDR", designed[2]: "2x NDR"}, SERVERS, kinds) == (
        (designed[0], "4x EDR", "designed 4x HDR"),
        (designed[2], "2x NDR", "designed 4x NDR"),
    )


def test_where_all_run_alike_and_slower_than_designed_all_are_degraded() -> None:
    designed = rails(4, 2)
    found = degraded(dict.fromkeys(designed, "4x HDR"), SERVERS, dict.fromkeys(designed, "infiniband-ndr"))
    assert [each for each, _, _ in found] == sorted(designed)


def test_where_a_type_says_no_speed_its_links_are_held_against_most_of_them() -> None:
    designed = rails(4, 2)
    kinds = dict.fromkeys(designed, "infiniband-hdr") | dict.fromkeys(designed[:3], "infiniband")
    rates = dict.fromkeys(designed, "4x HDR") | dict.fromkeys(designed[:2], "4x EDR") | {designed[2]: "1x EDR"}
    assert degraded(rates, SERVERS, kinds) == ((designed[2], "1x EDR", "most run at 4x EDR"),)


def test_where_most_of_a_type_run_at_half_its_lanes_they_hang_on_splitter_cables() -> None:
    """Two adapters with two lanes each at one port of a switch; the type says nothing of that."""
    designed = [each for each in rails(4, 2) if each.a.device in SERVERS]
    kinds = dict.fromkeys(designed, "infiniband-hdr")
    rates = dict.fromkeys(designed, "2x HDR") | {designed[0]: "1x HDR", designed[1]: "2x EDR"}
    assert degraded(rates, SERVERS, kinds) == (
        (designed[0], "1x HDR", "designed 2x HDR"),
        (designed[1], "2x EDR", "designed 2x HDR"),
    )


@pytest.mark.parametrize(("rate", "carries"), [("4x SDR", 10.0), ("2x FDR10", 20.6), ("", 0.0), ("4x ???", 0.0)])
def test_a_rate_carries_its_lanes(rate: str, carries: float) -> None:
    assert gbps(rate) == carries
