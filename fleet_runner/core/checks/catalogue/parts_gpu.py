"""Are the GPUs that were bought in the node, and are they these very ones?

A serial number travels with its GPU, and so tells which slot is empty. GPUs of one board share the board's (a GB200's
two do): then it tells the board, and findings name a GPU by its PCI address, which no other GPU of the node has.
"""

from collections import Counter, defaultdict
from dataclasses import replace

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import nvidia_smi, xid
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, Report
from fleet_runner.core.checks.shared.gpus import described, presence
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.faults.xid import FALLEN_OFF_THE_BUS
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.records import Part


def judge(readings: Readings, expected: Expected) -> Result:
    """Count GPUs, then hold models against the profile and serials against the source of truth."""
    wanted = profile.parts(expected.profile, "gpu")
    report = _with_fallen(presence(readings), readings)
    alive = [gpu for gpu in report.gpus if not gpu.lost]
    dead = {**{gpu.pci: "GPU is lost" for gpu in report.gpus if gpu.lost}, **report.lost}
    findings = [_lost(expected.node, pci, dead[pci]) for pci in sorted(dead)]
    unread: list[str] = []
    if report.complete:
        findings += _count(report, wanted, expected) + _serials(report, wanted, expected)
        findings += [
            _model(gpu, wanted, expected) for gpu in alive if wanted.model and gpu.model not in {"", wanted.model}
        ]
        unread = [
            f"{described(gpu, expected)} does not report its model" for gpu in alive if wanted.model and not gpu.model
        ]
    places = slots(report, expected)
    observed = {
        "gpus": len(alive),
        "expected": wanted.count,
        "serials": [gpu.serial for gpu in alive if gpu.serial],
        "slots": places,
        "parts": {
            name: {"serial": gpu.serial, "slot": places.get(name, "")}
            for gpu in alive
            if gpu.serial and (name := nvidia_smi.component(gpu))
        },
    }
    passed = f"{len(alive)} of {wanted.count} GPUs are present" + (f", all {wanted.model}" if wanted.model else "")
    return unless_unread(conclude("parts_gpu", findings, passed, observed), unread)


def slots(report: Report, expected: Expected) -> dict[str, str]:
    """Return the slot of each GPU by its component: where its serial tells, and of one that is lost what is left."""
    parts = profile.device_parts(expected.device, "gpu")
    once = Counter(part.serial for part in parts)
    places = {part.serial: part.slot for part in parts if part.serial and part.slot and once[part.serial] == 1}
    alive = [gpu for gpu in report.gpus if not gpu.lost]
    found = {nvidia_smi.component(gpu): places[gpu.serial] for gpu in alive if gpu.serial in places}
    lost = {*report.lost, *(gpu.pci for gpu in report.gpus if gpu.lost)}
    left = [slot for slot in places.values() if slot not in found.values()]
    if len(lost) == len(left) == 1 and len(found) == len(parts) - 1:
        found[f"GPU {lost.pop()}"] = left[0]
    return found


def _with_fallen(report: Report, readings: Readings) -> Report:
    """Add the GPUs that fell off the bus since boot: nvidia-smi leaves them out as if they had never been there.

    A reboot brings such a GPU back; one that is still missing after it is missing for good.
    """
    described = {gpu.pci for gpu in report.gpus}
    fallen = {
        line.pci: "Xid 79: it has fallen off the bus"
        for line in xid.parse(text_of(readings["dmesg"])).xids
        if line.code == FALLEN_OFF_THE_BUS and line.pci not in described
    }
    return replace(report, lost={**fallen, **report.lost})


def _lost(node: str, pci: str, reason: str) -> Finding:
    return about(node, "gpu.lost", f"GPU {pci}")(
        message=f"GPU {pci} does not answer its driver ({reason:.80})", remedy=Remedy.REBOOT
    )


def _count(report: Report, wanted: profile.PartCount, expected: Expected) -> list[Finding]:
    """Say which GPUs are missing, by slot and serial where the serials that are there leave only these."""
    there = len(report.gpus) + len(report.lost)
    short = max(0, wanted.count - there)
    count = f"{there} of {wanted.count} GPUs are present"
    if len(report.gpus) > wanted.count:  # one that is lost is told of already, and is none too many
        surplus = about(expected.node, "gpu.surplus", "GPUs")
        return [surplus(message=f"{count}: more than the profile's", remedy=Remedy.WATCH)]
    absent = _missing_parts(report, expected)
    if short and len(absent) != short:
        absent = [Part("", "gpu", wanted.model)]
    return [_missing(part, count, report, expected) for part in absent] if short else []


