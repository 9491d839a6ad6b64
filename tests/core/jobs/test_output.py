"""What a job's output says of its end, in the words of PyTorch, NCCL, Slurm, Open MPI and torchrun."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.output import MOST, JobOutput
from fleet_runner.core.jobs.waits import behind

YEAR = 2026


def at(told: str) -> float:
    """Return the moment of "2026-11-28 02:10:44"."""
    return datetime.fromisoformat(told).replace(tzinfo=UTC).timestamp()


def read(text: str, ended: float | None = None, rank: int | None = None) -> tuple[Event, ...]:
    """Return the events of an output."""
    output = JobOutput("job.log", YEAR, rank)
    output.feed(text)
    return output.end(ended)


def only(text: str, ended: float | None = None) -> Event:
    """Return the one event of an output."""
    (event,) = read(text, ended)
    return event


TRACEBACK = """2026-11-28 02:10:01,120 step 4100 loss 2.11
[rank3]: Traceback (most recent call last):
[rank3]:   File "/train/train.py", line 211, in <module>
[rank3]:     main()
[rank3]:   File "/train/data.py", line 40, in __getitem__
[rank3]:     return self.rows[key]
[rank3]: KeyError: 'tokens'
2026-11-28 02:10:09,470 step 4101 loss 2.12
"""


def test_an_exception_of_one_rank_is_the_programs_own() -> None:
    """Its time lies between the lines before and after it that tell theirs."""
    event = only(TRACEBACK)
    assert (event.code, event.area, event.role, event.rank) == ("job.exception", Area.SOFTWARE, Role.CAUSE, 3)
    assert event.message == "the program ended with KeyError: 'tokens'"
    assert event.at == pytest.approx(at("2026-11-28 02:10:09.470"), abs=0.01)
    assert event.blur == pytest.approx(8.35, abs=0.01)


@pytest.mark.parametrize(
    ("words", "code", "area", "role"),
    [
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "job.gpu_ecc", Area.HARDWARE, Role.CAUSE),
        ("RuntimeError: CUDA error: uncorrectable NVLink error detected", "job.nvlink", Area.HARDWARE, Role.CAUSE),
        ("slurmstepd: error: StepId=1.0 exceeded memory limit (207085568 > 104857600), being killed",
         "job.out_of_memory", Area.SOFTWARE, Role.CAUSE),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "job.gpu_memory", Area.SOFTWARE,
         Role.CAUSE),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", "job.gpu_program", Area.SOFTWARE,
         Role.CAUSE),
        ("torch.AcceleratorError: CUDA error: unspecified launch failure", "job.gpu_error", Area.UNKNOWN,
         Role.SYMPTOM),
        ("OSError: [Errno 5] Input/output error: '/data/shard-00041'", "job.file_system", Area.STORAGE, Role.CAUSE),
        ("OSError: [Errno 28] No space left on device", "job.no_space", Area.STORAGE, Role.CAUSE),
        ("ConnectionResetError: [Errno 104] Connection reset by peer", "job.peer_lost", Area.UNKNOWN, Role.SYMPTOM),
        ("torch.distributed.DistBackendError: NCCL error in: x.cpp:3690, remote process exited", "job.peer_lost",
         Area.UNKNOWN, Role.SYMPTOM),
        ("RuntimeError: [1] is setting up NCCL communicator and retrieving ncclUniqueId: Broken pipe",
         "job.peer_lost", Area.UNKNOWN, Role.SYMPTOM),
        ("KeyboardInterrupt", "job.stopped", Area.UNKNOWN, Role.SYMPTOM),
        ("RuntimeError: cuda runtime error (802) : system not yet initialized at THCGeneral.cpp:50",
         "job.fabric_manager", Area.HARDWARE, Role.CAUSE),
        ("RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: x",
         "job.mismatch", Area.SOFTWARE, Role.CAUSE),
        ("RuntimeError: No CUDA GPUs are available", "job.no_gpu", Area.UNKNOWN, Role.SYMPTOM),
    ],
)  # fmt: skip
def test_exceptions_whose_words_say_more_than_their_type(words: str, code: str, area: Area, role: Role) -> None:
    """A lost connection is a symptom of another rank's end; a memory error that ECC could not correct is a cause."""
    event = only(f'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\n{words}\n', 5.0)
    assert (event.code, event.area, event.role) == (code, area, role)
    assert event.line == words


