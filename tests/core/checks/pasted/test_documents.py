"""Reports that are read whole: what is cut is said to be, and one look at a counter is none."""

import json

import pytest

from fleet_runner.core.checks.pasted import documents
from fleet_runner.core.checks.pasted.pieces import MOST_OBJECTS, objects
from fleet_runner.core.checks.pasted.told import Group
from tests.core.checks.pasted.pasting import asking, evidence, read

ENTRY = {
    "@odata.type": "#LogEntry.v1_9_0.LogEntry", "Id": "7", "Created": "2026-11-28T02:11:04Z", "Severity": "Critical",
    "EntryCode": "Assert", "SensorType": "Memory", "MessageId": "0xA1FFFF", "Message": "Uncorrectable ECC, DIMM A3",
    "MessageArgs": ["DIMM A3"],
}  # fmt: skip
GPU = "GPU 0: H100 (UUID: GPU-00000000-0000-4000-8000-00000000001b)\n"
COLLECTION = {"@odata.type": "#LogEntryCollection.LogEntryCollection", "Members@odata.count": 1, "Members": [ENTRY]}
RECOVERED = ENTRY | {"Id": "8", "Created": "2026-11-28T02:12:04Z", "EntryCode": "Deassert"}


@pytest.mark.parametrize("raw", [ENTRY, COLLECTION], ids=["entry", "collection"])
def test_a_redfish_log_is_judged_as_the_bmcs_own(raw: dict[str, object]) -> None:
    found = read(f"$ curl -sk https://bmc/redfish/v1/x\n{json.dumps(raw)}\n")
    assert asking(found) == {"sel.memory_uncorrectable": "TRIAGE"}
    assert found.parts[0].name == "Redfish event log of 1 entry"
    assert found.told[0].first == "2026-11-28 02:11:04"


def test_entries_that_come_one_by_one_are_one_log_for_one_may_end_the_other() -> None:
    text = f"{json.dumps(ENTRY)}\n{json.dumps(RECOVERED)}\n"
    assert asking(read(text)) == {}
    whole = json.dumps(COLLECTION | {"Members": [ENTRY, RECOVERED], "Members@odata.count": 2}, indent=1)
    assert asking(read(whole)) == {}
    for at in range(0, len(whole), 7):
        cut = read(whole[:at])
        assert asking(cut) == {}
        assert cut.useless or cut.unsure or at > len(whole) - 3


def test_an_event_that_came_again_is_counted_and_dated() -> None:
    again = ENTRY | {"Id": "9", "Created": "2026-11-28T03:11:04Z"}
    (once,) = read(json.dumps(ENTRY)).told
    assert (once.count, once.first, once.last) == (1, "2026-11-28 02:11:04", "2026-11-28 02:11:04")
    (twice,) = read(json.dumps(COLLECTION | {"Members": [ENTRY, again], "Members@odata.count": 2})).told
    assert (twice.count, twice.first, twice.last) == (2, "", "2026-11-28 03:11:04")
    (strange,) = read(json.dumps(ENTRY | {"Id": "x, y"})).told
    assert (strange.first, strange.line) == ("", "")


def test_a_critical_entry_that_no_rule_knows_is_for_a_person() -> None:
    found = read(json.dumps(ENTRY | {"Message": "EC_STRAP_MISMATCH", "SensorType": "x"}))
    assert asking(found) == {}
    assert found.unsure[0].endswith("a critical entry of an unknown kind: a person reads it")


