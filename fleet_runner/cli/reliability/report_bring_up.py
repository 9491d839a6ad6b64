"""What the report says of nodes on their way into production, and what they wait for now."""

from dataclasses import dataclass, field
from typing import Any

from fleet_runner.core.lifecycle.waits import Wait
from fleet_runner.core.reliability.bring_up import words
from fleet_runner.core.reliability.bring_up.figures import Ways

LISTED = 200
"""Ways in JSON, the longest first."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The ways of a span, and what nodes that do not serve wait for now."""

    ways: Ways = field(default_factory=Ways)
    waiting: tuple[Wait, ...] = ()


def plain(found: Ways, waiting: tuple[Wait, ...]) -> dict[str, Any]:
    """Return both as a program takes them."""
    rows = [{"sentence": each.sentence, "nodes": each.number, "names": each.names} for each in waiting[:LISTED]]
    return {**words.plain(found, LISTED), "waiting_now": rows}
