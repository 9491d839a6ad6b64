"""One design in each of its forms, in several files, and of a part of the fabric: the same answer on one capture."""

import io
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import openpyxl
import pytest

from fleet_runner.core.cabling.links import Link, Port, link
from tests.cli.conftest import Said, Type
from tests.core.cabling.discoveries import by_port
from tests.core.cabling.fabrics import rails
from tests.core.cabling.plugging import at, swapped

WHOLE = rails(8, 4)
HOSTS, UP = WHOLE[:32], WHOLE[32:]
FAULTY = tuple(each for each in swapped(WHOLE, WHOLE[0], WHOLE[4]) if each not in {WHOLE[9], UP[0]})
STRANGER = link(Port("gpu-777", "ib0"), Port("leaf-1", "60"))


def cells(links: Iterable[Link]) -> list[list[str]]:
    return [[a.device, a.interface, b.device, b.interface] for a, b in links]


def table(titles: str, links: Iterable[Link], row: str = "{},{},{},{}") -> str:
    return "\n".join([*([titles] if titles else []), *(row.format(*each) for each in cells(links))]) + "\n"


def topology(links: Iterable[Link]) -> str:
    sections = ["# Topology file"]
    for a, b in links:
        (near, near_kind), (far, far_kind) = ((port, _kind(port)) for port in (b, a))
        sections.append(
            f"{near_kind} {near.device}\n   P{near.interface} -4x-100G-> {far_kind} {far.device} {_panel(far)}"
        )
    return "\n\n".join(sections) + "\n"


def _kind(port: Port) -> str:
    return "HCA_1" if port.device.startswith("gpu") else "MQM9700"


def _panel(port: Port) -> str:
    return f"{port.interface}/P1" if port.device.startswith("gpu") else f"P{port.interface}"


def graph(links: Iterable[Link]) -> str:
    edges = (f'  "{a.device}":"{a.interface}" -- "{b.device}":"{b.interface}"\n' for a, b in links)
    return f"graph G {{\n{''.join(edges)}}}\n"


