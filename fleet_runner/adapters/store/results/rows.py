"""Rows of results as values; without SQLAlchemy, which the store's reader does not load."""

from typing import Any

from fleet_runner.core.checks.verdicts import Finding, Result, Verdict
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.states import Stage


def stored(row: Any) -> Stored:
    """Return a row as a value."""
    result = Result(
        check=row.check,
        verdict=Verdict(row.verdict),
        message=row.message,
        findings=tuple(Finding.from_json(finding) for finding in row.findings),
        observed=row.observed,
        evidence=tuple(row.evidence),
    )
    return Stored(row.id, row.run, row.node, Stage(row.stage), row.at, result)
