"""Arista EOS: `show interfaces | json`, and what FEC and the PFC watchdog of each port counted.

A port may have several chips, each with FEC of its own: what faces the cable is the last one whose place is "line".
The watchdog names no port that it saw no storm at.
"""

from collections.abc import Mapping
from typing import Any

from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.port_states.port import (
    DOWNS,
    STORMS,
    UNCORRECTED,
    SwitchPort,
    count,
    downs,
    known,
    objects,
    optional,
)

ENCODINGS = {"reedSolomon": "rs", "fireCode": "baser"}


def read(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read it; `bandwidth` is in bits per second."""
    found: dict[str, SwitchPort] = {}
    phys = optional(said.get("phy"), "show interfaces phy detail").get("interfacePhyStatuses")
    watched = optional(said.get("watchdog"), "show priority-flow-control counters watchdog").get("interfaces")
    for name, port in objects(json_object(said["interfaces"], "show interfaces").get("interfaces")):
        fec = _fec(phys.get(name) if isinstance(phys, dict) else None)
        found[name] = SwitchPort(
            mbps=(count(port.get("bandwidth")) or 0) // 1_000_000 or None,
            mtu=count(port.get("mtu")),
            fec=ENCODINGS.get(str(fec.get("encoding")), "") if port.get("interfaceStatus") == "connected" else "",
            counts=known({UNCORRECTED: _lost(fec), STORMS: _storms(watched, name), DOWNS: _downs(port)}),
        )
    return found


def _fec(status: object) -> dict[str, Any]:
    """Return FEC of the chip that faces the cable; nothing where nobody can tell which one it is."""
    rows = status.get("phyStatuses") if isinstance(status, dict) else None
    chips = [each for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []
    outside = [each for each in chips if _place(each) == "line"] or (chips if len(chips) == 1 else [])
    fec = outside[-1].get("fec") if outside else None
    return fec if isinstance(fec, dict) else {}


def _place(chip: Mapping[str, Any]) -> object:
    described = chip.get("description")
    return described.get("location") if isinstance(described, dict) else None


def _downs(port: Mapping[str, Any]) -> int | None:
    counters = port.get("interfaceCounters")
    return downs(count(counters.get("linkStatusChanges"))) if isinstance(counters, dict) else None


def _lost(fec: Mapping[str, Any]) -> int | None:
    """Return codewords that were not corrected; of Fire code, blocks of all lanes."""
    lanes = fec.get("perLaneUncorrectedFecBlocks")
    rows = lanes if isinstance(lanes, list) else [fec.get("uncorrectedCodewords")]
    found = [count(each.get("value")) if isinstance(each, dict) else None for each in rows]
    told = [each for each in found if each is not None]
    return sum(told) if told and len(told) == len(found) else None


def _storms(watched: object, name: str) -> int | None:
    if not isinstance(watched, dict) or not name.startswith("Ethernet"):
        return None
    mine = watched.get(name)
    queues = mine.get("txQueues") if isinstance(mine, dict) else None
    return sum(count(queue.get("stuckCount")) or 0 for _, queue in objects(queues))
