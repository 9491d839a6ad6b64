"""Event logs of BMCs, as tools print them and pages export them, say what Redfish would."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.ipmi_sel import URI
from fleet_runner.core.checks.parsers.sel_exports import begins, entries
from tests.core.checks.pasted.pasting import asking, read

LOGS = {
    "iDRAC's lifecycle log as XML": (
        '<?xml version="1.0" encoding="UTF-8"?>\n<LCLogEvents>\n'
        '<Event AgentID="SEL" Category="System Health" Severity="Warning" Timestamp="2026-11-29T03:15:01-0600"'
        ' Sequence="12">\n<Message>Power supply redundancy is lost.</Message>\n</Event>\n'
        '<Event AgentID="SEL" Category="System Health" Severity="Critical" Timestamp="2026-11-29T03:12:01-0600"'
        ' Sequence="11">\n<Message>Multi-bit memory errors detected on a memory device at location(s) DIMM_A1.'
        "</Message><MessageID>MEM0001</MessageID><FQDD>DIMM.Socket.A1</FQDD>\n</Event>\n</LCLogEvents>\n"
    ),
    "Supermicro's page of sensors": (
        "Event ID,Time Stamp,Sensor Name,Sensor Type,Description\n"
        "1,2026/11/29 03:12:01,OEM,Memory,Uncorrectable ECC @ DIMMA1 - Asserted\n"
        "2,2026/11/29 03:15:01,PS2 Status,Power Supply,Failure detected - Asserted\n"
    ),
    "Lenovo's page of commas": (
        "Severity,Source,Date,Event ID,Message\n"
        'Error,Memory,"11/29/2026, 03:12:01 AM",0x806f010c2004ffff,Uncorrectable error detected for DIMM 4.\n'
        'Error,Power,"11/29/2026, 03:15:01 AM",0x806f01080a01ffff,Power supply 2 has failed.\n'
    ),
    "ipmitool -v": (
        "SEL Record ID          : 0001\n"
        " Record Type           : 02\n"
        " Timestamp             : 11/29/2026 03:12:01\n"
        " Generator ID          : 0020\n"
        " EvM Revision          : 04\n"
        " Sensor Type           : Memory\n"
        " Sensor Number         : 87\n"
        " Event Type            : Sensor-specific Discrete\n"
        " Event Direction       : Assertion Event\n"
        " Event Data            : a1ff00\n"
        " Description           : Uncorrectable ECC\n"
        "\n"
        "SEL Record ID          : 0002\n"
        " Record Type           : 02\n"
        " Timestamp             : 11/29/2026 03:13:01\n"
        " Generator ID          : 0020\n"
        " EvM Revision          : 04\n"
        " Sensor Type           : Power Supply\n"
        " Sensor Number         : 52\n"
        " Event Type            : Sensor-specific Discrete\n"
        " Event Direction       : Assertion Event\n"
        " Event Data            : 01ffff\n"
        " Description           : Failure detected\n"
    ),
    "iDRAC's page": (
        "Severity,Date/Time,Description\n"
        'Critical,2026-11-29 03:12:01,"Multi-bit memory errors detected on a memory device at loca'
        'tion(s) DIMM_A1."\n'
        'Non-Critical,2026-11-29 03:12:01,"Power supply redundancy is lost."\n'
    ),
    "racadm getsel": (
        "Record:      1\n"
        "Date/Time:   11/29/2026 03:12:01\n"
        "Source:      system\n"
        "Severity:    Critical\n"
        "Description: Multi-bit memory errors detected on a memory device at location(s) DIMM_A1.\n"
        "-------------------------------------------------------------------------------\n"
        "Record:      2\n"
        "Date/Time:   11/29/2026 03:15:01\n"
        "Source:      system\n"
        "Severity:    Critical\n"
        "Description: Power supply 2 has failed.\n"
        "-------------------------------------------------------------------------------\n"
    ),
    "racadm lclog view": (
        "SeqNumber       = 4021\n"
        "Message ID      = MEM0001\n"
        "Category        = System\n"
        "AgentID         = iDRAC\n"
        "Severity        = Critical\n"
        "Timestamp       = 2026-11-29 03:12:01\n"
        "Message Arg   1 = DIMM_A1\n"
        "FQDD            = iDRAC.Embedded.1\n"
        "Message         = Multi-bit memory errors detected on a memory device at location(s) DIMM_A1.\n"
        "-------------------------------------------------------------------------------\n"
    ),
    "iLO's page": (
        "ID,Severity,Class,Last Update,Initial Update,Count,Description\n"
        '12,Critical,Memory,11/29/2026 03:12,11/29/2026 03:12,1,"Uncorrectable Memory Error - Proc'
        'essor 1, DIMM 3"\n'
        '13,Caution,Power,11/29/2026 03:15,11/29/2026 03:15,1,"Power Supply 2 - Failed"\n'
    ),
    "Supermicro's page": (
        "Event ID,Severity,Timestamp,Sensor,Description\n"
        "1,Critical,2026/11/29 03:12:01,Memory,Uncorrectable ECC @ DIMMA1(CPU1) - Asserted\n"
        "2,Critical,2026/11/29 03:13:01,PS2 Status,Power Supply Failure Detected - Asserted\n"
    ),
    "XCC's page": (
        "Index,Severity,Source,Common ID,Message,Date\n"
        '1,Error,Memory,FQXSFMA0002M,"An uncorrectable memory error has been detected on DIMM 3 at'
        ' address 0x0.",11/29/2026 03:12:01 AM\n'
    ),
    "ipmitool -c": (
        "1,11/29/2026,03:12:01,Memory #0x87,Uncorrectable ECC,Asserted\n"
        "2,11/29/2026,03:13:01,Power Supply #0x52,Failure detected,Asserted\n"
    ),
    "ipmi-sel": (
        "ID  | Date        | Time     | Name             | Type                     | Event\n"
        "1   | Nov-29-2026 | 03:12:01 | CPU1 DIMM A1     | Memory                   | Uncorrectable"
        " memory error\n"
        "2   | Nov-29-2026 | 03:13:01 | PS2 Status       | Power Supply             | Power Supply "
        "Failure detected\n"
    ),
}
FORMS = pytest.mark.parametrize("text", LOGS.values(), ids=LOGS)
PIECES = [
    "Severity",
    ",",
    "Date",
    "Message",
    "Critical",
    "\n",
    "Record: 1",
    "SeqNumber = 1",
    "1",
    " | ",
    '"',
    ": ",
    "11/29/2026",
]


def rows(text: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = entries(text)[URI]["Members"]
    return found


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(EvidenceError):
        assert rows(text)


@FORMS
def test_an_uncorrectable_error_is_told_and_a_power_supply_is_recorded(text: str) -> None:
    assert begins(text)
    assert asking(read(text)) == {"sel.memory_uncorrectable": "TRIAGE"}
    assert asking(read(text.replace("\n", "\r\n"))) == {"sel.memory_uncorrectable": "TRIAGE"}
    assert {row["Created"][:10] for row in rows(text)} == {"2026-11-29"}


@FORMS
def test_a_log_that_was_cut_tells_no_more(text: str) -> None:
    whole = asking(read(text))
    for at in range(0, len(text), 5):
        assert asking(read(text[:at])).items() <= whole.items()


def test_what_is_over_asks_for_nothing() -> None:
    """By a later entry that says so, in each form that has one, or by its severity."""
    block = LOGS["ipmitool -v"]
    ended = block + block.replace("0001", "0003").replace("Assertion Event", "Deassertion Event")
    assert asking(read(ended)) == {}
    commas = "1,11/29/2026,03:12:01,Memory #0x87,Uncorrectable ECC,Asserted\n"
    assert asking(read(commas + commas.replace("1,11", "2,11", 1).replace("Asserted", "Deasserted"))) == {}
    assert asking(read(LOGS["iLO's page"].replace("Critical", "Repaired"))) == {}
    (row,) = rows("Index,Severity,Date,Message\nx y,Critical,soon,Uncorrectable ECC - Deasserted\n")
    assert (row["Id"], row["Created"], row["EntryCode"]) == ("1", "", "Deassert")


def test_ipmi_tells_no_severity_and_what_is_harmless_is_so() -> None:
    (row,) = rows("1,11/29/2026,03:12:01,Power Supply #0x52,Presence detected,Asserted\n")
    assert row["Severity"] == "OK"


def test_the_newest_entry_of_a_table_may_stand_first() -> None:
    """Pages show it so: what was cleared before an error does not end it."""
    table = LOGS["iDRAC's page"].replace("03:12:01", "03:10:01", 1)
    cleared = "Ok,2026-11-29 02:00:00,Log cleared.\n"
    assert asking(read(table + cleared)) == {"sel.memory_uncorrectable": "TRIAGE"}
    first, *others = table.splitlines(keepends=True)
    turned = "".join([first, *reversed(others), cleared])
    assert asking(read(turned)) == {"sel.memory_uncorrectable": "TRIAGE"}
    assert [row["Message"][:3] for row in rows(turned)] == ["Log", "Mul", "Pow"]


def test_times_with_a_zone_keep_it() -> None:
    table = "Id,Severity,Created,Message\n1,Warning,{},Fan failed\n"
    for at in ("2026-11-29T03:12:01+00:00", "2026-11-29T03:12:01"):
        assert rows(table.format(at))[0]["Created"] == "2026-11-29T03:12:01+00:00"


@pytest.mark.parametrize(
    "text",
    [
        "Host,Severity,Time,Message\ngpu-01,Critical,2026-11-29 03:12:01,Uncorrectable ECC\n",
        "Id,Severity,Time,Message\n1,Critical\n",
        f"Id,Severity,Time,Message\n1,Critical,now,{'x' * 200_000}\n",
        "Record:      1\nSeverity:    Critical\n",
    ],
)
def test_a_log_of_several_machines_or_without_a_message_is_refused(text: str) -> None:
    """A table of alerts names its machines; a BMC's own log does not."""
    with pytest.raises(EvidenceError, match="has no entry with a message"):
        entries(text)
    assert asking(read(text)) == {}
