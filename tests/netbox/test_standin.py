"""What is particular to the stand-in; test_exchanges.py holds what it answers against a real NetBox's answers."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from fleet_runner.adapters import netbox
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Part, Rack, Termination
from tests.fleets import fleets
from tests.netbox.scenarios import Site
from tests.netbox.site import put
from tests.netbox.standin import TOKEN, Standin, serving

PORTS = (
    Interface("ib0", "infiniband-ndr", guid="0002c90300a1b2c3"),
    Interface("mgmt", "1000base-t", "02:00:00:00:00:01"),
)
TYPE = DeviceType("hgx", "Maker", "HGX", 8.0, (Interface("ib0", "infiniband-ndr"),))
NODE = Device(
    "gpu-1", "hgx", "gpu-server", "hall", "A1", 1.0, serial="S1", oob_address="192.0.2.7",
    primary_address="192.0.2.8", tenant="Acme", interfaces=PORTS, context={"a": {"b": 1}}, face="front",
    parts=(Part("GPU 1", "gpu", "H100", "G1"), Part("HCA 1", "hca", "CX7", "C1")),
)  # fmt: skip
LEAF = Device("leaf-1", "hgx", "leaf", "hall", interfaces=(Interface("ib0", "infiniband-ndr"),))
FLEET = Fleet(
    sites=("hall",),
    racks={"hall/A1": Rack("A1", "hall", 20, location="Row A")},
    device_types={"hgx": TYPE},
    devices={"gpu-1": NODE, "leaf-1": LEAF},
    cables=(Cable(Termination("gpu-1", "ib0"), Termination("leaf-1", "ib0"), "C1", "mmf", status="planned", id=1),),
)


def test_a_fleet_that_is_put_into_it_is_read_back(standin: Standin) -> None:
    put(standin, FLEET)
    found = netbox.load(standin.url, TOKEN)
    assert found.devices == FLEET.devices
    assert (found.racks, found.device_types, found.cables) == (FLEET.racks, FLEET.device_types, FLEET.cables)


def test_what_netbox_would_not_know_is_named(standin: Standin) -> None:
    put(standin, FLEET)
    site = Site(standin.url, TOKEN)
    site.ask("GET", "dcim/devices/?naem=gpu-1")
    site.ask("PATCH", "dcim/devices/1/", {"seriel": "X"})
    assert [one.rpartition(": ")[2] for one in standin.problems()] == [
        "no parameter naem",
        "no field seriel in what it takes",
    ]
    standin.known.append("no ")


@pytest.mark.parametrize("how", [{"status": 503}, {"dropped": True}, {"lost": True}])
def test_what_goes_wrong_once_is_tried_again(standin: Standin, how: dict[str, Any]) -> None:
    put(standin, FLEET)
    standin.fail(r"^GET /api/dcim/devices/", **how)
    assert len(netbox.load(standin.url, TOKEN, netbox.Timeouts(30, 60, 2, 0.01)).devices) == 2


@given(fleet=fleets())
@settings(max_examples=15, deadline=None)
def test_any_fleet_that_a_netbox_can_hold_is_read_back(fleet: Fleet) -> None:
    with serving() as standin:
        put(standin, fleet)
        found = netbox.load(standin.url, TOKEN)
        assert standin.problems() == []
    cables = tuple(replace(cable, id=None) for cable in found.cables)
    assert replace(found, revision="", cables=cables) == fleet
