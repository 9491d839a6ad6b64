"""Did every GPU compute rightly and fast for as long as the burn-in asks?"""

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import gpu_burn
from fleet_runner.core.checks.parsers.gpu_burn import Burn
from fleet_runner.core.checks.parsers.job import Job
from fleet_runner.core.checks.shared import gpu_names, jobs
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

ENOUGH = 0.95
"""The share of the asked seconds that a run must have taken: gpu-burn counts its start and end too."""


def judge(readings: Readings, expected: Expected) -> Result:
    """UNKNOWN while the load runs, with `working` observed; its answer counts only after the whole time."""
    wanted = profile.burn_in(expected.profile)
    job = jobs.read(readings["gpu_burn_job"])
    still = jobs.unended("gpu_burn", job, so_far)
    if still is not None:
        return still
    burn = _ended(job, expected)
    names = _names(readings, burn)
    findings = [
        *_missing(burn, expected),
        *_faulty(burn, names, expected.node),
        *_slow(burn, names, wanted, expected),
    ]
    observed = {
        "gflops": list(burn.gflops),
        "faulty": list(burn.faulty),
        "errors": list(burn.errors),
        "celsius": list(burn.celsius),
        "gpus": names,
        "by_gpu": _by_gpu(burn, names),
        "elapsed": job.elapsed,
    }
    passed = f"{len(burn.faulty)} GPUs computed without an error for {job.elapsed:.0f} s"
    return unless_unread(conclude("gpu_burn", findings, passed, observed), _unread(job, burn, names, wanted))


def _by_gpu(burn: Burn, names: list[str]) -> dict[str, dict[str, int]]:
    """Return of each GPU what was measured, by the name that findings have for it."""
    told: dict[str, dict[str, int]] = {name: {} for name in names}
    for what, values in (("gflops", burn.gflops), ("celsius", burn.celsius)):
        for name, value in zip(names, values, strict=False):  # there are none where no progress was printed
            told[name] |= {what: value} if value else {}
    return told


def so_far(output: str) -> Mapping[str, Any]:
    """Return how far a load is, and how each GPU does."""
    line = gpu_burn.progress(output)
    if line is None:
        return {}
    told = {"gflops": list(line.gflops), "errors": list(line.errors), "celsius": list(line.celsius)}
    return told if line.percent is None else {"percent": line.percent, **told}


def _ended(job: Job, expected: Expected) -> Burn:
    try:
        return gpu_burn.parse(jobs.printed(job, expected))
    except EvidenceError as error:
        if job.state == "lost":
            raise
        raise EvidenceError(f"{jobs.failed(job)}; {error}") from error


def _names(readings: Readings, burn: Burn) -> list[str]:
    """Return what findings call the GPUs: their PCI addresses, where nvidia-smi tells as many as were loaded."""
    gpus = gpu_names.listed(readings)
    known = gpus if len(burn.faulty) in {1, len(gpus)} else ()
    return [gpu_names.component(known, number) for number in burn.numbers]


def _missing(burn: Burn, expected: Expected) -> Iterator[Finding]:
    count = profile.parts(expected.profile, "gpu").count
    if len(burn.faulty) < count:
        yield about(expected.node, "gpu_burn.missing", "GPUs")(
            message=f"the load found {len(burn.faulty)} of {count} GPUs",
            remedy=Remedy.TRIAGE,
            steps=("Compare nvidia-smi's GPUs with the order, and reseat the one that is missing.",),
        )


