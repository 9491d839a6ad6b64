"""`ibdiagnet2.db_csv`: what only it has."""

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from fleet_runner.core.checks.parsers.ibdiagnet import parse, whole
from tests.core.checks.catalogue.judging import text_of

TEXT = text_of("ibdiagnet/db_csv.txt")
LINKS = TEXT[TEXT.index("START_LINKS") : TEXT.index("END_LINKS")]


def said(text: str) -> str:
    """Why a text is refused."""
    with pytest.raises(EvidenceError) as caught:
        parse(text)
    return str(caught.value)


def line_of(row: str) -> int:
    """The line of the evidence that begins so."""
    return TEXT[: TEXT.index(f"\n{row}") + 1].count("\n") + 1


def test_a_port_is_known_by_its_own_guid_and_not_its_nodes() -> None:
    """An adapter's second port has a GUID of its own in PORTS; a switch's ports share the switch's."""
    text = TEXT.replace("0xa088c20300ab0c10,0xa088c20300ab0c10,1,0x0", "0xa088c20300ab0c10,0xa088c20300ab0c77,1,0x0")
    ends = {port for each in parse(text).links for port in each[:2] if port.name == "gpu-01 mlx5_0"}
    assert ends == {FabricPort("gpu-01 mlx5_0", 1, "CA", "a088c20300ab0c77")}


def test_columns_are_found_by_name() -> None:
    """Versions differ in their columns, their order and their case."""
    text = """\
START_LINKS
portnum2,NodeGUID2,Comment,NODEGUID1,PortNum1
1,0x2,"a, b",0x1,33
END_LINKS
START_NODES
NodeGUID,NodeDesc,NodeType
0x1,"MF0;leaf-1, row "7":MQM9700/U1",2
0x2,gpu-01 mlx5_0,1
END_NODES
START_PORTS
LinkSpeedActv,LinkWidthActv,PortNum,PortGuid,NodeGuid
256,1,33,0x1,0x1
END_PORTS
"""
    assert parse(text).links == (
        FabricLink(
            FabricPort('MF0;leaf-1, row "7":MQM9700/U1', 33, "SW", "1".rjust(16, "0")),
            FabricPort("gpu-01 mlx5_0", 1, "CA", "2".rjust(16, "0")),
            1,
            "FDR",
        ),
    )


def test_a_rate_that_is_not_told_is_none() -> None:
    text = TEXT.replace(",2048,", ",N/A,").replace(",0,0,2,19,19,", ",0,0,N/A,19,19,")
    assert {(each.width, each.speed) for each in parse(text).links} == {(0, ""), (2, "")}


def test_links_that_are_told_from_both_ends_are_one_each() -> None:
    """Older versions wrote both."""
    both = LINKS + "".join(
        ",".join((cells := row.split(","))[2:] + cells[:2]) + "\n" for row in LINKS.splitlines()[2:]
    )
    assert parse(TEXT.replace(LINKS, both)) == whole(parse(TEXT))


