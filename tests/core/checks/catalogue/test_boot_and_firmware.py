"""Did the node boot as it should, and is its firmware on accepted versions?"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import (
    DEVICE,
    HEALTHY,
    NODE,
    PROFILE,
    READ_AT,
    changed,
    documented,
    judged,
    remedies,
)
from tests.core.checks.parsers.test_redfish import captured

BOOTED = 1_740_821_400.0
"""2025-03-01 09:30:00 UTC."""


def cloud(raw: dict[str, Any], rc: int = 0) -> Result:
    """Judge cloud-init's answer."""
    return judged("cloud_init", {"cloud_init": json.dumps(raw)}, rc=rc)


def test_a_failed_first_boot_fails_with_its_error() -> None:
    """cloud-init exits 1 to say so."""
    result = cloud({"status": "error", "errors": ["no answer from the join service"]}, rc=1)
    assert remedies(result) == {"cloud_init.error": Remedy.TRIAGE}
    assert "no answer from the join service" in result.message


def test_a_disabled_cloud_init_fails() -> None:
    """The node did not boot this fleet's image."""
    assert remedies(cloud({"status": "disabled"})) == {"cloud_init.disabled": Remedy.TRIAGE}


@pytest.mark.parametrize("status", ["running", "not run"])
def test_a_boot_under_way_is_unknown(status: str) -> None:
    """It is asked again."""
    result = cloud({"status": status})
    assert result.verdict is Verdict.UNKNOWN
    assert "checked again" in result.message


def test_a_degraded_boot_passes_and_is_recorded() -> None:
    """It exits 2: warnings are no failure."""
    result = cloud({"status": "done", "extended_status": "degraded done"}, rc=2)
    assert result.verdict is Verdict.PASS
    assert remedies(result) == {"cloud_init.degraded": Remedy.RECORD}


def test_a_tool_that_fails_without_a_word_is_unknown() -> None:
    """Nothing printed, and an exit status."""
    readings = {"cloud_init": Reading("cloud_init", ReadEnd.OK, "", rc=127, error="not found\nat all")}
    result = documented(CHECKS["cloud_init"], run(CHECKS["cloud_init"], readings, Expected(NODE)))
    assert result.message == "cloud_init exited with 127: not found; expected 0"


def rebooted(at: float = READ_AT, text: str = "2025-03-01 09:30:00\n", **since: float) -> Result:
    """Judge a node that says when it booted."""
    readings = {"uptime": Reading("uptime", ReadEnd.OK, text, at=at)}
    return documented(CHECKS["rebooted"], run(CHECKS["rebooted"], readings, Expected(NODE, run=since)))


def test_without_a_moment_that_counts_any_boot_will_do() -> None:
    """By hand there is no run; the boot is observed."""
    result = rebooted()
    assert result.verdict is Verdict.PASS
    assert result.observed == {"booted_at": BOOTED, "age_seconds": 300.0}


@pytest.mark.parametrize(("since", "verdict"), [(BOOTED - 1, "PASS"), (BOOTED + 2, "PASS"), (BOOTED + 3, "FAIL")])
def test_only_a_boot_after_the_moment_counts(since: float, verdict: str) -> None:
    """Within the two seconds to which uptime rounds."""
    result = rebooted(since=since, opened_at=since)
    assert result.verdict.value == verdict


def test_a_node_that_did_not_reboot_is_a_case_for_a_person() -> None:
    """The message says how old its boot is."""
    result = rebooted(since=BOOTED + 200)
    assert remedies(result) == {"node.not_rebooted": Remedy.TRIAGE}
    assert result.message == "the node booted 300 s ago, 198 s before its reboot was requested"