def workbook(**sheets: Sequence[Sequence[object]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


SOURCE = ["Source Device", "Source Port", "Destination Device", "Destination Port"]

FORMS: dict[str, Callable[[Iterable[Link]], str | bytes]] = {
    "bare CSV": lambda links: table("", links),
    "NDT": lambda links: table("StartDevice,StartPort,EndDevice,EndPort,LinkType", links, "{},{},{},{},Data"),
    "NetBox's list": lambda links: table(
        "ID,Label,Termination A,Termination B,Device A,Device B,Status,Type",
        links,
        "7,,{1},{3},{0},{2},Connected,AOC",
    ),
    "an older NetBox's list": lambda links: table(
        "ID,Label,Side A,Termination A,Side B,Termination B,Status", links, "7,,{0},{1},{2},{3},Connected"
    ),
    "A-side and Z-side": lambda links: table(
        "A-Side Device;A-Side Port;Z-Side Device;Z-Side Port", links, "{};{};{};{}"
    ),
    "workbook": lambda links: workbook(Cables=[["Cabling, rev 3"], [], SOURCE, *cells(links)]),
    "workbook of two sheets": lambda links: workbook(
        Racks=[["Rack", "Height"], ["A03", 48]],
        Hosts=[SOURCE, *cells(each for each in links if each not in UP)],
        Spines=[SOURCE, *cells(each for each in links if each in UP)],
    ),
    "topology file": topology,
    "graph": graph,
}


@pytest.fixture
def checked(tmp_path: Path, typed: Type) -> Callable[..., Said]:
    """Compare designs, each in a file whose name tells nothing, with what is plugged."""

    def check(plugged: Iterable[Link], *designs: str | bytes, more: Sequence[str] = ()) -> Said:
        words = ["cabling", "check", "--observed", "fabric.txt"]
        (tmp_path / "fabric.txt").write_text(by_port(plugged), encoding="utf-8")
        for number, design in enumerate(designs, start=1):
            raw = design.encode() if isinstance(design, str) else design
            (tmp_path / f"design{number}").write_bytes(raw)
            words += ["--expected", f"design{number}"]
        return typed(*words, *more)

    return check


@pytest.mark.parametrize("form", FORMS)
def test_a_fabric_as_designed_is_so_in_each_form(checked: Callable[..., Said], form: str) -> None:
    said = checked(WHOLE, FORMS[form](WHOLE))
    assert (said.code, said.out) == (0, "40 of 40 designed links are there; no fault\n")


@pytest.mark.parametrize("form", FORMS)
def test_each_form_tells_the_same_faults(checked: Callable[..., Said], form: str) -> None:
    """A swap, a cable of a server and one of a spine that are gone, and a stranger."""
    told = checked((*FAULTY, STRANGER), FORMS["bare CSV"](WHOLE))
    assert told.code == 1
    assert "4 faults to put right: 1 unplanned, 2 missing, 1 swap" in " ".join(told.out.split())
    said = checked((*FAULTY, STRANGER), FORMS[form](WHOLE))
    assert (said.code, said.out) == (told.code, told.out)


@pytest.mark.parametrize("form", FORMS)
def test_hosts_and_spines_in_two_files_are_one_design(checked: Callable[..., Said], form: str) -> None:
    """Whichever forms they are in; a cable that both have is one."""
    told = checked(FAULTY, FORMS["bare CSV"](WHOLE))
    assert checked(FAULTY, FORMS[form](HOSTS), graph((*UP, HOSTS[0]))).out == told.out
    assert checked(FAULTY, table("", UP), FORMS[form](HOSTS)).out == told.out


def test_two_files_that_give_a_port_two_cables_are_named_with_their_rows(checked: Callable[..., Said]) -> None:
    other = link(Port("gpu-99", "ib0"), HOSTS[0].b)
    said = checked(WHOLE, table("", HOSTS), workbook(Pod=[SOURCE, *cells([UP[0], other])]))
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "error: design2, sheet Pod:3: leaf-1 1 is used twice, first in design1:1; expected one cable a port\n"
    )


def test_a_workbook_says_which_sheets_are_read_and_which_are_not(checked: Callable[..., Said]) -> None:
    sheets = {"Racks": [["Rack", "Height"], ["A03", 48]], "Notes": [], "IB": [SOURCE, *cells(WHOLE)], "New": [SOURCE]}
    said = checked(WHOLE, workbook(**sheets))
    assert said.code == 0
    assert " ".join(said.err.split()) == (
        "design1: read sheet IB; left out Racks (no cables), Notes (empty), New (no cables)."
    )
    said = checked(WHOLE, workbook(Hosts=[SOURCE, *cells(HOSTS)], Spines=[SOURCE, *cells(UP)]))
    assert said.err == "design1: read sheets Hosts, Spines.\n"
    book = openpyxl.load_workbook(
        io.BytesIO(workbook(IB=[SOURCE, *cells(WHOLE)], Old=[SOURCE, ["a", "1", "b", "2"]]))
    )
    book["Old"].sheet_state = "hidden"
    out = io.BytesIO()
    book.save(out)
    assert " ".join(checked(WHOLE, out.getvalue()).err.split()) == "design1: read sheet IB; left out Old (hidden)."


def test_a_merged_cell_of_a_workbook_is_said_by_each_of_its_rows(checked: Callable[..., Said]) -> None:
    """As in a table with a device beside all of its ports, with titles over titles."""
    titles = [["A-Side", "", "Z-Side", "", "Cable"], ["Device", "Port", "Device", "Port", "Type"]]
    rows = [[*each, "AOC"] for each in cells(WHOLE)]
    book = openpyxl.load_workbook(io.BytesIO(workbook(IB=[*titles, *rows])))
    sheet = book["IB"]
    for span in ("A1:B1", "C1:D1", "A3:A6", "A7:A10", "E3:E42"):
        sheet.merge_cells(span)  # of the cells that it covers nothing is kept
    out = io.BytesIO()
    book.save(out)
    said = checked(WHOLE, out.getvalue())
    assert (said.code, said.out) == (0, "40 of 40 designed links are there; no fault\n")


def test_rows_that_are_no_cable_are_named(checked: Callable[..., Said]) -> None:
    titles = "Source,Source Port,Destination,Destination Port\n"
    design = f"{titles}Hosts of rail 1,,,\n{table('', HOSTS)}{titles}{table('', UP)}Total,40,,\n"
    said = checked(WHOLE, design)
    assert (said.code, said.out) == (0, "40 of 40 designed links are there; no fault\n")
    assert said.err == "design1: line 2 is taken for no cable (Hosts of rail 1), and 1 more.\n"


def test_a_capture_is_no_design(checked: Callable[..., Said]) -> None:
    said = checked(WHOLE, by_port(WHOLE))
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: design1: it is what a tool saw of a fabric, expected its design; give it as")


def test_a_workbook_without_a_sheet_of_cables_is_refused(checked: Callable[..., Said]) -> None:
    said = checked(WHOLE, workbook(Racks=[["Rack", "Height"], ["A03", 48]]))
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(
        "error: design1: no sheet has a row of titles that names both ends of cables, and cables below it (left out:"
        " Racks (no cables)); expected titles such as Device A, Port A, Device B, Port B"
    )


def test_what_is_no_workbook_and_no_text_is_refused(checked: Callable[..., Said]) -> None:
    assert "it is a zip and no Excel workbook" in checked(WHOLE, b"PK\x03\x04 broken").err
    assert "has a password" in checked(WHOLE, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1").err


def test_a_design_is_read_from_a_pipe_and_a_file_that_is_not_there_is_named(
    checked: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(workbook(IB=[SOURCE, *cells(UP)]))))
    assert checked(WHOLE, table("", HOSTS), more=("--expected", "-")).code == 0
    said = checked(WHOLE, more=("--expected", "nowhere"))
    assert (said.code, said.err) == (2, "error: nowhere: No such file or directory; name a file that can be read\n")


def test_a_folder_of_site_files_is_a_design_by_itself(checked: Callable[..., Said], tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    said = checked(WHOLE, table("", HOSTS), more=("--expected", "site"))
    assert said.code == 2
    assert "site is a folder of site files, a whole design; give it as the only --expected" in " ".join(
        said.err.split()
    )


def test_a_design_in_files_needs_a_capture(tmp_path: Path, typed: Type) -> None:
    for name in ("hosts.csv", "spines.csv"):
        (tmp_path / name).write_text(table("", HOSTS), encoding="utf-8")
    said = typed("cabling", "check", "--expected", "hosts.csv", "--expected", "spines.csv")
    assert said.code == 2
    assert "--observed is missing: hosts.csv is a file" in " ".join(said.err.split())


def test_explain_and_diff_take_the_same_files(checked: Callable[..., Said], typed: Type, tmp_path: Path) -> None:
    checked(FAULTY, topology(HOSTS), graph(UP))
    (tmp_path / "before.txt").write_text(by_port(WHOLE), encoding="utf-8")
    files = ("--expected", "design1", "--expected", "design2")
    said = typed("cabling", "explain", "gpu-01", "--observed", "fabric.txt", *files)
    assert "Two cables have taken each other's ports." in said.words
    assert typed("cabling", "diff", "before.txt", "fabric.txt", *files).code == 1


def test_planned_cables_of_a_list_may_be_there_or_not(checked: Callable[..., Said]) -> None:
    titles, row = "Device A,Termination A,Device B,Termination B,Status", "{},{},{},{},Planned"
    later = table("", HOSTS[:1], row) + table("", HOSTS[1:2], row)
    design = table(titles, WHOLE[2:], "{},{},{},{},Connected") + later
    said = checked(WHOLE[1:], design)
    assert (said.code, said.out) == (0, "39 of 39 designed links are there; no fault\n")
    assert said.err == "1 planned cables are not in place yet\n"


def test_cables_of_twisted_pairs_are_not_looked_for_in_an_infiniband_fabric(checked: Callable[..., Said]) -> None:
    titles = "Device A,Termination A,Device B,Termination B,Type"
    copper = "gpu-01,eth0,tor-1,swp1,CAT6a\ngpu-02,eth0,tor-1,swp2,CAT6a\n"
    said = checked(WHOLE, table(titles, WHOLE, "{},{},{},{},AOC") + copper)
    assert (said.code, said.out) == (0, "40 of 40 designed links are there; no fault\n")


def pods(count: int) -> list[Link]:
    """Return other pods behind the same spines."""
    found: list[Link] = []
    for number in range(1, count + 1):
        for a, b in WHOLE:
            spine = b.device.startswith("spine")
            far = (
                Port(b.device, str(int(b.interface) + 10 * number))
                if spine
                else Port(f"{b.device}{number}", b.interface)
            )
            found.append(link(Port(f"{a.device}{number}", a.interface), far))
    return found


MORE = pods(9)
PARTS = {
    "the hosts' links": HOSTS,
    "one pod": WHOLE,
    "one rail": at(HOSTS, "leaf-1"),
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_fabric_is_compared_with_a_capture_of_forty_switches(
    checked: Callable[..., Said], part: str
) -> None:
    design = table("", PARTS[part])
    said = checked((*WHOLE, *MORE), design)
    assert said.code == 0
    assert said.out.endswith(f"{len(PARTS[part])} of {len(PARTS[part])} designed links are there; no fault\n")
    assert "links between devices that the design does not have are not judged." in " ".join(said.err.split())
    said = checked((*FAULTY, *MORE), design)
    assert said.code == 1
    assert "WARNING" not in said.out
    assert "Two cables are swapped: expected gpu-01 ib0 to leaf-1 1" in " ".join(said.out.split())


@pytest.mark.parametrize("part", PARTS)
def test_what_a_part_does_not_know_is_listed_by_device_and_not_unplugged(
    checked: Callable[..., Said], part: str
) -> None:
    said = checked((*WHOLE, *MORE, STRANGER), table("", PARTS[part]))
    words = " ".join(said.out.split())
    assert said.code == 0
    assert "Unplug" not in words
    assert "at the design's devices" in words
    assert "leaf-1 60 to gpu-777 ib0" in words
    found = json.loads(checked((*WHOLE, *MORE, STRANGER), table("", PARTS[part]), more=("--json",)).out)
    assert [["leaf-1", "60"], ["gpu-777", "ib0"]] in found["beside"]


def test_links_between_switches_are_counted_where_the_design_has_none(checked: Callable[..., Said]) -> None:
    said = checked((*WHOLE, STRANGER), table("", HOSTS))
    assert said.out == (
        "1 link at the design's devices is not in it, and not judged:\n  leaf-1 60 to gpu-777 ib0\n"
        "32 of 32 designed links are there; no fault\n"
    )
    assert said.err == "8 links between switches are not judged: the design has none.\n"


def test_a_stranger_of_a_whole_design_is_told_with_what_to_do(checked: Callable[..., Said]) -> None:
    said = checked((*WHOLE, STRANGER), table("", WHOLE))
    assert said.code == 1
    assert "The design does not know gpu-777" in said.out
    assert "Unplug the cable between gpu-777 port ib0 and leaf-1 port 60." in said.words


def test_several_ports_in_one_cell_may_be_joined_in_any_way(checked: Callable[..., Said]) -> None:
    """NetBox's list has them in no order; what is plugged elsewhere is told."""
    titles, rest = (
        "Device A,Termination A,Device B,Termination B",
        table("", [*HOSTS[1:4], *HOSTS[5:8], *HOSTS[12:], *UP]),
    )
    design = f'{titles}\n{rest}leaf-1,"2,1","gpu-01,gpu-02","ib0,ib0"\n"gpu-03",ib0,leaf-1,3\n'
    design += table("", HOSTS[9:12])
    for plugged in (WHOLE, swapped(WHOLE, HOSTS[0], HOSTS[4])):
        said = checked(plugged, design)
        assert (said.code, said.out) == (0, "40 of 40 designed links are there; no fault\n")
    said = checked(swapped(WHOLE, HOSTS[0], HOSTS[8]), design)
    assert said.code == 1
    assert "Two cables are swapped: expected gpu-01 ib0 to leaf-1 1, gpu-03 ib0 to leaf-1 3" in said.words
