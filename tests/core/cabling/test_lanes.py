"""Ports that are broken out: a far end at any lane of its port is as designed, and no lane is guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling import ethernet
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.lanes import is_lane, numbered, paired, shared
from fleet_runner.core.cabling.links import Link, Port, link, matching
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers.lldp import Neighbour

NEAR = Port("leaf-1", "7")
HOSTS = [Port("gpu-1", "ib0"), Port("gpu-2", "ib0")]
DESIGNED = [link(NEAR, host) for host in HOSTS]
OTHER = link(Port("gpu-3", "ib0"), Port("leaf-1", "9"))
PORTS = st.builds(Port, st.sampled_from(["leaf-1", "leaf-2", "gpu-1", "gpu-2"]), st.sampled_from("179"))
LINKS = st.lists(st.tuples(PORTS, PORTS).map(lambda pair: link(*pair)).filter(lambda each: each.a != each.b))


def lane(number: int) -> Port:
    return Port("leaf-1", f"7/{number}")


@given(LINKS, LINKS)
def test_whatever_is_seen_no_port_has_two_cables_and_none_is_lost(designed: list[Link], seen: list[Link]) -> None:
    every = list(dict.fromkeys(designed))
    taken = shared(seen)
    found = paired(every, shared(every), [each for each in seen if taken.isdisjoint(each)])
    assert len(found.links) + len(found.untold) == len(every)
    far = [each for each in found.links if each in every]
    assert not shared(far) & shared(every)


def test_a_far_end_at_any_lane_of_its_port_is_as_designed() -> None:
    seen = [link(HOSTS[0], lane(2)), link(HOSTS[1], lane(1))]
    found = paired([*DESIGNED, OTHER], {NEAR}, [*seen, OTHER])
    assert set(found.links) == {*seen, OTHER}
    assert found.untold == ()
    assert matching(found.links)


def test_one_elsewhere_on_that_device_may_be_at_a_lane_that_is_called_otherwise() -> None:
    found = paired(DESIGNED, {NEAR}, [link(HOSTS[0], Port("leaf-1", "8")), link(HOSTS[1], lane(1))])
    assert found.untold == (DESIGNED[0],)


def test_one_that_is_seen_nowhere_or_elsewhere_is_expected_at_a_lane_that_is_named_after_it() -> None:
    found = paired(DESIGNED, {NEAR}, [link(HOSTS[0], Port("leaf-2", "8"))])
    assert [port.interface for each in found.links for port in each if port.device == "leaf-1"] == [
        "7 (the lane to gpu-1 ib0)",
        "7 (the lane to gpu-2 ib0)",
    ]


def test_two_ports_that_are_both_broken_out_to_each_other_are_not_compared() -> None:
    a, b = Port("leaf-1", "1"), Port("leaf-2", "1")
    assert paired([link(a, b)], {a, b}, []).untold == (link(a, b),)


def test_without_a_breakout_the_design_stays_as_it_is() -> None:
    assert paired([OTHER], frozenset(), DESIGNED).links == (OTHER,)
    assert shared([OTHER, OTHER]) == frozenset()
    assert shared(DESIGNED) == {NEAR}


@pytest.mark.parametrize("name", ["7", "7/1", "7s0", "7:2", "7.1", "7-4", "7_1"])
def test_lanes_are_named_after_their_port(name: str) -> None:
    assert is_lane(name, "7")


@pytest.mark.parametrize("name", ["71", "8", "7/", "7/x", "7/1/1", "17"])
def test_other_ports_are_no_lanes(name: str) -> None:
    assert not is_lane(name, "7")


@pytest.mark.parametrize("lanes", [("7s0", "7s1"), ("7s1", "7s0")])
def test_lanes_that_a_switch_hears_its_servers_at_are_as_designed(lanes: tuple[str, str]) -> None:
    heard = [Neighbour(name, host.device, host.interface, "") for name, host in zip(lanes, HOSTS, strict=True)]
    known = names([port for each in DESIGNED for port in each], {}, {})
    where = Places({}, {}, frozenset({"gpu-1", "gpu-2"}), lanes=frozenset({NEAR}))
    verdicts = ethernet.judge(DESIGNED, {"leaf-1": heard}, known, where)
    assert (verdicts.faults, verdicts.matched, verdicts.designed) == ((), 2, 2)


def test_lanes_of_a_split_port_are_numbered_as_infiniband_does() -> None:
    assert numbered(("cable 1", each) for each in DESIGNED) == {
        each: link(host, lane(at)) for at, (each, host) in enumerate(zip(DESIGNED, HOSTS, strict=True), start=1)
    }


@pytest.mark.parametrize(
    "split",
    [
        [OTHER],
        [*DESIGNED, link(NEAR, Port("gpu-3", "ib0"))],
        [link(Port("leaf-1", "uplink"), host) for host in HOSTS],
        [DESIGNED[0], OTHER],
    ],
)
def test_other_cables_keep_their_ports(split: list[Link]) -> None:
    """One far end, three of them, a port without a number, and ends that share no port."""
    assert numbered(("cable 1", each) for each in split) == {}
