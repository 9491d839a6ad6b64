"""What PyTorch's flight recorder wrote of one rank: its last collectives and transfers, and how far each came.

A dump is a pickle, or JSON. Facts of its form are from PyTorch's FlightRecorder.hpp; version 2.10 is 2.14's. A dump
does not say whose it is: the rank is the number that its file's name ends with.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn, TypeVar

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.printable import printable
from fleet_runner.core.jobs import plain_pickle
from fleet_runner.core.jobs.plain_pickle import CutShortError

MAJOR = 2
"""The version of the form that is known; a release that adds to it raises the number behind the point."""

FRAMES = 3
"""Frames of the caller's own code that are kept of a stack."""

LONGEST = 300
"""Characters that are kept of a text."""

LONGEST_MS = 1e12
"""Milliseconds below which a duration is one: 30 years."""

_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})", re.ASCII)
_RANKS = re.compile(r"\[\s*(?:\d{1,7}\s*(?:,\s*\d{1,7}\s*)*)?\]", re.ASCII)
_NUMBERED = re.compile(r"(\d{1,6})(?:\.(?:json|pkl|pickle))?", re.ASCII)
_P2P = ("send", "recv")

T = TypeVar("T")


class State(StrEnum):
    """How far the accelerator came with an operation, as the rank saw it."""

    SCHEDULED = "scheduled"
    STARTED = "started"
    COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack."""

    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation of one rank.

    `group` is the process group's name, `description` what it is for ("default_pg", "mesh_tp"). `record` counts all
    operations of the rank from 0, `collective` and `p2p` those of the group from 1; `operation` also counts each one
    of several that were sent off together. `name` is as PyTorch names it: "nccl:all_reduce", "nccl:send 1->2" with
    ranks within the group. Sizes are one tuple a tensor, times nanoseconds since 1970, None where it did not happen.
    `duration_ms` is what the accelerator measured, None without TORCH_NCCL_ENABLE_TIMING.
    `retired`: the rank waits for it no longer, done or given up. `frames` are the caller's, innermost first.
    """

    group: str
    description: str
    record: int
    collective: int
    p2p: int
    operation: int
    name: str
    is_p2p: bool
    state: State
    retired: bool = False
    inputs: tuple[tuple[int, ...], ...] = ()
    outputs: tuple[tuple[int, ...], ...] = ()
    input_types: tuple[str, ...] = ()
    output_types: tuple[str, ...] = ()
    created: int | None = None
    started: int | None = None
    completed: int | None = None
    timeout_ms: int | None = None
    duration_ms: float | None = None
    frames: tuple[Frame, ...] = ()

    @property
    def backend(self) -> str:
        """Return who carries it: "nccl", "gloo"."""
        return self.name.partition(":")[0] if ":" in self.name else ""

    @property
    def kind(self) -> str:
        """Return what is done: "all_reduce", "send"."""
        return self.name.rpartition(":")[2].partition(" ")[0]


@dataclass(frozen=True, slots=True)
class Group:
    """A process group, with the job's ranks in it."""

    name: str
    description: str
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dump:
    """What one rank recorded, oldest first. `library` is the version of what carries the data, "" where untold."""

    rank: int
    version: str
    library: str
    groups: tuple[Group, ...]
    entries: tuple[Entry, ...]


def rank_of(name: str) -> int | None:
    """Return the rank that a dump's file name ends with (nccl_trace_rank_17, rank_3.json), None where it has none."""
    end = re.search(r"\d{1,6}(?:\.[a-z]{1,6})?$", name, re.ASCII)
    found = _NUMBERED.fullmatch(end[0]) if end else None
    return None if found is None else int(found[1])


