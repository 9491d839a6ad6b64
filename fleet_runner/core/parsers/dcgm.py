"""What `dcgmi diag -j` says: the JSON of DCGM 3 and of DCGM 4."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.parsers.json_text import json_object, objects

ROOTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
"""The report's first key, in version 4 and in version 3."""

STATUSES = frozenset({"pass", "fail", "warn", "skip", "not run"})

DEPLOYMENT = "deployment"
"""The category (in lower case) of the tests that look at the software around the GPUs, not at the GPUs."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One test's answer for one entity ("GPU 3", or empty where it speaks for all).

    `status` is in lower case. `severity` is DCGM's number for the worst of its messages, None where it gives none.
    """

    category: str
    test: str
    entity: str
    status: str
    severity: int | None
    message: str


def parse(text: str) -> tuple[Outcome, ...]:
    """Read the report; EvidenceError for anything that is none. Lines that dcgmi prints before it are passed over."""
    start = text.find("{")
    raw = json_object(text[start:] if start >= 0 else text, "dcgmi's report")
    root = next((raw[name] for name in ROOTS if isinstance(raw.get(name), dict)), None)
    if root is None:
        raise EvidenceError(f"dcgmi's report has none of {', '.join(ROOTS)}: it says {str(raw)[:160]}")
    found = tuple(
        outcome
        for category in objects(root.get("test_categories"), "dcgmi's test_categories")
        for test in objects(category.get("tests"), "dcgmi's tests")
        for outcome in _outcomes(str(category.get("category", "")), test)
    )
    if not found:
        raise EvidenceError("dcgmi's report holds no test result; run the diagnostic again")
    return found


def _outcomes(category: str, test: Mapping[str, Any]) -> Iterator[Outcome]:
    name = str(test.get("name", ""))
    for result in objects(test.get("results"), f"dcgmi's results of {name:.40}"):
        status = str(result.get("status", "")).strip().lower()
        if status not in STATUSES:
            raise EvidenceError(
                f"dcgmi's test {name:.40} has status {status!r:.40}, expected one of {sorted(STATUSES)}"
            )
        messages = tuple(_messages(result.get("warnings")))
        severities = [severity for severity, _ in messages if severity is not None]
        yield Outcome(
            category=category,
            test=name,
            entity=_entity(result),
            status=status,
            severity=_worst(severities),
            message="; ".join(text for _, text in messages)[:300],
        )


def _messages(warnings: object) -> Iterator[tuple[int | None, str]]:
    """Version 4 and late 3 give objects with a severity, earlier ones texts or a single text."""
    for warning in warnings if isinstance(warnings, list) else [warnings]:
        if isinstance(warning, dict):
            severity = warning.get("error_severity")
            known = isinstance(severity, int) and not isinstance(severity, bool)
            yield (severity if known else None), str(warning.get("warning", "")).strip()
        elif isinstance(warning, str):
            yield None, warning.strip()


CONFIGURATION = 5
"""DCGM's severity for what is set wrongly on the node, with nothing wrong about the hardware."""

UNSEVERE = frozenset({0, CONFIGURATION})


def _worst(severities: list[int]) -> int | None:
    """Any severity about hardware weighs more than one about configuration, whatever their numbers."""
    hard = [severity for severity in severities if severity not in UNSEVERE]
    return max(hard or severities) if severities else None


def _entity(result: Mapping[str, Any]) -> str:
    group, number = result.get("entity_group"), result.get("entity_id")
    if isinstance(group, str) and isinstance(number, int):
        return f"{group} {number}"
    ids = result.get("gpu_ids", result.get("gpu_id"))
    return f"GPU {ids}" if isinstance(ids, int | str) and str(ids) != "" else ""
