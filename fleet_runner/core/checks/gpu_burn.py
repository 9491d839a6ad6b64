"""Did every GPU compute rightly and fast for as long as the burn-in asks?"""

from collections.abc import Iterator
from statistics import median

from fleet_runner.core import profile
from fleet_runner.core.checks import jobs
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Order, Readings
from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.evidence import Expected
from fleet_runner.core.parsers import gpu_burn
from fleet_runner.core.parsers.gpu_burn import Burn
from fleet_runner.core.parsers.job import Job
from fleet_runner.core.verdicts import Finding, Remedy, Result

ENOUGH = 0.95
"""The share of the asked seconds that a run must have taken: gpu-burn counts its start and end too."""


def judge(readings: Readings, expected: Expected) -> Result:
    """UNKNOWN while the load runs, with `working` observed; its answer counts only after the whole time."""
    wanted = profile.burn_in(expected.profile)
    job = jobs.read(readings["gpu_burn_job"])
    still = jobs.unended("gpu_burn", job)
    if still is not None:
        return still
    burn = _ended(job, expected.node)
    findings = list(_findings(burn, wanted, expected))
    observed = {"gflops": list(burn.gflops), "faulty": list(burn.faulty), "elapsed": job.elapsed}
    passed = f"{len(burn.faulty)} GPUs computed without an error for {job.elapsed:.0f} s"
    return unless_unread(conclude("gpu_burn", findings, passed, observed), _unread(job, burn, wanted))


def _ended(job: Job, node: str) -> Burn:
    if job.state == "lost":
        raise EvidenceError(f"{node}: the load is gone without an end; did the node reboot? It must be started anew")
    try:
        return gpu_burn.parse(job.output)
    except EvidenceError as error:
        lines = job.output.strip().splitlines()
        last = f", last said: {lines[-1]:.160}" if lines else ""
        raise EvidenceError(f"the load exited with {job.rc}{last}; {error}") from error


def _findings(burn: Burn, wanted: profile.BurnIn, expected: Expected) -> Iterator[Finding]:
    count = profile.parts(expected.profile, "gpu").count
    if len(burn.faulty) < count:
        yield about(expected.node, "gpu_burn.missing", "GPUs")(
            message=f"the load found {len(burn.faulty)} of {count} GPUs",
            remedy=Remedy.TRIAGE,
            steps=("Compare nvidia-smi's GPUs with the order, and reseat the one that is missing.",),
        )
    # The median of the node itself: what a GPU model reaches depends on gpu-burn's build and on the power limit.
    usual = median(burn.gflops) if burn.gflops else 0.0
    for number, faulty in enumerate(burn.faulty):
        errors = burn.errors[number] if burn.errors else 0
        if faulty or errors:
            yield about(expected.node, "gpu_burn.faulty", f"GPU {number}")(
                message=f"GPU {number} computed wrong results under load ({errors} in the last count)",
                remedy=Remedy.TRIAGE,
                steps=(
                    f"Run a field diagnostic of GPU {number} (gpu-burn's number).",
                    "Replace it if that fails too.",
                ),
            )
        if burn.gflops and 0 < burn.gflops[number] < usual * wanted.gpu_gflops_share_min:
            share = burn.gflops[number] / usual
            yield about(expected.node, "gpu_burn.slow", f"GPU {number}")(
                message=f"GPU {number} reached {burn.gflops[number]} Gflop/s, {share:.0%} of the node's median,"
                f" expected at least {wanted.gpu_gflops_share_min:.0%}",
                remedy=Remedy.TRIAGE,
                steps=(f"Check the clocks, power limit and temperature of GPU {number} under load.",),
            )


def _unread(job: Job, burn: Burn, wanted: profile.BurnIn) -> list[str]:
    if min(job.elapsed, job.seconds) < wanted.seconds * ENOUGH:
        return [
            f"the load ran {min(job.elapsed, job.seconds):.0f} s, expected {wanted.seconds:.0f}; it must run again"
        ]
    if job.rc:
        return [f"the load's summary is good, but it exited with {job.rc}, expected 0"]
    if not burn.gflops or not all(burn.gflops):
        return ["the load's output does not tell how fast every GPU was"]
    return []


def order(expected: Expected) -> Order:
    """Return the load: the profile's own command, or gpu-burn on tensor cores, which are what tenants use."""
    seconds = profile.burn_in(expected.profile).seconds
    section = profile.section(expected.profile, "burn_in")
    if section.has("argv"):
        return Order(section.texts("argv"), seconds)
    return Order(("gpu_burn", "-tc", f"{seconds:.0f}"), seconds)


CHECK = Check(
    name="gpu_burn",
    question="Did every GPU compute rightly and as fast as its neighbours for the whole burn-in?",
    reads=("gpu_burn_job",),
    judge=judge,
    active=True,
    job=order,
)
