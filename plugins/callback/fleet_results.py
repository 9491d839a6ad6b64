"""Tells the runner what a play found, line by line while it runs; by hand, records it in the store at the end."""

from __future__ import annotations

import getpass
import os
import signal
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible import context
from ansible.plugins.callback import CallbackBase
from ansible.plugins.loader import filter_loader

from fleet_runner.adapters.plays import lease
from fleet_runner.adapters.plays.task_failure import is_own
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle import ssh_failures
from fleet_runner.core.lifecycle.spool import Ended, Evidence, Judged, Line, PlayEnd, Progress, encode
from fleet_runner.core.lifecycle.states import Stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DOCUMENTATION = r"""
name: fleet_results
type: notification
short_description: Keeps results and their evidence, however the play was started
description:
  - With FLEET_SPOOL set, appends what happens to that file; the runner reads it while the play runs.
  - Without it, records the play in the store that the settings name, if there is one, and prints what was found.
  - With FLEET_ALIVE set, the play ends before its next task once that file says that its lease was not renewed.
requirements: [enabled in ansible.cfg]
"""

MOST_MESSAGE = 500


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "fleet_results"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._spool = os.environ.get("FLEET_SPOOL", "")
        self._alive = os.environ.get("FLEET_ALIVE", "")
        self._playbook = ""
        self._total = 0
        self._done: Counter[str] = Counter()
        self._why: dict[str, str] = {}
        self._how: dict[str, PlayEnd] = {}
        self._lines: list[Line] = []
        self._results: dict[str, list[Result]] = {}
        self._torn = False
        self._warned = False
        self._plays_left = 0
        self._last = ""
        self._ends: dict[str, tuple[PlayEnd, str]] = {}

    def v2_playbook_on_start(self, playbook: Any) -> None:
        """Remember which stage this is."""
        filter_loader.get("default")  # loads all of them, which each fork would do again
        self._playbook = Path(str(playbook._file_name)).stem  # noqa: SLF001  Ansible has no other name for it
        self._plays_left = len(playbook.get_plays())

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """Count what each node has before it; what is included while the play runs is not known yet."""
        tasks = [task for block in play.compile() for task in _tasks(block)]
        self._total += len(tasks)
        self._plays_left -= 1
        self._last = ""
        if tasks and not self._plays_left and not play.handlers and not play.compile_roles_handlers():
            self._last = str(tasks[-1]._uuid)  # noqa: SLF001  as above

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:  # noqa: FBT001  Ansible's
        """Begin nothing more where the batch's lease is not renewed: its supervisor is frozen, or was killed."""
        del task, is_conditional
        if self._alive and lease.overdue(Path(self._alive), lease.ASKED):
            self._display.warning("fleet_results: this batch's lease was not renewed; the play ends")
            os.kill(os.getpid(), signal.SIGTERM)

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        """Say where the node is."""
        node = str(host.get_name())
        total = max(self._total, self._done[node] + 1)
        self._tell(Progress(node, time.time(), self._done[node], total, str(task.get_name())))

    def v2_runner_on_ok(self, result: Any) -> None:
        """Keep what was found."""
        node = self._past(result)
        self._keep(node, result)
        self._end_after(result, node)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:  # noqa: FBT001, FBT002  Ansible's
        """Keep what was found before, in a loop, and remember why."""
        node = self._past(result)
        self._keep(node, result)
        if ignore_errors:
            self._end_after(result, node)
            return
        self._why[node] = f"{result.task_name}: {_words(result.result)}"
        self._how[node] = PlayEnd.OWN if is_own(result.result) else PlayEnd.FAILED
        if self._last and not _is_caught(result.task):
            self._end(node, self._how[node])

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """Likewise."""
        node = self._past(result)
        said = _words(result.result)
        advice = ssh_failures.advice(said)
        self._why[node] = f"{said[: MOST_MESSAGE - len(advice) - 2]}; {advice}" if advice else said
        self._how[node] = PlayEnd.OWN if advice else PlayEnd.UNREACHABLE
        if self._last and not result.task.ignore_unreachable:
            self._end(node, self._how[node])

    def v2_runner_on_skipped(self, result: Any) -> None:
        """Count it."""
        self._end_after(result, self._past(result))

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """Say how it ended for each node, and, by hand, record it and print what was found."""
        for node in sorted(stats.processed):
            counts = stats.summarize(node)
            bad = counts["failures"] or counts["unreachable"]
            self._end(str(node), self._how.get(str(node), PlayEnd.FAILED) if bad else PlayEnd.OK)
        if self._results:
            self._show()
        if not self._spool and self._lines:
            self._record()

    def _end_after(self, result: Any, node: str) -> None:
        """Say that the play is over for a node that has its last task behind it: nobody waits for other nodes."""
        if self._last and self._last == str(result.task._uuid):  # noqa: SLF001  as above
            self._end(node, PlayEnd.OK)

    def _end(self, node: str, end: PlayEnd) -> None:
        """Say how it ended, unless that was said; at the end of all Ansible counts anew."""
        why = "" if end is PlayEnd.OK else self._why.get(node, "")[:MOST_MESSAGE]
        if self._ends.get(node) != (end, why):
            self._ends[node] = (end, why)
            self._tell(Ended(node, time.time(), end, why))

    def _past(self, result: Any) -> str:
        node = str(result.host.get_name())
        self._done[node] += 1
        return node

    def _keep(self, node: str, result: Any) -> None:
        """Keep what the controller's own judge found; what a module on a node calls results is its invention."""
        if result.task.action != "fleet_check":
            return
        # A loop asks one observer after the other about one fabric: each item may hold some of the results.
        for found in result.result.get("results") or (result.result,):
            now = time.time()
            # Evidence goes first: whoever reads a result finds what it points to.
            for raw in found.get("fleet_evidence") or ():
                self._tell(Evidence(node, now, str(raw["read"]), str(raw["hash"]), str(raw["text"])))
            for raw in found.get("fleet_results") or ():
                judged = Result.from_json(raw)
                self._results.setdefault(node, []).append(judged)
                self._tell(Judged(node, now, judged))

    def _tell(self, line: Line) -> None:
        if self._spool:
            self._append(encode(line).encode())
        elif not isinstance(line, Progress):
            self._lines.append(line)

    def _append(self, data: bytes) -> None:
        """Append in one write; a line that a full disk cut short is closed before the next one."""
        try:
            descriptor = os.open(self._spool, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
            try:
                whole = b"\n" + data if self._torn else data
                self._torn = os.write(descriptor, whole) != len(whole)
            finally:
                os.close(descriptor)
        except OSError as error:
            self._lost(error)
        else:
            if self._torn:
                self._lost("the disk is full")

    def _lost(self, why: object) -> None:
        if not self._warned:
            self._warned = True
            self._display.warning(f"fleet_results: results are lost, {self._spool} cannot be written: {why}")

    def _show(self) -> None:
        self._display.banner("FLEET RESULTS")
        for node, results in sorted(self._results.items()):
            counts = Counter(result.verdict for result in results)
            self._display.display(f"{node}: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict))
            for result in results:
                if result.verdict in {Verdict.FAIL, Verdict.UNKNOWN}:
                    told = printable(f"    {result.verdict} {result.check}: {result.message}")
                    self._display.display(told)

    def _record(self) -> None:
        """Record a play that somebody started by hand; what cannot be recorded is said, and breaks nothing."""
        if context.CLIARGS.get("check"):
            self._display.display("Check mode: nothing is recorded.")
        elif self._playbook not in set(Stage):
            self._display.display(f"{self._playbook} is no stage's playbook: nothing is recorded.")
        else:
            try:
                self._display.display(record(Stage(self._playbook), self._lines))
            except Exception as error:  # noqa: BLE001  whatever the store says, the play is over and was worth it
                self._display.warning(f"fleet_results: nothing was recorded: {error}")


def record(stage: Stage, lines: list[Line]) -> str:
    """Record the lines in the store that the settings name, and return what to tell the person."""
    from fleet_runner import settings  # noqa: PLC0415  under the runner, a play needs neither settings nor store
    from fleet_runner.adapters.store import Store  # noqa: PLC0415  likewise

    url = settings.load().store_url
    store = Store.open(url)
    try:
        unknown = store.record_by_hand(stage, getpass.getuser(), lines, time.time())
    finally:
        store.close()
    left = f" Not nodes of this fleet, so not recorded: {', '.join(unknown)}." if unknown else ""
    return f"Recorded as {stage} by hand.{left}"


def _tasks(block: Any) -> Iterator[Any]:
    """Yield the tasks of a block, without what only runs after a failure and without Ansible's own."""
    entries: Iterable[Any] = [*block.block, *block.always]
    for entry in entries:
        if hasattr(entry, "block"):
            yield from _tasks(entry)
        elif not entry.implicit and entry.action not in {"meta", "ansible.builtin.meta"}:
            yield entry


def _is_caught(task: Any) -> bool:
    """Tell if something still runs on the node after this task has failed."""
    above = task._parent  # noqa: SLF001  Ansible has no other name for it
    while above is not None:
        if getattr(above, "rescue", None) or getattr(above, "always", None):
            return True
        above = above._parent  # noqa: SLF001  likewise
    return False


def _words(found: Any) -> str:
    """Return what Ansible says in one line."""
    return " ".join(str(found.get("msg") or found.get("module_stderr") or "no reason given").split())
