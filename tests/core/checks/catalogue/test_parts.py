"""Are the parts in the node that should be: GPUs, HCAs, power supplies."""

import json
from typing import Any

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import (
    DEVICE,
    DMESG,
    EXPECTED,
    HEALTHY,
    NODE,
    PROFILE,
    SMI,
    changed,
    documented,
    judged,
    remedies,
)

SECOND = SMI.index('\t<gpu id="00000000:9B')
ONE_GPU = SMI[:SECOND].replace("<attached_gpus>2", "<attached_gpus>1") + "</nvidia_smi_log>\n"
LOST_LINE = "Unable to determine the device handle for GPU0000:9B:00.0: GPU is lost.\n"
FALLEN = DMESG + "NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.\n"


def gpus(smi: str, dmesg: str = DMESG, expected: Expected = EXPECTED, rc: int = 0) -> Result:
    """Judge a node's GPUs; `rc` is nvidia-smi's."""
    readings = {
        "nvidia_smi": Reading("nvidia_smi", ReadEnd.OK, smi, rc=rc),
        "dmesg": Reading("dmesg", ReadEnd.OK, dmesg),
    }
    return documented(CHECKS["parts_gpu"], run(CHECKS["parts_gpu"], readings, expected))


def test_a_missing_gpu_is_named_by_the_slot_and_serial_that_the_others_leave() -> None:
    """The technician reads what to look for, and the fault keeps its key."""
    result = gpus(ONE_GPU)
    (finding,) = result.findings
    assert result.verdict is Verdict.FAIL
    assert finding.remedy is Remedy.TRIAGE
    assert finding.fault == "gpu-01/gpu.missing/GPU 1"
    assert finding.nodes == (NODE,)
    assert finding.message == "1 of 2 GPUs are present; missing: GPU 1, serial 1650000000002"
    assert "GPU 1, serial 1650000000002, NVIDIA H100 80GB HBM3" in finding.steps[0]
    assert "0000:1b:00.0" in finding.steps[1]


@pytest.mark.parametrize("device", [{}, {"parts": [{"slot": "GPU 0", "kind": "gpu"}]}])
def test_a_missing_gpu_without_known_serials_is_still_missing(device: dict[str, Any]) -> None:
    """Then nobody can say which."""
    result = gpus(ONE_GPU, expected=Expected(NODE, PROFILE, device))
    assert [finding.component for finding in result.findings] == ["GPUs"]
    assert "slot unknown, serial unknown" in result.message


def test_a_gpu_that_keeps_its_serial_to_itself_names_no_other_as_missing() -> None:
    """A comparison with one unknown proves nothing."""
    result = gpus(ONE_GPU.replace("1650000000001", "N/A"))
    assert [finding.component for finding in result.findings] == ["GPUs"]


def test_a_node_without_any_gpu_fails_with_every_one_missing() -> None:
    """nvidia-smi exits 6 to say so; that is an answer."""
    result = gpus("No devices were found\n", rc=6)
    assert result.verdict is Verdict.FAIL
    assert [finding.component for finding in result.findings] == ["GPU 0", "GPU 1"]
    assert "PCI addresses that do answer: none" in result.findings[0].steps[1]


def test_a_gpu_off_the_bus_asks_for_a_reboot_not_for_a_technician() -> None:
    """nvidia-smi leaves it out as if it had never been there; the kernel's log knows better."""
    result = gpus(ONE_GPU, FALLEN)
    assert remedies(result) == {"gpu.lost": Remedy.REBOOT}
    assert "Xid 79" in result.message
    assert result.observed["gpus"] == 1


