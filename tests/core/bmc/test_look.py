"""What a look calls bad, what it only notes, and what it cannot tell."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.bmc.look import Look, Sensed, look
from fleet_runner.core.bmc.tree import ROOT, Tree
from tests.core.bmc.test_tree import NESTED
from tests.core.bmc.trees import CHASSIS, FIRMWARE, LOG, SYSTEM, captured, changed, firmware, merged, surveyed


def at(bodies: dict[str, Any], now: float | None = None) -> Look:
    """Look at a BMC that has these resources."""
    return look(surveyed(bodies)[0], now)


def row(uri: str, rows: str, place: int, **values: Any) -> dict[str, Any]:
    """Return the captured tree with one row of a resource changed."""
    listed = list(captured()[uri][rows])
    listed[place] = {**listed[place], **values}
    return changed(uri, **{rows: listed})


def entry(**values: Any) -> dict[str, Any]:
    """Return the captured tree with one more entry in its log."""
    new = {"Id": "99", "Severity": "Critical", "Created": "2023-11-30T20:50:00Z", "Message": "IERR", **values}
    return changed(LOG, Members=[*captured()[LOG]["Members"], new])


@given(st.dictionaries(st.sampled_from(sorted(captured())), st.dictionaries(st.text(max_size=6), NESTED)))
def test_no_answer_of_a_bmc_is_too_odd_to_look_at(wrong: dict[str, Any]) -> None:
    at({**captured(), **wrong})


@given(
    st.sampled_from(sorted(set(captured()) - {ROOT})),
    st.sampled_from(["Status", "Members", "Name", "Version"]),
    NESTED,
)
def test_a_value_of_a_wrong_type_condemns_nothing_but_by_the_words_of_the_bmc(
    uri: str, name: str, value: Any
) -> None:
    assert at(merged(captured(), uri, **{name: value})).bad == ()


def test_a_captured_bmc_is_well() -> None:
    found = at(captured())
    assert (found.bad, found.notes, found.unread, found.whole) == ((), (), (), True)
    assert found.sensed == Sensed(
        7, 3, "2240 RPM", "4400 RPM",
        ("Inlet Temp 21 C, 21 below its limit", "AOC_NIC12 Temp 63 C, 37 below its limit",
         "GPU Inlet Temp 34 C, 51 below its limit"),
        (),
    )  # fmt: skip


def test_a_module_of_another_model_without_input_is_no_dark_supply_while_one_of_most_is() -> None:
    lost = {"LineInputVoltage": 0, "Status": {"Health": "OK", "State": "Enabled"}}
    assert at(row(f"{CHASSIS}/Power", "PowerSupplies", 2, **lost)).bad == ()
    assert [each.component for each in at(row(f"{CHASSIS}/Power", "PowerSupplies", 1, **lost)).bad] == [
        captured()[f"{CHASSIS}/Power"]["PowerSupplies"][1]["Name"]
    ]


def test_nothing_at_all_is_looked_at_without_a_word() -> None:
    found = look(Tree())
    assert (found.bad, found.notes, found.devices, found.firmware) == ((), (), (), ())
    assert found.sensed == Sensed(0, 0, "", "", (), ())


@pytest.mark.parametrize(
    ("bodies", "code"),
    [
        (row(f"{CHASSIS}/Thermal", "Temperatures", 0, ReadingCelsius=150), "sensor.hot"),
        (row(f"{CHASSIS}/Thermal", "Fans", 0, Reading=0), "fan.failed"),
        (row(f"{CHASSIS}/Power", "PowerSupplies", 0, LineInputVoltage=0), "psu.no_input"),
        (row(f"{CHASSIS}/Power", "PowerSupplies", 2, Status={"Health": "Critical"}), "psu.faulty"),
        (changed(SYSTEM, Status={"HealthRollup": "Warning"}), "health.whole"),
        (changed(f"{SYSTEM}/Memory/1", Status={"Health": "Critical"}), "health.dimm"),
        (entry(), "sel.cpu"),
    ],
)
def test_each_fault_is_found_by_its_check(bodies: dict[str, Any], code: str) -> None:
    assert [each.code for each in at(bodies).bad] == [code]


@pytest.mark.parametrize(
    "values",
    [
        {"Message": "Power Supply 1 lost input"},  # another check looks whether it still does
        {"Created": "2023-10-01T00:00:00Z"},
        {"Severity": "OK"},
        {"Resolved": True},
    ],
)
def test_what_is_history_in_a_log_is_not_bad(values: dict[str, Any]) -> None:
    assert at(entry(**values)).bad == ()


def test_a_log_is_told_newest_first_and_what_says_the_same_is_one() -> None:
    again = {"Id": "98", "Severity": "Critical", "Created": "2023-11-01T00:00:00Z", "Message": "IERR"}
    odd = {"Id": "97", "Severity": "Warning", "Created": "1970-01-01T00:00:00Z", "Message": "odd\n\x1b one"}
    late = {"Id": "96", "Severity": "Warning", "Created": "9999-12-31T23:59:59-12:00", "Message": "of the end"}
    bodies = entry()
    members = [odd, late, again, *bodies[LOG]["Members"]]
    found = at(merged(bodies, LOG, Members=members)).log
    told = [(each.at, each.severity, each.message, each.count) for each in found if each.message != "of the end"]
    assert told == [("2023-11-30 20:50", "Critical", "IERR", 2), ("", "Warning", "odd \ufffd one", 1)]
    assert [each.at for each in found if each.message == "of the end"] == [""]


def test_a_clock_that_is_off_is_a_note_and_only_where_the_time_is_known() -> None:
    [note] = at(captured(), 1_800_000_000.0).notes
    assert "the clock of the BMC 1 is" in note
    assert at(captured(), 1_800_000_000.0).bad == ()
    assert at(captured()).notes == ()


def test_a_full_log_is_a_note() -> None:
    [note] = at(changed(LOG.removesuffix("/Entries"), MaxNumberOfRecords=3)).notes
    assert "holds 3 of 3 entries" in note


def test_sensors_without_a_reading_are_named_and_a_nameless_one_too() -> None:
    bodies = row(f"{CHASSIS}/Thermal", "Temperatures", 0, ReadingCelsius=None, Name="", MemberId="")
    assert at(bodies).sensed.silent == ("a sensor with no name",)


def test_fans_of_which_only_a_share_is_told_are_told_in_percent() -> None:
    bodies = changed(f"{CHASSIS}/Thermal", Fans=[{"Name": "F", "Reading": 51, "ReadingUnits": "Percent"}])
    assert (at(bodies).sensed.slowest, at(bodies).sensed.fastest) == ("51 %", "51 %")


def test_an_inventory_that_contradicts_itself_is_a_note() -> None:
    version = {"Version": "1"}
    found = at(firmware(**{"Installed-0-1.0__BIOS.1": version, "Installed-0-2.0__BIOS.1": version}))
    assert found.firmware == ()
    assert "twice" in found.notes[0]


def test_what_was_not_read_is_told_and_the_look_is_not_whole() -> None:
    tree, _ = surveyed(captured())
    tree.lose(f"{FIRMWARE}/X", "answered 500: no reason given")
    tree.miss(f"{FIRMWARE}/Y")
    found = look(tree)
    assert found.unread == ("UpdateService/FirmwareInventory/X: answered 500: no reason given",)
    assert (found.absent[-1], found.whole) == ("UpdateService/FirmwareInventory/Y", False)


def test_what_a_check_cannot_tell_is_a_note() -> None:
    bodies = changed(f"{CHASSIS}/Power", PowerSupplies=[{"Name": "PSU1", "Model": "X"}])
    assert at(bodies).notes == ("the BMC reports no health of PSU1",)
    assert (
        "no event log of the BMC could be read"
        in at({uri: body for uri, body in captured().items() if uri != LOG}).notes[0]
    )