def _missing_parts(report: Report, expected: Expected) -> list[Part]:
    """Return the parts of which the node has too few; what a board lacks may be in any of its slots."""
    seen = Counter(gpu.serial for gpu in report.gpus)
    if report.lost or None in seen:
        return []
    boards: dict[str, list[Part]] = defaultdict(list)
    for part in profile.device_parts(expected.device, "gpu"):
        boards[part.serial or ""].append(part)
    found: list[Part] = []
    for serial, parts in boards.items():
        short = len(parts) - seen[serial]
        if serial and short == len(parts):
            found += parts
        elif serial and short == 1:
            found.append(replace(parts[0], slot=" or ".join(part.slot for part in parts if part.slot)))
    return found


def _missing(part: Part, count: str, report: Report, expected: Expected) -> Finding:
    which = f"{part.slot or 'slot unknown'}, serial {part.serial or 'unknown'}"
    seen = ", ".join(gpu.pci for gpu in report.gpus) or "none"
    return about(expected.node, "gpu.missing", part.slot or "GPUs")(
        message=f"{count}; missing: {which}",
        remedy=Remedy.TRIAGE,
        steps=(
            f"Power the node off and find the GPU that is missing ({which}, {part.model or 'model unknown'}).",
            f"PCI addresses that do answer: {seen}; the missing GPU is behind another one.",
            "Reseat it and its connectors; if another GPU sits there, correct its serial in the source of truth.",
        ),
    )


def _serials(report: Report, wanted: profile.PartCount, expected: Expected) -> list[Finding]:
    """A GPU nobody wrote down: the record or the node is wrong, and neither makes the node unfit to serve."""
    absent = _absent(report, expected) if len(report.gpus) >= wanted.count else []
    strangers = ", ".join(_strangers(report, expected)) or "none"
    return [
        about(expected.node, "gpu.serial", part.slot or f"serial {part.serial}")(
            message=f"{part.slot or 'a GPU'} should have serial {part.serial}, which no GPU of the node has"
            f"; there but not in the source of truth: {strangers}",
            remedy=Remedy.WATCH,
            steps=("Read the serials of the GPUs.", "Correct the source of truth, or put the right GPU back."),
        )
        for part in absent
    ]


def _absent(report: Report, expected: Expected) -> list[Part]:
    """Return the parts whose serial no GPU has; none while any GPU keeps its serial to itself."""
    seen = {gpu.serial for gpu in report.gpus}
    if None in seen or report.lost:
        return []
    return [part for part in profile.device_parts(expected.device, "gpu") if part.serial and part.serial not in seen]


def _strangers(report: Report, expected: Expected) -> list[str]:
    known = {part.serial for part in profile.device_parts(expected.device, "gpu")}
    return sorted(gpu.serial for gpu in report.gpus if gpu.serial and gpu.serial not in known)


def _model(gpu: Gpu, wanted: profile.PartCount, expected: Expected) -> Finding:
    return about(expected.node, "gpu.model", nvidia_smi.component(gpu))(
        message=f"{described(gpu, expected)} is a {gpu.model:.60}, expected {wanted.model}",
        remedy=Remedy.TRIAGE,
        steps=(f"Compare the GPU at {gpu.pci} (serial {gpu.serial or 'unknown'}) with the order.",),
    )


CHECK = Check(
    name="parts_gpu",
    question="Are all GPUs that should be in the node there, of the right model and with the known serials?",
    reads=("nvidia_smi", "dmesg"),
    judge=judge,
    codes=(
        Code(
            "gpu.lost", (Remedy.REBOOT,), "a GPU does not answer its driver, or fell off the bus since boot (Xid 79)"
        ),
        Code("gpu.missing", (Remedy.TRIAGE,), "fewer GPUs than the profile's `parts.gpu.count`"),
        Code("gpu.model", (Remedy.TRIAGE,), "a GPU of another model than `parts.gpu.model`"),
        Code("gpu.surplus", (Remedy.WATCH,), "more GPUs than the profile's"),
        Code("gpu.serial", (Remedy.WATCH,), "the source of truth has a serial number that no GPU has"),
    ),
    source="The profile's `parts.gpu` and the source of truth's serial numbers; NVIDIA's Xid catalogue for Xid 79.",
)
