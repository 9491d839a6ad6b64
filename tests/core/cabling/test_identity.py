"""Who stands where: devices exchanged, moved or replaced as a whole are one fault each."""

from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.explain import Fault, Kind
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.plan import Exchange, Record, Restore, apply
from tests.core.cabling.fabrics import rails
from tests.core.cabling.plugging import (
    FACTORY_HCA,
    FACTORY_SWITCH,
    Said,
    at,
    exchanged,
    guid_of,
    judged,
    swapped,
    without,
)

DESIGN = rails(6, 6)
GPU_1 = Port("gpu-01", "ib0")
LEAF_1 = Port("leaf-1", "1")
NEW = "00000000000000ee"


def only(verdicts: Verdicts) -> Fault:
    """Return the one fault, of which nothing else is in doubt."""
    (fault,) = verdicts.faults
    assert (verdicts.doubts, verdicts.silent, verdicts.unbound, verdicts.suspect) == ((), (), (), "")
    return fault


@pytest.mark.parametrize(
    "devices",
    [("gpu-01", "gpu-03"), ("leaf-1", "leaf-2"), ("spine-1", "spine-2"), ("gpu-01", "gpu-05", "gpu-02")],
)
def test_devices_in_each_others_place_are_one_fault_and_one_action(devices: tuple[str, ...]) -> None:
    plugged = exchanged(DESIGN, *devices)
    verdicts = judged(DESIGN, plugged)
    fault = only(verdicts)
    assert (fault.kind, fault.actions) == (Kind.EXCHANGED, (Exchange(devices),))
    assert fault.key == f"cabling/exchanged/{'+'.join(sorted(devices))}"
    assert fault.devices == tuple(sorted(devices))
    assert fault.steps[0].startswith("Read the serial first")
    assert apply(fault.actions, plugged) == set(DESIGN)
    assert verdicts.absent == ()
    assert verdicts.matched == len(DESIGN) - len(set().union(*(at(DESIGN, device) for device in devices)))


def test_an_exchange_reads_like_this() -> None:
    fault = only(judged(DESIGN, exchanged(DESIGN, "gpu-01", "gpu-03")))
    assert fault.message == (
        "gpu-01 and gpu-03 stand in each other's place: their cables are right for the other one."
        " No GUID of theirs is known: their names alone may be exchanged, too."
    )
    assert fault.steps[0] == (
        "Read the serial first, before any cable is touched: where gpu-03 (hall rack GPU-03 U1) belongs gpu-01"
        " answers; where gpu-01 (hall rack GPU-01 U1) belongs gpu-03 answers."
    )


def test_known_guids_tell_that_names_alone_are_not_exchanged() -> None:
    fault = only(judged(DESIGN, exchanged(DESIGN, "gpu-01", "gpu-03"), known=[GPU_1]))
    assert fault.message.endswith("Known GUIDs are seen of gpu-01: names alone are not exchanged.")


def test_two_exchanges_at_once_are_two_faults_also_where_they_touch() -> None:
    """Leaves and spines that are joined to each other."""
    plugged = exchanged(exchanged(DESIGN, "leaf-1", "leaf-2"), "spine-1", "spine-2")
    faults = judged(DESIGN, plugged).faults
    assert [fault.actions for fault in faults] == [
        (Exchange(("leaf-1", "leaf-2")),),
        (Exchange(("spine-1", "spine-2")),),
    ]
    assert apply([action for fault in faults for action in fault.actions], plugged) == set(DESIGN)


def test_what_else_is_wrong_at_an_exchanged_device_is_told_by_its_place() -> None:
    """One of its cables is swapped beside: a step that names the port by the place where hands will find it."""
    one, other = link(GPU_1, LEAF_1), link(Port("gpu-05", "ib0"), Port("leaf-1", "5"))
    plugged = exchanged(swapped(DESIGN, one, other), "gpu-01", "gpu-03")
    faults = judged(DESIGN, plugged).faults
    assert [fault.kind for fault in faults] == [Kind.EXCHANGED, Kind.SWAP]
    assert apply([action for fault in faults for action in fault.actions], plugged) == set(DESIGN)


