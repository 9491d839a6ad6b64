"""A Python that has PyTorch, for the programs that need one."""

import shutil
import subprocess
import sys
from functools import cache

import pytest


@cache
def python() -> str:
    """Return a Python that has PyTorch: this one, or Debian's."""
    for candidate in (sys.executable, "/usr/bin/python3"):
        if shutil.which(candidate):
            done = subprocess.run([candidate, "-c", "import torch"], capture_output=True, check=False)
            if not done.returncode:
                return candidate
    pytest.skip("no Python here has PyTorch; scripts/debian-packages names what tests need")
