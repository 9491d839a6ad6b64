"""Was every firmware component brought to its pin, and if not, is that certain?"""

from fleet_runner.core.checks.answers import about, conclude, text_of
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.firmware.progress_text import FirmwareStatus, Report, parse

NAME = "firmware_update"
READ = "firmware_progress"

PATIENT = frozenset({FirmwareStatus.WORKING, FirmwareStatus.WAITING})
"""What is no try without a verdict: it is looked at again, however often."""


def judge(readings: Readings, expected: Expected) -> Result:
    """PASS once all is done, FAIL where a flash certainly failed; UNKNOWN else, with `working` while one goes on.

    A catalogue, an image or a BMC that cannot be read says nothing about the node.
    """
    report = parse(text_of(readings[READ]), READ)
    observed = {"state": report.stand.value, "flash": report.flash, "notes": list(report.notes)}
    notes = "".join(f"; {note}" for note in report.notes)
    match report.stand:
        case FirmwareStatus.DONE:
            return conclude(NAME, [], report.message + notes, observed)
        case FirmwareStatus.FAILED:
            return conclude(NAME, [_failed(report, expected.node)], "", observed)
        case stand:
            working = {"working": True} if stand in PATIENT else {}
            return Result(NAME, Verdict.UNKNOWN, report.message, (), observed | working)


def _failed(report: Report, node: str) -> Finding:
    component = str((report.flash or {}).get("component") or "firmware")
    return about(node, "firmware.failed", component)(
        message=report.message,
        remedy=Remedy.REFLASH,
        steps=(
            f"See how far each of its flashes came: fleet-runner firmware show {node}.",
            "Follow the next step of the newest one, and do not change the node's power until then.",
            f"Then retry: fleet-runner retry {node}.",
        ),
    )


CHECK = Check(
    name=NAME,
    question="Was every firmware component updated to its pinned version?",
    reads=(READ,),
    judge=judge,
    codes=(Code("firmware.failed", (Remedy.REFLASH,), "a flash certainly failed, and so did every permitted retry"),),
    source="The stage's own report; `docs/firmware.md` says when a flash counts as failed.",
)
