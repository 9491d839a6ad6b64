"""What one rank's flight recorder wrote."""

import json
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.jobs import plain_pickle
from fleet_runner.core.jobs.flight_recorder import Dump, Frame, Group, State, rank_of, read

HANG = Path(__file__).resolve().parents[2] / "evidence" / "flight_recorder" / "hang"
REAL = (HANG / "rank_3").read_bytes()
RECORD: dict[str, Any] = {
    "process_group": ["0", "default_pg"],
    "profiling_name": "nccl:all_reduce",
    "collective_seq_id": 1,
}


def of(*records: object, **more: object) -> Dump:
    """Return what is read of a dump with these records."""
    return read(json.dumps({"version": "2.5", "entries": records} | more).encode(), 0)


@given(st.binary(max_size=300), st.integers(0, len(REAL)), st.integers(0, 255))
def test_no_bytes_raise_anything_but_an_evidence_error(noise: bytes, at: int, byte: int) -> None:
    """Noise, noise behind half a dump, a dump with one byte changed."""
    changed = REAL[:at] + bytes([byte]) + REAL[at + 1 :]
    for raw in (noise, b"\x80\x02" + noise, b"{" + noise, REAL[:at] + noise, changed):
        with suppress(EvidenceError):
            assert read(raw, 3).rank == 3


@pytest.mark.parametrize("name", ["rank_3", "rank_3.json"])
def test_a_dump_cut_anywhere_is_refused(name: str) -> None:
    """Else a rank would seem to be behind."""
    raw = (HANG / name).read_bytes()
    for end in range(len(raw)):
        with pytest.raises(EvidenceError):
            read(raw[:end], 3)


def test_a_cut_dump_says_how_much_was_whole() -> None:
    """Of five records."""
    with pytest.raises(EvidenceError, match=r"ends at byte 1,600, unfinished, after 3 whole records: the newest are"):
        read(REAL[:1600], 3)


def test_a_real_dump_is_read() -> None:
    """PyTorch 2.14.1; in JSON it is the same but for the stacks."""
    dump = read(REAL, 3)
    assert (dump.rank, dump.version, dump.groups) == (3, "2.10", (Group("", "", (0, 1, 2, 3)),))
    assert [each.collective for each in dump.entries] == [1, 2, 3, 4, 5]
    last = dump.entries[-1]
    assert (last.group, last.description, last.name) == ("0", "default_pg", "gloo:all_reduce")
    assert (last.backend, last.kind, last.state, last.retired) == ("gloo", "all_reduce", State.SCHEDULED, False)
    assert (last.inputs, last.input_types, last.timeout_ms) == (((1024,),), ("Float",), 300_000)
    assert last.frames[0].function == "step"
    same = read((HANG / "rank_3.json").read_bytes(), 3)
    assert [(one.collective, one.created, one.retired, one.started) for one in same.entries] == [
        (one.collective, one.created, one.retired, one.started) for one in dump.entries
    ]


def test_every_key_of_an_nccl_record_is_read() -> None:
    """Times that JSON gives as 0 did not happen."""
    more = {
        "record_id": 4, "p2p_seq_id": 2, "op_id": 3, "profiling_name": "nccl:send 1->2", "is_p2p": True,
        "state": "started", "retired": True, "input_sizes": [[2, 3], []], "output_sizes": [[4]],
        "input_dtypes": ["Float", "Float"], "output_dtypes": ["BFloat16"], "time_created_ns": 7,
        "time_discovered_started_ns": 8, "time_discovered_completed_ns": 0, "timeout_ms": 600000,
        "frames": [
            {"name": "send", "filename": "/opt/lib/python3.11/site-packages/torch/distributed/x.py", "line": 1},
            {"name": "f", "filename": "/src/train.py", "line": 2},
            {"name": "g", "filename": "/src/train.py", "line": 3},
            {"name": "h", "filename": "/src/train.py", "line": 4},
            {"name": "i", "filename": "/src/train.py", "line": 5},
        ],
    }  # fmt: skip
    dump = of(RECORD | more, comm_lib_version="2.27.3", pg_config={"0": {"name": "0", "desc": "x", "ranks": [1, 0]}})
    (found,) = dump.entries
    assert (found.record, found.p2p, found.operation, found.is_p2p, found.kind) == (4, 2, 3, True, "send")
    assert (found.inputs, found.outputs) == (((2, 3), ()), ((4,),))
    assert (found.created, found.started, found.completed) == (7, 8, None)
    assert found.frames == tuple(Frame(name, "/src/train.py", line) for name, line in (("f", 2), ("g", 3), ("h", 4)))
    assert (dump.library, dump.groups) == ("2.27.3", (Group("0", "x", (0, 1)),))


