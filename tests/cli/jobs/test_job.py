"""fleet-runner job: on files alone, without a store, settings or a scheduler; and with a fleet's."""

import gzip
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import errors
from fleet_runner.cli.checks import pasted_files
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.jobs.event import Area
from fleet_runner.lab.job_deaths import AREAS, Cause, death
from tests.cli.conftest import Type
from tests.core.jobs import nccl_dumps
from tests.making import an_alarm

Written = Callable[[Cause, int], str]


@pytest.fixture
def bare(typed: Type, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Run it as somebody does who has no settings."""
    for name in ("FLEET_STATE_DIR", "FLEET_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return typed


@pytest.fixture
def logs(tmp_path: Path) -> Written:
    """Return who writes the files of a job's death into a folder, and names it."""

    def write(cause: Cause, seed: int) -> str:
        folder = tmp_path / "logs"
        folder.mkdir()
        for name, text in death(seed, cause).files.items():
            (folder / name).write_text(text)
        return "logs"

    return write


def test_a_gpu_that_failed_is_named_on_eighty_columns(bare: Type, logs: Written) -> None:
    made = death(3, Cause.GPU)
    said = bare("job", "--log", logs(Cause.GPU, 3), "--from", "2026-11-18T14:00", "--to", "2026-11-18T15:32:22")
    assert said.code == 1
    assert max(map(len, said.out.splitlines())) <= 80
    assert f"Hardware: it began at {made.node}, GPU 0000:" in said.words
    assert f"What to do resubmit without {made.node}" in said.words
    assert "began here:" in said.out
    assert "time zone" not in said.words, "--from and --to told it"
    assert "--from and --to (in UTC) would tell" in bare("job", "--log", "logs").words
    assert said.err == ""


@pytest.mark.parametrize(("cause", "code"), [(Cause.BUG, 0), (Cause.LINK, 1), (Cause.HANG, 3)])
def test_the_exit_code_says_whose_it_is(bare: Type, logs: Written, cause: Cause, code: int) -> None:
    said = bare("job", "--json", "--log", logs(cause, 5))
    assert said.code == code
    told = json.loads(said.out)
    assert told["area"] == AREAS[cause]
    assert told["job"]["nodes"]


def test_files_that_are_none_are_told_and_the_others_read(bare: Type, logs: Written, tmp_path: Path) -> None:
    folder = tmp_path / logs(Cause.BUG, 5)
    (folder / "nothing.txt").write_text("hello\n")
    (folder / "empty").touch()
    (folder / "trace_rank_3").write_bytes(b"\x80\x04garbage")
    (folder / "dump.pkl").write_bytes(b"\x80\x04garbage")
    (folder / "huge_rank_4.json").write_text('{"pg_config": ')
    (folder / "rank_5.log.gz").write_bytes(gzip.compress(b"2026-11-18 15:00:00 step 4\n"))
    (folder / "link").symlink_to("/etc/passwd")
    said = bare("job", "--json", "--log", "logs")
    assert said.code == 0
    warned = said.err.splitlines()
    for name in ("nothing.txt", "empty", "trace_rank_3", "dump.pkl", "huge_rank_4.json"):
        assert sum(name in line for line in warned) == 1, name
    assert len(warned) == 5
    assert json.loads(said.out)["area"] == Area.SOFTWARE.value


@pytest.mark.parametrize(
    ("name", "rank", "source"),
    [
        ("none_x1/attempt_0/3/stderr.log", None, "the job's output, local rank 3"),
        ("attempt_0/3/stdout.log.gz", None, "the job's output, local rank 3"),
        ("local_rank_3.log", None, "the job's output, local rank 3"),
        ("node-rank-3.log", None, "the job's output"),
        ("3/train.log", None, "the job's output"),
        ("global_rank_3.log", 3, "the job's output"),
        ("RANK3.err", 3, "the job's output"),
    ],
)
def test_a_rank_on_its_node_is_not_taken_for_the_jobs(
    bare: Type, tmp_path: Path, name: str, rank: int | None, source: str
) -> None:
    """What torchrun's folders tell is said, and names no rank."""
    path = tmp_path / "logs" / name
    path.parent.mkdir(parents=True)
    text = b"Traceback (most recent call last):\n  File 'train.py'\nKeyError: 'tokens'\n"
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    origin = json.loads(bare("job", "--json", "--log", "logs").out)["origin"]
    assert (origin["rank"], origin["source"]) == (rank, source)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "no job is named; expected a job's id, or --node with --from, or --log with its output"),
        (("4711", "--node", "gpu-01"), "the scheduler tells the nodes and times of a job"),
        (("--node", "gpu-01"), "it is not told when the work began"),
        (("--from", "3h"), "no job is named"),
        (("--log", "absent", "--to", "3h"), "it is not told when the work began"),
        (("--node", "a", "--from", "1h", "--to", "2h"), "--to 2h is not after --from 1h"),
        (("--node", "a", "--from", "yesterday"), "'yesterday' is not a span of time"),
        (("--log", "absent"), "absent: there is no such file or folder"),
        (("--log", "/dev/null"), "/dev/null: it is no file but a pipe or a device; give its text to --log -"),
        (("--log", "."), "no file is in this folder; links are not followed"),
    ],
)
def test_what_cannot_be_asked_for_is_told(bare: Type, words: tuple[str, ...], told: str) -> None:
    said = bare("job", *words)
    assert said.code == 2
    assert told in said.err


