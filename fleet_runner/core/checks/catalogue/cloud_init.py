"""Did cloud-init finish on the node's first boot?"""

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.cloud_init import CloudInit, parse
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result

WAITS = frozenset({"running", "not started"})
"""Words after which another will follow: not an answer yet."""


def judge(readings: Readings, expected: Expected) -> Result:
    """PASS when it is done; an error or a disabled cloud-init means that this is no node of the fleet yet.

    cloud-init exits 1 on an error and 2 when it is done but degraded: its answer counts, not its exit status.
    """
    reading = readings["cloud_init"]
    answer = parse(reading.text if reading.text.strip() else text_of(reading))
    if answer.status in WAITS:
        raise EvidenceError(f"{expected.node}: cloud-init is {answer.status}; it is checked again")
    findings = [] if answer.status == "done" else [_finding(answer, expected.node)]
    if answer.degraded and not findings:
        degraded = about(expected.node, "cloud_init.degraded", "cloud-init")
        findings = [degraded(message="cloud-init is done, but with recoverable errors", remedy=Remedy.RECORD)]
    observed = {"status": answer.status, "errors": list(answer.errors)[:10]}
    return conclude("cloud_init", findings, "cloud-init is done", observed)


def _finding(answer: CloudInit, node: str) -> Finding:
    why = f": {answer.errors[0]:.200}" if answer.errors else ""
    return about(node, f"cloud_init.{answer.status}", "cloud-init")(
        message=f"cloud-init ended with {answer.status!r}, expected 'done'{why}",
        remedy=Remedy.TRIAGE,
        steps=(
            f"Read /var/log/cloud-init.log on {node}: which module failed, and which address it asked.",
            "Check that the node booted this fleet's image, and that the boot services answer from its network.",
        ),
    )


CHECK = Check(
    name="cloud_init",
    question="Did cloud-init finish on the node's first boot?",
    reads=("cloud_init",),
    judge=judge,
    codes=(
        Code("cloud_init.error", (Remedy.TRIAGE,), "cloud-init ended with an error"),
        Code(
            "cloud_init.disabled", (Remedy.TRIAGE,), "it is disabled: the node booted another image than the fleet's"
        ),
        Code("cloud_init.degraded", (Remedy.RECORD,), "cloud-init is done, but with recoverable errors"),
    ),
    source="cloud-init's documentation of `cloud-init status`: its words count, not its exit status.",
)
