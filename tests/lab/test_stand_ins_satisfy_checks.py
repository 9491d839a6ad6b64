"""What the lab's tools print is what the product's checks read: a healthy node passes, each fault is found."""

import importlib.util
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest
import yaml

from fleet_runner.adapters import redfish, sitefiles
from fleet_runner.adapters.redfish import Bmc
from fleet_runner.core.base.errors import BmcError
from fleet_runner.core.bmc import proposed, proposed_file, stored
from fleet_runner.core.bmc.stored import Piece
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run, wanted
from fleet_runner.core.checks.evidence import Expected, Read, ReadEnd, Reading, ReadKind
from fleet_runner.core.checks.reads import READS, gathered, modules, spread
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.inventory import ansible
from fleet_runner.lab import faults, hardware, jobs
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab, read
from fleet_runner.lab.tools.ssh import environment
from fleet_runner.lab.up import up
from fleet_runner.lab.wrappers import TOOLS_DIR
from fleet_runner.settings import PROJECT_DIR, Settings
from tests.lab.bench import boot, shell

PASS, FAIL, UNKNOWN = Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN
NODES = ("gpu-01", "gpu-02", "gpu-03")
BURN_SECONDS = 0.2
HUNG_SECONDS = 0.5
"""How long a read of a tool that hangs is waited for; all others have the time that they have in service."""

DIAGNOSTIC = Read("what a job prints", ReadKind.COMMAND, ("dcgmi", "diag", "-r", "3", "-j"))

ELSEWHERE = frozenset(
    {
        "fabric_cabling",
        "fabric_counters",
        "fabric_ethernet",
        "fabric_nvlink",
        "fabric_paths",
        "fabric_roce",
        "network_boot",
        "firmware_update",
        "wiped",
        "resets",
        "gathered",
        "ib_write_pair",
        "scheduler",
        "work_ended",
    }
)
"""Checks that are asked of a fabric as a whole, of what the store knows, or of what their own stage came to."""

FROM_BMC = ("power_supplies", "power_redundancy", "sensors", "sel", "chassis_health", "firmware_pins")
FROM_DMESG = ("xid", "parts_gpu", "link_flaps", "memory_errors", "file_systems")
FROM_SMI = (
    "parts_gpu",
    "gpu_errors",
    "gpu_thermals",
    "gpu_usage",
    "gpu_pcie",
    "nvlink",
    "fabric_manager",
    "gpu_nics",
)


