"""Reports that only people print: nvidia-smi -q, ipmitool, smartctl -a, dcgmi health, perfquery, NCCL's output."""

import json
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import (
    dcgm_health,
    ipmi_sel,
    nccl_log,
    nvidia_smi,
    perfquery,
    smart,
    smart_text,
    smi_text,
)
from tests.core.checks.healthy import text_of
from tests.examples import examples

PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "smi_text": (lambda text: nvidia_smi.parse(smi_text.xml(text)), "nvidia_smi/q_h100.txt"),
    "ipmi_sel": (ipmi_sel.entries, "ipmitool/sel_elist.txt"),
    "smart_text": (smart_text.report, "smartctl/sata.txt"),
    "dcgm_health": (dcgm_health.parse, "dcgm/health_warning.json"),
    "perfquery": (perfquery.parse, "perfquery/two_ports.txt"),
    "nccl_log": (nccl_log.parse, "nccl/warnings.txt"),
}


@pytest.mark.parametrize("name", PARSERS)
@given(noise=st.text(max_size=60), share=st.floats(0, 1), behind=st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_any_text_is_read_or_refused(name: str, noise: str, share: float, behind: bool) -> None:
    parse, evidence = PARSERS[name]
    text = text_of(evidence)
    at = int(len(text) * share)
    for each in (noise, text[:at] + noise + (text[at:] if behind else "")):
        with suppress(EvidenceError):
            parse(each)


def test_nvidia_smis_text_says_what_its_xml_says() -> None:
    (gpu,) = nvidia_smi.whole(smi_text.xml(text_of("nvidia_smi/q_h100_failed.txt"))).gpus
    assert (gpu.pci, gpu.serial, gpu.model) == ("0000:9b:00.0", "1650000000001", "NVIDIA H100 80GB HBM3")
    assert (gpu.memory.remap_failed, gpu.memory.remap_pending, gpu.memory.uncorrectable) == (True, True, 1)
    assert (gpu.spares.uncorrected, gpu.spares.banks["high"], gpu.lost) == (1, 1, False)


def test_a_gpu_that_is_cut_before_its_errors_are_told_is_not_taken() -> None:
    text = text_of("nvidia_smi/q_h100.txt")
    with pytest.raises(EvidenceError, match="up to its errors at most"):
        smi_text.xml(text[: text.index("    Remapped Rows")])
    with pytest.raises(EvidenceError, match="describes 0 GPUs"):
        smi_text.xml(text[: text.index("GPU 0000")])


def test_a_report_of_row_remapping_alone_is_enough() -> None:
    text = text_of("nvidia_smi/q_h100_failed.txt")
    (gpu,) = nvidia_smi.parse(smi_text.xml(text[: text.index("    Temperature")])).gpus
    assert gpu.memory.remap_failed


def test_a_gpu_that_is_lost_is_told_though_nothing_follows() -> None:
    lost = "GPU 00000000:1B:00.0\n    Product Name                          : GPU is lost\n"
    text = text_of("nvidia_smi/q_h100.txt").replace("Attached GPUs                             : 1\n", "")
    first, second = nvidia_smi.parse(smi_text.xml(text + lost)).gpus
    assert (first.lost, second.lost) == (False, True)


def test_an_event_logs_lines_become_entries() -> None:
    (found,) = ipmi_sel.entries(text_of("ipmitool/sel_elist.txt")).values()
    entries = {each["Id"]: each for each in found["Members"]}
    assert entries["3"]["Severity"] == "Warning"
    assert entries["3"]["Created"] == "2026-09-28T14:23:09+00:00"
    assert entries["a"]["EntryCode"] == "Deassert"
    assert entries["b"]["Severity"] == entries["c"]["Severity"] == "OK", "a supply that is there is no fault"
    state = "   1 | 10/02/2025 | 17:33:30 | Processor CPU0_CATERR | {} | Asserted\n"
    for event, severity in (("State Asserted", "Warning"), ("State Deasserted", "OK")):
        (found,) = ipmi_sel.entries(state.format(event)).values()
        assert found["Members"][0]["Severity"] == severity
    (early,) = ipmi_sel.entries(
        "   1 | Pre-Init  |0000000042| Memory #0x02 | Uncorrectable ECC | Asserted\n"
    ).values()
    assert early["Members"][0]["Created"] == ""
    with pytest.raises(EvidenceError, match="there is no entry"):
        ipmi_sel.entries("SEL has no entries\n")


def test_smartctls_text_says_what_its_json_says() -> None:
    sata = smart.health(json.dumps(smart_text.report(text_of("smartctl/sata.txt"))))
    assert (sata.failing, sata.reallocated, sata.pending) == (False, 0, 3)
    nvme = smart.health(json.dumps(smart_text.report(text_of("smartctl/nvme_failing.txt"))))
    assert (nvme.failing, nvme.spare, nvme.spare_least, nvme.unsafe_shutdowns) == (True, 5, 10, 31)
    assert nvme.serial == "S6MYNA0T000003"


def test_a_disks_verdict_over_itself_alone_is_good_for_bad_news_only() -> None:
    said = "SMART overall-health self-assessment test result: {}\n"
    assert smart_text.report(said.format("FAILED!"))["smart_status"] == {"passed": False}
    with pytest.raises(EvidenceError, match="neither attributes nor an NVMe log"):
        smart_text.report(said.format("PASSED"))
    attribute = "  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0\n"
    assert "smart_status" not in smart_text.report(attribute)
    assert "nvme_smart_health_information_log" not in smart_text.report(attribute)


def test_the_health_watch_names_what_is_not_well() -> None:
    found = dcgm_health.parse(text_of("dcgm/health_warning.json"))
    assert found[0].where == "GPU 3 Errors Memory system"
    assert dcgm_health.parse(text_of("dcgm/health_well.json")) == ()
    bare = '{"header": "Health Monitor Report", "body": {"Overall Health": "Failure"}}'
    assert dcgm_health.parse(bare) == (dcgm_health.Watched("overall", "Failure"),)
    deep = '{"header": "Health Monitor Report", "body": {"Overall Health": "Failure", "x": %s}}'
    assert dcgm_health.parse(deep % ('{"a": ' * 20 + '"no"' + "}" * 20)) == (
        dcgm_health.Watched("overall", "Failure"),
    )
    assert dcgm_health.parse(deep % '{"children": []}') == (dcgm_health.Watched("overall", "Failure"),)
    for strange in ('{"header": [], "body": {}}', '{"header": ["Health Monitor Report"], "body": []}'):
        with pytest.raises(EvidenceError, match="no overall health"):
            dcgm_health.parse(strange)


def test_a_ports_counters_are_read_whole_or_not() -> None:
    text = text_of("perfquery/two_ports.txt")
    first, second = perfquery.parse(text)
    assert (first.name, first.bad["SymbolErrorCounter"], second.bad["LinkDownedCounter"]) == ("lid 12 port 1", 12, 0)
    with pytest.raises(EvidenceError, match="names no port"):
        perfquery.parse("PortXmitData:....12\n")
    with pytest.raises(EvidenceError, match="are not whole"):
        perfquery.parse(text[: text.index("VL15Dropped")])
    (named,) = perfquery.parse(
        "# Port counters: DR path slid 0; dlid 0; 0 port 1\nSymbolErrorCounter:....1\nVL15Dropped:....0\n"
    )
    assert named.name == "DR path slid 0; dlid 0; 0 port 1"


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        ("Cuda failure 'uncorrectable ECC error encountered'", "memory error that ECC could not correct"),
        ("Cuda failure 'GPU is lost'", "a GPU does not answer"),
        ("NET/IB : Got completion from peer x with status=12", "the other end did not answer"),
        ("NET/IB : mlx5_0:1 async fatal event: port error", "its port went down"),
        ("Cuda failure 'an illegal memory access was encountered'", "the application"),
        ("Call to connect returned Connection refused", "cannot be reached"),
        ("Error while creating shared memory segment /dev/shm/nccl-x", "memory was short"),
        ("Mismatched collective detected", "NCCL could not go on"),
        ("NET/IB : Got completion from peer x with error 4, opcode 0, len 0, vendor err 81", "PCIe ACS or the IOMMU"),
        ("Call to ibv_modify_qp failed with error Connection timed out", "GID index"),
        ("Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory", "lock the memory"),
        ("Duplicate GPU detected : rank 2 and rank 0 both on CUDA device 1000", "two ranks use the same GPU"),
        ("Cuda failure 802 'system not yet initialized'", "Fabric Manager"),
    ],
)
def test_a_complaint_is_told_by_its_words(words: str, meaning: str) -> None:
    (found,) = nccl_log.parse(f"[1,0]<stdout>: gpu-01:123:456 [0] misc/a.cc:12 NCCL WARN {words}\n")
    assert (found.host, found.times) == ("gpu-01", 1)
    assert meaning in found.meaning.meaning


