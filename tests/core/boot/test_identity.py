"""Machines are told apart by what they say, and contradictions are found."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.boot.boots import Boot, Identity
from fleet_runner.core.boot.identity import (
    UNFILLED,
    UNFILLED_UUIDS,
    Armed,
    Doubt,
    Index,
    contradiction,
    elsewhere,
    index,
    serial,
    swapped,
    unsaid,
    uuid,
    who,
)
from fleet_runner.core.inventory.records import Device, Fleet, Interface, nodes
from tests.fleets import fleets

MACS = st.sampled_from([f"02:00:00:00:00:{at:02x}" for at in range(6)])
SERIALS = st.sampled_from(["", "S1", "S2", "s1", " S1 ", "Default string"])
UUIDS = st.uuids().map(str)
ADDRESSES = st.sampled_from(["10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2"])
IDENTITIES = st.builds(
    Identity, st.frozensets(MACS, max_size=3), SERIALS, st.just("") | UUIDS, st.frozensets(ADDRESSES, max_size=2)
)


def device(name: str, mac: str | None, number: str | None, role: str = "gpu-server") -> Device:
    return Device(name, "t", role, "hall", serial=number, interfaces=(Interface("eth0", "1000base-t", mac=mac),))


def fleet_of(*devices: Device) -> Fleet:
    return Fleet(("hall",), {}, {}, {each.name: each for each in devices}, ())


def armed_index(boot: Boot, nodes: frozenset[str]) -> Index:
    known = Armed()
    known.add(boot)
    return known.index(nodes)


def said(mac: str = "", number: str = "", text: str = "") -> Identity:
    return Identity(frozenset({mac} - {""}), number, text)


TEXT = "00112233-4455-6677-8899-aabbccddeeff"
ONE, TWO = "02:00:00:00:00:01", "02:00:00:00:00:02"


def bootable(device: Device) -> set[str | None]:
    return {each.mac for each in device.interfaces if not each.mgmt_only}


@given(fleets())
def test_every_node_is_found_by_each_mac_address_that_is_its_own(fleet: Fleet) -> None:
    known = index(fleet)
    owners: dict[str, set[str]] = {}
    for each in fleet.devices.values():
        for interface in each.interfaces:
            if interface.mac and not interface.mgmt_only:
                owners.setdefault(interface.mac, set()).add(each.name)
    for mac, names in owners.items():
        found = who(known, said(mac))
        if len(names) > 1:
            assert isinstance(found, Doubt)
            assert (found.code, set(found.nodes)) == ("duplicate", names)
        elif names <= {each.name for each in nodes(fleet)}:
            assert {found} == names
        else:
            assert isinstance(found, Doubt)
            assert found.code == "no_node"


@given(fleets(), SERIALS, st.none() | MACS)
def test_a_machine_is_only_ever_taken_for_a_node_that_contradicts_nothing_it_says(
    fleet: Fleet, number: str, mac: str | None
) -> None:
    found = who(index(fleet), said(mac or "", number))
    if isinstance(found, str):
        its = fleet.devices[found]
        owners = {each.name for each in fleet.devices.values() if mac in bootable(each)}
        assert not mac or owners in (set(), {found})
        named = {each.name for each in fleet.devices.values() if serial(each.serial or "") == serial(number) != ""}
        assert not named or found in named
        assert owners or serial(its.serial or "") == serial(number)


def test_what_boots_from_a_management_interface_is_a_stranger() -> None:
    """The address is a BMC's, and no BMC boots from us."""
    bmc = Interface("bmc", "1000base-t", mac=TWO, mgmt_only=True)
    assert who(index(fleet_of(replace(device("a", ONE, "S1"), interfaces=(bmc,)))), said(TWO)) is None


def test_a_machine_that_says_nothing_known_is_a_stranger() -> None:
    known = index(fleet_of(device("a", ONE, "S1")))
    assert who(known, said(TWO, "S2")) is None
    assert who(known, said()) is None
    assert who(known, said(TWO, "To Be Filled By O.E.M.")) is None