def test_the_lines_after_an_exception_may_say_what_it_is_about() -> None:
    """PyTorch's distributed errors name NCCL's own error some lines further down."""
    event = only(
        "[rank0]: Traceback (most recent call last):\n"
        '[rank0]:   File "/train/train.py", line 5, in <module>\n'
        "[rank0]: torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, unhandled system error\n"
        "[rank0]: ncclSystemError: System call (e.g. socket, malloc) or external library call failed.\n"
        "[rank0]: Last error:\n"
        "[rank0]: socketProgress: Connection closed by remote peer node-05<51234>\n"
    )
    assert event.code == "job.peer_lost"
    assert event.role is Role.SYMPTOM


def test_the_first_exception_of_a_chain_counts() -> None:
    """What is raised while another one is handled follows from it."""
    text = (
        "Traceback (most recent call last):\n"
        '  File "a.py", line 1, in load\n'
        "ValueError: bad shard\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n"
        '  File "a.py", line 9, in <module>\n'
        "RuntimeError: cannot go on\n"
    )
    assert [each.message for each in read(text, 9.0)] == ["the program ended with ValueError: bad shard"]


WATCHDOG = (
    "[rank{rank}]:[E1128 02:20:04.500000000 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective"
    " operation timeout: WorkNCCL(SeqNum={number}, OpType={operation}, NumelIn=1, NumelOut=1, Timeout(ms)=600000)"
    " ran for 600000 milliseconds before timing out."
)


def watchdog(rank: int, number: int = 1204, operation: str = "ALLREDUCE") -> str:
    """Return the watchdog's line of a rank."""
    return WATCHDOG.format(rank=rank, number=number, operation=operation)


def test_a_timeout_tells_when_the_waiting_began() -> None:
    """Ten minutes before it was logged: what ended the job came before that."""
    event = only(watchdog(2))
    assert event.at == pytest.approx(at("2026-11-28 02:10:04.5"), abs=0.01)
    assert (event.role, event.component, event.rank) == (Role.SYMPTOM, "collective 1204", 2)


def test_who_is_missing_and_who_is_behind() -> None:
    """A rank that told of no timeout never joined; one in an earlier collective held the others up."""
    output = JobOutput("x", YEAR)
    output.feed("\n".join(watchdog(rank) for rank in (0, 1, 3)))
    output.end()
    assert dict(behind(output.waits)) == {2: "it never joined ALLREDUCE 1204"}
    output.feed(watchdog(2, 1203, "ALLGATHER"))
    output.end()
    assert dict(behind(output.waits)) == {2: "it was in ALLGATHER 1203, the others in ALLREDUCE 1204"}
    assert not dict(behind({}))


def test_what_slurm_says_of_tasks_and_nodes() -> None:
    """A task that was killed, one that ended with a code, a memory limit, a node that was lost, a time limit."""
    text = (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. Some of the tasks have been OOM Killed.\n"
        "srun: error: gpu-07: task 12: Killed\n"
        "srun: error: gpu-08: tasks 16-23: Exited with exit code 1\n"
        "srun: error: gpu-09: task 30: Segmentation fault (core dumped)\n"
        "srun: error: gpu-10: task 31: Out Of Memory\n"
        "srun: error: gpu-10: task 32: Weird\n"
        "srun: error: Node failure on gpu-11\n"
        "slurmstepd: error: *** JOB 4711 ON gpu-07 CANCELLED AT 2026-11-28T02:10:44 DUE TO TIME LIMIT ***\n"
    )
    told = {(each.code, each.node, each.rank): each.role for each in read(text, 9.0)}
    assert told == {
        ("job.oom", "", None): Role.CAUSE,
        ("job.killed", "gpu-07", 12): Role.SYMPTOM,
        ("job.ended", "gpu-08", 16): Role.SYMPTOM,
        ("job.signal_11", "gpu-09", 30): Role.CAUSE,
        ("job.oom", "gpu-10", 31): Role.CAUSE,
        ("job.node_lost", "gpu-11", None): Role.SYMPTOM,
        ("job.time_limit", "", None): Role.CONTEXT,
    }


