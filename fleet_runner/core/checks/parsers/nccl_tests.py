"""What nccl-tests prints (`all_reduce_perf` and its like, of RCCL too): a row for each size, and a sum at the end."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.faults.pci import canonical

_TAG = re.compile(r"^[ \t]*(?:\[\d{1,4},\d{1,6}\]<\w{1,8}>:|\d{1,6}: )[ \t]*")
"""What mpirun (`--tag-output`) and srun (`-l`) put before each line."""

_RANK = re.compile(
    r"#?[ \t]*Rank[ \t]+(\d{1,6})[ \t]+(?:Group[ \t]+\d{1,6}[ \t]+)?Pid[ \t]+\d{1,10}[ \t]+on[ \t]+(\S{1,128})"
    r"[ \t]+device[ \t]+(\d{1,4})[ \t]+\[([0-9A-Fa-fx:.]{2,20})\][ \t]*(.{0,80})"
)
_BOUNDS = re.compile(r"#[ \t]*Out of bounds values[ \t]*:[ \t]*(\d{1,12})[ \t]+(?:OK|FAILED)\b")
_AVERAGE = re.compile(r"#[ \t]*Avg bus bandwidth[ \t]*:[ \t]*([0-9.e+-]{1,20})(?:[ \t]|$)")
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?")
_TROUBLE = re.compile(r"NCCL WARN|Test (?:NCCL|CUDA|HIP) failure|Test failure|Test timeout|# error:", re.IGNORECASE)

FASTEST = 1e6
"""GB/s beyond which no bus goes."""

SAID = 5
"""Lines of trouble that are kept."""


class Rank(NamedTuple):
    """One process' GPU. `pci` is empty where the tool does not tell the whole address."""

    number: int
    host: str
    device: int
    pci: str
    model: str


class Row(NamedTuple):
    """One size. `bus_gbps` has a number out of place and one in place; `wrong` is None where nothing was compared."""

    bytes: int
    bus_gbps: tuple[float, ...]
    wrong: int | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """All that was measured. `average_gbps` and `out_of_bounds` are None unless the test came to its end.

    `out_of_bounds` counts rows with wrong values. `trouble` are lines in which NCCL or the test complains.
    """

    ranks: tuple[Rank, ...]
    rows: tuple[Row, ...]
    average_gbps: float | None
    out_of_bounds: int | None
    trouble: tuple[str, ...]


def parse(output: str) -> Sweep:
    """Read what was printed so far; EvidenceError where it is no output of these tests."""
    begun, _, _ = output.rpartition("\n")  # the last line may be half a line
    lines = [_TAG.sub("", line.rstrip("\r"), count=1) for line in begun.split("\n")]
    ranks = {rank.number: rank for line in lines if (rank := _rank(line)) is not None}
    bounds = [int(found[1]) for line in lines if (found := _BOUNDS.match(line.lstrip())) is not None]
    averages = [
        average
        for line in lines
        if (found := _AVERAGE.match(line.lstrip())) is not None and (average := _rate(found[1])) is not None
    ]
    rows = tuple(_rows(lines))
    trouble = tuple(" ".join(line.split())[:200] for line in lines if _TROUBLE.search(line[:2000]))
    if not (ranks or rows or bounds or trouble):
        raise EvidenceError("this is no output of nccl-tests: it names no ranks and has no rows")
    return Sweep(
        ranks=tuple(rank for _, rank in sorted(ranks.items())),
        rows=rows,
        average_gbps=averages[-1] if averages else None,
        out_of_bounds=sum(bounds) if bounds else None,
        trouble=trouble[:SAID],
    )


def _rank(line: str) -> Rank | None:
    found = _RANK.match(line.lstrip())
    if found is None:
        return None
    number, host, device, address, model = found.groups()
    return Rank(int(number), host, int(device), canonical(address) or "", model.strip())


def _rows(lines: list[str]) -> Iterator[Row]:
    columns: list[str] = []
    for line in lines:
        words = line.split()
        if words[:1] == ["#"] and "size" in words and "busbw" in words:
            columns = words[1:]
        elif words and words[0].isdecimal():
            row = _row(words, columns or _guessed(words), guessed=not columns)
            if row is not None:
                yield row


def _guessed(words: list[str]) -> list[str]:
    """Return the columns of a row whose heading is lost: before version 2.11 there was no root, and no count."""
    rooted = len(words) > OLD_COLUMNS and re.fullmatch(r"-?\d{1,6}", words[4]) is not None
    kind = ["size", "count", "type", "redop", *(["root"] if rooted else [])]
    return [*kind, *["time", "algbw", "busbw", "#wrong" if rooted else "error"] * 2]


OLD_COLUMNS = 12


def _row(words: list[str], columns: list[str], *, guessed: bool) -> Row | None:
    """Read a row by its heading; None for a line that only looks like one. In the oldest, "error" is no count."""
    if len(words[0]) > len(str(2**60)) or len(words) <= columns.index("busbw"):
        return None
    named = list(zip(columns, words, strict=False))
    buses = [_rate(word) for name, word in named if name == "busbw"]
    wrongs = [_rate(word) for name, word in named if name == "#wrong"]
    rates = [rate for rate in buses if rate is not None]
    if len(rates) != len(buses) or any(_NUMBER.fullmatch(word) is None for name, word in named if name == "algbw"):
        return None
    counted = [wrong for wrong in wrongs if wrong is not None]
    if not all(wrong.is_integer() for wrong in counted):  # columns that have moved: values are counted whole
        return None
    if not counted and not guessed and any(_rate(word) is not None for name, word in named if name == "error"):
        counted = [0]  # the size of an error is told where values were compared; how many are wrong the sum tells
    return Row(int(words[0]), tuple(rates), round(max(counted)) if counted else None)


def _rate(word: str) -> float | None:
    """Return a number that something measured; None for "N/A" and for anything else."""
    value = float(word) if _NUMBER.fullmatch(word) else None
    return value if value is not None and value <= FASTEST**2 else None
