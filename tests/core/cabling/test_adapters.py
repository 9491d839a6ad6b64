"""Adapters that do not stand where their GUIDs are known, and adapters of which nobody knows the GUID."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.ends import bind_end
from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.judge import Verdicts, hold
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.cabling.plan import Record, apply
from fleet_runner.core.checks.parsers.discovery import FabricPort
from tests.core.cabling.fabrics import SERVERS, places, rails
from tests.core.cabling.plugging import FACTORY_HCA, Said, exchanged, guid_of, judged, swapped, without

DESIGN = rails(6, 6)
G1, G2, G3 = (Port(f"gpu-0{number}", "ib0") for number in (1, 2, 3))
L1, L2, L3 = (Port("leaf-1", str(number)) for number in (1, 2, 3))
ALL = [port for each in DESIGN for port in each if port.device in SERVERS]
NEW = "00000000000000ee"


def clean(verdicts: Verdicts) -> None:
    """Nothing is in doubt or left out."""
    assert (verdicts.doubts, verdicts.silent, verdicts.unbound, verdicts.suspect) == ((), (), (), "")


def test_an_adapter_that_was_moved_to_another_server_is_recorded_there() -> None:
    """Its description is the new server's, and that one's cable is right; the old one's slot is empty."""
    plugged = [each for each in DESIGN if G2 not in each]
    verdicts = judged(DESIGN, plugged, guids={G1: guid_of(G2)}, known=[G1, G2])
    missing, replaced = sorted(verdicts.faults, key=lambda fault: fault.kind)
    assert (missing.kind, missing.expected) == (Kind.MISSING, (link(G2, L2),))
    assert (replaced.kind, replaced.key) == (Kind.REPLACED_HCA, "cabling/replaced/gpu-01")
    assert replaced.actions == (Record("gpu-01", "ib0", guid_of(G1), guid_of(G2)),)
    assert f"at gpu-01 ib0 0x{guid_of(G2)}, known at gpu-02 ib0, instead of 0x{guid_of(G1)}." in replaced.message
    clean(verdicts)


def test_an_adapter_that_was_moved_to_where_none_was_known_says_so() -> None:
    plugged = [each for each in DESIGN if G2 not in each]
    verdicts = judged(DESIGN, plugged, guids={G1: guid_of(G2)}, known=[G2])
    (replaced,) = (fault for fault in verdicts.faults if fault.kind is Kind.REPLACED_HCA)
    assert replaced.actions == (Record("gpu-01", "ib0", "", guid_of(G2)),)
    assert "where none is recorded." in replaced.message


@pytest.mark.parametrize("known", [[G1, G2], ALL])
def test_adapters_that_were_exchanged_are_recorded_at_both_servers_and_no_cable_is_moved(known: list[Port]) -> None:
    verdicts = judged(DESIGN, DESIGN, guids={G1: guid_of(G2), G2: guid_of(G1)}, known=known)
    assert [fault.actions for fault in verdicts.faults] == [
        (Record("gpu-01", "ib0", guid_of(G1), guid_of(G2)),),
        (Record("gpu-02", "ib0", guid_of(G2), guid_of(G1)),),
    ]
    assert verdicts.matched == len(DESIGN)
    clean(verdicts)


def test_an_adapter_whose_guid_and_description_name_two_servers_and_neither_fits_is_doubted() -> None:
    """Nobody knows whose cable it is; the cable that took its port waits with it."""
    plugged = swapped(DESIGN, link(G1, L1), link(G3, L3))
    verdicts = judged(DESIGN, plugged, guids={G1: guid_of(G2), G2: NEW}, known=[G1, G2], called={G2: FACTORY_HCA})
    assert verdicts.faults == ()
    assert {doubt.designed for doubt in verdicts.doubts} >= {link(G1, L1), link(G3, L3)}


def test_an_adapter_that_its_guid_fits_is_where_it_belongs_whatever_it_says() -> None:
    verdicts = judged(DESIGN, DESIGN, {G1: "gpu-02 ib0"}, known=ALL)
    assert verdicts.faults == ()
    clean(verdicts)


