"""Are the node's disks as fast as they should be, without errors?"""

from collections.abc import Iterator

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import PROGRAM, Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import fio
from fleet_runner.core.checks.parsers.fio import Measured
from fleet_runner.core.checks.shared import jobs
from fleet_runner.core.checks.shared.pass_marks import missed
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME = "disk_speed"
SECTION = f"active.{NAME}"

FAULTY = frozenset({5, 61, 74, 84, 117, 121})
"""Error numbers of Linux by which a disk or its file system says that data are lost: EIO, ENODATA (a medium error),
EBADMSG, EILSEQ (a checksum), EUCLEAN, EREMOTEIO. Others (no space, not permitted) say nothing about the disk."""

READ_SECONDS = 30.0
"""Of each way of reading, where the profile says nothing."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold each target against the marks; one that could not be measured makes a PASS UNKNOWN."""
    wanted = profile.section(expected.profile, SECTION)
    job = jobs.read(readings[f"{NAME}_job"])
    still = jobs.unended(NAME, job)
    if still is not None:
        return still
    every = fio.parse(jobs.output_of(job, expected))
    findings = [finding for each in every for finding in _findings(each, wanted, expected)]
    unread = [
        f"{each.target}: {each.trouble}; expected a measurement"
        for each in every
        if each.trouble and each.error not in FAULTY
    ]
    measured = [each for each in every if not each.trouble]
    unread += [] if measured or unread or findings else ["nothing was measured; does the profile name a target?"]
    observed = {"targets": {f"{each.target} {each.kind}": _observed(each) for each in measured}}
    passed = f"{len(measured)} measurements of {len({each.target for each in measured})} targets, without an error"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _observed(each: Measured) -> dict[str, float | None]:
    if each.kind == "randread":
        return {"random_read_iops": round(each.iops), "random_read_p99_ms": each.p99_ms}
    return {f"{each.kind}_gbps": round(each.gbps, 3)}


def _findings(each: Measured, wanted: Section, expected: Expected) -> Iterator[Finding]:
    if each.error in FAULTY:
        yield about(expected.node, "disk_speed.error", each.target)(
            message=f"{each.target}: {each.kind} ended with {each.trouble}; expected no error",
            remedy=Remedy.TRIAGE,
            steps=(
                f"Look at the SMART data of the disk behind {each.target} and at the kernel log (disk_health).",
                "Replace the disk if either shows media errors.",
            ),
        )
    if each.trouble:
        return
    words = {
        "write": (("write_gbps_min", each.gbps, " GB/s", "writes"),),
        "read": (("read_gbps_min", each.gbps, " GB/s", "reads"),),
        "randread": (
            ("random_read_iops_min", each.iops, " IOPS", "reads at random"),
            ("random_read_p99_ms_max", each.p99_ms or 0.0, " ms", "answers 99 of 100 random reads within"),
        ),
    }[each.kind]
    for name, value, unit, does in words:
        low = missed(wanted, name, value, unit)
        if low:
            yield about(expected.node, "disk_speed.slow", each.target)(
                message=f"{each.target} {does} {low}",
                remedy=Remedy.TRIAGE,
                steps=(f"Look at the wear, the temperature and the PCIe width of the disks behind {each.target}.",),
            )


def order(expected: Expected) -> Order:
    """Return the measurement of the profile's folders and raw devices; the latter are only read."""
    wanted = profile.section(expected.profile, SECTION)
    folders = wanted.texts("folders") if wanted.has("folders") else ()
    devices = wanted.texts("devices") if wanted.has("devices") else ()
    if not folders and not devices:
        raise EvidenceError(f"fleet_profile.{SECTION}: found neither folders nor devices, expected at least one")
    size = wanted.number("file_gb") if folders else 0.0
    seconds = wanted.number("seconds") if wanted.has("seconds") else READ_SECONDS
    targets = [word for path in folders for word in ("--folder", path)]
    targets += [word for path in devices for word in ("--device", path)]
    words = ("--bytes", f"{size * 1e9:.0f}", "--seconds", f"{seconds:g}")
    # Two ways of reading for each target; how many devices match a pattern, and how long writing takes, is not known.
    return Order(("python3", PROGRAM, *targets, *words), 3 * seconds * (len(folders) + len(devices)), f"{NAME}.py")


CHECK = Check(
    name=NAME,
    question="Are the node's disks as fast as they should be, without errors?",
    reads=(f"{NAME}_job",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        Code("disk_speed.error", (Remedy.TRIAGE,), "reading or writing ended with an error that means lost data"),
        Code(
            "disk_speed.slow",
            (Remedy.TRIAGE,),
            f"slower than a mark of `{SECTION}`: `read_gbps_min`, `write_gbps_min`, `random_read_iops_min`, "
            "`random_read_p99_ms_max`",
            twice=True,
        ),
    ),
    source="fio's JSON output; Linux's error numbers. Marks are those of the disk's own data sheet, or learned.",
    measures=(
        Measure("targets.*.read_gbps", f"{SECTION}.read_gbps_min"),
        Measure("targets.*.write_gbps", f"{SECTION}.write_gbps_min"),
        Measure("targets.*.random_read_iops", f"{SECTION}.random_read_iops_min"),
        Measure("targets.*.random_read_p99_ms", f"{SECTION}.random_read_p99_ms_max", higher=False),
    ),
)
