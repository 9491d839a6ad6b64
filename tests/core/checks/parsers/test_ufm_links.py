"""UFM's links, as JSON and as CSV."""

import csv
import io
import json
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.discovery import FabricPort
from fleet_runner.core.checks.parsers.fabric_capture import read
from fleet_runner.core.checks.parsers.ufm_links import parse, whole
from tests.core.checks.catalogue.judging import cuts, text_of
from tests.examples import examples

TEXT = text_of("ufm/links.json")
SHEET = text_of("ufm/links.csv")
FORMS = pytest.mark.parametrize("text", [TEXT, SHEET], ids=["JSON", "CSV"])

RECORD: dict[str, Any] = json.loads(TEXT)[0]


def said(text: str) -> str:
    """Why a text is refused."""
    with pytest.raises(EvidenceError) as caught:
        read(text)
    return str(caught.value)


def one(**changed: Any) -> list[FabricPort]:
    """Return both ends of a single link."""
    (found,) = parse(json.dumps([RECORD | changed])).links
    return [found.a, found.b]


@given(st.lists(st.dictionaries(st.sampled_from([*RECORD, "state"]), st.none() | st.integers() | st.text())))
def test_any_records_are_read_or_refused(records: list[dict[str, Any]]) -> None:
    with suppress(EvidenceError):
        assert parse(json.dumps([RECORD, *records])).links


@FORMS
@settings(max_examples=examples(200))
@given(data=st.data())
def test_any_bent_capture_is_read_or_refused(text: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 80)))
    bent = text[:begin] + data.draw(st.text(max_size=20) | st.sampled_from('",:;\n\t[]{}\x00\ud800')) + text[end:]
    for reader in (read, parse):
        with suppress(EvidenceError):
            assert reader(bent).links


@FORMS
def test_the_ends_are_those_that_ibnetdiscover_tells(text: str) -> None:
    """Of switches the names as the fabric's manager has them; it tells no speed here."""
    plain = {re.sub(r"MF0;([^:]*):.*", r"\1", end.name) for each in parse(text).links for end in each[:2]}
    told = read(text_of("ibnetdiscover/by_port.txt"))
    bare = [
        [end._replace(name=re.sub(r"MF0;([^:]*):.*", r"\1", end.name)) for end in each[:2]] for each in told.links
    ]
    assert {frozenset(each[:2]) for each in read(text).links} == {frozenset(each) for each in bare}
    assert plain == {end.name for each in bare for end in each}
    assert {each.width for each in whole(parse(text)).links} == {4, 2}


@FORMS
def test_what_happens_to_captures_on_their_way_changes_nothing(text: str) -> None:
    expected = read(text)
    for bent in (text.replace("\n", "\r\n"), f"\ufeff{text}", f"\n\n{text}\n\n"):
        assert len(read(bent).links) == len(expected.links)
    assert read(f"\ufeff{text}") == expected


def test_json_that_was_cut_is_refused() -> None:
    for cut in cuts(TEXT.rstrip()):
        with pytest.raises(EvidenceError):
            read(cut)


def test_a_table_that_was_cut_within_a_row_is_refused_where_that_would_make_another_link() -> None:
    """One that lost whole rows cannot be told from a whole one."""
    for cut in cuts(SHEET):
        with suppress(EvidenceError):
            assert {frozenset(each[:2]) for each in read(cut).links} <= {
                frozenset(each[:2]) for each in read(SHEET).links
            }


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("a0a0a0a0a0a0a0a1_1:fc6a1c0300e70000_7", "a0a0a0a0a0a0a0a1"),
        ("fc6a1c0300e70000_7:a0a0a0a0a0a0a0a1_1", "a0a0a0a0a0a0a0a1"),
        ("a0a0a0a0a0a0a0a1_2:fc6a1c0300e70000_9", "a088c20300ab0c10/HCA-2/1"),
        ("link of gpu-01", "a088c20300ab0c10/HCA-2/1"),
    ],
)
def test_an_adapters_guid_is_the_links_names_and_never_its_systems(name: str, own: str) -> None:
    """Several adapters of a server may share their system's."""
    ends = one(name=name, source_port_dname="HCA-2/1", destination_port="7")
    assert [end.guid for end in ends] == [own, "fc6a1c0300e70000"]
    told = parse(json.dumps([RECORD | {"name": name, "destination_port": "7"}]))
    assert told.identified == ("/" not in own)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("a0a0a0a0a0a0a0a1_1:fc6a1c0300e70000_1", "a0a0a0a0a0a0a0a1"),
        ("fc6a1c0300e70000_1:a0a0a0a0a0a0a0a1_1", "a0a0a0a0a0a0a0a1"),
        ("b1b1b1b1b1b1b1b1_1:a0a0a0a0a0a0a0a1_1", "a088c20300ab0c10/HCA-1/1"),
    ],
)
def test_where_both_ports_have_one_number_guids_say_which_is_which(name: str, own: str) -> None:
    assert one(name=name)[0].guid == own


def test_a_port_name_tells_its_guid_and_a_missing_guid_is_none() -> None:
    assert one(source_port_name="00aa00aa00aa00aa_1")[0].guid == "00aa00aa00aa00aa"
    assert one(name="", source_guid="", destination_guid="")[0].guid == ""


