"""Cables through patch panels, pushed into a stand-in NetBox and read back as the folder has them."""

from dataclasses import replace

import pytest

from fleet_runner.adapters import netbox
from fleet_runner.core.inventory.netbox.push import Kind
from fleet_runner.core.inventory.records import Cable, Device, Fleet, Interface, Termination
from tests.netbox.site import custom_fields
from tests.netbox.standin import TOKEN, Standin
from tests.netbox.test_push import FLEET, PATIENCE, bare, planned, push
from tests.netbox.test_reading import install

PORTS = tuple(Interface(f"ib{number}", "infiniband-ndr") for number in range(3))
NAMES = ("gpu-1", "gpu-2", "leaf-1")


def device(name: str, role: str, *ports: Interface) -> Device:
    return Device(name, "hgx", role, "hall", interfaces=ports)


def cable(at: int, *carriers: str, **more: str) -> Cable:
    return Cable(
        Termination("gpu-1", f"ib{at}"), Termination("leaf-1", f"ib{at}"), f"L{at}", "mmf-om4", carriers, **more
    )


WAYS = (
    cable(0, "trunk T-12", "panel PP-A", "panel PP-B"),
    cable(1, "trunk T-12", "panel PP-A", "panel PP-B", status="planned"),
    cable(2, "panel PP-C"),
)
DEVICES = (
    device("gpu-1", "gpu-server", *PORTS),
    device("leaf-1", "leaf", *PORTS),
    *(device(f"PP-{letter}", "patch-panel") for letter in "ABC"),
)
WANTED = replace(
    FLEET,
    device_types={"hgx": replace(FLEET.device_types["hgx"], interfaces=())},
    devices={each.name: each for each in DEVICES},
    cables=WAYS,
)


def read(standin: Standin) -> Fleet:
    return bare(netbox.load(standin.url, TOKEN, PATIENCE))


@pytest.fixture
def filled(standin: Standin) -> Standin:
    """A NetBox into which the fleet was pushed."""
    custom_fields(standin)
    install(standin)
    pushed = push(standin, WANTED)
    assert (pushed.conflicts, pushed.waiting) == ([], 0)
    return standin


def test_panels_trunks_and_cords_are_read_back_as_the_folder_has_them(filled: Standin) -> None:
    found = read(filled)
    assert [(each.a, each.b, each.label, each.kind, each.status) for each in found.cables] == [
        (each.a, each.b, each.label, each.kind, each.status) for each in WAYS
    ]
    assert [set(each.carriers) for each in found.cables] == [set(each.carriers) for each in WAYS]
    assert found.uncompared == ()


def test_a_second_push_writes_nothing(filled: Standin) -> None:
    again = planned(filled, WANTED)
    assert (again.steps, again.conflicts, again.notes) == ((), (), ())


def test_a_push_that_was_interrupted_goes_on_where_it_ended(filled: Standin) -> None:
    cords = filled.database.lists["dcim/cables"]
    last = max(cords)
    filled.remove("dcim/cables", last)
    again = planned(filled, WANTED)
    assert [step.kind for step in again.steps] == [Kind.CORD]
    assert push(filled, WANTED).conflicts == []
    assert len(read(filled).cables) == len(WAYS)


def test_a_panel_with_ports_of_its_own_is_not_patched_by_guess(standin: Standin) -> None:
    custom_fields(standin)
    install(standin)
    push(standin, replace(WANTED, cables=()))
    panel = next(row["id"] for row in standin.database.where("dcim/devices", name="PP-C"))
    standin.add("dcim/rear-ports", device=panel, name="R24", type="mpo", positions=1)
    found = push(standin, WANTED)
    assert [each for each in found.conflicts if "panel PP-C has ports of its own in NetBox" in each]
    assert len(read(standin).cables) == 2


def test_a_panel_that_is_no_device_of_the_folder_is_said_and_the_cable_runs_straight(standin: Standin) -> None:
    custom_fields(standin)
    install(standin)
    fleet = replace(WANTED, devices={name: each for name, each in WANTED.devices.items() if name != "PP-C"})
    assert "panel PP-C" in planned(standin, fleet).notes[0]
    push(standin, fleet)
    assert [each.carriers for each in read(standin).cables if each.label == "L2"] == [()]
