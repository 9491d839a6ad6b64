"""Did the server log a hardware fault since the node entered its state?"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue import sel
from fleet_runner.core.checks.catalogue.sel import RULES
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import redfish, redfish_log
from fleet_runner.core.checks.parsers.redfish_log import moment
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.bmc_trees import DGX, SUPERMICRO, gathered, tree_of
from tests.core.checks.catalogue.judging import HEALTHY, NODE, PROFILE, changed, judged, remedies

BODIES: dict[str, Any] = json.loads(HEALTHY["sel"]["redfish_logs"])
LOG = "/redfish/v1/Managers/1/LogServices/SEL"
FRESH, OLD = "2025-03-01T09:30:00+00:00", "2025-03-01T09:20:00+00:00"
"""Before and after the node came to its state, at 09:23:20."""


def entry(message: str, kind: str = "", /, **values: Any) -> dict[str, Any]:
    """Return a critical entry that began something."""
    plain = {"Id": "7", "Created": FRESH, "Severity": "Critical", "EntryCode": "Assert", "SensorType": kind}
    return plain | {"SensorNumber": 5, "MessageId": "0x01FFFF", "Message": message} | values


def logged(*entries: dict[str, Any], expected: Expected | None = None, **service: Any) -> Result:
    """Judge a BMC whose SEL holds some entries."""
    body = BODIES[f"{LOG}/Entries"] | {"Members": list(entries), "Members@odata.count": len(entries)}
    texts = {"redfish_logs": json.dumps(BODIES | {LOG: BODIES[LOG] | service, f"{LOG}/Entries": body})}
    return judged("sel", texts, expected) if expected else judged("sel", texts)


SAID = [
    ("sel.memory_uncorrectable", "Memory", "Uncorrectable ECC / other uncorrectable memory error, DIMM P1-DIMMA1"),
    ("sel.memory_uncorrectable", "", "Multi-bit memory errors detected on DIMM_A1: uncorrectable memory error"),
    ("sel.memory_correctable", "Memory", "Correctable ECC / other correctable memory error logging limit reached"),
    ("sel.cpu", "Processor", "IERR, CPU1"),
    ("sel.cpu", "Processor", "CATERR asserted"),
    ("sel.cpu", "", "CPU 1 has an internal error (IERR)."),
    ("sel.thermal_trip", "Processor", "Thermal Trip, CPU2"),
    ("sel.pcie_fatal", "Critical Interrupt", "Bus Fatal Error, slot 3"),
    ("sel.pcie_fatal", "", "A fatal error was detected on a component: PCIe uncorrectable at bus 23 device 0"),
    ("sel.drive", "Drive Slot/Bay", "Drive Fault, bay 2"),
    ("sel.power", "Power Supply / Converter", "[PWR-0001] PS5 Status, Power Supply Failure detected"),
    ("sel.fan", "Fan", "[FAN-0001] FAN9, Lower Critical - going low"),
    ("sel.fan", "", "Chassis_0_FAN_2_FRONT critical low threshold assert. Reading=0.000000 Threshold=2204.000000."),
    ("sel.sensor", "", "HGX_GPU_2_Temp_1 critical high threshold assert. Reading=95.5 Threshold=90.0."),
    ("sel.sensor", "Temperature", "[TMP-0001] NVSwitch Temp, Upper Critical - going high"),
    ("sel.boot", "Watchdog 2", "Hard reset"),
    ("sel.intrusion", "Physical Security", "General chassis intrusion"),
    ("sel.bmc", "", "xyz.openbmc_project.Common.Error.InternalFailure"),
    ("sel.bmc", "", "InternalFailure"),
    ("sel.critical", "", "xyz.openbmc_project.Common.Error.InternalFailure of the CPLD of baseboard 0"),
    ("sel.critical", "Processor", "InternalFailure"),
    ("sel.critical", "OEM", "something that nobody has seen before"),
]
"""What vendors write, and the row that it falls under."""


@pytest.mark.parametrize(("code", "kind", "message"), SAID)
def test_what_vendors_write_is_understood(code: str, kind: str, message: str) -> None:
    """And asks for what its row says."""
    result = logged(entry(message, kind))
    remedy = next((rule.remedy for rule in RULES if rule.code == code), Remedy.WATCH)
    assert remedies(result) == {code: remedy}
    assert (result.verdict is Verdict.PASS) is (remedy is Remedy.RECORD)


@pytest.mark.parametrize(
    "message",
    [
        "[ROT-0017] Security State of BMC JTAG Lockout changed to Unlock",
        "GPU_SXM_6 Driver Event Message has detected errors of type '[1][00] XID 62 badf5723'",
    ],
)
def test_what_nobody_repairs_is_no_finding(message: str) -> None:
    """BMCs warn of much."""
    assert logged(entry(message)).findings == ()


@given(words=st.text(alphabet="abcde rsuz-/,.", max_size=80), kind=st.text(max_size=20))
def test_any_words_fall_under_one_row(words: str, kind: str) -> None:
    """No entry is lost, and none breaks the judge."""
    result = logged(entry(words, kind))
    assert len(result.findings) == 1


@given(warning=st.booleans(), before=st.integers(0, 5), after=st.integers(0, 5))
def test_an_end_ends_what_began_before_it_alone(warning: bool, before: int, after: int) -> None:
    """A fault that came again is a fault."""
    severity = "Warning" if warning else "Critical"
    entries = [entry("IERR", "Processor", Id=str(n), Severity=severity) for n in range(1, before + 1)]
    entries.append(entry("IERR", "Processor", Id="10", EntryCode="Deassert", Severity="OK"))
    entries += [entry("IERR", "Processor", Id=str(10 + n), Severity=severity) for n in range(1, after + 1)]
    assert (logged(*entries).verdict is Verdict.FAIL) is (after > 0)


def test_another_parts_end_ends_nothing() -> None:
    """Nor that of another event of the same sensor."""
    began = entry("IERR", "Processor")
    for other in ({"SensorNumber": 6}, {"MessageId": "0x02FFFF"}, {"SensorType": "Fan"}):
        end = began | {"Id": "8", "EntryCode": "Deassert", "Severity": "OK"} | other
        assert logged(began, end).verdict is Verdict.FAIL


def test_readings_in_the_event_data_do_not_keep_an_end_from_its_begin() -> None:
    """The first byte's low half names the event; the rest are a reading and a threshold."""
    began = entry("Upper Critical - going high: thermal trip", "Temperature", MessageId="0x595A58")
    end = began | {"Id": "8", "EntryCode": "Deassert", "Severity": "OK", "MessageId": "0x595758"}
    assert logged(began, end).verdict is Verdict.PASS


