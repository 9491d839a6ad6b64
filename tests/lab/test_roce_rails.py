"""RoCE on a lab's Ethernet rails, from the node's and the switch's side: both ends name the same port and cable."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest

from fleet_runner.adapters import sitefiles
from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.fabrics import fabrics
from fleet_runner.core.cabling.switches import NETWORK_OS, ports
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers import switch_ports
from fleet_runner.core.checks.parsers.port_states.port import SwitchPort
from fleet_runner.core.checks.reads import READS, gathered, roce_interfaces, spread
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.inventory import ansible
from fleet_runner.lab import ethernet, faults, plan
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab, LabError
from fleet_runner.lab.tools.ssh import environment
from fleet_runner.lab.up import up
from fleet_runner.lab.wrappers import TOOLS_DIR
from tests.lab.bench import boot
from tests.lab.test_stand_ins_satisfy_checks import COLLECT

NODE = "gpu-02"
PROFILE: dict[str, Any] = {
    "roce": {
        "interfaces": {ethernet.adapter(rail): ethernet.interface(rail) for rail in range(ethernet.RAILS)},
        "mtu": 9000,
        "pfc": [3],
        "fec": ["RS"],
    }
}
HOUR = 3600.0


@pytest.fixture(scope="module")
def rails(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of two servers with Ethernet rails, both up."""
    made = up(tmp_path_factory.mktemp("roce-rails") / "lab", 2, boot_seconds=0.0, rails=True)
    try:
        for name in ("gpu-01", NODE):
            boot(made, name)
        yield made
    finally:
        down(made)


def told(lab: Lab, switch: str, network_os: str) -> dict[str, SwitchPort] | str:
    """Ask a switch for its ports as a sweep does, over the lab's ssh."""
    system, commands = ports(network_os)
    said: dict[str, str] = {}
    for name, words in commands.items():
        argv = [str(lab.root / "bin" / "ssh"), "-o", "BatchMode=yes", "--", ethernet.address(switch), words]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode:
            return done.stderr.strip()
        said[name] = done.stdout
    try:
        return switch_ports.READERS[system](said)
    except EvidenceError as error:
        return str(error)


def before(name: str, result: Result | None, now: float) -> dict[str, Any]:
    """What a check is told of its last look, of an hour ago."""
    if result is None:
        return {"now": now}
    observed: dict[str, Any] = json.loads(json.dumps(dict(result.observed)))
    looks = observed.get("looks")
    rows = [row for each in looks.values() for row in each] if isinstance(looks, dict) else looks or []
    for row in rows:
        row["at"] -= HOUR
    return {"now": now, "before": {name: {"at": now - HOUR, "observed": observed}}}


def from_switches(lab: Lab, last: Result | None = None) -> Result:
    """Sweep the ports of the lab's Ethernet switches."""
    fleet = sitefiles.load(lab.site)
    (fabric,) = [each for each in fabrics(fleet) if each.kind == "ethernet"]
    answers = {name: told(lab, name, fleet.devices[name].context[NETWORK_OS]) for name in sorted(fabric.asked)}
    heard = {name: each for name, each in answers.items() if not isinstance(each, str)}
    unread = {name: each for name, each in answers.items() if isinstance(each, str)}
    now = time.time()
    reading = Reading("switch_ports", ReadEnd.OK, json.dumps(switch_ports.written(heard, unread)), at=now)
    device = ansible.fabric_hostvars(fleet)[fabric.name]["fleet_device"]
    told_of_run = before("fabric_roce", last, now)
    expected = Expected(
        fabric.name, {}, device, ansible.fabric(fleet), run=told_of_run, profiles={plan.DEVICE_TYPE: PROFILE}
    )
    return run(CHECKS["fabric_roce"], {reading.name: reading}, expected)


def from_node(lab: Lab, last: Result | None = None) -> Result:
    """Have the node judge its own ports."""
    fleet, check = sitefiles.load(lab.site), CHECKS["roce_ports"]
    asked = [each for name in check.reads for each in spread(READS[name], (), (), roce_interfaces(PROFILE))]
    with patch.dict(os.environ, environment(str(lab.root), NODE, TOOLS_DIR), clear=True):
        found = {raw["name"]: Reading.from_json(raw) for raw in COLLECT.collect([each.to_json() for each in asked])}
    device = ansible.hostvars(fleet, fleet.devices[NODE])["fleet_device"]
    expected = Expected(NODE, PROFILE, device, ansible.fabric(fleet), run=before("roce_ports", last, time.time()))
    return run(check, {name: gathered(READS[name], found) for name in check.reads}, expected)


@pytest.fixture
def broken(rails: Lab) -> Iterator[Any]:
    """Inject faults into the node that are gone after the test."""
    done: list[str] = []

    def inject(fault: str, component: str) -> None:
        faults.inject(rails, fault, NODE, {"component": component})
        done.append(fault)

    yield inject
    for fault in dict.fromkeys(done):
        assert faults.fix(rails, fault, NODE)


