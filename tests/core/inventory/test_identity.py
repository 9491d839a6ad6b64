"""Which node is which machine: renamed, exchanged, changed, claimed twice, gone for a while."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.inventory.identity import (
    UUID_KEY,
    Comparison,
    DesignedMachine,
    Renamed,
    compare,
    groups,
    machine,
    merged,
    retold,
)
from fleet_runner.core.inventory.records import Device, Interface

UUID = "6f0c2c1e-9f0a-4d4e-8a53-0a1b2c3d4e5f"


def device(name: str, number: int, **more: object) -> Device:
    """A server with all the evidence that a source can have."""
    ports = tuple(Interface(f"eth{port}", "", f"02:00:00:00:{number:02x}:{port:02x}") for port in range(2))
    whole = Device(
        name, "hgx", "gpu-server", "hall", serial=f"S-{number}", oob_address=f"10.0.0.{number}/24", interfaces=ports
    )
    return replace(whole, **more)  # type: ignore[arg-type]  what a test changes


def known(*devices: Device) -> dict[str, DesignedMachine]:
    """What the store keeps of them."""
    return {each.name: machine(each) for each in devices}


ONE, TWO, THREE = (device(f"gpu-0{number}", number) for number in (1, 2, 3))
KNOWN = known(ONE, TWO)
NO_SERIAL = {"serial": None}


def compared(*devices: Device, before: dict[str, DesignedMachine] = KNOWN) -> Comparison:
    """Compare with what is known."""
    return compare(before, devices)


def test_a_node_whose_record_cannot_be_used_is_refused_and_its_machine_is_given_to_no_other() -> None:
    """It is in the source all the same: another record with its serial number is no new name of it."""
    copied = replace(ONE, name="gpu-09")
    found = compare(KNOWN, (TWO, copied), unread={"gpu-01": "devices/1: no such rack", "gpu-55": "new"})
    assert found.renamed == ()
    assert found.refused["gpu-01"].sentence == "its record cannot be used: devices/1: no such rack"
    assert "it may be the machine of gpu-01" in found.refused["gpu-09"].sentence
    assert set(found.refused) == {"gpu-01", "gpu-09"}
    assert compare(KNOWN, (TWO, copied)).renamed != ()


def moved(found: Comparison) -> list[tuple[str, str]]:
    """Who has which new name."""
    return [(each.old, each.new) for each in found.renamed]


def test_a_machine_is_read_from_its_record_without_what_nobody_filled_in() -> None:
    record = device("gpu-09", 9, serial=" abc 1 ", context={UUID_KEY: UUID.upper()})
    assert machine(record) == DesignedMachine(
        "ABC 1", UUID, "10.0.0.9", frozenset({"02:00:00:00:09:00", "02:00:00:00:09:01"})
    )
    unfilled = machine(Device("gpu-09", "hgx", "gpu-server", "hall", serial="To be filled by O.E.M."))
    assert unfilled == DesignedMachine()


def test_the_same_records_are_no_news() -> None:
    assert compared(ONE, TWO) == Comparison()
    assert compared(ONE, TWO, THREE) == Comparison()


def test_what_a_source_leaves_out_is_neither_renamed_nor_refused() -> None:
    assert compared(ONE) == Comparison()
    assert compared() == Comparison()


def test_a_name_that_vanished_is_not_the_next_new_machine() -> None:
    assert compared(ONE, THREE) == Comparison()


def test_another_name_with_the_same_serial_is_the_same_node() -> None:
    found = compared(ONE, device("gpu-99", 2))
    assert found.renamed == (Renamed("gpu-02", "gpu-99", "same serial S-2"),)
    assert found.refused == {}


def test_a_serial_is_enough_where_all_else_changed() -> None:
    assert moved(compared(ONE, device("gpu-99", 7, serial="s-2"))) == [("gpu-02", "gpu-99")]


def test_without_a_serial_two_pieces_of_evidence_that_nothing_contradicts_are_enough() -> None:
    found = compared(ONE, device("gpu-99", 2, serial=None))
    said = "same BMC address 10.0.0.2 and MAC address 02:00:00:00:02:00, and nothing differs"
    assert found.renamed == (Renamed("gpu-02", "gpu-99", said),)


@pytest.mark.parametrize(
    "changed",
    [
        {"interfaces": ()},
        {"oob_address": "10.0.0.77"},
        {"interfaces": (THREE.interfaces[0], TWO.interfaces[0])},
    ],
    ids=["only its BMC address agrees", "its BMC address differs", "one MAC address differs"],
)
def test_without_a_serial_a_piece_that_is_missing_or_differs_settles_nothing(changed: dict[str, object]) -> None:
    found = compared(ONE, device("gpu-99", 2, serial=None, **changed))
    assert found.renamed == ()
    assert set(found.refused) == {"gpu-99"}
    assert "gpu-02" in found.refused["gpu-99"].sentence
    assert found.refused["gpu-99"].machine is None


def test_an_address_that_another_machine_got_is_no_evidence() -> None:
    new = device("gpu-99", 9, oob_address="10.0.0.2", **NO_SERIAL)
    assert compared(ONE, new) == Comparison()
    assert compared(ONE, device("gpu-99", 9, oob_address="10.0.0.2")) == Comparison()


def test_two_known_machines_that_one_new_record_could_be_settle_nothing() -> None:
    mixed = device("gpu-99", 9, serial=None, oob_address=None, interfaces=(ONE.interfaces[0], TWO.interfaces[0]))
    found = compared(mixed)
    assert found.renamed == ()
    assert "gpu-01 or gpu-02" in found.refused["gpu-99"].sentence


def test_two_new_records_that_could_be_one_known_machine_settle_nothing() -> None:
    ports = tuple(Interface(f"eth{port}", "", f"02:00:00:00:05:0{port}") for port in range(4))
    wide = device("gpu-05", 5, serial=None, oob_address=None, interfaces=ports)
    halves = [replace(wide, name=name, interfaces=ports[at : at + 2]) for name, at in (("a", 0), ("b", 2))]
    found = compared(*halves, before=known(wide))
    assert found.renamed == ()
    assert set(found.refused) == {"a", "b"}


def test_two_names_that_are_exchanged_are_two_renamed_nodes() -> None:
    found = compared(replace(ONE, name="gpu-02"), replace(TWO, name="gpu-01"))
    assert moved(found) == [("gpu-01", "gpu-02"), ("gpu-02", "gpu-01")]
    assert found.refused == {}


def test_names_are_exchanged_without_serials_too() -> None:
    one, two = (replace(each, serial=None) for each in (ONE, TWO))
    found = compare(known(one, two), (replace(one, name="gpu-02"), replace(two, name="gpu-01")))
    assert moved(found) == [("gpu-01", "gpu-02"), ("gpu-02", "gpu-01")]


def test_names_go_round_among_three() -> None:
    ring = (replace(ONE, name="gpu-02"), replace(TWO, name="gpu-03"), replace(THREE, name="gpu-01"))
    found = compare(known(ONE, TWO, THREE), ring)
    assert moved(found) == [("gpu-01", "gpu-02"), ("gpu-02", "gpu-03"), ("gpu-03", "gpu-01")]


def test_a_name_moves_on_into_one_that_is_left() -> None:
    found = compared(replace(ONE, name="gpu-02"), replace(TWO, name="gpu-99"))
    assert moved(found) == [("gpu-01", "gpu-02"), ("gpu-02", "gpu-99")]


@pytest.mark.parametrize("bare", [{}, {"interfaces": ()}], ids=["with MAC addresses", "with BMC addresses alone"])
def test_serials_that_change_places_alone_are_no_exchange_of_names(bare: dict[str, object]) -> None:
    one, two = (replace(each, **bare) for each in (ONE, TWO))  # type: ignore[arg-type]  what a test changes
    found = compare(known(one, two), (replace(one, serial="S-2"), replace(two, serial="S-1")))
    assert found.renamed == ()
    assert {name: each.machine and each.machine.serial for name, each in found.refused.items()} == {
        "gpu-01": "S-2",
        "gpu-02": "S-1",
    }


def test_another_serial_under_the_same_name_is_refused_with_what_to_do() -> None:
    now = replace(ONE, serial="S-77")
    found = compared(now, TWO)
    assert found.renamed == ()
    assert found.refused["gpu-01"].machine == machine(now)
    assert found.refused["gpu-01"].sentence == (
        "its serial was S-1, the source of truth says S-77 now; nothing is done to it until the source is corrected,"
        " or a person says that the chassis was replaced: fleet-runner rma replaced gpu-01"
    )


def test_a_serial_that_comes_or_goes_is_no_other_machine() -> None:
    assert compared(replace(ONE, serial=None), TWO) == Comparison()
    assert compare(known(replace(ONE, serial=None)), (ONE,)) == Comparison()


def test_a_known_name_that_got_a_gone_machine_s_serial_is_refused() -> None:
    found = compared(replace(TWO, serial="S-1"))
    assert found.renamed == ()
    assert set(found.refused) == {"gpu-02"}


def test_a_machine_whose_old_name_is_another_one_now_settles_nothing() -> None:
    found = compared(replace(ONE, name="gpu-99"), device("gpu-01", 9), TWO)
    assert found.renamed == ()
    assert set(found.refused) == {"gpu-99", "gpu-01"}


def test_the_name_of_a_retired_node_is_given_to_no_machine() -> None:
    found = compare(known(ONE), (replace(ONE, name="gpu-02"),), {"gpu-02"})
    assert found.renamed == ()
    assert set(found.refused) == {"gpu-02"}


@pytest.mark.parametrize(
    ("shared", "words"),
    [
        ({"serial": "S-1"}, "serial S-1"),
        ({"oob_address": "10.0.0.1/26"}, "BMC address 10.0.0.1"),
        ({"interfaces": ONE.interfaces[1:]}, "MAC address 02:00:00:00:01:01"),
    ],
)
@pytest.mark.parametrize("name", ["gpu-02", "gpu-99"])
def test_two_records_of_one_machine_are_both_refused_with_both_names(
    shared: dict[str, object], words: str, name: str
) -> None:
    found = compared(ONE, device(name, 2, **shared))
    assert found.renamed == ()
    assert set(found.refused) == {"gpu-01", name}
    assert len(set(found.refused.values())) == 1
    sentence = found.refused["gpu-01"].sentence
    assert f"gpu-01 and {name}" in sentence
    assert words in sentence


def test_records_that_clash_are_no_new_name_of_a_known_machine() -> None:
    found = compare(known(ONE), (device("a", 1), device("b", 1)))
    assert found.renamed == ()
    assert set(found.refused) == {"a", "b"}


def test_what_a_source_says_no_more_is_kept_and_a_serial_never_changes_by_itself() -> None:
    before = machine(replace(ONE, context={UUID_KEY: UUID}))
    assert merged(before, DesignedMachine()) == before
    assert merged(before, machine(replace(THREE, serial="S-1"))) == replace(machine(THREE), serial="S-1", uuid=UUID)
    assert merged(DesignedMachine(), before) == before
    assert merged(before, machine(THREE)).serial == "S-1"


def test_a_uuid_tells_machines_apart_and_counts_as_evidence() -> None:
    with_uuid = replace(ONE, serial=None, context={UUID_KEY: UUID}, interfaces=())
    assert moved(compare(known(with_uuid), (replace(with_uuid, name="gpu-99"),))) == [("gpu-01", "gpu-99")]
    other = replace(with_uuid, name="gpu-99", context={UUID_KEY: UUID.replace("6", "7")})
    assert compare(known(with_uuid), (other,)).renamed == ()


def test_names_that_hang_together_are_renamed_together() -> None:
    chain = [Renamed("a", "b", ""), Renamed("b", "c", "")]
    ring = [Renamed("x", "y", ""), Renamed("y", "x", "")]
    alone = [Renamed("m", "n", "")]
    assert {frozenset(each) for each in groups([*ring, *alone, *chain])} == {
        frozenset(chain),
        frozenset(ring),
        frozenset(alone),
    }


def test_names_are_replaced_where_they_stand_as_words_and_at_once() -> None:
    names = {"gpu-1": "gpu-2", "gpu-2": "gpu-1"}
    said = {"fault": "gpu-1/xid.79/GPU 3", "nodes": ["gpu-1", "gpu-2", "gpu-10", "gpu-1.hall", "x-gpu-1"], "at": 3}
    assert retold(said, names) == {
        "fault": "gpu-2/xid.79/GPU 3",
        "nodes": ["gpu-2", "gpu-1", "gpu-10", "gpu-1.hall", "x-gpu-1"],
        "at": 3,
    }
    assert retold("swap gpu-1 ib2|gpu-2 ib5. See gpu-1.", names) == "swap gpu-2 ib2|gpu-1 ib5. See gpu-2."


@given(st.permutations(range(6)), st.sets(st.integers(0, 5)))
def test_whatever_names_a_fleet_exchanges_each_machine_is_found_under_its_new_one(
    order: list[int], gone: Iterable[int]
) -> None:
    fleet = [device(f"gpu-{number}", number) for number in range(6)]
    there = [replace(fleet[number], name=f"gpu-{to}") for number, to in enumerate(order)]
    found = compare(known(*fleet), there)
    assert found.refused == {}
    assert {each.old: each.new for each in found.renamed} == {
        f"gpu-{number}": f"gpu-{to}" for number, to in enumerate(order) if number != to
    }
    half = [each for number, each in enumerate(fleet) if number not in set(gone)]
    assert compare(known(*fleet), half) == Comparison()
