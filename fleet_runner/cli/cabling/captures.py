"""What a fabric or its devices say: from files, from standard input, or from the evidence of a stored sweep."""

import codecs
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fleet_runner.core.base.errors import EvidenceError, FleetError
from fleet_runner.core.cabling.sweeps import CABLING
from fleet_runner.core.checks.catalogue import cabling_infiniband, fabric_cabling, fabric_ethernet
from fleet_runner.core.checks.parsers import fabric_capture
from fleet_runner.core.checks.parsers.discovery import Discovery
from fleet_runner.core.checks.parsers.forwarding import Learned
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours import capture as neighbours
from fleet_runner.core.checks.parsers.neighbours import several
from fleet_runner.core.checks.parsers.neighbours.several import HeardByNode
from fleet_runner.core.lifecycle.runs import Run, Stored
from fleet_runner.core.lifecycle.states import Stage

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store

STDIN = Path("-")

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

READERS = frozenset({fabric_cabling.NAME, cabling_infiniband.NAME})
"""Checks that read a whole fabric: its text is among their evidence."""

ENDINGS = frozenset({".json", ".json0", ".txt"})
"""What may follow a device's name in the name of its capture; any other dot is its domain's."""

MANY = 1000
"""Runs of a fabric to look back through: half a year of a sweep every four hours."""


@dataclass(frozen=True, slots=True)
class Capture:
    """A fabric as it was seen. `run` is the sweep that it is evidence of; None for a file."""

    label: str
    discovery: Discovery
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What Ethernet devices hear of each other over LLDP, by the name of the device. `run` is Capture's.

    `unread` are switches that a sweep could not read, each with the reason, `learned` the addresses that others
    learned at their ports, and `nodes` what nodes heard before. `between` are links between switches that were heard
    then or earlier, as its result keeps them.
    """

    label: str
    heard: Mapping[str, tuple[Neighbour, ...]]
    run: Run | None = None
    unread: Mapping[str, str] = field(default_factory=dict[str, str])
    learned: Mapping[str, tuple[Learned, ...]] = field(default_factory=dict[str, tuple[Learned, ...]])
    nodes: Mapping[str, HeardByNode] = field(default_factory=dict[str, HeardByNode])
    between: object = None


def _undesigned(_: str) -> str:
    return ""


def content(path: Path) -> bytes:
    """Return what a file holds; "-" is standard input."""
    try:
        return sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except OSError as error:
        raise FleetError(f"{path}: {error.strerror}; name a file that can be read") from error


def text(path: Path) -> str:
    """Return a file's text; "-" is standard input."""
    return decoded(content(path))


def decoded(raw: bytes) -> str:
    """Return text that is in UTF-8 or in the UTF-16 of Windows."""
    return raw.decode("utf-16" if raw.startswith(_UTF16) else "utf-8", errors="replace")


def from_files(paths: Sequence[Path], designed: Callable[[str], str] = _undesigned) -> Capture | Neighbours:
    """Return a whole capture of a fabric, in any of its forms, or what one or more devices hear over LLDP.

    What half of a capture lacks is no fault: then it is refused. `designed` gives the design's name of a device, ""
    where it has none: a file that is named after no device of the design is of the one that its capture tells.
    """
    if len(paths) == 1 and not paths[0].is_dir():
        told = text(paths[0])
        return _neighbours(paths, {paths[0]: told}, designed) if neighbours.begins(told) else _fabric(paths[0], told)
    files = [file for path in paths for file in (_inside(path) if path.is_dir() else [path])]
    return _neighbours(paths, {file: text(file) for file in files}, designed)


def of_run(store: "Store", run: Run) -> Capture | Neighbours | None:
    """Return what a run saw of its fabric; None where it saw nothing, or nothing whole."""
    for stored in store.results(run.id):
        if stored.result.check == fabric_ethernet.NAME:
            swept = next(filter(None, (_swept(store.evidence(each)) for each in stored.result.evidence)), None)
            between = stored.result.observed.get(fabric_ethernet.BETWEEN)
            return (
                Neighbours(f"run {run.id}", swept.heard, run, *swept[1:], between) if swept and swept.heard else None
            )
        if stored.result.check in READERS:
            looks = [found for each in stored.result.evidence if (found := _read(store.evidence(each))) is not None]
            if looks:
                silent = tuple(port for look in looks for port in look.unanswered)
                return Capture(f"run {run.id}", replace(looks[0], unanswered=silent), run)
    return None