def test_folders_that_are_too_deep_are_told(bare: Type, tmp_path: Path) -> None:
    """Deeper than Python can follow."""
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("a", dir_fd=at)
        deeper = os.open("a", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = deeper
    os.close(at)
    said = bare("job", "--log", ".")
    top, aside = tmp_path / "a", tmp_path / "b"
    while (top / "a").exists():  # what removes a whole tree goes no deeper than Python, either
        (top / "a").rename(aside)
        top.rmdir()
        aside.rename(top)
    assert said.code == 2
    assert "its folders are too deep to be read" in said.err


def test_many_files_say_how_far_it_is(bare: Type, logs: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, once it takes long; each large file says so of itself."""
    monkeypatch.setattr(pasted_files, "SLOW", 0.0)
    monkeypatch.setattr(pasted_files, "PAUSE", -1.0)
    folder = logs(Cause.BUG, 5)
    assert "files read" not in bare("job", "--log", folder).err
    monkeypatch.setattr(type(errors), "is_terminal", True)
    assert "\n2 of " in bare("job", "--log", folder).err


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return the store of the fleet that commands see, with two nodes in production."""
    (tmp_path / "state").mkdir()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as found:
        found.register([Device(name, "h100", "gpu-server", "hall") for name in ("gpu-01", "gpu-02")], NOW - 9e5)
        yield found


NOW = time.time()
DIED = NOW - 1_800


def test_what_the_store_knows_is_told_and_the_answer_kept(typed: Type, store: Store) -> None:
    """A signal of a node in that time is the cause; the store keeps one answer, however often it is asked for."""
    alarm = an_alarm(code="xid.79", fault="gpu-01/xid.79/GPU 3", remedy=Remedy.POWER_CYCLE, id=0, first_at=DIED,
                     last_at=DIED, heard_at=DIED, raised_at=DIED)  # fmt: skip
    store.keep_alarms(["gpu-01"], lambda _: [alarm], DIED)
    words = ("job", "--node", "gpu-01,gpu-02", "--from", "3h", "--to", "25m")
    said = typed(*words)
    assert said.code == 1
    assert "Hardware: it began at gpu-01, GPU 3: Xid 79, the GPU has fallen off the bus." in said.words
    assert "gpu-01 is out of production" in said.words
    assert typed(*words, "--json").code == 1
    (kept,) = store.answers(NOW - 9e5, NOW)[:1]
    assert (kept.area, kept.code, kept.node) == (Area.HARDWARE, "xid.79", "gpu-01")


def test_without_a_scheduler_a_jobs_number_says_what_to_give(typed: Type, store: Store) -> None:
    """Nothing is kept of it."""
    said = typed("job", "4711")
    assert said.code == 2
    assert "scheduler is none, so nobody can be asked about job 4711" in said.err
    assert store.answers(0.0, NOW) == ()


@pytest.mark.parametrize(
    ("case", "code", "told"),
    [
        ("size", 0, "Software: it began at rank 3"),
        ("hang", 3, "Look at rank 2 first."),
        ("leave", 3, "Look at rank 1 first."),
        ("groups", 3, "Look at rank 5 first."),
        ("whole", 3, "nothing was found that ended it"),
    ],
)
def test_dumps_of_real_jobs_name_the_rank(bare: Type, evidence: Path, case: str, code: int, told: str) -> None:
    """PyTorch wrote these, of jobs that really went wrong."""
    said = bare("job", "--log", str(evidence / "flight_recorder" / case))
    assert said.code == code
    assert told in said.words


@pytest.mark.parametrize("release", ["2.5", "2.10"])
def test_dumps_of_nccl_as_json_are_known_by_what_they_begin_with(bare: Type, tmp_path: Path, release: str) -> None:
    """In JSON of older releases the records come first, and everything else far behind them."""
    done = [nccl_dumps.record(number) for number in range(1, 40)]
    for rank in range(4):
        mine = done if rank == 2 else [*done, nccl_dumps.record(40, state="started")]
        text = nccl_dumps.written(mine, release, as_json=True)
        (tmp_path / f"comm_lib_trace_rank_{rank}.json").write_bytes(text)
    said = bare("job", "--log", ".")
    assert "rank 2 never joined all_reduce 40" in said.words
    assert said.err == ""
