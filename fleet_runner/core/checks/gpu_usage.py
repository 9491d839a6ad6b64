"""Is anybody using the GPUs?"""

from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.checks.gpus import answering
from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.evidence import Expected
from fleet_runner.core.verdicts import Result, Verdict


def judge(readings: Readings, expected: Expected) -> Result:
    """PASS whenever it can be told, with `in_use` and `processes` observed.

    In use means a process on any GPU, or work on one whose processes are hidden from the node. A GPU that is lost
    runs nothing. Where a process list is not given the answer is UNKNOWN: an idle guess could end somebody's work.
    """
    gpus = answering(readings)
    silent = [gpu.pci for gpu in gpus if gpu.processes is None]
    if silent:
        raise EvidenceError(
            f"{expected.node}: no process list from GPU {', '.join(silent)}; whether it is idle is open"
        )
    processes = sum(gpu.processes or 0 for gpu in gpus)
    busy = [gpu.pci for gpu in gpus if gpu.processes or gpu.used_percent]
    message = f"{len(busy)} of {len(gpus)} GPUs are in use by {processes} processes" if busy else "no GPU is in use"
    return Result("gpu_usage", Verdict.PASS, message, observed={"in_use": bool(busy), "processes": processes})


CHECK = Check(
    name="gpu_usage",
    question="Is anybody using the GPUs?",
    reads=("nvidia_smi",),
    judge=judge,
    source="The processes and the utilisation that `nvidia-smi` lists; hidden processes show in the latter alone.",
)