def test_a_device_in_the_place_of_one_that_is_seen_nowhere_is_one_fault() -> None:
    """Its own place is empty: what belongs there comes back with it."""
    plugged = exchanged(without(DESIGN, "gpu-02"), "gpu-02", "gpu-01")
    fault = only(judged(DESIGN, plugged))
    assert fault.kind is Kind.EXCHANGED
    assert fault.message.startswith(
        "gpu-02 stands in gpu-01's place; gpu-01 is seen nowhere, and where gpu-02 belongs it is not."
    )
    assert "where gpu-02 (" not in fault.steps[0]
    assert apply(fault.actions, plugged) == set(DESIGN)
    assert fault.actions == (Exchange(("gpu-02", "gpu-01")), Restore("gpu-01", tuple(sorted(at(DESIGN, "gpu-02")))))


def test_a_chain_of_devices_in_the_next_ones_place_is_one_fault() -> None:
    plugged = exchanged(without(DESIGN, "gpu-01"), "gpu-01", "gpu-02", "gpu-03")
    fault = only(judged(DESIGN, plugged))
    assert fault.message.startswith(
        "gpu-01 stands in gpu-02's place, gpu-02 stands in gpu-03's place; gpu-03 is seen"
    )
    assert apply(fault.actions, plugged) == set(DESIGN)


def test_a_moved_device_whose_own_place_another_took_leaves_nothing_to_restore() -> None:
    stray = [link(Port("gpu-77", f"ib{rail}"), Port(f"leaf-{rail + 1}", "2")) for rail in range(6)]
    plugged = (*exchanged(without(DESIGN, "gpu-02"), "gpu-02", "gpu-01"), *stray)
    faults = judged(DESIGN, plugged).faults
    assert [fault.kind for fault in faults] == [Kind.EXCHANGED, Kind.UNPLANNED]
    assert faults[0].actions == (Exchange(("gpu-02", "gpu-01")),)
    assert "gpu-02 belongs there" in faults[1].message


@pytest.mark.parametrize("count", [1, 2])
def test_two_cables_that_fit_another_place_are_two_swaps(count: int) -> None:
    """A device of which most is in its place stands there."""
    plugged = DESIGN
    for rail in range(count):
        one, other = (link(Port(f"gpu-0{gpu}", f"ib{rail}"), Port(f"leaf-{rail + 1}", str(gpu))) for gpu in (1, 2))
        plugged = swapped(plugged, one, other)
    assert [fault.kind for fault in judged(DESIGN, plugged).faults] == [Kind.SWAP] * count


def test_nothing_stands_in_the_place_of_a_device_that_is_seen_there() -> None:
    """Five of its six cables are in another server, but the sixth says where it is."""
    kept = link(Port("gpu-02", "ib5"), Port("leaf-6", "2"))
    stands = exchanged(without(DESIGN, "gpu-01"), "gpu-01", "gpu-02")
    plugged = (*(each for each in stands if kept.b not in each), kept)
    faults = judged(DESIGN, plugged).faults
    assert Kind.EXCHANGED not in {fault.kind for fault in faults}
    assert apply([action for fault in faults for action in fault.actions], plugged) == set(DESIGN)


def crossed(links: Iterable[Link], one: str, other: str, servers: int) -> tuple[Link, ...]:
    """Return the links with the cables of the first servers crossed between two leaves."""
    turned = {one: other, other: one}
    return tuple(
        link(each.a, Port(turned[each.b.device], each.b.interface))
        if each.b.device in turned and each.a.device <= f"gpu-{servers:02d}"
        else each
        for each in links
    )


