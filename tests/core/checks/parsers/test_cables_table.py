"""Designed cables in rows of cells whose titles say what they hold: NetBox's lists, and what people write."""

from contextlib import suppress
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.checks.parsers import cables_csv
from fleet_runner.core.checks.parsers.cables_sheet import Row
from fleet_runner.core.checks.parsers.cables_table import read, titled
from tests.core.checks.catalogue.judging import text_of

A = link(Port("gpu-01", "ib0"), Port("leaf-1", "1"))
B = link(Port("gpu-01", "ib1"), Port("leaf-2", "1"))
LIST = "Device A|Termination A|Device B|Termination B"
CELLS = st.sampled_from(
    ["", "a", "Device A", "Port A", "Device B", "Port B", "Termination A", "2026-01-07", "#x", ","]
)


def rows(*told: str) -> list[Row]:
    """Return the cables of rows whose cells stand between bars."""
    return list(read(list(enumerate((row.split("|") for row in told), start=1)), "x").rows)


def said(*told: str) -> str:
    with pytest.raises(SourceError) as caught:
        rows(*told)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(st.lists(st.lists(CELLS | st.text(), min_size=1)))
def test_any_rows_are_read_or_refused(table: list[list[str]]) -> None:
    """And what has titles that name both ends is read by them, or a row of it is named."""
    lines = list(enumerate(table, start=1))
    with suppress(SourceError):
        assert read(lines, "x").rows
    assert titled(lines) in {True, False}


def test_netboxs_list_of_cables_is_read_by_its_titles() -> None:
    """What may be there or not, what is Ethernet's for sure, and no cable of power."""
    assert cables_csv.parse(text_of("cables/netbox_4.csv"), "x") == (
        Row(2, A, listed=True),
        Row(3, B, listed=True),
        Row(4, link(Port("gpu-02", "ib0"), Port("leaf-1", "2")), planned=True, listed=True),
        Row(5, link(Port("gpu-01", "eth0"), Port("tor-1", "swp7")), ethernet=True, listed=True),
    )


def test_the_list_of_an_older_netbox_is_read_likewise() -> None:
    assert [row.link for row in cables_csv.parse(text_of("cables/netbox_3_2.csv"), "x")] == [A, B]


@pytest.mark.parametrize(
    "titles",
    [
        "ID|Label|Termination A|Termination B|Status|Type",
        "termination_a_type|termination_a_id|termination_b_type|termination_b_id",
    ],
)
def test_a_list_without_devices_says_which_columns_to_show(titles: str) -> None:
    text = said(titles, "1||ib0|1|Connected|")
    assert text.startswith(
        "x:1: found NetBox's cables without their devices; show the columns Device A, Termination A"
    )


@pytest.mark.parametrize("near", ["1,2", "2, 1", "2\n 1"])
@pytest.mark.parametrize(
    ("far", "ports"),
    [("gpu-01", ("ib0", "ib1")), ("gpu-01,gpu-02", ("ib0", "ib0")), ("gpu-02,gpu-01", ("ib0", "ib0"))],
)
def test_several_ports_at_both_ends_are_a_bundle_of_links(near: str, far: str, ports: tuple[str, str]) -> None:
    """In whichever order the list has them."""
    one, other = rows(LIST, f"leaf-1|{near}|{far}|{','.join(ports)}")
    last = Port(max(far.split(",")), ports[1])
    assert [each.link for each in (one, other)] == [A, link(Port("leaf-1", "2"), last)]
    assert one.bundle == other.bundle == "x:2"
    assert rows(LIST, "gpu-01|ib0|leaf-1|1")[0].bundle == ""


@pytest.mark.parametrize(
    "row",
    [
        "leaf-1|1,2|gpu-01,gpu-02|ib0,ib1",  # whose is which?
        "leaf-1|1,2|gpu-01,gpu-02|ib0",
        "leaf-1,leaf-2|1,1|gpu-01,gpu-02|ib0,ib0",  # two cables, or two others
        "leaf-1|1,2|leaf-1|3,4",
        "leaf-1|1,1|gpu-01|ib0,ib1",
    ],
)
def test_several_ports_of_which_nothing_says_what_may_be_joined_are_refused(row: str) -> None:
    text = said(LIST, "gpu-03|ib0|leaf-1|9", row)
    assert text.startswith("x:3: found '")
    assert text.endswith("NetBox's list does not say which are joined; write a row for each pair of ports")


@pytest.mark.parametrize(
    ("row", "far"),
    [
        ("leaf-1|1|gpu-01|ib0,ib1", [Port("gpu-01", "ib0"), Port("gpu-01", "ib1")]),
        ("gpu-01,gpu-02|ib0,ib0|leaf-1|1", [Port("gpu-01", "ib0"), Port("gpu-02", "ib0")]),
        (
            "leaf-1|1|gpu-02,gpu-02,gpu-01|ib0,ib1,ib0",  # each port beside its device
            [Port("gpu-01", "ib0"), Port("gpu-02", "ib0"), Port("gpu-02", "ib1")],
        ),
    ],
)
def test_a_breakout_of_the_list_is_a_link_for_each_far_end(row: str, far: list[Port]) -> None:
    found = cables_csv.parse(f"{LIST}\n{row}".replace(",", ", ").replace("|", "\t"), "x")
    assert [each.link for each in found] == [link(Port("leaf-1", "1"), port) for port in far]
    assert {each.breakout for each in found} == {"x:2"}


