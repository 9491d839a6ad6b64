"""What happened to a node, as entries of its journal in NetBox.

Each ends with a mark by which it is known again: after an answer was lost, what is there is not told twice.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256

from fleet_runner.core.lifecycle.runs import Entry
from fleet_runner.core.lifecycle.states import SERVING, State
from fleet_runner.core.tickets.trackers.inert import cut, netbox

KINDS = ("transition", "condition", "intent", "ticket", "case", "wipe", "identity", "netbox")
"""Kinds of a node's history that are told; runs and steps of boots come by the thousand and say less."""

MARKED = "fleet-runner line"
"""How a mark begins, to look for."""

LONGEST = 4000
"""Characters of a sentence that are told; the rest is in `fleet-runner history`."""

LONGEST_NAME = 200
"""Characters of who it was."""

DANGER = frozenset({State.FIRMWARE_FAILED, State.TRIAGE, State.DEBUG, State.RMA})
"""States in which people have to do something."""

_MARK = re.compile(rf"<!-- {MARKED} ([0-9]{{1,19}}-[0-9a-f]{{16}}) -->\s{{0,9}}\Z")


def mark(entry: Entry) -> str:
    """Return what names a line: its number alone would be another's in a store that was made anew or restored."""
    said = f"{entry.node}\n{entry.at!r}\n{entry.kind}\n{entry.sentence}"
    return f"{entry.id}-{sha256(said.encode('utf-8', 'replace')).hexdigest()[:16]}"


def comments(entry: Entry) -> str:
    """Return an entry's text: the sentence, who and when, as a block that nothing from a node breaks out of."""
    at = datetime.fromtimestamp(entry.at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    moved = f", {entry.state} → {entry.to}" if entry.to is not None else ""
    said = netbox(f"{cut(entry.sentence, LONGEST)}\n{cut(entry.by, LONGEST_NAME)}, {at}{moved}")
    return f"{said}\n<!-- {MARKED} {mark(entry)} -->"


def kind(entry: Entry) -> str:
    """Return which of NetBox's kinds an entry is: it colours it."""
    if entry.to in SERVING:
        return "success"
    if entry.to in DANGER:
        return "danger"
    return "warning" if entry.kind in {"condition", "ticket", "netbox"} else "info"


def marks(texts: Iterable[str]) -> frozenset[str]:
    """Return the marks that texts of entries end with: one inside a sentence is none."""
    return frozenset(found[1] for text in texts if (found := _MARK.search(text)))