@pytest.mark.parametrize("servers", [5, 6])
def test_where_leaves_may_be_exchanged_or_their_cables_no_cable_is_moved(servers: int) -> None:
    """Their uplinks are as designed by their own names: by one reading they are wrong, by the other the rest is."""
    plugged = crossed(DESIGN, "leaf-2", "leaf-3", servers)
    verdicts = judged(DESIGN, plugged)
    (fault,) = verdicts.faults
    assert (fault.kind, fault.key, fault.actions) == (Kind.EXCHANGED, "cabling/exchanged/leaf-2+leaf-3", ())
    assert set(fault.expected) == set(DESIGN) - set(plugged)
    assert set(fault.observed) == set(plugged) - set(DESIGN)
    assert fault.devices == ("leaf-2", "leaf-3")
    assert verdicts.matched == len(set(DESIGN) & set(plugged))


def test_a_doubted_exchange_reads_like_this() -> None:
    fault = only(judged(DESIGN, crossed(DESIGN, "leaf-2", "leaf-3", 5)))
    assert fault.message == (
        "Of the cables of leaf-2, leaf-3, 10 fit the place of another of these, 6 are as designed. Either the"
        " devices, or their names, are exchanged, and those 6 cables are wrong; or the devices are where they belong,"
        " and those 10 cables are plugged into the wrong one."
    )
    name, put, compare = fault.steps
    assert name.startswith("Read the name and the serial of each, before any cable is touched: leaf-2 (hall rack")
    assert put.startswith("If devices or names are exchanged, put these right, and compare the fabric again")
    assert compare.startswith("If each has its own place and name, these cables are wrong: gpu-01 ib1 to leaf-3 1,")
    assert "…" not in compare


def test_known_guids_do_not_tell_whether_leaves_or_their_cables_were_exchanged() -> None:
    plugged = crossed(DESIGN, "leaf-2", "leaf-3", 5)
    fault = only(judged(DESIGN, plugged, known=[Port("leaf-2", "1"), Port("leaf-3", "1")]))
    assert (fault.kind, fault.actions) == (Kind.EXCHANGED, ())


def test_a_server_of_which_one_cable_is_as_designed_is_not_told_to_be_exchanged() -> None:
    plugged = exchanged(DESIGN, "gpu-01", "gpu-03")
    one, other = (link(Port(f"gpu-0{gpu}", "ib5"), Port("leaf-6", str(4 - gpu))) for gpu in (1, 3))
    fault = only(judged(DESIGN, swapped(plugged, one, other)))
    assert (fault.kind, fault.actions, len(fault.observed)) == (Kind.EXCHANGED, (), 10)


def test_a_device_that_may_have_moved_and_a_dark_server_beside_are_two_faults() -> None:
    """Nothing but the doubted cables is without a plan: not a server that is off, nor a swap at other leaves."""
    plugged = crossed(without(DESIGN, "gpu-06"), "leaf-2", "leaf-3", 5)
    one, other = (link(Port(f"gpu-0{gpu}", "ib4"), Port("leaf-5", str(gpu))) for gpu in (1, 2))
    faults = judged(DESIGN, swapped(plugged, one, other)).faults
    assert {fault.kind for fault in faults} == {Kind.DARK, Kind.EXCHANGED, Kind.SWAP}
    assert [bool(fault.actions) for fault in faults if fault.kind is not Kind.EXCHANGED] == [True, True]


def test_an_exchange_that_is_doubted_leaves_another_one_as_it_is() -> None:
    plugged = exchanged(crossed(DESIGN, "leaf-2", "leaf-3", 6), "leaf-5", "leaf-6")
    faults = judged(DESIGN, plugged).faults
    assert [fault.actions for fault in faults] == [(), (Exchange(("leaf-5", "leaf-6")),)]


def test_servers_of_two_rails_that_fit_each_other_are_two_swaps() -> None:
    """Two cables are too few to tell."""
    small = rails(4, 2)
    kinds = [fault.kind for fault in judged(small, exchanged(small, "gpu-01", "gpu-02")).faults]
    assert kinds == [Kind.SWAP, Kind.SWAP]


