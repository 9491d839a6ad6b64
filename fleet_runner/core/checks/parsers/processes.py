"""Processes as `ps` lists them: state, number, user, age and name, the name last because tenants choose it."""

import re
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError

MOST = 200_000

ARGV = ("ps", "-e", "--no-headers", "-o", "state=,pid=,ppid=,uid=,etimes=,comm=")

KTHREADD = 2
"""The process whose children are the kernel's own."""

_LINE = re.compile(r" *([A-Za-z]) +(\d{1,10}) +(\d{1,10}) +(\d{1,10}) +(\d{1,12}) ([^\n]{0,200})", re.ASCII)


class Process(NamedTuple):
    """One process. `state` is ps's letter, `seconds` its age."""

    state: str
    pid: int
    parent: int
    user: int
    seconds: int
    name: str


def parse(text: str) -> tuple[Process, ...]:
    """Return the processes; EvidenceError for anything else. A last line without its end is none."""
    lines = text.split("\n")[:-1]
    if len(lines) > MOST:
        raise EvidenceError(f"ps lists {len(lines)} processes, expected at most {MOST}; look at the node")
    found = [_LINE.fullmatch(line) for line in lines]
    rows = tuple(
        Process(each[1], int(each[2]), int(each[3]), int(each[4]), int(each[5]), each[6].strip())
        for each in found
        if each is not None
    )
    if not rows or len(rows) < len(lines):
        strange = next((line for line, each in zip(lines, found, strict=True) if each is None), text)
        raise EvidenceError(f"ps printed {strange.strip()!r:.80}, expected a process on each line; was it cut short?")
    return rows
