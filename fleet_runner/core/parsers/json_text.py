"""JSON from a tool or a BMC, read so that nothing in it can surprise the reader."""

import json
from typing import Any, NoReturn

from fleet_runner.core.errors import EvidenceError

LARGEST = 1e15
"""JSON's whole numbers have no end; beyond this they are nothing that was measured."""


def json_object(text: str, what: str) -> dict[str, Any]:
    """Return the object that a text is; EvidenceError for any other text, for NaN and for endless nesting."""
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        shown = f"{error}"[:120] if text.strip() else "it is empty"
        raise EvidenceError(f"{what} is not JSON ({shown}); was it cut short?") from error
    if not isinstance(found, dict):
        raise EvidenceError(f"{what} is a JSON {type(found).__name__}, expected an object")
    return found


def objects(value: Any, what: str) -> list[dict[str, Any]]:
    """Return a list of objects that is one; EvidenceError for anything else."""
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise EvidenceError(f"{what}: found {value!r:.60}, expected a list of objects")
    return value


def number(value: Any) -> float | None:
    """Return a number as a float; None for anything else, and for one that no instrument prints."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not -LARGEST < value < LARGEST:
        return None
    return float(value)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")