def _faulty(burn: Burn, names: list[str], node: str) -> Iterator[Finding]:
    for nth, name in enumerate(names):
        errors = burn.errors[nth] if burn.errors else 0
        died = bool(burn.died) and burn.died[nth]
        if died and not errors:
            if burn.gflops[nth]:
                yield about(node, "gpu_burn.died", name)(
                    message=f"the load on {name} stopped before its end",
                    remedy=Remedy.TRIAGE,
                    steps=(f"Look for Xids of {name} in the kernel log.", f"Run a field diagnostic of {name}."),
                )
        elif burn.faulty[nth] or errors:
            count = f" ({errors} in the worst count)" if errors else ""
            yield about(node, "gpu_burn.faulty", name)(
                message=f"{name} computed wrong results under load{count}",
                remedy=Remedy.TRIAGE,
                steps=(f"Run a field diagnostic of {name}.", "Replace it if that fails too."),
            )


def _slow(burn: Burn, names: list[str], wanted: profile.BurnIn, expected: Expected) -> Iterator[Finding]:
    """Find the GPU below its mark, or far below the others of its node.

    What a GPU model reaches depends on gpu-burn's build and on the power limit: a mark is there only where a baseline
    was learned, and the node's own median always.
    """
    section = profile.section(expected.profile, "burn_in")
    mark = section.number("gpu_gflops_min") if section.has("gpu_gflops_min") else 0.0
    usual = median([rate for rate in burn.gflops if rate] or [0.0])
    share = wanted.gpu_gflops_share_min
    for name, rate in zip(names, burn.gflops, strict=False):
        if not rate:
            continue
        below = f"{rate / usual:.0%} of the node's median, expected at least {share:.0%}"
        if rate < usual * share or rate < mark:
            why = below if rate < usual * share else f"expected at least {mark:.0f}"
            yield about(expected.node, "gpu_burn.slow", name)(
                message=f"{name} reached {rate} Gflop/s, {why}",
                remedy=Remedy.TRIAGE,
                steps=(f"Check the clocks, power limit and temperature of {name} under load.",),
            )


def _unread(job: Job, burn: Burn, names: list[str], wanted: profile.BurnIn) -> list[str]:
    if min(job.elapsed, job.seconds) < wanted.seconds * ENOUGH:
        return [
            f"the load ran {min(job.elapsed, job.seconds):.0f} s, expected {wanted.seconds:.0f}; it must run again"
        ]
    if job.rc:
        return [f"the load's summary is good, but it exited with {job.rc}, expected 0"]
    unstarted = [name for name, died, rate in zip(names, burn.died, burn.gflops, strict=False) if died and not rate]
    if unstarted:
        return [f"the load could not start on {', '.join(unstarted)}; is its memory in use?"]
    if not burn.gflops or not all(burn.gflops):
        return ["the load's output does not show how fast every GPU was"]
    return []


def order(expected: Expected) -> Order:
    """Return the load: the profile's own command, or gpu-burn on tensor cores, which are what tenants use."""
    seconds = profile.burn_in(expected.profile).seconds
    section = profile.section(expected.profile, "burn_in")
    own = section.texts("argv") if section.has("argv") else ("gpu_burn", "-tc", f"{seconds:.0f}")
    return Order((*gpu_names.BY_PCI, *own), seconds)


CHECK = Check(
    name="gpu_burn",
    question="Did every GPU compute correctly and as fast as its neighbours for the whole burn-in?",
    reads=("gpu_burn_job",),
    also=("nvidia_smi",),
    judge=judge,
    active=True,
    job=order,
    section="burn_in",
    codes=(
        Code("gpu_burn.faulty", (Remedy.TRIAGE,), "a GPU computed wrong results"),
        Code("gpu_burn.died", (Remedy.TRIAGE,), "the load of one GPU ended before its time"),
        Code(
            "gpu_burn.slow",
            (Remedy.TRIAGE,),
            "a GPU is slower than a share of its node's median, or than its mark",
            twice=True,
        ),
        Code("gpu_burn.missing", (Remedy.TRIAGE,), "the load found fewer GPUs than the device type has"),
    ),
    source="gpu-burn's own verdict and counts; 24 to 48 hours of load as CoreWeave's documentation describes;"
    " the share of the median is ours",
    measures=(Measure("gflops.*", "burn_in.gpu_gflops_min"),),
)
