"""Is everything on the node erased, and is that proven?

FAIL is a device of the node that was not, and cannot be: a person must do it. While anything is still being erased
the answer is UNKNOWN with `working`. A machine that is not known to be the node, a profile that says nothing of a
wipe and a device that cannot be read are UNKNOWN as well: nothing was done to those.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.wipe.planner import Missing, Next
from fleet_runner.core.lifecycle.wipe.progress_text import READ, Progress, parse

NAME = "wiped"

REFUSED = {
    "wipe.model": "a disk's model is in no row of the profile's `wipe`",
    "wipe.serial": "the source of truth does not list a disk's serial number",
    "wipe.too_many": "more disks of a model are there than should be, and nothing says which is not the node's",
    "wipe.hurdle": "the erase is blocked: the disk is in use, frozen or locked",
    "wipe.stuck": "an erase does not end within the profile's `wipe.hours`",
    "wipe.failed": "every method that the disk knows was tried, and failed",
    "wipe.no_method": "the disk knows none of the methods that the profile allows",
}
"""Why a disk is refused, by the code of its finding."""

FIND = "Find that disk: if it was replaced, check that it was wiped or destroyed, and correct the source of truth."


def judge(readings: Readings, expected: Expected) -> Result:
    """PASS once every device is proven erased; what was done to each is observed, and kept with the evidence."""
    progress = parse(text_of(readings[READ]))
    if progress.trouble:
        return Result(NAME, Verdict.UNKNOWN, progress.trouble)
    observed: dict[str, Any] = {"devices": [dict(each) for each in progress.records]}
    if progress.check:
        return Result(NAME, Verdict.UNKNOWN, _preview(progress), (), observed)
    going = [*_of(progress, Next.WAIT), *_of(progress, Next.ERASE)]
    done = _of(progress, Next.DONE)
    if going:
        share = f"{len(done)} of {len(done) + len(going)} devices are erased"
        message = f"{share}; {'; '.join(_why(each) for each in going)}"
        return Result(NAME, Verdict.UNKNOWN, message, (), {**observed, "working": True})
    findings = [_refused(each, expected.node) for each in _of(progress, Next.REFUSE)]
    findings += [_gone(each, expected.node) for each in progress.missing]
    findings += [_left(each, expected.node) for each in _of(progress, Next.LEAVE)]
    count = "1 device is" if len(done) == 1 else f"{len(done)} devices are"
    passed = f"{count} erased: {'; '.join(_told(each) for each in done)}"
    unread = [_why(each) for each in _of(progress, Next.UNREAD)]
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _of(progress: Progress, what: Next) -> list[Mapping[str, Any]]:
    return [each for each in progress.records if each["next"] == what]


def _why(record: Mapping[str, Any]) -> str:
    return f"{record['name']}: {record['why']}"


def _told(record: Mapping[str, Any]) -> str:
    by = f" by {record['method']}" if record.get("method") else ""
    return f"{record['name']}{by} ({record['why']})"


def _preview(progress: Progress) -> str:
    """Say what would be done; nothing was."""
    parts = [
        _list("to be erased", [_told(each) for each in _of(progress, Next.ERASE)]),
        _list("being erased", [_told(each) for each in _of(progress, Next.WAIT)]),
        _list("erased already", [_told(each) for each in _of(progress, Next.DONE)]),
        _list("cannot be erased", [_told(each) for each in _of(progress, Next.REFUSE)]),
        _list("not readable, so not touched", [_told(each) for each in _of(progress, Next.UNREAD)]),
        _list("missing", [each.why for each in progress.missing]),
        _list("not the node's, so not touched", [_told(each) for each in _of(progress, Next.LEAVE)]),
    ]
    return f"check mode, nothing was erased. {'. '.join(part for part in parts if part)}."


def _list(title: str, rows: Sequence[str]) -> str:
    return f"{title.capitalize()}: {'; '.join(rows)}" if rows else ""


def _refused(record: Mapping[str, Any], node: str) -> Finding:
    return about(node, str(record.get("code")), str(record["key"]))(
        message=f"{record['name']} is not erased: {record['why']}",
        remedy=Remedy.TRIAGE,
        steps=tuple(str(step) for step in record.get("steps") or ()),
    )


def _gone(missing: Missing, node: str) -> Finding:
    return about(node, "wipe.missing", missing.what)(
        message=f"{missing.why}: its data is not erased", remedy=Remedy.TRIAGE, steps=(FIND,)
    )


def _left(record: Mapping[str, Any], node: str) -> Finding:
    return about(node, "wipe.left", str(record["name"]))(
        message=f"{record['name']} was not touched: {record['why']}", remedy=Remedy.RECORD
    )


CHECK = Check(
    name=NAME,
    question="Is every disk of the node erased and its TPM cleared, with proof?",
    reads=(READ,),
    judge=judge,
    codes=(
        *(Code(code, (Remedy.TRIAGE,), meaning) for code, meaning in REFUSED.items()),
        Code("wipe.missing", (Remedy.TRIAGE,), "a disk of the node is missing, with its data"),
        Code("wipe.left", (Remedy.RECORD,), "a disk that does not belong to the node was not touched"),
    ),
    source="The profile's `wipe`; NVMe (Sanitize, Format) and ATA (Security Erase) as `docs/wiping.md` describes.",
)
