"""Cables between switches that were heard before, and that neither end hears any more."""

import json
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling import lost_links
from fleet_runner.core.cabling.ethernet_sweep import SweepVerdicts
from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.plan import apply
from fleet_runner.core.checks.parsers.forwarding import Learned
from tests.core.cabling.ethernet_halls import Hall, hall, heard, swept
from tests.examples import examples

PLAIN = hall(servers=8, rails=2, spines=2)
PEER = tuple(link(Port("spine-0", f"swp{port}"), Port("spine-1", f"swp{port}")) for port in (63, 64))
HALL = PLAIN._replace(links=(*PLAIN.links, *PEER))
BETWEEN = lost_links.between(HALL.links, HALL.servers)


def sweep(gone: Iterable[Link], before: Iterable[Link] = BETWEEN, of: Hall = HALL, silent: str = "") -> SweepVerdicts:
    """Sweep without some cables; every switch is read, and one may neither say nor hear anything."""
    out = set(gone)
    there = [each for each in of.links if each not in out and silent not in {each.a.device, each.b.device}]
    return swept(of, heard(there, of.switches), between=frozenset(before))


def test_a_peer_link_that_is_out_is_one_fault_that_asks_for_the_ports_first() -> None:
    (fault,) = sweep(PEER).verdicts.faults
    assert (fault.kind, fault.key, fault.subjects) == (
        Kind.MISSING,
        "cabling/lost/spine-0/spine-1",
        ("spine-0", "spine-1"),
    )
    assert fault.message == (
        "spine-0 and spine-1 do not hear each other any more over 2 of 2 designed cables: spine-0 swp63 to spine-1 "
        "swp63, spine-0 swp64 to spine-1 swp64. An earlier sweep heard them, and both switches hear others."
    )
    assert fault.steps == (
        "Ask both switches whether these ports are up: spine-0 swp63, spine-0 swp64, spine-1 swp63, spine-1 swp64.",
        "If they are up, LLDP was switched off there: switch it on, and move no cable.",
        "If they are down, reseat the cable at spine-0 port swp63 and spine-1 port swp63; if it stays, replace it.",
        "If they are down, reseat the cable at spine-0 port swp64 and spine-1 port swp64; if it stays, replace it.",
    )
    assert fault.touches == 0
    assert apply(fault.actions, fault.observed) == set(PEER)


def test_one_of_two_cables_has_the_same_key_and_an_uplink_is_told_too() -> None:
    uplink = next(each for each in PLAIN.links if each.b == Port("spine-1", "swp1"))
    one, other = sweep([PEER[1], uplink]).verdicts.faults
    assert (one.key, other.key) == ("cabling/lost/leaf-0-0/spine-1", "cabling/lost/spine-0/spine-1")
    assert "over 1 of 2 designed cables: spine-0 swp64 to spine-1 swp64." in other.message
    assert (one.expected, other.expected) == ((uplink,), (PEER[1],))


def test_a_lost_cable_is_absent_and_no_doubt() -> None:
    found = sweep(PEER)
    assert not found.verdicts.silent
    assert not found.mute
    assert set(found.verdicts.absent) == set(PEER)
    assert found.verdicts.matched == len(PLAIN.links)
    assert found.between == BETWEEN  # it stays remembered, or the next sweep would call it unknown


def test_a_cable_that_nobody_heard_before_stays_unknown() -> None:
    found = sweep(PEER, before=BETWEEN - set(PEER))
    assert found.verdicts.faults == ()
    assert set(found.verdicts.silent) == set(PEER)
    assert found.between == BETWEEN - set(PEER)
    assert sweep(PEER, before=()).verdicts.faults == ()


def test_it_is_no_fault_once_it_is_heard_again_at_either_end() -> None:
    assert sweep(()).verdicts.faults == ()
    rows = heard(PLAIN.links, HALL.switches)
    rows["spine-1"] += heard(PEER, ["spine-1"])["spine-1"]
    assert swept(HALL, rows, between=BETWEEN).verdicts.faults == ()


