"""Templates see a few plain names, and nothing of the records behind them."""

import json

from fleet_runner.core.boot.boots import Boot, Identity
from fleet_runner.core.boot.facts import BootEndpoint, facts, instance_id
from fleet_runner.core.boot.network import network
from fleet_runner.core.inventory.records import Device, Fleet, Interface, Rack

MAC = "02:00:00:00:00:01"
NODE = Device(
    "gpu-01",
    "sku",
    "gpu-server",
    "hall-1",
    rack="A03",
    position=1.0,
    serial="0012",
    primary_address="10.0.0.7/24",
    interfaces=(Interface("eth0", "1000base-t", mac=MAC),),
    context={"ansible_user": "fleet", "fleet_device": {"mine": True}, "zone": {"name": "a"}},
)
FLEET = Fleet(("hall-1",), {"hall-1/A03": Rack("A03", "hall-1")}, {}, {"gpu-01": NODE}, ())
BOOT = Boot(17, "gpu-01", 3, 100.0, 200.0, Identity())
FOUND = facts(FLEET, NODE, BOOT, BootEndpoint("https://10.0.0.1:8443/", "17-abc", MAC))


def test_a_boot_has_the_addresses_that_its_node_may_use() -> None:
    assert FOUND.boot == {
        "id": 17,
        "instance_id": "gpu-01-17",
        "mac": MAC,
        "url": "https://10.0.0.1:8443",
        "seed_url": "https://10.0.0.1:8443/seed/17-abc/",
        "phone_home_url": "https://10.0.0.1:8443/phone-home/17-abc",
    }


def test_another_boot_is_another_instance() -> None:
    assert instance_id(BOOT) != instance_id(Boot(18, "gpu-01", 3, 100.0, 200.0, Identity()))


def test_a_context_has_no_names_that_are_ours() -> None:
    assert FOUND.context == {"ansible_user": "fleet", "zone": {"name": "a"}}


def test_a_node_is_its_record_in_plain_values() -> None:
    assert FOUND.node["place"] == "hall-1 rack A03 U1"
    eth0 = {"name": "eth0", "kind": "1000base-t", "mac": MAC, "guid": None, "mgmt_only": False}
    assert FOUND.node["interfaces"] == [eth0]
    assert json.loads(json.dumps(FOUND.node)) == FOUND.node


def test_the_network_is_that_of_the_interface_that_asked() -> None:
    assert FOUND.network == network(NODE, MAC)
