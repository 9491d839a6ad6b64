"""Is anybody using the GPUs?"""

from collections.abc import Sequence

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import our_jobs
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu
from fleet_runner.core.checks.shared.gpus import answering
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.preflight.work import SOLE


def judge(readings: Readings, expected: Expected) -> Result:
    """PASS whenever it can be told, with `in_use` and `processes` observed, and `ours`: those of active tests.

    In use means a process on any GPU, or work on one whose processes are hidden from the node. A GPU that is lost
    runs nothing. Where a process list is not given the answer is UNKNOWN: an idle guess could end somebody's work.
    Active tests are nobody's use: they give way. Load without a process is theirs only on a GPU that one of their
    processes is on: beside a test of disks it is a tenant's. `sole` is there where one process is on all of the GPUs.
    """
    gpus = answering(readings)
    silent = [gpu.pci for gpu in gpus if gpu.processes is None]
    if silent:
        raise EvidenceError(
            f"{expected.node}: no process list from GPU {', '.join(silent)}; it is not known whether it is idle"
        )
    ours = _ours(readings)
    mine = sum(pid in ours for gpu in gpus for pid in gpu.pids)
    processes = sum(gpu.processes or 0 for gpu in gpus) - mine
    busy = [gpu.pci for gpu in gpus if _is_used(gpu, ours)]
    message = f"{len(busy)} of {len(gpus)} GPUs are in use by {processes} processes" if busy else "no GPU is in use"
    if ours:
        message += ", except by fleet-runner's own tests" if not busy else ", besides fleet-runner's own tests"
    observed = {"in_use": bool(busy), "processes": processes, **({"ours": mine} if ours else {})}
    if _is_one(gpus):
        observed[SOLE] = True
    return Result("gpu_usage", Verdict.PASS, message, observed=observed)


def _is_used(gpu: Gpu, ours: frozenset[int]) -> bool:
    theirs = [pid for pid in gpu.pids if pid not in ours]
    return bool(theirs) or (bool(gpu.used_percent) and not gpu.pids)


def _is_one(gpus: Sequence[Gpu]) -> bool:
    """Whether one process, and no other, is on each GPU that answers."""
    pids = {gpu.pids for gpu in gpus}
    return len(pids) == 1 and all(len(each) == 1 and each[0] is not None for each in pids)


def _ours(readings: Readings) -> frozenset[int]:
    """Return our tests' processes; none where nobody can tell: then whatever runs is somebody's."""
    reading = readings.get("our_jobs")
    try:
        return our_jobs.parse(reading.text, reading.at) if reading is not None else frozenset()
    except EvidenceError:
        return frozenset()


CHECK = Check(
    name="gpu_usage",
    question="Is anybody using the GPUs?",
    reads=("nvidia_smi",),
    also=("our_jobs",),
    judge=judge,
    source="The processes and the utilisation that `nvidia-smi` lists; hidden processes show in the latter alone.",
)
