"""The fleet as Ansible sees it."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from fleet_runner.core.cabling.fabrics import fabrics
from fleet_runner.core.inventory import ansible
from fleet_runner.core.inventory.bmc_address import networks
from fleet_runner.core.inventory.records import (
    Cable,
    Device,
    DeviceType,
    Fleet,
    Interface,
    Management,
    Part,
    Rack,
    Termination,
    nodes,
)
from tests.examples import examples
from tests.fleets import fleets

GPU = Device(
    name="gpu-1",
    device_type="hgx-h100",
    role="gpu-server",
    site="hall 1",
    rack="A03",
    position=12.0,
    serial="S1",
    oob_address="10.0.0.1/24",
    primary_address="10.1.0.1/24",
    management=Management.CUSTOMER,
    interfaces=(Interface("ib0", "infiniband-ndr", guid="00000000000000aa"), Interface("eth0", "1000base-t")),
    parts=(Part("GPU 0", "gpu", "H100", "X"),),
    context={"ansible_user": "fleet", "fleet_device": "mine", "fleet_environment": {"PATH": "/bin"}},
)
LEAF = Device("leaf-1", "sw", "leaf", "hall 1", interfaces=(Interface("1", "infiniband-ndr"),))
FLEET = Fleet(
    sites=("hall 1",),
    racks={"hall 1/A03": Rack("A03", "hall 1")},
    device_types={"hgx-h100": DeviceType("hgx-h100", "M", "HGX", 8.0), "sw": DeviceType("sw", "M", "SW", 1.0)},
    devices={"gpu-1": GPU, "leaf-1": LEAF},
    cables=(Cable(Termination("gpu-1", "ib0"), Termination("leaf-1", "1"), "C1", "aoc", ("trunk T-1",)),),
)

PORTS = tuple(Interface(f"ib{rail}", "infiniband-ndr") for rail in range(2))
IDLE = {
    name: Device(name, "hgx-h100", "gpu-server", "hall 1", status=status, interfaces=PORTS)
    for name, status in {"gpu-0": "planned", "gpu-2": "active", "gpu-3": "staged"}.items()
}
IDLE_CABLES = tuple(
    Cable(Termination(name, f"ib{rail}"), Termination("leaf-1", f"{number}{rail}"))
    for number, name in enumerate(IDLE, start=2)
    for rail in range(2)
)


@given(fleets())
@settings(max_examples=examples(50), deadline=None)
def test_every_device_is_in_its_groups_and_nodes_are_nodes(fleet: Fleet) -> None:
    found = ansible.groups(fleet)
    assert found["nodes"] == [node.name for node in nodes(fleet)]
    for device in fleet.devices.values():
        assert device.name in found[ansible.group_name("device_type", device.device_type)]
        assert device.name in found[ansible.group_name("role", device.role)]
    assert all(re.fullmatch("[A-Za-z0-9_]+", group) for group in found)
    assert all(members == sorted(set(members)) for members in found.values())


@given(fleets())
@settings(max_examples=examples(50), deadline=None)
def test_every_cable_is_a_link_of_both_its_ends(fleet: Fleet) -> None:
    found = ansible.links(fleet)
    assert sum(map(len, found.values())) == 2 * len(fleet.cables)
    for name, links in found.items():
        for link in links:
            back = {"interface": link["far_interface"], "far_device": name, "far_interface": link["interface"]}
            assert any(back.items() <= other.items() for other in found[link["far_device"]])
            assert link["far_place"] == fleet.place(link["far_device"])


@given(fleets())
@settings(max_examples=examples(50), deadline=None)
def test_all_of_it_is_json_and_the_same_one_by_one(fleet: Fleet) -> None:
    together = ansible.all_hostvars(fleet)
    assert json.loads(json.dumps(together)) == together
    assert together == {name: ansible.hostvars(fleet, device) for name, device in fleet.devices.items()}
    fabric = ansible.fabric(fleet)
    assert json.loads(json.dumps(fabric)) == fabric
    assert len(fabric["links"]) == len(fleet.cables)
    assert set(fabric["devices"]) == set(fleet.devices)


def test_a_page_sets_no_variable_that_runs_something_on_the_controller() -> None:
    mine = {"ansible_user": "fleet", "ansible_port": 2222, "ansible_become": True, "other": "-x"}
    bad = {"ansible_connection": "local", "ansible_ssh_args": "-o ProxyCommand=x", "ansible_host": "-oProxyCommand=x"}
    hosts: dict[str, dict[str, Any]] = {"gpu-1": {**mine, **bad}, "gpu-2": {"ansible_host": "2001:db8::1"}}
    assert ansible.disarm(hosts) == ["ansible_connection", "ansible_host", "ansible_ssh_args"]
    assert hosts == {"gpu-1": mine, "gpu-2": {"ansible_host": "2001:db8::1"}}
    assert ansible.disarm(hosts) == []


@pytest.mark.parametrize("name", ["all", "fabrics", "localhost", "nodes", "rack_A03", "state_rma", "tenant_x"])
def test_a_device_whose_name_means_something_else_to_ansible_is_no_host(name: str) -> None:
    named = replace(FLEET, devices={**FLEET.devices, name: replace(LEAF, name=name, primary_address="192.0.2.1")})
    assert ansible.view(named) == ansible.view(FLEET)
    assert name in ansible.fabric(named)["devices"]


def test_the_variables_of_one_node() -> None:
    found = ansible.hostvars(FLEET, GPU)
    device = found.pop("fleet_device")
    assert found == {
        "ansible_host": "10.1.0.1",
        "ansible_user": "fleet",
        "fleet_bmc_url": "https://10.0.0.1",
        "fleet_environment": {"PATH": "/bin"},
    }
    assert device["place"] == "hall 1 rack A03 U12"
    assert device["management"] == "customer"
    assert device["parts"] == [{"slot": "GPU 0", "kind": "gpu", "model": "H100", "serial": "X"}]
    assert device["interfaces"][0] == {
        "name": "ib0",
        "kind": "infiniband-ndr",
        "mac": None,
        "guid": "00000000000000aa",
        "mgmt_only": False,
    }
    assert device["links"] == [
        {
            "interface": "ib0",
            "far_device": "leaf-1",
            "far_interface": "1",
            "far_place": "hall 1 rack unknown U unknown",
            "kind": "aoc",
            "label": "C1",
        }
    ]


def test_a_device_without_addresses_has_no_address_variables() -> None:
    assert set(ansible.hostvars(FLEET, LEAF)) == {"fleet_device"}


def test_a_context_owns_the_bmc_url_but_not_the_record() -> None:
    own = replace(GPU, context={"fleet_bmc_url": "http://127.0.0.1:9", "fleet_device": 1, "fleet_profile": {}})
    found = ansible.hostvars(FLEET, own, None, networks("127.0.0.0/8"))
    assert found["fleet_bmc_url"] == "http://127.0.0.1:9"
    assert found["fleet_device"]["name"] == "gpu-1"
    assert "fleet_profile" not in found


def test_a_bmc_is_asked_by_ipmi_where_a_context_says_so_and_nowhere_else() -> None:
    asked = {each: replace(GPU, context={"fleet_bmc_protocol": each}) for each in ("ipmi", "redfish", "snmp")}
    found = {each: ansible.hostvars(FLEET, device) for each, device in asked.items()}
    assert found["ipmi"]["fleet_bmc_url"] == "ipmi://10.0.0.1"
    assert found["redfish"]["fleet_bmc_url"] == ansible.hostvars(FLEET, GPU)["fleet_bmc_url"] == "https://10.0.0.1"
    assert "fleet_bmc_url" not in found["snmp"]
    assert found["snmp"]["fleet_bmc_refused"] == "gpu-1: fleet_bmc_protocol is 'snmp', expected redfish or ipmi"


def test_a_bmc_elsewhere_is_left_out_and_the_sentence_says_why() -> None:
    own = replace(GPU, context={"fleet_bmc_url": "https://192.0.2.66", "fleet_bmc_refused": ""})
    found = ansible.hostvars(FLEET, own)
    assert "fleet_bmc_url" not in found
    assert "https://192.0.2.66" in found["fleet_bmc_refused"]
    (host,) = (each for name, each in ansible.view(FLEET, networks("fd00::/8"))["hosts"].items() if name == "gpu-1")
    assert "fleet_bmc_url" not in host


def test_no_page_says_where_a_secret_of_the_boot_service_goes() -> None:
    hosts = {"dhcp-1": {"pxe_boot_told_url": "http://192.0.2.66", "pxe_boot_range": "10.0.0.0"}}
    assert ansible.disarm(hosts) == ["pxe_boot_told_url"]
    assert hosts == {"dhcp-1": {"pxe_boot_range": "10.0.0.0"}}


def test_an_ipv6_bmc_has_brackets() -> None:
    assert ansible.bmc_url("fd00::1/64") == "https://[fd00::1]"


@pytest.mark.parametrize(
    ("gpu", "leaf", "link"),
    [
        ("infiniband-hdr", "infiniband-ndr", "infiniband-hdr"),
        ("infiniband-xdr", "infiniband-ndr", "infiniband-ndr"),
        ("infiniband-hdr", "", "infiniband-hdr"),
        ("", "infiniband-ndr", "infiniband-ndr"),
        ("", "", ""),
    ],
)
def test_a_link_of_the_fabric_is_as_fast_as_its_slower_end(gpu: str, leaf: str, link: str) -> None:
    devices = {
        "gpu-1": replace(GPU, interfaces=(Interface("ib0", gpu),)),
        "leaf-1": replace(LEAF, interfaces=(Interface("1", leaf),)),
    }
    found = ansible.fabric(replace(FLEET, devices=devices))
    assert [row[4] for row in found["links"]] == [link]


def test_the_fabric_says_where_guids_are() -> None:
    found = ansible.fabric(FLEET)
    assert found["links"] == [["gpu-1", "ib0", "leaf-1", "1", "infiniband-ndr", ["trunk T-1"]]]
    assert found["devices"]["gpu-1"] == {
        "site": "hall 1",
        "rack": "A03",
        "unit": 12.0,
        "role": "gpu-server",
        "device_type": "hgx-h100",
        "serial": "S1",
        "status": "active",
        "guids": {"ib0": "00000000000000aa"},
        "macs": {},
    }
    assert found["devices"]["leaf-1"]["unit"] is None


def test_the_fabric_says_which_cables_are_still_to_be_put_in_place() -> None:
    assert ansible.fabric(FLEET)["planned"] == []
    planned = replace(FLEET, cables=(replace(FLEET.cables[0], status="planned"),))
    assert ansible.fabric(planned)["planned"] == [["gpu-1", "ib0", "leaf-1", "1"]]
    assert ansible.fabric(planned)["links"] == ansible.fabric(FLEET)["links"]


def test_a_cable_to_nowhere_has_no_kind() -> None:
    lost = replace(FLEET, cables=(Cable(Termination("x", "1"), Termination("y", "1")),))
    assert ansible.fabric(lost)["links"] == [["x", "1", "y", "1", "", []]]
    assert ansible.links(lost)["x"][0]["far_place"] == "not in the source of truth"


def test_groups_are_named_for_ansible() -> None:
    found = ansible.groups(FLEET)
    assert list(found) == [
        "nodes",
        "device_type_hgx_h100",
        "site_hall_1",
        "rack_A03",
        "role_gpu_server",
        "device_type_sw",
        "role_leaf",
    ]


def test_a_fabric_is_a_host_with_its_switches_and_the_first_ports_that_can_read_it() -> None:
    """One port a node, three nodes at most, those that are in service first."""
    fleet = replace(FLEET, devices={**FLEET.devices, **IDLE}, cables=(*FLEET.cables, *IDLE_CABLES))
    found = ansible.fabric_hostvars(fleet)
    [fabric] = fabrics(fleet)
    assert found == {
        fabric.name: {
            "fleet_device": {
                "name": fabric.name,
                "role": "infiniband-fabric",
                "device_type": "infiniband-fabric",
                "site": "hall 1",
                "kind": "infiniband",
                "switches": ["leaf-1"],
            },
            "fleet_observers": [["gpu-1", "ib0"], ["gpu-2", "ib0"], ["gpu-3", "ib0"]],
        }
    }
    assert fabric.name not in ansible.all_hostvars(fleet)


def test_an_ethernet_fabric_is_read_from_its_switches() -> None:
    """Ports that a device's own system does not see are told: nobody need hear them."""
    wire = "400gbase-x-qsfp112"
    asked = {"ansible_network_os": "arista.eos.eos", "ansible_user": "fleet"}
    leaf = replace(
        LEAF, primary_address="192.0.2.1/24", context=asked, interfaces=(Interface("1", wire), Interface("2", wire))
    )
    gpu = replace(GPU, interfaces=(Interface("eth0", wire), Interface("bmc", wire, mgmt_only=True)))
    cables = tuple(
        Cable(Termination("gpu-1", port), Termination("leaf-1", at)) for port, at in (("eth0", "1"), ("bmc", "2"))
    )
    fleet = replace(FLEET, devices={"gpu-1": gpu, "leaf-1": leaf}, cables=cables)
    [found] = ansible.fabric_hostvars(fleet).values()
    assert found["fleet_device"]["kind"] == "ethernet"
    assert found["fleet_observers"] == [["leaf-1", ""]]
    assert ansible.fabric(fleet)["managed"] == [["gpu-1", "bmc"]]
    told = ansible.all_hostvars(fleet)
    assert ansible.disarm(told) == []
    assert told["leaf-1"]["ansible_network_os"] == "arista.eos.eos"


