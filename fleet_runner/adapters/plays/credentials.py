"""Hands BMC credentials that are in the environment over to a play, so that they are written down nowhere.

ansible-runner writes the environment of every play into a file of its artifacts.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

USERNAME, PASSWORD = "FLEET_BMC_USERNAME", "FLEET_BMC_PASSWORD"
HANDED = "FLEET_BMC_HANDED"
"""Names the file that `handed` made."""


@contextmanager
def handed(environment: dict[str, str]) -> Iterator[None]:
    """Take the credentials out of an environment, and let those who get it read them nevertheless.

    They go into memory without a name, which only this user's processes can open, as long as this process has it.
    """
    found = {"username": environment.pop(USERNAME, ""), "password": environment.pop(PASSWORD, "")}
    if not any(found.values()):
        yield
        return
    handle = os.memfd_create("fleet-bmc", os.MFD_CLOEXEC)
    try:
        os.fchmod(handle, 0o600)
        os.write(handle, json.dumps(found).encode())
        environment[HANDED] = f"/proc/{os.getpid()}/fd/{handle}"
        yield
    finally:
        os.close(handle)
