"""A TPM of the test's own: swtpm on 127.0.0.1, ended at the end."""

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.waiting import PATIENCE

TOOLS = {"swtpm": "swtpm", "tpm2_clear": "tpm2-tools"}


def why_not() -> str:
    """Say what is missing here; empty where nothing is."""
    missing = sorted(package for tool, package in TOOLS.items() if shutil.which(tool) is None)
    return f"not installed; apt-get install {' '.join(missing)}" if missing else ""


@contextlib.contextmanager
def tpm(folder: Path) -> Iterator[str]:
    """Run a TPM and return how tpm2-tools find it (TPM2TOOLS_TCTI)."""
    folder.mkdir()
    for _ in range(20):
        port = _free()
        process = subprocess.Popen([
            "swtpm", "socket", "--tpm2", "--tpmstate", f"dir={folder}",
            "--server", f"type=tcp,port={port},bindaddr=127.0.0.1",
            "--ctrl", f"type=tcp,port={port + 1},bindaddr=127.0.0.1", "--flags", "not-need-init,startup-clear",
        ], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            found = f"swtpm:host=127.0.0.1,port={port}"
            if _answers(process, found):
                yield found
                return
        finally:
            process.kill()
            process.wait()
    raise AssertionError("no TPM came up on any port")


def run(tcti: str, *argv: str) -> str:
    """Run one of tpm2-tools, which must succeed."""
    answer = subprocess.run([*argv, "-T", tcti], capture_output=True, text=True, check=True)
    return answer.stdout


def _answers(process: "subprocess.Popen[bytes]", tcti: str) -> bool:
    """Wait until the TPM answers; its port, or the one after it, may have been taken by somebody else meanwhile."""
    limit = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < limit:
        asked = ["tpm2_getcap", "properties-variable", "-T", tcti]
        if not subprocess.run(asked, capture_output=True, check=False).returncode:
            return True
        time.sleep(0.1)
    return False


def _free() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
