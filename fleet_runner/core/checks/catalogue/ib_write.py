"""Does every adapter write as fast as its link allows?"""

from collections.abc import Callable, Iterator, Mapping
from statistics import median

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import PROGRAM, Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import perftest
from fleet_runner.core.checks.parsers.job import Job
from fleet_runner.core.checks.parsers.perftest import Measured, Table
from fleet_runner.core.checks.shared import jobs
from fleet_runner.core.checks.shared.culprits import culprits
from fleet_runner.core.checks.shared.write_rate import LARGE, write_gbitps
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

SECTION = "active.ib_write"

EACH_SECONDS = 5
"""How long each rail is measured, where the profile says nothing."""

START_SECONDS = 3
"""What a measurement takes besides."""

Numbers = Mapping[frozenset[str], float]
"""A number by rail, or by the two rails that wrote to each other."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold each rail against the mark; one that could not be measured leaves the answer open."""
    wanted = profile.section(expected.profile, SECTION)
    job = jobs.read(readings["ib_write_job"])
    still = jobs.unended("ib_write", job)
    if still is not None:
        return still
    runs = _runs(job, expected)
    widths, delays = _numbers(runs, write_gbitps, min), _numbers(runs, _latency_us, max)
    mark = wanted.number("write_gbitps_min") if wanted.has("write_gbitps_min") else 0.0
    findings = [*_slow(widths, mark, expected.node), *_late(delays, wanted, expected.node)]
    least = f"expected {mark:g} or more" if mark else "no pass mark is given"
    slowest = f"the slowest writes at {min(widths.values(), default=0):.0f} Gb/s"
    passed = f"{len(widths)} measurements of adapters: {slowest}, {least}"
    unread = list(_unread(runs, widths, wanted, expected))
    return unless_unread(conclude("ib_write", findings, passed, {"rails": _observed(widths, delays)}), unread)


def _runs(job: Job, expected: Expected) -> tuple[Measured, ...]:
    try:
        runs = perftest.measured(jobs.printed(job, expected))
    except EvidenceError as error:
        if job.state == "lost" or not job.rc:
            raise
        raise EvidenceError(f"{jobs.failed(job)}; {error}") from error
    if job.rc:
        raise EvidenceError(jobs.failed(job))
    return runs


def _numbers(
    runs: tuple[Measured, ...], number: Callable[[Table], float | None], worse: Callable[[float, float], float]
) -> dict[frozenset[str], float]:
    """Return what `number` finds in each table; of both ends or both directions of a pair the worse."""
    found: dict[frozenset[str], float] = {}
    for run in runs:
        value = number(run.table) if run.table is not None else None
        if value is not None:
            key = frozenset({run.rail, run.peer})
            found[key] = worse(value, found.get(key, value))
    return found


def _latency_us(table: Table) -> float | None:
    """Return the latency of the smallest message."""
    delays = [(row.bytes, row.latency_us) for row in table.rows if row.latency_us is not None]
    return min(delays)[1] if delays else None


def _observed(widths: Numbers, delays: Numbers) -> dict[str, dict[str, float]]:
    rails = sorted({rail for numbers in (widths, delays) for key in numbers for rail in key})
    told: dict[str, dict[str, float]] = {rail: {} for rail in rails}
    for rail in rails:
        own = [rate for key, rate in widths.items() if rail in key]
        late = [delay for key, delay in delays.items() if rail in key]
        told[rail] |= {"gbitps": min(own)} if own else {}
        told[rail] |= {"latency_us": max(late)} if late else {}
    return told


