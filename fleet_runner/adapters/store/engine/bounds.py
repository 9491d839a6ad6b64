"""What a spool says comes from nodes: bounded here, so that no line can break the store or grow it without end."""

import json
import math
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.verdicts import Finding, Result
from fleet_runner.core.lifecycle.spool import Evidence

KEY_CHARS = 400  # PostgreSQL indexes at most 2,700 bytes
TEXT_CHARS = 20_000
JSON_CHARS = 1_000_000
MANY = 1_000
DEPTH = 50  # what is nested deeper can be written and then not read again
EVIDENCE_CHARS = 128_000_000  # the largest fabrics print some tens of megabytes
COUNT_MAX = 2**31 - 1
LAST_SECOND = 253_402_300_799.0  # the end of the year 9999


def key(value: object) -> str:
    """Bound a name or a key; two long ones stay different, a bounded one stays the same."""
    text = _text(value)
    if len(text) <= KEY_CHARS:
        return text
    digest = sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{text[: KEY_CHARS - len(digest) - 1]}:{digest}"


def words(value: object) -> str:
    """Bound a sentence or a paragraph."""
    text = _text(value)
    return text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS]} … ({len(text) - TEXT_CHARS} more characters)"


def count(value: int) -> int:
    """Bound a count."""
    return max(0, min(value, COUNT_MAX))


def moment(value: float, otherwise: float) -> float:
    """Return a time a person can read, or the other one."""
    return value if math.isfinite(value) and 0.0 <= value <= LAST_SECOND else otherwise


def result(raw: Result) -> Result:
    """Return the result with everything in it bounded, and of the type it should have."""
    return Result(
        check=key(raw.check),
        verdict=raw.verdict,
        message=words(raw.message),
        findings=tuple(_finding(finding) for finding in raw.findings[:MANY]),
        observed=_observed(raw.observed),
        evidence=_many(raw.evidence),
    )


def genuine(line: Evidence) -> bool:
    """Say if a text is of bearable size and is what its hash names; others would poison what results point to."""
    if len(line.text) > EVIDENCE_CHARS:
        return False
    try:
        return sha256(line.text.encode()).hexdigest() == line.hash
    except UnicodeEncodeError:
        return False


def _finding(raw: Finding) -> Finding:
    return Finding(
        code=key(raw.code),
        component=key(raw.component),
        message=words(raw.message),
        remedy=raw.remedy,
        fault=key(raw.fault),
        nodes=_many(raw.nodes),
        steps=tuple(words(step) for step in raw.steps[:MANY]),
        devices=_many(raw.devices),
    )


def _many(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(key(value) for value in tuple(values)[:MANY])


def _text(value: object) -> str:
    """Return a value as text that can be shown, also one that should have been text and is a heap of brackets."""
    return printable(str(value)) if _shallow(value, DEPTH) else "(nested too deep to be shown)"


def _shallow(value: object, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_shallow(each, depth - 1) for each in inner)


def _observed(raw: Any) -> dict[str, Any]:
    """Keep facts that are a mapping of plain JSON and not huge; else keep that they were not."""
    if not isinstance(raw, dict):
        return {"dropped": f"not a mapping but {type(raw).__name__}"}
    if not _shallow(raw, DEPTH):
        return {"dropped": f"nested deeper than {DEPTH} levels"}
    try:
        text = json.dumps(raw)
    except (TypeError, ValueError):
        return {"dropped": "not plain JSON"}
    if len(text) > JSON_CHARS:
        return {"dropped": f"{len(text)} characters, expected at most {JSON_CHARS}"}
    return dict(raw)
