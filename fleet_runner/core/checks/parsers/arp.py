"""Which addresses answer at which routed port of a switch: its ARP table, in the form of each maker.

`show arp vrf all | json` of Arista EOS, `show ip arp vrf all | json` of Cisco NX-OS, `show arp no-resolve | display
json` of Juniper Junos, `show arp` of SONiC, `show arp vrf all` of Cisco IOS XR, `show ip arp` of Dell OS10,
`ip -j neigh show` of Linux and Cumulus Linux.

A routed port has no row in the table of MAC addresses; who answers there is at the other end of its cable. Of an
interface of a VLAN, a tunnel, a port channel or the management, that is not so: only ports count, and only what
answered, not what a person or a routing protocol set.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.forwarding import Learned, bounded, whole_lines
from fleet_runner.core.checks.parsers.json_text import json_value
from fleet_runner.core.checks.parsers.neighbours.heard import entries, get, holders, word

_PORT = re.compile(
    r"((?:[a-z]{0,24}ethernet|[a-z]{1,24}gige|swp|et-|xe-|ge-)\d[\d/:]*(?:s\d{1,2})?)(?:\.\d{1,5})?",
    re.ASCII | re.IGNORECASE,
)
"""A port, without the number of its logical unit or VLAN: et-0/0/1.0, Ethernet1/1.100, swp1s0."""

_ALIVE = frozenset({"reachable", "stale", "delay", "probe"})
"""What Linux calls a neighbour that answered; a port that goes down forgets its own."""

_SONIC = re.compile(r"[ \t]*Address[ \t]+MacAddress[ \t]+Iface[ \t]+Vlan[ \t\r]*\n", re.ASCII)
_SONIC_ROW = re.compile(r"[ \t]*\S{1,40}[ \t]+([0-9a-fA-F:]{17})[ \t]+(\S{1,80})[ \t]+\S{1,20}[ \t\r]*$", re.ASCII)
_TOTAL = re.compile(r"[ \t]*Total number of entries[ \t]+(\d{1,7})[ \t\r]*$", re.ASCII)

_OS10 = re.compile(r"[ \t]*Address[ \t]+Hardware address[ \t]+Interface[ \t]+Egress Interface[ \t\r]*\n", re.ASCII)
_OS10_ROW = re.compile(r"[ \t]*\S{1,40}[ \t]+(\S{17})[ \t]+(\S{1,80})[ \t]+\S{1,80}[ \t\r]*$", re.ASCII)

_XR = re.compile(r"[ \t]*Address[ \t]+Age[ \t]+Hardware Addr[ \t]+State[ \t]+Type[ \t]+Interface[ \t\r]*\n", re.ASCII)
_XR_ROW = re.compile(
    r"[ \t]*\d\S{1,40}[ \t]+\S{1,20}[ \t]+(\S{14})[ \t]+Dynamic[ \t]+ARPA[ \t]+(\S{1,80})[ \t\r]*$", re.ASCII
)


def read(text: str) -> tuple[Learned, ...]:
    """Return the addresses at a switch's routed ports; EvidenceError for a text that is no ARP table, or was cut."""
    for title, rows in ((_SONIC, _sonic), (_OS10, _os10), (_XR, _xr)):
        if found := title.search(text):
            return bounded(_at_ports(rows(text[found.end() :])))
    return bounded(_at_ports(_of_json(text)))


def _at_ports(rows: Iterator[Learned]) -> Iterator[Learned]:
    for interface, mac in rows:
        if port := _PORT.fullmatch(interface):
            yield Learned(port[1], mac)


def _of_json(text: str) -> Iterator[Learned]:
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if start < 0:
        raise EvidenceError(f"found {text.strip()[:80]!r}, expected an ARP table")
    root = json_value(text[start:], "the ARP table")
    if isinstance(root, list):
        return _linux(root)
    for key, rows in _FORMS.items():
        if found := list(holders(root, key)):
            return rows(found)
    if not root or any(True for key in _EMPTY for _ in holders(root, key)):  # nobody answered yet
        return iter(())
    raise EvidenceError("found other JSON, expected an ARP table")


def _eos(found: list[dict[str, Any]]) -> Iterator[Learned]:
    """Of an interface of a VLAN it names the port beside it: "Vlan10, Ethernet1"; the MAC address table has that."""
    for each in (row for holder in found for row in entries(get(holder, "ipV4Neighbors"))):
        yield Learned(word(get(each, "interface")), word(get(each, "hwAddress")))


def _nxos(found: list[dict[str, Any]]) -> Iterator[Learned]:
    for each in (row for holder in found for row in entries(get(holder, "ROW_adj"))):
        yield Learned(word(get(each, "intf-out")), word(get(each, "mac")))


def _junos(found: list[dict[str, Any]]) -> Iterator[Learned]:
    for each in (row for holder in found for row in entries(get(holder, "arp-table-entry"))):
        flags = next(iter(entries(get(each, "arp-table-entry-flags"))), None)
        if not isinstance(flags, dict) or "permanent" not in flags:
            yield Learned(_data(each, "interface-name"), _data(each, "mac-address"))


def _data(value: Any, key: str) -> str:
    found = next(iter(entries(get(value, key))), None)
    return word(get(found, "data") if isinstance(found, dict) else found)


_FORMS: dict[str, Callable[[list[dict[str, Any]]], Iterator[Learned]]] = {
    "ipV4Neighbors": _eos,
    "ROW_adj": _nxos,
    "arp-table-entry": _junos,
}

_EMPTY = ("TABLE_vrf", "arp-table-information")
"""What NX-OS and Junos still print when the table has no row."""


def _linux(rows: list[Any]) -> Iterator[Learned]:
    for each in rows:
        states = {word(state).lower() for state in entries(get(each, "state"))}
        if isinstance(each, dict) and states & _ALIVE and "extern_learn" not in each:
            yield Learned(word(get(each, "dev")), word(get(each, "lladdr")))


def _sonic(text: str) -> Iterator[Learned]:
    count = 0
    for line in text.split("\n"):
        if total := _TOTAL.match(line):
            if int(total[1]) != count:
                raise EvidenceError(f"show arp: found {count} rows, expected {total[1]}; was the table cut short?")
            return
        if row := _SONIC_ROW.match(line):
            count += 1
            yield Learned(row[2], row[1])
    raise EvidenceError("show arp has no line Total number of entries at its end; was it cut short?")


def _os10(text: str) -> Iterator[Learned]:
    for line in whole_lines(text, "show ip arp"):
        if row := _OS10_ROW.match(line):
            yield Learned(row[2], row[1])


def _xr(text: str) -> Iterator[Learned]:
    """Each line card has a table of its own, with its titles; what it answers for itself is no Dynamic row."""
    for line in whole_lines(text, "show arp"):
        if row := _XR_ROW.match(line):
            yield Learned(row[2], row[1])