@given(skew=st.floats(-1e6, 1e6), after=st.floats(-1000, 300))
def test_with_the_controllers_clock_no_nodes_clock_need_be_right(skew: float, after: float) -> None:
    """Only ages are compared: the node's clock may be days off."""
    now = READ_AT + skew
    since = BOOTED + skew - after
    result = rebooted(since=since, now=now)
    assert (result.verdict is Verdict.PASS) is (now - since + 2.0 >= READ_AT - BOOTED)


@pytest.mark.parametrize(("late", "verdict"), [(30.0, "PASS"), (61.0, "PASS"), (63.0, "FAIL")])
def test_a_clock_that_is_known_to_lag_gets_its_lag_and_a_minute(late: float, verdict: str) -> None:
    """Its reading came, by its own clock, an hour before the run was opened."""
    hour = 3600.0
    opened = READ_AT + hour
    result = rebooted(since=BOOTED + hour + late, opened_at=opened)
    assert result.verdict.value == verdict


def test_a_boot_in_the_future_is_unknown() -> None:
    """The clock jumped between the boot and the reading."""
    result = rebooted(at=BOOTED - 10)
    assert result.verdict is Verdict.UNKNOWN
    assert "in its own future" in result.message


FIRMWARE = json.loads(HEALTHY["firmware_pins"]["redfish_firmware"])
INVENTORY = "/redfish/v1/UpdateService/FirmwareInventory/"


def pins(**versions: str | None) -> Result:
    """Judge an inventory in which some versions differ."""
    bodies = FIRMWARE | {INVENTORY + name: {"Version": version} for name, version in versions.items()}
    return judged("firmware_pins", {"redfish_firmware": json.dumps(bodies)})


@pytest.mark.parametrize("version", ["1.9a", "2.10", "2", "BIOS Date: 2"])
def test_any_other_version_is_drift(version: str) -> None:
    """Higher or lower means nothing."""
    result = pins(BIOS=version)
    (finding,) = result.findings
    assert (result.verdict, finding.remedy) == (Verdict.FAIL, Remedy.REFLASH)
    assert finding.fault == "gpu-01/firmware.drift/BIOS"
    assert result.message == f"BIOS (BIOS) has version {version}, expected 2.0 or 2.1"


def test_each_component_behind_a_glob_is_its_own_finding() -> None:
    """One GPU of two."""
    result = pins(HGX_FW_GPU_SXM_2="96.00.89.00.01")
    assert [finding.component for finding in result.findings] == ["HGX_FW_GPU_SXM_2"]


@pytest.mark.parametrize(("management", "verdict"), [("customer", Verdict.PASS), ("full", Verdict.FAIL)])
def test_a_network_adapter_of_a_customers_never_drifts(management: str, verdict: Verdict) -> None:
    """Its firmware is withheld, so it can be at any version; another part of that node drifts as everywhere."""
    rows = [*PROFILE["firmware"]["components"], {"component": "HCA", "inventory_id": "NIC1", "target": "28.2"}]
    expected = Expected(NODE, {**PROFILE, "firmware": {"components": rows}}, {"management": management})

    def found(**versions: str) -> Result:
        bodies = FIRMWARE | {INVENTORY + name: {"Version": version} for name, version in versions.items()}
        reading = Reading("redfish_firmware", ReadEnd.OK, json.dumps(bodies))
        return run(CHECKS["firmware_pins"], {"redfish_firmware": reading}, expected)

    result = found(NIC1="28.1")
    assert result.verdict is verdict
    assert ("1 others are network adapters of the customer's" in result.message) is (verdict is Verdict.PASS)
    assert "customer" not in found(NIC1="28.2").message
    assert found(NIC1="28.1", BIOS="1").verdict is Verdict.FAIL


@pytest.mark.parametrize("name", ["Backup_BMC", "Golden_BMC", "Staging_BMC", "Previous-1-BMC"])
def test_an_image_that_does_not_run_is_no_drift(name: str) -> None:
    """Even where the glob would take it."""
    assert pins(**{name: "0.0"}).verdict is Verdict.PASS


