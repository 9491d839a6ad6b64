"""Cisco NX-OS: `show interface | json`, PFC and FEC as tables, symbol errors, and queues that the PFC watchdog shut.

PFC's "VL bmap" is hexadecimal, a bit for each priority. What a port does that is down says nothing of its settings.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.neighbours.heard import entries, get, holders
from fleet_runner.core.checks.parsers.port_states.port import (
    STORM_DROPS,
    STORMS,
    UNCORRECTED,
    SwitchPort,
    known,
    mbps,
    optional,
    whole,
)
from fleet_runner.core.inventory.roce import PRIORITIES

FEC = {"rs-fec": "rs", "rs-ieee": "rs", "rs-cons16": "rs", "fc-fec": "baser", "off": "none"}

_PFC = re.compile(
    r"[ \t]*Eth(?:ernet)?([0-9/]{1,12})[ \t]+(?:On|Off|Auto)[ \t]+(On|Off)[ \t]*(?:\(([0-9a-fA-F]{1,2})\))?"
    r"[ \t]+[0-9]{1,20}[ \t]+[0-9]{1,20}[ \t]*",
    re.ASCII,
)
_FEC = re.compile(
    r"[ \t]*Eth(?:ernet)?([0-9/]{1,12})[ \t]+0x[0-9a-f]{1,8}[ \t]+[\w-]{1,20}[ \t]+([\w-]{1,20})[ \t]+connected\b.*",
    re.ASCII,
)
_NAME = re.compile(r"Eth(?:ernet)?([0-9/]{1,12})(?: .*)?", re.ASCII | re.DOTALL)


def read(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read them; a release that does not know a command leaves open what it would tell."""
    rows = dict(_rows(json_object(said["interfaces"], "show interface"), "interface", "interface"))
    if not rows:
        raise EvidenceError("show interface | json names no port, expected them below 'TABLE_interface'")
    pfc, fec = _pfc(said.get("pfc", "")), _fec(said.get("fec", ""))
    symbols = _symbols(optional(said.get("errors"), "show interface counters errors"))
    storms, dropped = _watchdog(optional(said.get("watchdog"), "show queuing pfc-queue detail"))
    return {
        f"Ethernet{place}": SwitchPort(
            mbps=mbps(row.get("eth_speed")) if row.get("state") == "up" else None,
            mtu=whole(row.get("eth_mtu")),
            fec=fec.get(place, "") if row.get("state") == "up" else "",
            pfc=pfc.get(place) if row.get("state") == "up" else None,
            counts=known(
                {UNCORRECTED: symbols.get(place), STORMS: storms.get(place), STORM_DROPS: dropped.get(place)}
            ),
        )
        for place, row in rows.items()
    }


def _rows(root: object, table: str, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a table by the place of their port: "1/28"."""
    for holder in holders(root, f"TABLE_{table}"):
        for part in entries(get(holder, f"TABLE_{table}")):
            for row in entries(get(part, f"ROW_{table}")):
                named = row.get(key) if isinstance(row, dict) else None
                if isinstance(named, str) and (place := _NAME.fullmatch(named)):
                    yield place[1], row


def _pfc(text: str) -> dict[str, frozenset[int]]:
    """Return the priorities of ports; one that has PFC on, and does not say for which, is left out."""
    found: dict[str, frozenset[int]] = {}
    for line in text.split("\n")[:-1]:
        row = _PFC.fullmatch(line.rstrip("\r"))
        bits = int(row[3] or "0", 16) if row else 0
        if row and (bits or row[2] == "Off"):
            on = bits if row[2] == "On" else 0
            found[row[1]] = frozenset(each for each in range(PRIORITIES) if on >> each & 1)
    return found


def _fec(text: str) -> dict[str, str]:
    """Return what ports that are connected run."""
    rows = (_FEC.fullmatch(line.rstrip("\r")) for line in text.split("\n")[:-1])
    return {row[1]: FEC.get(row[2].lower(), "") for row in rows if row}


def _symbols(root: object) -> dict[str, int]:
    """Return symbol errors; a port has several rows, one for each table of a person's."""
    told = ((place, whole(row.get("eth_symbol_err"))) for place, row in _rows(root, "interface", "interface"))
    return {place: symbols for place, symbols in told if symbols is not None}


def _watchdog(root: object) -> tuple[Counter[str], Counter[str]]:
    """Return how often each port's queues were shut, and the packets that were dropped meanwhile."""
    storms, dropped = Counter[str](), Counter[str]()
    for place, row in _rows(root, "queuing_interface", "if_name_str"):
        told = [
            entry
            for holder in holders(row, "TABLE_qosgrp_stats_entry")
            for part in entries(get(holder, "TABLE_qosgrp_stats_entry"))
            for entry in entries(get(part, "ROW_qosgrp_stats_entry"))
            if isinstance(entry, dict)
        ]
        storms[place] += sum(whole(entry.get("q-shutdown")) or 0 for entry in told)
        for key in ("q-pkt-dropped", "q-ing-pkt-dropped"):
            dropped[place] += sum(whole(entry.get(key)) or 0 for entry in told)
    return storms, dropped