def test_keys_that_older_releases_lack_may_be_missing() -> None:
    """A send is known by its name; a stack without the caller's frames gives PyTorch's own."""
    frames = [{"name": "all_reduce", "filename": "/src/torch/distributed/x.py", "line": 9}]
    first, second = of(RECORD | {"frames": frames}, RECORD | {"profiling_name": "send 0->1"}).entries
    assert (first.is_p2p, first.state, first.created, first.inputs) == (False, State.SCHEDULED, None, ())
    assert first.frames == (Frame("all_reduce", "/src/torch/distributed/x.py", 9),)
    assert (second.is_p2p, second.backend, second.kind) == (True, "", "send")
    assert read(b'{"version": "2.0"}', 0) == Dump(0, "2.0", "", (), ())


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "an empty file"),
        (b"PK\x03\x04", "another form"),
        (b'{"version": "2.1", "entries": [', "JSON that cannot be read to its end"),
        (b'{"version":' + b"[" * 100_000, "JSON that cannot be read to its end"),
        (b"{}", "found no version"),
        (b"\x80\x02].", "found no version"),
        (b'{"version": 2}', "version: found int, expected text"),
        (b'{"version": "1.5"}', r"found version 1.5, expected 2.x"),
        (b'{"version": "two"}', r"found version two"),
        (b'{"version": "2.1", "entries": {}}', "entries of another form"),
        (b'{"version": "2.1", "pg_config": []}', "pg_config or entries of another form"),
        (b'{"version": "2.1", "pg_config": {"0": 1}}', "a process group: found int"),
        (b'{"version": "2.1", "pg_config": {"0": {"name": "0", "ranks": "all"}}}', "ranks: found all, expected"),
        (b'{"version": "2.1", "pg_config": {"0": {"name": "0", "ranks": [-1]}}}', "sizes: found list"),
        (b'{"version": "2.1", "entries": [1]}', "a record: found int"),
    ],
)
def test_what_is_no_dump_says_what_was_found(raw: bytes, said: str) -> None:
    """Form, version, and what stands in it."""
    with pytest.raises(EvidenceError, match=said):
        read(raw, 0)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"process_group": "0"}, "process_group: found 0, expected its name"),
        ({"process_group": ["0", 1]}, "process_group: found list"),
        ({"collective_seq_id": None}, "collective_seq_id: found NoneType, expected a whole number"),
        ({"collective_seq_id": True}, "collective_seq_id: found bool"),
        ({"op_id": -1}, "op_id: found int"),
        ({"state": "done"}, "state: found done, expected scheduled, started or completed"),
        ({"input_sizes": 3}, "sizes: found int, expected a list"),
        ({"input_sizes": [["a"]]}, "sizes: found list, expected whole numbers"),
        ({"frames": [1]}, "a frame: found int"),
    ],
)
def test_a_record_of_another_form_is_refused(more: dict[str, object], said: str) -> None:
    """Each of them would be placed wrongly."""
    with pytest.raises(EvidenceError, match=said):
        of(RECORD | more)


def test_a_file_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON, too."""
    monkeypatch.setattr(plain_pickle, "MOST_BYTES", 10)
    with pytest.raises(EvidenceError, match="found 18 bytes, expected at most 10"):
        read(b'{"version": "2.1"}', 0)


def test_a_record_that_is_repeated_a_million_times_is_read_once() -> None:
    """A small file of references must not become hours of work."""
    row = RECORD | {"input_sizes": [[1] * 1000] * 1000, "frames": [{"filename": "/site-packages/x"}] * 1000}
    dump = read(pickle.dumps({"version": "2.10", "entries": [row] * 100_000}, 2), 0)
    assert len({id(each) for each in dump.entries}) == 1


def test_text_of_a_tenant_is_made_safe_to_show() -> None:
    """And cut."""
    (found,) = of(RECORD | {"profiling_name": "nccl:\x1b[31m" + "x" * 900}).entries
    assert found.name.startswith("nccl:\ufffd[31mxxx")
    assert len(found.name) == 300


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("nccl_trace_rank_17", 17),
        ("comm_lib_trace_rank_0", 0),
        ("/tmp/nccl_trace_rank_node02_5", 5),  # noqa: S108  a name, and nothing is written there
        ("rank_3.json", 3),
        ("rank_3.pickle", 3),
        ("rank_3.txt", None),
        ("dump", None),
    ],
)
def test_a_file_is_named_after_its_rank(name: str, rank: int | None) -> None:
    """PyTorch puts the rank behind TORCH_FR_DUMP_TEMP_FILE."""
    assert rank_of(name) == rank