def test_where_guid_and_description_name_one_server_the_guid_tells_which_port() -> None:
    """Drivers count adapters anew; a swapped cable is told all the same."""
    plugged = swapped(DESIGN, link(G1, L1), link(G2, L2))
    verdicts = judged(DESIGN, plugged, {G1: "gpu-01 ib5"}, known=ALL)
    (fault,) = verdicts.faults
    assert fault.kind is Kind.SWAP
    assert apply(fault.actions, plugged) == set(DESIGN)
    clean(verdicts)


def test_two_adapters_of_one_description_are_not_both_there() -> None:
    """Another one that its name binds there, and that stands elsewhere: neither is believed to be the one."""
    plugged = [each for each in DESIGN if G2 not in each and G1 not in each]
    plugged += [link(G2, L1), link(G1, Port("leaf-1", "60"))]
    verdicts = judged(DESIGN, plugged, {G2: "gpu-01 ib0"}, known=[G2])
    assert sorted((fault.kind, fault.expected) for fault in verdicts.faults) == [
        (Kind.MISSING, (link(G2, L2),)),
        (Kind.OCCUPIED, (link(G1, L1),)),
    ]


def test_a_new_adapter_whose_cable_was_swapped_is_the_one_that_is_left() -> None:
    """Nothing names it, but one known GUID is gone, and one port is without a cable."""
    plugged = swapped(DESIGN, link(G1, L1), link(G2, L2))
    verdicts = judged(DESIGN, plugged, {G1: FACTORY_HCA}, {G1: NEW}, ALL)
    (fault,) = verdicts.faults
    named = judged(DESIGN, plugged, known=ALL).faults[0]
    assert (fault.kind, fault.key, fault.actions) == (Kind.SWAP, named.key, named.actions)
    clean(verdicts)


@pytest.mark.parametrize(("name", "known"), [(FACTORY_HCA, []), ("gpu-03 mlx5_9", ALL)])
def test_a_new_adapter_that_may_be_anybodys_is_doubted_with_the_cables_in_its_way(
    name: str, known: list[Port]
) -> None:
    """No GUID is known where it belongs, or it says that it belongs elsewhere."""
    plugged = swapped(DESIGN, link(G1, L1), link(G2, L2))
    verdicts = judged(DESIGN, plugged, {G1: name}, {G1: NEW}, known)
    assert verdicts.faults == ()
    assert [(doubt.designed, doubt.seen.a) for doubt in verdicts.doubts] == [
        (link(G2, L2), Port(f"{name} 0x{NEW}", "1")),
        (link(G1, L1), G2),
    ]


@given(st.text("0123456789abcdef", min_size=16, max_size=16))
def test_a_fault_beside_a_nameless_adapter_has_one_key_whichever_it_is(guid: str) -> None:
    """It is in the way of a cable that is elsewhere, and may be replaced again."""
    plugged = [*(each for each in DESIGN if G1 not in each and G2 not in each), link(G1, L2), link(G2, L1)]
    plugged = [*(each for each in plugged if G1 not in each), link(Port("gpu-99", "ib0"), L2)]
    plugged.append(link(G1, Port("leaf-1", "60")))
    (fault,) = judged(DESIGN, plugged, {Port("gpu-99", "ib0"): FACTORY_HCA}, {Port("gpu-99", "ib0"): guid}).faults
    assert any(port.device.endswith(guid) for port in fault.ports)
    (other,) = judged(DESIGN, plugged, {Port("gpu-99", "ib0"): FACTORY_HCA}, {Port("gpu-99", "ib0"): NEW}).faults
    assert fault.key == other.key


def named(one: str, other: str) -> dict[Port | str, str]:
    """Return what the adapters of two servers say that call themselves by each other's name."""
    turned = {one: other, other: one}
    return {port: f"{turned[port.device]} {port.interface}" for port in ALL if port.device in turned}


