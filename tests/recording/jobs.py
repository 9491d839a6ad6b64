"""Real jobs of PyTorch on processors, whose flight recorder dumps are written because something goes wrong."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from tests.recording.cases import CASES, Case

PROGRAM = Path(__file__).with_name("rank.py")


def record(case: Case, python: str, folder: Path) -> None:
    """Run a job in an empty folder until all ranks that can have written their dumps: rank_0 and rank_0.json.

    Raises:
        TimeoutError: not all did within two minutes.
    """
    env = {**os.environ, "TORCH_FR_BUFFER_SIZE": "64", "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    with ExitStack() as started:
        ranks = [
            subprocess.Popen(
                [python, str(PROGRAM), str(rank), str(case.ranks), case.name, str(folder)],
                env=env,
                stderr=(folder / f"errors_{rank}").open("w"),
            )
            for rank in range(case.ranks)
        ]
        for each in ranks:
            started.callback(each.wait)
        for each in ranks:
            started.callback(each.kill)
        (folder / "dump").touch()
        until = time.monotonic() + 120
        while not all((folder / f"rank_{rank}").exists() for rank in range(case.ranks) if rank not in case.silent):
            if time.monotonic() > until:
                raise TimeoutError(f"{case.name}: not all dumps came; {folder} has each rank's errors")
            time.sleep(0.1)


if __name__ == "__main__":
    for _case in CASES:
        _folder = Path(sys.argv[2]) / _case.name
        _folder.mkdir(parents=True)
        record(_case, sys.argv[1], _folder)
