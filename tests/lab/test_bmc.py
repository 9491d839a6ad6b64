"""The lab's BMCs, asked with the product's own Redfish client."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.redfish import Bmc, Limits
from fleet_runner.core.base.errors import BmcError
from fleet_runner.lab import faults, hardware, plan
from fleet_runner.lab.folder import Lab, read
from tests.lab.bench import wait

LIMITS = Limits(connect_seconds=5, read_seconds=10, total_seconds=30)


def client(lab: Lab, node: str, password: str | None = None) -> Bmc:
    """Return a client of a node's BMC, with the lab's password unless another is given."""
    known: dict[str, Any] = yaml.safe_load(lab.credentials.read_text("utf-8"))
    url = f"http://127.0.0.1:{read(lab.about)['bmc_ports'][node]}"
    return Bmc(url, known["username"], password or known["password"], limits=LIMITS)


@pytest.fixture
def bmc(lab: Lab) -> Iterator[Bmc]:
    """The BMC of gpu-01."""
    with client(lab, "gpu-01") as opened:
        yield opened


def test_power_and_one_time_network_boot_bring_a_node_up(lab: Lab, bmc: Bmc) -> None:
    assert bmc.power_state() == "Off"
    assert bmc.last_reset_age() is None
    bmc.boot_once("Pxe")
    bmc.power("On")
    wait(lambda: hardware.up(lab, "gpu-01"))
    assert bmc.power_state() == "On"
    age = bmc.last_reset_age()
    assert age is not None
    assert 0 <= age < 60
    assert hardware.state_of(lab, "gpu-01")["boot"]["how"] == "network"


def test_every_power_action_is_taken_and_others_are_not(lab: Lab, bmc: Bmc) -> None:
    for action in hardware.POWER_ACTIONS:
        bmc.power(action)
    with pytest.raises(BmcError, match="not Nmi"):
        bmc.power("Nmi")
    with pytest.raises(BmcError, match="not FloppyDisk"):
        bmc.boot_once("FloppyDisk")


def test_a_wish_for_a_network_boot_can_be_taken_back(lab: Lab, bmc: Bmc) -> None:
    bmc.boot_once("UefiHttp")
    assert hardware.state_of(lab, "gpu-01")["override"] == {"enabled": "Once", "target": "UefiHttp"}
    bmc.boot_once("None")
    assert hardware.state_of(lab, "gpu-01")["override"] == {"enabled": "Disabled", "target": "None"}


def test_the_tree_has_what_the_checks_read(bmc: Bmc) -> None:
    firmware = bmc.read("/redfish/v1/UpdateService/FirmwareInventory/*")
    assert {uri.rpartition("/")[2]: body["Version"] for uri, body in firmware.items()} == hardware.FIRMWARE
    (power,) = bmc.read("/redfish/v1/Chassis/*/Power").values()
    assert [supply["Status"]["Health"] for supply in power["PowerSupplies"]] == ["OK"] * plan.PSUS
    (system,) = bmc.read("/redfish/v1/Systems/*").values()
    assert system["SerialNumber"] == plan.server_serial(1)
    assert bmc.read("/redfish/v1/Chassis/*/Thermal")
    assert bmc.read("/redfish/v1/Managers/*")


def test_every_link_in_the_tree_leads_somewhere(bmc: Bmc) -> None:
    """A client may follow whatever it finds, from the root on."""
    seen: set[str] = set()
    todo = ["/redfish/v1"]
    while todo:
        uri = todo.pop()
        if uri in seen:
            continue
        seen.add(uri)
        (body,) = bmc.read(uri).values()
        todo += _links(body)
    assert len(seen) > 30


def _links(value: Any) -> list[str]:
    if isinstance(value, list):
        return [link for each in value for link in _links(each)]
    if not isinstance(value, dict):
        return []
    own = [value["@odata.id"]] if "@odata.id" in value and "#" not in value["@odata.id"] else []
    return own + [link for each in value.values() for link in _links(each)]


def test_a_wrong_password_is_refused(lab: Lab) -> None:
    with client(lab, "gpu-01", "guess") as stranger, pytest.raises(BmcError, match="do not retry"):
        stranger.power("On")
    assert hardware.state_of(lab, "gpu-01")["power"] == "Off"


def test_a_bmc_that_is_down_answers_nobody_until_it_is_fixed(lab: Lab, bmc: Bmc) -> None:
    faults.inject(lab, "bmc_down", "gpu-01", {})
    with client(lab, "gpu-01") as other, pytest.raises(BmcError, match="the connection failed"):
        other.power_state()
    with client(lab, "gpu-02") as neighbour:
        assert neighbour.power_state() == "Off"
    faults.fix(lab, "bmc_down", "gpu-01")
    with client(lab, "gpu-01") as other:
        assert other.power_state() == "Off"


def test_faults_of_the_hardware_show_in_the_tree(lab: Lab, bmc: Bmc) -> None:
    faults.inject(lab, "dead_psu", "gpu-01", {"psu": 4})
    faults.inject(lab, "wrong_firmware", "gpu-01", {"component": "BMC", "version": "0.9"})
    (power,) = bmc.read("/redfish/v1/Chassis/*/Power").values()
    health = [supply["Status"]["Health"] for supply in power["PowerSupplies"]]
    assert health == ["OK", "OK", "OK", "OK", "Critical", "OK"]
    (found,) = bmc.read("/redfish/v1/UpdateService/FirmwareInventory/BMC").values()
    assert found["Version"] == "0.9"
