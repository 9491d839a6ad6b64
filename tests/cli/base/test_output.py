"""Standard output that takes nothing more, and words that stay as they are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.core.cabling.discoveries import by_port
from tests.core.cabling.fabrics import rails

FULL = Path("/dev/full")
E = rails(6, 2)
CHECK = ("cabling", "check", "--expected", "cables.csv", "--observed", "fabric.txt")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A design, and a fabric that lacks a cable."""
    lines = "".join(f"{a.device},{a.interface},{b.device},{b.interface}\n" for a, b in E)
    (tmp_path / "cables.csv").write_text(lines, encoding="utf-8")
    (tmp_path / "fabric.txt").write_text(by_port(E[1:]), encoding="utf-8")
    return tmp_path


def into(folder: Path, output: int, *words: str) -> tuple[int, str]:
    """Run a command in a process of its own, as the last words are said when it ends."""
    done = subprocess.run(
        [sys.executable, "-m", "fleet_runner.cli", *words],
        cwd=folder, stdout=output, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(output)
    return done.returncode, " ".join(done.stderr.split())


@pytest.mark.parametrize("words", [CHECK, (*CHECK, "--json"), (*CHECK, "--csv"), ("--help",)])
def test_a_full_disk_under_standard_output_is_trouble_and_no_answer(folder: Path, words: tuple[str, ...]) -> None:
    """Exit code 1 would say that faults were found, and a traceback nothing."""
    code, said = into(folder, os.open(FULL, os.O_WRONLY), *words)
    assert (code, said) == (3, "error: standard output: No space left on device; write to a file system with room")


def test_a_full_disk_under_a_picture_is_trouble(folder: Path, typed: Type) -> None:
    said = typed(*CHECK, "--svg", str(FULL))
    assert said.code == 3
    assert "error: /dev/full: No space left on device; name a file on a file system with room" in said.err
    assert typed(*CHECK, "--svg", str(folder / "no" / "x.svg")).code == 2


def test_a_reader_that_has_read_enough_is_no_trouble(folder: Path) -> None:
    """`fleet-runner ... | head`."""
    reader, writer = os.pipe()
    os.close(reader)
    code, said = into(folder, writer, *CHECK, "--json")
    assert (code, said) == (0, "")


def test_a_closed_standard_output_takes_no_answer_and_is_no_trouble(folder: Path) -> None:
    """`fleet-runner ... >&-`: the store is not opened in its place."""
    closed = ["sh", "-c", 'exec "$@" <&- >&-', "sh", sys.executable, "-m", "fleet_runner.cli", *CHECK]
    done = subprocess.run(closed, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_names_that_look_like_emoji_stay_as_they_are(folder: Path, typed: Type) -> None:
    (folder / "cables.csv").write_text("gpu:x:01,ib0,leaf:+1:,1\ngpu:x:01\n", encoding="utf-8")
    said = typed(*CHECK)
    assert said.code == 2
    assert "gpu:x:01" in said.err
    (folder / "cables.csv").write_text("gpu:x:01,ib0,leaf:+1:,1\n", encoding="utf-8")
    assert "gpu:x:01 ib0" in typed(*CHECK).words
