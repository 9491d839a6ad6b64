"""What a name, a serial number, an address, a rack or a number means."""

import pytest

from fleet_runner.core.inventory.records import Device, Fleet, Interface, Part, Rack
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.work_orders.search import Found, Known, Words, alike, exact, worded

PORTS = (
    Interface("p1", "x"),
    Interface("ib0", "infiniband-ndr", guid="00aabbccddeeff00"),
    Interface("eth0", "1000base-t", mac="aa:bb:cc:dd:ee:01"),
)
FLEET = Fleet(
    ("hall",),
    {"hall/R1": Rack("R1", "hall")},
    {},
    {
        "gpu-1": Device(
            "gpu-1", "t", "gpu-server", "hall", "R1", serial="SN77", interfaces=PORTS,
            parts=(
                Part("GPU 0", "gpu", "H100", "GP5"),
                Part("GPU 1", "gpu", "H100"),
                Part("NIC", "nic", "CX7", "NIC-GPU-1"),
            ),
        ),
        "leaf-1": Device("leaf-1", "t", "leaf", "hall", serial="SN78"),
        "R1": Device("R1", "t", "pdu", "hall"),
    },
    (),
)  # fmt: skip
KNOWN = Known(
    FLEET,
    worded(FLEET),
    frozenset({"gpu-1", "gpu-9"}),
    (Ticket(12, "f", "c", "lost", "", (), "RMA", 0.0),),
    ("ib.hall",),
)


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        (" GPU-1 ", "node", "gpu-1"),
        ("gpu-9", "node", "gpu-9"),
        ("sn77", "node", "gpu-1"),
        ("gp5", "node", "gpu-1"),
        ("SN78", "device", "leaf-1"),
        ("AA-BB-CC-DD-EE-01", "node", "gpu-1"),
        ("aabb.ccdd.ee01", "node", "gpu-1"),
        ("0x00aabbccddeeff00", "node", "gpu-1"),
        ("00aa:bbcc:ddee:ff00", "node", "gpu-1"),
        ("hall/r1", "rack", "hall/R1"),
        ("#12", "ticket", "12"),
        ("12", "ticket", "12"),
        ("IB.hall", "fabric", "ib.hall"),
    ],
)
def test_one_thing_is_meant(text: str, kind: str, key: str) -> None:
    (found,) = exact(KNOWN, text)
    assert (found.kind, found.key) == (kind, key)


def test_a_word_may_mean_several_things_or_nothing() -> None:
    assert [each.kind for each in exact(KNOWN, "R1")] == ["rack", "device"]
    for nothing in ("", "  ", "gpu", "aabbccddee"):
        assert exact(KNOWN, nothing) == ()


def test_a_part_of_a_word_finds_what_fits() -> None:
    assert alike(KNOWN, "gpu-", 9) == (Found("node", "gpu-9", "gpu-9"), Found("node", "gpu-1", "gpu-1"))
    assert [each.key for each in alike(KNOWN, "sn7", 9)] == ["gpu-1", "leaf-1"]
    assert alike(KNOWN, "gpu-1", 9) == (Found("node", "gpu-1", "gpu-1"),)
    assert alike(KNOWN, "sn", 9) == ()
    assert alike(KNOWN, " ", 9) == ()
    assert len(alike(KNOWN, "g", 1)) == 1
    assert [each.key for each in alike(KNOWN, "12", 9)] == ["12"]
    assert alike(KNOWN, "LOS", 9) == (Found("ticket", "12", "lost"),)


def test_devices_whose_name_begins_with_it_come_first() -> None:
    names = ("a-gpu", "b-gpu", "gpu-1", "gpu-2", "z")
    fleet = Fleet(("hall",), {}, {}, {name: Device(name, "t", "gpu-server", "hall") for name in names}, ())
    known = Known(fleet, worded(fleet), frozenset(names))
    assert [each.key for each in alike(known, "gpu", 9)] == ["gpu-1", "gpu-2", "a-gpu", "b-gpu"]
    assert [each.key for each in alike(known, " Z ", 9)] == ["z"]


def test_without_a_source_of_truth_nodes_and_tickets_are_found() -> None:
    known = Known(None, Words(), frozenset({"gpu-9"}))
    assert exact(known, "gpu-9") == (Found("node", "gpu-9", "gpu-9"),)
    assert alike(known, "gpu", 9) == (Found("node", "gpu-9", "gpu-9"),)


@pytest.mark.parametrize("serial", ["SN  80\tA", "\u00a0SN 80 a ", "sn 80 A\n"])
def test_a_serial_with_spaces_is_one_word(serial: str) -> None:
    fleet = Fleet(("hall",), {}, {}, {"gpu-1": Device("gpu-1", "t", "r", "hall", serial=serial)}, ())
    known = Known(fleet, worded(fleet), frozenset())
    assert [each.key for each in exact(known, "sn 80 a")] == ["gpu-1"]
    assert exact(known, "80") == ()
