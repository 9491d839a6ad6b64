"""From findings on a serving node to the one remedy that should follow."""

from collections.abc import Iterable
from dataclasses import dataclass

from fleet_runner.core.lifecycle import Event
from fleet_runner.core.runs import Stored
from fleet_runner.core.verdicts import Finding, Remedy, Verdict

EVENTS: dict[Remedy, Event] = {
    Remedy.RESET: Event.REBOOT_NEEDED,  # a reboot resets every GPU; resetting one alone is not offered yet
    Remedy.REBOOT: Event.REBOOT_NEEDED,
    Remedy.TRIAGE: Event.TRIAGE_NEEDED,
    Remedy.RMA: Event.TRIAGE_NEEDED,  # a person confirms before a part goes back
}
"""Remedies that take a node out of service, and the event each becomes. The others only leave a record or ticket."""

CARRIED_OUT: dict[Remedy, Event] = {**EVENTS, Remedy.REFLASH: Event.FIRMWARE_NEEDED}
"""What a pending remedy becomes once the node is idle. Drift calls for no reflash; a person or a rollout asks."""

ORDER = tuple(Remedy)
"""From the mildest to the hardest, as Remedy lists them."""


@dataclass(frozen=True, slots=True)
class Need:
    """The hardest remedy that the findings call for, with the finding and the results behind it."""

    remedy: Remedy
    finding: Finding
    results: tuple[int, ...]


def needed(latest: Iterable[Stored], since: float, waived: frozenset[str] = frozenset()) -> Need | None:
    """Return what the newest results (each from `since` on) call for, or None when nothing moves.

    `waived` are keys of faults from which nothing follows, because a person said so.
    """
    called = [
        (ORDER.index(finding.remedy), stored, finding)
        for stored, finding in calling(latest, since)
        if finding.fault not in waived
    ]
    if not called:
        return None
    _, _, hardest = max(called, key=lambda row: row[0])
    return Need(hardest.remedy, hardest, tuple(sorted({stored.id for _, stored, _ in called})))


def calling(latest: Iterable[Stored], since: float) -> tuple[tuple[Stored, Finding], ...]:
    """Return the findings whose remedy takes a node out of service, each with its result."""
    return tuple(
        (stored, finding)
        for stored in latest
        if stored.at >= since and stored.result.verdict is Verdict.FAIL
        for finding in stored.result.findings
        if finding.remedy in EVENTS
    )
