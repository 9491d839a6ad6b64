"""Sections of a db_csv read by columns: the same as row by row, or not at all."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.checks.parsers import discovery, fabric_capture
from fleet_runner.core.checks.parsers.discovery import Discovery
from fleet_runner.core.checks.parsers.fabric_links import FabricLinks
from fleet_runner.core.checks.parsers.ibdiagnet import by_columns, parse
from tests.core.cabling.discoveries import plain
from tests.core.cabling.fabrics import Story, rails, stories
from tests.core.checks.healthy import text_of
from tests.examples import examples

EVIDENCE = text_of("ibdiagnet/db_csv.txt").replace('"rack:7"', "rack 7")

_NODES = ("NodeDesc", "NumPorts", "NodeType", "ClassVersion", "SystemImageGUID", "NodeGUID")
_PORTS = ("NodeGuid", "PortGuid", "PortNum", "LinkWidthActv", "LinkSpeedActv", "PortPhyState", "FECActv")
_LINKS = ("NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2", "Comment")

_TURNED = {"NodeGuid1": "NodeGuid2", "PortNum1": "PortNum2", "NodeGuid2": "NodeGuid1", "PortNum2": "PortNum1"}

_BESIDE = ("\n", "# a comment\n", 'START_PM_INFO\na,b\n1,"x, y"\nEND_PM_INFO\n')
"""What stands between the sections."""

PIECES = (
    "\n", " ", ",", '"', "\r", "0", "9", "x", "0x", "é", "N/A", "#", ",,", "START_PORTS\n", "END_PORTS\n",
    "END_LINKS\n", "START_OTHER\na,b\n", "\nEND_OTHER", "0x00000000000000aa", "CA 1", "\nCA 1 2", "\n[1]",
    '\n[1](aa) "S-00000000000000aa"[1]', "Switch: 0x1", "\n0x1 5 3[ ] ==(", '\n"leaf-1", NVIDIA, 0x1, LID 5\n',
    "source_guid,destination_guid", "Mellanox Technologies Aggregation Node",
)  # fmt: skip
"""What may stand in a capture where it does not belong: pieces of other forms, too."""


Row = dict[str, str]


def number(port: Port) -> str:
    """Return a port's number: a server has one adapter for each."""
    return "1" if port.device.startswith("gpu") else port.interface


def described(port: Port) -> str:
    """Return what a node says of itself."""
    return f"{port.device} {port.interface}" if port.device.startswith("gpu") else f"MF0;{port.device}:MQM9700/U1"


def guid(port: Port) -> str:
    """Return the GUID of an adapter, or of a switch."""
    return f"0x{sha256(described(port).encode()).hexdigest()[:16]}"


def section(name: str, titles: Sequence[str], rows: Iterable[Row]) -> str:
    """Write a section; what a row does not tell is 7."""
    told = "".join(",".join(row.get(title, "7") for title in titles) + "\n" for row in rows)
    return f"START_{name}\n{','.join(titles)}\n{told}END_{name}\n"


def node_rows(ports: Iterable[Port]) -> list[Row]:
    """Describe the nodes that have these ports."""
    told = {described(port): port for port in ports}
    kinds = {name: "1" if name.startswith("gpu") else "2" for name in told}
    return [{"NodeDesc": f'"{name}"', "NodeType": kinds[name], "NodeGUID": guid(port)} for name, port in told.items()]


def port_row(port: Port, width: str = "2", speed: str = "2048", state: str = "5") -> Row:
    """Describe a port."""
    rate = {"LinkWidthActv": width, "LinkSpeedActv": speed, "PortPhyState": state}
    return {"NodeGuid": guid(port), "PortGuid": guid(port), "PortNum": number(port), "FECActv": "N/A"} | rate


def link_rows(links: Iterable[Link]) -> list[Row]:
    """Tell each link once."""
    return [
        {"NodeGuid1": guid(a), "PortNum1": number(a), "NodeGuid2": guid(b), "PortNum2": number(b)} for a, b in links
    ]


def written(links: Iterable[Link]) -> str:
    """Write what the tool does."""
    told = tuple(links)
    ports = [port for each in told for port in each]
    return (
        section("NODES", _NODES, node_rows(ports))
        + section("PORTS", _PORTS, map(port_row, ports))
        + section("LINKS", _LINKS, link_rows(told))
    )


