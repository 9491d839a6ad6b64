"""Nodes of the store: what checks last read of a healthy one, by read."""

from typing import Any

import yaml

from fleet_runner.core.bmc import proposed_file, stored
from fleet_runner.core.bmc.proposed import Node
from fleet_runner.core.bmc.stored import Piece
from tests.core.checks.catalogue.judging import HEALTHY
from tests.core.checks.healthy import text_of

AT = 1_790_000_000.0  # 2026-09-21

ORIGIN = stored.origin("hgx")


def texts() -> dict[str, str]:
    """Return the texts of a healthy node, by their reads: two GPUs, two modules, two drives, two supplies."""
    found = {read: text for mine in HEALTHY.values() for read, text in mine.items()}
    return {**found, **HEALTHY["parts_gpu"], "nvidia_smi_topology": text_of("nvidia_smi/topo.txt")}


def pieces(found: dict[str, str] | None = None) -> dict[str, Piece]:
    """Return them as the store has them."""
    return {read: Piece(text, AT) for read, text in (texts() if found is None else found).items()}


def node(name: str, **changed: str | None) -> Node:
    """Return a node of the store, with some reads changed, or taken away."""
    found = {**texts(), **changed}
    return stored.node(name, pieces({read: text for read, text in found.items() if text is not None}))


def told(given: Node) -> dict[str, Any]:
    """Return the values that a node tells."""
    return {each.key: each.value for each in given.told}


def profile(*nodes: Node) -> dict[str, Any]:
    """Return the profile that is proposed for these nodes."""
    found: dict[str, Any] = yaml.safe_load(proposed_file.text(nodes, ORIGIN))["fleet_profile"]
    return found
