"""Deaths of jobs with a known cause: what Slurm, the job and the kernels of its nodes would have written.

Each is drawn from a seed: as many nodes, ranks, launchers, clocks and as much noise as real jobs have. The files are
what somebody would give to `fleet-runner job --log`; nothing in them says what the cause was but the evidence.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from fleet_runner.core.jobs.job import Job
from fleet_runner.lab import xids

BEGUN = 1_795_000_000.0
WAIT = 600
"""Seconds after which PyTorch's watchdog ends a collective."""

RANKS = 8
"""On a node."""


class Cause(StrEnum):
    """What ended a job."""

    GPU = "gpu"
    MEMORY = "memory"
    MACHINE = "machine"
    LINK = "link"
    OOM = "oom"
    GPU_OOM = "gpu-oom"
    BUG = "bug"
    KERNEL_BUG = "kernel-bug"
    SIZES = "sizes"
    SEGFAULT = "segfault"
    STORAGE = "storage"
    HANG = "hang"
    NOTHING = "nothing"
    TWO = "two"


AREAS: Mapping[Cause, str] = {
    Cause.GPU: "hardware", Cause.MEMORY: "hardware", Cause.MACHINE: "hardware", Cause.LINK: "fabric",
    Cause.OOM: "software", Cause.GPU_OOM: "software", Cause.BUG: "software", Cause.KERNEL_BUG: "software",
    Cause.SIZES: "software", Cause.SEGFAULT: "software", Cause.STORAGE: "storage", Cause.HANG: "unknown",
    Cause.NOTHING: "unknown", Cause.TWO: "hardware",
}  # fmt: skip
"""What the right answer is. Of a rank that hangs without a word nobody can know more than which one it is."""


@dataclass
class Death:
    """A job that ended, with its files by name and the truth: the cause, and the node and rank it began at."""

    job: Job
    cause: Cause
    node: str
    rank: int
    at: float
    output: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    kernel: dict[str, list[tuple[float, str]]] = field(default_factory=dict[str, list[tuple[float, str]]])
    zone: int = 0

    @property
    def files(self) -> dict[str, str]:
        """Return the text of each file: the job's output in local time, and each node's kernel log."""
        texts = {"slurm-4711.out": "".join(f"{line}\n" for _, line in sorted(self.output, key=lambda each: each[0]))}
        for node, lines in self.kernel.items():
            texts[f"{node}.dmesg"] = dmesg(lines)
        return texts


def death(seed: int, cause: Cause) -> Death:
    """Return a job's death of a cause, the same for the same seed."""
    chance = random.Random(f"{seed}-{cause}")
    count = chance.choice((2, 4, 8, 16))
    nodes = tuple(f"gpu-{number:03}" for number in sorted(chance.sample(range(1, 400), count)))
    at = BEGUN + chance.uniform(1800, 40_000)
    number = chance.randrange(count)
    rank = number * RANKS + chance.randrange(RANKS)
    job = Job("4711", nodes, BEGUN, None, "slurm", "pretrain", state="FAILED", exit_code="1:0", gpus=count * RANKS)
    made = Death(job, cause, nodes[number], rank, at, zone=chance.choice((0, 0, 3600, -25_200, 19_800)))
    _steps(made, chance)
    _noise(made, chance)
    _CAUSES[cause](made, chance)
    last = max(moment for moment, _ in made.output)
    made.job = Job(
        "4711", nodes, BEGUN, max(last, at) + chance.uniform(0, 4), "slurm", "pretrain", state=made.job.state,
        exit_code="1:0", gpus=count * RANKS,
    )  # fmt: skip
    return made


def dmesg(lines: Iterable[tuple[float, str]]) -> str:
    """Return messages of a kernel, with the moments they were logged, as `dmesg --time-format iso` prints them."""
    return "".join(f"{_iso(at)} {line}\n" for at, line in sorted(lines, key=lambda each: each[0]))


def _iso(at: float) -> str:
    told = datetime.fromtimestamp(at, UTC)
    return f"{told:%Y-%m-%dT%H:%M:%S},{told.microsecond:06d}+00:00"


def _say(made: Death, at: float, line: str) -> None:
    """Add a line to the job's output, which tells its time as the program's logger does: local, without a zone."""
    told = datetime.fromtimestamp(at + made.zone, UTC)
    made.output.append((at, f"{told:%Y-%m-%d %H:%M:%S},{told.microsecond // 1000:03d} {line}"))


