"""What nvbandwidth prints: a matrix of bandwidths for each test, as text or as JSON (`-j`)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import enclosed, objects
from fleet_runner.core.faults.pci import canonical

_VERSION = re.compile(r"nvbandwidth Version: (\S{1,40})")
_DEVICE = re.compile(
    r"(?:Device )?(\d{1,3}): (.{1,120}?)(?: \(([0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})\).{0,200})?"
)
_PROCESS = re.compile(r"Process[ \t]+(\d{1,4}) \([^)\n]{0,120}\): device \d{1,3}: ")
"""What stands before a GPU where each has a process of its own; that has the number."""

_TEST = re.compile(r"Running (\w{1,80})\.")
_NOT_RUN = re.compile(r"(?:Waiving (\w{1,80})\.|(?:Waived|Error|ERROR|Not Found):)")
_TROUBLE = re.compile(r"(?:Error|ERROR|\[CUDA_ERROR_|NVML_ERROR)")
_WRONG = re.compile(r"Invalid value when checking the pattern")
_RATE = re.compile(r"\d{1,6}(?:\.\d{1,6})?")

SAID = 5
"""Lines of trouble that are kept."""

MOST = 128
"""Rows or columns of a matrix; no node has more GPUs, nor do a rack's nodes together."""


class Device(NamedTuple):
    """A GPU by the tool's number; `pci` is empty where its version does not tell it."""

    number: int
    model: str
    pci: str


class Matrix(NamedTuple):
    """One test's result in GB/s, row by row; None for "N/A". `columns` are the numbers of the GPUs."""

    test: str
    columns: tuple[int, ...]
    rows: tuple[tuple[int, tuple[float | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All that was measured. `wrong` are lines that say that data came back changed, `trouble` any other errors."""

    version: str
    devices: tuple[Device, ...]
    matrices: tuple[Matrix, ...]
    wrong: tuple[str, ...]
    trouble: tuple[str, ...]


def parse(output: str) -> Report:
    """Read the report, in either form; EvidenceError for anything that is none."""
    if '"nvbandwidth"' in output and "{" in output:
        return _json(enclosed(output, ("nvbandwidth",), "nvbandwidth's report").get("nvbandwidth"))
    return _text(output)


def _text(output: str) -> Report:
    begun, _, _ = output.rpartition("\n")  # the last line may be half a line
    lines = [_PROCESS.sub(r"Device \1: ", line.rstrip(), count=1) for line in begun.split("\n")]
    version = _VERSION.search(begun)
    if version is None:
        raise EvidenceError("this is no report of nvbandwidth: it has no version; was the tool found?")
    devices = [found for line in lines if line.startswith("Device ") and (found := _DEVICE.fullmatch(line))]
    return Report(
        version[1],
        tuple(_device(found) for found in devices),
        tuple(_matrices(lines)),
        _kept(line for line in lines if _WRONG.search(line)),
        _kept(line for line in lines if _TROUBLE.match(line)),
    )


def _matrices(lines: list[str]) -> Iterator[Matrix]:
    """Of each test the first matrix: those of both directions at once print one for each, and a sum."""
    test = ""
    columns: tuple[int, ...] = ()
    rows: list[tuple[int, tuple[float | None, ...]]] = []
    for line in [*lines, ""]:
        words = line.split()
        row = _row(words, len(columns)) if columns else None
        if row is not None:
            rows.append(row)
            continue
        if test and rows:
            yield Matrix(test, columns, tuple(rows[:MOST]))
            test = ""
        columns, rows = (), []
        begun = _TEST.fullmatch(line)
        if begun is not None:
            test = begun[1]
        elif _NOT_RUN.match(line):
            test = ""
        elif test and words and len(words) <= MOST and all(word.isdecimal() and len(word) < 4 for word in words):  # noqa: PLR2004  GPU numbers have three digits at most
            columns = tuple(int(word) for word in words)


def _row(words: list[str], count: int) -> tuple[int, tuple[float | None, ...]] | None:
    """Read "0   55.1   N/A"; None for a line that is no row of so many columns."""
    if len(words) != count + 1 or not words[0].isdecimal() or len(words[0]) > 3:  # noqa: PLR2004  as above
        return None
    if not all(word == "N/A" or _RATE.fullmatch(word) for word in words[1:]):
        return None
    return int(words[0]), tuple(None if word == "N/A" else float(word) for word in words[1:])


def _json(root: Any) -> Report:
    if not isinstance(root, dict):
        raise EvidenceError("nvbandwidth's report has no nvbandwidth in it; was it cut short?")
    tests = objects(root.get("testcases", []), "nvbandwidth's testcases")
    listed: Any = next((root[key] for key in ("GPU Device list", "GPU Device info") if key in root), [])
    told = [name for name in (listed if isinstance(listed, list) else [listed]) if isinstance(name, str)]
    errors = [error for each in (root, *tests) if isinstance(error := each.get("error"), str) and error]
    failed = [f"{each.get('name')!s:.80}: {each['status']}" for each in tests if each.get("status") == "Error"]
    return Report(
        str(root.get("version", ""))[:40],
        tuple(_device(found) for name in told if (found := _DEVICE.fullmatch(name))),
        tuple(matrix for each in tests if (matrix := _json_matrix(each)) is not None),
        _kept(error for error in errors if _WRONG.search(error)),
        _kept([*(error for error in errors if not _WRONG.search(error)), *failed]),
    )


def _json_matrix(test: dict[str, Any]) -> Matrix | None:
    """Read one test's matrix; its cells are texts, or numbers. None for a test without one."""
    name, given = test.get("name"), test.get("bandwidth_matrix")
    if not isinstance(name, str) or not isinstance(given, list) or not given:
        return None
    rows = [[_cell(cell) for cell in row[:MOST]] for row in given[:MOST] if isinstance(row, list)]
    width = len(rows[0]) if rows else 0
    if not width or len(rows) != len(given[:MOST]) or any(len(row) != width for row in rows):
        raise EvidenceError(f"nvbandwidth's {name:.80}: found {given!r:.80}, expected rows of equal length")
    return Matrix(name, tuple(range(width)), tuple((at, tuple(row)) for at, row in enumerate(rows)))


def _cell(cell: object) -> float | None:
    word = str(cell) if isinstance(cell, str | int | float) and not isinstance(cell, bool) else ""
    return float(word) if _RATE.fullmatch(word) else None


def _device(found: re.Match[str]) -> Device:
    return Device(int(found[1]), found[2].strip(), canonical(found[3] or "") or "")


def _kept(lines: Any) -> tuple[str, ...]:
    return tuple(" ".join(line.split())[:200] for line in lines)[:SAID]
