"""A DHCP server's own program, asked what it thinks of a configuration; nothing is served."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from fleet_runner.core.base.errors import SettingsError

SECONDS = 60.0
"""How long a program may read its configuration; Kea takes two seconds for 20,000 nodes."""


def refusal(test: Sequence[str], text: str) -> str:
    """Return what the program has against a configuration, "" for nothing; `test` is its command without the file."""
    program = shutil.which(test[0], path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if program is None:
        raise SettingsError(f"{test[0]} is not installed here; test the configuration on the boot server")
    with TemporaryDirectory(prefix="fleet-dhcp-") as folder:
        file = Path(folder) / "config"
        file.write_text(text, encoding="utf-8")
        # Kea wants to write a lock beside its logs, even if it logs nothing.
        environment = {**os.environ, "KEA_LOCKFILE_DIR": folder, "KEA_PIDFILE_DIR": folder, "LC_ALL": "C"}
        try:
            done = subprocess.run(  # noqa: S603  a server's own test of its configuration
                [program, *test[1:], file],
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=SECONDS,
                env=environment,
            )
        except subprocess.TimeoutExpired as error:
            raise SettingsError(
                f"{program} did not test its configuration within {SECONDS:g} s; try again"
            ) from error
        said = " ".join((done.stderr or done.stdout).replace(str(file), "line").split())
    return said or f"it ended with {done.returncode}" if done.returncode else ""