def test_what_mpi_says() -> None:
    """A rank that called MPI_Abort, one that a signal ended, a daemon that was lost."""
    text = (
        "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\n"
        "mpirun noticed that process rank 3 with PID 0 on node gpu-07 exited on signal 9 (Killed).\n"
        "prterun noticed that process rank 4 with PID 11 on node gpu-08 exited on signal 35 (Unknown).\n"
        "ORTE has lost communication with a remote daemon.\n"
    )
    told = [(each.code, each.node, each.rank) for each in read(text, 9.0)]
    assert told == [
        ("job.ended", "", 2),
        ("job.killed", "gpu-07", 3),
        ("job.signal_35", "gpu-08", 4),
        ("job.node_lost", "", None),
    ]


TORCHRUN = """Traceback (most recent call last):
  File "/opt/venv/bin/torchrun", line 8, in <module>
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-28_02:10:44
  host      : gpu-07
  rank      : 26 (local_rank: 2)
  exitcode  : {code} (pid: 4711)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 4711
============================================================
"""


@pytest.mark.parametrize(("code", "kind"), [("-9", "job.killed"), ("1", "job.ended")])
def test_torchrun_names_who_failed_first(code: str, kind: str) -> None:
    """With its time, node and rank; the launcher's own exception is none of the program's."""
    event = only(TORCHRUN.format(code=code))
    assert (event.code, event.node, event.rank) == (kind, "gpu-07", 26)
    assert event.at == at("2026-11-28 02:10:44")


def test_a_report_of_torchrun_that_is_cut_short_says_nothing() -> None:
    """Nor does one whose time or code cannot be read; what follows it is read as ever."""
    head = TORCHRUN[: TORCHRUN.index("  exitcode")]
    assert read(head) == ()
    assert [each.code for each in read(f"{head}srun: error: gpu-07: task 1: Killed\n", 5.0)] == ["job.killed"]
    told = read(TORCHRUN.format(code="-9").replace("_02:", " at 2:").replace("rank      : 26", "rank      : ?"), 5.0)
    assert [(each.at, each.rank) for each in told] == [(5.0, None)]


def test_nccl_names_hosts_and_ranks() -> None:
    """Its notes of the beginning tell which rank is where; its warnings are read by their words."""
    output = JobOutput("x", YEAR)
    output.feed(
        "gpu-07:4711:4790 [2] NCCL INFO comm 0x55d0 rank 26 nranks 64 cudaDev 2 nvmlDev 2 - Init COMPLETE\n"
        "[2026-11-28 02:10:01] gpu-07:4711:4790 [2] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by"
        " remote peer gpu-09<5123>\n"
        "gpu-08:4711:4790 [2] transport/net_ib.cc:123 NCCL WARN NET/IB : mlx5_0:1 Got async event : port error\n"
        "gpu-08:4711:4790 [2] transport/net_ib.cc:123 NCCL WARN NET/IB : Got completion with status=12 opcode=0"
        " vendor err 129\n"
        "gpu-08:4711:4790 [2] misc/x.cc:1 NCCL WARN something new\n"
        "rank 5 nranks 64 without a host\n"
    )
    told = [(each.code, each.node, each.area, each.role) for each in output.end()]
    assert output.ranks == {26: "gpu-07"}
    assert told == [
        ("job.peer_lost", "gpu-07", Area.UNKNOWN, Role.SYMPTOM),
        ("job.port_error", "gpu-08", Area.FABRIC, Role.CAUSE),
        ("job.ib_retry", "gpu-08", Area.FABRIC, Role.SYMPTOM),
        ("job.nccl", "gpu-08", Area.UNKNOWN, Role.SYMPTOM),
    ]
    assert output.known


