"""fleet-runner job: on files alone, without a store, settings or a scheduler."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet_runner.core.jobs.event import Area
from fleet_runner.lab.job_deaths import AREAS, Cause, death
from tests.cli.conftest import Type

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
    ],
)
def test_what_cannot_be_asked_for_is_told(bare: Type, words: tuple[str, ...], told: str) -> None:
    said = bare("job", *words)
    assert said.code == 2
    assert told in said.err
