"""Do the GPUs pass NVIDIA's own diagnostic?"""

import re
from collections.abc import Mapping, Sequence

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import dcgm as parser
from fleet_runner.core.checks.parsers.dcgm import BAD, DEPLOYMENT, Outcome, Report
from fleet_runner.core.checks.parsers.job import Job
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu
from fleet_runner.core.checks.shared import gpu_names, jobs
from fleet_runner.core.checks.shared.dcgm_errors import own_trouble, remedy
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

SECTION = "active.dcgm"

SECONDS = {1: 10.0, 2: 120.0, 3: 900.0, 4: 5400.0}
"""How long each level takes: seconds, 2 minutes, a quarter of an hour, one to two hours (DCGM's guide)."""

LEVEL = 3

TESTS: Mapping[str, str] = {
    "memory": "memory could not be allocated, written or read",
    "memtest": "patterns written to the memory came back changed",
    "diagnostic": "matrix products were wrong, or too slow",
    "sm_stress": "the multiprocessors did not reach the requested speed",
    "targeted_stress": "the GPU did not reach the requested speed",
    "targeted_power": "the GPU did not reach the requested power",
    "pulse_test": "the GPU failed under changing load",
    "memory_bandwidth": "memory is slower than its limit",
    "pcie": "copies over PCIe or NVLink are slow or wrong, or the link retrains",
    "nvbandwidth": "copies over PCIe or NVLink are too slow",
    "nccl_tests": "NCCL's tests failed",
    "eud": "the field diagnostic found the GPU bad",
    "cpu_eud": "the field diagnostic found the CPU bad",
    "context_create": "no CUDA context could be created",
    "page_retirement_row_remap": "row remaps are pending or failed",
    "inforom": "the GPU's InfoROM is corrupt",
    "software": "what version 4 checks before its tests: drivers, settings, retired pages, InfoROM",
    "denylist": "a driver is loaded that must not be",
    "nvml_library": "NVML cannot be used",
    "cuda_main_library": "CUDA cannot be used",
    "permissions_and_os_blocks": "files of the driver cannot be opened",
    "persistence_mode": "persistence mode is off",
    "environment_variables": "the environment slows CUDA down",
    "graphics_processes": "graphics processes run on the GPU",
}
"""DCGM's tests, by the names that version 4 gives them, and what their failing means."""

RENAMED: Mapping[str, str] = {
    "gpu_memory": "memory",
    "eud_test": "eud",
    "cpu_eud_test": "cpu_eud",
    "blacklist": "denylist",
    "page_retirement": "page_retirement_row_remap",
    "ctxcreate": "context_create",
    "permissions_and_os_related_blocks": "permissions_and_os_blocks",
}
"""Names of the same tests in other versions: an update must not make a second ticket of one fault."""

OTHER = "other"

ANY = tuple(asked for asked in Remedy if asked is not Remedy.RECABLE)
"""What follows lies in a failed test's messages, more than in its name."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge the tests, not the exit status: dcgmi exits 226 also when only persistence mode is off."""
    job = jobs.read(readings["dcgm_job"])
    still = jobs.unended("dcgm", job)
    if still is not None:
        return still
    report = _report(job, expected)
    gpus = gpu_names.listed(readings)
    told = [outcome for outcome in report.outcomes if outcome.status in BAD]
    mine = [outcome for outcome in told if own_trouble(outcome)]
    failed = [outcome for outcome in told if not own_trouble(outcome)]
    findings = _once([_finding(outcome, report, gpus, expected.node) for outcome in failed])
    counts = {status: sum(each.status == status for each in report.outcomes) for status in sorted(parser.STATUSES)}
    settings = f", {len(failed)} only about settings" if failed else ""
    passed = f"{counts['pass']} test results passed{settings}"
    observed = {"results": counts, "rc": job.rc, "version": report.version, "driver": report.driver}
    unread = [*_troubled(mine), *_unread(report, failed, expected, job.rc)]
    return unless_unread(conclude("dcgm", findings, passed, observed), unread)


def _report(job: Job, expected: Expected) -> Report:
    try:
        return parser.parse(jobs.printed(job, expected))
    except EvidenceError as error:
        if job.rc:
            raise EvidenceError(f"{jobs.failed(job)}; {error}") from error
        raise


def named(outcome: Outcome) -> str:
    """Return the name of an outcome's test: version 4's, whatever the version at hand calls it."""
    slug = re.sub(r"[^a-z0-9]+", "_", outcome.test.lower()).strip("_")
    slug = RENAMED.get(slug, slug)
    return slug if slug in TESTS else OTHER


