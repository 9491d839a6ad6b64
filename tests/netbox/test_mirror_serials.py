"""Serial numbers of parts that came in, written into NetBox: over the one that went out, and over no other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.core.inventory.netbox.mirror.serials import Due
from fleet_runner.core.tickets.rma_cases import Case, Replaced
from tests.netbox.mirroring import Told, told
from tests.netbox.standin import Standin

ITEM, MODULE = "dcim/inventory-items", "dcim/modules"


@pytest.fixture
def mirror(standin: Standin, tmp_path: Path) -> Iterator[Told]:
    """Nodes with a GPU, which the NetBox has as a module, and an HCA, an inventory item; a case is open."""
    with told(standin, tmp_path) as made:
        made.store.open_case(Case(0, "gpu-01", "Acme", "C-7", "ada", made.now, (Replaced("GPU 1", "S-1"),)))
        made.turn()
        yield made


def came(mirror: Told, slot: str, out: str, serial: str) -> None:
    """Have a part come in."""
    [case] = mirror.store.cases("gpu-01")
    due = Due("gpu-01", slot, out, serial, "ada", mirror.now)
    mirror.store.exchange_parts(case, "ada", mirror.now, [due])


def row(mirror: Told, path: str) -> int:
    """Return the id of the part of gpu-01 in a list."""
    device = mirror.standin.row("dcim/devices", name="gpu-01")["id"]
    [found] = [each for each in mirror.standin.rows(path) if each["device"]["id"] == device]
    return int(found["id"])


def serial(mirror: Told, path: str) -> str:
    """Return the serial number that NetBox has of the part of gpu-01 in a list."""
    [found] = [each for each in mirror.standin.rows(path) if each["id"] == row(mirror, path)]
    return str(found["serial"])


def test_a_module_and_an_inventory_item_get_theirs_and_no_other_node_s(mirror: Told) -> None:
    came(mirror, "GPU 1", "S-1", "S-9")
    came(mirror, "HCA 1", "", "C-9")
    mirror.standin.edit(ITEM, row(mirror, ITEM), serial="")
    mirror.turn()
    assert (serial(mirror, MODULE), serial(mirror, ITEM)) == ("S-9", "C-9")
    assert mirror.store.serials_due() == ()
    assert len([each for each in mirror.standin.rows(MODULE) if each["serial"] == "S-1"]) == 2


def test_a_serial_that_somebody_else_wrote_stays_and_is_told_once(mirror: Told) -> None:
    mirror.standin.edit(MODULE, row(mirror, MODULE), serial="S-7")
    came(mirror, "GPU 1", "S-1", "S-9")
    for _ in range(3):
        mirror.turn(400)
    assert serial(mirror, MODULE) == "S-7"
    assert [due.conflict for due in mirror.store.serials_due()] == ["S-7"]
    [said] = [text for text in mirror.entries("gpu-01") if "S-7" in text]
    assert said.startswith("The part in GPU 1 has serial number S-9, and NetBox says S-7")
    mirror.standin.edit(MODULE, row(mirror, MODULE), serial="")
    mirror.turn(400)
    assert (serial(mirror, MODULE), mirror.store.serials_due()) == ("S-9", ())


def test_an_edit_between_reading_and_writing_is_seen_and_kept(mirror: Told) -> None:
    came(mirror, "GPU 1", "S-1", "S-9")
    mirror.once(lambda: mirror.standin.edit(MODULE, row(mirror, MODULE), serial="S-7"))
    mirror.turn()
    assert serial(mirror, MODULE) == "S-7"


def test_a_netbox_that_is_away_gets_it_later_and_a_lost_answer_does_no_harm(mirror: Told) -> None:
    mirror.standin.fail(times=50, status=503)
    came(mirror, "GPU 1", "S-1", "S-9")
    for _ in range(3):
        mirror.turn(4000)
    assert "503" in mirror.standing("serials")
    mirror.standin.faults.clear()
    mirror.standin.fail("PATCH .*modules", lost=True)
    mirror.turn(4000)
    assert [due.came for due in mirror.store.serials_due()] == ["S-9"]
    mirror.turn(4000)
    assert (serial(mirror, MODULE), mirror.store.serials_due(), mirror.standing("serials")) == ("S-9", (), "")


def test_a_slot_that_is_not_there_and_one_that_is_there_twice_are_said(mirror: Told) -> None:
    device = mirror.standin.row("dcim/devices", name="gpu-01")["id"]
    mirror.standin.add(ITEM, device=device, name="GPU 1", serial="S-1")
    came(mirror, "GPU 1", "S-1", "S-9")
    came(mirror, "PSU 7", "", "P-9")
    mirror.turn()
    assert {due.slot: due.detail for due in mirror.store.serials_due()} == {
        "GPU 1": "NetBox has 2 parts GPU 1 in gpu-01; write S-9 there by hand",
        "PSU 7": "NetBox has no part PSU 7 in gpu-01 that this token may see; add it there",
    }


def test_a_device_that_is_gone_and_a_permission_that_is_missing_are_said(mirror: Told) -> None:
    kinds: list[str] = ["dcim.device", "dcim.module", "dcim.inventoryitem"]
    may = dict.fromkeys(kinds, ("view",))
    mirror.token = mirror.standin.token_of("reader", may)
    came(mirror, "GPU 1", "S-1", "S-9")
    mirror.turn()
    assert "dcim.change_module" in mirror.standing("serials")
    number = mirror.standin.row("dcim/devices", name="gpu-01")["id"]
    mirror.standin.edit("dcim/devices", number, name="gpu-old")
    mirror.turn(4000)
    assert "NetBox has no device gpu-01" in mirror.store.serials_due()[0].detail


def test_a_slot_is_told_of_the_last_part_that_came(mirror: Told) -> None:
    """One that came in its place before anything was written is forgotten."""
    came(mirror, "GPU 1", "S-1", "S-9")
    mirror.now += 1
    came(mirror, "GPU 1", "S-1", "S-10")
    mirror.turn()
    assert (serial(mirror, MODULE), mirror.store.serials_due()) == ("S-10", ())
