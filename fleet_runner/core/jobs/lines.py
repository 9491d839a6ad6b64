"""A line of a job's output: which rank or node wrote it, and when, from what launchers and loggers put before it."""

import re
from datetime import UTC, datetime
from typing import NamedTuple

from fleet_runner.core.checks.pasted.cleaning import clean

LONGEST = 4000
"""Characters of a line that are looked at."""

_BEFORE = re.compile(
    r"(?:\[default\d{1,6}\]:|\[rank(?P<rank>\d{1,6})\]:|\[\d{1,4},(?P<mpi>\d{1,6})\](?:<\w{3,8}>)?:?"
    r"| {0,6}(?P<label>\d{1,6}): |\(\w{1,40} pid=\d{1,8}(?:, ip=[0-9a-f.:]{3,45})?\)"
    r"|(?P<node>(?=[\w.-]{0,40}\d)[A-Za-z][\w.-]{0,254})(?<!Error): (?=\[|\d|Traceback)) ?",
    re.ASCII,
)
"""What torchrun, PyTorch, mpirun, srun --label (padded with blanks), Ray and pdsh begin a line with."""

_TIME = re.compile(
    r"[ \t]{0,3}(?:\[?[A-Z][A-Za-z]{0,8}[ :]{1,2}(?:[A-Z] )?)?[\[(]?(?P<date>20\d\d[-/]\d\d[-/]\d\d|\d\d/\d\d/20\d\d)"
    r"[T ](?P<clock>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?[\])]?[ ,:|-]{0,3}",
    re.ASCII,
)
_GLOG = re.compile(
    r"[ \t]{0,3}\[?[EWIF](?P<month>\d{1,2})(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d)(?:\.(?P<part>\d{1,9}))? ", re.ASCII
)
"""How PyTorch's C++ part begins a line: without a year."""

_NCCL = re.compile(r"(?P<host>[A-Za-z][\w.-]{0,254}):\d{1,8}:\d{1,8} \[\d{1,3}\] ", re.ASCII)

DEEPEST = 6
"""Prefixes that a line may have."""


class Line(NamedTuple):
    """A line without its prefixes. `at` is in epoch seconds, None without a time.

    `zoned`: it told its zone; `yearless`: its time tells no year, and is of that which was given.
    """

    text: str
    rank: int | None = None
    node: str = ""
    at: float | None = None
    zoned: bool = False
    yearless: bool = False


def read(raw: str, year: int) -> Line:
    """Return a line of any launcher; `year` is that of the job's end, for times that tell none."""
    text = clean(raw[:LONGEST])
    rank: int | None = None
    node, at, zoned, yearless = "", None, False, False
    for _ in range(DEEPEST):
        if found := _BEFORE.match(text):
            told = found["rank"] or found["mpi"] or found["label"]
            rank = int(told) if told else rank
            node = found["node"] or node
        elif at is None and (found := _TIME.match(text)):
            at, zoned = _moment(f"{_date(found['date'])}T{found['clock']}", found["part"], found["zone"])
        elif at is None and (found := _GLOG.match(text)):
            yearless = True
            at, zoned = _moment(f"{year}-{found['month']:0>2}-{found['day']}T{found['clock']}", found["part"], None)
        else:
            break
        text = text[found.end() :]
    if found := _NCCL.match(text):
        node = found["host"]
    return Line(text, rank, node, at, zoned, yearless)


def _date(told: str) -> str:
    """Return the ISO form of "2026-11-28", "2026/11/28" or Python loggers' American "11/28/2026"."""
    plain = told.replace("/", "-")
    return plain if plain[4] == "-" else f"{plain[6:]}-{plain[:5]}"


def _moment(told: str, part: str | None, zone: str | None) -> tuple[float | None, bool]:
    try:
        read_ = datetime.fromisoformat(f"{told}{zone or ''}")
    except ValueError:
        return None, False
    whole = (read_ if read_.tzinfo is not None else read_.replace(tzinfo=UTC)).timestamp()
    return whole + (float(f"0.{part}") if part else 0.0), zone is not None