def _finding(outcome: Outcome, report: Report, gpus: tuple[Gpu, ...], node: str) -> Finding:
    test, component = named(outcome), _component(outcome, report, gpus)
    serial = report.serials.get(outcome.entity)
    whose = f" (serial {serial:.40})" if serial else ""
    why = f": {outcome.message}" if outcome.message else ""
    follows = remedy(outcome, test)
    return about(node, f"dcgm.{test}", component)(
        message=f"DCGM's {outcome.test:.60} failed on {component}{whose}{why}",
        remedy=follows,
        steps=_steps(follows, node, component + whose),
    )


def _steps(follows: Remedy, node: str, which: str) -> tuple[str, ...]:
    if follows is Remedy.TRIAGE:
        return (f"Run dcgmi diag -r 4 on {node} and keep its report.", f"Run a field diagnostic of {which}.")
    if follows is Remedy.RMA:
        return (f"Confirm it with a field diagnostic of {which}.", "Send the GPU back and put another in.")
    return ()


def _component(outcome: Outcome, report: Report, gpus: tuple[Gpu, ...]) -> str:
    """Return the GPU by its PCI address where the numbers lead to it; early versions name it in the message only."""
    named_in_text = sorted(set(re.findall(r"\bGPU (\d{1,3})\b", outcome.message)))
    entity = outcome.entity or (f"GPU {named_in_text[0]}" if len(named_in_text) == 1 else "")
    number = re.fullmatch(r"GPU (\d{1,3})", entity)
    if number is None:
        return entity or "GPUs"
    return gpu_names.component(gpus, int(number[1]), report.serials.get(entity, ""))


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """A test may fail twice on one GPU: it is one fault, and the hardest remedy counts."""
    mild_first = sorted(findings, key=lambda finding: list(Remedy).index(finding.remedy))
    hardest = {finding.fault: finding for finding in mild_first}
    return [hardest[fault] for fault in dict.fromkeys(finding.fault for finding in findings)]


def _troubled(outcomes: Sequence[Outcome]) -> list[str]:
    told = dict.fromkeys(
        f"DCGM's {each.test:.60} could not test ({each.message:.160}); run it again" for each in outcomes
    )
    return list(told)


def _unread(report: Report, failed: Sequence[Outcome], expected: Expected, rc: int) -> list[str]:
    """Say why a report without a hardware fault is still no PASS."""
    bad = [outcome for outcome in report.outcomes if outcome.status in BAD]
    if rc and not bad:
        return [f"dcgmi reports no failure but exited with {rc}, expected 0; run it again"]
    tests = [outcome for outcome in report.outcomes if outcome.category.lower() != DEPLOYMENT]
    passed = [outcome for outcome in tests if outcome.status == "pass"]
    if not passed and [outcome for outcome in failed if outcome.status == "fail"]:
        names = ", ".join(sorted({f"{outcome.test:.60}" for outcome in failed if outcome.status == "fail"}))
        return [f"DCGM tested no GPU because of the node's settings ({names}); correct them and run it again"]
    if not passed and _level(expected) > 1:
        return [f"DCGM tested no GPU, expected its level {_level(expected)}; run it again"]
    tested = {number for each in passed if each.entity.startswith("GPU ") for number in each.entity[4:].split(",")}
    if tested and profile.has(expected.profile, "parts.gpu"):
        count = profile.parts(expected.profile, "gpu").count
        if len(tested) < count:
            return [f"DCGM tested {len(tested)} of {count} GPUs; look at parts_gpu first"]
    return []


def _level(expected: Expected) -> int:
    section = profile.section(expected.profile, SECTION)
    level = section.whole("level") if section.has("level") else LEVEL
    if level not in SECONDS:
        raise EvidenceError(f"fleet_profile.{SECTION}.level: found {level}, expected 1, 2, 3 or 4")
    return level


def order(expected: Expected) -> Order:
    """Return the diagnostic at the profile's level, with its parameters ("diagnostic.test_duration=300;...")."""
    section, level = profile.section(expected.profile, SECTION), _level(expected)
    seconds = section.number("seconds") if section.has("seconds") else SECONDS[level]
    words = ("-p", section.text("parameters")) if section.has("parameters") else ()
    # nv-hostengine, not dcgmi, starts what does the work.
    return Order(("dcgmi", "diag", "-r", str(level), *words, "-j"), seconds, helpers=("nvvs",))


CHECK = Check(
    name="dcgm",
    question="Do the GPUs pass NVIDIA's own diagnostic?",
    reads=("dcgm_job",),
    also=("nvidia_smi",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        *(Code(f"dcgm.{test}", ANY, meaning) for test, meaning in TESTS.items()),
        Code(f"dcgm.{OTHER}", ANY, "a test failed that this catalogue does not know"),
    ),
    source="DCGM's diagnostics guide for levels and tests; its public dcgm_errors.h for error numbers and severities;"
    " NVIDIA's RMA policy for row remapping and SRAM errors",
)
