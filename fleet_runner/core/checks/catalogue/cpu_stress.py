"""Do the processors, their caches and the memory compute correctly under load?"""

from collections.abc import Iterator

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import stress_ng
from fleet_runner.core.checks.parsers.stress_ng import Run
from fleet_runner.core.checks.shared import jobs
from fleet_runner.core.checks.shared.pass_marks import missed
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME = "cpu_stress"
SECTION = f"active.{NAME}"
STRESSORS = ("cpu", "matrix", "cache", "vm")
"""What runs at once: every method of arithmetic, products of matrices, the caches, and patterns in memory."""

NOT_RIGHT = 2
"""The exit status of a run of which a stressor failed (stress-ng's manual, EXIT STATUS)."""


def judge(readings: Readings, expected: Expected) -> Result:
    """A result that was verified and is wrong is a fault; whatever kept stress-ng from its work is none."""
    wanted = profile.section(expected.profile, SECTION)
    job = jobs.read(readings[f"{NAME}_job"])
    still = jobs.unended(NAME, job)
    if still is not None:
        return still
    if job.state == "lost" or job.rc not in {0, NOT_RIGHT}:
        jobs.output_of(job, expected)
    run = stress_ng.parse(job.output)
    findings = list(_findings(run, wanted, expected, rc=job.rc))
    observed = {"bogo_ops_per_second": run.rates, "wrong": len(run.wrong), "elapsed": job.elapsed}
    passed = f"{', '.join(STRESSORS)} ran for {job.elapsed:.0f} s on every processor, and every result was right"
    return unless_unread(conclude(NAME, findings, passed, observed), _unread(run, wanted, job.rc))


def _findings(run: Run, wanted: Section, expected: Expected, *, rc: int) -> Iterator[Finding]:
    if run.wrong and rc == NOT_RIGHT:
        first, *others = run.wrong
        more = f" (and {len(others)} more)" if others else ""
        yield about(expected.node, "cpu_stress.wrong", "processors and memory")(
            message=f"stress-ng found a wrong result: {first:.160}{more}; expected none",
            remedy=Remedy.TRIAGE,
            steps=(
                f"Look at memory_errors and at the kernel log of {expected.node} for machine checks.",
                "Test the memory alone (memtest): a wrong result without a memory error points to a processor.",
            ),
        )
    low = missed(wanted, "cpu_bogo_ops_per_second_min", run.rates.get("cpu", 0.0)) if "cpu" in run.rates else ""
    if low:
        yield about(expected.node, "cpu_stress.slow", "processors")(
            message=f"the processors reached {low} bogo operations per second",
            remedy=Remedy.TRIAGE,
            steps=("Compare clocks, power profile (BIOS) and temperatures with a healthy node of the same type.",),
        )


def _unread(run: Run, wanted: Section, rc: int) -> list[str]:
    """Say what was not tested; a command of the profile's own may run other stressors."""
    asked = () if wanted.has("argv") else STRESSORS
    idle = [name for name in asked if name not in run.rates]
    return [
        *(f"stress-ng: {text:.160}; expected it to run undisturbed" for text in run.trouble),
        *([f"stress-ng reports no figures for {', '.join(idle)}; did they run?"] if idle else []),
        *([f"stress-ng exited with {rc} and gives no reason; run it again"] if rc and not run.wrong else []),
    ]


def order(expected: Expected) -> Order:
    """Return the load: the profile's own command, or every stressor on every processor with a share of memory."""
    wanted = profile.section(expected.profile, SECTION)
    seconds = wanted.number("seconds")
    if wanted.has("argv"):
        return Order(wanted.texts("argv"), seconds)
    share = wanted.number("memory_share")
    if not 0 < share < 1:
        raise EvidenceError(
            f"fleet_profile.{SECTION}.memory_share: found {share:g}, expected more than 0 and less than 1"
        )
    each = [word for name in STRESSORS for word in (f"--{name}", "0")]
    rest = ("--vm-bytes", f"{share:.0%}", "--verify", "--metrics", "--timeout", f"{seconds:.0f}")
    return Order(("stress-ng", *each, *rest), seconds)


CHECK = Check(
    name=NAME,
    question="Do the processors, their caches and the memory compute correctly under load?",
    reads=(f"{NAME}_job",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        Code("cpu_stress.wrong", (Remedy.TRIAGE,), "stress-ng found a wrong result"),
        Code(
            "cpu_stress.slow",
            (Remedy.TRIAGE,),
            f"the processors reached less than `{SECTION}.cpu_bogo_ops_per_second_min`",
            twice=True,
        ),
    ),
    source="stress-ng's manual: `--verify`, and its exit status 2. There is no public pass mark for bogo operations: "
    "they compare only nodes of one type under one version of stress-ng.",
    measures=(Measure("bogo_ops_per_second.cpu", f"{SECTION}.cpu_bogo_ops_per_second_min"),),
)