def newest(store: "Store", fabric: str) -> Capture | Neighbours:
    """Return the newest stored look at a fabric, or say how to get one."""
    for run in reversed(sweeps(store, fabric)):
        if (found := of_run(store, run)) is not None:
            return found
    raise FleetError(f"{fabric}: no sweep is stored; fleet-runner cabling check sweeps it now")


def sweeps(store: "Store", fabric: str) -> tuple[Run, ...]:
    """Return the sweeps of a fabric, oldest first."""
    return tuple(run for run in store.runs(fabric, limit=MANY) if run.stage is Stage.FABRIC)


def answer(store: "Store", run: Run) -> Stored | None:
    """Return what the runner concluded from a sweep; None while it has not."""
    return next((each for each in store.results(run.id) if each.result.check in CABLING), None)


def _fabric(path: Path, told: str) -> Capture:
    label = _label(path)
    try:
        return Capture(label, fabric_capture.read(told))
    except EvidenceError as error:
        raise EvidenceError(f"{label}: {error}") from error


def _inside(folder: Path) -> list[Path]:
    try:
        found = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    except OSError as error:
        raise FleetError(f"{folder}: {error.strerror}; name a folder that can be read") from error
    if not found:
        raise FleetError(
            f"{folder}: the folder holds no file, expected what lldpctl -f json or a switch prints of its LLDP "
            f"neighbours, in a file for each device that is named after it: gpu-01.json"
        )
    return found


def _neighbours(paths: Sequence[Path], told: Mapping[Path, str], designed: Callable[[str], str]) -> Neighbours:
    heard: dict[str, tuple[Neighbour, ...]] = {}
    unread: dict[str, str] = {}
    learned: dict[str, tuple[Learned, ...]] = {}
    nodes: dict[str, HeardByNode] = {}
    files: dict[str, Path] = {}
    for file, capture in told.items():
        if several.begins(capture):
            swept = several.parse(capture)
            heard |= swept.heard
            unread |= swept.unread
            learned |= swept.learned
            nodes |= swept.nodes
            continue
        try:
            found = neighbours.read(capture)
        except EvidenceError as error:
            raise EvidenceError(f"{_where(file)}: {error}") from error
        device = _device(file, found.device, designed)
        if device in files:
            raise FleetError(f"{_where(files[device])} and {_where(file)} are both of {device}; name one of them")
        files[device] = file
        heard[device] = found.neighbours
    return Neighbours(
        _label(paths[0]) if len(paths) == 1 else f"{len(told)} captures", heard, None, unread, learned, nodes
    )


def _device(file: Path, told: str, designed: Callable[[str], str]) -> str:
    """Return which device a capture is of: the one that its file is named after, or that it tells itself."""
    if file == STDIN:
        if not told:
            raise FleetError("standard input does not say which device it is; name a file after it: gpu-01.json")
        return told
    named = file.stem if file.suffix in ENDINGS else file.name
    mine, its = designed(named), designed(told) if told else ""
    if mine and its and mine != its:
        raise FleetError(
            f"{file} is named after {mine}, and its capture says that it is of {its}; name it after that one"
        )
    return told if told and not mine else named


def _where(file: Path) -> str:
    return "standard input" if file == STDIN else str(file)


def _label(path: Path) -> str:
    return "standard input" if path == STDIN else path.name or str(path)


def _swept(told: str | None) -> several.HeardBySwitches | None:
    """Evidence may be cut short."""
    try:
        return None if told is None else several.parse(told)
    except EvidenceError:
        return None


def _read(found: str | None) -> Discovery | None:
    """Evidence may be of another read of the same check, or cut short."""
    try:
        return None if found is None else fabric_capture.read(found)
    except EvidenceError:
        return None