def test_the_slot_of_each_gpu_is_kept_also_of_the_only_one_that_is_lost() -> None:
    """By its serial; where that does not tell, nothing is said."""
    assert gpus(SMI).observed["slots"] == {"GPU 0000:1b:00.0": "GPU 0", "GPU 0000:9b:00.0": "GPU 1"}
    assert gpus(ONE_GPU, FALLEN).observed["slots"] == {"GPU 0000:1b:00.0": "GPU 0", "GPU 0000:9b:00.0": "GPU 1"}
    assert gpus(ONE_GPU).observed["slots"] == {"GPU 0000:1b:00.0": "GPU 0"}
    strange = ONE_GPU.replace("1650000000001", "1659999999999")
    assert gpus(strange, FALLEN).observed["slots"] == {}


def test_a_gpu_that_answers_is_present_whatever_the_log_says() -> None:
    """The log is about then, the report about now; the xid check carries the rest."""
    assert gpus(SMI, FALLEN).verdict is Verdict.PASS


@pytest.mark.parametrize("smi", [LOST_LINE, LOST_LINE + ONE_GPU, LOST_LINE + ONE_GPU.replace("gpus>1", "gpus>2")])
def test_a_lost_gpu_asks_for_a_reboot_whether_or_not_the_others_are_described(smi: str) -> None:
    """An exit status that says the same is no contradiction."""
    result = gpus(smi, rc=15)
    assert remedies(result) == {"gpu.lost": Remedy.REBOOT}
    assert result.findings[0].component == "GPU 0000:9b:00.0"


def test_a_gpu_described_as_lost_asks_for_a_reboot() -> None:
    """It is there, and does not answer."""
    smi = SMI[:SECOND] + SMI[SECOND:].replace("NVIDIA H100 80GB HBM3", "GPU is lost")
    assert remedies(gpus(smi)) == {"gpu.lost": Remedy.REBOOT}


def test_another_serial_is_a_finding_but_takes_no_node_out_of_service() -> None:
    """A record that was edited must not drain a fleet."""
    result = gpus(SMI.replace("1650000000002", "1659999999999"))
    (finding,) = result.findings
    assert result.verdict is Verdict.FAIL
    assert finding.remedy is Remedy.WATCH
    assert finding.fault == "gpu-01/gpu.serial/GPU 1"
    assert "should have serial 1650000000002" in finding.message
    assert "not in the source of truth: 1659999999999" in finding.message


def test_a_part_without_slot_is_named_by_its_serial() -> None:
    """Some sources keep no slots."""
    device = {"parts": [{"kind": "gpu", "serial": "7"}]}
    result = gpus(SMI, expected=Expected(NODE, PROFILE, device))
    assert result.findings[0].component == "serial 7"


def test_another_model_is_a_case_for_a_person() -> None:
    """It was never this node."""
    result = gpus(SMI.replace("H100 80GB HBM3", "H100 PCIe", 1))
    assert remedies(result) == {"gpu.model": Remedy.TRIAGE}
    assert "GPU 0000:1b:00.0 (GPU 0, serial 1650000000001) is a NVIDIA H100 PCIe" in result.message


def test_a_gpu_without_serial_is_named_by_its_address_alone() -> None:
    """And its model is judged all the same."""
    result = gpus(SMI.replace("H100 80GB HBM3", "H100 PCIe", 1).replace("1650000000001", "N/A"))
    assert result.message.startswith("GPU 0000:1b:00.0 is a")
    assert "serial unknown" in result.findings[0].steps[0]


def test_a_gpu_whose_serial_is_unknown_to_the_source_is_named_without_a_slot() -> None:
    """Only known serials have slots."""
    result = gpus(SMI.replace("H100 80GB HBM3", "H100 PCIe", 1), expected=Expected(NODE, PROFILE, {}))
    assert result.message.startswith("GPU 0000:1b:00.0 (serial 1650000000001) is a")


def test_a_model_that_is_not_told_is_unknown() -> None:
    """N/A is no model."""
    result = gpus(SMI.replace("NVIDIA H100 80GB HBM3", "N/A", 1))
    assert result.verdict is Verdict.UNKNOWN
    assert "does not report its model" in result.message


