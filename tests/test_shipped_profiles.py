"""Profiles that are shipped, or lie beside as examples: they load, say what they rest on, and condemn nobody."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.files import catalogues
from fleet_runner.core.bmc.tree import FIRMWARE, POWER, SENSED, Tree
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import also, reads, run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory import ansible, profile
from tests import healthy_machine

ROOT = Path(__file__).parents[1]
FOLDERS = ("inventory/group_vars", "docs/examples/group_vars")
FILES = sorted(
    file
    for folder in FOLDERS
    for file in (ROOT / folder).glob("*.yml")
    if not re.search("_lab_|_example_", file.name)
)
MARKS = ("From a capture", "from a capture", "From the maker's documents", "Run for real")
AT = 1_790_000_000.0

SECTIONS = {check.section.partition(".")[0] for check in CHECKS.values()} - {""} | {
    "parts", "limits", "hca_interfaces", "firmware", "optics", "active", "burn_in", "health_active", "infiniband",
}  # fmt: skip


def held(file: Path) -> dict[str, Any]:
    """Return the profile of a file."""
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))["fleet_profile"]
    return found


def judged(wanted: dict[str, Any], texts: dict[str, str]) -> dict[str, Result]:
    """Return what each passive check says whose reads are all there."""
    readings = {name: Reading(name, ReadEnd.OK, text, at=AT) for name, text in texts.items()}
    return {
        check.name: run(
            check,
            {name: readings[name] for name in (*reads(check, wanted), *also(check, wanted)) if name in readings},
            Expected("n", wanted, run={"id": 1, "now": AT, "since": AT - 60}),
        )
        for check in CHECKS.values()
        if not check.active and not check.needs_fabric and reads(check, wanted)
        if readings.keys() >= {*reads(check, wanted)}
    }


def test_there_is_one_for_each_machine_that_is_promised() -> None:
    assert len(FILES) == 14
    assert {file.stem.removeprefix("device_type_") for file in FILES} >= {
        "dgxh100", "nvidia_dgx_h200", "nvidia_dgx_b200", "dell_poweredge_xe9680", "dell_poweredge_xe9780",
        "hpe_cray_xd670", "lenovo_thinksystem_sr680a_v3", "nvidia_gb200_nvl72_compute_tray",
        "nvidia_nvlink_5_switch", "supermicro_as_8125gs_tnmr2", "dell_poweredge_xe9680_mi300x",
    }  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_its_head_names_the_device_type_whose_group_it_is_and_what_it_rests_on(file: Path) -> None:
    head = file.read_text(encoding="utf-8").partition("fleet_profile:")[0]
    [slug] = re.findall("^# NetBox's device type: ([a-z0-9-]+)$", head, re.MULTILINE)
    assert ansible.group_name("device_type", slug) == file.stem
    assert any(mark in " ".join(head.split()) for mark in MARKS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_reads_profiles_reads_it(file: Path) -> None:
    assert catalogues.check_file(file) == []
    wanted = held(file)
    assert wanted.keys() <= SECTIONS
    assert profile.parts(wanted, "gpu").count >= 0
    assert profile.gpu_maker(wanted) in profile.MAKERS


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_healthy_machine_of_the_type_fails_nothing(file: Path) -> None:
    wanted = held(file)
    found = judged(wanted, healthy_machine.texts(wanted))
    assert {name: each.message for name, each in found.items() if each.verdict is Verdict.FAIL} == {}
    asked = {"parts_gpu", "power_supplies"} if "psu" in wanted["parts"] else {"parts_gpu"}
    asked |= {f"parts_{kind}" for kind in ("cpu", "dimm", "nvme") if kind in wanted["parts"]}
    asked |= {name for name in ("nvlink", "gpu_power", "gpu_settings", "pcie_devices", "sensors") if name in wanted}
    unknown = {name: found[name].message for name in asked if found[name].verdict is not Verdict.PASS}
    assert unknown.keys() <= {"parts_dimm"}, unknown  # the kernel's own memory is not made up here


@pytest.mark.parametrize("file", [each for each in FILES if "switch" not in each.stem], ids=lambda file: file.stem)
def test_a_machine_that_lacks_a_gpu_is_found(file: Path) -> None:
    wanted = held(file)
    short = healthy_machine.texts(wanted, gpus=wanted["parts"]["gpu"]["count"] - 1)
    assert judged(wanted, short)["parts_gpu"].verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("stem", "name", "well", "ill"),
    [
        ("dgxh100", "dgx_h100", {"firmware_pins", "power_supplies", "sensors"}, set[str]()),
        ("sys_821ge_tnhr", "supermicro_hgx_h100", {"firmware_pins", "power_supplies", "sensors"}, set[str]()),
        ("supermicro_sys_821ge_tnhr_h200", "supermicro_hgx_h100", {"power_supplies", "sensors"}, set[str]()),
        # This very tray's BMC calls one of its leak detectors Critical, whose rope reads as a dry one does.
        ("nvidia_gb200_nvl72_compute_tray", "nvidia_gb200", set[str](), {"leak.suspected"}),
    ],
)
def test_a_captured_bmc_is_as_its_types_profile_says(
    samples: Path, stem: str, name: str, well: set[str], ill: set[str]
) -> None:
    [file] = [each for each in FILES if each.stem == f"device_type_{stem}"]
    tree = Tree(json.loads(gzip.decompress((samples / "redfish" / f"{name}.json.gz").read_bytes())))
    parts = {
        "redfish_firmware": tree.of(FIRMWARE),
        "redfish_power": tree.at(POWER.patterns[0]),
        "redfish_supplies": tree.at(*POWER.patterns[1:]),
        "redfish_sensors": tree.of(SENSED),
    }
    found = judged(held(file), {read: json.dumps(bodies) for read, bodies in parts.items() if bodies})
    failed = [each for each in found.values() if each.verdict is Verdict.FAIL]
    assert {finding.code for each in failed for finding in each.findings} == ill
    assert {check for check, each in found.items() if each.verdict is Verdict.PASS} >= well