def _raise(made: Death, at: float, rank: int, words: str) -> None:
    """Add a traceback of a rank; it tells no time."""
    head = f"[rank{rank}]: "
    lines = (
        "Traceback (most recent call last):",
        '  File "/train/train.py", line 211, in <module>',
        "    main()",
        words,
    )
    made.output.extend((at + number * 1e-6, head + line) for number, line in enumerate(lines))


def _kernel(made: Death, node: str, at: float, *lines: str) -> None:
    made.kernel.setdefault(node, []).extend((at + number * 1e-3, line) for number, line in enumerate(lines))


def _steps(made: Death, chance: random.Random) -> None:
    """Let rank 0 log its steps up to the death; NCCL says at the beginning which rank is where."""
    for number, node in enumerate(made.job.nodes):
        for local in range(RANKS):
            rank = number * RANKS + local
            line = f"{node}:{4700 + local}:{4800 + local} [{local}] NCCL INFO comm 0x55d0 rank {rank} nranks"
            made.output.append(
                (BEGUN + 20 + rank * 1e-4, f"{line} {len(made.job.nodes) * RANKS} cudaDev {local} - Init COMPLETE")
            )
    every = chance.uniform(4, 20)
    at, step = max(BEGUN + 60, made.at - 200 * every), 1
    while at < made.at:
        _say(made, at, f"step {step} loss {chance.uniform(1.5, 3):.3f} tokens/s {chance.randrange(30_000, 50_000)}")
        at, step = at + every, step + 1


def _noise(made: Death, chance: random.Random) -> None:
    """Add what real nodes log all the time, and faults that the job survived."""
    for node in made.job.nodes:
        boot = BEGUN - chance.uniform(90_000, 900_000)
        _kernel(
            made,
            node,
            boot,
            "Linux version 6.8.0-51-generic (build@host)",
            "NVRM: loading NVIDIA UNIX Open Kernel Module",
        )
        for _ in range(chance.randrange(4)):
            at = chance.uniform(boot + 100, made.at + 300)
            _kernel(made, node, at, chance.choice(_HARMLESS))
        if chance.random() < 0.1:  # noqa: PLR2004  one node in ten
            fault = chance.choice((31, 63, 94))
            gpu = chance.randrange(RANKS)
            _kernel(made, node, chance.uniform(boot + 100, BEGUN - 60), *xids.lines(fault, gpu))
        if chance.random() < 0.1:  # noqa: PLR2004  one node in ten
            _flap(made, node, chance.uniform(BEGUN + 60, max(BEGUN + 61, made.at - 600)), chance.uniform(2, 6))


_HARMLESS = (
    "perf: interrupt took too long (3146 > 3126), lowering kernel.perf_event_max_sample_rate to 63500",
    "mce: [Hardware Error]: Machine check events logged",
    "EDAC MC3: 1 CE memory read error on CPU_SrcID#1_MC#1_Chan#0_DIMM#0 (channel:0 slot:0 page:0x1a)",
    "pcieport 0000:16:01.0: AER: Corrected error message received from 0000:17:00.0",
    "python3[4711]: segfault at 8 ip 000055d0 sp 00007ffc error 4 in libfoo.so[55d0+1000]",
    "nvme nvme1: I/O tag 12 (300c) opcode 0x2 (I/O Cmd) QID 3 timeout, completion polled",
    "NVRM: GPU at PCI:0000:9b:00: GPU-5b2f1c1e-0000-0000-0000-000000000001",
    "usb 1-14.2: reset high-speed USB device number 5 using xhci_hcd",
)


def _flap(made: Death, node: str, at: float, away: float) -> None:
    _kernel(made, node, at, "mlx5_core 0000:5e:00.0 ibp94s0: Link down")
    _kernel(made, node, at + away, "mlx5_core 0000:5e:00.0 ibp94s0: Link up")


