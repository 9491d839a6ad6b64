"""What AMD's `amd-smi` says of GPUs, in the report that nvidia-smi's is read into: one check asks either maker's.

Three commands tell it: `static`, `metric` and `process`, each with `--json`. Releases differ: the list of GPUs stands
alone (ROCm 6) or under "gpu_data" (ROCm 7), a number stands alone or as {"value": 32, "unit": "GT/s"}, the VBIOS is
"vbios" or "ifwi", the power limit lies in "limit" or in its "ppt0". What a GPU does not tell is "N/A".
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_value, number, objects
from fleet_runner.core.checks.parsers.nvidia_smi import MAX_GPUS, Gpu, Report
from fleet_runner.core.checks.parsers.smi_clocks import Clocks
from fleet_runner.core.checks.parsers.smi_fabric import Fabric
from fleet_runner.core.checks.parsers.smi_link import Link
from fleet_runner.core.checks.parsers.smi_memory import Memory
from fleet_runner.core.checks.parsers.smi_power import Power
from fleet_runner.core.checks.parsers.smi_settings import Settings
from fleet_runner.core.checks.parsers.smi_spares import Spares
from fleet_runner.core.checks.parsers.smi_thermals import Thermals
from fleet_runner.core.faults.pci import canonical

Fields = Mapping[str, Any]

GENERATIONS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}
"""PCIe's generation by its speed in GT/s."""

HOT = ("socket_thermal", "vr_thermal", "hbm_thermal", "prochot")
"""What slows a GPU down because something is too hot, by the beginning of its keys in `metric`'s "throttle"."""

SLOWED_PERCENT = 50.0
"""Of the time that the tool looked, from which on a GPU counts as slowed: a moment at its limit is no fault."""

NOBODY = "No running processes detected"
NO_GPU = "N/A"

_NUMBER = re.compile(r"(-?[0-9]{1,15}(?:\.[0-9]{1,9})?)(?: [A-Za-z/%]{1,8})?", re.ASCII)
_KFD = re.compile(r"/sys/class/kfd/kfd/proc/([0-9]{1,10})/(vram_|queues/)", re.ASCII)
_INSTINCT = re.compile(r"(?:AMD Instinct )?(MI[0-9]{3}[A-Z]?)(?:-O| OAM)?", re.ASCII)


def gpus(text: str, command: str) -> list[dict[str, Any]]:
    """Return what a command of amd-smi says, a mapping for each GPU; EvidenceError for anything else."""
    rows = listed(text, command, "gpu_data")
    if len({index(row, command) for row in rows}) != len(rows):
        raise EvidenceError(f"amd-smi {command} describes one GPU twice; read it again")
    return rows


def listed(text: str, command: str, key: str) -> list[dict[str, Any]]:
    """Return the objects of a command's list, which newer releases keep under a key, once within a list of one.

    The tool prints warnings before its JSON; where it has none, its first line says why.
    """
    begin = min((at for at in (text.find("["), text.find("{")) if at >= 0), default=-1)
    if begin < 0:
        said = text.strip().splitlines() or ["nothing"]
        raise EvidenceError(f"amd-smi {command} printed {said[0][:120]!r}, expected JSON; is the driver loaded?")
    found = json_value(text[begin:], f"amd-smi {command}")
    if isinstance(found, dict):
        found = found.get(key)
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    rows = objects(found, f"amd-smi {command}")
    if len(rows) > MAX_GPUS:
        raise EvidenceError(f"amd-smi {command} describes {len(rows)} GPUs, expected {MAX_GPUS} at most")
    return rows


def index(row: Fields, command: str) -> int:
    """Return the number that the tool's commands give a GPU; EvidenceError where it has none."""
    found = row.get("gpu")
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise EvidenceError(f"amd-smi {command}: found GPU {found!r:.40}, expected a number")
    return found


def part(row: Fields, *names: str) -> Fields:
    """Return the first part of a row that is one; an empty one where none is ("N/A")."""
    return next((found for name in names if isinstance(found := row.get(name), dict)), {})