def read(raw: bytes, rank: int) -> Dump:
    """Return what a rank's dump says.

    Raises:
        EvidenceError: it is no dump, or is cut off or damaged: the newest records lie at its end, and without them a
            rank would seem to be behind that is not.
    """
    try:
        top = _json(raw) if raw.lstrip()[:1] == b"{" else _pickle(raw)
        return _Reader().dump(top, rank)
    except EvidenceError as error:
        raise EvidenceError(f"the flight recorder dump of rank {rank}: {error}") from None


def _json(raw: bytes) -> object:
    if len(raw) > plain_pickle.MOST_BYTES:
        raise EvidenceError(f"found {len(raw):,} bytes, expected at most {plain_pickle.MOST_BYTES:,}")
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise EvidenceError(
            f"found JSON that cannot be read to its end ({error}): copy the file again, it may be cut off"
        ) from None


def _pickle(raw: bytes) -> object:
    if not raw.startswith(b"\x80"):
        raise EvidenceError(
            f"found {'an empty file' if not raw else 'another form'}, expected a pickle or JSON that PyTorch wrote"
        )
    try:
        return plain_pickle.load(raw)
    except CutShortError as error:
        whole = max((sum(_is_record(value) for value in each) for each in error.unfinished), default=0)
        raise EvidenceError(
            f"{error}, after {counted(whole, 'whole record')}: the newest are at the end, and only they tell what"
            " hung; copy the file again, or look whether its disk was full"
        ) from None


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and "profiling_name" in value


