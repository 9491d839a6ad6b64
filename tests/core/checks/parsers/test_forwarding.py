"""What switches learned at their ports, in the form of each maker."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.forwarding import MOST_PORTS, OF_HOST, Learned, address, read
from tests.core.checks.catalogue.judging import cuts, text_of
from tests.examples import examples

TEXTS = {
    name: text_of(name)
    for name in (
        "eos/mac_table.json",
        "junos/switching_table.json",
        "nvue/bridge_fdb.json",
        "nxos/mac_table.json",
        "openconfig/get_mac_table.json",
        "os10/mac_table.txt",
        "sonic/mac.txt",
    )
}
FORMS = pytest.mark.parametrize("name", TEXTS)
ONE, OTHER = "02:00:00:00:02:01", "02:00:00:00:02:02"

PORTS = {
    "eos/mac_table.json": ("Ethernet1", "Ethernet2"),
    "junos/switching_table.json": ("et-0/0/1", "et-0/0/2"),
    "nvue/bridge_fdb.json": ("swp1", "swp2"),
    "nxos/mac_table.json": ("Ethernet1/1", "Ethernet1/2"),
    "openconfig/get_mac_table.json": ("Ethernet1", "Ethernet2"),
    "os10/mac_table.txt": ("ethernet1/1/1", "ethernet1/1/2:1"),
    "sonic/mac.txt": ("Ethernet0", "Ethernet4"),
}

CHANNELS = {"Port-Channel7", "PortChannel01", "port-channel10", "vxlan10"}

KEYS = [
    "unicastTable", "tableEntries", "entryType", "macAddress", "interface", "TABLE_mac_address", "ROW_mac_address",
    "disp_is_static", "disp_type", "disp_mac_addr", "disp_port", "l2ng-mac-entry", "l2ng-l2-mac-flags", "data", "mac",
    "entry", "state", "entry-type", "mac-address", "interface-ref", "updates", "val",
    "l2ng-l2-mac-logical-interface", "l2ng-l2-mac-address", "l2ng-l2ald-rtb-macdb", "ifname", "master", "flags",
]  # fmt: skip
JSON = st.recursive(
    st.none()
    | st.integers()
    | st.sampled_from([ONE, "dynamic", "DYNAMIC", "* ", "0", "D", "swp1", "br"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=25,
)


@FORMS
def test_what_was_learned_is_told_by_port_and_once(name: str) -> None:
    """A static entry, the switch's own, one of a tunnel and one of a vPC's peer are none."""
    one, other = PORTS[name]
    found = [row for row in read(TEXTS[name]) if row.interface not in CHANNELS]
    assert found == [Learned(one, ONE), Learned(other, OTHER)]


@FORMS
def test_a_table_that_was_cut_is_refused(name: str) -> None:
    """OS10's has no last line: of it, half a row is refused, and whole ones are believed."""
    for cut in cuts(TEXTS[name].strip()):
        if name.startswith("os10") and cut.endswith("\n") and "Interface" in cut:
            assert set(read(cut)) <= set(read(TEXTS[name]))
            continue
        with pytest.raises(EvidenceError):
            read(cut)


def test_an_empty_line_of_os10_is_no_row_and_one_of_other_columns_is_refused() -> None:
    assert read(TEXTS["os10/mac_table.txt"] + "\n") == read(TEXTS["os10/mac_table.txt"])
    with pytest.raises(EvidenceError, match=r"found '10 pv 20 .* expected VLAN, address, type, port"):
        read(TEXTS["os10/mac_table.txt"] + "10 pv 20 02:00:00:00:02:09 dynamic ethernet1/1/9\n")


def test_before_anything_was_learned_the_table_is_empty() -> None:
    for text in ("[]", "{}", '{"unicastTable": {"tableEntries": []}}', '{"l2ng-l2ald-rtb-macdb": [{}]}'):
        assert read(text) == ()


@pytest.mark.parametrize("text", ["", "% Invalid input", '{"lldpNeighbors": {}}', '"no table"', "[", "{}]"])
def test_something_else_is_refused(text: str) -> None:
    with pytest.raises(EvidenceError, match=r"expected|not whole|JSON"):
        read(text)


def test_of_a_port_no_more_is_kept_than_says_that_it_is_no_hosts() -> None:
    rows = [fdb("swp1", f"02:00:00:00:01:{n:02x}") for n in range(200)] + [fdb("swp2", ONE)]
    found = read(json.dumps(rows))
    assert [row.interface for row in found] == ["swp1"] * (OF_HOST + 1) + ["swp2"]


def test_a_switch_with_more_ports_than_there_are_is_refused() -> None:
    with pytest.raises(EvidenceError, match=f"expected {MOST_PORTS} at the most"):
        read(json.dumps([fdb(f"swp{n}", ONE) for n in range(MOST_PORTS + 1)]))
    assert read(json.dumps([fdb("x" * 4096, ONE)])) == ()


def fdb(port: str, mac: str) -> dict[str, Any]:
    return {"mac": mac, "ifname": port, "flags": [], "master": "br0", "state": ""}


def test_an_address_is_told_one_way_however_a_maker_writes_it() -> None:
    told = ["0200.0000.02AB", "02-00-00-00-02-ab", "020000-0002AB", "02:00:00:00:02:ab", "0200000002ab"]
    assert {address(each) for each in told} == {"02:00:00:00:02:ab"}
    assert {address(each) for each in ("", "01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff", "02:00:00:00:02", "x" * 17)} == {
        ""
    }


@settings(max_examples=examples(300))
@given(JSON)
def test_any_json_is_read_or_refused(root: Any) -> None:
    with suppress(EvidenceError):
        for row in read(json.dumps(root)):
            assert isinstance(row.interface, str)
            assert address(row.mac) == row.mac


@settings(max_examples=examples(100))
@given(st.text() | st.builds(str.__add__, st.sampled_from(sorted(TEXTS.values())), st.text()))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(EvidenceError):
        read(text)


def test_a_table_that_lost_rows_is_refused() -> None:
    lines = TEXTS["sonic/mac.txt"].split("\n")
    with pytest.raises(EvidenceError, match="found 3 rows, expected 4; was the table cut short"):
        read("\n".join([*lines[:3], *lines[4:]]))
