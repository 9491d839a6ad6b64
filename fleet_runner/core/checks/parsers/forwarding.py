"""Which addresses a switch learned at which of its ports: its forwarding table, in the form of each maker.

`show mac address-table | json` of Arista EOS and Cisco NX-OS, `show ethernet-switching table | display json` of
Juniper Junos, `show mac` of SONiC, `bridge -j fdb show` of Linux and Cumulus Linux, `show mac address-table` of Dell
OS10, and OpenConfig's `mac-table` over gNMI. Only what was learned from frames counts: static entries, the switch's
own and those of a tunnel say nothing of cables. Whole rows that OS10's table lost at its end nobody can tell: it has
no last line. A cut row is refused.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_value
from fleet_runner.core.checks.parsers.neighbours.heard import entries, get, holders, word

OF_HOST = 16
"""Addresses at a port of one host, at the most: its own, its BMC's and those of its containers."""

MOST_PORTS = 4096
"""Ports of one switch, lanes of breakouts and VLANs' own interfaces included."""

LONGEST = 80
"""Characters of a port's name."""

_ADDRESS = re.compile(r"(?:[0-9a-f]{2}[:.-]?){5}[0-9a-f]{2}", re.ASCII)
_GROUP = 1
"""The bit of an address's first byte that says that it is of a group, and no port's."""

_UNIT = re.compile(r"\.\d{1,5}$", re.ASCII)
_SONIC = re.compile(r"[ \t]*No\.[ \t]+Vlan[ \t]+MacAddress[ \t]+Port[ \t]+Type[ \t]*$", re.MULTILINE | re.ASCII)
_ROW = re.compile(r"[ \t]*\d{1,7}[ \t]+\S{1,20}[ \t]+(\S{17})[ \t]+(\S{1,80})[ \t]+(\S{1,20})[ \t]*$", re.ASCII)
_OS10 = re.compile(r"[ \t]*VlanId[ \t]+Mac Address[ \t]+Type[ \t]+Interface[ \t\r]*\n", re.ASCII)
_OS10_ROW = re.compile(r"[ \t]*\d{1,4}[ \t]+(\S{17})[ \t]+(\S{1,20})[ \t]+(\S{1,80})[ \t\r]*$", re.ASCII)
_TOTAL = re.compile(r"[ \t]*Total number of entries[ \t]+(\d{1,7})[ \t]*$", re.ASCII)


class Learned(NamedTuple):
    """An address that a switch learned at one of its ports, in lower case with colons."""

    interface: str
    mac: str


def read(text: str) -> tuple[Learned, ...]:
    """Return what a switch learned, of a port one address more than a host has at the most.

    EvidenceError for anything else, and for a switch with more ports than there are.
    """
    if title := _OS10.search(text):
        return bounded(_os10(text[title.end() :]))
    return bounded(_sonic(text) if _SONIC.search(text) else _of_json(text))


def _of_json(text: str) -> Iterator[Learned]:
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if start < 0:
        raise EvidenceError(f"found {text.strip()[:80]!r}, expected the MAC addresses that a switch learned")
    root = json_value(text[start:], "the table of MAC addresses")
    for key, rows in _FORMS.items():
        if found := list(holders(root, key)):
            return rows(found)
    if isinstance(root, list):
        return _linux(root)
    if not root or any(True for key in _EMPTY for _ in holders(root, key)):
        return iter(())
    raise EvidenceError("found other JSON, expected the MAC addresses that a switch learned")


def bounded(rows: Iterable[Learned]) -> tuple[Learned, ...]:
    """Return the rows by port, each address once, of a port one more than a host has at the most.

    EvidenceError for a switch with more ports than there are.
    """
    found: dict[str, dict[str, None]] = {}
    for interface, told in rows:
        mac = address(told)
        if mac and interface and len(interface) <= LONGEST:
            mine = found.setdefault(interface, {})
            if len(mine) <= OF_HOST:
                mine[mac] = None
    if len(found) > MOST_PORTS:
        raise EvidenceError(f"found addresses at {len(found)} ports, expected {MOST_PORTS} at the most")
    return tuple(Learned(interface, mac) for interface, mine in found.items() for mac in mine)


def address(told: str) -> str:
    """Return a port's address in lower case with colons; "" for one of a group, and for anything else."""
    if not _ADDRESS.fullmatch(told.lower()):
        return ""
    digits = re.sub("[^0-9a-f]", "", told.lower())
    return "" if int(digits[:2], 16) & _GROUP else ":".join(digits[at : at + 2] for at in range(0, 12, 2))


