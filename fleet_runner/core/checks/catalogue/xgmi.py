"""Are all links between AMD's GPUs up, and at their speed?"""

from collections.abc import Iterator

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import amd_xgmi
from fleet_runner.core.checks.parsers.amd_xgmi import Links
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, component
from fleet_runner.core.checks.shared.gpus import answering, described
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile

NAME, SECTION = "xgmi", "xgmi"


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold each GPU's links against the profile."""
    section = profile.section(expected.profile, SECTION)
    wanted, speed = section.whole("links"), section.number("gbits_per_lane")
    metric = readings.get("amd_smi_xgmi_metric")
    found = amd_xgmi.parse(
        text_of(readings["amd_smi_xgmi"]), metric.text if metric is not None and metric.rc == 0 else None
    )
    gpus = answering(readings)
    findings: list[Finding] = []
    unread: list[str] = []
    for gpu in gpus:
        links = found.get(gpu.pci)
        if links is None:
            unread.append(f"amd-smi xgmi -l does not list {component(gpu)}")
            continue
        listed = len(links.up) + len(links.down)
        if not links.up:
            # Releases of ROCm call all links down of a GPU whose links they cannot see.
            unread.append(f"amd-smi xgmi -l says of no link of {component(gpu)} that it is up")
            continue
        findings += _findings(gpu, links, (wanted, speed), expected)
        if listed < wanted:
            unread.append(f"amd-smi xgmi -l lists {listed} links of {component(gpu)}, expected {wanted}")
        if links.gbits is None:
            unread.append(f"amd-smi xgmi -m does not tell how fast the links of {component(gpu)} are")
    observed = {pci: {"up": len(links.up), "gbits_per_lane": links.gbits} for pci, links in found.items()}
    passed = f"{len(gpus)} GPUs have {wanted} xGMI links each at {speed:g} Gb/s a lane"
    return unless_unread(conclude(NAME, findings, passed, {"gpus": observed}), unread)


def _findings(gpu: Gpu, links: Links, wanted: tuple[int, float], expected: Expected) -> Iterator[Finding]:
    count, speed = wanted
    if links.down and len(links.up) < count:
        named = ", ".join(str(link) for link in links.down)
        yield about(expected.node, "xgmi.down", component(gpu))(
            message=f"{described(gpu, expected)} has {len(links.up)} of {count} xGMI links up; down: {named};"
            " if work on it is slow, reboot the node when it is idle",
            remedy=Remedy.WATCH,
        )
    if links.gbits is not None and links.gbits < speed:
        yield about(expected.node, "xgmi.slow", component(gpu))(
            message=f"the xGMI links of {described(gpu, expected)} run at {links.gbits:g} Gb/s a lane,"
            f" expected {speed:g}; if work on it is slow, reboot the node when it is idle",
            remedy=Remedy.WATCH,
        )


CHECK = Check(
    name=NAME,
    question="Are all links between AMD's GPUs up, and at their speed?",
    reads=("nvidia_smi", "amd_smi_xgmi"),
    also=("amd_smi_xgmi_metric",),
    judge=judge,
    section=SECTION,
    codes=(
        Code("xgmi.down", (Remedy.WATCH,), "fewer links up than the profile's, and some are"),
        Code("xgmi.slow", (Remedy.WATCH,), "links below the profile's speed"),
    ),
    source="`amd-smi xgmi`: an MI300X has seven links at 32 Gb/s a lane (AMD's data sheet). Only watched: AMD's"
    " changelog tells of releases that called links down which were up.",
)