def _time_out(made: Death, chance: random.Random, *, without: int | None, since: float) -> None:
    """Let all ranks but one wait in vain in a collective."""
    operation, number = (
        chance.choice(("ALLREDUCE", "_REDUCE_SCATTER_BASE", "_ALLGATHER_BASE")),
        chance.randrange(900, 90_000),
    )
    for rank in range(len(made.job.nodes) * RANKS):
        if rank == without:
            continue
        began = since + chance.uniform(0, 3)
        told = datetime.fromtimestamp(began + WAIT + made.zone, UTC)
        head = (
            f"[rank{rank}]:[E{told:%m%d %H:%M:%S}.{told.microsecond:06d}000 ProcessGroupNCCL.cpp:616] [Rank {rank}]"
        )
        work = f"WorkNCCL(SeqNum={number}, OpType={operation}, NumelIn=8388608, NumelOut=8388608, Timeout(ms)=600000)"
        end = f"ran for {WAIT * 1000 + 50} milliseconds before timing out."
        made.output.append((began + WAIT, f"{head} Watchdog caught collective operation timeout: {work} {end}"))


def _warn(made: Death, at: float, node: str, words: str) -> None:
    made.output.append((at, f"{node}:4711:4790 [0] misc/socket.cc:50 NCCL WARN {words}"))


_REMOTE = (
    "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, remote process exited or there was a"
    " network error, NCCL version 2.27.3"
)


