"""What the compute trays of an NVLink domain say, in one text: how a sweep keeps it as evidence.

Shape: {"trays_of_nvlink": {tray: {"driver", "gpus": [[pci, state, status, cluster, clique, up, down, dead]],
"addresses", "imex": {"active", "hosts", "status"}, "unread": [sentences]}}}. `up` and `down` are numbers of NVLinks,
both null where the tool did not tell; of a tray that did not answer there is only "unread".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.parsers import files, imex, nvidia_smi, nvlink, systemctl
from fleet_runner.core.checks.parsers.imex import Member, Status
from fleet_runner.core.checks.parsers.json_text import json_object

KEY = "trays_of_nvlink"

READS = ("nvidia_smi", "nvlink_status", "addresses", "imex_unit", "imex_nodes", "imex_status")
"""What is read on a tray; where IMEX is not installed the last three are missing, and that is no trouble."""

LONGEST = 300
"""Characters of a sentence."""


class TrayGpu(NamedTuple):
    """One GPU; texts are "" where the tool does not tell. `dead` says that the tool calls every link inactive."""

    pci: str
    state: str
    status: str
    cluster: str
    clique: str
    up: tuple[int, ...] | None
    down: tuple[int, ...] | None
    dead: bool


@dataclass(frozen=True, slots=True)
class TrayImex:
    """IMEX on one tray: whether its unit is active, the hosts of its configuration and what it says of the domain."""

    active: bool
    hosts: tuple[str, ...] | None
    status: Status | None


@dataclass(frozen=True, slots=True)
class Tray:
    """What one tray says. `gpus` are by PCI address; None of `imex` where it is not installed.

    `unread` are sentences about what could not be read; a tray without GPUs has at least one.
    """

    driver: str
    gpus: tuple[TrayGpu, ...]
    addresses: tuple[str, ...]
    imex: TrayImex | None
    unread: tuple[str, ...]


def told(readings: Mapping[str, Reading]) -> dict[str, Any]:
    """Return what readings of a tray say, as plain JSON; whatever they are, nothing is raised."""
    unread: list[str] = []
    report = _try(readings, "nvidia_smi", nvidia_smi.whole, unread)
    links = _try(readings, "nvlink_status", nvlink.status, unread) or {}
    addresses = _try(readings, "addresses", str.split, unread) or []
    gpus = [_gpu(gpu, links.get((gpu.uuid or "").lower())) for gpu in sorted(report.gpus, key=_pci)] if report else []
    found: dict[str, Any] = {"driver": (report.driver or "")[:80] if report else "", "gpus": gpus}
    found["addresses"] = [each[: imex.LONGEST] for each in addresses[: imex.MOST]]
    found["imex"] = _imex(readings, unread)
    return found | {"unread": [each[:LONGEST] for each in unread]}


def silent(why: str) -> dict[str, Any]:
    """Return the form of a tray that did not answer."""
    return {"unread": [why[:LONGEST]]}


def parse(text: str) -> dict[str, Tray]:
    """Return the trays by name; EvidenceError for a text that is cut, or something else."""
    trays = json_object(text, "the sweep").get(KEY)
    if not isinstance(trays, dict):
        raise EvidenceError(f"the sweep: expected the key {KEY!r} with an object for each tray")
    found: dict[str, Tray] = {}
    for name, raw in trays.items():
        try:
            found[name] = _tray(raw)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EvidenceError(f"the sweep: {name}: found {raw!r:.80}, expected what a tray says") from error
    return found


def _try(readings: Mapping[str, Reading], name: str, parser: Any, unread: list[str]) -> Any:
    """Return what a reading says, parsed; None, with a sentence, for one that says nothing."""
    reading = readings.get(name)
    if reading is None or reading.end is not ReadEnd.OK or reading.rc:
        why = "it was not read" if reading is None else reading.error or f"it ended with {reading.rc or reading.end}"
        unread.append(f"{name}: {why}")
        return None
    try:
        return parser(reading.text)
    except EvidenceError as error:
        unread.append(f"{name}: {error}")
        return None


def _pci(gpu: nvidia_smi.Gpu) -> str:
    return gpu.pci


def _gpu(gpu: nvidia_smi.Gpu, links: nvlink.Links | None) -> list[Any]:
    fabric = gpu.fabric
    texts = [gpu.pci, *(each or "" for each in (fabric.state, fabric.status, fabric.cluster, fabric.clique))]
    if links is None or links.reason:
        return [*texts, None, None, False]
    return [*texts, sorted(links.gbytes_per_second), sorted(links.inactive), links.dead]


def _imex(readings: Mapping[str, Reading], unread: list[str]) -> dict[str, Any] | None:
    """Return what is said of IMEX; None where its unit is not there."""
    unit = _try(readings, "imex_unit", systemctl.one, unread)
    if unit is None or unit.load != "loaded":
        return None
    hosts = _try(readings, "imex_nodes", _hosts, unread)
    active = unit.active == "active"
    said = _try(readings, "imex_status", imex.status, unread) if active else None
    members = [[each.host, each.status, each.version] for each in said.members] if said is not None else []
    return {
        "active": active,
        "hosts": None if hosts is None else list(hosts),
        "status": None if said is None else [said.state, members],
    }


def _hosts(text: str) -> tuple[str, ...]:
    """Return the hosts of a configuration; none where there is no such file."""
    listed = list(files.parse(text).values())
    if None in listed:
        raise EvidenceError("nodes_config.cfg cannot be read")
    return imex.hosts("\n".join(filter(None, listed)))


def _tray(raw: Mapping[str, Any]) -> Tray:
    unread = tuple(_texts(raw["unread"]))
    if not raw.get("gpus") and not unread:
        raise ValueError("a tray without GPUs, and without a reason")
    return Tray(
        driver=_text(raw.get("driver", "")),
        gpus=tuple(map(_read, raw.get("gpus", []))),
        addresses=tuple(_texts(raw.get("addresses", []))),
        imex=_service(raw.get("imex")),
        unread=unread,
    )


def _read(row: list[Any]) -> TrayGpu:
    *texts, up, down, dead = row
    pci, state, status, cluster, clique = _texts(texts)
    return TrayGpu(pci, state, status, cluster, clique, _numbers(up), _numbers(down), dead is True)


def _service(raw: Mapping[str, Any] | None) -> TrayImex | None:
    if raw is None:
        return None
    hosts, said = raw["hosts"], raw["status"]
    status = None
    if said is not None:
        state, members = said
        status = Status(_text(state), tuple(Member(*_texts(row)) for row in members))
    return TrayImex(raw["active"] is True, None if hosts is None else tuple(_texts(hosts)), status)


def _numbers(rows: Any) -> tuple[int, ...] | None:
    if rows is None:
        return None
    if not isinstance(rows, list) or not all(isinstance(each, int) and not isinstance(each, bool) for each in rows):
        raise ValueError("no list of numbers")
    return tuple(rows)


def _texts(rows: Any) -> Iterator[str]:
    if not isinstance(rows, list):
        raise TypeError("no list")
    return map(_text, rows)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
