"""What a job's own output says of its end: exceptions, NCCL's complaints, watchdogs, launchers, as events.

Output is a tenant's word. It is shown and weighed for the answer about that job, and moves no node.
"""

import re
from dataclasses import replace

from fleet_runner.core.jobs import complaints, root_cause
from fleet_runner.core.jobs.clocks import Years
from fleet_runner.core.jobs.complaints import Complaint
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.lines import Line, read
from fleet_runner.core.jobs.root_cause import RootCause
from fleet_runner.core.jobs.skim import KEY, marked, plain, worth
from fleet_runner.core.jobs.steps import Steps
from fleet_runner.core.jobs.tracebacks import (
    AFTER,
    ENDED_WITH,
    HANDLED,
    HEAD,
    LAUNCHERS,
    ORIGINAL,
    WENT_ON,
    Traceback,
)
from fleet_runner.core.jobs.waits import GROUP, WATCHDOG, Wait

_TASK = re.compile(
    r"srun: error: (?P<node>[\w.-]{1,255}): tasks? (?P<rank>\d{1,6})[\d,\[\]-]{0,200}: (?P<how>[\w ]{1,60})", re.ASCII
)
_NOTICED = re.compile(
    r"noticed that process rank (?P<rank>\d{1,6}) with PID \d{1,10} on node (?P<node>[\w.-]{1,255}) exited on signal "
    r"(?P<signal>\d{1,2})",
    re.ASCII,
)
_FIRST = re.compile(r"Process name: \[(?:\[\d{1,10},\d{1,10}\]|prterun-[\w.@-]{1,255}),(?P<rank>\d{1,6})\]", re.ASCII)
"""How mpirun names the process that ended first."""
_DIED = re.compile(
    r"(?:: line \d{1,7}: {1,4}\d{1,10} {1,4}|Fatal Python error: )(?P<how>[A-Z][a-z ]{1,60})", re.ASCII
)
"""How a shell and Python name a signal that ended a process."""
_ABORT = re.compile(r"MPI_ABORT was invoked on rank (?P<rank>\d{1,6})", re.ASCII)
_NODE_RANK = re.compile(r"\brank (?P<rank>\d{1,6}) nranks (?P<world>\d{1,6})", re.ASCII)

MOST = 2_000
"""Events of an output that are kept: each kind of each rank once."""

SOURCE = "the job's output"

IDLE = 20_000
"""Lines after which the words of an exception, whose rank says nothing more, are over."""

Key = tuple[str, int | None, str]
"""Of an event: its code, rank and node."""


