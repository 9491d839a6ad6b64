"""OpenConfig's interfaces over gNMI: speed, MTU, FEC, and what ports counted."""

import json
from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.port_states.openconfig import read
from fleet_runner.core.checks.parsers.port_states.port import DOWNS, UNCORRECTED, SwitchPort
from tests.core.checks.switch_answers import OPENCONFIG

INTERFACES = json.loads(OPENCONFIG["interfaces"])["updates"][0]["val"]["openconfig-interfaces:interface"]


def of(*updates: tuple[str, Any]) -> dict[str, SwitchPort]:
    """Read an answer with these updates."""
    return read({"interfaces": json.dumps({"updates": [{"path": path, "val": value} for path, value in updates]})})


def test_ports_are_read() -> None:
    assert read(OPENCONFIG) == {
        "Ethernet1": SwitchPort(400_000, 9216, "rs", counts={UNCORRECTED: 12, DOWNS: 3}),
        "Ethernet2": SwitchPort(100_000, 9216, "rs", counts={UNCORRECTED: 0, DOWNS: 1}),
        "Ethernet3": SwitchPort(25_000, 9216, "baser", counts={UNCORRECTED: 0, DOWNS: 0}),
        "Ethernet4": SwitchPort(400_000, 9216, "", counts={UNCORRECTED: 0, DOWNS: 1}),
        "Management0": SwitchPort(1000, 1500, "none"),
        "Loopback0": SwitchPort(),
    }


def test_one_update_for_each_interface_says_the_same() -> None:
    told = [(f"openconfig-interfaces:interfaces/interface[name={each['name']}]", each) for each in INTERFACES]
    assert of(*((path.removeprefix("openconfig-interfaces:"), each) for path, each in told)) == read(OPENCONFIG)


def test_a_single_interface_needs_no_list() -> None:
    assert of(("interfaces", {"interface": {"name": "Ethernet1", "state": {"mtu": 9000}}})) == {
        "Ethernet1": SwitchPort(mtu=9000)
    }


@pytest.mark.parametrize(
    "ethernet",
    [
        {"port-speed": "SPEED_FAST", "fec-mode": "FEC_MAYBE"},
        {"port-speed": 400, "fec-mode": None, "counters": {"fec-uncorrectable-blocks": "many"}},
        [],
    ],
)
def test_what_makes_no_sense_stays_open(ethernet: Any) -> None:
    port = {"name": "Ethernet1", "state": {"oper-status": "UP", "mtu": "x"}, "ethernet": {"state": ethernet}}
    assert of(("interfaces", {"interface": [port, {"name": 5}]})) == {"Ethernet1": SwitchPort()}


@pytest.mark.parametrize(
    "said", ["{}", '{"updates": [{"path": 5}]}', '{"updates": [{"path": "interfaces", "val": {}}]}']
)
def test_an_answer_without_an_interface_is_refused(said: str) -> None:
    with pytest.raises(EvidenceError, match="found no interface, expected those of openconfig-interfaces"):
        read({"interfaces": said})