@pytest.mark.parametrize(
    ("described", "label", "name", "kind"),
    [
        ("leaf-1:7", "7", "leaf-1", "SW"),
        ("leaf-1:sw4p1", "sw4p1", "leaf-1", "SW"),
        ("leaf-1:A2/58", "58", "leaf-1", "SW"),
        ("core-1:L5/U1/3", "3", "core-1", "SW"),
        ("leaf-1", "7", "leaf-1", "SW"),
        ("MF0;leaf-1:MQM9700/U1", "1/4/1", "MF0;leaf-1:MQM9700/U1", "SW"),
        ("gpu-01 mlx5_3", "HCA-4/1", "gpu-01 mlx5_3", "CA"),
        ("gpu-01:ib3", "HCA-4/1", "gpu-01 ib3", "CA"),
        ("gpu-01", "ib3", "gpu-01", "CA"),
    ],
)
def test_a_switch_is_told_from_an_adapter_and_its_name_from_its_port(
    described: str, label: str, name: str, kind: str
) -> None:
    end = one(source_port_node_description=described, source_port="7", source_port_dname=label)[0]
    assert (end.name, end.kind, end.port) == (name, kind, 7)


def test_a_link_that_is_down_is_none() -> None:
    up = RECORD | {"destination_port": "9", "source_port_node_description": "gpu-09 mlx5_0", "name": ""}
    found = parse(json.dumps([RECORD | {"physical_state": "Down"}, up | {"state": "Active"}])).links
    assert [each.b.port for each in found] == [9]
    assert "hold no link at all" in said(json.dumps([RECORD | {"state": "Polling"}]))


def test_speeds_are_told_by_some_versions() -> None:
    assert parse(json.dumps([RECORD | {"speed": "ndr", "width": ""}])).links[0][2:] == (0, "NDR")


def test_a_link_that_is_told_from_both_ends_is_one() -> None:
    turned = {
        key.replace("source", "X").replace("destination", "source").replace("X", "destination"): value
        for key, value in RECORD.items()
    }
    assert len(parse(json.dumps([RECORD, turned])).links) == 1


def test_a_port_with_two_links_is_refused_with_both() -> None:
    other = RECORD | {"destination_port": "2", "name": RECORD["name"][:-1] + "2"}
    assert "'gpu-01 mlx5_0' port 1 is listed twice, joined to 'leaf-1' port 1 and to 'leaf-1' port 2" in said(
        json.dumps([RECORD, other])
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (json.dumps([RECORD, 5]), "link 2 is 5, expected an object"),
        (json.dumps([RECORD | {"source_port_node_description": None}]), "link 1 has an end with the description ''"),
        (json.dumps([RECORD | {"source_port": "x", "source_port_dname": []}]), "and the port 'x'"),
        (SHEET.splitlines()[0], "hold no link at all"),
        (SHEET + "a,b\n", "row 11: found 2 cells, expected 9; was it cut short?"),
        (SHEET + '"a', "the table cannot be read"),
    ],
)
def test_a_record_that_cannot_be_read_is_named(text: str, why: str) -> None:
    assert why in said(text)


def test_a_table_may_have_semicolons_and_words_for_titles() -> None:
    rows = list(csv.reader(io.StringIO(SHEET)))
    rows[0] = [title.replace("Source", "source_").replace("Destination", "Peer") for title in rows[0]]
    told = io.StringIO()
    csv.writer(told, delimiter=";", quoting=csv.QUOTE_ALL).writerows([*rows, []])
    assert read(told.getvalue().rstrip()).links == read(SHEET).links


def test_a_table_without_its_last_newline_is_refused_where_its_last_cell_may_be_cut() -> None:
    assert "the table ends within a row" in said(SHEET.rstrip())
    assert len(read(SHEET.replace(",Name\n", ",Remark\n").rstrip()).links) == len(read(SHEET).links)


@pytest.mark.parametrize(
    ("side", "other", "guid", "port", "name"),
    [
        ("Source ", "Destination ", "Node GUID", "Port Number", "Node Description"),
        ("Src ", "Dst ", "GUID", "Port", "System"),
        ("src_", "dest_", "system_guid", "port_num", "node_desc"),
        ("Local ", "Remote ", "Device GUID", "Port No.", "Device Name"),
        ("Source ", "Target ", "GUID", "Port Alias", "Host"),
    ],
)
def test_titles_that_mean_the_same_are_read_alike(side: str, other: str, guid: str, port: str, name: str) -> None:
    titles = [f"{end}{title}" for end in (side, other) for title in (guid, port, name)]
    head, _, rows = SHEET.partition("\n")
    assert head.count(",") == len((*titles, "Width", "Severity"))
    assert read(f"{','.join([*titles, 'Width', 'Severity', 'Name'])}\n{rows}").links == read(SHEET).links


def test_titles_of_which_nobody_can_tell_the_columns_are_said() -> None:
    why = said("Source Box,Source Port,Destination Box,Destination Port\na,1,b,2\n")
    assert why.startswith(
        "UFM's links row 1: found the titles 'Source Box, Source Port, Destination Box, Destination Port', expected"
        " one for its node at the end that is called Source (or src, local): Source and one of portnodedescription,"
    )
    assert "for its port at the end that is called Destination" in said(
        "Source Node,Source Port,Destination Node,Destination Socket\na,1,b,2\n"
    )
