"""Did every GPU join the NVLink fabric, and all of the node's GPUs the same part of it?"""

from collections import Counter
from collections.abc import Iterator

from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, component
from fleet_runner.core.checks.parsers.smi_fabric import NO_CLUSTER
from fleet_runner.core.checks.shared import previous_look
from fleet_runner.core.checks.shared.gpus import answering, described, settling
from fleet_runner.core.checks.shared.previous_look import Earlier
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

NAME, SECTION = "gpu_fabric", "gpu_fabric"

JOINED, WELL, UNHEALTHY = "Completed", "Success", "Unhealthy"

JOINING = frozenset({"In Progress", "Not Started"})

ILL = {
    "summary": frozenset({UNHEALTHY, "Limited Capacity"}),
    "bandwidth": frozenset({"Degraded"}),
    "degraded_bandwidth": frozenset({"True"}),
    "route_recovery_in_progress": frozenset({"True"}),
    "route_unhealthy": frozenset({"True"}),
    "access_timeout_recovery": frozenset({"True"}),
}
"""What an ill fabric says of itself (NVML's GPU fabric health, from R560 on); other words are not judged."""

CONFIGURATION, RIGHT = "incorrect_configuration", "None"
"""Names what is wrong of a partition's configuration, in words of its own."""

HEALING = frozenset({"route_recovery_in_progress", "access_timeout_recovery"})
"""What passes by itself."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge state, status and health of each GPU, then whether they all lie in one partition of one cluster."""
    cluster = profile.section(expected.profile, SECTION).flag("cluster")
    gpus, before = answering(readings), previous_look.look(expected, NAME)
    joining = [gpu for gpu in gpus if gpu.fabric.state in JOINING] if settling(readings) else []
    findings = [finding for gpu in gpus if gpu not in joining for finding in _findings(gpu, before, expected)]
    unread = [text for gpu in gpus for text in _unread(gpu, cluster=cluster)]
    unread += [f"{component(gpu)} is still joining the fabric" for gpu in joining]
    findings += [*_apart(gpus, expected), *(_unclustered(gpus, expected) if cluster else ())]
    observed = {
        gpu.pci: {"state": gpu.fabric.state, "status": gpu.fabric.status, "partition": _partition(gpu)}
        for gpu in gpus
    }
    passed = f"{len(gpus)} GPUs have joined the fabric"
    return unless_unread(conclude(NAME, findings, passed, {"gpus": observed}), unread)


def _partition(gpu: Gpu) -> str:
    return f"{gpu.fabric.cluster or 'unknown'} {gpu.fabric.clique or 'unknown'}"


def _findings(gpu: Gpu, before: Earlier | None, expected: Expected) -> Iterator[Finding]:
    name, fabric = described(gpu, expected), gpu.fabric
    if fabric.state in JOINING:
        # At the second look it is stuck.
        stuck = before is not None and before.again("gpus", gpu.pci, "state") == fabric.state
        yield about(expected.node, "gpu.fabric_state", component(gpu))(
            message=f"{name} has not joined the fabric: {fabric.state}, expected {JOINED};"
            " look at fabric_manager, and at the switches of its rack",
            remedy=Remedy.REBOOT if stuck else Remedy.WATCH,
        )
    elif fabric.state == JOINED and fabric.status not in {None, WELL}:
        yield about(expected.node, "gpu.fabric_status", component(gpu))(
            message=f"{name} could not join the fabric: {fabric.status}, expected {WELL}", remedy=Remedy.REBOOT
        )
    told = dict(fabric.health)
    bad = {what: told[what] for what, ill in ILL.items() if told.get(what) in ill}
    if told.get(CONFIGURATION, RIGHT) != RIGHT:
        bad[CONFIGURATION] = told[CONFIGURATION]
    if bad.keys() - HEALING - {"summary"} or bad == {"summary": UNHEALTHY}:
        words = ", ".join(f"{what.replace('_', ' ')} {word}" for what, word in bad.items())
        yield about(expected.node, "gpu.fabric_health", component(gpu))(
            message=f"the fabric of {name} is not healthy: {words}",
            remedy=Remedy.TRIAGE,
            steps=(
                f"Look at the NVLinks of GPU {gpu.pci} (`nvidia-smi nvlink -s -e`) and at the switches they lead to.",
                "Compare with the other GPUs of the rack: one switch, one tray or one GPU?",
            ),
        )
    elif bad:
        words = ", ".join(f"{what.replace('_', ' ')} {word}" for what, word in bad.items())
        yield about(expected.node, "gpu.fabric_recovering", component(gpu))(
            message=f"the fabric of {name} is not complete: {words}; check again", remedy=Remedy.WATCH
        )


def _apart(gpus: tuple[Gpu, ...], expected: Expected) -> Iterator[Finding]:
    partitions = Counter(_partition(gpu) for gpu in gpus if gpu.fabric.clique or gpu.fabric.cluster)
    if len(partitions) > 1:
        told = "; ".join(f"{count} in {partition}" for partition, count in partitions.most_common())
        yield about(expected.node, "gpu.fabric_apart", "GPUs")(
            message=f"the GPUs of {expected.node} lie in {len(partitions)} partitions of the fabric ({told:.200}),"
            " expected one; look at the rack's fabric manager",
            remedy=Remedy.TRIAGE,
            steps=("Compare the partitions with those that the rack's fabric manager was given.",),
        )


def _unclustered(gpus: tuple[Gpu, ...], expected: Expected) -> Iterator[Finding]:
    for gpu in gpus:
        fabric = gpu.fabric
        if fabric.state == JOINED and (fabric.cluster == NO_CLUSTER or fabric.clique == "0"):
            yield about(expected.node, "gpu.fabric_cluster", component(gpu))(
                message=f"{described(gpu, expected)} belongs to no cluster of GPUs (clique {fabric.clique}, cluster"
                f" {fabric.cluster}), expected its rack's",
                remedy=Remedy.TRIAGE,
                steps=("Look at the rack's fabric manager: does it run, and does it know this tray?",),
            )


def _unread(gpu: Gpu, *, cluster: bool) -> Iterator[str]:
    fabric = gpu.fabric
    if fabric.state not in {JOINED, *JOINING} or (fabric.state == JOINED and fabric.status is None):
        yield f"{component(gpu)} does not report whether it joined a fabric (state {fabric.state or 'N/A'})"
    elif cluster and (fabric.clique is None or fabric.cluster is None):
        yield f"{component(gpu)} does not report its clique and cluster; its driver may be too old"


CHECK = Check(
    name=NAME,
    question="Did every GPU join the NVLink fabric, in one partition with the others?",
    reads=("nvidia_smi",),
    judge=judge,
    remembers=True,
    also=("uptime",),
    section=SECTION,
    codes=(
        Code("gpu.fabric_state", (Remedy.WATCH, Remedy.REBOOT), "it has not joined, at one check or at two"),
        Code("gpu.fabric_status", (Remedy.REBOOT,), "it tried to join and could not"),
        Code(
            "gpu.fabric_health", (Remedy.TRIAGE,), "degraded bandwidth, an unhealthy route, or a wrong configuration"
        ),
        Code("gpu.fabric_recovering", (Remedy.WATCH,), "a route or an access is recovering"),
        Code("gpu.fabric_apart", (Remedy.TRIAGE,), "the node's GPUs lie in several partitions"),
        Code("gpu.fabric_cluster", (Remedy.TRIAGE,), "no clique and cluster where the profile has a rack of GPUs"),
    ),
    source="NVML's GPU fabric information and health; azhpc-images pull request 506 (State Completed, Status Success,"
    " CliqueId and ClusterUUID not zero).",
)