class JobOutput:
    """An output as it is read, in pieces of whole lines.

    `times` are its earliest and latest (epoch seconds, as if they were UTC unless `zoned`), None where no line tells
    one. `survived` counts causes that the program went on after; `world` is how many ranks `ranks` are of.
    """

    def __init__(
        self, label: str, year: int, rank: int | None = None, *, ended: float | None = None, source: str = SOURCE
    ) -> None:
        """Take what the output is called, the year of the job's end, and its rank where one alone wrote it.

        `ended` is the job's end, which tells the year of lines that tell none; `source` is what its events are from.
        """
        self.label = label
        self.waits: dict[int, Wait] = {}
        self.ranks: dict[int, str] = {}
        self.survived = 0
        self.world = 0
        self._year = year
        self._years = Years(ended)
        self._idle = 0
        self._rank = rank
        self._source = source
        self._steps = Steps()
        self._waited_last: tuple[int, float | None] = 0, None
        self._events: dict[Key, Event] = {}
        self._made: dict[Key, int] = {}
        self._late: list[tuple[Key, float | None]] = []
        self._before: float | None = None
        self._open: dict[int | None, Traceback] = {}
        self._handled: set[int | None] = set()
        self._root: RootCause | None = None
        self.zoned = False
        self.times: tuple[float, float] | None = None

    def feed(self, text: str) -> None:
        """Take the next lines."""
        text, at = plain(text), 0
        for begin, end in marked(text):
            self._between(text[at:begin])
            self._take(text[begin:end])
            at = end
        self._between(text[at:])

    def _between(self, text: str) -> None:
        """Take lines without a word: all of them while an exception's go on, then those that are worth it."""
        lines = [line for line in text.split("\n") if line]
        at = 0
        while at < len(lines) and (self._root is not None or (self._open and self._idle < IDLE)):
            self._take(lines[at])
            at += 1
        for line in worth(lines[at:], lambda: self._steps.made):
            self._take(line)

    def _take(self, raw: str) -> None:
        line = self._years.placed(read(raw, self._year))
        line = line if line.rank is not None or self._rank is None else line._replace(rank=self._rank)
        if line.at is not None:
            self._timed(line, line.at)
        if self._root is not None:
            if self._root.take(line.text):
                return
            self._end_root()
        opened = self._open.get(line.rank)
        self._idle = 0 if opened is not None else self._idle + 1
        told = opened is None or bool(opened.kind)
        if opened is not None and self._continued(opened, line):
            known = False
        elif known := KEY.search(line.text) is not None:
            self._key(line)
        if told and not known:
            self._steps.take(line)

    def end(self, ended: float | None = None) -> tuple[Event, ...]:
        """Return the events, in the order of the output; `ended` is the job's end, in epoch seconds.

        What was survived is no cause any more where no times tell so.
        """
        for opened in list(self._open.values()):
            self._close(opened)
        self._end_root()
        for key, event in self._events.items():
            if (event.at is None or self._steps.at is None) and self._survived(key):
                self.survived += event.role is Role.CAUSE
                message = event.message.replace(ENDED_WITH, WENT_ON, 1)
                self._events[key] = replace(event, role=Role.CONTEXT, message=message)
        for key, since in self._late:
            self._settle(key, since, ended)
        self._late.clear()
        return tuple(self._events.values())

    @property
    def known(self) -> bool:
        """Return whether anything in it was of use."""
        opened = any(each.kind and each.kind not in LAUNCHERS for each in self._open.values())
        return bool(self._events or self.waits or self.ranks or self._root or opened)

    @property
    def progress(self) -> float | None:
        """Return when a line last told of a step."""
        return self._steps.at

    @property
    def nodes(self) -> frozenset[str]:
        """Return the nodes that events name."""
        return frozenset(each.node for each in self._events.values() if each.node)

    def _survived(self, key: Key) -> bool:
        return self._steps.survived(self._made[key], self._events[key].at)

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

    def _settle(self, key: Key, since: float | None, until: float | None) -> None:
        """Give an event that told no time the span between the lines before and after it that do."""
        at = until if until is not None else since
        if at is not None:
            since = at if since is None else since
            self._events[key] = replace(self._events[key], at=max(at, since), blur=max(1.0, at - since))

    def _key(self, line: Line) -> None:
        text = line.text
        if HEAD in text:
            self._traceback(line)
        elif text.startswith(HANDLED):
            self._handled.add(line.rank)
        elif root_cause.HEAD in text:
            self._root = RootCause()
        elif found := WATCHDOG.search(text):
            self._waited(line, found)
        elif found := GROUP.search(text):
            self._grouped(line, found)
        elif found := _NODE_RANK.search(text):
            self._placed(line, int(found["rank"]), int(found["world"]))
        elif not self._launcher(line):
            self._plain(line)

    def _traceback(self, line: Line) -> None:
        if line.rank in self._handled:
            self._handled.discard(line.rank)
        elif len(self._open) < MOST:
            self._open[line.rank] = Traceback(line, self._before, self._steps.made)

    def _placed(self, line: Line, rank: int, world: int) -> None:
        """Take where NCCL says that a rank is; in smaller groups of ranks their numbers are others."""
        if not line.node or world < self.world:
            return
        if world > self.world:
            self.world = world
            self.ranks.clear()
        if self.ranks.setdefault(rank, line.node) != line.node:
            self.ranks[rank] = ""  # two groups of one size: nobody knows which is the job's

    def _grouped(self, line: Line, found: re.Match[str]) -> None:
        """Take which process group it was in that a rank waited."""
        rank = line.rank if line.rank is not None else int(found["rank"])
        wait = self.waits.get(rank)
        if wait is not None and wait.number == int(found["number"]) and not wait.group:
            self.waits[rank] = wait._replace(group=found["group"])

    def _launcher(self, line: Line) -> bool:
        """Take what a shell, srun or mpirun says of a task or a node; False where it is neither's word."""
        text = line.text
        if found := _TASK.search(text):
            self._task(line._replace(rank=int(found["rank"]), node=found["node"]), found["how"])
        elif found := _NOTICED.search(text):
            self._signal(line._replace(rank=int(found["rank"]), node=found["node"]), int(found["signal"]))
        elif found := _DIED.search(text):
            self._task(line, found["how"])
        elif found := _FIRST.search(text):
            message = "its process ended first"
            self._add(line._replace(rank=int(found["rank"])), complaints.ENDED, complaints.SYMPTOM, message)
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
        elif "NCCL WARN" in line.text and not complaints.HARMLESS.search(line.text):
            self._add(line, complaints.NCCL, complaints.SYMPTOM, "NCCL gave a warning")

    def _waited(self, line: Line, found: re.Match[str]) -> None:
        rank = line.rank if line.rank is not None else int(found["rank"])
        waited = int(found["waited"]) / 1000
        since = None if line.at is None else line.at - waited
        size = f"{found['given']} in, {found['taken']} out" if found["given"] else ""
        if self._steps.survived(*self._waited_last):
            self.waits.clear()
        self._waited_last = self._steps.made, line.at
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

    def _continued(self, opened: Traceback, line: Line) -> bool:
        """Take a line of an exception; False where it is none of it."""
        if not opened.kind:
            mine = opened.begun(line, self._before)
            if not mine:
                del self._open[line.rank]
            return mine
        if line.text.startswith(ORIGINAL):
            del self._open[line.rank]
            return False
        if len(opened.words) > AFTER or KEY.search(line.text):
            self._close(opened)
            return False
        opened.words.append(line.text)
        return True

    def _close(self, opened: Traceback) -> None:
        self._open.pop(opened.first.rank, None)
        said = opened.said()
        if said is not None:
            self._add(opened.first, *said, opened)

    def _complain(self, line: Line, said: Complaint) -> None:
        self._add(line, said.code, (said.area, said.role), said.message)

    def _end_root(self) -> None:
        root, self._root = self._root, None
        told = None if root is None else root.end()
        if told is None:
            return
        line, code = told
        if code < 0:
            self._signal(line, -code)
        else:
            self._add(line, complaints.ENDED, complaints.SYMPTOM, f"its process ended first, with exit code {code}")

    def _add(
        self, line: Line, code: str, kind: tuple[Area, Role], message: str, opened: Traceback | None = None
    ) -> Key:
        key = (code, line.rank, line.node)
        if key in self._events and self._survived(key):
            self.survived += self._events.pop(key).role is Role.CAUSE
            self._late = [each for each in self._late if each[0] != key]
        if key in self._events or len(self._events) >= MOST:
            return key
        self._made[key] = self._steps.made if opened is None else opened.made
        node = line.node or (self.ranks.get(line.rank, "") if line.rank is not None else "")
        self._events[key] = Event(
            line.at, *kind, code, message, node, line.rank, line=line.text.strip()[:400], source=self._source
        )
        if line.at is None:
            since = self._before if opened is None else opened.since
            if opened is not None and opened.until is not None:
                self._settle(key, since, opened.until)
            else:
                self._late.append((key, since))
        return key