def figure(value: Any) -> float | None:
    """Return a number as the tool's releases write it; None for anything else."""
    told = value.get("value") if isinstance(value, dict) else value
    if isinstance(told, str):
        found = _NUMBER.fullmatch(told.strip())
        told = float(found[1]) if found else None
    return number(told)


def count(value: Any) -> int | None:
    """Return a count, None where it is not told."""
    told = figure(value)
    return int(told) if told is not None and told >= 0 and told.is_integer() else None


def word(value: Any) -> str | None:
    """Return a text, None where it is not told."""
    said = str(value).strip() if isinstance(value, str | int) else ""
    return said[:200] if said not in {"", NO_GPU} else None


def address(row: Fields) -> str:
    """Return the PCI address of a row of `static`; EvidenceError where it has none."""
    found = canonical(str(part(row, "bus").get("bdf")))
    if found is None:
        raise EvidenceError(f"amd-smi static: found PCI address {part(row, 'bus').get('bdf')!r:.60}")
    return found


def is_partition(row: Fields) -> bool:
    """Whether a row is a further part of a GPU that is split (DPX, CPX …), not a GPU of its own."""
    return (count(part(row, "partition").get("partition_id")) or 0) > 0


def parse(static: str, metric: str, process: str, kfd: Mapping[str, str | None] | None = None) -> Report:
    """Read the three reports as one; `kfd` are sysfs's files of processes with memory or queues of a GPU.

    What uses a part of a GPU that is split uses the GPU. A process that only the driver names is on the first GPU.

    Raises:
        EvidenceError: a report is none, or describes other GPUs than `static`.
    """
    rows = gpus(static, "static")
    if not rows:
        raise EvidenceError("amd-smi static lists no GPU; is the driver loaded, and is a GPU visible at all (lspci)?")
    measured = {index(row, "metric"): row for row in gpus(metric, "metric")}
    listed = {index(row, "process"): _pids(row) for row in gpus(process, "process")}
    missing = sorted({index(row, "static") for row in rows} - measured.keys())
    if missing:
        raise EvidenceError(f"amd-smi metric says nothing of GPU {missing[0]}, which static describes; read it again")
    parts: dict[str, list[Fields]] = {}
    for row in rows:
        parts.setdefault(address(row)[:-2], []).append(row)
    known = {pid for pids in listed.values() if pids for pid in pids}
    holders = sorted(_holders(kfd or {}) - known)
    found: list[Gpu] = []
    for group in parts.values():
        whole = [row for row in group if not is_partition(row)]
        if len(whole) != 1:
            raise EvidenceError(f"amd-smi static describes {len(whole)} GPUs at {address(group[0])}; read it again")
        numbers = [index(row, "static") for row in (*whole, *(row for row in group if row is not whole[0]))]
        told = [listed.get(each) for each in numbers]
        pids = None if None in told else tuple(sorted({pid for each in told for pid in each or ()}))
        if pids is not None and not found:
            pids = (*pids, *holders)
        found.append(_gpu(whole[0], [measured[each] for each in numbers], pids))
    driver = {word(part(row, "driver").get("version", part(row, "driver").get("driver_version"))) for row in rows}
    return Report(tuple(found), len(found), {}, driver=driver.pop() if len(driver) == 1 else None)


def _holders(kfd: Mapping[str, str | None]) -> set[int]:
    """Return processes that have memory or a queue; one that merely watches the GPUs has neither."""
    found = [(held, text) for path, text in kfd.items() if (held := _KFD.match(path))]
    return {int(held[1]) for held, text in found if held[2] != "vram_" or (text or "").strip() != "0"}


def _pids(row: Fields) -> tuple[int, ...] | None:
    """Return the processes on a GPU, None where the list is not one."""
    listed = row.get("process_list")
    if not isinstance(listed, list):
        return None
    found: list[int] = []
    for entry in listed:
        said = entry.get("process_info") if isinstance(entry, dict) else None
        if said == NOBODY:
            continue
        pid = said.get("pid") if isinstance(said, dict) else None
        if not isinstance(pid, int) or isinstance(pid, bool):
            return None
        found.append(pid)
    return tuple(found)