class _Reader:
    """Makes values of what a file holds.

    A pickle may refer to one list a million times: each is read once, so that reading takes no longer than the file.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[object, int], object] = {}

    def dump(self, top: object, rank: int) -> Dump:
        if not isinstance(top, dict) or "version" not in top:
            raise EvidenceError("found no version, expected a dump's version, pg_config and entries")
        version = self.text(top, "version")
        found = _VERSION.fullmatch(version)
        if found is None or int(found[1]) != MAJOR:
            raise EvidenceError(
                f"found version {version:.20}, expected {MAJOR}.x: another release of PyTorch wrote it"
            )
        config, entries = top.get("pg_config", {}), top.get("entries", [])
        if not isinstance(config, dict) or not isinstance(entries, list):
            raise EvidenceError("found pg_config or entries of another form, expected groups by name, and a list")
        return Dump(
            rank,
            version,
            self.text(top, "comm_lib_version", ""),
            tuple(self.once(each, self.group) for each in config.values()),
            tuple(self.once(each, self.entry) for each in entries),
        )

    def once(self, raw: object, read: Callable[[object], T]) -> T:
        """Return what was made of this very value before, or make it."""
        key = (read.__name__, id(raw))
        if key not in self.known:
            self.known[key] = read(raw)
        return self.known[key]  # type: ignore[return-value]  # the reader's name is in the key

    def group(self, raw: object) -> Group:
        row = _row(raw, "a process group")
        ranks = self.once(row.get("ranks"), _members)
        return Group(self.text(row, "name"), self.text(row, "desc", ""), ranks)

    def entry(self, raw: object) -> Entry:
        row = _row(raw, "a record")
        group, description = self.names(row.get("process_group"))
        name = self.text(row, "profiling_name")
        kind = name.rpartition(":")[2].partition(" ")[0]
        state = self.text(row, "state", State.SCHEDULED)
        if state not in set(State):
            _wrong("state", state, "scheduled, started or completed")
        return Entry(
            group,
            description,
            _number(row, "record_id") or 0,
            _needed(row, "collective_seq_id"),
            _number(row, "p2p_seq_id") or 0,
            _number(row, "op_id") or 0,
            name,
            bool(row.get("is_p2p", kind in _P2P)),
            State(state),
            bool(row.get("retired")),
            self.once(row.get("input_sizes"), self.sizes),
            self.once(row.get("output_sizes"), self.sizes),
            self.once(row.get("input_dtypes"), _types),
            self.once(row.get("output_dtypes"), _types),
            _number(row, "time_created_ns"),
            _number(row, "time_discovered_started_ns"),
            _number(row, "time_discovered_completed_ns"),
            _number(row, "timeout_ms"),
            _duration(row),
            self.once(row.get("frames"), self.frames),
        )

    def names(self, raw: object) -> tuple[str, str]:
        if not isinstance(raw, list | tuple) or len(raw) != 2 or not all(isinstance(each, str) for each in raw):  # noqa: PLR2004  name and description
            _wrong("process_group", raw, "its name and description")
        return _shown(raw[0]), _shown(raw[1])

    def sizes(self, raw: object) -> tuple[tuple[int, ...], ...]:
        """Return the dimensions of each tensor."""
        return tuple(self.once(each, _dimensions) for each in _rows(raw, "sizes"))

    def frames(self, raw: object) -> tuple[Frame, ...]:
        """Return the caller's own frames; PyTorch's innermost one where there are no others."""
        kept: list[Frame] = []
        first: list[Frame] = []
        for each in _rows(raw, "frames"):
            frame = self.once(each, self.frame)
            first = first or [frame]
            if "-packages/" not in frame.file and "/torch/" not in frame.file:
                kept.append(frame)
            if len(kept) == FRAMES:
                break
        return tuple(kept or first)

    def frame(self, raw: object) -> Frame:
        row = _row(raw, "a frame")
        return Frame(self.text(row, "name", ""), self.text(row, "filename", ""), _number(row, "line") or 0)

    def text(self, row: Mapping[object, object], key: str, otherwise: str | None = None) -> str:
        value = row.get(key, otherwise)
        if not isinstance(value, str):
            _wrong(key, value, "text")
        return _shown(value)


def _wrong(key: str, found: object, expected: str) -> NoReturn:
    told = f"{found:.40}" if isinstance(found, str) else f"{type(found).__name__}"
    raise EvidenceError(f"{key}: found {printable(told)}, expected {expected}")


def _shown(text: str) -> str:
    return printable(text[:LONGEST])


def _row(raw: object, what: str) -> dict[object, object]:
    if not isinstance(raw, dict):
        _wrong(what, raw, "its keys and values")
    return raw


def _rows(raw: object, key: str) -> list[object] | tuple[object, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list | tuple):
        _wrong(key, raw, "a list")
    return raw


def _number(row: Mapping[object, object], key: str) -> int | None:
    """Return a count or a time; None where the key is missing, or a time that JSON gives as 0."""
    value = row.get(key)
    if value is None:
        return None
    if type(value) is not int or not 0 <= value < 1 << 63:
        _wrong(key, value, "a whole number")
    return value if value or not key.startswith("time_") else None


def _duration(row: Mapping[object, object]) -> float | None:
    """Return how long an operation took on the accelerator, in milliseconds; None where it was not measured."""
    value = row.get("duration_ms")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LONGEST_MS:
        _wrong("duration_ms", value, "milliseconds")
    return float(value)


def _needed(row: Mapping[object, object], key: str) -> int:
    if (value := _number(row, key)) is None:
        _wrong(key, value, "a whole number")
    return value


def _dimensions(raw: object) -> tuple[int, ...]:
    numbers = _rows(raw, "sizes")
    if not all(type(each) is int and each >= 0 for each in numbers):
        _wrong("sizes", raw, "whole numbers")
    return tuple(each for each in numbers if isinstance(each, int))


def _members(raw: object) -> tuple[int, ...]:
    """Return a group's ranks, which PyTorch writes as text, "[0, 1]"; where they are told as numbers, those."""
    if isinstance(raw, str) and _RANKS.fullmatch(raw):
        return tuple(sorted({int(each) for each in re.findall(r"\d+", raw)}))
    if not isinstance(raw, list):
        _wrong("ranks", raw, "the ranks of a process group")
    return tuple(sorted(set(_dimensions(raw))))


def _types(raw: object) -> tuple[str, ...]:
    return tuple(_shown(each) if isinstance(each, str) else "" for each in _rows(raw, "dtypes"))
