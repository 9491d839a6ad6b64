"""What a job's own output says of its end: exceptions, NCCL's complaints, watchdogs, launchers, as events.

Output is a tenant's word. It is shown and weighed for the answer about that job, and moves no node.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple

from fleet_runner.core.jobs import complaints
from fleet_runner.core.jobs.complaints import Complaint
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.lines import Line, read

_KEY = re.compile(
    r"Traceback \(most recent|NCCL WARN|Watchdog caught|slurmstepd: |srun: error|noticed that|MPI_ABORT was invoked"
    r"|Root Cause \(first|Fatal Python error|  what\(\): |daemon|nranks \d|: task|: Killed|watchdog got stuck"
    r"|Heartbeat monitor timed out|Memory access fault by GPU|uncorrectable (?:ECC|NVLink) error \w+ed|Test CUDA"
)
_EXCEPTION = re.compile(r"(?P<type>[A-Za-z_][\w.]{0,120})(?:: (?P<words>.*))?\s*", re.ASCII)
_WATCHDOG = re.compile(
    r"\[Rank (?P<rank>\d{1,6})\] Watchdog caught collective operation timeout: "
    r"WorkNCCL\(SeqNum=(?P<number>\d{1,18}), OpType=(?P<operation>\w{1,40})"
    r"(?:, NumelIn=(?P<given>\d{1,18}), NumelOut=(?P<taken>\d{1,18}))?[^\n]{0,200}?"
    r"ran for (?P<waited>\d{1,15}) milliseconds",
    re.ASCII,
)
_TASK = re.compile(
    r"srun: error: (?P<node>[\w.-]{1,255}): tasks? (?P<rank>\d{1,6})[\d,\[\]-]{0,200}: (?P<how>[\w ]{1,60})", re.ASCII
)
_NOTICED = re.compile(
    r"noticed that process rank (?P<rank>\d{1,6}) with PID \d{1,10} on node (?P<node>[\w.-]{1,255}) exited on signal "
    r"(?P<signal>\d{1,2})",
    re.ASCII,
)
_ABORT = re.compile(r"MPI_ABORT was invoked on rank (?P<rank>\d{1,6})", re.ASCII)
_NODE_RANK = re.compile(r"\brank (?P<rank>\d{1,6}) nranks \d", re.ASCII)
_ROOT = re.compile(r"[ \t]{0,8}(?P<name>time|host|rank|exitcode|traceback) {0,12}: (?P<value>[^\n]{1,400})", re.ASCII)
_STEP = re.compile(
    r"\b(?:step|iter(?:ation)?|epoch|batch|loss|it/s|tokens)s?\b[^\n]{0,40}?\d", re.IGNORECASE | re.ASCII
)
"""A line of a program that makes progress."""

_EXIT = re.compile(r"-?\d{1,3}", re.ASCII)

MOST = 2_000
"""Events of an output that are kept: each kind of each rank once."""

AFTER = 6
"""Lines after an exception's first one that may say what it is about."""

LAUNCHERS = ("ChildFailedError", "CalledProcessError", "SystemExit")
"""Exceptions that only tell that another process failed."""

SOURCE = "the job's output"


Key = tuple[str, int | None, str]
"""Of an event: its code, rank and node."""


class Wait(NamedTuple):
    """A rank that waited in vain: since when (epoch seconds, None where nobody tells), in which collective.

    `size` is how many elements it gave and took, "" where that is not told.
    """

    rank: int
    number: int
    operation: str
    since: float | None
    size: str = ""


@dataclass
class _Open:
    """An exception whose words are not over yet."""

    first: Line
    since: float | None
    until: float | None = None
    kind: str = ""
    words: list[str] = field(default_factory=list[str])


