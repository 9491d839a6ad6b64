"""Do the disks report good health."""

import json
from typing import Any

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.parsers import smart
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.hosting import asked, host, later
from tests.core.checks.catalogue.judging import EXPECTED, HEALTHY, remedies
from tests.core.checks.healthy import text_of

SMART, ATA = HEALTHY["disk_health"]["nvme_smart"], HEALTHY["disk_health"]["ata_smart"]
FAULTS = text_of("dmesg/host_faults.txt")
FIRST = "NVMe 0000:65:00.0"


def nvme(**changes: Any) -> str:
    """Return both drives' logs, the first one's with changes."""
    name, _, rest = SMART.partition("\n")
    log, _, others = rest.partition("/dev/nvme1")
    return f"{name}\n{json.dumps(json.loads(log) | changes)}\n/dev/nvme1{others}"


def sata(**changes: Any) -> str:
    """Return the SATA disk's answer with changes."""
    name, _, log = ATA.partition("\n")
    return f"{name}\n{json.dumps(json.loads(log) | changes)}\n"


def attributes(**values: int) -> dict[str, Any]:
    """Return a table of a SATA disk's attributes ("a5" for number 5)."""
    return {"table": [{"id": int(name[1:]), "raw": {"value": value}} for name, value in values.items()]}


@pytest.mark.parametrize(
    ("changes", "code", "remedy"),
    [
        ({"critical_warning": 1}, "disk.spare", Remedy.RMA),
        ({"data_units_read": 0, "host_read_commands": 315}, "disk.implausible", Remedy.WATCH),
        ({"data_units_read": 0, "host_reads": 315}, "disk.implausible", Remedy.WATCH),
        ({"data_units_written": "0", "host_writes": "9"}, "disk.implausible", Remedy.WATCH),
        ({"avail_spare": 9}, "disk.spare", Remedy.RMA),
        ({"critical_warning": 2}, "disk.hot", Remedy.WATCH),
        ({"temperature": 350}, "disk.hot", Remedy.WATCH),
        ({"critical_warning": 4}, "disk.degraded", Remedy.RMA),
        ({"critical_warning": {"value": 8, "ro": 1}}, "disk.read_only", Remedy.RMA),
        ({"critical_warning": 16}, "disk.backup", Remedy.RMA),
        ({"critical_warning": 32}, "disk.read_only", Remedy.RMA),
        ({"percent_used": 81}, "disk.worn", Remedy.WATCH),
        ({"percent_used": 104}, "disk.worn_out", Remedy.TRIAGE),
    ],
)
def test_each_word_of_an_nvme_drive_has_its_remedy(changes: dict[str, Any], code: str, remedy: Remedy) -> None:
    """Each finding names the drive by its place, and people by its serial."""
    result = host("disk_health", nvme_smart=nvme(**changes))
    assert remedies(result) == {code: remedy}
    (finding,) = result.findings
    assert finding.component == FIRST
    assert "serial S6TSNA0T000001" in finding.message
    assert bool(finding.steps) is (remedy in {Remedy.RMA, Remedy.TRIAGE})


@pytest.mark.parametrize(
    ("changes", "code", "remedy"),
    [
        ({"smart_status": {"passed": False}}, "disk.failing", Remedy.RMA),
        ({"ata_smart_attributes": attributes(a197=8)}, "disk.medium", Remedy.TRIAGE),
        ({"ata_smart_attributes": attributes(a198=1)}, "disk.medium", Remedy.TRIAGE),
    ],
)
def test_each_word_of_a_sata_disk_has_its_remedy(changes: dict[str, Any], code: str, remedy: Remedy) -> None:
    """It is named by its serial: its letter is another one after the next boot."""
    result = host("disk_health", ata_smart=sata(**changes))
    assert remedies(result) == {code: remedy}
    assert result.findings[0].component == "disk S6MYNA0T000003"


def test_smartctls_word_about_an_nvme_drive_is_read_too() -> None:
    """With its own names, and degrees Celsius."""
    log = {"critical_warning": 0, "available_spare": 5, "available_spare_threshold": 10, "temperature": 41}
    told = smart.health(json.dumps({"smart_status": {"passed": True}, "nvme_smart_health_information_log": log}))
    assert (told.spare, told.spare_least, told.celsius, told.failing) == (5, 10, 41, False)


@pytest.mark.parametrize(
    ("what", "first", "then", "code", "remedy"),
    [
        ("media_errors", 5, 7, "disk.media_errors", Remedy.TRIAGE),
        ("unsafe_shutdowns", 31, 32, "disk.unsafe_shutdowns", Remedy.RECORD),
    ],
)
def test_a_count_for_life_asks_for_something_only_as_it_grows(
    what: str, first: int, then: int, code: str, remedy: Remedy
) -> None:
    """What a drive counted before anybody looked says nothing about today."""
    before = host("disk_health", nvme_smart=nvme(**{what: first}))
    assert before.findings == ()
    result = host("disk_health", later("disk_health", before, 600), nvme_smart=nvme(**{what: str(then)}))
    assert remedies(result) == {code: remedy}
    assert f"counted {then - first} more" in result.findings[0].message


