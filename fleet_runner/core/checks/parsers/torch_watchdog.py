"""What PyTorch's watchdog logs of collectives that timed out (ProcessGroupNCCL): which rank waited in which one.

A line tells one rank's view: its number of the collective, the operation and the sizes. Which process group it is of
only the line after it says, in newer releases. All ranks of a job often share one output, in any order.
"""

import re
from typing import NamedTuple

CAUGHT = "Watchdog caught collective operation timeout"

_GLOBAL = r"(?:\[rank(?P<world>\d{1,6})\]:[^\n]{0,120}?)?"
_WAIT = re.compile(
    _GLOBAL + r"\[Rank (?P<rank>\d{1,6})\] " + CAUGHT + r": WorkNCCL\(SeqNum=(?P<number>\d{1,18}), "
    r"OpType=(?P<operation>\w{1,40})(?:, NumelIn=(?P<given>\d{1,18}), NumelOut=(?P<taken>\d{1,18}))?"
    r"[^\n]{0,60}\) ran for (?P<waited>\d{1,15}) milliseconds",
    re.ASCII,
)
_GROUP = re.compile(
    _GLOBAL + r"\[PG (?:ID )?(?P<group>\d{1,9})[^\n\]]{0,60} Rank (?P<rank>\d{1,6})\] Exception [^\n]{0,80}"
    r"at work: (?P<number>\d{1,18})",
    re.ASCII,
)

MOST = 100_000
"""Lines that are looked at."""


class Wait(NamedTuple):
    """One rank that waited in vain. `group` is "" and sizes, in elements, are None where the release tells none."""

    rank: int
    group: str
    number: int
    operation: str
    given: int | None
    taken: int | None
    seconds: float


def parse(text: str) -> tuple[Wait, ...]:
    """Return who waited, each rank of a group once; a job's later timeouts follow from its first."""
    groups: dict[tuple[int, int], str] = {}
    waits: list[Wait] = []
    for line in text.split("\n")[:MOST]:
        if "Rank " not in line:
            continue
        if (found := _WAIT.search(line)) is not None:
            waits.append(_wait(found))
        elif (found := _GROUP.search(line)) is not None:
            groups.setdefault((_rank(found), int(found["number"])), found["group"])
    first: dict[tuple[int, str], Wait] = {}
    for each in waits:
        group = groups.get((each.rank, each.number), "")
        first.setdefault((each.rank, group), each._replace(group=group))
    return tuple(first.values())


def _rank(found: re.Match[str]) -> int:
    """Return the rank in the whole job where it is told, else that in its group."""
    return int(found["world"] or found["rank"])


def _wait(found: re.Match[str]) -> Wait:
    given, taken = found["given"], found["taken"]
    return Wait(
        _rank(found),
        "",
        int(found["number"]),
        found["operation"],
        None if given is None else int(given),
        None if taken is None else int(taken),
        int(found["waited"]) / 1000,
    )