def test_a_port_of_a_breakout_takes_no_other_cable() -> None:
    rows_ = [LIST, "leaf-1|1|gpu-01|ib0, ib1", "leaf-1|1|gpu-02|ib0, ib1"]
    with pytest.raises(SourceError, match="leaf-1 1 is used twice, first in line 2"):
        cables_csv.parse("\n".join(rows_).replace("|", "\t"), "x")


def test_a_port_with_two_cables_in_netboxs_list_is_both_sides_of_a_patch_panel() -> None:
    """In NetBox a port takes one; in what people write, two cables at a port are a mistake."""
    rows_ = ["gpu-01|ib0|PP-1|1", "PP-1|1|leaf-1|1"]
    one, other = cables_csv.parse("\n".join([LIST, *rows_]).replace("|", ","), "x")
    assert one.panels == other.panels == ("PP-1",)
    assert {port for each in (one, other) for port in each.link if port.device == "PP-1"} == {
        Port("PP-1", "1"),
        Port("PP-1", "1 (other side)"),
    }
    with pytest.raises(SourceError, match="used twice"):
        cables_csv.parse("\n".join(["Device A,Port A,Device B,Port B", *rows_]).replace("|", ","), "x")
    with pytest.raises(SourceError, match="used twice"):
        cables_csv.parse("\n".join([LIST, *rows_, "gpu-02|ib0|PP-1|1"]).replace("|", ","), "x")


def test_a_cable_that_netboxs_list_has_twice_is_one_and_no_panel() -> None:
    (row,) = cables_csv.parse(f"{LIST}\ngpu-01|ib0|leaf-1|1\nleaf-1|1|gpu-01|ib0".replace("|", ","), "x")
    assert (row.link, row.panels) == (A, ())


def test_netboxs_types_of_ports_tell_the_sides_of_a_panel() -> None:
    titles = "side_a_device|side_a_type|side_a_name|side_b_device|side_b_type|side_b_name"
    one, other = rows(titles, "gpu-01|dcim.interface|ib0|PP-1|dcim.frontport|1", "PP-1|rearport|1|leaf-1|interface|1")
    assert one.link == link(Port("gpu-01", "ib0"), Port("PP-1", "1 (front)"))
    assert other.link == link(Port("PP-1", "1 (rear)"), Port("leaf-1", "1"))
    assert one.panels == other.panels == ("PP-1",)


@pytest.mark.parametrize("port", ["eth0", "Ethernet1/7", "enp24s0f1np1", "mgmt0", "BMC", "con 0"])
def test_ports_that_are_no_infinibands_are_told_from_netboxs_list_by_their_names(port: str) -> None:
    """It has every cable of a site; in another table a name is a name."""
    assert rows(LIST, f"gpu-01|{port}|sw-1|1")[0].ethernet
    assert rows(LIST, f"sw-1|1|gpu-01|{port}")[0].ethernet
    assert not rows("Device A|Port A|Device B|Port B", f"gpu-01|{port}|sw-1|1")[0].ethernet


@pytest.mark.parametrize("port", ["ib0", "mlx5_0", "1", "sw1p1", "swp7", "IB1/1", "P1", "HCA-1", "ibp24s0", "OSFP1"])
def test_other_ports_of_the_list_may_be_infinibands(port: str) -> None:
    assert not rows(LIST, f"gpu-01|{port}|sw-1|1")[0].ethernet


def test_a_comma_elsewhere_is_a_part_of_the_name_unless_it_lists_ports() -> None:
    (row,) = rows("Device A|Port A|Device B|Port B", "gpu-01|ib0|leaf-1|Port 1, upper")
    assert row.link.b.interface == "Port 1, upper"
    assert "found 1 of 'gpu-01 ib0' and 2 of 'leaf-1 1,2'" in said(
        "Device A|Port A|Device B|Port B", "gpu-01|ib0|leaf-1|1,2"
    )


@pytest.mark.parametrize("port", ["PSU1", "PSU 2", "Power Supply 1", "Console", "outlet 7", "inlet-a"])
def test_ports_of_power_and_consoles_make_no_links(port: str) -> None:
    titles = "Device A|Port A|Device B|Port B"
    assert [row.link for row in rows(titles, f"gpu-01|{port}|pdu-1|7", "gpu-01|ib0|leaf-1|1")] == [A]
    assert said(titles, f"pdu-1|7|gpu-01|{port}").startswith("x: all of its cables are of power or of consoles")


@pytest.mark.parametrize("end", ["|", "|1", "—|—"])
def test_cables_of_netboxs_list_that_end_at_no_device_make_no_links(end: str) -> None:
    """At a circuit, a power feed, or nowhere."""
    assert [row.link for row in rows(LIST, f"gpu-01|ib7|{end}", f"{end}|gpu-01|ib8", "gpu-01|ib0|leaf-1|1")] == [A]
    assert "a cable has two ends" in said("Device A|Port A|Device B|Port B", "gpu-01|ib7||")


