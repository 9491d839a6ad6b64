"""Which lines of a job's output are looked at: a big output is one step after the other, which tells little.

A line that holds a word of `WORDS` is always looked at. Of lines without one, those are that tell of steps and times:
the first and last ones, every so many between, and as many steps as show that the program went on.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from fleet_runner.core.checks.pasted.cleaning import uncoloured
from fleet_runner.core.jobs.steps import SURVIVED

KEY = re.compile(
    r"Traceback \(most recent|NCCL WARN|Watchdog caught|slurmstepd: |srun: error|noticed that|MPI_ABORT was invoked"
    r"|Root Cause \(first|Fatal Python error|  what\(\): |daemon|nranks \d|: task|: Killed|watchdog got stuck"
    r"|Heartbeat monitor timed out|Memory access fault by GPU|uncorrectable (?:ECC|NVLink) error \w+ed|Test CUDA"
    r"|Process name: |: line \d|\] Exception |Exception ignored in|--- Logging error"
)
"""What a line says that is taken apart."""

WORDS = (
    "Traceback (most recent", "NCCL WARN", "Watchdog caught", "slurmstepd: ", "srun: error", "noticed that",
    "MPI_ABORT was invoked", "Root Cause (first", "Fatal Python error", "  what(): ", "daemon", "nranks ", ": task",
    ": Killed", "watchdog got stuck", "Heartbeat monitor timed out", "Memory access fault by GPU", "uncorrectable ",
    "Test CUDA", "Process name: ", ": line ", "] Exception ", "Exception ignored in", "--- Logging error",
)  # fmt: skip
"""Whatever `KEY` finds holds one of these, and these are found faster."""

FEW = 256
"""Lines up to which all are looked at."""

EDGE = 64
"""Lines at the beginning and end that are looked at, and how many apart others are."""

_CLOCK = re.compile(r"\d\d:\d\d:\d\d", re.ASCII)
_BAR = re.compile(r"/\d{1,12} \[\d", re.ASCII)


def plain(text: str) -> str:
    """Return lines without colours; what a bar of progress wrote over itself are lines, too."""
    return uncoloured(text.replace("\r", "\n"))


def marked(text: str) -> Iterator[tuple[int, int]]:
    """Yield where lines that hold a word begin and end, in their order."""
    spans: dict[int, int] = {}
    for word in WORDS:
        at = text.find(word)
        while at >= 0:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            spans[text.rfind("\n", 0, at) + 1] = end
            at = text.find(word, end)
    yield from sorted(spans.items())


def worth(lines: Sequence[str], made: Callable[[], int]) -> Iterator[str]:
    """Yield those of lines that tell enough; `made` returns how many steps were told of in those yielded so far."""
    if len(lines) <= FEW:
        yield from lines
        return
    enough, clock = made() + SURVIVED, False
    end = len(lines) - EDGE
    late = {_last(lines, end, tells) for tells in (_stepping, _timed, _timed_step)}
    for number in range(end):
        line = lines[number]
        first = not clock and _timed(line)
        clock = clock or first
        if number < EDGE or number % EDGE == 0 or first or number in late or (made() < enough and _stepping(line)):
            yield line
    yield from lines[end:]


def _last(lines: Sequence[str], end: int, tells: Callable[[str], bool]) -> int:
    """Return the number of the last line before `end` that tells, -1 where later ones do, or none does."""
    if any(tells(line) for line in lines[end:]):
        return -1
    return next((number for number in range(end - 1, -1, -1) if tells(lines[number])), -1)


def _timed(line: str) -> bool:
    return _CLOCK.search(line) is not None


def _timed_step(line: str) -> bool:
    return _timed(line) and _stepping(line)


def _stepping(line: str) -> bool:
    """Return whether a line may tell of a step: whatever `steps` takes has one of these."""
    low = line.lower()
    return (
        "step" in low or "iter" in low or "epoch" in low or "loss" in low or "batch" in low or "tokens" in low
        or (" [" in low and _BAR.search(low) is not None)
    )  # fmt: skip
