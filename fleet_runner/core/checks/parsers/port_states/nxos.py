"""Cisco NX-OS: `show interface | json`, PFC as a table, queues that the PFC watchdog shut, and what queues dropped.

PFC's "VL bmap" is hexadecimal, a bit for each priority; in mode "Auto" DCBX decides. What a port does that is down
says nothing of its settings. Queues belong to groups (of QoS): which group a priority is in, the table of pauses says
that stands beside the queues.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.neighbours.heard import entries, get, holders
from fleet_runner.core.checks.parsers.port_states.modules import (
    RX_POWER,
    TEMPERATURE,
    TX_POWER,
    Measured,
    alarms,
    measure,
)
from fleet_runner.core.checks.parsers.port_states.port import (
    LOSSLESS_DROPS,
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

_DROPS = frozenset({"Dropped", "WRED/AFD & Tail Drop"})
"""What releases call the packets that a queue dropped. What the PFC watchdog dropped is told apart from them."""

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
    lost = _lost(optional(said.get("queues"), "show queuing interface"), pfc)
    modules = dict(
        _rows(optional(said.get("modules"), "show interface transceiver details"), "interface", "interface")
    )
    found: dict[str, SwitchPort] = {}
    for place, row in rows.items():
        counts = known({STORMS: storms.get(place), STORM_DROPS: dropped.get(place), LOSSLESS_DROPS: lost.get(place)})
        port = SwitchPort(mtu=whole(row.get("eth_mtu")), counts=counts)
        if row.get("state") == "up":
            on, agreed = pfc.get(place, (None, False))
            fec = FEC.get(str(row.get("eth_oper_fec_state")).lower(), "")
            beyond = alarms(_measured(modules.get(place)))
            port = replace(port, mbps=mbps(row.get("eth_speed")), fec=fec, pfc=on, dcbx=agreed, alarms=beyond)
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


def _measured(module: object) -> Iterator[Measured]:
    """Yield what each lane of a module measures. Each tells the module's temperature, which is one."""
    for at, lane in enumerate(_inside(module, "lane")):
        for what, key in ((RX_POWER, "rx_pwr"), (TX_POWER, "tx_pwr")):
            low, high = (measure(lane.get(f"{key}_alrm_{end}")) for end in ("lo", "hi"))
            yield Measured(what, whole(lane.get("lane_number")) or 0, measure(lane.get(key)), low, high)
        if at == 0:
            low, high = (measure(lane.get(f"temp_alrm_{end}")) for end in ("lo", "hi"))
            yield Measured(TEMPERATURE, 0, measure(lane.get("temperature")), low, high)


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
        told = list(_inside(row, "qosgrp_stats_entry"))
        storms[place] += sum(whole(entry.get("q-shutdown")) or 0 for entry in told)
        for key in ("q-pkt-dropped", "q-ing-pkt-dropped"):
            dropped[place] += sum(whole(entry.get(key)) or 0 for entry in told)
    return storms, dropped


def _lost(root: object, pfc: Mapping[str, tuple[frozenset[int], bool]]) -> Counter[str]:
    """Return the packets that queues dropped on their way out which should lose none, of ports that have such."""
    lost = Counter[str]()
    for place, row in _rows(root, "queuing_interface", "if_name_str"):
        on, _ = pfc.get(place, (frozenset[int](), False))
        paused = (each for each in _inside(row, "pfc_stats") if whole(each.get("cos")) in on)
        groups = {whole(each.get("pfc-qosgrp")) for each in paused}
        for group in _inside(row, "qosgrp_egress_stats"):
            if (number := whole(group.get("eq-qosgrp"))) is not None and number in groups:
                lost[place] += sum(map(_packets, _inside(group, "qosgrp_egress_stats_entry")))
    return lost


def _packets(entry: Mapping[str, Any]) -> int:
    """Return the packets of one count of a queue, if it is what the queue dropped."""
    if entry.get("eq-stat-type") not in _DROPS or entry.get("eq-stat-units") != "Pkts":
        return 0
    values = (entry.get(f"eq-{kind}-stat-value") for kind in ("uc", "oobfc-uc", "mc"))
    return sum(whole(value) or 0 for value in values)


def _inside(row: object, table: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table that stands anywhere below a row."""
    for holder in holders(row, f"TABLE_{table}"):
        for part in entries(get(holder, f"TABLE_{table}")):
            yield from (entry for entry in entries(get(part, f"ROW_{table}")) if isinstance(entry, dict))
