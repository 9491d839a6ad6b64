"""The lab's source of truth says what its plan says, and contradicts itself nowhere."""

from pathlib import Path

import pytest

from fleet_runner.adapters import sitefiles
from fleet_runner.core.inventory import ansible
from fleet_runner.core.inventory.bmc_address import networks
from fleet_runner.core.inventory.records import nodes
from fleet_runner.lab import plan, site
from fleet_runner.lab.folder import Lab


@pytest.mark.parametrize("servers", [1, 8, plan.MOST_SERVERS])
def test_the_site_files_of_every_size_load(tmp_path: Path, servers: int) -> None:
    ports = {plan.server(number): 2000 + number for number in range(1, servers + 1)}
    site.write_site(Lab(tmp_path), servers, ports)
    fleet = sitefiles.load(tmp_path / "site")
    assert [device.name for device in nodes(fleet)] == list(ports)
    assert {frozenset((cable.a, cable.b)) for cable in fleet.cables} == {
        frozenset(((plug.a, plug.a_port), (plug.b, plug.b_port))) for plug in plan.cables(servers)
    }


def test_a_server_is_described_with_all_that_checks_look_at(lab: Lab) -> None:
    fleet = sitefiles.load(lab.site)
    device = fleet.devices["gpu-02"]
    kinds = [part.kind for part in device.parts]
    guids = {interface.name: interface.guid for interface in device.interfaces if interface.guid}
    variables = ansible.hostvars(fleet, device, None, networks("127.0.0.0/8"))
    assert (kinds.count("gpu"), kinds.count("hca"), kinds.count("psu")) == (plan.GPUS, plan.RAILS, plan.PSUS)
    assert guids == {f"ib{rail}": plan.hca_guid(2, rail) for rail in range(plan.RAILS)}
    assert fleet.place("gpu-02") == "lab rack A01 U9"
    assert variables["ansible_host"] == plan.address(2)
    assert variables["ansible_ssh_executable"] == str(lab.root / "bin" / "ssh")
    assert variables["fleet_bmc_url"].startswith("http://127.0.0.1:")