def test_a_bmc_that_lost_its_power_would_say_again_what_is_still_so() -> None:
    """A drive's state, not what happened once to a processor."""
    powered = entry("[PWR-0020] First AC Power on", Id="8", Severity="Warning")
    assert logged(entry("Drive Fault", "Drive Slot/Bay")).verdict is Verdict.FAIL
    assert logged(entry("Drive Fault", "Drive Slot/Bay"), powered).verdict is Verdict.PASS
    assert logged(entry("IERR", "Processor"), powered).verdict is Verdict.FAIL


def test_what_was_before_the_log_was_cleared_is_over() -> None:
    """Some BMCs keep it for a while."""
    assert logged(entry("IERR", "Processor"), entry("Event_Type : Log Area Reset/Cleared", Id="8")).findings == ()


def test_what_is_resolved_is_over() -> None:
    """NVIDIA's baseboards say it of the entry itself."""
    assert logged(entry("IERR", Resolved=True)).findings == ()
    assert logged(entry("IERR", Resolved=False)).verdict is Verdict.FAIL


def test_what_was_before_the_nodes_state_was_dealt_with_then() -> None:
    """A repaired node is not sent back for what was repaired."""
    result = logged(entry("IERR", Created=OLD))
    assert (result.verdict, result.observed["bad"]) == (Verdict.PASS, 4)
    by_hand = Expected(NODE, PROFILE)
    assert logged(entry("IERR", Created=OLD), expected=by_hand).verdict is Verdict.FAIL
    assert logged(entry("IERR", Created="2025-02-21T00:00:00Z"), expected=by_hand).verdict is Verdict.PASS


