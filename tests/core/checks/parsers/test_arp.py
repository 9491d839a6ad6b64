"""Who answers ARP at switches' routed ports, in the form of each maker."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.arp import read
from fleet_runner.core.checks.parsers.forwarding import OF_HOST, Learned, address
from tests.core.checks.catalogue.judging import cuts, text_of
from tests.examples import examples

PORTS = {
    "eos/arp.json": ("Ethernet1", "Ethernet2"),
    "iosxr/arp.txt": ("HundredGigE0/0/0/1", "HundredGigE0/0/0/2"),
    "junos/arp.json": ("et-0/0/1", "et-0/0/2:0"),
    "nvue/ip_neigh.json": ("swp1", "swp2s1"),
    "nxos/arp.json": ("Ethernet1/1", "Ethernet1/2"),
    "os10/arp.txt": ("ethernet1/1/1", "ethernet1/1/2:1"),
    "sonic/arp.txt": ("Ethernet0", "Ethernet4"),
}
TEXTS = {name: text_of(name) for name in PORTS}
FORMS = pytest.mark.parametrize("name", TEXTS)
WITHOUT_LAST_LINE = ("iosxr/arp.txt", "os10/arp.txt")
ONE, OTHER = "02:00:00:00:02:01", "02:00:00:00:02:02"

KEYS = [
    "ipV4Neighbors", "interface", "hwAddress", "ROW_adj", "intf-out", "mac", "arp-table-entry", "interface-name",
    "mac-address", "arp-table-entry-flags", "permanent", "data", "dev", "lladdr", "state", "TABLE_vrf",
]  # fmt: skip
JSON = st.recursive(
    st.none() | st.integers() | st.sampled_from([ONE, "swp1", "REACHABLE", "Ethernet1"]) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=25,
)


@FORMS
def test_who_answers_at_a_routed_port_is_told_by_port_and_once(name: str) -> None:
    """A port channel, an interface of a VLAN or the management, one that was set, and the switch's own are none."""
    one, other = PORTS[name]
    assert sorted(read(TEXTS[name])) == [Learned(one, ONE), Learned(other, OTHER)]


@FORMS
def test_a_table_that_was_cut_is_refused(name: str) -> None:
    """Two makers' have no last line: of these, half a row is refused, and whole ones are believed."""
    for cut in cuts(TEXTS[name].strip()):
        if name in WITHOUT_LAST_LINE and "Interface\n" in cut and cut.endswith("\n"):
            assert set(read(cut)) <= set(read(TEXTS[name]))
            continue
        if cut.strip():
            with pytest.raises(EvidenceError):
                read(cut)


def test_before_anybody_answered_the_table_is_empty() -> None:
    empty = [
        "[]",
        "{}",
        '{"vrfs": {"default": {"ipV4Neighbors": []}}}',
        '{"TABLE_vrf": {"ROW_vrf": {"cnt-total": "0"}}}',
    ]
    empty.append('{"arp-table-information": [{"arp-entry-count": [{"data": "0"}]}]}')
    empty += [TEXTS[name].split("Interface\n")[0] + "Interface\n" for name in WITHOUT_LAST_LINE]
    for text in empty:
        assert read(text) == ()


@pytest.mark.parametrize("text", ["", "% Invalid input", '{"lldpNeighbors": {}}', '"no table"', "[", "{}]"])
def test_something_else_is_refused(text: str) -> None:
    with pytest.raises(EvidenceError, match=r"expected|not whole|JSON"):
        read(text)


def test_a_table_that_lost_rows_is_refused() -> None:
    lines = TEXTS["sonic/arp.txt"].split("\n")
    with pytest.raises(EvidenceError, match="found 3 rows, expected 4; was the table cut short"):
        read("\n".join([*lines[:3], *lines[4:]]))


def test_a_port_with_a_whole_subnet_behind_it_is_seen_to_be_no_hosts() -> None:
    rows = [{"dev": "swp1", "lladdr": f"02:00:00:00:01:{n:02x}", "state": ["STALE"]} for n in range(200)]
    assert len(read(json.dumps(rows))) == OF_HOST + 1


@pytest.mark.parametrize(
    "name", ["vlan10", "Vlan10", "irb.10", "BVI10", "eth0", "mgmt0", "bond1", "lo", "Management1"]
)
def test_an_interface_that_is_no_port_of_the_front_does_not_count(name: str) -> None:
    assert read(json.dumps([{"dev": name, "lladdr": ONE, "state": ["REACHABLE"]}])) == ()


@settings(max_examples=examples(300))
@given(JSON)
def test_any_json_is_read_or_refused(root: Any) -> None:
    with suppress(EvidenceError):
        for row in read(json.dumps(root)):
            assert address(row.mac) == row.mac


@settings(max_examples=examples(100))
@given(st.text() | st.builds(str.__add__, st.sampled_from(sorted(TEXTS.values())), st.text()))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(EvidenceError):
        read(text)
