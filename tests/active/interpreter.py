"""A Python that has PyTorch, for the programs that need one."""

import os
import shutil
import subprocess
import sys
from functools import cache

import pytest

SETTING = "FLEET_TORCH_PYTHON"


@cache
def python() -> str:
    """Return a Python that has PyTorch: this one, or Debian's."""
    return _first((sys.executable, "/usr/bin/python3"), "import torch") or pytest.skip(
        "no Python here has PyTorch; scripts/debian-packages names what tests need"
    )


@cache
def with_flight_recorder() -> str:
    """Return a Python whose PyTorch records what gloo does, as 2.14: the one that is given, or this one."""
    program = "from torch._C._distributed_c10d import FlightRecorderHook"
    return _first((os.environ.get(SETTING, sys.executable),), program) or pytest.skip(
        f"no PyTorch with a flight recorder for gloo; {SETTING} names a Python that has one"
    )


def _first(candidates: tuple[str, ...], program: str) -> str:
    for candidate in candidates:
        if shutil.which(candidate):
            done = subprocess.run([candidate, "-c", program], capture_output=True, check=False)
            if not done.returncode:
                return candidate
    return ""