@pytest.mark.parametrize("ahead", ["2019-05-05T12:05:00Z", "2033-01-01T00:05:00+00:00"])
def test_a_clock_need_not_be_right(ahead: str) -> None:
    """Only ages are compared: five minutes, by its own clock."""
    created = ahead.replace(":05:00", ":00:00")
    assert logged(entry("IERR", Created=created), DateTime=ahead).verdict is Verdict.FAIL


def test_a_log_without_a_clock_is_held_against_ours() -> None:
    """Not every service tells its time."""
    assert logged(entry("IERR"), DateTime=None).verdict is Verdict.FAIL
    assert logged(entry("IERR", Created=OLD), DateTime="soon").verdict is Verdict.PASS


@pytest.mark.parametrize("at", ["1970-01-01T00:00:20+00:00", "", "9999-99-99", None])
def test_an_entry_of_no_readable_time_is_unknown_if_it_matters(at: str | None) -> None:
    """Nobody knows whether it was before or after."""
    result = logged(entry("IERR", Created=at))
    assert result.verdict is Verdict.UNKNOWN
    assert "1 entries have no readable time (Managers/1/LogServices/SEL 7)" in result.message
    assert logged(entry("Power supply lost", Created=at)).verdict is Verdict.PASS


def test_one_part_has_one_finding_however_often_it_is_logged() -> None:
    """With the last entry's words, and a step that clears the log."""
    result = logged(*(entry("IERR", "Processor", Id=str(n)) for n in range(1, 6)))
    (finding,) = result.findings
    assert finding.message.startswith("Managers/1/LogServices/SEL 5, 5 times, Processor 5: IERR;")
    assert finding.steps[-1].startswith("Clear the log")


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ({"Message": "[CPU-0001] CPU1 Status, IERR"}, "CPU1"),
        ({"Links": {"OriginOfCondition": {"@odata.id": "/redfish/v1/Chassis/HGX_GPU_SXM_6"}}}, "HGX_GPU_SXM_6"),
        ({"Links": {"OriginOfCondition": {"@odata.id": "/redfish/v1/Managers/BMC"}}}, "sensor 5"),
        ({"Links": []}, "sensor 5"),
        ({"MessageArgs": ["CPU 1", "x"]}, "CPU 1"),
        ({"MessageArgs": [7]}, "sensor 5"),
        ({"SensorNumber": None}, "the server"),
        ({"SensorNumber": None, "SensorType": "Processor"}, "Processor"),
    ],
)
def test_an_entry_is_about_what_it_names(values: dict[str, Any], part: str) -> None:
    """A sensor's name, a resource, or at least a number: the key of its ticket."""
    (finding,) = logged(entry("IERR") | values).findings
    assert finding.component == part


@pytest.mark.parametrize(
    ("policy", "remedy"), [("NeverOverWrites", Remedy.WATCH), (None, Remedy.WATCH), ("WrapsWhenFull", Remedy.RECORD)]
)
def test_a_log_that_is_nearly_full_hides_the_next_fault(policy: str | None, remedy: Remedy) -> None:
    """Unless it wraps."""
    entries = [entry("ok", Severity="OK", Id=str(n)) for n in range(9)]
    result = logged(*entries, MaxNumberOfRecords=10, OverWritePolicy=policy)
    assert remedies(result) == {"sel.full": remedy}
    wanted = changed("sel", {"days": 7, "full_share_max": 0.95})
    assert logged(*entries, MaxNumberOfRecords=10, expected=wanted).findings == ()