def test_reallocated_sectors_that_grow_are_a_fault() -> None:
    """Those that were there stay."""
    before = host("disk_health", ata_smart=sata(ata_smart_attributes=attributes(a5=2)))
    assert before.verdict is Verdict.PASS
    grown = sata(ata_smart_attributes=attributes(a5=4))
    result = host("disk_health", later("disk_health", before, 600), ata_smart=grown)
    assert remedies(result) == {"disk.reallocated": Remedy.TRIAGE}


def test_what_the_kernel_logs_about_a_known_drive_is_named_by_its_place() -> None:
    """The controller and its namespaces are one disk; others keep the kernel's name."""
    log = FAULTS.replace("nvme4", "nvme1")
    result = host("disk_health", dmesg=log)
    gone = [finding for finding in result.findings if finding.code == "disk.gone"]
    assert [(each.component, each.remedy) for each in gone] == [("NVMe 0000:66:00.0", Remedy.REBOOT)]
    assert {(each.code, each.component) for each in result.findings if each not in gone} == {
        ("disk.resets", "NVMe 0000:66:00.0"),
        ("disk.medium", "nvme2n1"),
        ("disk.io", "sda"),
        ("disk.io", "dm-0"),
        ("disk.array", "md1"),
    }


def test_a_drive_that_does_not_tell_is_unknown_with_the_tools_reason() -> None:
    """Find goes on with the next one; what the tool complained about stands at the end of stderr."""
    texts = HEALTHY["disk_health"] | {"nvme_smart": "/dev/nvme0\n/dev/nvme1\n{}\n"}
    readings = {name: Reading(name, ReadEnd.OK, text) for name, text in texts.items()}
    readings["nvme_smart"] = Reading(
        "nvme_smart", ReadEnd.OK, texts["nvme_smart"], error="find: nvme: Permission denied"
    )
    result = run(CHECKS["disk_health"], readings, EXPECTED)
    assert result.verdict is Verdict.UNKNOWN
    assert "/dev/nvme0 does not report its health; the tool printed: find: nvme: Permission denied" in result.message


def test_a_drive_that_was_not_even_asked_is_unknown() -> None:
    """The kernel knows of two."""
    result = host("disk_health", nvme_smart=SMART[: SMART.index("/dev/nvme1")])
    assert (result.verdict, "/dev/nvme1 does not report its health" in result.message) == (Verdict.UNKNOWN, True)


def test_sata_disks_are_asked_about_only_where_the_profile_does() -> None:
    """Without smartctl nobody can tell; one that answers in vain is unknown as well."""
    assert host("disk_health", ata_smart=None).verdict is Verdict.UNKNOWN
    assert host("disk_health", ata_smart="/dev/sda\n").verdict is Verdict.UNKNOWN
    assert host("disk_health", asked("disk_health", {"ata": False}), ata_smart=None).verdict is Verdict.PASS


def test_a_node_without_any_disk_that_tells_is_unknown() -> None:
    """A diskless one has no such section in its profile."""
    none = '{"/sys/module/nvme/parameters/io_queue_depth": "1024"}'
    result = host("disk_health", asked("disk_health", {"ata": None}), nvme_smart="", nvme_controllers=none)
    assert result.verdict is Verdict.UNKNOWN


def test_a_profile_may_leave_the_limits_to_the_drives() -> None:
    """A drive's own word still counts."""
    alone = asked("disk_health", {"used_percent_max": None, "celsius_max": None})
    assert host("disk_health", alone, nvme_smart=nvme(percent_used=99, temperature=360)).verdict is Verdict.PASS
    silent = nvme(critical_warning=1, avail_spare=None, spare_thresh=None)
    assert (
        "an unknown share of its spare blocks left, expected its own limit"
        in host("disk_health", alone, nvme_smart=silent).message
    )


@pytest.mark.parametrize(
    "text",
    [
        "x\n/dev/nvme0\n{}\n",
        "/dev/nvme0\n" * 300,
    ],
)
def test_what_is_no_list_of_disks_is_unknown(text: str) -> None:
    """Something stands before the first disk, or there are more than any server has."""
    assert host("disk_health", nvme_smart=text).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("text", "celsius"),
    [
        ('{"critical_warning": 0, "temperature": {"current": 33}}', 33.0),
        ('{"critical_warning": 0, "temperature": "x"}', None),
        ('{"critical_warning": 0, "nvme_smart_health_information_log": 3, "smart_status": {"passed": true}}', None),
        ('{"smart_status": {"passed": true}, "ata_smart_attributes": {"table": [3, {"id": "x", "raw": 3}]}}', None),
    ],
)
def test_odd_answers_tell_what_they_do(text: str, celsius: float | None) -> None:
    """A field of another kind is not told."""
    assert smart.health(text).celsius == celsius