def _gpu(row: Fields, measured: Sequence[Fields], pids: tuple[int, ...] | None) -> Gpu:
    metric = measured[0]
    board, bios = part(row, "board"), part(row, "ifwi", "vbios")
    used = [figure(part(each, "usage").get("gfx_activity")) for each in measured]
    held = [figure(part(each, "mem_usage").get("used_vram")) for each in measured]
    return Gpu(
        pci=address(row),
        uuid=None,
        model=_model(word(part(row, "asic").get("market_name")) or ""),
        serial=word(board.get("product_serial")),
        vbios=word(bios.get("version")),
        lost=False,
        recovery="None",
        memory=Memory(*[None] * 6),
        spares=Spares(None, None, None, {}, {}),
        thermals=_thermals(row, metric),
        link=_link(row, metric),
        clocks=Clocks({}, {}, {}, {}, {}, {}),
        power=_power(row, metric),
        settings=_settings(row),
        fabric=Fabric(None, None, None, None, ()),
        processes=None if pids is None else len(pids),
        used_percent=max((each for each in used if each is not None), default=None),
        used_mib=sum(each for each in held if each is not None) if None not in held else None,
        pids=pids or (),
    )


def _model(told: str) -> str:
    """Return a name in one spelling: releases write "AMD Instinct MI300X", "MI300X" and "MI300X-O" for one GPU."""
    found = _INSTINCT.fullmatch(told)
    return f"AMD Instinct {found[1]}" if found else told


def _thermals(row: Fields, metric: Fields) -> Thermals:
    limit, now, slow = part(row, "limit"), part(metric, "temperature"), part(metric, "throttle")
    core = figure(now.get("hotspot"))
    shares = [figure(slow.get(f"{name}_violation_activity")) for name in HOT]
    told = [share for share in shares if share is not None]
    return Thermals(
        core_celsius=core,
        margin_celsius=_margin(limit.get("slowdown_hotspot_temperature"), core),
        memory_margin_celsius=_margin(limit.get("slowdown_vram_temperature"), figure(now.get("mem"))),
        slowed=max(told) >= SLOWED_PERCENT if told else None,
    )


def _margin(limit: Any, now: float | None) -> float | None:
    most = figure(limit)  # 0 where the GPU's firmware tells no limit
    return most - now if most is not None and most > 0 and now is not None else None


def _link(row: Fields, metric: Fields) -> Link:
    bus, now = part(row, "bus"), part(metric, "pcie")
    return Link(
        generation=GENERATIONS.get(figure(now.get("speed")) or 0.0),
        generation_max=GENERATIONS.get(figure(bus.get("max_pcie_speed")) or 0.0),
        width=count(now.get("width")),
        width_max=count(bus.get("max_pcie_width")),
        replays=count(now.get("replay_count")),
        rollovers=count(now.get("replay_roll_over_count")),
    )


def _power(row: Fields, metric: Fields) -> Power:
    limit = part(row, "limit")
    cap = part(limit, "ppt0")
    return Power(
        draw_watts=figure(part(metric, "power").get("socket_power")),
        limit_watts=figure(cap.get("socket_power_limit", limit.get("socket_power"))),
        default_watts=figure(cap.get("max_power_limit", limit.get("max_power"))),
        module_draw_watts=None,
        module_limit_watts=None,
    )


def _settings(row: Fields) -> Settings:
    mode = part(row, "partition")
    blocks = part(part(row, "ras"), "ecc_block_state")
    memory = blocks.get("UMC")
    return Settings(
        persistence=None,
        ecc=memory == "ENABLED" if memory in {"ENABLED", "DISABLED"} else None,
        ecc_pending=None,
        mig=None,
        mig_pending=None,
        compute_mode=None,
        addressing_mode=None,
        gsp_firmware=None,
        inforom_image=None,
        confidential_mib=None,
        compute_partition=word(mode.get("accelerator_partition", mode.get("compute_partition"))),
        memory_partition=word(mode.get("memory_partition")),
    )