def test_a_bus_error_without_shared_memory_is_the_containers() -> None:
    """PyTorch says so itself."""
    text = "ERROR: Unexpected bus error encountered in worker. Maybe caused by insufficient shared memory (shm).\n"
    assert read(text) == ()
    told = read(f"Fatal Python error: Bus error\n  what(): {text}", 3.0)
    assert [(each.code, each.role) for each in told] == [
        ("job.signal_7", Role.SYMPTOM),
        ("job.shared_memory", Role.CAUSE),
    ]


def test_a_rank_that_alone_wrote_a_file_is_named_by_it() -> None:
    """Both torchrun and Slurm can write one file a rank."""
    text = TRACEBACK.replace("[rank3]: ", "")
    assert [each.rank for each in read(text, rank=7)] == [7]
    assert [each.rank for each in read(TRACEBACK, rank=7)] == [3]


def test_prefixes_of_launchers() -> None:
    """Those of torchrun, mpirun, srun and pdsh."""
    for prefix, rank, node in (
        ("[default2]:[rank26]: ", 26, ""),
        ("[1,26]<stderr>: ", 26, ""),
        ("26: ", 26, ""),
        ("gpu-07: ", None, "gpu-07"),
    ):
        lines = ("Traceback (most recent call last):", '  File "a.py", line 1', "ValueError: x")
        event = only(
            "\n".join(prefix + line for line in lines) if rank is not None else f"{prefix}{lines[0]}\nE: x", 1.0
        )
        assert (event.rank, event.node) == (rank, node if rank is not None else "")


def test_a_line_of_prefixes_alone_is_no_endless_one() -> None:
    """Some launchers put their mark on others' marks."""
    assert read("[rank1]: " * 9 + "srun: error: gpu-07: task 2: Killed", 1.0)[0].rank == 2


def test_an_exception_may_be_cut_by_other_lines() -> None:
    """Another traceback of the same rank, a line that is none, a line with its time."""
    head = 'Traceback (most recent call last):\n  File "a.py", line 1\n'
    assert read(f"{head}{head}ValueError: x\n", 2.0)[0].message == "the program ended with ValueError: x"
    assert read(f"{head}== what else ==\nValueError: x\n", 2.0) == ()
    assert len(read(f"{head}ValueError\n2026-11-28 02:00:00 step 3\n")) == 1
    assert len(read(f"{head}ValueError\n" + "more\n" * 9)) == 1
    assert len(read(f"{head}ValueError\n2026-11-28 02:00:00 a\n2026-11-28 02:00:01 b\n")) == 1
    timed = f"2026-11-28 02:00:00 {head}2026-11-28 02:00:01 ValueError\n"
    assert [each.at for each in read(timed)] == [at("2026-11-28 02:00:01")]
    assert read(head) == ()


def test_times_that_cannot_be_are_none() -> None:
    """A date of no month; an event without any time stays without one."""
    text = "2026-13-41 02:00:00 srun: error: gpu-07: task 1: Killed"
    assert only(text).at is None
    assert only("2026-11-28T02:00:00+02:00 srun: error: gpu-07: task 1: Killed").at == at("2026-11-28 00:00:00")


def test_events_are_bounded() -> None:
    """An output with a million tasks keeps the first of them."""
    output = JobOutput("x", YEAR)
    output.feed("\n".join(f"srun: error: gpu-07: task {rank}: Killed" for rank in range(MOST + 5)))
    output.feed(watchdog(MOST + 9))
    assert len(output.end(1.0)) == MOST


def test_open_tracebacks_are_bounded() -> None:
    """An output that claims a million ranks keeps the first of them."""
    head = "[rank{0}]: Traceback (most recent call last):\n[rank{0}]:   File\n"
    output = JobOutput("x", YEAR)
    output.feed("".join(head.format(rank) for rank in range(MOST + 1)))
    output.feed("".join(f"[rank{rank}]: ValueError\n" for rank in (0, MOST)))
    assert [each.rank for each in output.end(1.0)] == [0]