def test_complaints_are_counted_host_by_host_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    found = nccl_log.parse(text_of("nccl/warnings.txt"))
    assert [(each.host, each.times) for each in found] == [("gpu-07", 2), ("gpu-08", 1)]
    monkeypatch.setattr(nccl_log, "MOST", 1)
    assert [each.times for each in nccl_log.parse(text_of("nccl/warnings.txt"))] == [1]


@pytest.mark.parametrize(
    ("before", "host"),
    [("[1,2]<stdout>:gpu-03:29880:30398 [0]", "gpu-03"), ("[0] gpu-03:13571:13571 [0]", "gpu-03"), ("[0]", "")],
)
def test_what_stands_before_a_complaint(before: str, host: str) -> None:
    """Launchers put more before the host, and who pastes a complaint often leaves the host away."""
    (found,) = nccl_log.parse(f"{before} include/shm.h:28 NCCL WARN Call to posix_fallocate failed: No space left\n")
    assert found.host == host


def test_nvlink_sharp_is_not_the_applications() -> None:
    """Mostly Fabric Manager was restarted, and the GPUs were not reset."""
    (found,) = nccl_log.parse("gpu-01:1:2 [0] transport/nvls.cc:244 NCCL WARN Cuda failure 1 'invalid argument'\n")
    assert "Fabric Manager" in found.meaning.meaning
    (other,) = nccl_log.parse("gpu-01:1:2 [0] enqueue.cc:9 NCCL WARN Cuda failure 1 'invalid argument'\n")
    assert "the application" in other.meaning.meaning
    (memory,) = nccl_log.parse("gpu-01:1:2 [0] transport/nvls.cc:244 NCCL WARN Cuda failure 2 'out of memory'\n")
    assert "memory was short" in memory.meaning.meaning