def _eos(found: list[dict[str, Any]]) -> Iterator[Learned]:
    for holder in found:
        for each in entries(get(holder, "unicastTable", "tableEntries")):
            if word(get(each, "entryType")).lower() == "dynamic":
                yield Learned(word(get(each, "interface")), word(get(each, "macAddress")))


def _nxos(found: list[dict[str, Any]]) -> Iterator[Learned]:
    """Of a static one the flag is "1" or "enabled"; "*" marks what is learned here and not at the vPC's peer."""
    rows = (each for holder in found for each in entries(get(holder, "TABLE_mac_address")))
    for each in (row for table in rows for row in entries(get(table, "ROW_mac_address"))):
        if word(get(each, "disp_is_static")) in {"0", "disabled"} and word(get(each, "disp_type")).startswith("*"):
            yield Learned(word(get(each, "disp_port")), word(get(each, "disp_mac_addr")))


def _junos(found: list[dict[str, Any]]) -> Iterator[Learned]:
    """D is dynamic, L learned here; R is learned by a tunnel's far end."""
    for each in (entry for holder in found for entry in entries(get(holder, "l2ng-mac-entry"))):
        flags = _data(each, "l2ng-l2-mac-flags").replace(" ", "")
        if "D" in flags and set(flags) <= set("DL,SE"):
            port = _UNIT.sub("", _data(each, "l2ng-l2-mac-logical-interface"))
            yield Learned(port, _data(each, "l2ng-l2-mac-address"))


def _data(value: Any, key: str) -> str:
    found = next(iter(entries(get(value, key))), None)
    return word(get(found, "data") if isinstance(found, dict) else found)


def _openconfig(found: list[dict[str, Any]]) -> Iterator[Learned]:
    """A tunnel's far end has an interface, too, that is no port of the design: VXLAN's."""
    for each in (entry for holder in found for entry in entries(get(holder, "entry"))):
        if word(get(each, "state", "entry-type")).rpartition(":")[2] == "DYNAMIC":
            port = word(get(each, "interface", "interface-ref", "state", "interface"))
            yield Learned(port, word(get(each, "state", "mac-address")) or word(get(each, "mac-address")))


_FORMS: dict[str, Callable[[list[dict[str, Any]]], Iterator[Learned]]] = {
    "unicastTable": _eos,
    "TABLE_mac_address": _nxos,
    "l2ng-mac-entry": _junos,
    "entry": _openconfig,
}


_EMPTY = ("l2ng-l2ald-rtb-macdb", "updates")
"""What stands around the rows of Junos, and of gNMI, also where nothing was learned."""


def _linux(rows: list[Any]) -> Iterator[Learned]:
    for each in rows:
        flags = get(each, "flags")
        own = word(get(each, "state")) in {"permanent", "static"} or get(each, "dst") is not None
        if not own and get(each, "master") is not None and (not isinstance(flags, list) or "self" not in flags):
            yield Learned(word(get(each, "ifname")), word(get(each, "mac")))


def _os10(text: str) -> Iterator[Learned]:
    for line in whole_lines(text, "show mac address-table"):
        if row := _OS10_ROW.match(line):
            if row[2].lower() == "dynamic":
                yield Learned(row[3], row[1])
        elif line.strip():
            raise EvidenceError(
                f"show mac address-table: found {line.strip()[:80]!r}, expected VLAN, address, type, port"
            )


def whole_lines(text: str, command: str) -> list[str]:
    """Return the lines of a table; EvidenceError where the last one has no end: it may be half a port's name."""
    if not text.endswith("\n") and text:
        raise EvidenceError(f"{command}: its last line has no end; was the table cut short?")
    return text.splitlines()


def _sonic(text: str) -> Iterator[Learned]:
    count = 0
    for line in text.split("\n"):
        if total := _TOTAL.match(line):
            if int(total[1]) != count:
                raise EvidenceError(f"show mac: found {count} rows, expected {total[1]}; was the table cut short?")
            return
        if row := _ROW.match(line):
            count += 1
            if row[3].lower() == "dynamic":
                yield Learned(row[2], row[1])
    raise EvidenceError("show mac has no line Total number of entries at its end; was it cut short?")
