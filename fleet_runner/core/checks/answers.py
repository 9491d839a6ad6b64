"""How a judge puts its answer: findings become a verdict in one place."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.evidence import Reading
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict

SHOWN = 3
"""Findings that a message spells out; the others are counted and lie in the result."""


def fault_key(node: str, code: str, component: str) -> str:
    """Return the key under which a fault of a node's part is known, whoever sees it."""
    return f"{node}/{code}/{component}"


def code_of(fault: str) -> str:
    """Return the code in a fault's key."""
    return fault.partition("/")[2].partition("/")[0]


def about(node: str, code: str, component: str) -> partial[Finding]:
    """Return a finding about a node's part that lacks its message, its remedy and, if hands are needed, its steps."""
    return partial(
        Finding, code=code, component=component, fault=fault_key(node, code, component), nodes=(node,), steps=()
    )


def conclude(name: str, findings: Sequence[Finding], passed: str, observed: Mapping[str, Any]) -> Result:
    """Return PASS with its sentence, or FAIL, the hardest finding first, if any asks for more than to be recorded."""
    hardness = list(Remedy).index
    counted = sorted(
        (finding for finding in findings if finding.remedy is not Remedy.RECORD),
        key=lambda finding: hardness(finding.remedy),
        reverse=True,
    )
    if not counted:
        return Result(name, Verdict.PASS, passed, tuple(findings), observed)
    message = "; ".join(finding.message for finding in counted[:SHOWN])
    more = f"; and {len(counted) - SHOWN} more" if len(counted) > SHOWN else ""
    return Result(name, Verdict.FAIL, message + more, tuple(findings), observed)


def unless_unread(result: Result, unread: Sequence[str]) -> Result:
    """Return the result if it is FAIL or everything was read; what was not read makes a PASS UNKNOWN."""
    if result.verdict is Verdict.FAIL or not unread:
        return result
    more = f"; and {len(unread) - SHOWN} more" if len(unread) > SHOWN else ""
    message = "; ".join(unread[:SHOWN]) + more
    return Result(result.check, Verdict.UNKNOWN, message, result.findings, result.observed)


def text_of(reading: Reading) -> str:
    """Return the text of a command that must have succeeded."""
    if reading.rc != 0:
        said = (reading.error or reading.text).strip().splitlines()
        why = f": {said[0]:.200}" if said else ""
        raise EvidenceError(f"{reading.name} exited with {reading.rc}{why}; expected 0")
    return reading.text
