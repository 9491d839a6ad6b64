"""OpenConfig over gNMI: `/interfaces`, with openconfig-if-ethernet.

One update has all interfaces, or there is one for each. Numbers of 64 bits are text in it (RFC 7951). A port counts
each change of its state; `carrier-transitions` is the older name.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.neighbours.heard import entries, get, holders, word
from fleet_runner.core.checks.parsers.port_states.port import DOWNS, UNCORRECTED, SwitchPort, downs, known, whole

FEC = {"FEC_DISABLED": "none", "FEC_FC": "baser"}
"""All others whose names begin with `_RS` are Reed-Solomon codes."""

_RS = "FEC_RS5"
_SPEED = re.compile(r"SPEED_(\d{1,5})(MB|GB)", re.ASCII)
_ONE = re.compile(r"(?:^|/)interfaces/interface\[name=([^\]\n]{1,80})\]$", re.ASCII)


def read(said: Mapping[str, str]) -> dict[str, SwitchPort]:
    """Read it; EvidenceError where no interface is told."""
    root = json_object(said["interfaces"], "the interfaces")
    found = {name: _port(told) for name, told in _interfaces(root) if name}
    if not found:
        raise EvidenceError("found no interface, expected those of openconfig-interfaces")
    return found


def _interfaces(root: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for update in entries(root.get("updates")):
        path, value = get(update, "path"), get(update, "val")
        if isinstance(path, str) and (one := _ONE.search(path)):
            yield one[1], value
        for holder in holders(value, "interface"):
            for each in entries(get(holder, "interface")):
                yield word(get(each, "name")), each


def _port(told: Any) -> SwitchPort:
    state, ethernet = get(told, "state"), get(told, "ethernet", "state")
    counters, changes = get(state, "counters"), ("interface-transitions", "carrier-transitions")
    counted = next((each for name in changes if (each := whole(get(counters, name))) is not None), None)
    return SwitchPort(
        mbps=_mbps(get(ethernet, "negotiated-port-speed")) or _mbps(get(ethernet, "port-speed")),
        mtu=whole(get(state, "mtu")) or None,
        fec=_fec(get(ethernet, "fec-mode")) if word(get(state, "oper-status")) == "UP" else "",
        counts=known(
            {UNCORRECTED: whole(get(ethernet, "counters", "fec-uncorrectable-blocks")), DOWNS: downs(counted)}
        ),
    )


def _mbps(told: object) -> int | None:
    speed = _SPEED.fullmatch(word(told).rpartition(":")[2])
    return None if speed is None else int(speed[1]) * (1000 if speed[2] == "GB" else 1)


def _fec(told: object) -> str:
    mode = word(told).rpartition(":")[2]
    return "rs" if mode.startswith(_RS) else FEC.get(mode, "")
