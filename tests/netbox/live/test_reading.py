"""Reading a NetBox that others hold: our hall is found in it whole, however it is read and whatever is next to it."""

from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox import lists
from fleet_runner.adapters.netbox.client import Client
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.records import PLANNED, Fleet, Management, Termination
from tests.netbox.live.hall import CONTEXT, Hall
from tests.netbox.live.place import Place

Read = Callable[[], Fleet]
FEW = 200  # devices that are read through serializers within a test's time
MOST = 3  # requests where nothing has changed


def test_the_hall_is_read_whole(hall: Hall, fleet: Read) -> None:
    """Every field of a node that a site fills is read."""
    devices, _ = hall.of(fleet())
    assert set(devices) == set(hall.devices)
    node = devices[hall.nodes[0]]
    assert (node.site, node.rack, node.position, node.face) == (hall.site, hall.name("A01"), 1.0, "front")
    assert (node.role, node.device_type, node.status) == ("gpu-server", hall.name("server"), "active")
    assert node.primary_address == hall.addresses[f"{node.name} eth0"]
    assert node.oob_address == hall.addresses[f"{node.name} bmc"]
    assert node.context.items() >= CONTEXT.items()
    assert node.management is Management.FULL
    assert [part.slot for part in node.parts] == ["GPU 0", "GPU 1"]
    assert {port.name: port.guid for port in node.interfaces if port.guid} == {
        "ib0": hall.guids[node.name, "ib0"],
        "ib1": hall.guids[node.name, "ib1"],
    }
    (bmc,) = (port for port in node.interfaces if port.mgmt_only)
    assert bmc.name == "bmc"


def test_cables_are_read_with_both_ends(hall: Hall, fleet: Read) -> None:
    """A cable is a link between two interfaces; one through a panel is told by the node's cord."""
    _, cables = hall.of(fleet())
    leaf = hall.name("leaf-1")
    assert set(cables) == {hall.name(label) for label in ("rail-1", "rail-2", "cord")}
    through = cables[hall.name("cord")]
    assert {through.a, through.b} == {Termination(hall.nodes[0], "ib1"), Termination(leaf, "3")}
    assert through.carriers == (f"panel {hall.name('panel-1')}",)
    assert (through.status, through.id) == (PLANNED, hall.cables[through.label])


def test_templates_and_serializers_give_the_same(hall: Hall, place: Place, fleet: Read) -> None:
    """Without export templates the same is read, only slower."""
    if place.count("dcim/devices") > FEW:
        pytest.skip(f"this NetBox holds over {FEW} devices: its serializers take minutes for them")
    with Client(place.url, place.token, netbox.Timeouts()) as client:
        rows = lists.everything(lists.Lists(client, templates=False))
    through_rest = netbox.fleet(netbox.Snapshot(rows, None, 0, ""), place.url)
    assert hall.of(through_rest) == hall.of(fleet())


def test_an_unchanged_netbox_costs_a_few_requests(hall: Hall, place: Place, tmp_path: Path) -> None:
    """What is kept is asked for its changes only."""
    file = tmp_path / "kept.json"
    first = netbox.snapshot(place.url, place.token, kept=file)
    again = netbox.snapshot(place.url, place.token, kept=file)
    assert again.requests <= MOST < first.requests
    assert again.rows == first.rows


