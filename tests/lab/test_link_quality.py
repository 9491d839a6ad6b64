"""What the lab's tools say of links and modules is what checks read, and each fault is found by its own check."""

import json
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters import sitefiles
from fleet_runner.core.cabling import fabrics
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.reads import READS, gathered, modules, spread
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory import ansible
from fleet_runner.lab import faults, hardware, plan
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up
from tests.lab.bench import boot, shell

PASS, FAIL = Verdict.PASS, Verdict.FAIL
NODES = ("gpu-01", "gpu-02")
NODE_CHECKS = ("link_flaps", "optics")
FABRIC = "infiniband.lab"
HOUR = 3600.0


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of two servers that booted an hour ago."""
    made = up(tmp_path_factory.mktemp("links") / "lab", len(NODES), boot_seconds=0.0)
    try:
        for name in NODES:
            boot(made, name)
            with hardware.changing(made, name) as state:
                state["boot"] |= {"kernel": state["boot"]["kernel"] - HOUR, "ready": state["boot"]["ready"] - HOUR}
        yield made
    finally:
        down(made)


@pytest.fixture(scope="module")
def expected(lab: Lab, project: Path) -> Mapping[str, Expected]:
    """What should be, of each node and of their fabric, as Ansible would have it."""
    fleet = sitefiles.load(lab.site)
    raw = yaml.safe_load((project / "inventory" / "group_vars" / "device_type_lab_hgx_h100.yml").read_text("utf-8"))
    healthy = raw["fleet_profile"]
    nodes = {
        name: Expected(name, healthy, ansible.hostvars(fleet, fleet.devices[name])["fleet_device"]) for name in NODES
    }
    (fabric,) = fabrics.fabrics(fleet)
    whole = Expected(
        fabric.name,
        device={"switches": sorted(fabric.switches)},
        fabric=ansible.fabric(fleet),
        profiles={plan.DEVICE_TYPE: healthy},
    )
    return {**nodes, fabric.name: whole}


def read(lab: Lab, node: str, name: str, profile: Mapping[str, Any]) -> Reading:
    """Carry a read out, as fleet_collect would."""
    found = {}
    for each in spread(READS[name], modules(profile)):
        words = [lab.root / "bin" / "ssh", node, " ".join(each.argv)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        found[each.name] = Reading(each.name, ReadEnd.OK, done.stdout, done.returncode, done.stderr, time.time())
    return gathered(READS[name], found)


def judged(lab: Lab, check: str, held: Expected, **run_data: Any) -> Result:
    """Judge one check of a node, or of the fabric through the first node."""
    node = NODES[0] if held.node == FABRIC else held.node
    readings = {name: read(lab, node, name, held.profile) for name in CHECKS[check].reads}
    return run(CHECKS[check], readings, replace(held, run={"now": time.time(), **run_data}))


def later(lab: Lab, held: Expected, first: Result, seconds: float) -> Result:
    """Judge the fabric again, as if some time had passed since the first look."""
    before = {"fabric_counters": {"at": time.time() - seconds, "observed": json.loads(json.dumps(first.observed))}}
    return judged(lab, "fabric_counters", held, before=before)


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("check", NODE_CHECKS)
def test_a_healthy_node_passes(lab: Lab, expected: Mapping[str, Expected], check: str, node: str) -> None:
    result = judged(lab, check, expected[node])
    assert (result.verdict, result.findings) == (PASS, ()), result.message
    if check == "optics":
        assert sorted(result.observed["celsius"]) == [f"mlx5_{rail}" for rail in range(7)], "rail 7 is of copper"


def test_a_healthy_fabric_passes_the_first_look_and_the_next(lab: Lab, expected: Mapping[str, Expected]) -> None:
    """Its leaves counted the boots of the servers; the second look knows them."""
    first = judged(lab, "fabric_counters", expected[FABRIC])
    assert first.verdict is PASS, first.message
    assert first.observed["ports_with_errors"] == len(NODES) * plan.RAILS
    again = later(lab, expected[FABRIC], first, 600.0)
    assert (again.verdict, again.findings) == (PASS, ()), again.message


@pytest.mark.parametrize(
    ("fault", "check", "found"),
    [
        ("flapping_link", "link_flaps", ("link.flaps", "ib4")),
        ("dim_module", "optics", ("optics.rx_power", "ib1")),
        ("hot_module", "optics", ("optics.temperature", "ib6")),
    ],
)
def test_each_fault_of_a_node_is_found_by_its_own_check(
    lab: Lab, expected: Mapping[str, Expected], fault: str, check: str, found: tuple[str, str]
) -> None:
    faults.inject(lab, fault, "gpu-02", {})
    try:
        results = {name: judged(lab, name, expected["gpu-02"]) for name in NODE_CHECKS}
        neighbour = [judged(lab, name, expected["gpu-01"]).verdict for name in NODE_CHECKS]
    finally:
        faults.fix(lab, fault, "gpu-02")
    assert [name for name, result in results.items() if result.verdict is not PASS] == [check]
    assert neighbour == [PASS, PASS]
    (finding,) = results[check].findings
    assert (finding.code, finding.component) == found
    assert finding.steps[0].startswith(f"At gpu-02 port {found[1]} (lab ")


@pytest.mark.parametrize(
    ("fault", "code", "ports"),
    [
        ("noisy_cable", "cabling.symbol_errors", "gpu-02 ib3 to leaf-4 2"),
        ("flapping_link", "cabling.link_flaps", "gpu-02 ib4 to leaf-5 2"),
    ],
)
def test_each_bad_cable_is_one_finding_of_its_fabric(
    lab: Lab, expected: Mapping[str, Expected], fault: str, code: str, ports: str
) -> None:
    first = judged(lab, "fabric_counters", expected[FABRIC])
    faults.inject(lab, fault, "gpu-02", {})
    try:
        result = later(lab, expected[FABRIC], first, 600.0)
        excluded = judged(
            lab,
            "fabric_counters",
            expected[FABRIC],
            before={"fabric_counters": {"at": time.time() - 600.0, "observed": first.observed}},
            disturbed={"gpu-02": time.time() - 300.0},
        )
    finally:
        faults.fix(lab, fault, "gpu-02")
    assert result.verdict is FAIL, result.message
    (finding,) = result.findings
    assert (finding.code, finding.component) == (code, ports)
    assert finding.nodes == (FABRIC, "gpu-02")
    assert (excluded.verdict, excluded.findings) == (PASS, ())
    assert excluded.observed["excluded"] == 1


def test_the_stand_ins_refuse_what_the_tools_refuse(lab: Lab) -> None:
    done = shell(lab, "gpu-01", "mlxlink -d mlx5_9 -m --json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("-E- Failed to open device")


def test_error_counters_are_printed_in_the_form_of_the_real_tool(lab: Lab) -> None:
    """The same lines as `ibqueryerrors` of infiniband-diags 44.0 prints, numbers and names aside."""
    done = shell(lab, "gpu-01", "ibqueryerrors --skip-sl")
    assert done.returncode == 1
    forms = {re.sub(r"\d+", "N", re.sub(r'"[^"]*"|0x[0-9a-f]+', "X", line)) for line in done.stdout.splitlines()}
    assert forms == {
        "Errors for X",
        "Errors for X X",
        "   GUID X port N: [PortXmitWait == N]",
        "   GUID X port N: [LinkDownedCounter == N] [PortXmitWait == N]",
        "   GUID X port ALL: [LinkDownedCounter == N] [PortXmitWait == N]",
        "   GUID X port ALL: [PortXmitWait == N]",
        "",
        "## Summary: N nodes checked, N bad nodes found",
        "##          N ports checked, N ports have errors beyond threshold",
        "## Thresholds: ",
        "## Suppressed:",
    }