def test_a_log_that_was_not_read_in_whole_is_unknown() -> None:
    """The fault may be on the page that is missing."""
    texts = BODIES | {f"{LOG}/Entries": BODIES[f"{LOG}/Entries"] | {"Members@odata.nextLink": "/more"}}
    result = judged("sel", {"redfish_logs": json.dumps(texts)})
    assert result.message == "Managers/1/LogServices/SEL: not all of its entries were read"


def test_a_log_that_lists_links_alone_is_unknown() -> None:
    """Its entries were not read."""
    assert logged({"@odata.id": f"{LOG}/Entries/1"}).message.endswith("not all of its entries were read")


def test_no_log_at_all_is_unknown_and_says_why() -> None:
    """The GPU baseboard's alone, while the host is off."""
    only = {LOG: BODIES[LOG], "/redfish/v1/Systems/HGX_Baseboard_0": None}
    result = judged("sel", {"redfish_logs": json.dumps(only)})
    assert result.verdict is Verdict.UNKNOWN
    assert "HGX_Baseboard_0 with an error" in result.message


def test_entries_without_numbers_are_in_the_order_of_their_times() -> None:
    """Some vendors' Ids are names."""
    end = entry("IERR", Id="b", Created="2025-03-01T09:31:00Z", EntryCode="Deassert", Severity="OK")
    assert logged(end, entry("IERR", Id="a")).verdict is Verdict.PASS


CAPTURED = {SUPERMICRO: "2023-11-30T21:04:00Z", DGX: "2024-07-10T22:12:00Z"}
"""When each was captured, by its BMC's clock."""


@pytest.mark.parametrize("name", [SUPERMICRO, DGX])
def test_a_captured_server_passes_and_its_logs_are_found(samples: Path, name: str) -> None:
    """Failed power supplies of weeks ago, and a baseboard whose clock stands in 2020."""
    now = {"now": moment(CAPTURED[name]) or 0.0}
    expected = Expected(NODE, {"sel": {"days": 7}}, run=now)
    result = judged("sel", {"redfish_logs": gathered(tree_of(samples, name), "redfish_logs")}, expected)
    assert (result.verdict, sum(result.observed["logs"].values())) == (
        Verdict.PASS,
        {SUPERMICRO: 82, DGX: 175}[name],
    )


def test_a_captured_switch_that_was_not_there_would_have_been_told(samples: Path) -> None:
    """On the day on which it was logged, and of the power supplies only that they were."""
    now = {"now": moment("2023-11-10T00:00:00Z") or 0.0}
    tree = tree_of(samples, SUPERMICRO)
    service = "/redfish/v1/Systems/1/LogServices/Log1"
    tree[service] = tree[service] | {"DateTime": "2023-11-10T00:00:00Z"}
    expected = Expected(NODE, {"sel": {"days": 60}}, run=now)
    result = judged("sel", {"redfish_logs": gathered(tree, "redfish_logs")}, expected)
    assert remedies(result)["sel.sensor"] is Remedy.RECORD
    assert any(finding.component == "NVSwitch Temp" for finding in result.findings)


def test_a_baseboard_that_is_off_leaves_the_others_logs_readable(samples: Path) -> None:
    """It answers 503; what the server's own BMC logged counts all the same."""
    off = {f"/redfish/v1/{kind}/HGX": 503 for kind in ("Systems", "Managers")}
    text = gathered(tree_of(samples, DGX), "redfish_logs", off)
    assert [log.name for log in redfish_log.logs(redfish.gathered(text, "logs"))] == ["Managers/BMC/LogServices/SEL"]
    assert judged("sel", {"redfish_logs": text}).verdict is Verdict.UNKNOWN


def test_every_row_is_found_by_what_somebody_writes() -> None:
    """No row without an example."""
    assert {rule.code for rule in RULES} <= {code for code, _, _ in SAID}


def test_a_node_that_has_just_come_to_its_state_tells_no_thousandths_of_days() -> None:
    """A span is said as people would say it."""
    spans = [sel._span(seconds) for seconds in (604_800.0, 90_000.0, 7200.0, 90.0, 56.07)]
    assert spans == ["7 days", "1.04 days", "2 hours", "1.5 minutes", "56.1 seconds"]
