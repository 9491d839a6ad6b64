"""Which nodes jobs were told to leave out, by `--exclude` as it was typed: Slurm keeps the line (SubmitLine).

A line is free text, of several lines at times: what is no row of ours is the rest of one, and is passed over. What
is left out by a file's name, or by a list too long to be about single nodes, counts for nobody.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice, product
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.slurm_jobs import LONGEST, moment
from fleet_runner.core.checks.parsers.slurm_options import exclusions

FIELDS = ("JobID", "Submit", "SubmitLine")
"""Fields that are asked for, in their order; Slurm before 21.08 has no SubmitLine."""

MOST = 64
"""Nodes of one list: who leaves out more has no single node in mind."""

_LEFT_OUT = re.compile(r"-\S*x|--exclud")
_JOB = re.compile(r"(\d{1,12})([_+]\S{0,40})?")
_ITEM = re.compile(r"(?:[^,\[\]]|\[[0-9,-]+\])+")
_RANGES = re.compile(r"\[([0-9,-]+)\]")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


class Excluded(NamedTuple):
    """When each job was submitted, by the node that it leaves out; and whether a line is told, or there is no job."""

    nodes: dict[str, dict[str, float]]
    told: bool


def excluded(lines: Iterable[str]) -> Excluded:
    """Read when jobs that leave a node out were submitted, by node; the tasks of an array are one job."""
    found: dict[str, dict[str, float]] = {}
    jobs = told = 0
    for line in lines:
        job, _, rest = line.partition("|")
        submitted, _, typed = rest.partition("|")
        known = _JOB.fullmatch(job)
        jobs += known is not None
        told += known is not None and bool(typed.strip())
        if known is None or not _LEFT_OUT.search(typed) or len(line) > LONGEST:
            continue
        at = None
        with suppress(EvidenceError):
            at = moment(submitted)
        if at is not None:
            for name in left_out(typed):
                found.setdefault(name, {}).setdefault(known[1], at)
    return Excluded(found, told=not jobs or bool(told))


def left_out(typed: str) -> frozenset[str]:
    """Return the nodes that a command line of sbatch, srun or salloc leaves out."""
    return frozenset(name for listed in exclusions(_words(typed)) for name in hosts(listed))


def hosts(text: str, most: int = MOST) -> tuple[str, ...]:
    """Return the names in a list like `gpu-[01-03,07],login1`; none where they are more than `most`, or a file's."""
    if "/" in text:
        return ()
    found = tuple(islice((name for item in _ITEM.findall(text) for name in _names(item, most)), most + 1))
    return found if len(found) <= most else ()


def _words(typed: str) -> list[str]:
    try:
        return shlex.split(typed)
    except ValueError:  # a quote that nobody closed
        return typed.split()


def _names(item: str, most: int) -> Iterator[str]:
    literals_and_ranges = _RANGES.split(item)
    choices = [
        tuple(islice(_numbers(part), most + 1)) if at % 2 else (part,) for at, part in enumerate(literals_and_ranges)
    ]
    return map("".join, product(*choices))


def _numbers(ranges: str) -> Iterator[str]:
    """Count as Slurm does: from 08 to 11 with two digits."""
    for each in ranges.split(","):
        if known := _RANGE.fullmatch(each):
            first, last = known[1], known[2] or known[1]
            yield from (f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1))