@st.composite
def captures(draw: st.DrawFn, *, odd: bool) -> str:
    """Draw a fabric as some version keeps it: in another order, with more sections, ports alone; and odd cells."""
    links = draw(st.permutations(draw(stories()).observed))
    alone = [Port("leaf-1", str(each)) for each in draw(st.sets(st.sampled_from((0, 70, 700))))]
    alone += [Port("leaf-1", "7000")] if odd else []
    ports = [*(port for each in links for port in each), *alone]
    widths = st.sampled_from(("1", "2", "3", "16", "N/A") if odd else ("1", "2", "3", "16"))
    speeds, states = st.sampled_from(("2048", "65536", "0", "5")), st.sampled_from(("5", "2", "55"))
    rows = [port_row(each, draw(widths), draw(speeds), draw(states)) for each in ports]
    for row in draw(st.lists(st.sampled_from(rows), max_size=2)) if odd else ():
        row["PortGuid"] = draw(st.sampled_from(("0xABCDEF0123456789", "0x00000000000000ab", "0xab", "N/A")))
    told = link_rows(links)
    told += [{_TURNED[title]: word for title, word in row.items()} for row in told[: int(odd)]]
    parts = [
        section("NODES", ["NodeDesc", *draw(st.permutations(_NODES[1:]))], node_rows(ports)),
        section("PORTS", ["NodeGuid", *draw(st.permutations(_PORTS[1:]))], rows),
        section("LINKS", ["NodeGuid1", *draw(st.permutations(_LINKS[1:]))], told),
        *draw(st.lists(st.sampled_from(_BESIDE), max_size=3)),
    ]
    return draw(st.sampled_from(("", "\n# ibdiagnet\n"))) + "".join(draw(st.permutations(parts)))


def by_row(text: str) -> Discovery | str:
    """Read row by row; the reason where it cannot be read."""
    try:
        return parse(text)
    except EvidenceError as error:
        return str(error)


@given(captures(odd=False))
def test_a_fabric_is_read_by_columns_as_it_is_by_row(text: str) -> None:
    found = by_columns(text)
    assert found is not None
    assert found[0] == by_row(text)


@given(captures(odd=True))
def test_a_fabric_with_odd_cells_is_read_as_by_row_or_left(text: str) -> None:
    found = by_columns(text)
    assert (found and found[0]) in {None, by_row(text)}


@given(stories())
def test_what_the_tool_itself_writes_is_read_by_columns(story: Story) -> None:
    text = written(story.observed)
    found = by_columns(text)
    assert found is not None
    assert isinstance(found[0].links, FabricLinks)
    assert found[0] == parse(text)
    assert found[1].count("\n") == len(("START", "titles", "END")) * 3


@settings(max_examples=4 * examples(100))
@given(
    st.sampled_from([EVIDENCE, written(rails(2, 2))]),
    st.integers(0, len(EVIDENCE)),
    st.sampled_from((0, 0, 1, 2, 20, 200)),
    st.sampled_from(("", *PIECES)),
)
def test_whatever_is_cut_out_of_a_capture_or_put_into_it_is_told_as_by_row(
    text: str, at: int, gone: int, put: str
) -> None:
    """By a reader that tries columns first, and by one that does not: the same links, or the same refusal."""
    bent = text[:at] + put + text[at + gone :]
    found = by_columns(bent)
    assert (found and found[0]) in {None, by_row(bent)}
    assert read(bent, 0) == read(bent, len(bent) + 1)


@pytest.mark.parametrize(
    "other", ["", plain(rails(2, 2)), 'CA 1 1 0x1 4x NDR "x"\n', "source_port,destination_port\n"]
)
def test_two_forms_in_one_are_refused_by_columns_too(other: str) -> None:
    for text in (written(rails(2, 2)) + other, other + written(rails(2, 2))):
        assert read(text, 0) == read(text, len(text) + 1)


def test_evidence_is_read_by_columns_as_by_row() -> None:
    for name in ("db_csv", "db_csv_planes"):
        text = text_of(f"ibdiagnet/{name}.txt").replace('"rack:7"', "rack 7")  # quotes within quotes are left
        found = by_columns(text)
        assert found is not None
        assert found[0] == by_row(text)


def read(text: str, large: int) -> Discovery | str:
    """Read any form; from so many characters on columns are tried first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discovery, "LARGE", large)
        try:
            return fabric_capture.read(text)
        except EvidenceError as error:
            return str(error)
