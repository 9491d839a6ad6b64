"""Real jobs of PyTorch on processors, whose flight recorder dumps are written because something goes wrong.

`python -m tests.recording.jobs PYTHON FOLDER` records those that are not in the folder yet, as in `tests/evidence`.
"""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.recording.cases import CASES, Case

PROGRAM = Path(__file__).with_name("rank.py")
SECONDS = 600
"""How long a job may take: starting PyTorch eight times takes minutes on a busy computer."""


def record(case: Case, python: str, folder: Path) -> None:
    """Run a job in an empty folder until all ranks that can have written their dumps: rank_0 and rank_0.json.

    Raises:
        TimeoutError: not all did in time.
    """
    env = {**os.environ, "TORCH_FR_BUFFER_SIZE": "64", "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    with ExitStack() as started:
        ranks = [
            subprocess.Popen(
                [python, str(PROGRAM), str(rank), str(case.ranks), case.name, str(folder)],
                env=env,
                stderr=started.enter_context((folder / f"errors_{rank}").open("w")),
            )
            for rank in range(case.ranks)
        ]
        for each in ranks:
            started.callback(each.wait)
        for each in ranks:
            started.callback(each.kill)
        (folder / "dump").touch()
        until = time.monotonic() + SECONDS
        while not all((folder / f"rank_{rank}").exists() for rank in range(case.ranks) if rank not in case.silent):
            if time.monotonic() > until:
                raise TimeoutError(f"{case.name}: not all dumps came; {folder} has each rank's errors")
            time.sleep(0.1)


def made_up(raw: bytes, python: str) -> bytes:
    """Return a dump with paths that are nobody's, of the same length: a pickle tells each text's length before it."""
    for path in (str(PROGRAM.parent), str(Path(python).absolute().parent.parent)):
        raw = raw.replace(path.encode(), f"/srv/job/{'x' * len(path)}"[: len(path)].encode())
    return raw


if __name__ == "__main__":
    for _case in CASES:
        _kept = Path(sys.argv[2]) / _case.name
        if not _kept.exists():
            with TemporaryDirectory() as _folder:
                record(_case, sys.argv[1], Path(_folder))
                _kept.mkdir(parents=True)
                for _path in Path(_folder).glob("rank_*"):
                    (_kept / _path.name).write_bytes(made_up(_path.read_bytes(), sys.argv[1]))
