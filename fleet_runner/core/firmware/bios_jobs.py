"""The jobs by which some BMCs bring BIOS settings into force: an iDRAC applies only what one of its jobs carries."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.parsers.json_text import number

KIND = "BIOSConfiguration"
"""The JobType of a job for BIOS settings (Dell's DellJob)."""

FAILED = frozenset({"Failed", "CompletedWithErrors", "RebootFailed", "Cancelled", "Exception"})
OVER = FAILED | {"Completed", "RebootCompleted"}
RUNNING = frozenset({"Running", "Starting", "Stopping", "Continue"})
"""JobState of Dell's DellJob, and of Redfish's Job (DSP0268); what is none of these waits for a reset of the host."""

LONGEST = 200
"""Characters of what a BMC says of a job."""

MOST_JOBS = 1024

NEWEST = 20
"""Jobs that are read one by one, from the end of a queue: an iDRAC keeps hundreds that are over."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job for BIOS settings; `percent` and `ended` (epoch seconds) are None where the BMC does not tell."""

    id: str
    state: str
    message: str = ""
    percent: float | None = None
    ended: float | None = None

    @property
    def told(self) -> str:
        """Return it as a sentence names it: "job JID_1 (Scheduled)"."""
        far = f", {self.percent:g} %" if self.state in RUNNING and self.percent is not None else ""
        return f"job {self.id} ({self.state}{far})"


@dataclass(frozen=True, slots=True)
class Queue:
    """The jobs of a BMC for BIOS settings, in its own order; with `needed`, nothing is applied without one."""

    needed: bool = False
    jobs: tuple[Job, ...] = ()

    @property
    def running(self) -> Job | None:
        """Return the job that is at work: until it ends, nothing that the BMC shows of settings is certain."""
        return next((job for job in self.jobs if job.state in RUNNING), None)

    @property
    def scheduled(self) -> Job | None:
        """Return the job that waits for a reset of the host; meanwhile the BMC takes no other settings."""
        return next((job for job in self.jobs if job.state not in RUNNING | OVER), None)

    @property
    def lacking(self) -> bool:
        """Say whether settings that wait still lack the job that brings them into force."""
        return self.needed and self.running is None and self.scheduled is None

    @property
    def failed(self) -> Job | None:
        """Return the newest job, if it failed."""
        newest = max(self.jobs, key=lambda job: (len(job.id), job.id), default=None)
        return newest if newest is not None and newest.state in FAILED else None

    @property
    def failure(self) -> str:
        """Say what became of the newest job, if it failed; "" if not."""
        return f"{self.failed.told}: {self.failed.message}" if self.failed else ""


def read(bodies: Iterable[Mapping[str, Any]], settings: str = "") -> tuple[Job, ...]:
    """Return the jobs for BIOS settings of what a queue holds; `settings` is where these wait."""
    found: list[Job] = []
    for body in bodies:
        target = str(body.get("TargetSettingsURI") or "").rstrip("/")
        if body.get("JobType") != KIND and not (settings and target == settings.rstrip("/")):
            continue
        name, state = _text(body.get("Id")), _text(body.get("JobState"))
        if name and state and len(found) < MOST_JOBS:
            far = number(body.get("PercentComplete"))
            found.append(Job(name, state, _text(body.get("Message")), far, _ended(body)))
    return tuple(found)


def _ended(body: Mapping[str, Any]) -> float | None:
    """Return when a job ended; an iDRAC's own time, without an offset, may be of any zone."""
    try:
        found = datetime.fromisoformat(str(body.get("EndTime") or body.get("CompletionTime")))
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo is not None else None


def _text(found: object) -> str:
    return printable(found)[:LONGEST] if isinstance(found, str) else ""
