"""Is the memory of the processors as fast as it should be?"""

from collections.abc import Iterator

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import stress_ng
from fleet_runner.core.checks.shared import jobs
from fleet_runner.core.checks.shared.pass_marks import missed
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME = "memory_bandwidth"
SECTION = f"active.{NAME}"


def judge(readings: Readings, expected: Expected) -> Result:
    """Add up what all instances of the stream stressor read and wrote per second, one of them on each processor.

    It is not the number of the STREAM benchmark, which the same memory may exceed or miss: compare it only with
    itself, on nodes of one type.
    """
    wanted = profile.section(expected.profile, SECTION)
    job = jobs.read(readings[f"{NAME}_job"])
    still = jobs.unended(NAME, job)
    if still is not None:
        return still
    run = stress_ng.parse(jobs.output_of(job, expected))
    if not run.memory_gbps:
        raise EvidenceError(
            "stress-ng reports no memory rate; it needs 5 s or more for one: correct the profile's "
            f"{SECTION}.seconds, or run it again"
        )
    total = sum(run.memory_gbps)
    findings = list(_findings(total, wanted, expected))
    observed = {"gbps": round(total, 3), "instances": len(run.memory_gbps)}
    passed = f"{len(run.memory_gbps)} instances read and wrote {total:.4g} GB/s together"
    unread = [f"stress-ng: {text:.160}" for text in run.trouble + run.wrong]
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _findings(total: float, wanted: Section, expected: Expected) -> Iterator[Finding]:
    low = missed(wanted, "gbps_min", total, " GB/s")
    if low:
        yield about(expected.node, "memory_bandwidth.low", "memory")(
            message=f"the memory reaches {low}",
            remedy=Remedy.TRIAGE,
            steps=(
                "Compare the DIMMs and their speeds with the bill of materials: each slow or empty slot counts.",
                "Compare the BIOS settings for memory speed, interleaving and NUMA with their pins.",
            ),
        )


def order(expected: Expected) -> Order:
    """Return the measurement: an instance on each processor."""
    seconds = profile.section(expected.profile, SECTION).number("seconds")
    return Order(("stress-ng", "--stream", "0", "--metrics", "--timeout", f"{seconds:.0f}"), seconds)


CHECK = Check(
    name=NAME,
    question="Is the memory of the processors as fast as it should be?",
    reads=(f"{NAME}_job",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        Code(
            "memory_bandwidth.low",
            (Remedy.TRIAGE,),
            f"less is read and written than `{SECTION}.gbps_min`",
            twice=True,
        ),
    ),
    source="stress-ng's stream stressor, whose manual says that its figures are not STREAM's; there is no public "
    "pass mark for them, so a mark is learned from nodes that are known to be good.",
    measures=(Measure("gbps", f"{SECTION}.gbps_min"),),
)