class JobOutput:
    """An output as it is read, in pieces of whole lines.

    `times` are its earliest and latest (epoch seconds, as if they were UTC unless `zoned`), None where no line tells
    one; `progress` is when a line last told of a step.
    """

    def __init__(self, label: str, year: int, rank: int | None = None) -> None:
        """Take what the output is called, the year of the job's end, and its rank where one alone wrote it."""
        self.label = label
        self.lines = 0
        self.waits: dict[int, Wait] = {}
        self.ranks: dict[int, str] = {}
        self._year = year
        self._rank = rank
        self._events: dict[Key, Event] = {}
        self._late: list[tuple[Key, float | None]] = []
        self._before: float | None = None
        self._open: dict[int | None, _Open] = {}
        self._root: dict[str, str] | None = None
        self.zoned = False
        self.progress: float | None = None
        self.times: tuple[float, float] | None = None

    def feed(self, text: str) -> None:
        """Take the next lines."""
        for raw in text.split("\n"):
            if not raw:
                continue
            self.lines += 1
            line = read(raw, self._year)
            line = line if line.rank is not None or self._rank is None else line._replace(rank=self._rank)
            if line.at is not None:
                self._timed(line, line.at)
            if self._root is not None and self._told_root(line.text):
                continue
            if line.rank in self._open and self._continued(self._open[line.rank], line):
                continue
            if _KEY.search(line.text):
                self._key(line)

    def end(self, ended: float | None = None) -> tuple[Event, ...]:
        """Return the events, in the order of the output; `ended` is the job's end, in epoch seconds."""
        for opened in list(self._open.values()):
            self._close(opened)
        self._end_root()
        for key, since in self._late:
            self._settle(key, since, ended)
        self._late.clear()
        return tuple(self._events.values())

    @property
    def known(self) -> bool:
        """Return whether anything in it was of use."""
        ending = any(each.kind and each.kind not in LAUNCHERS for each in self._open.values())
        return bool(ending or self._root or self._events or self.waits or self.ranks)

    def _timed(self, line: Line, at: float) -> None:
        self.zoned = self.zoned or line.zoned
        for opened in self._open.values():
            if opened.kind and opened.until is None:
                opened.until = at
        for key, since in self._late:
            self._settle(key, since, at)
        self._late.clear()
        self._before = at
        first, last = self.times or (at, at)
        self.times = min(first, at), max(last, at)
        if _STEP.search(line.text) and not _KEY.search(line.text):
            self.progress = at

    def _settle(self, key: Key, since: float | None, until: float | None) -> None:
        """Give an event that told no time the span between the lines before and after it that do."""
        at = until if until is not None else since
        if at is not None:
            since = at if since is None else since
            self._events[key] = replace(self._events[key], at=max(at, since), blur=max(1.0, at - since))

    def _key(self, line: Line) -> None:
        text = line.text
        if "Traceback (most recent" in text:
            self._open[line.rank] = _Open(line, self._before)
        elif "Root Cause (first" in text:
            self._root = {}
        elif found := _WATCHDOG.search(text):
            self._waited(line, found)
        elif found := _NODE_RANK.search(text):
            if line.node:
                self.ranks.setdefault(int(found["rank"]), line.node)
        elif not self._launcher(line):
            self._plain(line)

    def _launcher(self, line: Line) -> bool:
        """Take what srun or mpirun says of a task or a node; False where it is neither's word."""
        text = line.text
        if found := _TASK.search(text):
            self._task(line._replace(rank=int(found["rank"]), node=found["node"]), found["how"])
        elif found := _NOTICED.search(text):
            self._signal(line._replace(rank=int(found["rank"]), node=found["node"]), int(found["signal"]))
        elif found := _ABORT.search(text):
            rank = int(found["rank"])
            message = "it called MPI_Abort, which ends all ranks"
            self._add(line._replace(rank=rank), complaints.ENDED, complaints.SYMPTOM, message)
        elif found := complaints.NODE_FAILED.search(text):
            node = found["first"] or found["lost"] or ""
            message = f"the launcher lost node {node}" if node else "the launcher lost one of the nodes"
            self._add(line._replace(node=node), complaints.NODE_LOST, complaints.SYMPTOM, message)
        else:
            return False
        return True

    def _plain(self, line: Line) -> None:
        for words, code, message in complaints.CANCELS:
            if words.search(line.text):
                self._add(line._replace(node=""), code, (Area.UNKNOWN, Role.CONTEXT), message)
                return
        said = complaints.of(line.text)
        if said is not None:
            self._complain(line, said)
        elif "NCCL WARN" in line.text:
            self._add(line, "job.nccl", complaints.SYMPTOM, "NCCL could not go on")

    def _waited(self, line: Line, found: re.Match[str]) -> None:
        rank = line.rank if line.rank is not None else int(found["rank"])
        waited = int(found["waited"]) / 1000
        since = None if line.at is None else line.at - waited
        size = f"{found['given']} in, {found['taken']} out" if found["given"] else ""
        self.waits.setdefault(rank, Wait(rank, int(found["number"]), found["operation"], since, size))
        message = f"it waited {waited:,.0f} s in {found['operation']} {found['number']}"
        key = self._add(line._replace(rank=rank), complaints.TIMEOUT, complaints.SYMPTOM, message)
        event = self._events.get(key)
        if event is not None and since is not None and event.at == line.at:
            self._events[key] = replace(event, at=since, component=f"collective {found['number']}")

    def _task(self, line: Line, how: str) -> None:
        number = next((number for word, number in complaints.WORDS.items() if word in how), None)
        if number is not None:
            self._signal(line, number)
        elif "exit code" in how.lower():
            self._add(line, complaints.ENDED, complaints.SYMPTOM, f"its task {how.strip().lower()}")
        else:
            self._plain(line)

    def _signal(self, line: Line, number: int) -> None:
        unknown = (complaints.SYMPTOM, f"signal {number}")
        kind, message = complaints.SIGNALS.get(number, unknown)
        code = complaints.KILLED if number == 9 else f"job.signal_{number}"  # noqa: PLR2004  SIGKILL
        self._add(line, code, kind, f"a process ended by {message}")

    def _continued(self, opened: _Open, line: Line) -> bool:
        """Take a line of an exception; False where it is none of it."""
        if not opened.kind:
            if line.text[:1] in {" ", "\t"} or not line.text:
                return True
            found = _EXCEPTION.fullmatch(line.text)
            if found is None:
                del self._open[line.rank]
                return False
            opened.kind, words = found["type"].rpartition(".")[2], found["words"] or ""
            opened.first = line._replace(at=line.at or opened.first.at)
            opened.since = self._before
            opened.words.append(words)
            return True
        if len(opened.words) > AFTER or _KEY.search(line.text):
            self._close(opened)
            return False
        opened.words.append(line.text)
        return True

    def _close(self, opened: _Open) -> None:
        self._open.pop(opened.first.rank, None)
        if not opened.kind or opened.kind in LAUNCHERS:
            return
        said = complaints.of(f"{opened.kind}: {' '.join(opened.words)}")
        if said is not None:
            self._add(opened.first, said.code, (said.area, said.role), said.message, opened)
        else:
            head = opened.words[0][:160]
            message = f"the program ended with {opened.kind}{f': {head}' if head else ''}"
            self._add(opened.first, complaints.EXCEPTION, (Area.SOFTWARE, Role.CAUSE), message, opened)

    def _complain(self, line: Line, said: Complaint) -> None:
        self._add(line, said.code, (said.area, said.role), said.message)

    def _told_root(self, text: str) -> bool:
        """Take a line of torchrun's report of the first failure; False after its end."""
        found = _ROOT.fullmatch(text)
        if found is not None and self._root is not None:
            self._root[found["name"]] = found["value"].strip()
            return True
        if not text.strip(" -=") or text.lstrip().startswith(("[", "error_file")):
            return True
        self._end_root()
        return False

    def _end_root(self) -> None:
        told, self._root = self._root, None
        code = _EXIT.match(told.get("exitcode", "")) if told else None
        if not told or code is None:
            return
        rank = _EXIT.match(told.get("rank", ""))
        line = Line(
            "", None if rank is None else int(rank[0]), told.get("host", ""), _underscored(told.get("time", ""))
        )
        if int(code[0]) < 0:
            self._signal(line, -int(code[0]))
        else:
            message = f"its process ended first, with exit code {code[0]}"
            self._add(line, complaints.ENDED, complaints.SYMPTOM, message)

    def _add(self, line: Line, code: str, kind: tuple[Area, Role], message: str, opened: _Open | None = None) -> Key:
        key = (code, line.rank, line.node)
        if key in self._events or len(self._events) >= MOST:
            return key
        node = line.node or (self.ranks.get(line.rank, "") if line.rank is not None else "")
        self._events[key] = Event(
            line.at, *kind, code, message, node, line.rank, line=line.text.strip()[:400], source=SOURCE
        )
        if line.at is None:
            since = self._before if opened is None else opened.since
            if opened is not None and opened.until is not None:
                self._settle(key, since, opened.until)
            else:
                self._late.append((key, since))
        return key


def behind(waits: Mapping[int, Wait]) -> Iterator[tuple[int, str]]:
    """Yield ranks that others waited for, each with a sentence: in an earlier collective, or in none at all."""
    if not waits:
        return
    numbers = [each.number for each in waits.values()]
    most = max(set(numbers), key=lambda number: (numbers.count(number), number))
    operation = next(each.operation for each in waits.values() if each.number == most)
    late = [each for each in waits.values() if each.number < most]
    for each in late:
        yield each.rank, f"it was in {each.operation} {each.number}, the others in {operation} {most}"
    silent = set(range(max(waits))) - set(waits)
    if not late and 0 < len(silent) < len(waits):
        for rank in sorted(silent):
            yield rank, f"it never joined {operation} {most}"


def _underscored(told: str) -> float | None:
    """Return the moment of torchrun's "2026-11-29_02:10:44"; None for anything else."""
    try:
        return datetime.strptime(told, "%Y-%m-%d_%H:%M:%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