@pytest.mark.parametrize("name", [FACTORY_SWITCH, "MF0;switch-a1b2c3:MQM9700/U1", "leaf-77"])
def test_a_switch_that_says_nothing_of_its_place_is_the_one_whose_neighbours_it_has(name: str) -> None:
    """Out of its box, or with a name that the design does not know; no GUID was known."""
    fault = only(judged(DESIGN, DESIGN, {"leaf-1": name}, {"leaf-1": NEW}))
    assert (fault.kind, fault.key) == (Kind.REPLACED_SWITCH, "cabling/replaced/leaf-1")
    assert fault.actions == (Record("leaf-1", "", "", NEW),)
    assert "and none is recorded" in fault.message
    assert fault.devices == ("leaf-1",)


def test_a_switch_with_another_guid_in_its_old_place_is_a_new_one() -> None:
    fault = only(judged(DESIGN, DESIGN, guids={"leaf-1": NEW}, known=[LEAF_1]))
    assert fault.kind is Kind.REPLACED_SWITCH
    assert fault.actions == (Record("leaf-1", "1", guid_of("leaf-1"), NEW),)
    assert f"instead of 0x{guid_of('leaf-1')}" in fault.message


def test_a_new_switch_is_told_also_where_the_port_under_which_its_guid_is_kept_is_down() -> None:
    plugged = without(DESIGN, "gpu-01")
    verdicts = judged(DESIGN, plugged, guids={"leaf-1": NEW}, known=[LEAF_1])
    assert {fault.kind for fault in verdicts.faults} == {Kind.DARK, Kind.REPLACED_SWITCH}


def test_a_nameless_switch_of_two_cables_is_known_by_the_guid_that_is_missing() -> None:
    """Too few neighbours to tell, but the one that belongs there is seen nowhere."""
    small = rails(1, 2)
    called: Said = {"spine-1": FACTORY_SWITCH}
    guids: Said = {"spine-1": NEW}
    fault = only(judged(small, small, called, guids, [Port("spine-1", "1")]))
    assert fault.actions == (Record("spine-1", "1", guid_of("spine-1"), NEW),)
    assert len(judged(small, small, called, guids).doubts) == 2


def test_a_wrong_cable_at_a_replaced_switch_is_a_fault_of_its_own() -> None:
    one, other = (link(Port(f"gpu-0{gpu}", "ib0"), Port("leaf-1", str(gpu))) for gpu in (1, 2))
    plugged = swapped(DESIGN, one, other)
    kinds = [fault.kind for fault in judged(DESIGN, plugged, {"leaf-1": FACTORY_SWITCH}, {"leaf-1": NEW}).faults]
    assert sorted(kinds) == [Kind.REPLACED_SWITCH, Kind.SWAP]


def test_a_switch_with_a_known_name_but_another_guid_and_no_cable_in_place_is_not_called_replaced() -> None:
    """What stands there at all is not known: its cables come first."""
    up = link(Port("leaf-1", "60"), Port("leaf-2", "60"))
    verdicts = judged(DESIGN, (*without(DESIGN, "leaf-1"), up), guids={"leaf-1": NEW}, known=[LEAF_1])
    assert Kind.REPLACED_SWITCH not in {fault.kind for fault in verdicts.faults}


def test_an_exchanged_switch_with_another_guid_is_told_as_exchanged_only() -> None:
    plugged = exchanged(DESIGN, "leaf-1", "leaf-2")
    fault = only(judged(DESIGN, plugged, guids={"leaf-1": NEW}, known=[LEAF_1]))
    assert fault.kind is Kind.EXCHANGED


