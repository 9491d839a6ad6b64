"""What is known of a job that was started on a node: a load, a test, or a measurement."""

from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object, number

STATES = frozenset({"waiting", "running", "ended", "lost", "preempted", "refused"})


@dataclass(frozen=True, slots=True)
class Job:
    """The job's state, its exit status, and seconds: taken so far, and asked for.

    "waiting" has not begun: another one runs before it; "lost" is gone without an end; "preempted" gave way to a
    tenant's work, or never began because of it, and `reason` says whose ("slurmstepd (1234)"); "refused" could not
    be asked for, and `reason` says why.
    """

    state: str
    rc: int
    elapsed: float
    seconds: float
    output: str
    reason: str = ""


def parse(text: str) -> Job:
    """Read the job's state; EvidenceError for anything that is none."""
    raw = json_object(text, "the job's state")
    state, output, reason = raw.get("state"), raw.get("output", ""), raw.get("reason", "")
    if not isinstance(output, str) or not isinstance(reason, str):
        raise EvidenceError(f"the job's output is {output!r:.40} and its reason {reason!r:.40}, expected texts")
    if not isinstance(state, str) or state not in STATES:
        raise EvidenceError(f"the job's state is {state!r:.40}, expected one of {', '.join(sorted(STATES))}")
    rc = raw.get("rc", 0)
    if not isinstance(rc, int):
        raise EvidenceError(f"the job's exit status is {rc!r:.40}, expected a whole number")
    return Job(state, rc, _seconds(raw, "elapsed"), _seconds(raw, "seconds"), output, reason)


def _seconds(raw: dict[str, Any], name: str) -> float:
    value = number(raw.get(name))
    if value is None or value < 0:
        raise EvidenceError(f"the job's {name} is {raw.get(name)!r:.40}, expected seconds")
    return value
