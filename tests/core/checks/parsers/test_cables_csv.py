"""Designed cables as people keep them."""

import csv
import io
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.checks.parsers.cables_csv import parse
from fleet_runner.core.checks.parsers.cables_sheet import Row
from tests.core.cabling.fabrics import rails

A, B = Port("gpu-01", "mlx5_0"), Port("leaf-1", "1")
CABLE = link(A, B)

WORDS = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters=",;[]{}.\u2026\u2013\u2014-"),
    min_size=1,
    max_size=8,
).map(lambda word: f"x0{word}")
"""Names without the marks of lists and ranges."""


def said(text: str) -> str:
    """Why a text is refused."""
    with pytest.raises(SourceError) as caught:
        parse(text, "cables.csv")
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(
    st.text() | st.lists(st.sampled_from([",", '"', "\n", "\r", "a", "device", "\x00", "\ufeff", " "])).map("".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but SourceError, and that names the file."""
    with suppress(SourceError):
        assert parse(text, "cables.csv")


@given(st.lists(WORDS, min_size=4, max_size=40, unique=True), st.booleans())
def test_what_a_csv_writer_wrote_is_read_back(words: list[str], header: bool) -> None:
    """Whatever the names hold, quotes too."""
    cables = [words[at : at + 4] for at in range(0, len(words) - 3, 4)]
    out = io.StringIO()
    csv.writer(out).writerows([["device", "port", "device", "port"], *cables] if header else cables)
    expected = [link(Port(a, ai), Port(b, bi)) for a, ai, b, bi in cables]
    assert [row.link for row in parse(out.getvalue(), "x")] == expected


@pytest.mark.parametrize(
    "text",
    [
        "gpu-01,mlx5_0,leaf-1,1",
        "leaf-1 , 1 , gpu-01 , mlx5_0\r\n",
        "\ufeffgpu-01,mlx5_0,leaf-1,1\n",
        "# by hand\n\n,,,\n\ngpu-01,mlx5_0,leaf-1,1,a note\n",
        "Device,Port,Device,Port\ngpu-01,mlx5_0,leaf-1,1\n",
        "Device,Port,Device B,Port B\ngpu-01,mlx5_0,leaf-1,1\n",
        "\ufeffdevice_a,port_a,device_b,port_b\r\ngpu-01,mlx5_0,leaf-1,1\r\n",
        "label,B Device,B Port,A Device,A Port\n7,leaf-1,1,gpu-01,mlx5_0\n",
        "StartDevice,StartPort,EndDevice,EndPort,LinkType\ngpu-01,mlx5_0,leaf-1,1,Data\n",
        '"gpu-01","mlx5_0","leaf-1","1"\n',
        "#StartDevice,StartPort,EndDevice,EndPort,LinkType\ngpu-01,gpu-01 mlx5_0,leaf-1,1, Data\n",
        "# made by hand\n#EndPort,LinkType,StartDevice,EndDevice,StartPort\n1,data,gpu-01,leaf-1,mlx5_0\n",
        (
            "rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,EndDeviceLocation,"
            "U height_1,LinkType,Speed,_2,Cable Length,State,Domain\n"
            "7,12,gpu-01,mlx5_0,R7,leaf-1,1,R8,40,,,,3m,Active,In-Scope\n"
        ),
        "Start Device,Start Port,End Device,End Port\n# out of order\ngpu-01,mlx5_0,leaf-1,1\n",
        (
            "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name\n"
            "gpu-01,dcim.interface,mlx5_0,leaf-1,dcim.interface,1\n"
        ),
        "node a,interface a,switch b,port b\ngpu-01,mlx5_0,leaf-1,1\n",
        "gpu-01,mlx5_0,leaf-1,1\nleaf-1,1,gpu-01,mlx5_0\n",
    ],
)
def test_one_cable_is_read_in_every_shape(text: str) -> None:
    """With or without a header, NVIDIA's among them; with a byte order mark; told from both ends."""
    assert [row.link for row in parse(text, "x")] == [CABLE]


@pytest.mark.parametrize("mark", [";", "\t"])
@pytest.mark.parametrize("header", ["", "# by hand, in 2026, at night\n", "Device,Port,Device,Port\n"])
def test_cells_stand_between_semicolons_and_tabs_as_well(mark: str, header: str) -> None:
    """As spreadsheets in many countries write them."""
    head = header if header.startswith("#") else header.replace(",", mark)
    (row,) = parse(head + mark.join(("gpu-01", "mlx5_0", "leaf-1", "1", "a, note")), "x")
    assert row.link == CABLE


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_line_above_the_titles_does_not_say_what_stands_between_cells(mark: str) -> None:
    text = "\n".join(
        ["Cabling, pod 1", "", *map(mark.join, [("Device A", "Port A", "Device B", "Port B"), (*A, *B)]), ""]
    )
    (row,) = parse(text, "x")
    assert row == Row(4, CABLE)


def test_text_in_an_encoding_that_was_not_recognised_is_refused() -> None:
    utf16 = "gpu-01,mlx5_0,leaf-1,1\n".encode("utf-16-le").decode("utf-8", errors="replace")
    assert "it holds NUL characters; expected UTF-8, or UTF-16 with" in said(utf16)


@pytest.mark.parametrize(
    "header",
    [
        "a_rack,device,port,b_rack,device_b,port_b",
        "server,nic,switch,swport",
        "near host,near jack,far host,far jack",
        "rack,host,interface,,switch,swport",
        "Kilde,Stikkontakt,Maal,Stik",
    ],
)
def test_a_header_that_is_not_understood_is_named_and_not_read_by_position(header: str) -> None:
    """Racks would become devices, and every cable of the fabric another one."""
    text = said(f"# mine\n{header}\nR1,gpu-01,mlx5_0,R2,leaf-1,1\nR1,gpu-02,mlx5_0,R2,leaf-1,2\n")
    assert text == (
        f"cables.csv:2: found the column names {header!r}, expected four that name a device and a port at both ends,"
        " such as Source Device, Source Port, Destination Device, Destination Port, or Device A, Port A, Device B,"
        " Port B; rename the columns"
    )


@pytest.mark.parametrize(
    "first", ["the host,port,a switch,b", "host-a,eth,switch-b,seven", "host1,port1,switch,port"]
)
def test_names_of_devices_that_hold_such_words_are_names(first: str) -> None:
    """What occurs again below is a name, as is what is counted."""
    found = parse(f"{first}\ngpu-01,mlx5_0,{first.split(',')[2]},9\n", "x")
    assert len(found) == 2


def test_adapters_that_are_written_as_devices_are_interfaces_of_their_node() -> None:
    """Of one node several, or one that is called as adapters are; with its second port; in whichever column."""
    found = parse(
        "a_device,a_port,b_device,b_port,a_role\n"
        "gpu-01 nic1,1,leaf-1,1,gpu-server\n"
        "gpu-01 nic2,1,leaf-2,1,gpu-server\n"
        "leaf-1,2,gpu-02 HCA-1,2,leaf\n"
        "leaf-2,9,gpu-03 HCA-1,gpu-03 HCA-1 1,\n",
        "x",
    )
    assert [row.link for row in found] == [
        link(Port("gpu-01", "nic1"), Port("leaf-1", "1")),
        link(Port("gpu-01", "nic2"), Port("leaf-2", "1")),
        link(Port("gpu-02", "HCA-1/2"), Port("leaf-1", "2")),
        link(Port("gpu-03", "HCA-1"), Port("leaf-2", "9")),
    ]
    assert found[0].roles == (("gpu-01", "gpu-server"),)


@pytest.mark.parametrize("row", ["sw A1,1,sw A2,3", "rack 1,1,rack 2,1", "gpu pod1,ib0,leaf-1,1"])
def test_other_devices_with_a_blank_in_their_names_stay_devices(row: str) -> None:
    a, _, b, _ = row.split(",")
    (found,) = parse(row.replace("A1,1", "A1,3"), "x")
    assert {port.device for port in found.link} == {a, b}


def test_a_row_says_the_roles_of_its_devices_where_columns_have_them() -> None:
    for titles in ("a_role,a_device,a_port,b_device,b_port,b_role", "Role A,device_a,port_a,device_b,port_b,Role B"):
        (row,) = parse(f"{titles}\ngpu-server,gpu-01,mlx5_0,leaf-1,1,ib-leaf\n", "x")
        assert row.roles == (("gpu-01", "gpu-server"), ("leaf-1", "ib-leaf"))


def test_names_that_look_like_titles_are_names() -> None:
    """A first cable that was taken for a header would be missing from the design."""
    (row,) = parse("node1,port1,switch1,port1\n", "x")
    assert row.link == link(Port("node1", "port1"), Port("switch1", "port1"))


def test_a_row_knows_its_line() -> None:
    assert parse("# one\n\ngpu-01,mlx5_0,leaf-1,1\n", "x") == (Row(3, CABLE),)


def test_only_links_of_the_type_data_are_cables_of_the_fabric() -> None:
    """NDT files hold consoles and management too."""
    header = "#StartDevice,StartPort,EndDevice,EndPort,LinkType\n"
    console = "leaf-1,console,ts-1,7,Console\n"
    (row,) = parse(f"{header}{console}gpu-01,mlx5_0,leaf-1,1,Data\n", "x")
    assert row == Row(3, CABLE)
    assert said(header + console).startswith("cables.csv: no cable's LinkType is Data")


def test_a_row_says_what_its_cable_shares_with_others() -> None:
    """Trunks, panels, cages and bundles, each in a column of its own; an empty cell is none."""
    header = "Panel A,device,port,device,port,Trunk,panel_b,cage\n"
    (bare,) = parse("device,port,device,port,trunk,Cage\ngpu-01,mlx5_0,leaf-1,1,T-12,\n", "x")
    assert bare.carriers == ("trunk T-12",)
    named = header.replace("device,port,device,port", "a_device,a_port,b_device,b_port")
    (row,) = parse(f"{named}PP-A3,gpu-01,mlx5_0,leaf-1,1,T-12,PP-B1,leaf-1 cage 1\n", "x")
    assert row.carriers == ("panel PP-A3", "trunk T-12", "panel PP-B1", "cage leaf-1 cage 1")


def test_a_design_of_many_cables_is_read_in_its_order() -> None:
    cables = rails(12, 8)
    text = "".join(f"{a.device},{a.interface},{b.device},{b.interface}\n" for a, b in cables)
    assert tuple(row.link for row in parse(text, "x")) == cables


@pytest.mark.parametrize("text", ["", "\ufeff", "\n\n", "# nothing\n", " , ,\n"])
def test_an_empty_file_is_refused(text: str) -> None:
    assert said(text) == "cables.csv: it is empty; expected lines of device, port, device, port"


def test_a_file_of_nothing_but_a_header_is_refused() -> None:
    """A design without a cable would make every fabric right."""
    assert said("device,port,device,port\n").startswith("cables.csv: it has a header and no cable")


@pytest.mark.parametrize("row", ["gpu-01,mlx5_0", "gpu-01,mlx5_0,leaf-1", "gpu-01,mlx5_0,,1", "gpu-01"])
def test_a_cable_with_one_end_is_named_by_its_line(row: str) -> None:
    assert said(f"a,1,b,1\n{row}\n").startswith(f"cables.csv:2: found {row!r}, expected device, port, device, port")


@pytest.mark.parametrize("row", ["gpu-01,mlx5_0,leaf-2,1", "leaf-3,7,leaf-1,1"])
def test_a_port_that_two_cables_use_is_named_with_both_lines(row: str) -> None:
    text = said(f"gpu-01,mlx5_0,leaf-1,1\na,1,b,1\n{row}\n")
    assert text.startswith("cables.csv:3: ")
    assert "is used twice, first in line 1; expected one cable a port" in text


def test_a_cable_from_a_port_to_itself_is_refused() -> None:
    assert "cables.csv:1: leaf-1 1 is used twice" in said("leaf-1,1,leaf-1,1\n")


def test_a_quote_that_never_ends_is_named_by_its_line() -> None:
    assert said('a,1,b,1\n"c,1,d,1\n').startswith("cables.csv:2: ")
    assert "expected comma-separated values" in said('"a"b,1,c,1\n')


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("a,1,leaf-1,1\nb,1,leaf-1,12", [False, True]),
        ("a,1,leaf-1,1\nb,1,leaf-1,12\n", [False, False]),
        ("a,1,leaf-1,1\nb,1,leaf-1,12\r", [False, False]),
        ('a,1,leaf-1,1\nb,1,leaf-1,"12"', [False, False]),
        ("a,1,leaf-1,1\nb,1,leaf-1,12,", [False, False]),
        ("a,1,leaf-1,1\nb,1,leaf-1,12,red", [False, False]),
        ("LinkType,device a,port a,device b,port b\nData,b,1,leaf-1,12", [True]),
        ("a\t1\tleaf-1\t1\nb\t1\tleaf-1\tb ib0", [False, True]),
        ("b,1,leaf-1,12\nb,1,leaf-1,12", [False]),
        ("a,1,leaf-1,swp1\nb,1,leaf-1,swp2\nc,1,leaf-1,swp3", [False, False, False]),
        ("a,1,leaf-1,swp1\nb,1,leaf-1,swp2\nc,1,leaf-1,swp4", [False, False, True]),
        ("a,1,leaf-1,swp1\nb,1,leaf-1,eth2\nc,1,leaf-1,swp3", [False, False, True]),
        ("a,1,leaf-1,swp1\nb,1,leaf-1,swp2\nc,1,leaf-1,swp", [False, False, True]),
    ],
)
def test_the_last_name_of_a_text_may_be_cut_where_its_line_has_no_end(text: str, cut: list[bool]) -> None:
    assert [row.cut for row in parse(text, "x.csv")] == cut


def test_a_port_that_is_used_twice_for_its_name_may_be_cut_says_so() -> None:
    assert said("a,1,leaf-1,1\nb,1,leaf-1,1").endswith("without the end of its line: was it cut short?")
    assert said("a,1,leaf-1,1\nb,1,leaf-1,1\n").endswith("expected one cable a port")
