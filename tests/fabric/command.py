"""`fleet-runner cabling check` as a person runs it: files in, exit code and words out."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


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
    """Run any command in the folder."""
    done = subprocess.run(
        [sys.executable, "-m", "fleet_runner.cli", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    return Answer(done.returncode, " ".join(done.stdout.split()), " ".join(done.stderr.split()))