@pytest.mark.parametrize("name", [FACTORY_HCA, "gpu-01 mlx5_9", "gpu-01.example.com mlx5_9", "gpu-01 ib0"])
def test_an_adapter_with_a_new_guid_in_its_old_place_is_a_new_one(name: str) -> None:
    """Nameless, or with its server's name: the known GUID is seen nowhere."""
    fault = only(judged(DESIGN, DESIGN, {GPU_1: name}, {GPU_1: NEW}, [GPU_1]))
    assert (fault.kind, fault.key) == (Kind.REPLACED_HCA, "cabling/replaced/gpu-01")
    assert fault.actions == (Record("gpu-01", "ib0", guid_of(GPU_1), NEW),)
    assert (fault.ports, fault.expected) == ((GPU_1,), (link(GPU_1, LEAF_1),))


def test_two_new_adapters_of_one_server_are_one_fault() -> None:
    """A card with two ports, or a new board."""
    other = Port("gpu-01", "ib1")
    fault = only(judged(DESIGN, DESIGN, {}, {GPU_1: NEW, other: NEW[::-1]}, [GPU_1, other]))
    assert fault.actions == (
        Record("gpu-01", "ib0", guid_of(GPU_1), NEW),
        Record("gpu-01", "ib1", guid_of(other), NEW[::-1]),
    )


def test_a_new_adapter_whose_link_is_not_as_designed_is_told_when_its_cable_is_right() -> None:
    one, other = (link(Port(f"gpu-0{gpu}", "ib0"), Port("leaf-1", str(gpu))) for gpu in (1, 2))
    fault = only(judged(DESIGN, swapped(DESIGN, one, other), guids={GPU_1: NEW}, known=[GPU_1]))
    assert fault.kind is Kind.SWAP


@pytest.mark.parametrize("name", ["gpu-02 mlx5_9", FACTORY_HCA])
def test_an_adapter_that_nothing_binds_is_doubted(name: str) -> None:
    """It names another server, or no GUID is known there."""
    known = [GPU_1] if name != FACTORY_HCA else []
    verdicts = judged(DESIGN, DESIGN, {GPU_1: name}, {GPU_1: NEW}, known)
    assert verdicts.faults == ()
    assert [doubt.designed for doubt in verdicts.doubts] == [link(GPU_1, LEAF_1)]


def test_guids_of_another_sort_than_the_fabrics_tell_nothing() -> None:
    """The source of truth has the nodes' where the fabric shows the ports'."""
    known = [port for joined in DESIGN for port in joined if port.device.startswith("gpu")]
    shown: Said = {port: f"{int(guid_of(port), 16) ^ 1 << 60:016x}" for port in known}
    assert judged(DESIGN, DESIGN, guids=shown, known=known).faults == ()


def test_a_ring_of_many_is_told_in_short_and_believed_by_nobody() -> None:
    """As if somebody had shifted a list of names by one."""
    design = rails(12, 4)
    ring = [f"gpu-{number:02d}" for number in range(1, 13)]
    verdicts = judged(design, exchanged(design, *ring))
    (fault,) = verdicts.faults
    assert fault.key.startswith("cabling/exchanged/gpu-01/")
    assert fault.message.startswith("gpu-01, gpu-02, gpu-03, gpu-04, gpu-05, gpu-06, gpu-07, gpu-08, … and gpu-12")
    assert verdicts.suspect.startswith("12 faults at once")


@given(st.permutations(["gpu-01", "gpu-02", "gpu-03", "gpu-04"]), st.integers(2, 4), st.randoms())
def test_a_ring_has_one_key_whoever_tells_it(devices: list[str], count: int, random: Random) -> None:
    """From either end of each link, in any order."""
    ring = devices[:count]
    plugged = list(exchanged(DESIGN, *ring))
    random.shuffle(plugged)
    fault = only(judged(DESIGN, [Link(b, a) for a, b in plugged]))
    start = ring.index(min(ring))
    assert fault.actions == (Exchange((*ring[start:], *ring[:start])),)
    assert fault.key == f"cabling/exchanged/{'+'.join(sorted(ring))}"