def ends(lab: Lab, broken: Any, fault: str, component: str) -> tuple[Result, Result]:
    """Return what the node and the switches say of a fault, each compared with a look before it."""
    node, switches = from_node(lab), from_switches(lab)
    assert (node.verdict, switches.verdict) == (Verdict.PASS, Verdict.PASS), (node.message, switches.message)
    broken(fault, component)
    return from_node(lab, node), from_switches(lab, switches)


def test_all_ports_are_set_alike_at_both_ends(rails: Lab) -> None:
    node, switches = from_node(rails), from_switches(rails)
    assert (node.verdict, node.findings) == (Verdict.PASS, ()), node.message
    assert (switches.verdict, switches.findings) == (Verdict.PASS, ()), switches.message
    assert (switches.observed["read"], switches.observed["unread"]) == (len(ethernet.SWITCHES), [])
    assert (from_node(rails, node).findings, from_switches(rails, switches).findings) == ((), ())


@pytest.mark.parametrize("rail", range(ethernet.RAILS))
def test_a_pause_storm_is_seen_by_the_node_and_by_the_watchdog_of_its_leaf(
    rails: Lab, broken: Any, rail: int
) -> None:
    own, seen = ends(rails, broken, "pause_storm", ethernet.interface(rail))
    assert {each.code for each in own.findings} == {"roce.pause_storm", "roce.lossless_drops"}
    (storm,) = seen.findings
    assert (storm.code, storm.remedy) == ("roce.watchdog", Remedy.WATCH)
    assert f" pause storms from {NODE} {ethernet.interface(rail)}" in storm.message
    assert storm.devices == (NODE, ethernet.leaf(rail))


@pytest.mark.parametrize("rail", range(ethernet.RAILS))
def test_a_lossy_cable_is_one_fault_of_both_ends_that_names_the_cable(rails: Lab, broken: Any, rail: int) -> None:
    """The switch's word is recorded first, and counts at its next look."""
    own, seen = ends(rails, broken, "lossy_cable", ethernet.interface(rail))
    (node,), (switch,) = own.findings, seen.findings
    assert (node.code, node.remedy) == ("roce.symbol_errors", Remedy.RECABLE)
    assert (switch.code, switch.remedy) == ("cabling.symbol_errors", Remedy.RECORD)
    (again,) = from_switches(rails, seen).findings
    assert (again.remedy, {again.fault, switch.fault}) == (Remedy.RECABLE, {node.fault})
    leaf = ethernet.leaf(rail)
    port = f"{leaf} {ethernet.LEAVES[leaf].name(plan.index(NODE))}"
    assert again.message.startswith(f"{port} received ")
    assert f"from {NODE} {ethernet.interface(rail)} that FEC could not correct" in again.message
    assert all(each in " ".join(again.steps) for each in (NODE, leaf))
    assert port in f"{node.message} {' '.join(node.steps)}".replace(f"{leaf} port ", f"{leaf} ")


@pytest.mark.parametrize(
    ("fault", "code", "setting"), [("wrong_mtu", "roce.mtu", "MTU is 1500"), ("pfc_off", "roce.pfc", "PFC is off")]
)
def test_a_wrong_setting_is_told_of_the_end_that_has_it(
    rails: Lab, broken: Any, fault: str, code: str, setting: str
) -> None:
    own, seen = ends(rails, broken, fault, "eth2")
    assert ([each.code for each in own.findings], seen.findings) == ([code], ())
    assert faults.fix(rails, fault, NODE)
    own, seen = ends(rails, broken, fault, "rail-leaf-2")
    assert own.findings == ()
    (finding,) = seen.findings
    assert (finding.code, finding.devices) == ("roce.switch_setting", ("rail-leaf-2",))
    assert f"rail-leaf-2: {setting} at Ethernet{8 * (plan.index(NODE) - 1)}, expected" in finding.message


def test_a_leaf_without_power_makes_the_answer_unknown_and_is_no_fault_of_roce(rails: Lab) -> None:
    faults.inject(rails, "dead_leaf", NODE, {"rail": 0})
    try:
        result = from_switches(rails)
    finally:
        faults.fix(rails, "dead_leaf", NODE)
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert "rail-leaf-1 was not read: ssh: connect to host rail-leaf-1 port 22: No route to host" in result.message


@pytest.mark.parametrize(
    ("fault", "component"), [("pause_storm", "rail-leaf-1"), ("pfc_off", "rail-leaf-1"), ("wrong_mtu", "eth7")]
)
def test_a_place_where_a_fault_cannot_be_is_refused(rails: Lab, fault: str, component: str) -> None:
    """Of PFC an EOS switch is not asked."""
    with pytest.raises(LabError, match=f"{fault}: --component is '{component}', expected one of eth0, eth1, eth2"):
        faults.inject(rails, fault, NODE, {"component": component})


def test_without_rails_there_is_eth0_alone(lab: Lab) -> None:
    with pytest.raises(LabError, match=r"--component is 'eth1', expected one of eth0$"):
        faults.inject(lab, "lossy_cable", "gpu-01", {"component": "eth1"})
