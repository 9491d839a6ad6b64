"""A switch that serves OpenConfig over gNMI is asked with certificates, over real TLS, by our client as a process."""

import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fleet_runner.core.cabling.switches import COMMANDS, FORWARDING, PORTS
from fleet_runner.core.checks.parsers.forwarding import Learned
from tests.fabric.gnmi_switch import certificates, served

LLDP, MACS = COMMANDS["openconfig"], FORWARDING["openconfig"]
INTERFACES = PORTS["openconfig"]["interfaces"]
ASKED = {
    LLDP: "openconfig:lldp/interfaces",
    MACS: "openconfig:network-instances/network-instance/fdb/mac-table/entries",
    INTERFACES: "openconfig:interfaces",
}
SILENT = {"state": "NOT_FOUND", "said": "no"}


@dataclass
class Switch:
    """A gNMI server, and what its switch is asked with."""

    folder: Path
    variables: dict[str, str]

    def answers(self, paths: dict[str, Any], **more: Any) -> None:
        """Have it answer so from now on."""
        told = {"models": ["openconfig-lldp"], "encodings": ["JSON", "JSON_IETF"], "paths": paths} | more
        (self.folder / "answers.json").write_text(json.dumps(told))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Switch]:
    """A switch with a certificate of its address, which lets in whom the same authority has signed."""
    folder = tmp_path_factory.mktemp("gnmi")
    certificates(folder)
    with served(folder) as variables:
        yield Switch(folder, variables)


@pytest.fixture
def switch(server: Switch, evidence: Path) -> Switch:
    """The switch, which answers all that a sweep asks."""

    def told(name: str, index: int = 0) -> Any:
        return json.loads((evidence / "openconfig" / name).read_text())["updates"][index]

    lldp = json.loads((evidence / "openconfig" / "gnmi.json").read_text())[0]["updates"][0]["values"]
    macs, interfaces = told("get_mac_table.json"), told("get_interfaces.json")
    server.answers({
        ASKED[LLDP]: [["lldp/interfaces", json.dumps(next(iter(lldp.values())))]],
        ASKED[MACS]: [[macs["path"], json.dumps(macs["val"])]],
        ASKED[INTERFACES]: [["interfaces", json.dumps(interfaces["val"])]],
    })  # fmt: skip
    return server


@pytest.fixture
def module(plugin: Callable[[str], ModuleType]) -> Any:
    """The action plugin."""
    return plugin("action/fleet_switches")


def test_a_switch_tells_neighbours_and_addresses(switch: Switch, module: Any) -> None:
    neighbours, learned = module._asked(switch.variables, 60)
    heard = {(each.interface, each.system) for each in neighbours}
    assert heard >= {("Ethernet1", "gpu-01"), ("Ethernet2", "bf3-02")}
    assert Learned("Ethernet1", "02:00:00:00:02:01") in learned


def test_a_switch_tells_of_its_ports(switch: Switch, module: Any) -> None:
    found = module._own_ports(switch.variables, 60)
    assert (found["Ethernet1"].mbps, found["Ethernet1"].fec, found["Ethernet2"].mbps) == (400_000, "rs", 100_000)


def test_addresses_that_it_does_not_tell_are_no_fault(switch: Switch, module: Any) -> None:
    answers = json.loads((switch.folder / "answers.json").read_text())["paths"]
    del answers[ASKED[MACS]]
    switch.answers(answers)
    neighbours, learned = module._asked(switch.variables, 60)
    assert (len(neighbours), learned) == (5, ())


def test_sonic_is_asked_for_its_own_target_and_older_switches_for_json(switch: Switch, module: Any) -> None:
    answers = json.loads((switch.folder / "answers.json").read_text())["paths"]
    switch.answers(
        {"OC-YANG:openconfig-lldp:lldp/interfaces": answers[ASKED[LLDP]]}, models=["sonic-db"], encodings=["JSON"]
    )
    neighbours, _ = module._asked(switch.variables, 60)
    assert len(neighbours) == 5


