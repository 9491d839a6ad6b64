"""NVIDIA's IMEX service: `nvidia-imex-ctl -N`, as JSON (`-j`) or as text, and the nodes of its configuration."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import enclosed

READY = "READY"
"""What an instance says that works with all of its peers."""

UNAVAILABLE = "UNAVAILABLE"
"""What is said of one that nobody reaches."""

MOST = 1024
"""Nodes of a domain: NVLink joins 576 GPUs at most."""

LONGEST = 80
"""Characters of a host, a status or a version."""

_DOMAIN = re.compile(r"^[ \t]*Domain State:[ \t]*([A-Z_]{1,40})[ \t\r]*$", re.MULTILINE)
_NODE = re.compile(
    r"^[ \t]*Node #(\d{1,4})[ \t]{1,20}-[ \t]{1,20}(\S{1,80})(?:[ \t]{1,40}\([^)\n]{0,80}\))?[ \t]{1,60}-[ \t]{1,20}"
    r"([A-Z_]{1,40})(?:[ \t]{1,60}-[ \t]{1,20}Version:[ \t]{0,20}(\S{0,80}))?[ \t\r]*$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Member:
    """A node of the domain, as one instance sees it: `host` as its configuration has it; "" for no `version`."""

    host: str
    status: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """What one instance says of the whole domain: `state` is "UP", "DEGRADED" or "DOWN"."""

    state: str
    members: tuple[Member, ...]


def status(text: str) -> Status:
    """Read either form; EvidenceError for a text that is cut, or that names no node."""
    found = _json(text) if "{" in text else _text(text)
    if not found.members or len(found.members) > MOST:
        raise EvidenceError(f"nvidia-imex-ctl names {len(found.members)} nodes, expected 1 to {MOST}")
    return found


def hosts(text: str) -> tuple[str, ...]:
    """Return the nodes that a nodes_config.cfg lists, one a line; EvidenceError for what is no such list."""
    rows = [line.partition("#")[0].strip() for line in text.splitlines()]
    listed = tuple(dict.fromkeys(row for row in rows if row))
    odd = next((row for row in listed if len(row) > LONGEST or len(row.split()) > 1), None)
    if odd is not None or len(listed) > MOST:
        raise EvidenceError(f"nodes_config.cfg: found {odd or len(listed)!r:.60}, expected one address in each line")
    return listed


def _json(text: str) -> Status:
    told = enclosed(text, ("nodes", "status", "timestamp"), "nvidia-imex-ctl")
    state, nodes = told.get("status"), told.get("nodes")
    rows = list(nodes.values()) if isinstance(nodes, Mapping) else nodes
    if not isinstance(state, str) or not isinstance(rows, list):
        raise EvidenceError(f"nvidia-imex-ctl: found {sorted(told)!r:.80}, expected status and nodes")
    return Status(state[:LONGEST], tuple(map(_member, rows)))


def _member(row: Any) -> Member:
    known = row if isinstance(row, Mapping) else {}
    host, state, version = (known.get(name) for name in ("host", "status", "version"))
    if not isinstance(host, str) or not isinstance(state, str):
        raise EvidenceError(f"nvidia-imex-ctl: found {row!r:.60}, expected a node with its host and status")
    return Member(host[:LONGEST], state[:LONGEST], version[:LONGEST] if isinstance(version, str) else "")


def _text(text: str) -> Status:
    state = _DOMAIN.search(text)
    if state is None:
        raise EvidenceError("nvidia-imex-ctl does not tell the domain's state; was it cut short?")
    members = tuple(Member(host, told, version) for _, host, told, version in _NODE.findall(text))
    if len(members) != text.count("Node #"):
        raise EvidenceError("nvidia-imex-ctl has lines of nodes in another form; ask it for JSON (-j)")
    return Status(state[1], members)
