"""Do the nodes of a group compute correct sums together, and as fast as their network allows?"""

from collections.abc import Iterator, Mapping

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import PROGRAM, Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import allreduce
from fleet_runner.core.checks.parsers.allreduce import AllreduceResult
from fleet_runner.core.checks.shared import jobs
from fleet_runner.core.checks.shared.pass_marks import missed
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME = "allreduce"
SECTION = f"active.{NAME}"
APART = "apart"
"""What is observed where ranks did not come together: why not. Of a group, that is an answer like a wrong sum."""

BYTES = {"nccl": 268_435_456, "gloo": 16_777_216}
"""Added up at once, where the profile says nothing: enough for the network to matter more than the beginning."""

LIMIT_SECONDS = 120
"""How long ranks wait for each other, where the profile says nothing."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge one node's part in a group: any of the group may be the one at fault, so each is only watched.

    Which of them it is, smaller groups tell (`fleet-runner allreduce`, `core.checks.bisection`).
    """
    wanted = profile.section(expected.profile, SECTION)
    job = jobs.read(readings[f"{NAME}_job"])
    still = jobs.unended(NAME, job)
    if still is not None:
        return still
    sums = allreduce.parse(jobs.output_of(job, expected))
    findings = list(_findings(sums, wanted, expected))
    observed = {"nodes": sums.nodes, "ranks": sums.ranks, "backend": sums.backend, "wrong": sums.wrong}
    observed |= {f"{sums.backend}_bus_gbps": sums.bus_gbps} if not sums.troubles else {APART: list(sums.troubles)}
    passed = f"{sums.ranks} ranks on {sums.nodes} nodes summed correctly at {sums.bus_gbps:.4g} GB/s ({sums.backend})"
    unread = [f"the group did not finish: {text}" for text in sums.troubles]
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def mark(backend: str) -> str:
    """Return the profile's key for a backend: what processors and GPUs reach is not the same."""
    return f"{backend}_bus_gbps_min"


def _findings(sums: AllreduceResult, wanted: Section, expected: Expected) -> Iterator[Finding]:
    group = f"a group of {sums.nodes} nodes"
    if sums.wrong:
        yield about(expected.node, "allreduce.wrong", "all-reduce")(
            message=f"{expected.node} got {sums.wrong} wrong sums in {group}, expected none; "
            "find the bad node with: fleet-runner allreduce",
            remedy=Remedy.WATCH,
        )
    low = missed(wanted, mark(sums.backend), sums.bus_gbps, " GB/s") if not sums.troubles else ""
    if low:
        yield about(expected.node, "allreduce.slow", "all-reduce")(
            message=f"{group} reaches {low} bus bandwidth ({sums.backend}); "
            "find the bad node with: fleet-runner allreduce",
            remedy=Remedy.WATCH,
        )


def order(expected: Expected) -> Order:
    """Return a node's part in its group, which only whoever chose the group knows (`fleet-runner allreduce`)."""
    wanted = profile.section(expected.profile, SECTION)
    group = expected.run.get("group")
    if not isinstance(group, Mapping):
        raise EvidenceError(f"{expected.node} is in no group; fleet-runner allreduce NODE... tests one")
    python = wanted.text("python") if wanted.has("python") else "python3"
    backend = str(group["backend"])
    words = {
        **{name: group[name] for name in ("nodes", "node", "address", "port")},
        "backend": backend,
        "local": wanted.whole("gpus") if backend == "nccl" and wanted.has("gpus") else 1,
        "bytes": wanted.whole("bytes") if wanted.has("bytes") else BYTES.get(backend, 0),
        "limit": wanted.whole("limit_seconds") if wanted.has("limit_seconds") else LIMIT_SECONDS,
        **({"interface": wanted.text("interface")} if wanted.has("interface") else {}),
    }
    argv = (python, PROGRAM, *(f"--{name}={value}" for name, value in words.items()))
    return Order(argv, float(words["limit"]), f"{NAME}.py")


CHECK = Check(
    name=NAME,
    question="Do the nodes of a group compute correct sums together, and as fast as their network allows?",
    reads=(f"{NAME}_job",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        Code("allreduce.wrong", (Remedy.WATCH,), "a sum of integers was wrong on this node of the group"),
        Code(
            "allreduce.slow",
            (Remedy.WATCH,),
            f"less bus bandwidth than `{SECTION}.gloo_bus_gbps_min` or `nccl_bus_gbps_min`",
        ),
    ),
    source="Bus bandwidth as nccl-tests define it (PERFORMANCE.md). Marks depend on the site's network.",
    measures=tuple(Measure(f"{each}_bus_gbps", f"{SECTION}.{each}_bus_gbps_min") for each in BYTES),
)
