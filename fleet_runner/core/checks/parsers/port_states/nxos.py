"""Cisco NX-OS: `show interface | json`, PFC as a table, and queues that the PFC watchdog shut.

PFC's "VL bmap" is hexadecimal, a bit for each priority; in mode "Auto" DCBX decides. What a port does that is down
says nothing of its settings.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.neighbours.heard import entries, get, holders
from fleet_runner.core.checks.parsers.port_states.port import (
    STORM_DROPS,
    STORMS,
    SwitchPort,
    known,
    mbps,
    optional,
    whole,
)
from fleet_runner.core.inventory.roce import PRIORITIES

FEC = {"rs-fec": "rs", "rs-ieee": "rs", "rs-cons16": "rs", "fc-fec": "baser", "off": "none"}

_PFC = re.compile(
    r"[ \t]*Eth(?:ernet)?([0-9/]{1,12})[ \t]+(On|Off|Auto)[ \t]+(On|Off)[ \t]*(?:\(([0-9a-fA-F]{1,2})\))?"
    r"[ \t]+[0-9]{1,20}[ \t]+[0-9]{1,20}[ \t]*",
    re.ASCII,
)
_NAME = re.compile(r"Eth(?:ernet)?([0-9/]{1,12})(?: .*)?", re.ASCII | re.DOTALL)


def read(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read them; a release that does not know a command leaves open what it would tell."""
    rows = dict(_rows(json_object(said["interfaces"], "show interface"), "interface", "interface"))
    if not rows:
        raise EvidenceError("show interface | json names no port, expected them below 'TABLE_interface'")
    pfc = _pfc(said.get("pfc", ""))
    storms, dropped = _watchdog(optional(said.get("watchdog"), "show queuing pfc-queue detail"))
    found: dict[str, SwitchPort] = {}
    for place, row in rows.items():
        counts = known({STORMS: storms.get(place), STORM_DROPS: dropped.get(place)})
        port = SwitchPort(mtu=whole(row.get("eth_mtu")), counts=counts)
        if row.get("state") == "up":
            on, agreed = pfc.get(place, (None, False))
            fec = FEC.get(str(row.get("eth_oper_fec_state")).lower(), "")
            port = replace(port, mbps=mbps(row.get("eth_speed")), fec=fec, pfc=on, dcbx=agreed)
        found[f"Ethernet{place}"] = port
    return found


def _rows(root: object, table: str, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a table by the place of their port: "1/28"."""
    for holder in holders(root, f"TABLE_{table}"):
        for part in entries(get(holder, f"TABLE_{table}")):
            for row in entries(get(part, f"ROW_{table}")):
                named = row.get(key) if isinstance(row, dict) else None
                if isinstance(named, str) and (place := _NAME.fullmatch(named)):
                    yield place[1], row


def _pfc(text: str) -> dict[str, tuple[frozenset[int], bool]]:
    """Return the priorities of ports, and whether DCBX chose them; one that does not say for which is left out."""
    found: dict[str, tuple[frozenset[int], bool]] = {}
    for line in text.split("\n")[:-1]:
        row = _PFC.fullmatch(line.rstrip("\r"))
        bits = int(row[4] or "0", 16) if row else 0
        if row and (bits or row[3] == "Off"):
            on = bits if row[3] == "On" else 0
            found[row[1]] = frozenset(each for each in range(PRIORITIES) if on >> each & 1), row[2] == "Auto"
    return found


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
