"""Designed cables in each form of text."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.checks.parsers import cables_dot, cables_forms, cables_topo
from fleet_runner.core.checks.parsers.cables_sheet import Row, Sheet, whole
from tests.core.cabling.fabrics import rails
from tests.core.checks.catalogue.judging import text_of

A, B = link(Port("gpu-01", "ib0"), Port("leaf-1", "1")), link(Port("gpu-02", "ib0"), Port("leaf-1", "2"))
UP = link(Port("leaf-1", "3"), Port("spine-1", "1"))

DOT = text_of("cables/topology.dot")
TOPO = text_of("cables/fabric.topo")
MARKS = [
    "graph",
    "{",
    "}",
    "[",
    "]",
    '"',
    "--",
    "->",
    ":",
    "=",
    ";",
    "\\",
    "/*",
    "*/",
    "//",
    "#",
    "<",
    ">",
    "a",
    "P1",
]
PIECES = st.lists(st.sampled_from([*MARKS, "-4x-50G->", "\n", " ", "\t", "\x00", "subgraph"])).map("".join)


def said(text: str) -> str:
    """Why a text is refused."""
    with pytest.raises(SourceError) as caught:
        cables_forms.read(text, "design")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def links(text: str) -> list[object]:
    return [row.link for row in whole([cables_forms.read(text, "design")])]


@given(st.text() | PIECES | PIECES.map(lambda text: f"graph {{{text}}}"))
def test_any_text_is_read_or_refused(text: str) -> None:
    """By whoever it is told to be, and by each alone: nothing but SourceError."""
    for read in (cables_forms.read, cables_dot.read, cables_topo.read):
        with suppress(SourceError):
            sheet = read(text, "x")
            assert sheet.rows
            whole([sheet])


@given(st.integers(0, len(DOT)), st.integers(0, len(TOPO)))
def test_a_file_that_was_cut_is_refused_or_says_less(dot: int, topo: int) -> None:
    """Never another cable; a graph that does not end is refused."""
    with suppress(SourceError):
        assert set(links(DOT[:dot].rstrip())) <= set(links(DOT))
        assert dot >= DOT.rindex("}")
    with suppress(SourceError):
        found = cables_topo.read(TOPO[:topo].rpartition("\n")[0], "x")
        assert {row.link for row in found.rows} <= {A, B, UP}


def test_a_graph_is_read_edge_by_edge() -> None:
    """Attributes, comments, ports' sides and subgraphs are skipped; a role tells who is a server."""
    sheet = cables_forms.read(DOT, "topology.dot")
    assert sheet == Sheet(
        "topology.dot",
        (
            Row(
                8,
                link(Port("gpu-01", "eth0"), Port("tor-1", "swp1")),
                roles=(("gpu-01", "server"), ("tor-1", "leaf")),
            ),
            Row(9, link(Port("gpu-02", "eth0"), Port("tor-1", "swp2")), roles=(("tor-1", "leaf"),)),
            Row(12, link(Port("spine-1", "swp1"), Port("tor-1", "swp51")), roles=(("tor-1", "leaf"),)),
        ),
    )


@pytest.mark.parametrize(
    "text",
    [
        '"gpu-01":"ib0" -- "leaf-1":"1"\n',
        'graph { subgraph { "gpu-01":"ib0" -- "leaf-1":"1" } }',
        "gpu-01:ib0 -> leaf-1:1",
        "\ufeff// mine\nstrict digraph { gpu-01:ib0 -> leaf-1:1; }",
        'GRAPH{"gpu-01":"ib0"--"leaf-1":"1"[speed=400,];}',
        "graph g { a -> b; } gpu-01:ib0 -- leaf-1:1".replace("a -> b; ", "a; b; "),
    ],
)
def test_one_cable_is_read_in_every_shape_of_a_graph(text: str) -> None:
    assert links(text) == [A]


def test_a_chain_of_edges_is_read_edge_by_edge() -> None:
    sheet = cables_forms.read("a:1 -- b:1 -- c:1", "x")
    assert len(sheet.rows) == 2
    with pytest.raises(SourceError, match="b 1 is used twice"):
        whole([sheet])


def test_quotes_within_a_name_are_part_of_it() -> None:
    (row,) = cables_forms.read(r'"the \"a\"":"1" -- b:"2"', "x").rows
    assert row.link == link(Port('the "a"', "1"), Port("b", "2"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("graph {\n a:1 -- b\n}", "design:2: found 'b', expected an edge such as"),
        ("graph {\n a -- b:1\n}", "design:2: found 'a', expected an edge such as"),
        ("graph {\n a:1 -- {b c}\n}", "design:2: found '{', expected"),
        ("graph {\n a: -- b:1\n}", "design:2: found '--', expected"),
        ("graph {\n -- b:1\n}", "design:2: found '--', expected"),
        ("graph {\n a:1 -- b:2\n", "design:3: the graph does not end, expected }; was it cut short?"),
        ("graph {\n a:1 -- b:2 [label=", "design:2: found [ without its ]; was it cut short?"),
        ('graph {\n a:1 -- b:"2', "design:2: found a quote that never ends, expected"),
        ("graph {\n a:1 -- b:2 >\n}", "design:2: found '>', expected"),
        ("graph { a; b }", "design: it is a graph without a cable; expected"),
        ("graph {\n a:1 --", "design:2: found the end of the file, expected"),
    ],
)
def test_what_is_no_graph_of_cables_is_named_by_its_line(text: str, why: str) -> None:
    assert said(text).startswith(why)


