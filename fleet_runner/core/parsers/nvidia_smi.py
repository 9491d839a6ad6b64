"""What `nvidia-smi -q -x` says: XML, with error lines of the tool in front of it, inside it or instead of it."""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.parsers.smi_fields import DEAD, count, flag, integer, number, words
from fleet_runner.core.pci import canonical

MAX_GPUS = 64
"""More GPUs than any server has: a report with more is not a report."""

_NO_DEVICES = "No devices were found"
_HANDLE = re.compile(
    r"^[^\n<]*unable to determine the device handle for gpu *(?:\d{1,3}: *)?([0-9a-f:.]{1,32}): *([^\n]*)\n?",
    re.IGNORECASE | re.MULTILINE,
)
_HOSTILE = re.compile(r"<!ENTITY|<!DOCTYPE[^>]{0,1000}\[", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Memory:
    """Errors of a GPU's memory; None where the tool gives no value (MIG, an older GPU).

    `uncorrectable` counts what could not be corrected since the driver was loaded; `sram_parity` and `sram_secded`
    are lifetime totals over all banks, and `sram_over_threshold` is the GPU's own word about its banks.
    """

    remap_pending: bool | None
    remap_failed: bool | None
    uncorrectable: int | None
    sram_parity: int | None
    sram_secded: int | None
    sram_over_threshold: bool | None


@dataclass(frozen=True, slots=True)
class Thermals:
    """Degrees Celsius. `margin` is what is left to the limit at which the GPU slows down, however it is told."""

    core_celsius: float | None
    margin_celsius: float | None
    memory_margin_celsius: float | None
    slowed: bool | None


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU of the report. `pci` is its canonical address; `lost` says that the driver cannot reach it."""

    pci: str
    model: str
    serial: str | None
    vbios: str | None
    lost: bool
    recovery: str
    memory: Memory
    thermals: Thermals
    processes: int | None
    used_percent: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """The whole answer. `lost` maps PCI addresses of GPUs that are there but not described to the reason.

    `complete` is False when nothing but such lines could be read: the other GPUs are then unknown, not missing.
    """

    gpus: tuple[Gpu, ...]
    attached: int
    lost: dict[str, str]
    complete: bool = True


def parse(text: str) -> Report:
    """Read the report; EvidenceError for anything that is not a whole one."""
    text = _without_process_names(text)
    lost = {canonical(address) or address: reason.strip() for address, reason in _HANDLE.findall(text)}
    rest = _HANDLE.sub("", text).strip()
    if rest == _NO_DEVICES:
        return Report((), 0, lost)
    try:
        gpus, attached = _document(rest)
    except EvidenceError:
        if lost:
            return Report((), 0, lost, complete=False)
        raise
    described = {gpu.pci for gpu in gpus}
    return Report(gpus, attached, {pci: reason for pci, reason in lost.items() if pci not in described})


def whole(text: str) -> Report:
    """Read a report that must describe every GPU it counts; EvidenceError where it contradicts itself."""
    report = parse(text)
    if not report.complete:
        raise EvidenceError(
            f"nvidia-smi could not open {', '.join(sorted(report.lost))} and described no other GPU;"
            " what the other GPUs do is unknown until the node is rebooted"
        )
    if report.attached not in {len(report.gpus), len(report.gpus) + len(report.lost)}:
        raise EvidenceError(
            f"nvidia-smi counts {report.attached} GPUs but describes {len(report.gpus)}; read it again"
        )
    return report


def _without_process_names(text: str) -> str:
    """Drop the one thing in the report that a tenant writes: a name could be spelled like an error of the tool."""
    before, *parts = text.split("<process_name>")
    tails = [end + rest for _, end, rest in (part.partition("</process_name>") for part in parts)]
    return "<process_name>".join([before, *tails])


def _document(text: str) -> tuple[tuple[Gpu, ...], int]:
    if not text.startswith("<"):
        raise EvidenceError(f"nvidia-smi printed {_first_line(text)}, expected its XML report; is the driver loaded?")
    if _HOSTILE.search(text):
        raise EvidenceError("nvidia-smi's XML defines entities, which the real tool never does; look at the node")
    try:
        root = ET.fromstring(text)  # noqa: S314  entities and internal subsets are refused above
    except (ET.ParseError, ValueError) as error:
        raise EvidenceError(f"nvidia-smi's XML cannot be read ({error}); was it cut short?") from error
    elements = root.findall("gpu")
    attached = count(root.findtext("attached_gpus"))
    if root.tag != "nvidia_smi_log" or attached is None or len(elements) > MAX_GPUS:
        raise EvidenceError(f"nvidia-smi's XML is a <{root.tag:.40}> without a sane number of GPUs; read it again")
    gpus = tuple(_gpu(element) for element in elements)
    if len({gpu.pci for gpu in gpus}) != len(gpus):
        raise EvidenceError("nvidia-smi's XML describes one PCI address twice; read it again")
    return gpus, attached


def _first_line(text: str) -> str:
    return repr(text.splitlines()[0][:120]) if text else "nothing"


def _gpu(element: ET.Element) -> Gpu:
    pci = canonical(element.get("id", ""))
    if pci is None:
        raise EvidenceError(f"nvidia-smi's XML has a GPU at {element.get('id')!r:.60}, which is no PCI address")
    serial = words(element, "serial")
    listed = element.find("processes")
    return Gpu(
        pci=pci,
        model=words(element, "product_name") or "",
        serial=None if serial in {None, "0"} else serial,
        vbios=words(element, "vbios_version"),
        lost=any(word in (element.findtext(name) or "") for word in DEAD for name in ("product_name", "uuid")),
        recovery=_recovery(element),
        memory=_memory(element),
        thermals=_thermals(element),
        processes=None if listed is None or (listed.text or "").strip() else len(listed.findall("process_info")),
        used_percent=number(element, "utilization/gpu_util"),
    )


def _recovery(element: ET.Element) -> str:
    """Return the recovery that the driver asks for: its newer single word, or the older flags in that word."""
    action = words(element, "gpu_recovery_action")
    if action is not None:
        return action
    if flag(element, "gpu_reset_status/reset_required"):
        return "Reset"
    return "Drain and Reset" if flag(element, "gpu_reset_status/drain_and_reset_recommended") else "None"


def _memory(element: ET.Element) -> Memory:
    volatile = [
        integer(element, f"ecc_errors/volatile/{name}")
        for name in (
            "dram_uncorrectable",
            "sram_uncorrectable",
            "sram_uncorrectable_parity",
            "sram_uncorrectable_secded",
        )
    ]
    told = [count for count in volatile if count is not None]
    return Memory(
        remap_pending=flag(element, "remapped_rows/remapped_row_pending"),
        remap_failed=flag(element, "remapped_rows/remapped_row_failure"),
        uncorrectable=sum(told) if told else None,
        sram_parity=integer(element, "ecc_errors/aggregate/sram_uncorrectable_parity"),
        sram_secded=integer(element, "ecc_errors/aggregate/sram_uncorrectable_secded"),
        sram_over_threshold=flag(element, "ecc_errors/aggregate/sram_threshold_exceeded"),
    )


def _thermals(element: ET.Element) -> Thermals:
    core = number(element, "temperature/gpu_temp")
    margin = number(element, "temperature/gpu_temp_tlimit")
    if margin is None:
        # Before Ada there is no margin to T.Limit: the distance to the slowdown threshold stands for it.
        margin = _less(number(element, "temperature/gpu_temp_slow_threshold"), core)
    memory = number(element, "temperature/memory_temp")
    reasons = (
        "clocks_event_reasons/clocks_event_reason_hw_thermal_slowdown",
        "clocks_throttle_reasons/clocks_throttle_reason_hw_thermal_slowdown",
    )
    told = [value for value in (words(element, path) for path in reasons) if value in {"Active", "Not Active"}]
    return Thermals(
        core_celsius=core,
        margin_celsius=margin,
        memory_margin_celsius=_less(number(element, "temperature/gpu_temp_max_mem_threshold"), memory),
        slowed="Active" in told if told else None,
    )


def _less(limit: float | None, value: float | None) -> float | None:
    return None if limit is None or value is None else limit - value


def component(gpu: Gpu) -> str:
    """Return how findings name a GPU: by the one address that the kernel log and nvidia-smi share."""
    return f"GPU {gpu.pci}"
