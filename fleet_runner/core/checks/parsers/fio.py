"""What fio measures (JSON output, version 3), as our program disk_speed.py passes it on."""

from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import program
from fleet_runner.core.checks.parsers.json_text import number

KINDS = {"write": "write", "read": "read", "randread": "read"}
"""What was asked of fio, and the side of its report that tells of it."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One target, measured in one way. `error` is the error number of an I/O that failed, 0 for none.

    `trouble` says why there are no numbers; `gbps` is 10^9 bytes per second, `p99_ms` the latency that 99 of 100
    requests kept below, None where fio does not tell it.
    """

    target: str
    kind: str
    error: int = 0
    gbps: float = 0.0
    iops: float = 0.0
    p99_ms: float | None = None
    trouble: str = ""


def parse(output: str) -> tuple[Measured, ...]:
    """Read what each target gave; EvidenceError unless the program came to its end."""
    found = program.whole(output, "disk_speed")
    return tuple(_measured(line) for line in found if isinstance(line.get("target"), str))


def _measured(line: dict[str, Any]) -> Measured:
    target, kind = line["target"], line.get("kind")
    if "error" in line:
        return Measured(target, "", trouble=f"{line['error']!s:.120}")
    if not isinstance(kind, str) or kind not in KINDS:
        raise EvidenceError(f"disk_speed measured {target:.80} by {kind!r:.40}, expected one of {', '.join(KINDS)}")
    job = _job(line.get("fio"))
    said = _said(line)
    if job is None:
        return Measured(target, kind, trouble=f"fio gave no report, exit status {line.get('rc')!r:.10}{said}")
    error = job.get("error")
    if not isinstance(error, int) or isinstance(error, bool) or not 0 <= error < 1000:  # noqa: PLR2004  errno ends below
        return Measured(target, kind, trouble=f"fio reports {error!r:.20} in place of an error number")
    if error:
        return Measured(target, kind, error=error, trouble=f"error {error}{said}")
    way = job.get(KINDS[kind])
    return _numbers(target, kind, way) if isinstance(way, dict) else Measured(target, kind, trouble="no figures")


def _numbers(target: str, kind: str, way: dict[str, Any]) -> Measured:
    rate, iops = number(way.get("bw_bytes")), number(way.get("iops"))
    if rate is None or iops is None or rate <= 0 or iops <= 0:
        return Measured(target, kind, trouble=f"fio moved nothing (bw_bytes {way.get('bw_bytes')!r:.20})")
    latency = way.get("clat_ns")
    marks = latency.get("percentile") if isinstance(latency, dict) else None
    late = number(marks.get("99.000000")) if isinstance(marks, dict) else None
    return Measured(target, kind, 0, rate / 1e9, iops, late / 1e6 if late is not None else None)


def _job(told: Any) -> dict[str, Any] | None:
    jobs = told.get("jobs") if isinstance(told, dict) else None
    return jobs[0] if isinstance(jobs, list) and len(jobs) == 1 and isinstance(jobs[0], dict) else None


def _said(line: dict[str, Any]) -> str:
    said = line.get("said")
    return f": {said[-1]!s:.160}" if isinstance(said, list) and said else ""