def test_a_switch_that_hears_nobody_at_all_says_nothing_of_its_cables() -> None:
    """LLDP does not run on it: it was started anew, or switched off."""
    found = sweep((), silent="spine-1")
    assert found.verdicts.faults == ()
    assert all("spine-1" in {each.a.device, each.b.device} for each in found.verdicts.silent)


def test_a_port_that_learned_addresses_is_up_and_its_cable_in_place() -> None:
    macs: dict[str, tuple[Learned, ...]] = {
        "spine-1": (Learned("swp63", "02:00:00:00:00:01"),),
        "spine-0": (Learned("bond9", "02:00:00:00:00:02"),),
    }
    found = swept(HALL, heard(PLAIN.links, HALL.switches), macs=macs, between=BETWEEN)
    (fault,) = found.verdicts.faults
    assert (fault.expected, found.verdicts.silent) == ((PEER[1],), (PEER[0],))
    other: dict[str, tuple[Learned, ...]] = {"spine-0": (Learned("swp63", "02:00:00:00:00:01"),)}
    (fault,) = swept(HALL, heard(PLAIN.links, HALL.switches), macs=other, between=BETWEEN).verdicts.faults
    assert fault.expected == (PEER[1],)


def test_cables_through_one_trunk_are_one_fault_of_the_trunk() -> None:
    mine = [each for each in PLAIN.links if each.a.device.startswith("leaf-0")]
    found = swept(
        HALL,
        heard([each for each in HALL.links if each not in mine], HALL.switches),
        between=BETWEEN,
        carriers=dict.fromkeys(mine, ("trunk T-1",)),
    )
    assert [(fault.kind, fault.key) for fault in found.verdicts.faults] == [
        (Kind.CARRIER, "cabling/carrier/trunk T-1")
    ]


def test_too_many_at_once_are_no_faults_of_cables() -> None:
    wide = hall(servers=24, rails=2, spines=2)
    every = lost_links.between(wide.links, wide.servers)
    assert len(every) > 20
    rows = heard([each for each in wide.links if each not in every], wide.switches)
    for at, leaf in enumerate(name for name in wide.switches if name.startswith("leaf")):  # spines hear others still
        rows[f"spine-{at % 2}"] += heard(
            [link(Port(leaf, "swp99"), Port(f"spine-{at % 2}", f"swp{at + 50}"))], [leaf]
        )[leaf]
    found = swept(wide, rows, between=every)
    assert not any(fault.key.startswith("cabling/lost/") for fault in found.verdicts.faults)


@given(st.frozensets(st.sampled_from(sorted(HALL.links))))
@settings(max_examples=examples(100))
def test_what_is_written_is_remembered(links: frozenset[Link]) -> None:
    kept = json.loads(json.dumps(lost_links.written(links)))
    assert lost_links.remembered(kept, HALL.links) == links


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda each: st.lists(each) | st.dictionaries(st.text(), each)
    )
)
@settings(max_examples=examples(100))
def test_what_cannot_be_read_was_not_heard(told: object) -> None:
    assert lost_links.remembered(told, HALL.links) == frozenset()
    assert lost_links.remembered({"spine-0": told}, HALL.links) == frozenset()
    assert lost_links.remembered({"spine-0": {"spine-1": told}}, PLAIN.links) == frozenset()


@given(st.frozensets(st.sampled_from(sorted(BETWEEN))), st.frozensets(st.sampled_from(HALL.switches)))
@settings(max_examples=examples(200))
def test_right_cables_are_never_lost_whoever_says_nothing(gone: frozenset[Link], mute: frozenset[str]) -> None:
    """Switches that are mute neither say nor hear anything; of all others each lost cable is told, and no other."""
    dumb = {each for each in HALL.links if not mute.isdisjoint({each.a.device, each.b.device})}
    faults = sweep(gone | dumb).verdicts.faults
    told = {each for fault in faults for each in fault.expected}
    assert told <= gone - dumb
    assert len(faults) == len({(each.a.device, each.b.device) for each in told})
