"""What a job's output complains of, by its words: whose doing it is, and whether it can be where a death began.

Sources of the words: PyTorch's and NCCL's own messages, CUDA's error strings (`cudaGetErrorString`), errno's texts,
Slurm's, Open MPI's and torchrun's reports of a task that ended.
"""

import re
from typing import NamedTuple

from fleet_runner.core.jobs.event import Area, Role


class Complaint(NamedTuple):
    """Words, and what they mean. `code` and `message` are the event's."""

    words: re.Pattern[str]
    code: str
    area: Area
    role: Role
    message: str


def _complaint(words: str, code: str, kind: tuple[Area, Role], message: str) -> Complaint:
    return Complaint(re.compile(words), code, *kind, message)


_HARDWARE = (Area.HARDWARE, Role.CAUSE)
_FABRIC = (Area.FABRIC, Role.CAUSE)
_STORAGE = (Area.STORAGE, Role.CAUSE)
_SOFTWARE = (Area.SOFTWARE, Role.CAUSE)
SYMPTOM = (Area.UNKNOWN, Role.SYMPTOM)

EXCEPTION = "job.exception"
TIMEOUT = "job.collective_timeout"
PEER = "job.peer_lost"
KILLED = "job.killed"
NODE_LOST = "job.node_lost"
TIME_LIMIT = "job.time_limit"
CANCELLED = "job.cancelled"
PREEMPTED = "job.preempted"
ENDED = "job.ended"
NCCL = "job.nccl"
STEP_ENDED = "job.step_ended"
BEHIND = "job.behind"
MISMATCH = "job.mismatch"
FABRIC_MANAGER = "job.fabric_manager"

COMPLAINTS = (
    _complaint(r"uncorrectable ECC error", "job.gpu_ecc", _HARDWARE,
               "CUDA met a memory error of the GPU that ECC could not correct"),
    _complaint(r"uncorrectable NVLink error", "job.nvlink", _HARDWARE,
               "CUDA met an NVLink error that it could not correct"),
    _complaint(r"fallen off the bus|GPU is lost", "job.gpu_lost", _HARDWARE, "a GPU does not answer any more"),
    _complaint(r"ibv_reg_mr\w{0,20} failed with error Cannot allocate memory|max locked memory",
               "job.locked_memory", _SOFTWARE, "the job may not lock the memory that RDMA needs (ulimit -l)"),
    _complaint(r"std::bad_alloc|\bMemoryError\b|\[Errno 12\]|Cannot allocate memory|DefaultCPUAllocator"
               r"|running low on memory",
               "job.host_memory", _SOFTWARE, "the program asked for more memory than its node gives it"),
    _complaint(r"(?:CUDA|HIP) out of memory|OutOfMemoryError|CUDA error: out of memory|hipErrorOutOfMemory",
               "job.gpu_memory", _SOFTWARE, "the program asked for more memory than the GPU had left"),
    _complaint(r"system not yet initialized|SYSTEM_NOT_READY|SystemNotReady|error in the Fabric Manager or NVSwitches"
               r"|nvls\.cc.{0,80}cannot be performed in the present state",
               FABRIC_MANAGER, _HARDWARE, "the NVSwitches were not set up: Fabric Manager does not run, or hangs"),
    _complaint(r"nvls\.cc:\d{1,6} (?:\(\w+\) )?NCCL WARN Cuda failure (?:1 )?'invalid argument'",
               FABRIC_MANAGER, (Area.HARDWARE, Role.SYMPTOM),
               "NVLink SHARP could not be set up; mostly Fabric Manager was restarted without a reset of the GPUs"),
    _complaint(r"Detected mismatch between collectives", MISMATCH, _SOFTWARE,
               "ranks called different collectives, or gave them different sizes"),
    _complaint(r"Duplicate GPU detected|ncclInvalidUsage", "job.nccl_usage", _SOFTWARE,
               "the program used NCCL wrongly: two ranks on one GPU, for instance"),
    _complaint(r"oom[_-]kill|Out Of Memory|OOMKilled|oom-killer", "job.oom", _SOFTWARE,
               "the kernel ended a process, because the memory that the job may use was full"),
    _complaint(r"exceeded memory limit \(\d{1,18} > \d{1,18}\), being killed|Exceeded (?:job|step) memory limit",
               "job.out_of_memory", _SOFTWARE, "Slurm ended it, because it used more memory than it had asked for"),
    _complaint(r"DataLoader worker \(pid(?:\(s\))? [\d, ]{1,200}\) "
               r"(?:is killed by signal: Killed|exited unexpectedly)"
               r"|ProcessExitedException",
               KILLED, SYMPTOM, "a process of the program was ended: by the OOM killer, or by itself"),
    _complaint(r"illegal memory access|Memory access fault by GPU|device-side assert|misaligned address"
               r"|illegal instruction was encountered|invalid device function|an illegal address",
               "job.gpu_program", _SOFTWARE, "a kernel of the program failed on the GPU"),
    _complaint(r"(?:insufficient|out of) shared memory|/dev/shm|posix_fallocate failed|shared memory segment nccl-"
               r"|unable to mmap \d+ bytes from file </torch_",
               "job.shared_memory", _SOFTWARE, "the shared memory (/dev/shm) of the container was full"),
    _complaint(r"Input/output error|\[Errno 5\]|Stale (?:NFS )?file handle|\[Errno 116\]|\[Errno 107\]"
               r"|Transport endpoint is not connected|Remote I/O error|\[Errno 121\]"
               r"|Cannot send after transport endpoint shutdown",
               "job.file_system", _STORAGE, "a file system answered with an error"),
    _complaint(r"No space left on device|\[Errno 28\]|Disk quota exceeded|\[Errno 122\]", "job.no_space", _STORAGE,
               "a file system or a quota was full"),
    _complaint(r"[Gg]ot async(?: fatal)? event ?: ?(?:port error|device fatal|IBV_EVENT_(?:PORT_ERR|DEVICE_FATAL))",
               "job.port_error", _FABRIC, "an adapter said that its port went down"),
    _complaint(r"vendor err 81\b", "job.gpudirect", (Area.HARDWARE, Role.SYMPTOM),
               "an adapter was refused a GPU's memory; mostly PCIe ACS or the IOMMU of its node is in the way"),
    _complaint(r"ibv_modify_qp failed .{0,40}(?:Connection timed out|Network is unreachable|No route)",
               "job.ib_address", (Area.FABRIC, Role.SYMPTOM),
               "an adapter found no way to the other one's address; mostly the GID index, a VLAN or a route of RoCE"),
    _complaint(r"status=12|vendor err 129|RETRY_EXC|IBV_WC_RETRY|transport retry counter exceeded",
               "job.ib_retry", (Area.FABRIC, Role.SYMPTOM), "the other end did not answer over InfiniBand or RoCE"),
    _complaint(r"collective operation timeout|Timed out waiting \d+ms for|failed to pass monitoredBarrier"
               r"|Timeout waiting for key", TIMEOUT, SYMPTOM,
               "a rank waited in vain in a collective"),
    _complaint(r"watchdog got stuck|Heartbeat monitor timed out", "job.hung", SYMPTOM,
               "a call of NCCL or CUDA hung inside a rank, so that its watchdog hung too"),
    _complaint(r"No CUDA GPUs are available|initialize NVML|library version mismatch|no CUDA-capable device",
               "job.no_gpu", SYMPTOM,
               "a process could reach no GPU: its container's devices, the driver's version, or the GPU"),
    _complaint(r"remote process exited|ncclRemoteError|[Cc]onnection (?:was )?(?:reset|closed|refused|aborted)"
               r"|closed by (?:peer|remote)|[Bb]roken pipe|recvValue failed|[Ss]ocket [Tt]imeout|Connection timed out"
               r"|ncclSystemError|ncclInternalError|NCCL communicator was aborted|EOFError|No route to host"
               r"|ActorDiedError|ActorUnavailableError|RayActorError|NodeDiedError|WorkerCrashedError",
               PEER, SYMPTOM, "a rank lost the connection to another one"),
    _complaint(r"CUDA error|CUDA failure|Cuda failure|cudaError|HIP error|CUBLAS_STATUS|CUDNN_STATUS|cuDNN error",
               "job.gpu_error", SYMPTOM, "CUDA failed, and does not say whose fault it is"),
    _complaint(r"KeyboardInterrupt|SignalException|SIGTERM|SIGINT|got signal: (?:2|15)\b", "job.stopped", SYMPTOM,
               "the program was told to stop"),
)  # fmt: skip
"""First come, first served: an exception whose words say more than its type."""