def _module() -> ModuleType:
    """Load the module that collects on a node, as Ansible does: by its file."""
    file = PROJECT_DIR / "plugins" / "modules" / "fleet_collect.py"
    spec = importlib.util.spec_from_file_location("collecting", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


COLLECT = _module()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of three servers, all up."""
    made = up(tmp_path_factory.mktemp("checks") / "lab", len(NODES), boot_seconds=0.0)
    try:
        for name in NODES:
            boot(made, name)
        yield made
    finally:
        down(made)


@pytest.fixture(scope="module")
def expected(lab: Lab, project: Path) -> Mapping[str, Expected]:
    """What should be: from the lab's own site files and the device type's profile, as Ansible would have it."""
    fleet = sitefiles.load(lab.site)
    profile = yaml.safe_load((project / "inventory" / "group_vars" / "device_type_lab_hgx_h100.yml").read_text())
    quick = {**profile["fleet_profile"]["burn_in"], "seconds": BURN_SECONDS}
    return {
        name: Expected(
            node=name,
            profile={**profile["fleet_profile"], "burn_in": quick},
            device=ansible.hostvars(fleet, fleet.devices[name])["fleet_device"],
            fabric=ansible.fabric(fleet),
            run={"since": 1.0, "id": 1, "attempt": 1},
        )
        for name in NODES
    }


def readings(lab: Lab, node: str, profile: Mapping[str, Any], hung: str) -> dict[str, Reading]:
    """Carry every read out: the node's own side by side on it, a BMC's through the Redfish client."""
    asked = {name: spread(each, modules(profile)) for name, each in READS.items()}
    parts = [each for mine in asked.values() for each in mine]
    answers = {each.name: _ask(lab, node, each) for each in parts if each.kind is ReadKind.REDFISH}
    own = [replace(each, seconds=HUNG_SECONDS) if hung in each.argv else each for each in (*parts, DIAGNOSTIC)]
    with patch.dict(os.environ, environment(str(lab.root), node, TOOLS_DIR), clear=True):
        found = COLLECT.collect([each.to_json() for each in own if each.kind is not ReadKind.REDFISH])
    answers |= {each["name"]: Reading.from_json(each) for each in found}
    began = time.monotonic()
    output = shell(lab, node, f"gpu_burn {BURN_SECONDS}").stdout
    elapsed = time.monotonic() - began
    ended = {"state": "ended", "rc": 0, "elapsed": elapsed, "seconds": BURN_SECONDS, "output": output}
    burnt = Reading("gpu_burn_job", ReadEnd.OK, json.dumps(ended))
    diagnosed = answers[DIAGNOSTIC.name]
    diagnosis = ended | {"rc": diagnosed.rc, "output": diagnosed.text}
    tested = Reading("dcgm_job", ReadEnd.OK, json.dumps(diagnosis))
    return {name: gathered(READS[name], answers) for name in asked} | {burnt.name: burnt, tested.name: tested}


def _ask(lab: Lab, node: str, each: Read) -> Reading:
    username, password = redfish.credentials(Settings(bmc_credentials=lab.credentials))
    url = f"http://127.0.0.1:{read(lab.about)['bmc_ports'][node]}"
    try:
        with Bmc(url, username, password) as bmc:
            return Reading(each.name, ReadEnd.OK, json.dumps(_told(bmc, each)))
    except BmcError as error:
        return Reading(each.name, ReadEnd.UNREACHABLE, error=str(error))


def _told(bmc: Bmc, each: Read) -> object:
    return bmc.gather(each.argv) if each.argv else bmc.read(each.path)


def judged(lab: Lab, expected: Mapping[str, Expected], node: str, hung: str = "") -> dict[str, Result]:
    """Judge every check that the lab's profile asks a node; what a tool is asked that hangs is ended soon."""
    seen = readings(lab, node, expected[node].profile, hung)
    asked = {name: check for name, check in CHECKS.items() if wanted(check, expected[node].profile)}
    return {name: run(check, seen, expected[node]) for name, check in asked.items() if name not in ELSEWHERE}


def troubled(results: Mapping[str, Result]) -> dict[str, Verdict]:
    """Return the verdicts that are not PASS."""
    return {name: result.verdict for name, result in results.items() if result.verdict is not PASS}


@pytest.mark.parametrize("node", NODES)
def test_a_healthy_node_passes_every_check(lab: Lab, expected: Mapping[str, Expected], node: str) -> None:
    results = judged(lab, expected, node)
    assert {name: result.message for name, result in results.items() if result.verdict is not PASS} == {}
    assert all(result.evidence for name, result in results.items())
    assert results["gpu_usage"].observed["in_use"] is False


def pieces(lab: Lab, node: str, profile: Mapping[str, Any]) -> dict[str, Piece]:
    """Return what the store would hold of a node: the texts of the reads that went well."""
    seen = readings(lab, node, profile, "nothing hangs")
    return {
        name: Piece(each.text, each.at or 1.0)
        for name, each in seen.items()
        if each.end is ReadEnd.OK and not each.rc
    }


def test_the_profile_that_good_nodes_propose_is_theirs_and_an_odd_one_is_named(
    lab: Lab, expected: Mapping[str, Expected]
) -> None:
    read_of = {name: pieces(lab, name, expected[name].profile) for name in NODES}
    nodes = [stored.node(name, mine) for name, mine in read_of.items()]
    assert proposed.differences(nodes) == []
    proposal = yaml.safe_load(proposed_file.text(nodes, stored.origin("lab-hgx-h100")))["fleet_profile"]
    ours = expected[NODES[0]].profile
    assert proposal["parts"]["gpu"] == ours["parts"]["gpu"]
    assert proposal["nic_of_gpu"] == {str(gpu): name for gpu, name in ours["nic_of_gpu"].items()}
    assert {name: stored.failing(name, proposal, mine) for name, mine in read_of.items()} == {
        name: [] for name in NODES
    }
    faults.inject(lab, "missing_gpu", "gpu-02", {})
    try:
        short = pieces(lab, "gpu-02", expected["gpu-02"].profile)
    finally:
        faults.fix(lab, "missing_gpu", "gpu-02")
    assert "parts_gpu" in {each.check for each in stored.failing("gpu-02", proposal, short)}
    assert list(proposed.odd([nodes[0], stored.node("gpu-02", short), nodes[2]])) == ["gpu-02"]


@pytest.mark.parametrize(
    ("fault", "options", "verdicts"),
    [
        ("swapped_cables", {}, {"cabling_infiniband": FAIL}),
        ("swapped_cables", {"with": "gpu-03"}, {"cabling_infiniband": FAIL}),
        ("missing_gpu", {}, {"parts_gpu": FAIL, "gpu_nics": UNKNOWN, "gpu_burn": FAIL, "dcgm": UNKNOWN}),
        ("other_gpu", {}, {"parts_gpu": FAIL}),
        (
            "xid",
            {"code": 79},
            {"xid": FAIL, "parts_gpu": FAIL, "gpu_nics": UNKNOWN, "gpu_burn": FAIL, "dcgm": UNKNOWN},
        ),
        ("xid", {"code": 48}, {"xid": FAIL}),
        ("xid", {"code": 63}, {"gpu_errors": FAIL}),
        ("xid", {"code": 64}, {"xid": FAIL, "gpu_errors": FAIL}),
        ("slow_gpu", {}, {"gpu_burn": FAIL}),
        ("bad_gpu", {}, {"gpu_burn": FAIL, "dcgm": FAIL}),
        ("hot_gpu", {}, {"gpu_thermals": FAIL}),
        ("bmc_down", {}, dict.fromkeys((*FROM_BMC, "machine_power"), UNKNOWN)),
        ("tool_hang", {"tool": "nvidia-smi"}, dict.fromkeys(FROM_SMI, UNKNOWN)),
        ("tool_hang", {"tool": "dmesg"}, dict.fromkeys(FROM_DMESG, UNKNOWN)),
        ("tool_hang", {"tool": "mlxlink"}, {"optics": UNKNOWN}),
        ("tool_hang", {"tool": "ibnetdiscover"}, {"cabling_infiniband": UNKNOWN}),
        ("dead_psu", {}, {"power_supplies": FAIL}),
        ("dead_fan", {}, {"sensors": FAIL}),
        ("memory_error", {}, {"sel": FAIL}),
        ("row_remap", {}, {"gpu_errors": FAIL}),
        ("sram_errors", {}, {"gpu_errors": FAIL}),
        ("narrow_pcie", {}, {"gpu_pcie": FAIL}),
        ("nvlink_down", {}, {"nvlink": FAIL}),
        ("dimm_errors", {}, {"memory_errors": FAIL}),
        ("full_disk", {}, {"file_systems": FAIL}),
        ("read_only_disk", {}, {"file_systems": FAIL}),
        ("service_down", {}, {"fabric_manager": FAIL}),
        ("clock_off", {}, {"time_sync": FAIL}),
        ("exchanged_adapters", {}, {"gpu_nics": FAIL}),
        ("slow_port", {}, {"cabling_infiniband": FAIL}),
        ("wrong_firmware", {}, {"firmware_pins": FAIL}),
        ("other_serial", {}, {"machine_identity": FAIL}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value.values())) or "plain",
)
def test_each_fault_is_found_by_its_own_checks_and_no_other(
    lab: Lab, expected: Mapping[str, Expected], fault: str, options: dict[str, Any], verdicts: dict[str, Verdict]
) -> None:
    faults.inject(lab, fault, "gpu-02", options)
    try:
        results = judged(lab, expected, "gpu-02", options.get("tool", ""))
    finally:
        faults.fix(lab, fault, "gpu-02")
    assert troubled(results) == verdicts, {name: results[name].message for name in troubled(results)}
    failed = {name for name, verdict in verdicts.items() if verdict is FAIL}
    assert options or failed >= set(faults.FAULTS[fault].seen_by), "lab faults names checks that do not see it"


def test_a_node_that_never_phoned_home_does_not_pass(lab: Lab, expected: Mapping[str, Expected]) -> None:
    faults.inject(lab, "no_boot", "gpu-03", {"at": "phone_home"})
    boot(lab, "gpu-03")
    try:
        assert troubled(judged(lab, expected, "gpu-03")) == {"cloud_init": FAIL}
    finally:
        faults.fix(lab, "no_boot", "gpu-03")
        boot(lab, "gpu-03")


def test_a_reboot_clears_an_xid_and_is_seen_as_one(lab: Lab, expected: Mapping[str, Expected]) -> None:
    faults.inject(lab, "xid", "gpu-01", {"code": 79, "gpu": 3})
    before = judged(lab, expected, "gpu-01")
    assert Remedy.REBOOT in {finding.remedy for finding in before["xid"].findings}
    hardware.power(lab, "gpu-01", "ForceRestart")
    assert troubled(judged(lab, expected, "gpu-01")) == {}


def test_a_tenants_job_is_seen_while_it_runs(lab: Lab, expected: Mapping[str, Expected]) -> None:
    jobs.start(lab, "gpu-01")
    try:
        results = judged(lab, expected, "gpu-01")
    finally:
        jobs.stop(lab, "gpu-01")
    assert troubled(results) == {}
    assert results["gpu_usage"].observed["in_use"] is True


def test_a_node_without_power_does_not_fail_its_neighbours(lab: Lab, expected: Mapping[str, Expected]) -> None:
    """Its links are down at the leaves; that is its own question, and nobody else's."""
    hardware.power(lab, "gpu-03", "ForceOff")
    try:
        assert troubled(judged(lab, expected, "gpu-01")) == {}
    finally:
        boot(lab, "gpu-03")
