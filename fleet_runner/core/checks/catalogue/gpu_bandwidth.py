"""Do copies to, from, between and within the GPUs go as fast as they should?"""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from statistics import median
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import nvbandwidth
from fleet_runner.core.checks.parsers.job import Job
from fleet_runner.core.checks.parsers.nvbandwidth import Matrix, Report
from fleet_runner.core.checks.shared import gpu_names, jobs
from fleet_runner.core.checks.shared.culprits import culprits
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

SECTION = "active.gpu_bandwidth"

SECONDS = 60.0


class CopyDirection(NamedTuple):
    """One way of copying: the tests that measure it, the first being the one that is run; and how people call it."""

    tests: tuple[str, ...]
    words: str
    steps: tuple[str, ...]


_SLOT = "Compare {gpu}'s PCIe width and speed with gpu_pcie's answer, and reseat it if they are too low."
_NODE = "Compare the node's settings for IOMMU, ACS and PCIe with a good node's: a setting can slow every copy."

WAYS: Mapping[str, CopyDirection] = {
    "host_to_device": CopyDirection(
        ("host_to_device_memcpy_ce", "host_to_device_memcpy_sm"), "from the host", (_SLOT,)
    ),
    "device_to_host": CopyDirection(
        ("device_to_host_memcpy_ce", "device_to_host_memcpy_sm"), "to the host", (_SLOT,)
    ),
    "device_to_device": CopyDirection(
        (
            "device_to_device_memcpy_read_ce",
            "device_to_device_memcpy_write_ce",
            "device_to_device_memcpy_read_sm",
            "device_to_device_memcpy_write_sm",
        ),
        "between GPUs",
        ("Look at the state and errors of the NVLinks of {gpu} (nvidia-smi nvlink -s, -e).",),
    ),
    "local_copy": CopyDirection(
        ("device_local_copy",),
        "within its memory",
        ("Compare the memory clock of {gpu} with its neighbours', and run a field diagnostic of it.",),
    ),
}
"""The ways of copying by the beginning of the key that is their mark: "<way>_gbps_min"."""

NOTHING = "asks for nothing; set a pass mark, or name `ways` and learn them: fleet-runner baseline"

Rates = Mapping[frozenset[int], float]
"""GB/s by GPU, or by pair of GPUs."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold each way of copying that has a mark against it, GPU by GPU, and name the ones that are behind."""
    wanted = profile.section(expected.profile, SECTION)
    job = jobs.read(readings["gpu_bandwidth_job"])
    still = jobs.unended("gpu_bandwidth", job)
    if still is not None:
        return still
    report = _report(job, expected)
    measured = {way: rates for way in WAYS if (rates := _rates(way, report.matrices))}
    names = _names(readings, report, measured)
    findings = [
        *_wrong(report, expected.node),
        *(
            finding
            for way, rates in measured.items()
            for finding in _findings(way, rates, names, (wanted, expected.node))
        ),
    ]
    if not report.wrong and job.rc:
        said = f"; its output: {report.trouble[0]}" if report.trouble else ""
        raise EvidenceError(f"{jobs.failed(job)}{said}")
    observed = {"gpus": _observed(measured, names), "version": report.version}
    passed = f"{len(names)} GPUs copy as fast as they should: {', '.join(map(_told(wanted), _asked(wanted)))}"
    unread = list(_unread(wanted, measured, report, expected))
    return unless_unread(conclude("gpu_bandwidth", findings, passed, observed), unread)


def _report(job: Job, expected: Expected) -> Report:
    try:
        return nvbandwidth.parse(jobs.printed(job, expected))
    except EvidenceError as error:
        if job.state == "lost" or not job.rc:
            raise
        raise EvidenceError(jobs.failed(job)) from error


def _asked(wanted: Section) -> list[str]:
    """Return the ways of copying to be measured: the profile's own list, or those that have a mark."""
    listed = wanted.texts("ways") if wanted.has("ways") else ()
    strange = [way for way in listed if way not in WAYS]
    if strange:
        raise EvidenceError(
            f"fleet_profile.{SECTION}.ways: found {strange[0]:.40}, expected some of {', '.join(WAYS)}"
        )
    return [way for way in WAYS if way in listed or wanted.has(f"{way}_gbps_min")]


def _told(wanted: Section) -> Callable[[str], str]:
    return lambda way: way if wanted.has(f"{way}_gbps_min") else f"{way} (no pass mark)"


def _rates(way: str, matrices: tuple[Matrix, ...]) -> Rates:
    """Return what the first of a way's tests measured.

    Of several rows, one for each processor, the best counts; of the two directions between GPUs the slower.
    """
    by_test = {matrix.test: matrix for matrix in reversed(matrices)}
    matrix = next((by_test[test] for test in WAYS[way].tests if test in by_test), None)
    rates: dict[frozenset[int], float] = {}
    if matrix is None:
        return rates
    for row, cells in matrix.rows:
        for column, rate in zip(matrix.columns, cells, strict=True):
            if rate is None or (way == "device_to_device" and row == column):
                continue
            if way == "device_to_device":
                key = frozenset({row, column})
                rates[key] = min(rate, rates.get(key, rate))
            else:
                key = frozenset({column})
                rates[key] = max(rate, rates.get(key, rate))
    return rates


