"""Do the GPUs pass NVIDIA's own diagnostic?"""

from collections.abc import Sequence

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.evidence import Expected
from fleet_runner.core.parsers import dcgm as parser
from fleet_runner.core.parsers.dcgm import CONFIGURATION, DEPLOYMENT, Outcome
from fleet_runner.core.verdicts import Finding, Remedy, Result

REMEDIES: dict[int, Remedy] = {
    0: Remedy.RECORD,  # nothing
    1: Remedy.WATCH,  # can do its work, look at it more often
    2: Remedy.TRIAGE,  # cannot do its work: take it out
    3: Remedy.TRIAGE,  # DCGM does not know
    4: Remedy.TRIAGE,  # a person must look
    CONFIGURATION: Remedy.RECORD,  # set wrongly, nothing about the hardware
    6: Remedy.RESET,
}
"""DCGM's severities, and what follows."""

HARDWARE_TESTS = frozenset({"page retirement/row remap", "page retirement", "inforom"})
"""Deployment tests that look at the GPU all the same."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge the tests, not the exit status: dcgmi exits 226 also when only persistence mode is off."""
    reading = readings["dcgm_diag"]
    outcomes = parser.parse(reading.text if reading.text.strip() else text_of(reading))
    failed = [outcome for outcome in outcomes if outcome.status == "fail"]
    findings = _once([_finding(outcome, expected.node) for outcome in failed])
    counts = {status: sum(outcome.status == status for outcome in outcomes) for status in sorted(parser.STATUSES)}
    passed = f"{counts['pass']} test results passed" + (f", {len(failed)} only about settings" if failed else "")
    unread = _unread(outcomes, failed, reading.rc)
    return unless_unread(conclude("dcgm", findings, passed, {"results": counts, "rc": reading.rc}), unread)


def remedy(outcome: Outcome) -> Remedy:
    """Return what a failed test asks for; without a severity, by what the test looks at."""
    if outcome.severity is not None:
        return REMEDIES.get(outcome.severity, Remedy.TRIAGE)
    software = outcome.category.lower() == DEPLOYMENT and outcome.test.lower() not in HARDWARE_TESTS
    return Remedy.RECORD if software else Remedy.TRIAGE


def _finding(outcome: Outcome, node: str) -> Finding:
    component = outcome.entity or "GPUs"
    follows = remedy(outcome)
    why = f": {outcome.message}" if outcome.message else ""
    steps = (f"Run dcgmi diag -r 4 on {node} and keep its report.", f"Run a field diagnostic of {component}.")
    return about(node, f"dcgm.{outcome.test.lower()}", component)(
        message=f"DCGM's {outcome.test} failed on {component}{why}",
        remedy=follows,
        steps=steps if follows is Remedy.TRIAGE else (),
    )


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """A test may fail twice on one GPU; it is one fault."""
    return list({finding.fault: finding for finding in findings}.values())


def _unread(outcomes: Sequence[Outcome], failed: Sequence[Outcome], rc: int) -> list[str]:
    """Say why a report without a hardware fault is still no PASS: settings that kept the tests from running."""
    if not failed and rc != 0:
        return [f"dcgmi reports no failure but exited with {rc}, expected 0; run it again"]
    tests = [outcome for outcome in outcomes if outcome.category.lower() != DEPLOYMENT]
    if failed and not any(outcome.status == "pass" for outcome in tests):
        names = ", ".join(sorted({outcome.test for outcome in failed}))
        return [f"DCGM tested no GPU because of the node's settings ({names}); set them right and run it again"]
    return []


CHECK = Check(
    name="dcgm",
    question="Do the GPUs pass NVIDIA's own diagnostic?",
    reads=("dcgm_diag",),
    judge=judge,
    active=True,
)
