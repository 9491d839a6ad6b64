"""Where a NetBox keeps what differs: by the device's exact name, each thing once, a MAC address if it is there."""

import pytest

from fleet_runner.adapters.netbox import places
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.drift.difference import Kind
from fleet_runner.core.inventory.drift.tables import ObjectRef
from fleet_runner.core.inventory.records import Device, DeviceType, Fleet, Interface, Part
from tests.netbox.site import put
from tests.netbox.standin import TOKEN, Standin

PORTS = (Interface("eth0", "1000base-t", mac="02:00:00:00:00:01"), Interface("ib0", "infiniband-ndr"))
PARTS = (Part("SXM0", "gpu", "H100", "G0"), Part("A1", "dimm", "64G", "D1"))
FLEET = Fleet(
    sites=("hall",),
    racks={},
    device_types={"hgx": DeviceType("hgx", "Acme", "HGX", 8.0)},
    devices={
        name: Device(name, "hgx", "gpu-server", "hall", interfaces=PORTS, parts=PARTS) for name in ("gpu-1", "gpu-10")
    },
    cables=(),
)


def test_every_value_of_a_device_has_its_list_and_its_id(standin: Standin) -> None:
    put(standin, FLEET)
    found = places.places(standin.url, TOKEN, ["gpu-1", "gpu-99"])
    assert {key[0] for key in found} == {"gpu-1"}
    assert {key[1:]: place.path for key, place in found.items()} == {
        (Kind.DEVICE, "serial number"): "dcim/devices",
        (Kind.PART, "SXM0"): "dcim/modules",
        (Kind.PART, "A1"): "dcim/inventory-items",
        (Kind.GUID, "eth0"): "dcim/interfaces",
        (Kind.GUID, "ib0"): "dcim/interfaces",
        (Kind.MAC, "eth0"): "dcim/mac-addresses",
        (Kind.MAC, "ib0"): "dcim/mac-addresses",
    }
    [device] = standin.database.where("dcim/devices", name="gpu-1")
    assert found["gpu-1", Kind.DEVICE, "serial number"].id == device["id"]
    [item] = standin.database.where("dcim/inventory-items", device=device["id"])
    assert found["gpu-1", Kind.PART, "A1"].id == item["id"]
    assert found["gpu-1", Kind.MAC, "eth0"].id > 0
    assert found["gpu-1", Kind.MAC, "ib0"] == ObjectRef("dcim/mac-addresses", 0)


def test_what_a_device_has_twice_has_no_place(standin: Standin) -> None:
    """An inventory item may be called as another of its device is, below another parent."""
    put(standin, FLEET)
    with standin.lock, standin.database.as_one(standin.user("planner")):
        [device] = standin.database.where("dcim/devices", name="gpu-1")
        standin.database.create("dcim/inventory-items", {"device": device["id"], "name": "SXM0"})
    assert ("gpu-1", Kind.PART, "SXM0") not in places.places(standin.url, TOKEN, ["gpu-1"])


def test_a_token_that_may_not_look_is_told_what_it_lacks(standin: Standin) -> None:
    token = standin.token_of("reader", {"dcim.device": {"view"}}, 1)
    put(standin, FLEET)
    with pytest.raises(SourceError, match="inventory"):
        places.places(standin.url, token, ["gpu-1"])