@pytest.mark.parametrize("kind", ["dcim.consoleport", "powerport", "Power"])
def test_cables_of_power_and_consoles_are_no_links(kind: str) -> None:
    titles = "side_a_device|side_a_type|side_a_name|side_b_device|side_b_type|side_b_name"
    good = "gpu-01|dcim.interface|ib0|leaf-1|interface|1"
    assert [row.link for row in rows(titles, f"gpu-01|{kind}|c|ts-1||7", good)] == [A]
    assert said(titles, f"gpu-01|{kind}|c|ts-1||7") == (
        "x: all of its cables are of power or of consoles; is this the right file?"
    )


@pytest.mark.parametrize(
    ("device", "port"),
    [("{} Device", "{} Port"), ("{}-Device Name", "{}_Interface"), ("Host {}", "Port Name ({})"[:-4] + "{}")],
)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        *product(("Source", "Src"), ("Destination", "Dest", "dst", "Target")),
        ("A-Side", "B-Side"),
        ("A-Side", "Z-Side"),
        ("A End", "Z End"),
        ("A", "Z"),
        ("From", "To"),
        ("Local", "Remote"),
        ("Near", "Far"),
    ],
)
def test_ends_are_called_in_many_ways(one: str, other: str, device: str, port: str) -> None:
    titles = [form.format(end) for end in (one, other) for form in (device, port)]
    (row,) = rows("|".join(["Rack", *titles, "Note"]), "A03|gpu-01|ib0|leaf-1|1|new")
    assert row.link == A


def test_titles_of_each_end_may_use_another_word() -> None:
    (row,) = rows("Source Server|Source HCA|Destination Switch|Destination Port", "gpu-01|ib0|leaf-1|1")
    assert row.link == A


def test_titles_may_stand_below_what_the_sheet_is_called() -> None:
    """And a line is counted from the top."""
    (row,) = rows("Cabling of pod 1", "", "rev 3|by hand", "Source Device|Source Port|Dest Device|Dest Port",
                  "gpu-01|ib0|leaf-1|1")  # fmt: skip
    assert row == Row(5, A)


@pytest.mark.parametrize("cell", ["2026-01-07 00:00:00", "2026-01-07", "#REF!", "#N/A"])
def test_what_a_spreadsheet_spoilt_is_refused(cell: str) -> None:
    """A port 1/7 that became a date is no port of the design."""
    text = said("Device A|Port A|Device B|Port B", f"gpu-01|ib0|leaf-1|{cell}")
    assert text.startswith(
        f"x:2: found {cell}, expected a device or a port: a spreadsheet made this of what was typed"
    )


def test_only_titles_that_name_both_ends_with_rows_below_make_a_table_of_cables() -> None:
    titles, row = ["Device A", "Port A", "Device B", "Port B"], ["a", "1", "b", "2"]
    assert titled([(1, ["Pod 1"]), (4, titles), (5, row)])
    assert not titled([(1, titles)])
    assert not titled([(1, row), (2, row)])
    assert titled([(1, ["Device", "Port", "Device", "Port"]), (2, row)])
    assert not titled([(1, ["Device", "Port", "Slot", "Port"]), (2, row)])
    assert not titled([])


def test_rows_that_are_no_cable_are_left_out_and_told() -> None:
    """A heading between cables, a number without a cable, a sum, and titles that stand on each page."""
    titles, one, other = "Device A|Port A|Device B|Port B", "gpu-01|ib0|leaf-1|1", "gpu-02|ib0|leaf-1|2"
    lines = [titles, "Rail 1 of 8|||", one, titles, "|||", "--|:-:|-|-", other, "Total|2||"]
    sheet = read([(at, row.split("|")) for at, row in enumerate(lines, start=1)], "x")
    assert [row.line for row in sheet.rows] == [3, 7]
    assert sheet.skipped == ((2, "Rail 1 of 8"), (8, "Total, 2"))
    numbered = ["No|Device A|Port A|Device B|Port B", f"1|{one}", "2||||", f"3|{other}"]
    sheet = read([(at, row.split("|")) for at, row in enumerate(numbered, start=1)], "x")
    assert [row.line for row in sheet.rows] == [2, 4]
    assert sheet.skipped == ((3, "2"),)


def test_a_cable_that_was_begun_is_no_heading() -> None:
    """Nor is the last row, which may be cut."""
    titles, one = "Device A|Port A|Device B|Port B", "rack 1 gpu|ib0|leaf-1|1"
    assert "if the device above is meant, write it here too" in said(titles, one, "|ib1|leaf-2|1")
    assert "a cable has two ends" in said(titles, one, "rack 1 gpu|||", "gpu-02|ib0|leaf-1|2", "gpu-02|ib1|leaf-2|2")
    assert "a cable has two ends" in said(titles, one, "gpu-02|||", "gpu-02|ib0|leaf-1|2")
    assert "a cable has two ends" in said(titles, one, "rail 2 of 8|||")
