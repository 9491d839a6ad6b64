"""`fleet-runner cabling check` as a person runs it: files in, exit code and words out."""

from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest

from fleet_runner.cli import main


class Answer(NamedTuple):
    """What the command did; its words without their line breaks."""

    code: int
    out: str
    err: str


def check(folder: Path, observed: str, *options: str, expected: str = "site") -> Answer:
    """Run it on a design in the folder and on what was observed."""
    (folder / "fabric.txt").write_bytes(observed.encode())
    return run(folder, ["cabling", "check", "--expected", expected, "--observed", "fabric.txt", *options])


def run(folder: Path, words: Sequence[str]) -> Answer:
    """Run any command in the folder, in this process: to start Python anew takes longer than most of them."""
    code, out, err = 0, StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setattr("sys.argv", ["fleet-runner", *words])
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Answer(code, " ".join(out.getvalue().split()), " ".join(err.getvalue().split()))
