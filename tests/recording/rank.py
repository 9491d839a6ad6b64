"""One rank of a job that goes wrong in a known way and leaves its flight recorder's dump.

A Python with PyTorch runs it. Arguments: rank, number of ranks, what goes wrong, a folder. Where a
rank waits for good, the dump is written while it waits, once the file `dump` is in the folder, as PyTorch's watchdog
of NCCL has it; else when its operation fails.
"""

import datetime as dt
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as recorder

RANK, WORLD, WRONG, FOLDER = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
CULPRIT = {"hang": 2, "late": 2, "leave": 1, "stopped": 2, "size": 3, "type": 1, "other": 0, "groups": 5, "order": 0}
WAITS = ("hang", "stopped", "groups", "order")
"""What leaves the other ranks waiting until somebody asks for the dumps."""

SECONDS = 300 if WRONG in WAITS else 5


WRITING = threading.Lock()


def write() -> None:
    """Write both forms of the dump, once, each whole or not at all."""
    if not WRITING.acquire(blocking=False):
        return
    for name, text in (
        (f"rank_{RANK}.json", recorder._dump_fr_trace_json(True, False)),  # noqa: FBT003  positional there
        (f"rank_{RANK}", recorder._dump_fr_trace(True, True, False)),  # noqa: FBT003  likewise
    ):
        part = FOLDER / f".{name}"
        part.write_bytes(text)
        part.rename(FOLDER / name)


def waiting() -> int | None:
    """Return the newest operation if it has not come back."""
    entries = json.loads(recorder._dump_fr_trace_json(True, False)).get("entries", [])  # noqa: FBT003  likewise
    return entries[-1]["record_id"] if entries and not entries[-1]["retired"] else None


def written_when_asked(*, idle: bool) -> None:
    """Write once the folder asks for it, and this rank waits for long, or is one that never will."""
    while True:
        before = waiting()
        time.sleep(3)
        if (FOLDER / "dump").exists() and (idle or (before is not None and waiting() == before)):
            write()
            return


def step(group: dist.ProcessGroup | None = None, size: int = 1024, kind: torch.dtype = torch.float32) -> None:
    """Add up over a group, as after each backward pass."""
    dist.all_reduce(torch.ones(size, dtype=kind), group=group)


def train() -> None:
    """Take four steps, and a fifth that goes wrong."""
    culprit = CULPRIT.get(WRONG) == RANK
    groups = [dist.group.WORLD]
    if WRONG in ("groups", "order"):
        groups += [_mine(_pairs(), "tensor"), _mine(_columns(), "data")]
    hooks = [recorder.FlightRecorderHook.attach(group) for group in groups] if len(groups) > 1 else []
    for _ in range(4):
        for group in groups:
            step(group)
    if WRONG in WAITS:
        idle = culprit and WRONG != "order"
        threading.Thread(target=written_when_asked, kwargs={"idle": idle}, daemon=True).start()
    if WRONG == "order" and culprit:
        groups[:2] = groups[1::-1]
    for group in groups:
        if culprit and group is groups[1 if WRONG == "groups" else 0]:
            GOES_WRONG.get(WRONG, bool)()
        if not culprit or WRONG not in ("size", "type", "other"):
            step(group)
    del hooks


def _mine(all_ranks: list[list[int]], name: str) -> dist.ProcessGroup:
    """Make groups, on all ranks in one order, and return this rank's."""
    made = [dist.new_group(ranks, group_desc=name) for ranks in all_ranks]
    return next(group for ranks, group in zip(all_ranks, made, strict=True) if RANK in ranks)


def _pairs() -> list[list[int]]:
    return [[first, first + 1] for first in range(0, WORLD, 2)]


def _columns() -> list[list[int]]:
    return [list(range(odd, WORLD, 2)) for odd in range(2)]


GOES_WRONG: dict[str, Callable[[], object]] = {
    "hang": threading.Event().wait,
    "groups": threading.Event().wait,
    "late": lambda: time.sleep(2 * SECONDS),
    "leave": lambda: os._exit(0),
    "stopped": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "size": lambda: step(size=4096),
    "type": lambda: step(kind=torch.float64),
    "other": lambda: dist.broadcast(torch.ones(1024), src=RANK),
}

if __name__ == "__main__":
    dist.init_process_group(
        "gloo",
        init_method=f"file://{FOLDER}/store",
        rank=RANK,
        world_size=WORLD,
        timeout=dt.timedelta(seconds=SECONDS),
    )
    try:
        train()
    except RuntimeError as error:
        print(f"rank {RANK}: {error}", file=sys.stderr)  # noqa: T201  a job's output
    while WRONG == "whole" and waiting() is not None:
        time.sleep(0.05)  # what came back is noted a moment later
    write()
    threading.Event().wait()  # a rank that ends would take the others' connections with it
