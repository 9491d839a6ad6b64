"""Tables that tools print for people: they condemn nothing, and say which command shows more."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.checks.pasted.pasting import asking, evidence, read
from tests.examples import examples

SMI = evidence("nvidia_smi/table_h100.txt")
LIST = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-6d0f2a4e-8c3b-4f6e-9a6d-0a1b2c3d4e5f)\n"
JOURNAL = "\n".join(
    json.dumps(
        {"_HOSTNAME": "gpu-01", "_TRANSPORT": kind, "__REALTIME_TIMESTAMP": "1795237800000000", "MESSAGE": message},
        indent="\t",
        separators=(",", " : "),
    )
    for kind, message in (
        ("syslog", "x"),
        ("kernel", "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus."),
    )
)


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, len(SMI)))
def test_a_table_of_gpus_condemns_none(at: int) -> None:
    found = read(SMI[:at])
    assert asking(found) == {}


def test_a_table_of_gpus_says_what_tells_more() -> None:
    found = read(SMI)
    silent, counting = found.unsure
    assert silent.startswith("GPU 2 (00000000:52:00.0) on this node does not answer")
    assert "since the driver was loaded, GPU 1 (00000000:43:00.0): 2:" in counting
    assert all("nvidia-smi -q shows" in each for each in (*found.unsure, *found.notes))
    assert found.parts[0].name == "nvidia-smi of 3 GPUs"
    rows = SMI.replace("|                    2 |", "|                    0 |").split("\n")
    well = "\n".join(row for row in rows if "ERR!" not in row)
    assert read(well).unsure == ()
    assert read("| NVIDIA-SMI 550.90.07 |\n").unsure[0].startswith("nvidia-smi's table on this node holds no GPU")


def test_a_list_of_gpus_tells_no_fault() -> None:
    found = read(LIST)
    assert (found.told, found.unsure) == ((), ())
    assert found.notes[0].startswith("nvidia-smi -L lists 1 GPU and no faults")


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "lsmod shows"),
        ("No devices were found", "lspci -d 10de: shows"),
        ("Failed to initialize NVML: Driver/library version mismatch", "a reboot loads the installed one"),
    ],
)
def test_where_no_gpu_could_be_asked_none_is_condemned(text: str, tells: str) -> None:
    found = read(f"{text}\n")
    assert found.told == ()
    assert tells in found.unsure[0]


def test_a_diagnostics_table_is_judged_as_its_json() -> None:
    assert asking(read(evidence("dcgm/diag_v3_pcie_failed.txt"))) == {"dcgm.pcie": "TRIAGE"}
    assert asking(read(evidence("dcgm/diag_v4_memory_failed.txt"))) == {"dcgm.memory": "TRIAGE"}
    cut = read(evidence("dcgm/diag_v4_memory_failed.txt")[:-100])
    assert (asking(cut), cut.unsure[0].partition(":")[0]) == ({}, "dcgmi diag")


def test_a_health_watchs_table_is_a_hint() -> None:
    found = read(evidence("dcgm/health_warning.txt"))
    assert found.told == ()
    assert "GPU 0 Errors PCIe system: Warning Detected" in found.unsure[0]
    assert read(evidence("dcgm/health_warning.txt")[:-100]).unsure[0].startswith("dcgmi health: its table has no end")


def test_a_drives_log_is_judged_as_its_json() -> None:
    assert set(asking(read(evidence("nvme/smart_log_worn.txt")))) >= {"disk.degraded", "disk.spare"}
    cut = read(evidence("nvme/smart_log_worn.txt")[:200])
    assert (cut.told, cut.unsure[0].partition(" does")[0]) == ((), "nvme smart-log")


def test_a_pretty_journal_is_read_as_a_plain_one() -> None:
    found = read(JOURNAL)
    assert asking(found) == {"xid.79": "POWER_CYCLE"}
    assert found.told[0].node == "gpu-01"
    assert read(JOURNAL[:-5]).unsure == ("the journal's JSON is cut or damaged; print it again, or as -o json",)
    assert read(JOURNAL.replace("NVRM", "x").replace('"kernel"', '"stdout"')).told == ()


def test_messages_of_amds_driver_that_no_row_knows_are_said() -> None:
    """Those that are known are findings, and how a reset went is no message of a fault."""
    head = "[  12.000001] amdgpu 0000:05:00.0: amdgpu: "
    found = read(f"{head}GPU reset begin!\n{head}MODE1 reset\n{head}GPU reset succeeded, trying to resume\n")
    assert [each.finding.code for each in found.told] == ["amdgpu.reset"]
    assert found.unsure == ()
    found = read(f"{head}failed to halt cp gfx\n{head}GPU reset begin!\n")
    assert found.unsure[0].startswith("1 message of amdgpu on this node may report faults and cannot be read yet")


def test_an_event_log_with_a_clock_of_twelve_hours_is_read() -> None:
    found = read("   1 | 11/21/2026 | 05:00:00 PM UTC | Memory #0x11 | Uncorrectable ECC | Asserted\n")
    assert found.told[0].first == "2026-11-21 17:00:00"
