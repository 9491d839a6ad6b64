"""What `dcgmi diag -j` says: the JSON of DCGM 2, 3 and 4."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import enclosed, objects

ROOTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
"""The report's first key: in version 4, and before."""

STATUSES = frozenset({"pass", "fail", "warn", "skip", "not run"})

RESPELT = {"": "not run", "skipped": "skip"}
"""Statuses as early versions spell them; an empty one is what DCGM has no word for."""

BAD = frozenset({"fail", "warn"})

DEPLOYMENT = "deployment"
"""The category (in lower case) of the tests that look at the software around the GPUs, not at the GPUs."""

CONFIGURATION = 5
"""DCGM's severity for what is set wrongly on the node, with nothing wrong about the hardware."""

UNSEVERE = frozenset({0, CONFIGURATION})

_SERIAL = re.compile(r"[A-Za-z0-9-]{3,40}")
"""A serial number; a GPU without one has "<<<NOT_SUPPORTED>>>"."""

MOST = 10_000
"""Test results of one report, of all its iterations."""

LONGEST = 300
"""Characters of a message that are kept."""


class Warned(NamedTuple):
    """One message of a test. `severity` and `error` are DCGM's numbers, None where the report gives none."""

    severity: int | None
    error: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """One test's answer for one entity ("GPU 3", or empty where it speaks for all); `status` is in lower case."""

    category: str
    test: str
    entity: str
    status: str
    warned: tuple[Warned, ...] = ()

    @property
    def severity(self) -> int | None:
        """Return the worst of its messages; any about hardware weighs more than one about settings."""
        severities = [each.severity for each in self.warned if each.severity is not None]
        hard = [severity for severity in severities if severity not in UNSEVERE]
        return max(hard or severities) if severities else None

    @property
    def message(self) -> str:
        """Return what the test says, in one line."""
        return "; ".join(each.text for each in self.warned if each.text)[:LONGEST]


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report. `serials` are those of the entities, where it knows them ({"GPU 3": "165..."})."""

    outcomes: tuple[Outcome, ...]
    serials: Mapping[str, str]
    version: str = ""
    driver: str = ""


def parse(text: str) -> Report:
    """Read the report; EvidenceError for anything that is none. Lines that dcgmi prints around it are passed over."""
    raw = enclosed(text, ("iterations", *ROOTS), "dcgmi's report")
    runs = [raw]
    if "iterations" in raw:
        runs = objects(raw["iterations"], "dcgmi's iterations")
    outcomes = tuple(outcome for run in runs for outcome in _run(run))
    if not outcomes:
        raise EvidenceError("dcgmi's report holds no test result; run the diagnostic again")
    if len(outcomes) > MOST:
        raise EvidenceError(f"dcgmi's report holds {len(outcomes)} test results, expected at most {MOST}")
    last = runs[-1]
    metadata = last.get("metadata")
    about = metadata if isinstance(metadata, dict) else last
    return Report(outcomes, _serials(last), _text(about.get("version")), _text(about.get("Driver Version Detected")))


def _run(raw: Mapping[str, Any]) -> Iterator[Outcome]:
    root = next((raw[name] for name in ROOTS if isinstance(raw.get(name), dict)), None)
    if root is None:
        raise EvidenceError(f"dcgmi's report has none of {', '.join(ROOTS)}: it says {str(raw)[:160]}")
    if root.get("runtime_error"):
        raise EvidenceError(f"dcgmi could not run its diagnostic: {_text(root['runtime_error'])}")
    for category in _objects(root.get("test_categories"), "dcgmi's test_categories"):
        for test in _objects(category.get("tests"), "dcgmi's tests"):
            yield from _outcomes(_text(category.get("category")), test)


def _objects(value: Any, what: str) -> list[dict[str, Any]]:
    """Return a list of objects, without the gaps (null) that some versions leave between them."""
    kept = [entry for entry in value if entry is not None] if isinstance(value, list) else value
    return objects(kept, what)


def _outcomes(category: str, test: Mapping[str, Any]) -> Iterator[Outcome]:
    """Version 4 leaves out the results of a test that no entity ran, and sums up what is about none of them."""
    name = _text(test.get("name"))
    found = [
        _outcome(category, name, result)
        for result in _objects(test.get("results", []), f"dcgmi's results of {name:.40}")
    ]
    yield from found
    summary = test.get("test_summary")
    if isinstance(summary, dict):
        whole = _outcome(category, name, summary)
        told = any(each.status in BAD for each in found)
        if not found or (whole.status in BAD and not told):
            yield whole
    elif not found:
        raise EvidenceError(f"dcgmi's test {name:.40} has no results; was its report cut short?")


def _outcome(category: str, name: str, result: Mapping[str, Any]) -> Outcome:
    said = _text(result.get("status")).lower()
    status = RESPELT.get(said, said)
    if status not in STATUSES:
        raise EvidenceError(f"dcgmi's test {name:.40} has status {status!r:.40}, expected one of {sorted(STATUSES)}")
    return Outcome(category, name, _entity(result), status, tuple(_warned(result.get("warnings"))))


def _warned(warnings: object) -> Iterator[Warned]:
    """Late 3 and 4 give objects with a severity, earlier ones texts; 3.3 calls some texts "warnings" by mistake."""
    for warning in warnings if isinstance(warnings, list) else [warnings]:
        if isinstance(warning, dict):
            text = warning.get("warning", warning.get("warnings"))
            yield Warned(_whole(warning.get("error_severity")), _whole(warning.get("error_id")), _text(text))
        elif isinstance(warning, str):
            yield Warned(None, None, _text(warning))


def _serials(raw: Mapping[str, Any]) -> dict[str, str]:
    """Version 4 lists its entities by group, 3 the serial numbers of GPUs by number."""
    known = raw.get("GPU Device Serials")
    told = [(f"GPU {number}", serial) for number, serial in known.items()] if isinstance(known, dict) else []
    groups = raw.get("entity_groups")
    told += [
        (f"{group.get('entity_group')} {entity.get('entity_id')}", entity.get("serial_num"))
        for group in (groups if isinstance(groups, list) else [])
        if isinstance(group, dict) and isinstance(group.get("entities"), list)
        for entity in group["entities"]
        if isinstance(entity, dict)
    ]
    return {entity: serial for entity, serial in told if isinstance(serial, str) and _SERIAL.fullmatch(serial)}


def _entity(result: Mapping[str, Any]) -> str:
    group, number = result.get("entity_group"), _whole(result.get("entity_id"))
    if isinstance(group, str) and number is not None:
        return f"{group} {number}"
    ids = result.get("gpu_ids", result.get("gpu_id"))
    known = isinstance(ids, int | str) and not isinstance(ids, bool) and str(ids) != ""
    return f"GPU {ids!s:.40}" if known else ""


def _whole(value: object) -> int | None:
    """Return a small whole number; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**6 else None


def _text(value: object) -> str:
    """Return a text in one line of bounded length; "" for anything else."""
    return " ".join(value.split())[:LONGEST] if isinstance(value, str) else ""