def test_any_model_will_do_where_the_profile_names_none() -> None:
    """The count alone is judged."""
    result = gpus(SMI, expected=changed("parts", {"gpu": {"count": 2}}))
    assert result.message == "2 of 2 GPUs are present"


def test_more_gpus_than_expected_are_a_finding() -> None:
    """The profile or the node is another one."""
    result = gpus(SMI, expected=changed("parts", {"gpu": {"count": 1}}))
    assert remedies(result) == {"gpu.surplus": Remedy.WATCH}


def test_a_gpu_that_fell_off_is_none_too_many() -> None:
    """Beside as many as the profile has: one fault, which the log tells."""
    gone = "NVRM: Xid (PCI:0000:c3:00): 79, GPU has fallen off the bus.\n"
    assert remedies(gpus(SMI, DMESG + gone)) == {"gpu.lost": Remedy.REBOOT}


IBSTAT = HEALTHY["parts_hca"]["ibstat"]
NAMES = HEALTHY["parts_hca"]["ibstat_list"]


def hcas(gone: str, expected: Expected = EXPECTED) -> Result:
    """Judge a node that lacks an HCA in both lists."""
    blocks = ["CA '" + block for block in IBSTAT.split("CA '")[1:]]
    ibstat = "".join(block for block in blocks if not block.startswith(f"CA '{gone}'"))
    return judged("parts_hca", {"ibstat": ibstat, "ibstat_list": NAMES.replace(f"{gone}\n", "")}, expected)


def test_a_missing_hca_is_named_by_its_rail_and_serial() -> None:
    """The rail is what the technician finds at the back."""
    result = hcas("mlx5_1")
    (finding,) = result.findings
    assert (result.verdict, finding.remedy) == (Verdict.FAIL, Remedy.TRIAGE)
    assert finding.fault == "gpu-01/hca.missing/mlx5_1"
    assert finding.message == "HCA mlx5_1 (ib1, ConnectX-7, serial MT0002) is not in the node"


@pytest.mark.parametrize(
    ("part", "which"),
    [
        ({"slot": "ib1", "serial": "S"}, "model unknown, serial S"),
        ({"slot": "mlx5_1", "model": "CX7"}, "CX7, serial unknown"),
        ({"slot": "x"}, "serial unknown"),
    ],
)
def test_a_missing_hca_is_named_by_what_is_known(part: dict[str, str], which: str) -> None:
    """Slots may be named after the HCA or after its interface."""
    result = hcas("mlx5_1", Expected(NODE, PROFILE, {"parts": [part | {"kind": "hca"}]}))
    assert which in result.message


def test_without_rails_the_count_is_judged() -> None:
    """Ethernet adapters do not count."""
    expected = Expected(NODE, PROFILE | {"hca_interfaces": {}}, DEVICE)
    result = hcas("mlx5_1", expected)
    assert result.message == "1 of 2 HCAs are present"
    assert judged("parts_hca", HEALTHY["parts_hca"], expected).verdict is Verdict.PASS


def test_a_rail_over_ethernet_counts_by_its_name() -> None:
    """RoCE fabrics have the same rails."""
    texts = HEALTHY["parts_hca"] | {"ibstat": IBSTAT.replace("InfiniBand", "Ethernet")}
    assert judged("parts_hca", texts).verdict is Verdict.PASS


def test_another_guid_is_a_finding_but_takes_no_node_out_of_service() -> None:
    """The HCA was replaced, and nobody wrote it down."""
    texts = HEALTHY["parts_hca"] | {"ibstat": IBSTAT.replace("a088c20300ab0c11", "a088c20300ab0cff")}
    result = judged("parts_hca", texts)
    assert remedies(result) == {"hca.guid": Remedy.WATCH}
    assert "a088c20300ab0cff, the source of truth says a088c20300ab0c11" in result.message