def test_a_serial_number_alone_names_a_node_whose_mac_address_nobody_recorded() -> None:
    assert who(index(fleet_of(device("a", None, "S1"))), said(TWO, "s1")) == "a"


def test_a_mac_address_at_two_devices_is_a_contradiction_even_where_the_serial_number_would_decide() -> None:
    found = who(index(fleet_of(device("a", ONE, "S1"), device("b", ONE, "S2"))), said(ONE, "S1"))
    assert isinstance(found, Doubt)
    assert found == Doubt(("a", "b"), "duplicate", f"MAC address {ONE} belongs to a and b; give it to one of them")


def test_a_chassis_serial_number_that_nodes_share_needs_a_mac_address_with_it() -> None:
    known = index(fleet_of(device("a", ONE, "CH1"), device("b", TWO, "CH1")))
    assert who(known, said(ONE, "CH1")) == "a"
    found = who(known, said("", "CH1"))
    assert isinstance(found, Doubt)
    assert (found.nodes, found.code) == (("a", "b"), "duplicate")


def test_one_machine_with_a_mac_address_of_one_node_and_the_serial_number_of_another_is_neither() -> None:
    found = who(index(fleet_of(device("a", ONE, "S1"), device("b", TWO, "S2"))), said(ONE, "S2"))
    assert isinstance(found, Doubt)
    assert (found.nodes, found.code) == (("a", "b"), "mismatch")
    assert f"MAC address {ONE} belongs to a, serial number s2 belongs to b" in found.sentence


def test_a_switch_is_no_node() -> None:
    found = who(index(fleet_of(device("leaf-1", ONE, None, role="leaf"))), said(ONE))
    assert found == Doubt(
        ("leaf-1",), "no_node", "leaf-1 has no lifecycle in the source of truth, so it is not booted"
    )


def test_an_armed_boot_knows_what_the_bmc_said_in_either_order_of_bytes() -> None:
    text = "00112233-4455-6677-8899-aabbccddeeff"
    known = armed_index(Boot(1, "a", None, 0.0, 1.0, Identity(frozenset({ONE}), "S1", text)), frozenset({"a"}))
    assert who(known, said(text=text)) == who(known, said(text="33221100-5544-7766-8899-aabbccddeeff")) == "a"
    assert who(known, said(ONE)) == who(known, said(number="s1")) == "a"
    assert who(known, said(text="00112233-4455-6677-8899-aabbccddee00")) is None


def test_an_armed_boot_of_a_device_that_left_the_source_of_truth_names_nobody() -> None:
    found = who(armed_index(Boot(1, "a", None, 0.0, 1.0, Identity(frozenset({ONE}))), frozenset()), said(ONE))
    assert isinstance(found, Doubt)
    assert found.code == "no_node"


BOOTS = st.dictionaries(st.sampled_from("abc"), IDENTITIES, max_size=3)


@given(BOOTS, st.sets(st.sampled_from("abc")))
def test_boots_that_are_over_leave_nothing_behind(expected: dict[str, Identity], over: set[str]) -> None:
    """What two boots expect stays with the one that is left."""
    known, left = Armed(), Armed()
    boots = {name: Boot(1, name, None, 0.0, 1.0, each) for name, each in expected.items()}
    for boot in boots.values():
        known.add(boot)
    for name in boots.keys() & over:
        known.drop(boots[name])
    for name in boots.keys() - over:
        left.add(boots[name])
    for ours, theirs in zip(_names(known), _names(left), strict=True):
        assert ours == theirs


def _names(known: Armed) -> list[dict[str, set[str]]]:
    found = known.index(frozenset())
    return [{value: set(names) for value, names in each.items()} for each in (found.macs, found.serials, found.uuids)]


