"""Do the GPUs of a node reduce together as fast as they should, and correctly?"""

from collections.abc import Iterator, Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import nccl_tests
from fleet_runner.core.checks.parsers.job import Job
from fleet_runner.core.checks.parsers.nccl_tests import Row, Sweep
from fleet_runner.core.checks.shared import gpu_names, jobs
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

SECTION = "active.nccl_allreduce"

LARGE = 2**30
"""Bytes from which on a node's bus bandwidth no longer grows: smaller sizes measure latency."""

SECONDS = 120.0


def judge(readings: Readings, expected: Expected) -> Result:
    """Take the best of the large sizes: a link that is down or narrow slows all of them, a hiccup only one.

    Wrong values count whatever the test exits with, and though it was cut: the tool ends with an error to say so.
    """
    section = profile.section(expected.profile, SECTION)
    job = jobs.read(readings["nccl_allreduce_job"])
    still = jobs.unended("nccl_allreduce", job, so_far)
    if still is not None:
        return still
    sweep = _sweep(job, expected)
    best = _best(sweep.rows)
    wrong = sum(row.wrong or 0 for row in sweep.rows) or sweep.out_of_bounds or 0
    observed = {
        "bus_gbps": best,
        "bytes": max((row.bytes for row in sweep.rows), default=0),
        "gpus": len(sweep.ranks),
        "wrong": wrong,
        "trouble": list(sweep.trouble),
    }
    if wrong and sweep.out_of_bounds == 0:
        raise EvidenceError(
            f"the test's rows count {wrong} wrong values, its sum none: its output is garbled; run it again"
        )
    if not wrong:
        _refuse_half(job, sweep)
    mark = section.number("bus_gbps_min") if section.has("bus_gbps_min") else 0.0
    comparable = None if _other_size(sweep, expected) else best
    findings = list(_findings(wrong, comparable, mark, expected.node))
    compared = "" if _compared(sweep) else ", values not compared"
    least = f"expected {mark:.0f} or more" if mark else "no pass mark is given"
    passed = f"the GPUs reduce at {best or 0:.1f} GB/s of bus bandwidth, {least}{compared}"
    return unless_unread(conclude("nccl_allreduce", findings, passed, observed), list(_unread(sweep, best, expected)))


def so_far(output: str) -> Mapping[str, Any]:
    """Return the largest size that is done, and its bus bandwidth."""
    try:
        rows = nccl_tests.parse(output).rows
    except EvidenceError:
        return {}
    return {"bytes": rows[-1].bytes, "bus_gbps": max(rows[-1].bus_gbps)} if rows else {}


def _sweep(job: Job, expected: Expected) -> Sweep:
    try:
        return nccl_tests.parse(jobs.printed(job, expected))
    except EvidenceError as error:
        if job.state == "lost" or not job.rc:
            raise
        raise EvidenceError(jobs.failed(job)) from error


def _refuse_half(job: Job, sweep: Sweep) -> None:
    """Refuse a test that did not come to its end: what it measured until then is not what it would have."""
    said = f"; NCCL said: {sweep.trouble[0]}" if sweep.trouble else ""
    if job.rc:
        raise EvidenceError(f"{jobs.failed(job)}{said}")
    if sweep.average_gbps is None or sweep.out_of_bounds is None:
        raise EvidenceError(f"the test did not come to its end ('Avg bus bandwidth'){said}; run it again")


def _best(rows: tuple[Row, ...]) -> float | None:
    """Return the best mean of out of place and in place, as the average of a test of one size is."""
    means = [sum(row.bus_gbps) / len(row.bus_gbps) for row in rows if row.bytes >= LARGE and row.bus_gbps]
    return round(max(means), 2) if means else None


def _findings(wrong: int, best: float | None, mark: float, node: str) -> Iterator[Finding]:
    if wrong:
        yield about(node, "nccl_allreduce.wrong", "GPUs")(
            message=f"{wrong} values of the GPUs' common sum were wrong, expected 0: data is corrupted silently",
            remedy=Remedy.TRIAGE,
            steps=(
                f"Run dcgmi diag -r 4 on {node} to find the GPU that computes or copies wrongly.",
                "Repeat the test with fewer GPUs (CUDA_VISIBLE_DEVICES) until one is left.",
            ),
        )
    if best is not None and best < mark:
        yield about(node, "nccl_allreduce.slow", "GPUs")(
            message=f"the GPUs reduce at {best:.1f} GB/s of bus bandwidth, expected {mark:.0f} or more",
            remedy=Remedy.TRIAGE,
            steps=(
                f"Look at the state and errors of every NVLink on {node} (nvidia-smi nvlink -s, -e).",
                "Compare clocks and power of the GPUs under load; gpu_bandwidth finds the one that is slow.",
            ),
        )


def _unread(sweep: Sweep, best: float | None, expected: Expected) -> Iterator[str]:
    other = _other_size(sweep, expected)
    if other:
        yield other
    if best is None:
        largest = max((row.bytes for row in sweep.rows), default=0)
        yield f"the largest size was {largest} bytes, expected {LARGE} or more; run it with -e 8G"
    section = profile.section(expected.profile, SECTION)
    if not _compared(sweep) and section.has("compare") and section.flag("compare"):
        yield "the test compared no values (#wrong is N/A), expected it to; run it with -c 1"


def _compared(sweep: Sweep) -> bool:
    return any(row.wrong is not None for row in sweep.rows)


def _other_size(sweep: Sweep, expected: Expected) -> str:
    """Say how the test ran on something else than the whole node, whose mark then is another; "" if it did not."""
    hosts = {rank.host for rank in sweep.ranks}
    if len(hosts) > 1:
        return f"the test ran over {len(hosts)} nodes, expected 1: the pass mark is a single node's"
    count = profile.parts(expected.profile, "gpu").count
    if sweep.ranks and len(sweep.ranks) != count:
        return f"the test ran on {len(sweep.ranks)} GPUs, expected {count}; look at parts_gpu"
    return ""


def order(expected: Expected) -> Order:
    """Return the sweep over large sizes on all GPUs of the node, with values compared."""
    section = profile.section(expected.profile, SECTION)
    seconds = section.number("seconds") if section.has("seconds") else SECONDS
    if section.has("argv"):
        return Order(section.texts("argv"), seconds)
    largest = section.text("bytes") if section.has("bytes") else "8G"
    words = ("-b", "1G", "-e", largest, "-f", "2", "-g", str(profile.parts(expected.profile, "gpu").count))
    unasked = section.has("compare") and not section.flag("compare")
    return Order((*gpu_names.BY_PCI, "all_reduce_perf", *words, "-c", "0" if unasked else "1"), seconds)


CHECK = Check(
    name="nccl_allreduce",
    question="Do the GPUs of a node reduce together as fast as they should, and correctly?",
    reads=("nccl_allreduce_job",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        Code("nccl_allreduce.wrong", (Remedy.TRIAGE,), "values of the sum were wrong: silent data corruption"),
        Code("nccl_allreduce.slow", (Remedy.TRIAGE,), f"bus bandwidth is below `{SECTION}.bus_gbps_min`", twice=True),
    ),
    source="nccl-tests' documentation (doc/PERFORMANCE.md) for bus bandwidth; pass marks of whole systems from"
    " AzNHC's configurations and oci-hpc: A100 228, H100 460, H200 431, B300 800, MI300X 314 GB/s",
    measures=(Measure("bus_gbps", f"{SECTION}.bus_gbps_min"),),
)