def test_a_topology_file_is_read_line_by_line() -> None:
    """A cable that both its systems have is one; P7 is port 7, and an adapter's first port is the adapter."""
    sheet = cables_forms.read(TOPO, "fabric.topo")
    assert [row.line for row in sheet.rows] == [4, 5, 6, 9, 12]
    assert [row.link for row in whole([sheet])] == [A, B, UP]
    assert sheet.rows[0].roles == (("leaf-1", "switch"), ("gpu-01", "server"))


@pytest.mark.parametrize(
    ("line", "far"),
    [
        ("\tP3 -> MT23108 H-1 P2", Port("H-1", "2")),
        ("P3   -4x->   HCA_2   gpu-01   HCA-1/P2  ", Port("gpu-01", "HCA-1/2")),
        ("  P3 -12X-2.5G-> HCA_1 gpu-01 U1", Port("gpu-01", "U1")),
    ],
)
def test_cables_of_a_topology_may_tell_width_and_speed_or_not(line: str, far: Port) -> None:
    assert links(f"MTS2400 S-1\n{line}\n") == [link(Port("S-1", "3"), far)]


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("HCA_1", "server"),
        ("ConnectX7", "server"),
        ("MT4129", "server"),
        ("MT54000", "switch"),
        ("MQM9700", "switch"),
    ],
)
def test_the_type_of_a_system_says_whether_it_is_a_server(kind: str, role: str) -> None:
    (row,) = cables_forms.read(f"MQM9700 S-1\nP1 -> {kind} H-1 P1\n", "x").rows
    assert row.roles[1] == ("H-1", role)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# x\n   P1 -4x-50G-> HCA_1 gpu-01 P1\n", "design:2: found a cable before its system, expected a system's"),
        ("S leaf-1\n\n P1 -> HCA_1 gpu-01 P1\n", "design:3: found a cable before its system"),
        ("S leaf-1\n P1 -> HCA_1 gpu-01 P1\n P2 -> HCA_1 gpu-\n", "design:3: found 'P2 -> HCA_1 gpu-', expected"),
    ],
)
def test_what_is_no_topology_is_named_by_its_line(text: str, why: str) -> None:
    assert said(text).startswith(why)


def test_a_topology_without_a_cable_is_refused() -> None:
    with pytest.raises(SourceError, match="x: it is a topology without a cable"):
        cables_topo.read("S leaf-1\n", "x")


def test_a_design_of_many_cables_is_the_same_in_each_form() -> None:
    cables = rails(12, 8)
    table = "".join(f"{a.device},{a.interface},{b.device},{b.interface}\n" for a, b in cables)
    graph = "".join(f'"{a.device}":"{a.interface}" -- "{b.device}":"{b.interface}"\n' for a, b in cables)
    topology = "".join(f"S {a.device}\n {a.interface} -> S {b.device} P{b.interface}\n\n" for a, b in cables)
    for text in (table, graph, f"graph G {{\n{graph}}}\n", topology):
        assert links(text) == list(cables)


def test_the_last_name_of_a_topology_may_be_cut_where_its_line_has_no_end() -> None:
    text = "S leaf-1\n P1 -> S leaf-2 P1\n P2 -> S leaf-2 P12"
    assert [row.cut for row in cables_forms.read(text, "x").rows] == [False, True]
    assert [row.cut for row in cables_forms.read(f"{text}\n", "x").rows] == [False, False]


def test_a_port_of_a_topology_may_have_a_blank_in_its_name() -> None:
    text = "S dir-1\n   Blade 16_Port 2/20 -4x-50G-> HCA_1 gpu-01 P1\n   Port 7 -> S leaf-1 Port 1/7  \n"
    assert [row.link for row in cables_forms.read(text, "x").rows] == [
        link(Port("dir-1", "Blade 16_Port 2/20"), Port("gpu-01", "1")),
        link(Port("dir-1", "Port 7"), Port("leaf-1", "Port 1/7")),
    ]


def test_an_arrow_in_a_cell_of_a_table_makes_it_no_topology() -> None:
    text = "device a,port a,device b,port b,remark\na,1,leaf-1,1,moved from P2 -> S leaf-1 P1\n"
    assert [row.link for row in cables_forms.read(text, "x").rows] == [link(Port("a", "1"), Port("leaf-1", "1"))]
