"""Tenants' jobs: a process on a node that uses its GPUs until it is stopped or the node loses power."""

import time

from fleet_runner.lab import hardware, processes
from fleet_runner.lab.folder import Lab, LabError
from fleet_runner.lab.tools.node import Node, witness
from fleet_runner.lab.tools.ssh import environment
from fleet_runner.lab.wrappers import TOOLS_DIR

KIND = "tenant_job"
START_SECONDS = 60.0


def start(lab: Lab, name: str) -> int:
    """Start a job on a node and return its process id; a node that has one keeps it."""
    if not hardware.up(lab, name):
        raise LabError(f"{name} is not up, so no job can run on it; boot it first")
    if mine := _jobs(lab, name):
        return mine[0]
    tool = str(lab.node(name) / TOOLS_DIR / KIND)
    processes.start([tool], environment(str(lab.root), name, TOOLS_DIR), lab.node(name) / "job.log")
    deadline = time.monotonic() + START_SECONDS
    while not (mine := _jobs(lab, name)):
        if time.monotonic() > deadline:
            raise LabError(f"{name}: the job did not start within {START_SECONDS:g} s; look at {lab.log}")
        time.sleep(0.02)
    witness(str(lab.root), "job_start", name, pid=mine[0])
    return mine[0]


def stop(lab: Lab, name: str) -> int:
    """Stop a node's jobs and return how many there were."""
    lab.known(name)
    mine = _jobs(lab, name)
    for pid in mine:
        processes.end_pid(pid)
        witness(str(lab.root), "job_stop", name, pid=pid)
    return len(mine)


def _jobs(lab: Lab, name: str) -> list[int]:
    return [pid for kind, pid in Node(str(lab.root), name).processes() if kind == KIND]
