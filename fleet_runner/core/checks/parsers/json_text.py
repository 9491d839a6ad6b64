"""JSON from a tool or a BMC, read so that nothing in it can surprise the reader."""

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from fleet_runner.core.base.errors import EvidenceError

LARGEST = 1e15
"""JSON's whole numbers have no end; beyond this they are nothing that was measured."""


def json_object(text: str, what: str) -> dict[str, Any]:
    """Return the object that a text is; EvidenceError for any other text, for NaN and for endless nesting."""
    found = json_value(text, what)
    if not isinstance(found, dict):
        raise EvidenceError(f"{what} is a JSON {type(found).__name__}, expected an object")
    return found


def json_value(text: str, what: str) -> Any:
    """Return whatever a text is as JSON; EvidenceError for any other text, for NaN and for endless nesting."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        shown = f"{error}"[:120] if text.strip() else "it is empty"
        raise EvidenceError(f"{what} is not JSON ({shown}); was it cut short?") from error


def enclosed(text: str, keys: Sequence[str], what: str) -> dict[str, Any]:
    """Return the object that a text holds among other lines; they may have braces too, if it begins with a key."""
    start, end = text.find("{"), text.rfind("}")
    try:
        return json_object(text[start : end + 1] if 0 <= start < end else text, what)
    except EvidenceError as error:
        begun = re.search(rf'\{{\s{{0,200}}"(?:{"|".join(map(re.escape, keys))})"', text)
        if begun is None:
            raise
        try:
            found: dict[str, Any] = json.JSONDecoder(parse_constant=_refuse).raw_decode(text, begun.start())[0]
        except (ValueError, RecursionError):
            raise error from None
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
