"""Do AMD's GPUs reach what AMD's own validation suite asks of their model?"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import rvs
from fleet_runner.core.checks.parsers.rvs import Copy, Outcome, Report
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
    findings += _slow_copies(report.copies, expected)
    observed = {
        "gpus": {_name(gpu, names): _reached(gpu, report.outcomes) for gpu in sorted(gpus)},
        "copies_gbps": {action: round(median(rates), 3) for action, rates in _rates(report.copies).items()},
        "failed": list(report.failed),
        "rc": job.rc,
    }
    actions = {each.action for each in report.outcomes} | {each.action for each in report.copies}
    passed = f"RVS found nothing wrong with {len(_tested(report))} GPUs in {len(actions)} actions"
    unread = list(_unread(report, findings, expected))
    if job.rc:
        unread.insert(0, jobs.failed(job))
    return unless_unread(conclude("rvs", findings, passed, observed), unread)


def _names(readings: Readings) -> Mapping[int, str]:
    """Return addresses by the suite's numbers; without a usable answer of the driver the numbers themselves do."""
    reading = readings.get("kfd_topology")
    try:
        return rvs.addresses(reading.text) if reading is not None else {}
    except EvidenceError:
        return {}


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


def _rates(copies: Sequence[Copy]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for each in copies:
        found.setdefault(each.action, []).append(each.rate)
    return found


def _slow_copies(copies: Sequence[Copy], expected: Expected) -> Iterator[Finding]:
    """Find copies far below the median of their action; a GPU in most of its copies slow is one fault."""
    section = profile.section(expected.profile, SECTION)
    share = section.number("copy_share_min") if section.has("copy_share_min") else 0.0
    usual = {action: median(rates) for action, rates in _rates(copies).items()}
    slow = [each for each in copies if each.rate < usual[each.action] * share]
    of_gpu = Counter(gpu for each in copies for gpu in each.gpus)
    bad = {
        gpu for gpu, count in Counter(gpu for each in slow for gpu in each.gpus).items() if count * 2 > of_gpu[gpu]
    }
    told: set[str] = set()
    for each in slow:
        mine = [gpu for gpu in each.gpus if gpu in bad] or sorted(each.gpus)
        name = " and ".join(f"GPU {gpu}" for gpu in (mine[:1] if bad.intersection(mine) else mine))
        if name not in told:
            told.add(name)
            low = f"expected at least {share:.0%} of the node's median {usual[each.action]:g}"
            yield about(expected.node, "rvs.copy", name)(
                message=f"{name} copies {each.rate:g} GB/s in {each.action}, {low}",
                remedy=Remedy.TRIAGE,
                steps=("Look at the links of these GPUs (amd-smi xgmi -l, amd-smi metric --pcie).",),
            )


def _tested(report: Report) -> set[str]:
    """Return the GPUs that were tested, by the suite's numbers where it tells them, else by their addresses."""
    by_number = {str(each.gpu) for each in report.outcomes}
    return by_number or {gpu for each in report.copies for gpu in each.gpus}


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
    tested = len(_tested(report))
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
        Code(
            "rvs.copy",
            (Remedy.TRIAGE,),
            f"copies below `{SECTION}.copy_share_min` of their action's median",
            twice=True,
        ),
        Code("rvs.power", (Remedy.TRIAGE,), "less power than the target of an action", twice=True),
    ),
    source="RVS's own targets for each model of GPU (rvs/conf), and its messages (its modules gst and iet)."
    " `level` is 1 to 5 (`rvs -r`, ROCm 7.1.1 and newer); `config` names a file of actions.",
)