@pytest.mark.parametrize("count", [1, 2, 5])
def test_names_that_were_exchanged_are_one_fault_where_guids_stand_in_their_places(count: int) -> None:
    """However many GUIDs of each server are known; no cable and no device is moved."""
    known = [port for port in ALL if int(port.interface[2:]) < count]
    verdicts = judged(DESIGN, DESIGN, named("gpu-01", "gpu-02"), known=known)
    (fault,) = verdicts.faults
    assert (fault.kind, fault.key, fault.actions) == (Kind.EXCHANGED, "cabling/exchanged/gpu-01+gpu-02", ())
    assert fault.message == (
        "gpu-01, gpu-02 answer by each other's names: known GUIDs of gpu-01, gpu-02 are seen in their own places."
    )
    assert fault.steps[1] == "Correct the names of the hosts, and move neither a device nor a cable."
    assert verdicts.matched == len(DESIGN)
    clean(verdicts)


def test_a_cable_that_is_swapped_beside_exchanged_names_is_a_fault_of_its_own() -> None:
    one, other = (link(Port(f"gpu-0{gpu}", "ib3"), Port("leaf-4", str(gpu))) for gpu in (1, 5))
    plugged = swapped(DESIGN, one, other)
    faults = judged(DESIGN, plugged, named("gpu-01", "gpu-02"), known=[G1, G2]).faults
    assert [fault.kind for fault in faults] == [Kind.EXCHANGED, Kind.SWAP]
    assert apply([action for fault in faults for action in fault.actions], plugged) == set(DESIGN)


def test_where_the_guids_of_one_server_alone_are_known_its_names_are_exchanged_all_the_same() -> None:
    """What then claims its port by name is in doubt."""
    verdicts = judged(DESIGN, DESIGN, named("gpu-01", "gpu-02"), known=[G1])
    assert [(fault.kind, fault.actions) for fault in verdicts.faults] == [(Kind.EXCHANGED, ())]
    assert [doubt.designed for doubt in verdicts.doubts] == [link(G2, L2)]


def test_a_server_with_the_name_of_one_that_is_dark_is_not_moved_in_its_place() -> None:
    said: Said = {port: f"gpu-02 {port.interface}" for port in ALL if port.device == "gpu-01"}
    verdicts = judged(DESIGN, without(DESIGN, "gpu-02"), said, known=[G1])
    assert {fault.kind for fault in verdicts.faults} == {Kind.EXCHANGED, Kind.DARK}
    assert verdicts.matched == len(DESIGN) - 6


def test_devices_that_are_exchanged_with_their_guids_are_not_misnamed() -> None:
    """All GUIDs are known, and one cable of each was put right already: no plan takes these out again."""
    plugged = exchanged(DESIGN, "gpu-01", "gpu-02")
    right = [each for each in plugged if each.b not in {L1, L2}] + [link(G1, L1), link(G2, L2)]
    (fault,) = judged(DESIGN, right, known=ALL).faults
    assert (fault.kind, fault.actions) == (Kind.EXCHANGED, ())
    assert "answer by each other's names" not in fault.message
    assert set(fault.expected) == set(DESIGN) - set(right)


def test_a_server_whose_guid_stands_in_its_place_does_not_move_to_one_that_is_seen_nowhere() -> None:
    """Its other cables were moved, one by one."""
    plugged = [*exchanged(without(DESIGN, "gpu-01"), "gpu-01", "gpu-02")]
    plugged = [each for each in plugged if each.b != L2] + [link(G1, L1)]
    verdicts = judged(DESIGN, plugged, known=[G1])
    assert Kind.EXCHANGED not in {fault.kind for fault in verdicts.faults}
    assert apply([action for fault in verdicts.faults for action in fault.actions], plugged) == set(DESIGN)


def test_a_port_that_is_told_twice_cannot_be_judged() -> None:
    """Whichever of its cables comes first."""
    stray = [link(G1, Port("leaf-1", number)) for number in ("60", "61")]
    with pytest.raises(EvidenceError, match="gpu-01 ib0 has two cables"):
        hold(DESIGN, Bound(dict.fromkeys((*DESIGN[1:], *stray), "")), places(DESIGN))


def test_an_end_without_a_description_has_a_name_of_its_own() -> None:
    assert bind_end(FabricPort(" ", 2, "CA", NEW), names([G1], {}, {})) == Port(f"unnamed 0x{NEW}", "2")