@pytest.mark.parametrize("name", ["NODES", "PORTS", "LINKS"])
def test_a_section_that_is_missing_or_cut_or_there_twice_is_named(name: str) -> None:
    at = line_of(f"START_{name}")
    assert f"found no section {name}" in said(TEXT.replace(f"START_{name}\n", "").replace(f"END_{name}\n", ""))
    assert f"line {at}: section {name} begins here and never ends" in said(TEXT.replace(f"END_{name}\n", ""))
    again = TEXT.count("\n") + at
    assert f"line {again}: section {name} begins again, after line {at}" in said(
        TEXT
        + TEXT.replace("_NODES", "_A")
        .replace("_PORTS", "_B")
        .replace("_LINKS", "_C")
        .replace({"NODES": "_A", "PORTS": "_B", "LINKS": "_C"}[name], f"_{name}")
    )


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("PortNum2\n", "Port\n", "section LINKS has no column portnum2"),
        (",0xfc6a1c0300e90000,1\n", ",0xfc6a1c0300e90000\n", "expected 4 cells"),
        (",33,0xfc6a1c0300e90000,1\n", ",33,spine-1,1\n", "found 'spine-1', expected a GUID"),
        (
            ",33,0xfc6a1c0300e90000,1\n",
            ",33,0xdead,1\n",
            "node 0x000000000000dead port 1, expected a node that stands in",
        ),
        (",33,0xfc6a1c0300e90000,1\n", ",33,0xfc6a1c0300e90000,x1\n", "port x1, expected a node"),
        (
            ",33,0xfc6a1c0300e90000,1\n",
            ",1,0xfc6a1c0300e90000,1\n",
            "'MF0;leaf-1:MQM9700/U1' port 1 has another cable in",
        ),
        (",33,0xfc6a1c0300e90000,2\n", ",33,0xfc6a1c0300e90000,1\n", "'spine-1' port 1 has another cable in line"),
    ],
    ids=["no column", "no cell", "no GUID", "no node", "no port", "first end twice", "second end twice"],
)
def test_a_link_that_cannot_be_read_is_named_by_its_line(old: str, new: str, why: str) -> None:
    text = TEXT.replace(LINKS, LINKS.replace(old, new))
    assert text != TEXT
    assert why in said(text)
    assert " line " in said(text)


def test_a_fabric_without_a_link_is_refused() -> None:
    assert "lists no link" in said(TEXT.replace(LINKS, "\n".join(LINKS.split("\n")[:2]) + "\n"))


def test_a_port_that_is_up_and_stands_in_no_link_is_unanswered() -> None:
    """A switch's port 0 is the switch itself; a port that is down has another physical state than 5."""
    row = next(line for line in TEXT.split("\n") if line.startswith("0xfc6a1c0300e70000,0xfc6a1c0300e70000,2,"))
    other = row.replace(",2,0x0", ",{},0x0", 1)
    more = "".join(
        f"{line}\n"
        for line in (
            other.format(7),
            other.format(8).replace(",2,5,4,", ",2,2,1,"),
            other.format(0),
            other.format("x"),
            other.format(9).replace("0xfc6a1c0300e70000", "0x00000000000000aa"),
        )
    )
    found = parse(TEXT.replace("END_PORTS", f"{more}END_PORTS"))
    assert found.unanswered == (FabricPort("MF0;leaf-1:MQM9700/U1", 7, "SW", "fc6a1c0300e70000"),)
    assert found.links == parse(TEXT).links
    assert parse(TEXT).unanswered == ()


def test_a_version_that_tells_no_physical_state_has_no_unanswered_port() -> None:
    cut = TEXT.replace("PortPhyState", "Other").replace("0xa088c20300ab0c10,1,0xfc6a1c0300e70000,1\n", "")
    assert parse(cut).unanswered == ()
    assert len(parse(cut.replace("Other", "PortPhyState")).unanswered) == 2


def test_a_column_without_a_title_is_passed_over() -> None:
    """A version may write one, for what it does not name."""
    text = TEXT.replace("START_NODES\nNodeDesc,", "START_NODES\nNodeDesc,,").replace('mlx5_0",1', 'mlx5_0",,1')
    nodes = text[: text.index("END_NODES")].replace('",1', '",,1').replace('",65', '",,65').replace('",129', '",,129')
    assert parse(nodes.replace(",,,", ",,") + text[text.index("END_NODES") :]).links == parse(TEXT).links


def test_a_version_that_tells_no_rates_is_read() -> None:
    """As opensm's smdb.dump, whose sections have fewer columns."""
    begin, end = TEXT.index("START_PORTS"), TEXT.index("END_PORTS")
    rows = [",".join(row.split(",")[:3]) for row in TEXT[begin:end].splitlines()[1:] if row]
    found = parse(TEXT[:begin] + "\n".join(["START_PORTS", *rows, ""]) + TEXT[end:]).links
    assert [each[:2] for each in found] == [each[:2] for each in parse(TEXT).links]
    assert {(each.width, each.speed) for each in found} == {(0, "")}