def _names(readings: Readings, report: Report, measured: Mapping[str, Rates]) -> dict[int, str]:
    """Return what findings call each GPU: its PCI address, as the tool tells it, or else nvidia-smi."""
    numbers = {number for rates in measured.values() for key in rates for number in key}
    told = {device.number: f"GPU {device.pci}" for device in report.devices if device.pci}
    gpus = gpu_names.listed(readings)
    known = gpus if len(gpus) == len(numbers) else ()
    return {number: told.get(number) or gpu_names.component(known, number) for number in sorted(numbers)}


def _observed(measured: Mapping[str, Rates], names: Mapping[int, str]) -> dict[str, dict[str, float]]:
    """Return of each GPU its rate each way; of its pairs the slowest."""
    return {
        name: {
            way: min(rate for key, rate in rates.items() if number in key)
            for way, rates in measured.items()
            if any(number in key for key in rates)
        }
        for number, name in names.items()
    }


def _wrong(report: Report, node: str) -> Iterator[Finding]:
    if report.wrong:
        yield about(node, "gpu_bandwidth.wrong", "GPUs")(
            message=f"copied data came back changed: {report.wrong[0]:.160}",
            remedy=Remedy.TRIAGE,
            steps=(f"Run dcgmi diag -r 4 on {node} to find the GPU or link that corrupts data.",),
        )


def _findings(way: str, rates: Rates, names: Mapping[int, str], whose: tuple[Section, str]) -> Iterator[Finding]:
    wanted, node = whose
    mark = wanted.number(f"{way}_gbps_min") if wanted.has(f"{way}_gbps_min") else 0.0
    usual = median(rates.values())
    bad = {key: rate for key, rate in rates.items() if rate < mark}
    if len(bad) == len(rates) > 1:
        yield about(node, f"gpu_bandwidth.{way}", "GPUs")(
            message=f"all copies {WAYS[way].words} are slow: {usual:.1f} GB/s is usual, expected {mark:g} or more",
            remedy=Remedy.TRIAGE,
            steps=(_NODE,),
        )
        return
    for culprit, pairs in culprits(bad):
        who, slowest = _called(culprit, names), min(bad[pair] for pair in pairs)
        yield about(node, f"gpu_bandwidth.{way}", who)(
            message=f"{who} copies {WAYS[way].words} at {slowest:.1f} GB/s, expected {mark:g} or more"
            f" (the node's median is {usual:.1f})",
            remedy=Remedy.TRIAGE,
            steps=tuple(step.format(gpu=who) for step in WAYS[way].steps),
        )
    share = wanted.number("share_min") if wanted.has("share_min") else 0.0
    for culprit, pairs in culprits(
        {key: rate for key, rate in rates.items() if key not in bad and rate < usual * share}
    ):
        who, slowest = _called(culprit, names), min(rates[pair] for pair in pairs)
        yield about(node, "gpu_bandwidth.behind", who)(
            message=f"{who} copies {WAYS[way].words} at {slowest:.1f} GB/s,"
            f" {slowest / usual:.0%} of the node's median, expected at least {share:.0%}",
            remedy=Remedy.WATCH,
        )


def _called(culprit: frozenset[int], names: Mapping[int, str]) -> str:
    return " and ".join(names[number] for number in sorted(culprit))


def _unread(wanted: Section, measured: Mapping[str, Rates], report: Report, expected: Expected) -> Iterator[str]:
    said = f" ({report.trouble[0]})" if report.trouble else ""
    count = profile.parts(expected.profile, "gpu").count
    if not _asked(wanted):
        yield f"fleet_profile.{SECTION} {NOTHING}"
    for way in _asked(wanted):
        rates = measured.get(way, {})
        keys = {frozenset({number}) for number in range(count)}
        if way == "device_to_device":
            keys = {frozenset(pair) for pair in combinations(range(count), 2)}
        if count and len(rates) < len(keys):
            what = "pairs of GPUs" if way == "device_to_device" else "GPUs"
            yield f"copies {WAYS[way].words} were measured on {len(rates)} of {len(keys)} {what}{said}"


def order(expected: Expected) -> Order:
    """Return the tests that are asked for; each takes seconds."""
    wanted = profile.section(expected.profile, SECTION)
    seconds = wanted.number("seconds") if wanted.has("seconds") else SECONDS
    if wanted.has("argv"):
        return Order(wanted.texts("argv"), seconds)
    tests = [WAYS[way].tests[0] for way in _asked(wanted)]
    if not tests:
        raise EvidenceError(f"fleet_profile.{SECTION} {NOTHING}")
    return Order((*gpu_names.BY_PCI, "nvbandwidth", "-t", *tests), seconds)


CHECK = Check(
    name="gpu_bandwidth",
    question="Do copies to, from, between and within the GPUs go as fast as they should?",
    reads=("gpu_bandwidth_job",),
    also=("nvidia_smi",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        *(
            Code(
                f"gpu_bandwidth.{way}",
                (Remedy.TRIAGE,),
                f"copies {WAYS[way].words} are below `{way}_gbps_min`",
                twice=True,
            )
            for way in WAYS
        ),
        Code("gpu_bandwidth.behind", (Remedy.WATCH,), "a GPU is below `share_min` of its node's median"),
        Code("gpu_bandwidth.wrong", (Remedy.TRIAGE,), "copied data came back changed"),
    ),
    source="nvbandwidth's tests; pass marks from AzNHC's configurations: to and from the host A100 21, H100 and H200"
    " 48 GB/s, between GPUs A100 238, H100 and H200 335 GB/s",
    measures=tuple(Measure(f"gpus.*.{way}", f"{SECTION}.{way}_gbps_min") for way in WAYS),
)
