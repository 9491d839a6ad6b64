"""What perftest's ib_write_bw and ib_write_lat print: a table, in one of several units, for each measurement."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import program

PROGRAM = "ib_write"

MOST = 256
"""Measurements of one node; none has more adapters."""

_HEADING = re.compile(r"^[ \t]*(RDMA_\w{1,20}|Send|Atomic) (.{0,40}?)(BW|Latency) Test", re.MULTILINE)
_DEVICE = re.compile(r"\bDevice[ \t]*:[ \t]*(\S{1,40})")
_COLUMN = re.compile(
    r"#bytes|#sl|#iterations|(?:BW peak|BW average|MsgRate)\[[^\]]{1,10}\]|t_\w{1,10}\[usec\]"
    r"|99(?:\.9)?% percentile\[usec\]|tps average"
)
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_TROUBLE = re.compile(
    r"couldn't|unable|failed|failure|not found|no ib devices|did not detect|is down|syndrom", re.IGNORECASE
)
_BROKEN = re.compile(r"^[ \t]*Failed status \d|syndrom", re.IGNORECASE)
"""What is said of a transfer that ended before its time: what was measured until then is not what it would have."""

PER_GBIT: Mapping[str, float] = {
    "BW average[Gb/sec]": 1.0,
    "BW average[MB/sec]": 2**20 * 8 / 1e9,
    "BW average[MiB/sec]": 2**20 * 8 / 1e9,
}
"""Gb/s in each unit. perftest divides by 2 to the 20th, under either name, unless it is asked for gigabits."""

TYPICAL = ("t_typical[usec]", "t_avg[usec]")
"""The column that is the latency: where a duration was asked for there is only the second."""


class Row(NamedTuple):
    """One size: its bandwidth in Gb/s or its latency in microseconds, the other is None."""

    bytes: int
    gbitps: float | None
    latency_us: float | None


class Table(NamedTuple):
    """One measurement of a device. `both_ways` ones add up both directions; `trouble` is why it has no rows."""

    device: str
    both_ways: bool
    rows: tuple[Row, ...]
    trouble: str


class Measured(NamedTuple):
    """What was measured of a rail, against its peer: a table, or why there is none."""

    rail: str
    peer: str
    table: Table | None
    trouble: str


def parse(text: str) -> tuple[Table, ...]:
    """Read the tables of a text; EvidenceError where it has none."""
    begun, _, _ = text.rpartition("\n")  # the last line may be half a line
    heads = [found.start() for found in _HEADING.finditer(begun)]
    parts = [begun[start:end] for start, end in pairwise([*heads, len(begun)])]
    if not parts and "#bytes" in begun:
        parts = [begun]  # the heading was cut off
    if not parts:
        trouble, _ = _trouble(begun)
        raise EvidenceError(f"this is no output of perftest{f': {trouble}' if trouble else ''}")
    return tuple(_table(part) for part in parts)


def measured(output: str) -> tuple[Measured, ...]:
    """Read our program's lines, or what perftest printed itself, rail by rail; EvidenceError for half of it."""
    if not program.lines(output, PROGRAM):
        tables = parse(output)[:MOST]
        return tuple(Measured(table.device, table.device, table, table.trouble) for table in tables)
    lines = [line for line in program.whole(output, PROGRAM) if "target" in line]
    if len(lines) > MOST:
        raise EvidenceError(f"{PROGRAM} printed {len(lines)} measurements, expected at most {MOST}")
    return tuple(_measured(line) for line in lines)


def _measured(line: dict[str, Any]) -> Measured:
    rail, peer = program.text(line, "target"), program.text(line, "peer")
    output, error = line.get("output"), line.get("error")
    if not rail or not isinstance(output, str):
        return Measured(rail, peer, None, f"{error!s:.200}")
    try:
        table = parse(output + "\n")[-1]
    except EvidenceError as refused:
        return Measured(rail, peer, None, str(refused))
    if line.get("rc") != 0:
        return Measured(
            rail, peer, None, table.trouble or f"{program.text(line, 'test')} exited with {line.get('rc')!s:.9}"
        )
    return Measured(rail, peer, table, table.trouble)


def _table(text: str) -> Table:
    head = _HEADING.match(text)
    device = _DEVICE.search(text)
    trouble, broken = _trouble(text)
    rows = () if broken else tuple(_rows(text))
    return Table(
        device=device[1] if device is not None else "",
        both_ways=head is not None and "Bidirectional" in head[2],
        rows=rows,
        trouble="" if rows else (trouble or "it has no result"),
    )


def _rows(text: str) -> Iterator[Row]:
    columns: list[str] = []
    for line in text.split("\n"):
        if line.lstrip().startswith("#bytes"):
            columns = _COLUMN.findall(line)
            continue
        words = line.split()
        if not columns or not words or not all(_NUMBER.fullmatch(word) for word in words):
            continue
        named = dict(zip(columns, words, strict=False))
        gbitps = next((float(named[name]) * each for name, each in PER_GBIT.items() if name in named), None)
        latency = next((float(named[name]) for name in TYPICAL if name in named), None)
        if named["#bytes"].isdecimal() and (gbitps or latency):
            yield Row(int(named["#bytes"]), round(gbitps, 3) if gbitps else None, latency or None)


def _trouble(text: str) -> tuple[str, bool]:
    """Return the last line that complains, and whether one tells of a transfer that broke, which then is it."""
    said = [" ".join(line.split())[:200] for line in text.split("\n") if _TROUBLE.search(line[:2000])]
    broken = [line for line in said if _BROKEN.search(line)]
    return (broken or said or [""])[-1], bool(broken)