def test_words_of_a_neighbour_may_come_one_by_one(switch: Switch, module: Any) -> None:
    state = "lldp/interfaces/interface[name=Ethernet1]/neighbors/neighbor[id=1]/state"
    words = {"system-name": "gpu-01", "port-id": "eth0"}
    switch.answers({ASKED[LLDP]: [[f"{state}/{name}", {"string_val": word}] for name, word in words.items()]
                   + [[f"{state}/ttl", {"bytes_val": None}]]})  # fmt: skip
    [neighbour], _ = module._asked(switch.variables, 60)
    assert (neighbour.interface, neighbour.system, neighbour.port) == ("Ethernet1", "gpu-01", "eth0")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "gNMI ended with 1: NOT_FOUND: no such path: openconfig:lldp/interfaces; it was asked: " + LLDP),
        (
            {"state": "PERMISSION_DENIED", "said": "\x1b[2Jread-only\nusers " + "x" * 400},
            "gNMI ended with 1: PERMISSION_DENIED: [2Jread-only users " + "x" * 281 + "; it was asked: " + LLDP,
        ),
        ({"state": "UNAUTHENTICATED", "said": "who?"}, "gNMI ended with 255: UNAUTHENTICATED: who?"),
        ([["lldp", "{"]], "gNMI ended with 1: it answered with a value that is not JSON; it was asked: " + LLDP),
    ],
)
def test_what_a_switch_refuses_is_told_in_a_line(switch: Switch, module: Any, answer: Any, why: str) -> None:
    switch.answers({} if answer is None else {ASKED[LLDP]: answer})
    assert module._asked(switch.variables, 60) == why


def test_an_answer_of_something_else_is_no_switch_without_neighbours(switch: Switch, module: Any) -> None:
    switch.answers({ASKED[LLDP]: [["system", '{"hostname": "leaf"}']]})
    assert "expected" in module._asked(switch.variables, 60)


@pytest.mark.parametrize(
    ("lacks", "why"),
    [
        ({"ansible_certificate_chain_file": "thief.pem", "ansible_private_key_file": "thief.key"}, "UNAVAILABLE"),
        ({"ansible_root_certificates_file": "theirs.pem"}, "UNAVAILABLE"),
        ({"ansible_private_key_file": "gone.key"}, "gone.key: No such file or directory"),
    ],
)
def test_without_the_right_certificates_nothing_is_told(
    switch: Switch, module: Any, lacks: dict[str, str], why: str
) -> None:
    other = {name: str(switch.folder / file) for name, file in lacks.items()}
    said = module._asked(switch.variables | other, 60)
    assert said.startswith("gNMI ended with 255: ")
    assert why in said


def test_another_name_in_the_certificate_must_be_said(switch: Switch, module: Any) -> None:
    away = switch.variables | {"ansible_ssl_target_name_override": "leaf-1"}
    assert "UNAVAILABLE" in module._asked(away, 60)
    assert len(module._asked(away | {"ansible_ssl_target_name_override": "127.0.0.1"}, 60)[0]) == 5


def test_a_file_that_nobody_named_is_asked_for(switch: Switch, module: Any) -> None:
    lacking = {name: value for name, value in switch.variables.items() if name != "ansible_private_key_file"}
    assert module._asked(lacking, 60) == (
        "gNMI needs certificates: expected the files ansible_root_certificates_file, ansible_certificate_chain_file, "
        "ansible_private_key_file, ansible_private_key_file is not set"
    )


def test_a_switch_that_never_answers_costs_its_time_alone(switch: Switch, module: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        away = switch.variables | {"ansible_port": str(mute.getsockname()[1])}
        assert module._asked(away, 2) == "it did not answer within 2 seconds"


def test_without_its_packages_the_client_says_which_to_install(
    switch: Switch, module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "grpc.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    assert module._asked(switch.variables, 60) == (
        "gNMI ended with 255: gNMI needs packages that are not installed: pip install 'fleet-runner[gnmi]'"
    )