def _slow(widths: Numbers, mark: float, node: str) -> Iterator[Finding]:
    bad = {key: rate for key, rate in widths.items() if rate < mark}
    if len(bad) == len(widths) > 1:
        yield about(node, "ib_write.slow", "HCAs")(
            message=f"all adapters write slowly: {median(bad.values()):.0f} Gb/s is usual, expected {mark:g} or more",
            remedy=Remedy.TRIAGE,
            steps=("Compare the node's settings for PCIe, IOMMU, ACS and relaxed ordering with a good one's.",),
        )
        return
    for culprit, keys in culprits(bad):
        who, slowest = " and ".join(sorted(culprit)), min(bad[key] for key in keys)
        yield about(node, "ib_write.slow", who)(
            message=f"{who} writes at {slowest:.0f} Gb/s, expected {mark:g} or more",
            remedy=Remedy.TRIAGE,
            steps=(
                f"Compare the PCIe width and speed of {who} with its neighbours', and reseat it if they are too low.",
                f"Look at the speed and the error counters of the port of {who} (ib_ports).",
            ),
        )


def _late(delays: Numbers, wanted: Section, node: str) -> Iterator[Finding]:
    mark = wanted.number("latency_us_max") if wanted.has("latency_us_max") else float("inf")
    for culprit, keys in culprits({key: delay for key, delay in delays.items() if delay > mark}):
        who, worst = " and ".join(sorted(culprit)), max(delays[key] for key in keys)
        yield about(node, "ib_write.late", who)(
            message=f"{who} takes {worst:.2f} us to write, expected {mark:g} or less", remedy=Remedy.WATCH
        )


def _unread(runs: tuple[Measured, ...], widths: Numbers, wanted: Section, expected: Expected) -> Iterator[str]:
    for run in runs:
        if run.trouble:
            yield f"{run.rail or 'a rail'} could not be measured: {run.trouble}"
    measured = {rail for key in widths for rail in key}
    missing = [rail for rail in _rails(wanted, expected) if rail not in measured]
    if missing:
        yield f"no bandwidth of messages of {LARGE} bytes or more was measured of {', '.join(missing)}"
    if not measured and not any(run.trouble for run in runs):
        yield "no adapter was measured; does the profile name them (hca_interfaces)?"


def _rails(wanted: Section, expected: Expected) -> tuple[str, ...]:
    """Return the adapters that should be measured: the profile's own list, or all whose interfaces it names."""
    return wanted.texts("rails") if wanted.has("rails") else tuple(profile.hca_interfaces(expected.profile))


def order(expected: Expected) -> Order:
    """Return our program over all rails; `to: next` has each write to the one beside it, through the fabric."""
    wanted, rails = (
        profile.section(expected.profile, SECTION),
        _rails(profile.section(expected.profile, SECTION), expected),
    )
    if not rails:
        raise EvidenceError("fleet_profile.hca_interfaces names no adapter, expected those that are to be measured")
    each = wanted.whole("seconds") if wanted.has("seconds") else EACH_SECONDS
    words = ["--rails", ",".join(rails), "--seconds", str(each)]
    words += ["--to", wanted.text("to")] if wanted.has("to") else []
    words += ["--latency"] if wanted.has("latency_us_max") else []
    words += ["--gpu-memory"] if wanted.has("gpu_memory") and wanted.flag("gpu_memory") else []
    words += [f"--argument={word}" for word in (wanted.texts("arguments") if wanted.has("arguments") else ())]
    tests = 2 if wanted.has("latency_us_max") else 1
    seconds = float(len(rails) * (each + START_SECONDS) * tests)
    return Order(("python3", PROGRAM, *words), seconds, program="ib_write.py")


CHECK = Check(
    name="ib_write",
    question="Does every adapter write as fast as its link allows?",
    reads=("ib_write_job",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        Code(
            "ib_write.slow",
            (Remedy.TRIAGE,),
            f"an adapter writes less than `{SECTION}.write_gbitps_min`",
            twice=True,
        ),
        Code("ib_write.late", (Remedy.WATCH,), f"a small write takes longer than `{SECTION}.latency_us_max`"),
    ),
    source="perftest's ib_write_bw and ib_write_lat; pass marks for 8 MiB messages on one node from AzNHC's"
    " configurations: ND A100 v4 180, ND H100 v5 380, ND H200 v5 360 Gb/s",
    measures=(
        Measure("rails.*.gbitps", f"{SECTION}.write_gbitps_min"),
        Measure("rails.*.latency_us", f"{SECTION}.latency_us_max", higher=False),
    ),
)
