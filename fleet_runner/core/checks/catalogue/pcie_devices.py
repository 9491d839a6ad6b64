"""Are the devices on the PCIe bus that should be, do their links run as wide and fast as they can, without errors?"""

import re
from collections.abc import Iterator, Mapping, Sequence

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import files, pci_files
from fleet_runner.core.checks.parsers.kernel_log import Rule
from fleet_runner.core.checks.parsers.pci_files import Device
from fleet_runner.core.checks.shared import counter_growth, kernel_messages
from fleet_runner.core.checks.shared.counter_growth import Growth
from fleet_runner.core.checks.shared.kernel_messages import Known
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory.profile import Section, section

NAME = "pcie_devices"

DEVICES = f"{NAME}.devices"

ALLOWED: Mapping[float, float] = {8.0: 0.48, 16.0: 0.96, 32.0: 1.92, 64.0: 3.84}
"""Corrected errors a lane may make in a minute, by its speed in GT/s (DCGM's hardware limits for replays)."""

_PORT = r"[\w-]{1,30} (?P<what>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]): (?:AER: )?"
_BUS = _PORT + "PCIe Bus Error: severity="

PART = "PCIe device {}"

LOGGED = (
    Known(
        Rule(
            "pcie.fatal", "PCIe Bus Error", re.compile(_BUS + r"(?P<why>Uncorrect(?:ed|able) \(Fatal\)[^\n]{0,80})")
        ),
        Remedy.REBOOT,
        "the link had to be reset after a fatal error",
        PART,
    ),
    Known(
        Rule("pcie.fatal", "DPC: containment event", re.compile(_PORT + "DPC: containment event")),
        Remedy.REBOOT,
        "the link had to be reset after a fatal error",
        PART,
    ),
    Known(
        Rule(
            "pcie.nonfatal",
            "PCIe Bus Error",
            re.compile(_BUS + r"(?P<why>Uncorrect(?:ed|able) \(Non-Fatal\)[^\n]{0,80})"),
        ),
        Remedy.WATCH,
        "a transfer was lost",
        PART,
    ),
    Known(
        Rule("pcie.corrected", "PCIe Bus Error", re.compile(_BUS + r"(?P<why>Correct(?:ed|able)[^\n]{0,80})")),
        Remedy.RECORD,
        "errors were corrected",
        PART,
    ),
    Known(
        Rule(
            "pcie.unplugged",
            "Link Down",
            re.compile(r"pcieport (?P<what>[0-9a-f:.]{12}): pciehp: Slot\([^)\n]{1,20}\): Link Down"),
        ),
        Remedy.WATCH,
        "the device behind it went away",
        PART,
    ),
)
"""What the kernel logs about PCIe; Meta's GCM looks for bus errors likewise."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold each kind of device that the profile names against it; GPUs are judged by their own tool's word."""
    kinds = _kinds(expected)
    every = pci_files.devices(files.parse(text_of(readings["pci_devices"])))
    if not every:
        raise EvidenceError("the kernel lists no PCI device; is /sys mounted?")
    named = {name: _matching(every, wanted) for name, wanted in kinds.items()}
    counts = {
        f"{each.pci} {kind}": count
        for there in named.values()
        for each in there
        for kind, count in each.errors.items()
    }
    growth = counter_growth.growth(NAME, counts, readings["pci_devices"], expected)
    findings: list[Finding] = []
    unread: list[str] = []
    for name, wanted in kinds.items():
        findings += _count(name, named[name], wanted, expected.node)
        for each in named[name]:
            findings += [*_link(name, each, wanted, expected.node), *_errors(name, each, growth, expected.node)]
            unread += _unread(name, each, wanted)
    counting = {finding.fault for finding in findings}
    said = kernel_messages.findings(readings["dmesg"], LOGGED, expected)
    findings += [finding for finding in said if finding.fault not in counting]
    errors = {f"{name} {each.pci}": dict(each.errors) for name, there in named.items() for each in there}
    observed = {
        "devices": {name: len(there) for name, there in named.items()},
        "errors": errors,
        "looks": growth.looks,
    }
    told = ", ".join(f"{len(there)} {name}" for name, there in named.items())
    return unless_unread(conclude(NAME, findings, f"links run as they should: {told}", observed), unread)


def _kinds(expected: Expected) -> dict[str, Section]:
    """Return the profile's kinds of devices by name, each with the ids or the classes of its devices."""
    return {
        name: section(expected.profile, f"{DEVICES}.{name}") for name in section(expected.profile, DEVICES).values
    }


