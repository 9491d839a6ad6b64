"""Checks of GPUs where AMD made them: the same questions, the same findings, and what only AMD's tool tells."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import also, reads
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue import amd_evidence as amd
from tests.core.checks.catalogue.amd_evidence import PROFILE, judged, quantity, rows, texts
from tests.core.checks.catalogue.judging import cuts

ASKED = ("parts_gpu", "gpu_usage", "gpu_errors", "gpu_thermals", "gpu_pcie", "gpu_power", "gpu_settings", "xgmi")
Rows = dict[str, list[dict[str, Any]]]


@pytest.mark.parametrize("rocm", [6, 7])
@pytest.mark.parametrize("name", ASKED)
def test_a_healthy_node_passes(name: str, rocm: int) -> None:
    result = judged(name, texts(rows(), rocm=rocm))
    assert result.verdict is Verdict.PASS, result.message


def test_a_node_is_asked_with_its_makers_tool() -> None:
    usage = CHECKS["gpu_usage"]
    assert reads(usage, PROFILE) == ("amd_smi_static", "amd_smi_metric", "amd_smi_process", "kfd_processes")
    assert reads(usage, {}) == reads(usage, {"parts": {"gpu": {"count": 8}}}) == ("nvidia_smi",)
    assert also(CHECKS["gpu_errors"], PROFILE) == ("amd_smi_bad_pages",)
    assert also(CHECKS["gpu_errors"], {"parts": "many"}) == ()


def test_a_maker_that_nobody_knows_is_a_slip_of_the_profile() -> None:
    wrong = {"parts": {"gpu": {"count": 8, "maker": "Intel"}}}
    result = judged("parts_gpu", texts(rows()) | {"nvidia_smi": "x"}, profile=wrong)
    assert result.verdict is Verdict.UNKNOWN
    assert "fleet_profile.parts.gpu.maker: found 'Intel', expected NVIDIA or AMD" in result.message


Change = Callable[[Rows], None]


def _limit(found: Rows) -> None:
    found["amd_smi_static"][2]["limit"] = {
        "ppt0": {"max_power_limit": quantity(750, "W"), "socket_power_limit": quantity(500, "W")}
    }


def _cool(found: Rows) -> None:
    found["amd_smi_metric"][2]["temperature"]["hotspot"] = quantity(97, "C")


def _slowed(found: Rows) -> None:
    found["amd_smi_metric"][2]["throttle"]["hbm_thermal_violation_activity"] = quantity(80, "%")


def _lanes(found: Rows) -> None:
    found["amd_smi_metric"][2]["pcie"]["width"] = "8"


def _logic(found: Rows) -> None:
    found["amd_smi_metric"][2]["ecc_blocks"]["GFX"]["uncorrectable_count"] = "3"


def _memory(found: Rows) -> None:
    found["amd_smi_metric"][2]["ecc_blocks"]["UMC"]["uncorrectable_count"] = 2


def _pages(found: Rows) -> None:
    found["amd_smi_static"][2]["ras"]["bad_page_threshold_exceeded"] = "True"


def _counted_pages(found: Rows) -> None:
    ras = found["amd_smi_static"][2]["ras"]
    ras["bad_page_threshold"], ras["bad_page_threshold_exceeded"] = 1, "N/A"
    page = {"page_address": "0x1", "page_size": "0x1000", "status": "RESERVED"}
    found["amd_smi_bad_pages"][2]["retired"] = [page, page]


def _over_without_limit(found: Rows) -> None:
    _pages(found)
    found["amd_smi_static"][2]["ras"]["bad_page_threshold"] = "N/A"
    found["amd_smi_bad_pages"].pop(2)


def _kept(found: Rows) -> None:
    found["amd_smi_bad_pages"][2]["un_res"] = {"page_address": "0x1", "page_size": "0x1000", "status": "UNRESERVABLE"}


def _gone(found: Rows) -> None:
    for name in found:
        found[name].pop(2)


def _model(found: Rows) -> None:
    found["amd_smi_static"][2]["asic"]["market_name"] = "AMD Instinct MI325X"


def _driver(found: Rows) -> None:
    for row in found["amd_smi_static"]:
        row["driver"] = {"driver_name": "amdgpu", "driver_version": "6.10.5"}


def _split(found: Rows) -> None:
    found["amd_smi_static"][2]["partition"] = {"compute_partition": "CPX", "memory_partition": "NPS4"}


def _ecc(found: Rows) -> None:
    found["amd_smi_static"][2]["ras"]["ecc_block_state"]["UMC"] = "DISABLED"


def _down(found: Rows) -> None:
    found["amd_smi_xgmi"][2]["link_status"][3] = "D"


def _slow_links(found: Rows) -> None:
    found["amd_smi_xgmi_metric"][2]["link_metrics"]["bit_rate"] = quantity(25, "Gb/s")


@pytest.mark.parametrize(
    ("name", "change", "code", "remedy"),
    [
        ("parts_gpu", _gone, "gpu.missing", Remedy.TRIAGE),
        ("parts_gpu", _model, "gpu.model", Remedy.TRIAGE),
        ("gpu_power", _limit, "gpu.power_limit", Remedy.REBOOT),
        ("gpu_thermals", _cool, "gpu.hot", Remedy.WATCH),
        ("gpu_thermals", _slowed, "gpu.thermal_slowdown", Remedy.TRIAGE),
        ("gpu_pcie", _lanes, "gpu.pcie_width", Remedy.TRIAGE),
        ("gpu_errors", _logic, "gpu.ras", Remedy.WATCH),
        ("gpu_errors", _memory, "gpu.uncorrectable", Remedy.RECORD),
        ("gpu_errors", _pages, "gpu.bad_pages", Remedy.TRIAGE),
        ("gpu_errors", _counted_pages, "gpu.bad_pages", Remedy.TRIAGE),
        ("gpu_errors", _over_without_limit, "gpu.bad_pages", Remedy.TRIAGE),
        ("gpu_errors", _kept, "gpu.bad_pages_kept", Remedy.WATCH),
        ("gpu_settings", _driver, "gpu.driver", Remedy.REFLASH),
        ("gpu_settings", _ecc, "gpu.ecc", Remedy.TRIAGE),
        ("gpu_settings", _split, "gpu.compute_partition", Remedy.WATCH),
        ("xgmi", _down, "xgmi.down", Remedy.WATCH),
        ("xgmi", _slow_links, "xgmi.slow", Remedy.WATCH),
    ],
)
def test_a_fault_is_one_finding_with_its_remedy(name: str, change: Change, code: str, remedy: Remedy) -> None:
    found = rows()
    change(found)
    result = judged(name, texts(found))
    assert result.verdict is (Verdict.PASS if remedy is Remedy.RECORD else Verdict.FAIL), result.message
    assert next((each.code, each.remedy) for each in result.findings) == (code, remedy)
    assert len({each.component for each in result.findings}) == 1


def test_a_missing_gpu_is_named_by_its_slot_and_serial() -> None:
    found = rows()
    _gone(found)
    (finding,) = judged("parts_gpu", texts(found)).findings
    assert "7 of 8 GPUs are present; missing: OAM 2, serial 692251000002" in finding.message


def test_who_uses_a_gpu_is_told_by_the_tool_and_by_the_driver() -> None:
    """A container hides its processes from the one, not from the other; work alone shows as well."""
    found = rows()
    found["amd_smi_process"][3] = amd.process(3, 4711, 4712)
    assert judged("gpu_usage", texts(found)).observed == {"in_use": True, "processes": 2}
    hidden = judged("gpu_usage", texts(rows(), kfd=(99,)))
    assert hidden.observed == {"in_use": True, "processes": 1}
    busy = rows()
    busy["amd_smi_metric"][7]["usage"]["gfx_activity"] = quantity(97, "%")
    assert judged("gpu_usage", texts(busy)).observed["in_use"] is True
    assert judged("gpu_usage", texts(rows())).observed == {"in_use": False, "processes": 0}


@pytest.mark.parametrize("listed", [None, "N/A", ["x"], [{"process_info": "N/A"}], [{"process_info": {"pid": "7"}}]])
def test_a_process_list_that_is_none_leaves_it_open_whether_a_node_is_idle(listed: object) -> None:
    found = rows()
    found["amd_smi_process"][3] = {"gpu": 3, "process_list": listed}
    result = judged("gpu_usage", texts(found))
    assert result.verdict is Verdict.UNKNOWN
    assert "it is not known whether it is idle" in result.message


def test_what_uses_a_part_of_a_split_gpu_uses_the_gpu() -> None:
    """In CPX mode the tool lists each part as a GPU; it is one all the same."""
    found = rows()
    part = amd.static(0) | {"gpu": 8, "partition": {"partition_id": 1}}
    part["bus"] = part["bus"] | {"bdf": amd.pci(0)[:-1] + "1"}
    found["amd_smi_static"].append(part)
    found["amd_smi_metric"].append(amd.metric(8) | {"mem_usage": "N/A"})
    found["amd_smi_process"].append(amd.process(8, 12))
    assert judged("parts_gpu", texts(found)).verdict is Verdict.PASS
    assert judged("gpu_usage", texts(found)).observed == {"in_use": True, "processes": 1}
    assert judged("gpu_errors", texts(found)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("name", "read", "text", "said"),
    [
        (
            "parts_gpu",
            "amd_smi_static",
            "ERROR:root:Driver not initialized (amdgpu not found)\n",
            "is the driver loaded",
        ),
        ("parts_gpu", "amd_smi_static", "", "printed 'nothing', expected JSON"),
        ("parts_gpu", "amd_smi_static", "[]", "lists no GPU"),
        ("parts_gpu", "amd_smi_static", '{"gpu_data": 7}', "expected a list of objects"),
        ("parts_gpu", "amd_smi_static", '[{"gpu": "x"}]', "found GPU 'x', expected a number"),
        ("parts_gpu", "amd_smi_static", '[{"gpu": 0}, {"gpu": 0}]', "describes one GPU twice"),
        ("parts_gpu", "amd_smi_static", '[{"gpu": 0, "bus": {"bdf": "N/A"}}]', "found PCI address 'N/A'"),
        ("gpu_usage", "amd_smi_metric", "[]", "says nothing of GPU 0"),
        ("gpu_usage", "kfd_processes", "x", "is not JSON"),
        ("xgmi", "amd_smi_xgmi", "[]", "does not list GPU 0000:05:00.0"),
        ("xgmi", "amd_smi_xgmi", '[{"bdf": "N/A"}]', "expected a GPU's address and its links"),
        ("xgmi", "amd_smi_xgmi_metric", "broken", "does not tell how fast"),
    ],
)
def test_what_cannot_be_read_is_unknown(name: str, read: str, text: str, said: str) -> None:
    result = judged(name, texts(rows()) | {read: text})
    assert result.verdict is Verdict.UNKNOWN
    assert said in result.message


@pytest.mark.parametrize("name", ["parts_gpu", "xgmi"])
def test_more_gpus_than_any_server_has_are_no_report(name: str) -> None:
    many = json.dumps([{"gpu": gpu} for gpu in range(65)])
    read = "amd_smi_static" if name == "parts_gpu" else "amd_smi_xgmi"
    assert "describes 65 GPUs, expected 64 at most" in judged(name, texts(rows()) | {read: many}).message


def test_two_gpus_at_one_address_are_no_report() -> None:
    found = rows()
    found["amd_smi_static"][1]["bus"]["bdf"] = amd.pci(0)
    assert "describes 2 GPUs at 0000:05:00.0" in judged("parts_gpu", texts(found)).message


def test_links_that_are_not_listed_are_unknown_and_not_down() -> None:
    found = rows()
    found["amd_smi_xgmi"][2]["link_status"] = ["U", "U"]
    result = judged("xgmi", texts(found))
    assert result.verdict is Verdict.UNKNOWN
    assert "lists 2 links of GPU 0000:25:00.0, expected 7" in result.message


def test_a_gpu_of_which_no_link_is_told_up_is_unknown() -> None:
    """Releases of ROCm call the links of a whole fleet down."""
    found = rows()
    for row in found["amd_smi_xgmi"]:
        row["link_status"] = ["SELF", *["D"] * 7]
    result = judged("xgmi", texts(found))
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert "says of no link of GPU 0000:05:00.0 that it is up" in result.message


@pytest.mark.parametrize(
    ("path", "text", "used"),
    [
        ("vram_51140", "4096", True),
        ("vram_51140", "0", False),
        ("pasid", "32771", False),
        ("queues/0/gpuid", "1", True),
    ],
)
def test_who_only_watches_gpus_uses_none(path: str, text: str, used: bool) -> None:
    kfd = json.dumps({f"/sys/class/kfd/kfd/proc/4711/{path}": f"{text}\n"})
    assert judged("gpu_usage", texts(rows()) | {"kfd_processes": kfd}).observed["in_use"] is used


@pytest.mark.parametrize("told", ["MI300X", "MI300X-O", "AMD Instinct MI300X OAM", amd.MODEL])
def test_a_model_is_the_same_in_each_releases_spelling(told: str) -> None:
    found = rows()
    for row in found["amd_smi_static"]:
        row["asic"]["market_name"] = told
    assert judged("parts_gpu", texts(found)).verdict is Verdict.PASS


def test_a_limit_of_nothing_is_none() -> None:
    """Firmware that knows no limit says 0."""
    found = rows()
    for row in found["amd_smi_static"]:
        row["limit"] |= {
            "slowdown_hotspot_temperature": quantity(0, "C"),
            "slowdown_vram_temperature": quantity(0, "C"),
        }
    assert judged("gpu_thermals", texts(found)).verdict is Verdict.UNKNOWN


def test_bad_pages_that_are_no_report_leave_the_errors_told() -> None:
    assert judged("gpu_errors", texts(rows()) | {"amd_smi_bad_pages": "x"}).verdict is Verdict.PASS


def test_what_asks_for_a_reset_of_nvidias_gpus_is_watched_here_and_ecc_has_its_own_steps() -> None:
    found = rows()
    found["amd_smi_metric"][2]["mem_usage"]["used_vram"] = quantity(9000, "MB")
    found["amd_smi_static"][2]["ras"]["ecc_block_state"]["UMC"] = "DISABLED"
    before = {"gpu_memory_held": {"at": 1.0, "observed": {"held_mib": {amd.pci(2): 9000}}}}
    held = PROFILE | {"gpu_memory_held": {"idle_mib_max": 1024}}
    (finding,) = judged("gpu_memory_held", texts(found), profile=held, run={"before": before}).findings
    assert finding.remedy is Remedy.WATCH
    (finding,) = judged("gpu_settings", texts(found)).findings
    assert "ras_enable" in finding.steps[0]


def test_a_gpu_that_keeps_its_figures_to_itself_is_unknown() -> None:
    """In a virtual machine most of them are "N/A"."""
    found = rows()
    found["amd_smi_metric"] = [{"gpu": gpu, "usage": "N/A", "ecc_blocks": "N/A"} for gpu in range(amd.GPUS)]
    for name in ("gpu_errors", "gpu_thermals", "gpu_pcie", "gpu_power"):
        assert judged(name, texts(found)).verdict is Verdict.UNKNOWN, name


def test_the_drivers_of_one_node_that_differ_are_unknown() -> None:
    found = rows()
    found["amd_smi_static"][0]["driver"]["version"] = "6.8.5"
    assert "tool does not report the driver" in judged("gpu_settings", texts(found)).message


@pytest.mark.parametrize("name", ASKED)
def test_a_tool_that_failed_is_unknown_whatever_it_printed(name: str) -> None:
    assert judged(name, texts(rows()), rc=3).verdict is Verdict.UNKNOWN


CUT = [(name, read) for name in ASKED for read in texts(rows()) if read.startswith(("amd", "kfd"))]


@pytest.mark.parametrize(("name", "read"), CUT)
def test_cutting_evidence_anywhere_never_fails_a_node(name: str, read: str) -> None:
    answers = texts(rows())
    for cut in list(cuts(answers[read]))[::17]:
        result = judged(name, answers | {read: cut})
        assert result.verdict is not Verdict.FAIL, result.message


@pytest.mark.parametrize("name", ASKED)
@given(
    read=st.sampled_from([read for read in texts(rows()) if read != "dmesg"]),
    text=st.text(max_size=80) | st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists).map(repr),
)
def test_a_text_that_is_no_evidence_never_fails_a_node(name: str, read: str, text: str) -> None:
    assert judged(name, texts(rows()) | {read: text}).verdict is not Verdict.FAIL


@given(
    where=st.sampled_from(["asic", "bus", "limit", "driver", "board", "ras", "partition", "ifwi"]),
    what=st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2),
)
def test_a_part_of_the_report_that_is_none_is_not_told(where: str, what: object) -> None:
    """Whatever a release writes where another has a mapping."""
    found = rows()
    for row in found["amd_smi_static"]:
        row[where] = what
    for name in ASKED:
        result = judged(name, texts(found))
        assert result.verdict in {Verdict.PASS, Verdict.UNKNOWN}, result.message