def test_lists_that_differ_are_both_unbelievable() -> None:
    """One of them was cut."""
    result = judged("parts_hca", HEALTHY["parts_hca"] | {"ibstat_list": "mlx5_0\n"})
    assert result.verdict is Verdict.UNKNOWN
    assert "describes mlx5_0, mlx5_1, mlx5_2 but lists mlx5_0" in result.message


@pytest.mark.parametrize("rows", ["ib0", [1]])
def test_interfaces_that_are_none_are_unknown(rows: object) -> None:
    """They come from the inventory."""
    result = judged("parts_hca", HEALTHY["parts_hca"], Expected(NODE, PROFILE, {"interfaces": rows}))
    assert result.verdict is Verdict.UNKNOWN
    assert "fleet_device.interfaces" in result.message


def psus(**changes: Any) -> Result:
    """Judge a node whose second power supply differs."""
    power = json.loads(HEALTHY["power_supplies"]["redfish_power"])
    power["/redfish/v1/Chassis/1/Power"]["PowerSupplies"][1] |= changes
    return judged("power_supplies", {"redfish_power": json.dumps(power)})


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Status": {"State": "Absent", "Health": None}}, "psu.missing"),
        ({"Model": "PWS-1K"}, "psu.missing"),
        ({"Status": {"State": "Enabled", "Health": "Critical"}}, "psu.faulty"),
        ({"Status": {"State": "Enabled", "Health": "Warning"}, "LineInputVoltage": 0}, "psu.faulty"),
        ({"LineInputVoltage": 0}, "psu.no_input"),
    ],
)
def test_a_power_supply_that_is_gone_faulty_or_dark_fails(changes: dict[str, Any], code: str) -> None:
    """One finding each, with what to do."""
    result = psus(**changes)
    assert remedies(result) == {code: Remedy.TRIAGE}
    assert result.findings[0].steps


def test_a_missing_power_supplys_bay_is_named() -> None:
    """An empty bay is listed with its name."""
    result = psus(Status={"State": "Absent"})
    assert result.message == "1 of 2 PWS-3K06G-2R power supplies are present; empty bays: Power Supply Bay 2"


def test_a_power_supply_of_which_nothing_is_told_is_unknown() -> None:
    """The DGX tells no health: nothing proves that it works."""
    result = psus(Status=None)
    assert result.verdict is Verdict.UNKNOWN
    assert "no health of Power Supply Bay 2" in result.message


def test_any_supply_counts_where_the_profile_names_no_model() -> None:
    """Then fan modules must be counted too."""
    expected = changed("parts", {"psu": {"count": 4}})
    result = judged("power_supplies", HEALTHY["power_supplies"], expected)
    assert result.message.startswith("3 of 4 power supplies are present; empty bays: none")


def test_no_supply_of_the_model_at_all_is_said() -> None:
    """The step names what is seated."""
    expected = changed("parts", {"psu": {"count": 1, "model": "OTHER"}})
    result = judged("power_supplies", HEALTHY["power_supplies"], expected)
    assert "seated are none" in result.findings[0].steps[0]


@pytest.mark.parametrize(
    ("power", "supplies", "verdict"),
    [
        ("{}", None, Verdict.PASS),
        ('{"/redfish/v1/Chassis/1/Power": {}}', '{"/redfish/v1/Chassis/1/PowerSubsystem": {}}', Verdict.PASS),
        (HEALTHY["power_supplies"]["redfish_power"], None, Verdict.PASS),
        ("{}", '{"/redfish/v1/Chassis/1/PowerSubsystem/PowerSupplies/1": null}', Verdict.UNKNOWN),
        ("x", None, Verdict.UNKNOWN),
    ],
)
def test_a_tray_that_its_rack_feeds_has_no_supplies_of_its_own(
    power: str, supplies: str | None, verdict: Verdict
) -> None:
    texts = {"redfish_power": power} | ({"redfish_supplies": supplies} if supplies is not None else {})
    fed = changed("parts", {**PROFILE["parts"], "psu": {"count": 0}})
    assert judged("power_supplies", texts, fed).verdict is verdict