@pytest.mark.parametrize(
    ("expected", "told", "missing"),
    [
        (Identity(frozenset({ONE}), "S1", "u"), said(ONE), "it does not say serial number s1"),
        (Identity(frozenset({ONE}), "S1", TEXT), said(ONE), f"it does not say serial number s1 or UUID {TEXT}"),
        (Identity(frozenset({ONE}), "", TEXT), said(ONE, "S1"), f"it does not say UUID {TEXT}"),
        (Identity(frozenset({ONE}), "S1"), said(ONE, "Default string"), "it does not say serial number s1"),
        (Identity(frozenset({ONE}), "S1", TEXT), said(ONE, "S1"), ""),
        (Identity(frozenset({ONE}), "S1", TEXT), said(ONE, "", TEXT), ""),
        (Identity(frozenset({ONE}), "Default string"), said(ONE), ""),
        (Identity(frozenset({ONE})), said(ONE), ""),
    ],
)
def test_a_machine_that_leaves_out_what_would_tell_it_from_others_is_found_out(
    expected: Identity, told: Identity, missing: str
) -> None:
    assert unsaid(expected, told) == missing


def test_an_empty_index_knows_nobody() -> None:
    assert who(Index(), said(ONE, "S1", "00112233-4455-6677-8899-aabbccddeeff")) is None


@given(IDENTITIES)
def test_nobody_contradicts_itself(one: Identity) -> None:
    assert contradiction(one, replace(one, macs=frozenset(sorted(one.macs)[:1]))) == ""


@given(IDENTITIES, IDENTITIES)
def test_the_order_of_bytes_of_a_uuid_contradicts_nothing(expected: Identity, told: Identity) -> None:
    turned = replace(told, uuid=swapped(told.uuid) if told.uuid else "")
    assert bool(contradiction(expected, told)) == bool(contradiction(expected, turned))


@given(IDENTITIES, IDENTITIES)
def test_who_knows_nothing_contradicts_nothing(expected: Identity, told: Identity) -> None:
    assert contradiction(Identity(), told) == contradiction(expected, Identity()) == ""


def test_each_thing_that_both_sides_know_and_that_differs_is_a_contradiction() -> None:
    text = "00112233-4455-6677-8899-aabbccddeeff"
    expected = Identity(frozenset({ONE}), "S1", text, frozenset({"10.0.0.1", "fd00::1"}))
    assert contradiction(expected, said(TWO)) == f"it says MAC address {TWO}, expected {ONE}"
    assert contradiction(expected, said(number="S2")) == "it says serial number s2, expected s1"
    other = "10112233-4455-6677-8899-aabbccddeeff"
    assert contradiction(expected, said(text=other)) == f"it says UUID {other}, expected {text}"


def test_an_address_is_where_a_machine_asks_and_not_what_it_is() -> None:
    expected = Identity(frozenset({ONE}), "S1", addresses=frozenset({"10.0.0.1", "fd00::1"}))
    assert contradiction(expected, Identity(addresses=frozenset({"10.0.0.2"}))) == ""
    assert elsewhere(expected, "10.0.0.2").startswith("it asks from 10.0.0.2, expected 10.0.0.1, and no DHCP server")
    assert elsewhere(expected, "10.0.0.1") == ""
    assert elsewhere(replace(expected, addresses=frozenset({"fd00::1"})), "10.0.0.2") == ""


@pytest.mark.parametrize("text", [*sorted(UNFILLED), "", "  ", "0000000", "xxxx", "..", "To  be filled by O.E.M."])
def test_a_serial_number_that_nobody_filled_in_is_none(text: str) -> None:
    assert serial(text) == serial(text.upper()) == ""


@pytest.mark.parametrize("text", [*sorted(UNFILLED_UUIDS), "", "no uuid", "00112233445566778899aabbccddeeff"])
def test_a_uuid_that_nobody_filled_in_is_none(text: str) -> None:
    assert uuid(text) == uuid(text.upper()) == ""


@given(UUIDS)
def test_turning_a_uuid_twice_gives_it_back(text: str) -> None:
    assert swapped(swapped(text)) == text
    assert uuid(f" {text.upper()} ") == (text if text not in UNFILLED_UUIDS else "")


def test_a_mac_address_on_two_interfaces_of_one_device_is_no_contradiction() -> None:
    bond = tuple(Interface(name, "1000base-t", mac=ONE) for name in ("eth0", "bond0"))
    assert who(index(fleet_of(replace(device("a", None, None), interfaces=bond))), said(ONE)) == "a"