def _followed(made: Death, chance: random.Random, *, silent: bool) -> None:
    """Add what the other ranks say: they wait in vain, or lose their connections."""
    if chance.random() < 0.5:  # noqa: PLR2004  a coin
        _time_out(made, chance, without=made.rank if silent else None, since=made.at + chance.uniform(0.1, 2))
        return
    others = [rank for rank in range(len(made.job.nodes) * RANKS) if rank != made.rank]
    for rank in chance.sample(others, min(len(others), 6)):
        at = made.at + chance.uniform(1, 20)
        node = made.job.nodes[rank // RANKS]
        _warn(made, at, node, f"socketProgress: Connection closed by remote peer {made.node}<51234>")
        _raise(made, at + 0.1, rank, _REMOTE)


def _xid(made: Death, chance: random.Random, code: int) -> None:
    lines = xids.lines(code, made.rank % RANKS)
    _kernel(made, made.node, made.at - chance.uniform(0, 0.5), *lines)


def _gpu(made: Death, chance: random.Random) -> None:
    _xid(made, chance, chance.choice((79, 119, 95)))
    if chance.random() < 0.6:  # noqa: PLR2004  some drivers let the process hang
        _raise(made, made.at + 0.2, made.rank, "RuntimeError: CUDA error: unspecified launch failure")
    _followed(made, chance, silent=True)


def _memory(made: Death, chance: random.Random) -> None:
    _xid(made, chance, 48)
    _raise(made, made.at + 0.2, made.rank, "RuntimeError: CUDA error: uncorrectable ECC error encountered")
    _followed(made, chance, silent=True)


def _machine(made: Death, chance: random.Random) -> None:
    """Let a node stop at once: its kernel says why on the way down, or nothing at all."""
    if chance.random() < 0.7:  # noqa: PLR2004  the rest say nothing
        _kernel(made, made.node, made.at - 0.3, "mce: [Hardware Error]: CPU 12: Machine Check Exception: 5 Bank 7:"
                " be00000000800400", "mce: [Hardware Error]: TSC 0 ADDR 3ffd80 MISC 86")  # fmt: skip
    made.output.append((made.at + 300, f"srun: error: Node failure on {made.node}"))
    _time_out(made, chance, without=None, since=made.at + 1)
    made.job = Job("4711", made.job.nodes, BEGUN, None, "slurm", state="NODE_FAIL")


def _link(made: Death, chance: random.Random) -> None:
    _kernel(made, made.node, made.at, "mlx5_core 0000:5e:00.0 ibp94s0: Link down")
    if chance.random() < 0.5:  # noqa: PLR2004  a coin
        _warn(made, made.at + 0.1, made.node, "NET/IB : mlx5_0:1 Got async event : port error")
    _followed(made, chance, silent=False)


def _oom(made: Death, chance: random.Random) -> None:
    called = "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0"
    killed = "Memory cgroup out of memory: Killed process 4711 (python3) total-vm:1048576kB, anon-rss:524288kB"
    _kernel(made, made.node, made.at, called, killed)
    local = made.rank
    made.output.append((made.at + 1, f"srun: error: {made.node}: task {local}: Killed"))
    if chance.random() < 0.5:  # noqa: PLR2004  a coin
        made.output.append((made.at + 1.1, "slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0."))
    _followed(made, chance, silent=True)


def _gpu_oom(made: Death, chance: random.Random) -> None:
    words = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has 1.02 GiB free."
    _raise(made, made.at, made.rank, words)
    _followed(made, chance, silent=True)


_BUGS = (
    "KeyError: 'tokens'", "ValueError: could not convert string to float: 'nan'", "AssertionError",
    "RuntimeError: The size of tensor a (4096) must match the size of tensor b (4097) at non-singleton dimension 1",
    "IndexError: index 50257 is out of bounds for dimension 0 with size 50257", "ZeroDivisionError: division by zero",
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/shard-00042.bin'",
)  # fmt: skip


def _bug(made: Death, chance: random.Random) -> None:
    _raise(made, made.at, made.rank, chance.choice(_BUGS))
    _followed(made, chance, silent=True)


def _kernel_bug(made: Death, chance: random.Random) -> None:
    """Let a kernel of the program touch memory that is not its own: the driver logs an Xid 31 or 13."""
    _xid(made, chance, chance.choice((13, 31)))
    _raise(made, made.at + 0.1, made.rank, "RuntimeError: CUDA error: an illegal memory access was encountered")
    _followed(made, chance, silent=True)


def _sizes(made: Death, chance: random.Random) -> None:
    _time_out(made, chance, without=None, since=made.at)
    changed = [
        (at, line.replace("NumelIn=8388608, NumelOut=8388608", "NumelIn=8388600, NumelOut=8388600"))
        if f"[Rank {made.rank}]" in line else (at, line)
        for at, line in made.output
    ]  # fmt: skip
    made.output[:] = changed


def _segfault(made: Death, chance: random.Random) -> None:
    _kernel(
        made, made.node, made.at, "python3[4711]: segfault at 0 ip 000055d0 sp 00007ffc error 4 in _C.so[55d0+1000]"
    )
    made.output.append(
        (made.at + 0.5, f"srun: error: {made.node}: task {made.rank}: Segmentation fault (core dumped)")
    )
    _followed(made, chance, silent=True)


def _storage(made: Death, chance: random.Random) -> None:
    for node in made.job.nodes[: chance.randrange(1, len(made.job.nodes) + 1)]:
        _kernel(made, node, made.at + chance.uniform(0, 30), "nfs: server nas-01 not responding, still trying")
        if chance.random() < 0.5:  # noqa: PLR2004  a coin
            _kernel(made, node, made.at + 125, "INFO: task python3:4711 blocked for more than 122 seconds.")
    if chance.random() < 0.5:  # noqa: PLR2004  a coin
        _raise(made, made.at + 60, made.rank, "OSError: [Errno 5] Input/output error: '/data/shard-00042.bin'")
    _time_out(made, chance, without=None, since=made.at + chance.uniform(1, 30))


def _hang(made: Death, chance: random.Random) -> None:
    _time_out(made, chance, without=made.rank, since=made.at)


def _nothing(made: Death, chance: random.Random) -> None:
    if chance.random() < 0.5:  # noqa: PLR2004  a coin
        _time_out(made, chance, without=None, since=made.at)
    else:
        made.output.append((made.at, f"srun: error: {made.node}: task {made.rank}: Exited with exit code 1"))


def _two(made: Death, chance: random.Random) -> None:
    """Let a GPU fail, and a bug in another rank's handling of it follow, on another node where there is one."""
    _gpu(made, chance)
    other = (made.rank + RANKS) % (len(made.job.nodes) * RANKS)
    _raise(made, made.at + chance.uniform(3, 40), other, chance.choice(_BUGS))


_CAUSES: Mapping[Cause, Callable[[Death, random.Random], None]] = {
    Cause.GPU: _gpu, Cause.MEMORY: _memory, Cause.MACHINE: _machine, Cause.LINK: _link, Cause.OOM: _oom,
    Cause.GPU_OOM: _gpu_oom, Cause.BUG: _bug, Cause.KERNEL_BUG: _kernel_bug, Cause.SIZES: _sizes,
    Cause.SEGFAULT: _segfault, Cause.STORAGE: _storage, Cause.HANG: _hang, Cause.NOTHING: _nothing, Cause.TWO: _two,
}  # fmt: skip