def test_of_many_resources_only_the_logs_of_faults_count() -> None:
    journal = {"/redfish/v1/Managers/1/LogServices/Journal/Entries": COLLECTION}
    assert read(json.dumps(journal)).unsure[0].startswith("the event log: the BMC gave no resource")
    log = {"/redfish/v1/Systems/1/LogServices/SEL/Entries": COLLECTION}
    assert asking(read(json.dumps(log | journal))) == {"sel.memory_uncorrectable": "TRIAGE"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"@odata.type": "#LogEntryCollection.LogEntryCollection", "Members": [{"', "the Redfish log is not JSON"),
        ('{"smartctl": {"version": [7, 3]}, "device": {"na', "the SMART report is not JSON"),
        ('{"header": ["Health Monitor Report"], "body": {"Over', "dcgmi health's report is not JSON"),
        ('{"DCGM Diagnostic": {"test_categories": [{"cat', "dcgmi's report is not JSON"),
        ("==============NVSMI LOG==============\n\nAttached GPUs    ", "nvidia-smi -q describes 0 GPUs"),
        ("<nvidia_smi_log>\n<attached_gpus>8</attached_gpus>\n", "nvidia-smi's XML cannot be read"),
        ("smartctl 7.3 2022-02-28\nSMART overall-health self-assessment test result: PASSED\n", "smartctl printed"),
        ("# Port counters: Lid 12 port 1\nSymbolErrorCounter:....1\n", "perfquery: the counters of"),
        ("## Summary: 48 nodes checked", "ibqueryerrors"),
        ("# nThread 1 nGpus 8\n", "this is no output of nccl-tests"),
        (f"{GPU}\t Link 0: 26.5 GB/s\n{GPU}", "nvidia-smi nvlink -s names 1 GPUs in 2 places"),
    ],
)  # fmt: skip
def test_a_report_that_is_cut_says_so(text: str, why: str) -> None:
    found = read(text)
    assert not found.useless
    assert any(sentence.startswith(why) for sentence in found.unsure), found.unsure


def test_nvidia_smi_that_lost_its_gpus_names_them() -> None:
    lost = evidence("nvidia_smi/q_h100.txt").replace("NVIDIA H100 80GB HBM3", "GPU is lost")
    found = read(lost)
    assert asking(found) == {"gpu.lost": "REBOOT"}


def test_gpus_that_nvidia_smi_could_not_open_are_lost() -> None:
    said = "Unable to determine the device handle for GPU 0000:9B:00.0: Unknown Error\n"
    found = read(f"$ nvidia-smi\n{said}")
    assert asking(found) == {"gpu.lost": "REBOOT"}
    assert found.told[0].finding.component == "GPU 0000:9b:00.0"
    assert asking(
        read(said + evidence("nvidia_smi/h100_one.xml").replace("<attached_gpus>1", "<attached_gpus>2"))
    ) == {
        "gpu.lost": "REBOOT",
    }
    twice = evidence("nvidia_smi/h100_one.xml") * 2
    assert len(read(twice).parts) == 2


def test_gpus_with_fewer_links_than_others_are_named_and_not_condemned() -> None:
    text = evidence("nvlink/status.txt")
    fewer = "\n".join(text.rstrip().split("\n")[:-1])
    found = read(fewer + "\n")
    assert asking(found) == {}
    assert "NVLinks up: how many there should be is for the device type to define" in found.unsure[0]


def test_a_link_that_counted_errors_is_asked_for_again() -> None:
    text = evidence("nvlink/errors.txt")
    bad = text.replace("Replay Errors: 0", "Replay Errors: 7", 1)
    assert bad != text
    assert "1 NVLink counted errors" in read(bad).unsure[0]


def test_wrong_values_of_a_collective_are_silent_corruption() -> None:
    text = evidence("nccl_tests/h100_two.txt")
    wrong = text.replace("Out of bounds values : 0 OK", "Out of bounds values : 2 FAILED")
    assert wrong != text
    rows = wrong.splitlines(keepends=True)
    at = next(index for index, row in enumerate(rows) if row.strip()[:1].isdigit())
    cells = rows[at].rstrip("\n").rsplit(None, 1)
    rows[at] = f"{cells[0]}      3\n"
    found = read("".join(rows))
    assert asking(found) == {"nccl_allreduce.wrong": "TRIAGE"}
    assert "Out of bounds values" in found.told[0].line


def test_what_fabric_manager_logged_before_its_last_start_is_over() -> None:
    log = evidence("fabric_manager/log.txt")
    start = "[Feb 28 2025 07:00:00] [INFO] [tid 1] Fabric Manager version is : 535.129.03\n"
    assert [each.group for each in read(log).told] == [Group.ACTION, Group.RECORDED]
    assert [each.group for each in read(log + start).told] == [Group.OVER, Group.RECORDED]
    assert asking(read(log.rstrip("\n"))) == {"fabric_manager.nvswitch_fatal": "RESET"}


def test_no_line_is_shown_of_a_very_long_report_nor_one_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LONG", 10)
    assert read(evidence("dcgm/v4_persistence_off.json")).told[0].line == ""
    monkeypatch.setattr(documents, "_EVIDENCE", {"disk.spare": "never there"})
    assert read(evidence("smartctl/nvme_failing.txt")).told[0].line == ""


def test_a_smart_report_of_a_disk_behind_a_controller_is_read() -> None:
    raw = {"smartctl": {}, "device": {"name": "/dev/bus/0"}, "smart_status": {"passed": False}}
    assert asking(read(json.dumps(raw))) == {"disk.failing": "RMA"}


def test_words_in_braces_are_no_report() -> None:
    assert read("a {b} c\n{x\n").useless
    assert len(list(objects('{"a": 1}\n' * (MOST_OBJECTS + 9)))) == MOST_OBJECTS
    assert [value for value, _, _ in objects('x {y}\n{"a": 1}\n{"b": \n{"c": 2}\n')] == [{"a": 1}]


def test_a_line_of_the_sel_that_cannot_be_read_is_said() -> None:
    """A pipe within brackets is a part of the event, as for Dell's memory."""
    lines = [
        "   1 | 11/29/2026 | 03:12:01 | Memory #0x87 | Uncorrectable ECC (UnCorrectable ECC | DIMM_A1) | Asserted",
        "   2 | 29.11.2026 | 03:13:01 | Power Supply PS2 Status | Failure detected | Asserted",
    ]
    found = read("\n".join([*lines, ""]))
    assert asking(found) == {"sel.memory_uncorrectable": "TRIAGE"}
    assert found.unsure[0].startswith("1 line of ipmitool sel cannot be read, the first: '2 | 29.11.2026 | ")