def test_changes_are_read_as_everything_would_be(hall: Hall, place: Place, tmp_path: Path, fleet: Read) -> None:
    """After each kind of change what is kept and brought up to date is what reading all of it gives."""
    file = tmp_path / "kept.json"
    netbox.snapshot(place.url, place.token, kept=file)
    spare = hall.name("spare")
    changes: list[Callable[[], Any]] = [
        lambda: place.change("dcim/devices", hall.devices[hall.nodes[0]], serial=hall.name("new")),
        lambda: place.change("dcim/cables", hall.cables[hall.name("rail-1")], status="connected"),
        lambda: place.change("dcim/interfaces", hall.ports[hall.nodes[1], "ib1"], name="ib9"),
        lambda: place.change("dcim/inventory-items", hall.items[hall.nodes[0], "GPU 1"], serial="X1"),
        lambda: place.make(
            "dcim/devices",
            name=spare,
            device_type=hall.types["server"],
            role=hall.roles["gpu-server"],
            site=hall.where["site"],
        ),
        lambda: place.remove("dcim/devices", place.ours("dcim/devices", "name", "name")[-1:]),
        lambda: place.change("dcim/interfaces", hall.ports[hall.nodes[1], "ib1"], name="ib1"),
        lambda: place.change("dcim/cables", hall.cables[hall.name("rail-1")], status="planned"),
    ]
    for change in changes[:5]:
        change()
        kept = netbox.load(place.url, place.token, kept=file)
        assert hall.of(kept) == hall.of(fleet())
    (made,) = (row["id"] for row in place.rows("dcim/devices", name=spare) if row["name"] == spare)
    place.remove("dcim/devices", [made])
    for change in changes[6:]:
        change()
    kept = netbox.load(place.url, place.token, kept=file)
    assert spare not in kept.devices
    assert hall.of(kept) == hall.of(fleet())


def test_a_half_modelled_device_stops_nothing(hall: Hall, place: Place, fleet: Read) -> None:
    """A device without rack, serial, address, cable or part is a device."""
    name = hall.name("half")
    made = place.make(
        "dcim/devices",
        name=name,
        device_type=hall.types["switch"],
        role=hall.roles["leaf"],
        site=hall.where["site"],
    )
    nameless = place.make(
        "dcim/devices",
        device_type=hall.types["switch"],
        role=hall.roles["leaf"],
        site=hall.where["site"],
    )
    try:
        device = fleet().devices[name]
        assert (device.rack, device.position, device.serial, device.parts) == (None, None, None, ())
    finally:
        place.remove("dcim/devices", [made["id"], nameless["id"]])


def test_a_contradiction_names_its_page(hall: Hall, place: Place, fleet: Read) -> None:
    """A GUID that two nodes have tells neither, each page is named, and all is right again when it is corrected."""
    first, second = (hall.devices[node] for node in hall.nodes)
    was = place.row("dcim/interfaces", hall.ports[hall.nodes[1], "ib0"])["wwn"]
    same = place.row("dcim/interfaces", hall.ports[hall.nodes[0], "ib0"])["wwn"]
    place.change("dcim/interfaces", hall.ports[hall.nodes[1], "ib0"], wwn=same)
    try:
        found = fleet()
        assert all(any(f"/dcim/devices/{number}/" in note for note in found.notes) for number in (first, second))
        assert not [port for node in hall.nodes for port in found.devices[node].interfaces if port.guid == same]
    finally:
        place.change("dcim/interfaces", hall.ports[hall.nodes[1], "ib0"], wwn=was)
    assert set(hall.of(fleet())[0]) == set(hall.devices)


def test_a_wrong_token_is_said(place: Place) -> None:
    """It is not taken for an empty NetBox, and is in no message."""
    wrong = "f" * 40
    with pytest.raises(SourceError, match="token") as refused:
        netbox.load(place.url, wrong)
    assert wrong not in str(refused.value)


def test_a_missing_permission_is_named(place: Place, hall: Hall) -> None:
    """A user who may see devices and no cables is told which permission is wanting."""
    user = place.make("users/users", username=hall.name("half"), password=f"Aa1-{hall.name('x')}-{hall.name('y')}")
    place.make(
        "users/permissions",
        name=hall.name("half"),
        object_types=["dcim.site", "dcim.rack", "dcim.device", "dcim.devicetype", "extras.exporttemplate"],
        actions=["view"],
        users=[user["id"]],
    )
    mine = token_hex(20)  # 4.4 takes it and may show it to nobody; later ones say which token they have made
    old = place.ask("GET", "status")["netbox-version"].startswith("4.4")
    token = place.make("users/tokens", user=user["id"], write_enabled=False, **({"key": mine} if old else {}))
    said = mine if old else token["token"]
    secret = f"nbt_{token['key']}.{said}" if token.get("version", 1) > 1 else said
    with pytest.raises(SourceError, match=r"dcim/interfaces .* the permission dcim\.view_interface"):
        netbox.load(place.url, secret)
