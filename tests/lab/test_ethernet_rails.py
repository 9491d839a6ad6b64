"""A lab with Ethernet rails: switches of three makers are swept through the lab's ssh, and each fault is told."""

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters import sitefiles
from fleet_runner.core.cabling.fabrics import fabrics
from fleet_runner.core.cabling.switches import COMMANDS, NETWORK_OS
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers.neighbours import capture, several
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory import ansible
from fleet_runner.lab import ethernet, faults, hardware, rail_faults
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab, LabError, read
from fleet_runner.lab.up import up
from tests.lab.bench import boot, shell

SERVERS = ("gpu-01", "gpu-02", "gpu-03")
LINKS = len(ethernet.cables(len(SERVERS)))


@pytest.fixture(scope="module")
def rails(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of three servers with Ethernet rails, all up."""
    made = up(tmp_path_factory.mktemp("rails") / "lab", len(SERVERS), boot_seconds=0.0, rails=True)
    try:
        for name in SERVERS:
            boot(made, name)
        yield made
    finally:
        down(made)


def asked(lab: Lab, switch: str, words: str) -> subprocess.CompletedProcess[str]:
    """Ask a switch over the lab's ssh, by its address, as the sweep does."""
    argv = [lab.root / "bin" / "ssh", "-o", "BatchMode=yes", "--", ethernet.address(switch), words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)


def swept(lab: Lab, before: Result | None = None) -> Result:
    """Sweep the Ethernet fabric of the lab's site; `before` is the sweep of an hour ago."""
    fleet = sitefiles.load(lab.site)
    (fabric,) = [each for each in fabrics(fleet) if each.kind == "ethernet"]
    heard: dict[str, Any] = {}
    unread: dict[str, str] = {}
    for name in sorted(fabric.asked):
        said = asked(lab, name, COMMANDS[fleet.devices[name].context[NETWORK_OS]])
        if said.returncode:
            unread[name] = said.stderr.strip()
        else:
            heard[name] = capture.read(said.stdout).neighbours
    reading = Reading("switch_lldp", ReadEnd.OK, json.dumps(several.written(heard, unread)))
    device = ansible.fabric_hostvars(fleet)[fabric.name]["fleet_device"]
    run_data: dict[str, Any] = {"now": 3600.0}
    if before is not None:
        run_data["before"] = {"fabric_ethernet": {"at": 0.0, "observed": before.observed}}
    expected = Expected(fabric.name, {}, device, ansible.fabric(fleet), run=run_data)
    return run(CHECKS["fabric_ethernet"], {reading.name: reading}, expected)


def own_look(lab: Lab, node: str) -> Result:
    """Have a node judge its own LLDP neighbours."""
    fleet = sitefiles.load(lab.site)
    reading = Reading("lldp", ReadEnd.OK, shell(lab, node, "lldpctl -f json0").stdout)
    device = ansible.hostvars(fleet, fleet.devices[node])["fleet_device"]
    return run(
        CHECKS["cabling_ethernet"], {"lldp": reading}, Expected(node, {"x": {}}, device, ansible.fabric(fleet))
    )


@pytest.fixture
def broken(rails: Lab) -> Iterator[Any]:
    """Inject faults that are gone after the test, and leave nothing behind."""
    before = read(rails.fabric)
    done: list[tuple[str, str]] = []

    def inject(fault: str, node: str, **options: object) -> None:
        faults.inject(rails, fault, node, options)
        done.append((fault, node))

    yield inject
    for fault, node in done:
        assert faults.fix(rails, fault, node)
    assert read(rails.fabric) == before


def test_switches_of_three_makers_tell_the_design(rails: Lab) -> None:
    result = swept(rails)
    assert (result.verdict, result.message) == (Verdict.PASS, f"Ethernet links as designed: {LINKS}")
    assert (result.observed["read"], result.observed["unread"]) == (4, [])
    assert [own_look(rails, name).verdict for name in SERVERS] == [Verdict.PASS] * 3


def test_exchanged_rails_of_a_node_are_a_wrong_rail_for_the_sweep_and_for_the_node(rails: Lab, broken: Any) -> None:
    broken("wrong_rail", "gpu-02")
    found = [finding for result in (swept(rails), own_look(rails, "gpu-02")) for finding in result.findings]
    assert [finding.code for finding in found] == ["cabling.wrong_rail"] * 2
    assert len({finding.fault for finding in found}) == 1
    assert own_look(rails, "gpu-01").verdict is Verdict.PASS


def test_a_rail_that_is_exchanged_with_another_nodes_is_one_swap(rails: Lab, broken: Any) -> None:
    broken("rail_swap", "gpu-03", rail=1)
    (finding,) = swept(rails).findings
    assert (finding.code, finding.devices) == ("cabling.swap", ("gpu-01", "gpu-03", "rail-leaf-2"))


def test_a_dead_leaf_is_one_fault_of_its_own_and_condemns_nobody_else(rails: Lab, broken: Any) -> None:
    broken("dead_leaf", "gpu-01", rail=1)
    (finding,) = swept(rails).findings
    assert finding.code == "cabling.dark"
    assert finding.message.startswith("rail-leaf-2 is dark: it was not read")
    assert "No route to host" in finding.message
    assert own_look(rails, "gpu-01").verdict is Verdict.UNKNOWN


def test_a_spine_of_the_mlag_pair_without_power_is_one_fault_and_moves_no_cable(rails: Lab, broken: Any) -> None:
    broken("mlag_peer_down", "gpu-01")
    (finding,) = swept(rails).findings
    assert (finding.code, finding.devices) == ("cabling.dark", ("rail-spine-2",))
    assert {own_look(rails, name).verdict for name in SERVERS} == {Verdict.PASS}


def test_a_peer_link_that_is_out_is_named_where_nobody_ever_heard_it(rails: Lab, broken: Any) -> None:
    """Both spines were read and neither hears the other: the cables may be out, or LLDP off; no ticket is opened."""
    broken("mlag_peer_down", "gpu-01", component="link")
    result = swept(rails)
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert result.observed["unread"] == []
    named = [f"neither end of rail-spine-1 swp{port} to rail-spine-2 swp{port} is heard" for port in (63, 64)]
    assert all(each in result.message for each in named)
    assert result.message.count("neither end") == len(named)


def test_a_peer_link_that_an_earlier_sweep_heard_is_one_fault_until_it_is_back(rails: Lab) -> None:
    before = swept(rails)
    faults.inject(rails, "mlag_peer_down", "gpu-01", {"component": "link"})
    try:
        result = swept(rails, before)
        (finding,) = result.findings
        assert (finding.code, finding.devices) == ("cabling.missing", ("rail-spine-1", "rail-spine-2"))
        assert "over 2 of 2 designed cables: rail-spine-1 swp63 to rail-spine-2 swp63" in finding.message
        assert swept(rails, result).findings == result.findings
    finally:
        faults.fix(rails, "mlag_peer_down", "gpu-01")
    assert swept(rails, result).verdict is Verdict.PASS


def test_a_component_that_is_no_part_of_a_pair_is_refused(rails: Lab) -> None:
    with pytest.raises(LabError, match="--component is 'BIOS', expected switch or link"):
        faults.inject(rails, "mlag_peer_down", "gpu-01", {"component": "BIOS"})


def test_a_switch_answers_its_own_command_and_nothing_else(rails: Lab) -> None:
    said = asked(rails, "rail-leaf-1", "reload")
    assert (said.returncode, said.stdout) == (1, "")
    assert "% Invalid input" in said.stderr


def test_a_server_without_power_is_not_heard(rails: Lab) -> None:
    hardware.power(rails, "gpu-03", "ForceOff")
    try:
        result = swept(rails)
    finally:
        boot(rails, "gpu-03")
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert "neither end of gpu-03 eth1 to rail-leaf-1 Ethernet3 is heard" in result.message


def test_a_lab_without_rails_has_no_such_faults(lab: Lab) -> None:
    before = read(lab.fabric)
    for fault in rail_faults.RAIL_FAULTS:
        with pytest.raises(LabError, match="this lab has no Ethernet rails"):
            faults.inject(lab, fault, "gpu-01", {})
    assert read(lab.fabric) == before
    with pytest.raises(LabError, match="--rail is 2, expected 0 to 1"):
        faults.inject(lab, "dead_leaf", "gpu-01", {"rail": 2})


def test_a_lab_whose_site_is_written_again_keeps_its_rails(tmp_path: Path) -> None:
    """Somebody took the port of a BMC while the lab was down."""
    made = up(tmp_path / "lab", 1, boot_seconds=0.0, rails=True)
    down(made)
    before = read(made.about)["bmc_ports"]["gpu-01"]
    with socket.create_server(("127.0.0.1", before)):
        up(made.root)
        try:
            assert read(made.about)["bmc_ports"]["gpu-01"] != before
            assert sitefiles.load(made.site).devices.keys() >= ethernet.SWITCHES.keys()
        finally:
            down(made)
