"""A stand-in for `ansible-playbook`: plays a stage on simulated machines, and says so as the callback plugin does.

It is started by ansible-runner with the real arguments. It takes the nodes from `--limit` and what each is told from
the extra variables, works on as many at a time as `--forks` says, and appends lines to the batch's spool.
"""

import argparse
import json
import os
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fleet_runner.adapters.plays import lease
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.lifecycle.spool import Ended, Judged, Line, PlayEnd, Progress, encode
from fleet_runner.core.lifecycle.states import Stage
from tests.chaos.fates import fate
from tests.chaos.machine import Answers, Machine, Work

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store

LAB, SEED = "CHAOS_LAB", "CHAOS_SEED"
"""Which lab a process belongs to, and what its fates are called; every process of a lab carries both."""


@dataclass(slots=True)
class Node:
    """One node of the play: what is done on it, and when its next step is due."""

    machine: Machine
    told: dict[str, Any]
    work: Work
    due: float = 0.0
    steps: int = 0
    failed: str = ""


@dataclass(slots=True)
class Play:
    """A play under way."""

    stage: Stage
    batch: str
    spool: Path

    def run(self, nodes: list[Node], forks: int) -> int:
        """Take every node to its end, some at a time; return the exit status."""
        waiting, going = nodes[::-1], list[Node]()
        while waiting or going:
            while waiting and len(going) < forks:
                going.append(self._begin(waiting.pop()))
            node = min(going, key=lambda each: each.due)
            time.sleep(max(0.0, node.due - time.monotonic()))
            if not is_wanted():
                return 1
            if (answers := self._step(node)) is not None:
                self._end(node, answers)
                going.remove(node)
        for node in nodes:
            end = PlayEnd.FAILED if node.failed else PlayEnd.OK
            self._tell(Ended(node.machine.name, time.time(), end, node.failed))
        return 2 if any(node.failed for node in nodes) else 0

    def _begin(self, node: Node) -> Node:
        told = node.told
        values = {"stage": self.stage.value, "run": told["run"], "fence": told["fence"], "batch": self.batch}
        if is_wanted():
            node.machine.log(
                "start",
                pid=os.getpid(),
                forked="fleet_runner.adapters.plays.fork_server.forked" in sys.modules,
                **values,
            )
        return node

    def _step(self, node: Node) -> Answers | None:
        """Do a node's next step; what touches the machine is logged before it does."""
        node.machine.log("step", run=node.told["run"])
        self._tell(Progress(node.machine.name, time.time(), node.steps, node.steps + 1, f"step {node.steps}"))
        node.steps += 1
        try:
            node.due = time.monotonic() + next(node.work)
        except StopIteration as end:
            answers: Answers = end.value
            return answers
        except FleetError as error:  # the store is away: a task that failed
            node.failed = str(error)
            return ()
        return None

    def _end(self, node: Node, answers: Answers) -> None:
        for result in answers:
            self._tell(Judged(node.machine.name, time.time(), result))
        node.machine.log("end", run=node.told["run"])

    def _tell(self, line: Line) -> None:
        handle = os.open(self.spool, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
        try:
            os.write(handle, encode(line).encode())
        finally:
            os.close(handle)


def is_wanted() -> bool:
    """Whether the batch's lease was renewed lately, where it has one: the callback plugin asks before each task."""
    alive = os.environ.get("FLEET_ALIVE")
    return alive is None or not lease.overdue(Path(alive), lease.ASKED)


def main(arguments: list[str]) -> int:
    """Play."""
    options = _options(arguments)
    lab = Path(os.environ[LAB])
    stage = Stage(Path(options.playbook).stem)
    told = json.loads(Path(options.extra_vars.removeprefix("@")).read_text("utf-8"))["fleet_runs"]
    play = Play(stage, os.environ["FLEET_BATCH"], Path(os.environ["FLEET_SPOOL"]))
    with ExitStack() as stack:
        store = stack.enter_context(_store()) if stage is Stage.FIRMWARE else None
        nodes = [_node(lab, name, stage, told[name], store) for name in options.limit.split(",")]
        return play.run(nodes, options.forks)


def _node(lab: Path, name: str, stage: Stage, told: dict[str, Any], store: "Store | None") -> Node:
    machine = Machine(name, fate(os.environ[SEED], name), lab / "machines" / f"{name}.jsonl")
    if store is None:
        return Node(machine, told, machine.work(stage, told))
    from tests.chaos.flashing import flashed  # noqa: PLC0415  the store is slow to load, and one stage needs it

    return Node(machine, told, flashed(machine, store, told, f"play {os.getpid()} on {name}"))


def _store() -> "Store":
    from fleet_runner import settings  # noqa: PLC0415  as above
    from fleet_runner.adapters.store import Store  # noqa: PLC0415  as above

    return Store.open(settings.load().store_url)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("-i", dest="inventory")
    parser.add_argument("--limit", required=True)
    parser.add_argument("-e", dest="extra_vars", required=True)
    parser.add_argument("--forks", type=int, required=True)
    parser.add_argument("playbook")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