def test_a_version_that_is_not_told_is_unknown() -> None:
    """Null is no version."""
    result = pins(BIOS=None)
    assert result.verdict is Verdict.UNKNOWN
    assert "no version of BIOS" in result.message


def test_a_component_that_is_not_listed_is_unknown() -> None:
    """The GPUs' baseboard answers nothing while the host is off."""
    bodies = {uri: body for uri, body in FIRMWARE.items() if "HGX" not in uri}
    result = judged("firmware_pins", {"redfish_firmware": json.dumps(bodies)})
    assert result.verdict is Verdict.UNKNOWN
    assert "lists no GPU VBIOS (HGX_FW_GPU_SXM_*); is the host on?" in result.message


def test_drift_outweighs_what_is_not_told() -> None:
    """FAIL stands."""
    assert pins(BIOS="1", HGX_FW_GPU_SXM_1=None).verdict is Verdict.FAIL


def test_a_catalogue_without_components_passes_and_says_so() -> None:
    """Nothing is expected, nothing can drift."""
    result = judged("firmware_pins", HEALTHY["firmware_pins"], changed("firmware", {"components": []}))
    assert result.message == "the catalogue has no components"


def test_a_gpu_that_the_bmc_does_not_list_is_unknown() -> None:
    """Seven of eight answered: which version the eighth has nobody knows."""
    bodies = {uri: body for uri, body in FIRMWARE.items() if not uri.endswith("GPU_SXM_2")}
    result = judged("firmware_pins", {"redfish_firmware": json.dumps(bodies)})
    assert result.verdict is Verdict.UNKNOWN
    assert "lists 1 of GPU VBIOS (HGX_FW_GPU_SXM_*), expected 2" in result.message


def test_a_pin_of_the_old_form_is_unknown_and_says_what_is_expected() -> None:
    """A list of pins, as device types had before there were catalogues."""
    result = judged("firmware_pins", HEALTHY["firmware_pins"], changed("firmware", [{"component": "BMC"}]))
    assert result.verdict is Verdict.UNKNOWN
    assert "fleet_profile.firmware: found" in result.message
    assert "expected a mapping" in result.message


@pytest.mark.parametrize(
    ("slug", "name", "components"),
    [("sys_821ge_tnhr", "supermicro_hgx_h100.json.gz", 51), ("dgxh100", "dgx_h100.json.gz", 54)],
)
def test_a_captured_server_is_on_the_pins_of_its_device_type(
    samples: Path, project: Path, slug: str, name: str, components: int
) -> None:
    """A real machine, and the profile shipped for it."""
    inventory = captured(samples, name, "/FirmwareInventory/")
    expected = Expected(NODE, shipped(project, slug), DEVICE)
    result = judged("firmware_pins", {"redfish_firmware": inventory}, expected)
    assert (result.verdict, result.message) == (Verdict.PASS, f"{components} components are on accepted versions")
    drifted = judged("firmware_pins", {"redfish_firmware": re.sub(r"2\.7\.(9|20)\b", "2.7.3", inventory)}, expected)
    assert [finding.component for finding in drifted.findings] == [f"HGX_FW_PCIeRetimer_{n}" for n in range(8)]


def test_a_captured_server_has_the_power_supplies_of_its_device_type(samples: Path, project: Path) -> None:
    """A real SYS-821GE-TNHR, whose BMC lists fans among them."""
    power = captured(samples, "supermicro_hgx_h100.json.gz", "/Power")
    expected = Expected(NODE, shipped(project, "sys_821ge_tnhr"), DEVICE)
    assert judged("power_supplies", {"redfish_power": power}, expected).message == "6 of 6 power supplies give power"


def shipped(project: Path, slug: str) -> Any:
    """Return the profile that is shipped for a device type."""
    file = project / "inventory" / "group_vars" / f"device_type_{slug}.yml"
    return yaml.safe_load(file.read_text(encoding="utf-8"))["fleet_profile"]
