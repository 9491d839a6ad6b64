"""What lies between the sweeps of two days: faults that are gone, new, and still there."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from fleet_runner.core.checks.verdicts import Finding

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Between:
    """The findings of the later day that are new or still there, and those of the earlier one that are gone."""

    gone: tuple[Finding, ...]
    new: tuple[Finding, ...]
    still: tuple[Finding, ...]


def begins(day: str) -> float | None:
    """Return when a day ("2026-11-22") begins in UTC, in epoch seconds; None where it is none."""
    try:
        found = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
        return found.timestamp()
    except (ValueError, OverflowError):
        return None


def named(at: float) -> str:
    """Return the day of a moment."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


def between(before: Iterable[Finding], after: Iterable[Finding]) -> Between:
    """Compare two sweeps by what was wrong in them: one fault has one key, however it is worded."""
    earlier = {finding.fault: finding for finding in before}
    later = {finding.fault: finding for finding in after}
    return Between(
        tuple(finding for key, finding in earlier.items() if key not in later),
        tuple(finding for key, finding in later.items() if key not in earlier),
        tuple(finding for key, finding in later.items() if key in earlier),
    )
