"""Jobs as Slurm's accounting has them: `sacct --parsable2`, line by line.

A job that a node's failure ended is held against the node that Slurm names as the one that failed; of a job on one
node that is this one. A job on several of which Slurm names none is held against nobody.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.reliability.lemons.signals import Job

FAILURES = ("JobIDRaw", "NNodes", "End", "NodeList", "FailedNode")
ALONE = ("End", "NodeList")
"""Fields that are asked for, in their order; Slurm before 23.02 has no FailedNode."""

LONGEST = 20_000
"""Characters of a line: lists of nodes are short, but not of a broken cluster."""


class JobFailures(NamedTuple):
    """Failures of jobs by node, and how many jobs are held against nobody."""

    jobs: tuple[Job, ...]
    unblamed: int


def failures(lines: Iterable[str]) -> JobFailures:
    """Read jobs that ended as a node failed; a job that was requeued and failed again counts again."""
    found: list[Job] = []
    unblamed = 0
    for _, nodes, end, where, *named in _rows(lines, FAILURES, FAILURES[:-1]):
        failed = named[0] if named else ""
        many, at = _number(nodes), moment(end)
        blamed = failed or (where if many == 1 else "")
        if at is None or not blamed or any(sign in blamed for sign in ",[]"):
            unblamed += 1
        else:
            found.append(Job(at, blamed, many))
    return JobFailures(tuple(found), unblamed)


def alone(lines: Iterable[str]) -> dict[str, list[float]]:
    """Read when jobs on one node ended, by node; one that has not ended yet counts for nothing."""
    found: dict[str, list[float]] = {}
    for end, where in _rows(lines, ALONE):
        at = moment(end)
        if at is not None and where and not any(sign in where for sign in ",[]"):
            found.setdefault(where, []).append(at)
    return found


def _rows(lines: Iterable[str], *forms: tuple[str, ...]) -> Iterator[list[str]]:
    for line in lines:
        if not line.strip():
            continue
        row = [word.strip() for word in line.rstrip("\n").split("|")]
        if len(row) not in map(len, forms) or len(line) > LONGEST:
            raise EvidenceError(f"sacct printed {line.strip()!r:.80}, expected {'|'.join(forms[0])}")
        yield ["" if word in {"None assigned", "(null)"} else word for word in row]


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 8):  # noqa: PLR2004  no cluster has so many nodes
        raise EvidenceError(f"sacct says a job had {text!r:.40} nodes, expected a number")
    return int(text)


def moment(text: str) -> float | None:
    """Return when "2026-11-02T03:04:05" was; None for "Unknown", while a job still runs."""
    if text in {"Unknown", "None", ""}:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise EvidenceError(f"sacct says a job ended at {text!r:.40}, expected a date and time") from None