HARMLESS = re.compile(
    r"[Pp]lugin|NUMA auto balancing|iommu=pt|HSA_FORCE_FINE_GRAIN_PCIE|MSCCL"
    r"|[Cc](?:an|ould) ?not find|[Ff]ailed to find"
    r"|[Ff]alling back|[Ii]gnoring|[Dd]eprecated|[Dd]isabling"
)
"""What NCCL and RCCL warn of when they start, and then go on without."""

NODE_FAILED = re.compile(
    r"[Nn]ode failure on (?P<first>[\w.,\[\]-]{1,200})|DUE TO NODE FAILURE|lost communication with a remote daemon"
    r"|(?P<lost>[\w.-]{1,200}) - daemon (?:did not report|failed)"
)
CANCELS = (
    (re.compile(r"DUE TO TIME LIMIT"), TIME_LIMIT, "it reached its time limit"),
    (re.compile(r"DUE TO PREEMPTION"), PREEMPTED, "it gave way to another job"),
    (re.compile(r"\*\*\* JOB [\w.+]{1,40} ON \S{1,80} CANCELLED AT"), CANCELLED, "it was cancelled"),
    (re.compile(r"\*\*\* STEP [\w.+]{1,40} ON \S{1,80} CANCELLED AT"), STEP_ENDED, "Slurm ended its other tasks"),
)

SIGNALS = {
    4: (_SOFTWARE, "SIGILL: an instruction that the processor does not know"),
    6: (SYMPTOM, "SIGABRT: it gave up by itself, after an error that it met"),
    7: (SYMPTOM, "SIGBUS: a file or shared memory that was cut, or a memory error"),
    8: (_SOFTWARE, "SIGFPE: a division by zero"),
    9: (SYMPTOM, "SIGKILL: by the OOM killer, its scheduler or a person"),
    11: (_SOFTWARE, "SIGSEGV: it used memory that is not its own"),
    15: (SYMPTOM, "SIGTERM: it was told to stop"),
}
"""How a process ended by a signal."""

WORDS = {"Killed": 9, "Segmentation fault": 11, "Bus error": 7, "Aborted": 6, "Floating point exception": 8,
         "Illegal instruction": 4, "Terminated": 15}  # fmt: skip
"""The same as srun and mpirun write it."""


def of(words: str) -> Complaint | None:
    """Return what words complain of; None where none of the known ones is in them."""
    return next((each for each in COMPLAINTS if each.words.search(words)), None)
