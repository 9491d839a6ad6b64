"""What `nvidia-smi -q -x` says: XML, with error lines of the tool in front of it, inside it or instead of it."""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace
from functools import lru_cache

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import (
    smi_clocks,
    smi_fabric,
    smi_link,
    smi_memory,
    smi_power,
    smi_settings,
    smi_spares,
    smi_thermals,
)
from fleet_runner.core.checks.parsers.smi_clocks import Clocks
from fleet_runner.core.checks.parsers.smi_fabric import Fabric
from fleet_runner.core.checks.parsers.smi_fields import DEAD, LOST, count, figure, flag, integer, number, words
from fleet_runner.core.checks.parsers.smi_link import Link
from fleet_runner.core.checks.parsers.smi_memory import Memory
from fleet_runner.core.checks.parsers.smi_power import Power
from fleet_runner.core.checks.parsers.smi_settings import Settings
from fleet_runner.core.checks.parsers.smi_spares import Spares
from fleet_runner.core.checks.parsers.smi_thermals import Thermals
from fleet_runner.core.faults.pci import canonical

MAX_GPUS = 64
"""More GPUs than any server has: a report with more is not a report."""

_NO_DEVICES = "No devices were found"
_HANDLE = re.compile(
    r"^[^\n<]*unable to determine the device handle for gpu *(?:\d{1,3}: *)?([0-9a-f:.]{1,32}): *([^\n]*)\n?",
    re.IGNORECASE | re.MULTILINE,
)
_WARNING = re.compile(r"^WARNING: *([^\n<]{0,200}?)[ \t\r]*$\n?", re.MULTILINE)
_CORRUPTED = re.compile(r"inforom is corrupted at gpu *([0-9a-f:.]{1,32})", re.IGNORECASE)
_HOSTILE = re.compile(r"<!ENTITY|<!DOCTYPE[^>]{0,1000}\[", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU of the report. `pci` is its canonical address; `lost` says that the driver cannot reach it.

    `pids` are the ids of its `processes`, None for one without.
    """

    pci: str
    uuid: str | None
    model: str
    serial: str | None
    vbios: str | None
    lost: bool
    recovery: str
    memory: Memory
    spares: Spares
    thermals: Thermals
    link: Link
    clocks: Clocks
    power: Power
    settings: Settings
    fabric: Fabric
    processes: int | None
    used_percent: float | None
    used_mib: float | None
    pids: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The whole answer. `lost` maps PCI addresses of GPUs that are there but not described to the reason.

    `complete` is False when nothing but such lines could be read: the other GPUs are then unknown, not missing.
    `driver` and `cuda` are versions. `corrupted` are the addresses of GPUs whose InfoROM the tool warns about.
    """

    gpus: tuple[Gpu, ...]
    attached: int
    lost: dict[str, str]
    complete: bool = True
    driver: str | None = None
    cuda: str | None = None
    corrupted: frozenset[str] = frozenset()


@lru_cache(maxsize=2)
def parse(text: str) -> Report:
    """Read the report; EvidenceError for anything that is not a whole one. A dozen checks of a node ask for one."""
    text = _without("supported_clocks", _without("process_name", text))
    lost = {canonical(address) or address: reason.strip() for address, reason in _HANDLE.findall(text)}
    warnings = [address for line in _WARNING.findall(text) for address in _CORRUPTED.findall(line)]
    rest = _WARNING.sub("", _HANDLE.sub("", text)).strip()
    if rest == _NO_DEVICES:
        return Report((), 0, lost)
    try:
        report = _document(rest)
    except EvidenceError:
        if lost:
            return Report((), 0, lost, complete=False)
        raise
    described = {gpu.pci for gpu in report.gpus}
    return replace(
        report,
        lost={pci: reason for pci, reason in lost.items() if pci not in described},
        corrupted=frozenset(canonical(address) or address for address in warnings),
    )


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


def _without(name: str, text: str) -> str:
    """Drop what an element holds: what a tenant writes, a process name, could be spelled like an error of the tool.

    The list of clocks that a GPU supports is left out because it is most of the report, and nobody asks for it.
    """
    begin, end = f"<{name}>", f"</{name}>"
    before, *parts = text.split(begin)
    tails = [closed + rest for _, closed, rest in (part.partition(end) for part in parts)]
    return begin.join([before, *tails])


def _document(text: str) -> Report:
    if not text.startswith("<"):
        raise EvidenceError(f"nvidia-smi printed {_first_line(text)}, expected its XML report; is the driver loaded?")
    if _HOSTILE.search(text):
        raise EvidenceError("nvidia-smi's XML defines entities, which the real tool never does; look at the node")
    try:
        root = ET.fromstring(text)  # noqa: S314  entities and internal subsets are refused above
    except (ET.ParseError, ValueError) as error:
        raise EvidenceError(f"nvidia-smi's XML cannot be read ({error}); was it cut short?") from error
    elements = root.findall("gpu")
    # A report that was trimmed by somebody may lack the count: then what it describes is what there is.
    attached = count(root.findtext("attached_gpus", str(len(elements)) if elements else None))
    if root.tag != "nvidia_smi_log" or attached is None or len(elements) > MAX_GPUS:
        raise EvidenceError(f"nvidia-smi's XML is a <{root.tag:.40}> without a sane number of GPUs; read it again")
    gpus = tuple(_gpu(element) for element in elements)
    if len({gpu.pci for gpu in gpus}) != len(gpus):
        raise EvidenceError("nvidia-smi's XML describes one PCI address twice; read it again")
    return Report(gpus, attached, {}, driver=words(root, "driver_version"), cuda=words(root, "cuda_version"))


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
        uuid=words(element, "uuid"),
        model=words(element, "product_name") or "",
        serial=None if serial in {None, "0"} else serial,
        vbios=words(element, "vbios_version"),
        lost=_lost(element),
        recovery=_recovery(element),
        memory=smi_memory.read(element),
        spares=smi_spares.read(element),
        thermals=smi_thermals.read(element),
        link=smi_link.read(element),
        clocks=smi_clocks.read(element),
        power=smi_power.read(element),
        settings=smi_settings.read(element),
        fabric=smi_fabric.read(element),
        processes=None if listed is None or (listed.text or "").strip() else len(listed.findall("process_info")),
        used_percent=number(element, "utilization/gpu_util"),
        used_mib=figure(element, "fb_memory_usage/used"),
        pids=tuple(integer(each, "pid") for each in element.findall("processes/process_info")),
    )


def _lost(element: ET.Element) -> bool:
    """Whether the driver cannot reach a GPU: its name says so or, where that is remembered, what must be measured."""
    named = any(word in (element.findtext(name) or "") for word in DEAD for name in ("product_name", "uuid"))
    measured = ("performance_state", "temperature/gpu_temp", "utilization/gpu_util", "fb_memory_usage/used")
    return named or any(LOST in (element.findtext(path) or "") for path in measured)


def _recovery(element: ET.Element) -> str:
    """Return the recovery that the driver asks for: its newer single word, or the older flags in that word."""
    action = words(element, "gpu_recovery_action")
    if action is not None:
        return action
    if flag(element, "gpu_reset_status/reset_required"):
        return "Reset"
    return "Drain and Reset" if flag(element, "gpu_reset_status/drain_and_reset_recommended") else "None"


def component(gpu: Gpu) -> str:
    """Return how findings name a GPU: by the one address that the kernel log and nvidia-smi share."""
    return f"GPU {gpu.pci}"
