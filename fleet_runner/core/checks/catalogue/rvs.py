"""Do AMD's GPUs reach what AMD's own validation suite asks of their model?"""

from collections.abc import Iterator, Mapping, Sequence

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import rvs
from fleet_runner.core.checks.parsers.rvs import Outcome, Report
from fleet_runner.core.checks.shared import jobs
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

SECTION = "active.rvs"

PROGRAM = "/opt/rocm/bin/rvs"
LEVELS = range(1, 6)


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge what each action says of each GPU; the suite exits with 0 also where a GPU missed its target."""
    job = jobs.read(readings["rvs_job"])
    still = jobs.unended("rvs", job)
    if still is not None:
        return still
    try:
        report = rvs.parse(jobs.printed(job, expected))
    except EvidenceError as error:
        if job.rc:
            raise EvidenceError(f"{jobs.failed(job)}; {error}") from error
        raise
    names = _names(readings)
    gpus = {each.gpu for each in report.outcomes}
    findings = [finding for gpu in sorted(gpus) for finding in _findings(gpu, names, report.outcomes, expected.node)]
    observed = {
        "gpus": {_name(gpu, names): _reached(gpu, report.outcomes) for gpu in sorted(gpus)},
        "failed": list(report.failed),
        "rc": job.rc,
    }
    passed = f"{len(gpus)} GPUs reached the targets of {len({each.action for each in report.outcomes})} actions"
    unread = list(_unread(report, findings, expected))
    if job.rc:
        unread.insert(0, jobs.failed(job))
    return unless_unread(conclude("rvs", findings, passed, observed), unread)


def _names(readings: Readings) -> Mapping[int, str]:
    reading = readings.get("kfd_topology")
    return rvs.addresses(reading.text) if reading is not None and reading.text else {}


def _name(gpu: int, names: Mapping[int, str]) -> str:
    return f"GPU {names[gpu]}" if gpu in names else f"GPU {gpu} of RVS"


def _reached(gpu: int, outcomes: Sequence[Outcome]) -> dict[str, float]:
    return {each.action: each.reached for each in outcomes if each.gpu == gpu and each.reached is not None}


def _findings(gpu: int, names: Mapping[int, str], outcomes: Sequence[Outcome], node: str) -> Iterator[Finding]:
    missed = [each for each in outcomes if each.gpu == gpu and not each.met]
    name = _name(gpu, names)
    steps = (f"Check the clocks, power limit and temperature of {name} under load.", "Follow AMD's service guide.")
    slow = [
        f"{each.reached:.0f} Gflop/s in {each.action}, expected {each.target:.0f}"
        for each in missed
        if each.reached is not None
    ]
    if slow:
        message = f"{name} reached {'; '.join(slow[:3])}"
        yield about(node, "rvs.slow", name)(message=message, remedy=Remedy.TRIAGE, steps=steps)
    power = [each.action for each in missed if each.reached is None]
    if power:
        message = f"{name} did not reach the power that RVS asks for in {', '.join(power[:3])}"
        yield about(node, "rvs.power", name)(message=message, remedy=Remedy.TRIAGE, steps=steps)


def _unread(report: Report, findings: Sequence[Finding], expected: Expected) -> Iterator[str]:
    """Say why output without a finding is still no PASS."""
    if report.trouble:
        yield f"RVS could not test: {report.trouble[0]}"
    told = {each.action for each in report.outcomes if not each.met}
    unnamed = [action for action in report.failed if action not in told]
    if unnamed:
        yield f"RVS calls {', '.join(unnamed[:3])} failed and names no GPU; run it by hand with -d 3"
    if not report.ended:
        yield "RVS did not come to its summary; run it again"
    count = profile.parts(expected.profile, "gpu").count
    tested = len({each.gpu for each in report.outcomes})
    if not findings and tested < count:
        yield f"RVS tested {tested} of {count} GPUs; look at parts_gpu first"


def order(expected: Expected) -> Order:
    """Return the suite at the profile's level, or with its file of actions."""
    section = profile.section(expected.profile, SECTION)
    seconds = section.number("seconds")
    if section.has("config"):
        return Order((PROGRAM, "-c", section.text("config")), seconds)
    level = section.whole("level")
    if level not in LEVELS:
        raise EvidenceError(f"fleet_profile.{SECTION}.level: found {level}, expected 1 to 5")
    return Order((PROGRAM, "-r", str(level)), seconds)


CHECK = Check(
    name="rvs",
    question="Do AMD's GPUs reach what AMD's own validation suite asks of their model?",
    reads=("rvs_job",),
    also=("kfd_topology",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        Code("rvs.slow", (Remedy.TRIAGE,), "fewer Gflop/s than the target of an action", twice=True),
        Code("rvs.power", (Remedy.TRIAGE,), "less power than the target of an action", twice=True),
    ),
    source="RVS's own targets for each model of GPU (rvs/conf), and its messages (its modules gst and iet)."
    " `level` is 1 to 5 (`rvs -r`, ROCm 7.1.1 and newer); `config` names a file of actions.",
)