LINES = st.sampled_from([*TRACEBACK.splitlines(), *TORCHRUN.splitlines(), watchdog(1)])


@given(st.text(max_size=2000) | st.lists(LINES).map("\n".join))
def test_no_text_is_too_odd(text: str) -> None:
    """Whatever it is: events or none, never an error; lines in another order say no more than there is."""
    for event in read(text, 100.0):
        assert event.message
        assert event.source


@pytest.mark.parametrize(
    ("line", "code", "area", "role"),
    [
        ("misc/shmutils.cc:71 NCCL WARN Call to posix_fallocate failed : No space left on device",
         "job.shared_memory", Area.SOFTWARE, Role.CAUSE),
        ("include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-recv-25-0-1-3 (size 9637)",
         "job.shared_memory", Area.SOFTWARE, Role.CAUSE),
        ("init.cc:497 NCCL WARN Duplicate GPU detected : rank 2 and rank 0 both on CUDA device 1000",
         "job.nccl_usage", Area.SOFTWARE, Role.CAUSE),
        ("misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
         "job.locked_memory", Area.SOFTWARE, Role.CAUSE),
        ("net_ib.cc:1 NCCL WARN NET/IB : Got completion from peer x with error 4, opcode 1, len 1, vendor err 81",
         "job.gpudirect", Area.HARDWARE, Role.SYMPTOM),
        ("misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error Connection timed out",
         "job.ib_address", Area.FABRIC, Role.SYMPTOM),
        ("transport/nvls.cc:244 NCCL WARN Cuda failure 1 'invalid argument'",
         "job.fabric_manager", Area.HARDWARE, Role.SYMPTOM),
        ("transport/nvls.cc:254 NCCL WARN Cuda failure 401 'the operation cannot be performed in the present state'",
         "job.fabric_manager", Area.HARDWARE, Role.CAUSE),
    ],
)  # fmt: skip
def test_what_nccl_complains_of(line: str, code: str, area: Area, role: Role) -> None:
    """As threads of others show it, each with the cause that was found in the end."""
    event = only(f"gpu-07:4711:4790 [2] {line}\n")
    assert (event.code, event.area, event.role, event.node) == (code, area, role, "gpu-07")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("[rank2]:[F1128 02:10:04.5 ProcessGroupNCCL.cpp:1224] [PG 3 Rank 2] ProcessGroupNCCL's watchdog got stuck",
         "job.hung"),
        ("Memory access fault by GPU node-2 (Agent handle: 0x55) on address 0x7f. Reason: Page not present.",
         "job.gpu_program"),
        ("F stream_executor.cc:34] CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered", "job.gpu_ecc"),
        ("gpu-07: Test CUDA failure common.cu:941 'system not yet initialized'", "job.fabric_manager"),
    ],
)  # fmt: skip
def test_what_is_told_by_one_line_without_an_exception(line: str, code: str) -> None:
    """C++ raises nothing that Python could print."""
    assert only(f"{line}\n").code == code


def test_a_count_of_no_errors_is_no_complaint() -> None:
    """Programs print what nvidia-smi counts."""
    assert read("volatile uncorrectable ECC errors: 0\n") == ()


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ('Traceback (most recent call last):\n  File "train.py", line 1, in <module>\n', False),
        ("Traceback (most recent call last):\nRuntimeError: CUDA error: uncorrectable ECC error encountered\n", True),
        ("Traceback (most recent call last):\ntorch.distributed.elastic.ChildFailedError: x\n", False),
        ("Root Cause (first observed failure):\n[0]:\n  rank      : 3 (local_rank: 3)\n  exitcode  : 1\n", True),
    ],
)
def test_an_output_that_ends_in_an_exception_is_known_before_its_end(text: str, known: bool) -> None:
    """Most programs print no times, and their last words are a traceback; a launcher's is only that of another."""
    output = JobOutput("job.out", 2026)
    output.feed(text)
    assert output.known is known
