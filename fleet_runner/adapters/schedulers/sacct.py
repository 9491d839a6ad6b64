"""Slurm's accounting, asked with sacct as it is set up on this machine."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from typing import TypeVar

from fleet_runner.core.base.errors import EvidenceError, SchedulerError
from fleet_runner.core.base.printable import printable

SECONDS = 120.0
"""For one question: a month of a busy cluster takes slurmdbd some seconds."""

MOST_BYTES = 200_000_000

KEPT = ("SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT")

Answer = TypeVar("Answer")


def ask(words: Iterable[str], fields: Iterable[str], parse: Callable[[Iterable[str]], Answer]) -> Answer:
    """Return what a parser makes of the lines that sacct prints of all users' jobs, times in UTC.

    Raises:
        SchedulerError: there is no sacct, it fails, does not end, prints without end, or what it prints is no answer.
    """
    argv = ("sacct", "--allusers", "--noheader", "--parsable2", *words, f"--format={','.join(fields)}")
    tool = shutil.which(argv[0])
    if tool is None:
        raise SchedulerError("sacct is not on this machine; install Slurm's client commands where the runner runs")
    foreign = ("SLURM_", "SACCT_")
    environment = {key: value for key, value in os.environ.items() if key in KEPT or not key.startswith(foreign)}
    environment |= {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(  # noqa: S603  arguments are ours; no shell
                [tool, *argv[1:]], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, env=environment,
                timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise SchedulerError(f"sacct did not end in {SECONDS:g} s; is slurmdbd up?") from None
        if done.returncode != 0:
            said = " ".join(printable(done.stderr.decode(errors="replace")).split())[:200]
            raise SchedulerError(f"sacct: {said or 'it said nothing'}; does slurm.conf name a slurmdbd?")
        if out.seek(0, os.SEEK_END) > MOST_BYTES:
            raise SchedulerError(f"sacct printed {out.tell()} bytes, expected at most {MOST_BYTES}")
        out.seek(0)
        try:
            return parse(line.decode(errors="replace") for line in out)
        except EvidenceError as error:
            raise SchedulerError(f"Slurm: {error}") from error
