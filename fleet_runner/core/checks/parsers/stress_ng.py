"""What stress-ng prints (0.13 and later): its complaints, its rows of figures, and whether its run came to an end."""

import re
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError

_LINE = re.compile(r"stress-ng: (?:[\d:.]{1,20} )?(debug|info|warn|error|fail|metrc): {1,4}\[\d{1,10}\] (.{1,400})")
_NUMBER = r"(\d{1,15}(?:\.\d{1,9})?)"
_ROW = re.compile(rf"([a-z][a-z0-9-]{{1,30}}) +(\d{{1,18}})(?: +{_NUMBER}){{3}} +{_NUMBER} +{_NUMBER}\b")
_BOTH = re.compile(rf"stream: memory rate: {_NUMBER} MB read/sec, {_NUMBER} MB write/sec")
_ONE = re.compile(rf"stream: memory rate: {_NUMBER} MB/sec")
_END = re.compile(r"(?:un)?successful run completed in ")
_SKIPPED = re.compile(r"skipped: [1-9]|skipping|will be skipped|stressor skipped|not implemented")
_KILLED = re.compile(r"OOM|out of memory|killed|terminated (?:on|by) signal|possibly killed", re.IGNORECASE)
_OWN_TROUBLE = re.compile(r"errno|metrics-check|bogo-ops|mmap|alloc|fork", re.IGNORECASE)

MIB = 1_048_576
"""What stress-ng calls a MB."""

MOST = 20
"""Complaints that are kept of each kind."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run that came to its end.

    `rates` are bogo operations per second of real time, by stressor, without those that came to the end of none.
    `wrong` are complaints about results that were not what they must be; `trouble` those about what kept it from its
    work: a lack of memory, a system call that failed, a stressor that was skipped or killed. `memory_gbps` are GB/s
    (10^9) read and written by each instance of the stream stressor, together.
    """

    rates: dict[str, float]
    wrong: tuple[str, ...]
    trouble: tuple[str, ...]
    memory_gbps: tuple[float, ...]


def parse(output: str) -> Run:
    """Read a run; EvidenceError where its last line is not there, so that it was cut short or never began."""
    rates: dict[str, float] = {}
    wrong: list[str] = []
    trouble: list[str] = []
    memory: list[float] = []
    ended = False
    for line in output.splitlines():
        found = _LINE.match(line.strip())
        if found is None:
            continue
        kind, text = found.groups()
        row = _ROW.match(text)
        if row is not None and kind in {"info", "metrc"} and int(row[2]):
            rates[row[1]] = float(row[4])
        elif kind == "fail":
            (trouble if _OWN_TROUBLE.search(text) else wrong).append(text)
        elif kind != "debug" and (_SKIPPED.search(text) or _KILLED.search(text)):
            trouble.append(text)
        memory += _memory(text)
        ended = ended or _END.match(text) is not None
    if not ended:
        raise EvidenceError("stress-ng's output has no 'run completed' line, so it did not end by itself")
    return Run(rates, tuple(wrong[:MOST]), tuple(trouble[:MOST]), tuple(memory))


def _memory(text: str) -> list[float]:
    found = _BOTH.match(text) or _ONE.match(text)
    return [sum(float(rate) for rate in found.groups()) * MIB / 1e9] if found else []