@given(fleets())
@settings(max_examples=examples(50), deadline=None)
def test_every_observer_is_a_node_with_a_cable_to_a_switch_of_its_fabric(fleet: Fleet) -> None:
    found = ansible.fabric_hostvars(fleet)
    assert json.loads(json.dumps(found)) == found
    joined = {(*cable.a, cable.b.device) for cable in fleet.cables} | {
        (*cable.b, cable.a.device) for cable in fleet.cables
    }
    for variables in found.values():
        for node, interface in variables["fleet_observers"]:
            assert any((node, interface, switch) in joined for switch in variables["fleet_device"]["switches"])


def test_a_device_is_in_the_groups_of_its_location_and_its_tenant() -> None:
    racks = {"hall 1/A03": Rack("A03", "hall 1", location="row 3")}
    fleet = replace(FLEET, racks=racks, devices={"gpu-1": replace(GPU, tenant="lab-x"), "leaf-1": LEAF})
    found = ansible.groups(fleet)
    assert found["location_row_3"] == found["tenant_lab_x"] == ["gpu-1"]
    assert ansible.hostvars(fleet, fleet.devices["gpu-1"])["fleet_device"]["location"] == "row 3"


def test_states_and_conditions_are_groups_of_nodes_that_the_source_knows() -> None:
    rows = [("gpu-1", "state", "zap_fail"), ("gpu-1", "condition", "held"), ("gone", "state", "production")]
    found = ansible.standing_groups(["gpu-1", "gpu-2"], rows)
    assert found == {"state_zap_fail": ["gpu-1"], "condition_held": ["gpu-1"]}


def test_the_view_has_all_hosts_and_the_groups_they_are_in() -> None:
    """Fabrics are hosts of a group of their own."""
    found = ansible.view(replace(FLEET, cables=()))
    assert found == {"hosts": ansible.all_hostvars(replace(FLEET, cables=())), "groups": found["groups"]}
    assert found["groups"]["fabrics"] == []
    assert found["groups"]["nodes"] == ["gpu-1"]
