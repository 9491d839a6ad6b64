"""Slurm, through its own commands: scontrol and squeue, as they are set up on this machine."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from fleet_runner.core.base.errors import EvidenceError, SchedulerError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.parsers import slurm_node
from fleet_runner.core.lifecycle.scheduler import By, SchedulerOutcome, Seen, holds, lifted, marked, name

SECONDS = 25.0
"""For one command: they give up by themselves after some ten (MessageTimeout), or much later."""

MOST_BYTES = 1_000_000
MOST_WHY = 200

KEPT = ("SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT")
FOREIGN = ("SLURM_", "SQUEUE_", "SCONTROL_", "SINFO_")
"""Variables that would filter or reshape what is asked ("SQUEUE_USERS"); only who is asked is left to them."""


class Slurm:
    """The cluster that this machine's slurm.conf, or SLURM_CONF, names."""

    def drain(self, node: str, reason: str, by: By, *, dry: bool = False) -> SchedulerOutcome:
        """Drain a node; jobs that run there go on, and new ones do not come."""
        shown = self._shown(node)
        seen = self._seen(node, shown)
        if holds(seen.ours, by):
            return SchedulerOutcome(changed=False, told=f"it is drained already: {seen.why}")
        if seen.ours is None and not slurm_node.drainable(node, shown):
            return SchedulerOutcome(changed=False, told=f"somebody else has taken it out, left as it is: {seen.why}")
        if not dry:
            _run("scontrol", "update", f"nodename={node}", "state=drain", f"reason={marked(node, reason, by)}")
        return SchedulerOutcome(changed=True, told="Slurm gives it no new work")

    def resume(self, node: str, by: By, *, dry: bool = False) -> SchedulerOutcome:
        """Return a node that is drained by us; the reason and what a person changed of it decide."""
        seen = self._seen(node, self._shown(node))
        if seen.takes_work:
            return SchedulerOutcome(changed=False, told="it takes work")
        if seen.ours not in lifted(by):
            return SchedulerOutcome(
                changed=False, told=f"it is {seen.state} by somebody else, left as it is: {seen.why}"
            )
        if not dry:
            _run("scontrol", "update", f"nodename={node}", "state=resume")
        return SchedulerOutcome(changed=True, told="Slurm may give it work again")

    def evict(self, node: str, seconds: float, *, devices: bool = False, dry: bool = False) -> SchedulerOutcome:
        """End nothing: Slurm sees the node go, and requeues its jobs, or does not, as they ask for."""
        del node, seconds, devices, dry
        return SchedulerOutcome(changed=False, told="Slurm itself sees what ends with the node")

    def read(self, node: str) -> dict[str, Any]:
        """Return what scontrol shows of a node, and the jobs that squeue lists there."""
        return {"shown": self._shown(node), "queued": _run(*slurm_node.QUEUE, f"--nodelist={_one(node)}")}

    def _shown(self, node: str) -> str:
        return _run(*slurm_node.SHOW, _one(node))

    def _seen(self, node: str, shown: str) -> Seen:
        try:
            return slurm_node.parse(node, shown, "")
        except EvidenceError as error:
            raise SchedulerError(f"Slurm: {error}") from error


def _one(node: str) -> str:
    try:
        return name(node)
    except EvidenceError as error:
        raise SchedulerError(f"Slurm: {error}") from error


def _run(*argv: str) -> str:
    """Return what a command prints; SchedulerError where it fails, does not end, or prints without end."""
    tool = shutil.which(argv[0])
    if tool is None:
        raise SchedulerError(
            f"{argv[0]} is not on this machine; install Slurm's client commands where the runner runs"
        )
    foreign = [each for each in os.environ if each.startswith(FOREIGN) and each not in KEPT]
    environment = {key: value for key, value in os.environ.items() if key not in foreign} | {"LC_ALL": "C.UTF-8"}
    process = subprocess.Popen(  # noqa: S603  arguments are ours; no shell
        [tool, *argv[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    with process:
        try:
            out, said = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise SchedulerError(f"{_called(argv)} did not end in {SECONDS:g} s; is slurmctld up?") from None
    if process.returncode != 0:
        raise SchedulerError(f"{_called(argv)}: {_why(argv, said or out)}")
    if len(out) > MOST_BYTES:
        raise SchedulerError(f"{_called(argv)} printed {len(out)} bytes, expected at most {MOST_BYTES}")
    return out.decode(errors="replace")


def _called(argv: Sequence[str]) -> str:
    return " ".join(word for word in argv[:3] if not word.startswith("-"))


def _why(argv: Sequence[str], said: bytes) -> str:
    """Return what a command said was wrong, and what to do about it."""
    words = " ".join(printable(said.decode(errors="replace")).split())[:MOST_WHY]
    hints = {
        "unge": "is munged up on this machine, with the cluster's key?",
        "Unable to contact": "is slurmctld up?",
        "Invalid node name": f"does Slurm know {argv[-1].rpartition('=')[2]}? The context's scheduler_node names it",
        "not found": f"does Slurm know {argv[-1]}? The context's scheduler_node names it",
        "Access/permission denied": "make the runner's user an operator (sacctmgr) or SlurmUser",
        "Invalid user id": "make the runner's user an operator (sacctmgr) or SlurmUser",
    }
    hint = next((each for found, each in hints.items() if found in words), "look into slurmctld's log")
    return f"{words or 'it said nothing'}; {hint}"
