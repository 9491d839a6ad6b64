"""Dumps of NCCL's ranks in the form that PyTorch writes, as a pickle and as JSON, in releases old and new.

The facts are those of FlightRecorderDetail.hpp: JSON has its keys sorted, 0 for what did not happen, numbers of a
status as text, no stacks, and no `entries` where there are none; a pickle has None, stacks, and numbers below 0.
"""

import json
import pickle
from collections.abc import Sequence
from typing import Any

BEGUN = 1_795_000_000_000_000_000
GROUPS = {"0": ("default_pg", (0, 1, 2, 3)), "5": ("mesh_pp", (1, 3))}
FRAMES = [
    {"name": "all_reduce", "filename": "/opt/lib/python3.11/site-packages/torch/distributed/x.py", "line": 2806},
    {"name": "train_step", "filename": "/src/train.py", "line": 211},
]


def record(number: int, name: str = "nccl:all_reduce", state: str = "completed", **more: Any) -> dict[str, Any]:
    """Return a record of the default group, or with what is said instead."""
    at = BEGUN + number * 1_000_000_000
    done = at + 40_000_000 if state == "completed" else None
    usual: dict[str, Any] = {
        "frames": FRAMES, "record_id": number - 1, "pg_id": 0, "process_group": ("0", "default_pg"),
        "thread_name": "python", "thread_id": "140214569199424", "collective_seq_id": number, "p2p_seq_id": 0,
        "op_id": number, "profiling_name": name, "time_created_ns": at, "input_sizes": [[1024, 4096]],
        "input_dtypes": ["BFloat16"], "output_sizes": [[1024, 4096]], "output_dtypes": ["BFloat16"], "state": state,
        "time_discovered_started_ns": at + 5_000_000 if state != "scheduled" else None,
        "time_discovered_completed_ns": done, "retired": state == "completed", "timeout_ms": 600_000, "is_p2p": False,
    }  # fmt: skip
    return usual | ({"duration_ms": 12.345} if state == "completed" else {}) | more


def transfer(number: int, name: str, state: str = "scheduled", **more: Any) -> dict[str, Any]:
    """Return a send or a receive of the pipeline's group, which counts for itself."""
    mine = {
        "process_group": ("5", "mesh_pp"),
        "pg_id": 2,
        "collective_seq_id": 0,
        "p2p_seq_id": number,
        "is_p2p": True,
    }
    return record(number, name, state, **(mine | more))


def written(records: Sequence[dict[str, Any]], release: str, *, as_json: bool) -> bytes:
    """Return the file of a rank; `release` is the form's version, "2.5" or "2.10"."""
    groups = {name: {"name": name, "desc": desc, "ranks": f"[{', '.join(map(str, ranks))}]"}
              for name, (desc, ranks) in GROUPS.items()}  # fmt: skip
    status = {"last_enqueued_collective": 5, "last_started_collective": -1, "last_completed_collective": 4}
    library = "nccl_version" if release == "2.5" else "comm_lib_version"
    top: dict[str, Any] = {
        "version": release, library: "2.27.3", "pg_config": groups, "pg_status": {"0": status, "2": status},
        "entries": list(records),
        "nccl_comm_state": {"0x5d1b2c3f4a5e6071": {"rank": "3", "nRanks": "4", "proxyTrace": "[" + " " * 300 + "]"}},
    }  # fmt: skip
    if not as_json:
        return pickle.dumps(top, protocol=2)
    top["pg_status"] = {name: {key: str(value) for key, value in status.items()} for name in top["pg_status"]}
    top["entries"] = [_plain(each) for each in records]
    if not records:
        del top["entries"]
    return json.dumps(top, sort_keys=True, separators=(",", ":")).encode()


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    told = {key: value for key, value in record.items() if key != "frames"}
    return told | {key: 0 for key, value in told.items() if key.startswith("time_") and value is None}