def _matching(every: Sequence[Device], wanted: Section) -> list[Device]:
    ids = wanted.texts("ids") if wanted.has("ids") else ()
    classes = wanted.texts("classes") if wanted.has("classes") else ()
    return [
        each
        for each in every
        if (each.id in ids or (not ids and each.kind.startswith(classes))) and each.pci.endswith(".0")
    ]


def _count(name: str, there: Sequence[Device], wanted: Section, node: str) -> Iterator[Finding]:
    if not wanted.has("count") or len(there) >= wanted.whole("count"):
        return
    seen = ", ".join(each.pci for each in there) or "none"
    yield about(node, "pcie.missing", f"{name} devices")(
        message=f"{len(there)} of {wanted.whole('count')} {name} devices are on the PCIe bus",
        remedy=Remedy.TRIAGE,
        steps=(
            f"Find the {name} that is missing; there are: {seen}.",
            "Power the node off, reseat the card or its cable, and look at the slot's power.",
        ),
    )


def _link(name: str, each: Device, wanted: Section, node: str) -> Iterator[Finding]:
    component = f"{name} {each.pci}"
    steps = (
        f"Power the node off and reseat the {name} at {each.pci} and the riser or cable that it hangs on.",
        "If its link still comes up so, swap it with a neighbour: either the device or its slot is faulty.",
    )
    full = wanted.has("full_link") and wanted.flag("full_link")
    lanes = wanted.whole("lanes") if wanted.has("lanes") else each.width_most if full else None
    if each.width is not None and lanes is not None and each.width < lanes:
        yield about(node, "pcie.width", component)(
            message=f"{component} runs on {each.width} lanes, expected {lanes}", remedy=Remedy.TRIAGE, steps=steps
        )
    speed = wanted.number("gigatransfers") if wanted.has("gigatransfers") else each.speed_most if full else None
    if each.speed is not None and speed is not None and each.speed < speed:
        yield about(node, "pcie.speed", component)(
            message=f"{component} runs at {each.speed:g} GT/s, expected {speed:g}", remedy=Remedy.TRIAGE, steps=steps
        )


def _errors(name: str, each: Device, growth: Growth, node: str) -> Iterator[Finding]:
    """Name the device as the log's findings do: what was counted is what was logged."""
    component = PART.format(each.pci)
    for kind, code, remedy in (
        ("fatal", "pcie.fatal", Remedy.REBOOT),
        ("nonfatal", "pcie.nonfatal", Remedy.WATCH),
    ):
        more = growth.grown.get(f"{each.pci} {kind}", 0)
        if more:
            yield about(node, code, component)(
                message=f"{name} {each.pci} counted {more} {kind} errors within {growth.hours}, expected none",
                remedy=remedy,
            )
    more, allowed = growth.grown.get(f"{each.pci} correctable", 0), ALLOWED.get(each.speed or 0.0)
    if not more or allowed is None or each.width is None:
        return
    most = allowed * each.width * max(1.0, growth.seconds / 60)
    beyond = more > most
    yield about(node, "pcie.corrected", component)(
        message=f"{name} {each.pci} counted {more} corrected errors within {growth.hours}, expected up to {most:.0f}",
        remedy=Remedy.WATCH if beyond else Remedy.RECORD,
    )


def _unread(name: str, each: Device, wanted: Section) -> Iterator[str]:
    asked = [word for word in ("lanes", "gigatransfers", "full_link") if wanted.has(word)]
    if asked and (each.width is None or each.speed is None):
        yield f"the kernel does not report how the link of {name} {each.pci} runs"


CHECK = Check(
    name=NAME,
    question="Are the devices on the PCIe bus that should be, and do their links run at full width and speed?",
    reads=("pci_devices", "dmesg"),
    judge=judge,
    remembers=True,
    section=NAME,
    codes=(
        Code("pcie.missing", (Remedy.TRIAGE,), "fewer devices of a kind than its `count` in `pcie_devices.devices`"),
        Code("pcie.width", (Remedy.TRIAGE,), "a link on fewer `lanes`, or with `full_link` than the device has"),
        Code("pcie.speed", (Remedy.TRIAGE,), "a link below `gigatransfers`, or with `full_link` what the device can"),
        Code("pcie.fatal", (Remedy.REBOOT,), "a fatal error of a link, counted or logged"),
        Code("pcie.nonfatal", (Remedy.WATCH,), "an uncorrected error that cost a transfer, counted or logged"),
        Code(
            "pcie.corrected",
            (Remedy.WATCH, Remedy.RECORD),
            "more corrected errors than a lane of its speed may make; fewer are recorded",
        ),
        Code("pcie.unplugged", (Remedy.WATCH,), "a device went away from its slot"),
    ),
    source="The profile's `pcie_devices`; the kernel's AER counters; DCGM's hardware limits for errors of a lane.",
)
