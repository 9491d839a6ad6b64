"""The ssh host keys of nodes that told them when they booted: a file for each address, of which ssh reads the one."""

import os
import shlex
import tempfile
from collections.abc import Iterable
from pathlib import Path

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.boot import host_keys
from fleet_runner.settings import Settings


def folder(settings: Settings) -> Path:
    """Return where they are kept."""
    return settings.state_dir / "known_hosts"


def pin(into: Path, host: str, port: int, keys: Iterable[str]) -> bool:
    """Keep what a host told in place of what it told before; False where it told no usable key, and none is kept.

    Raises:
        FleetError: the name cannot be that of a file, or the file cannot be written or removed.
    """
    text = host_keys.known_hosts(host, port, keys)
    if not host_keys.is_host(host):
        raise FleetError(f"host keys of {host!r} are not kept: expected an address or a name; correct ansible_host")
    try:
        if not text:
            (into / host).unlink(missing_ok=True)
            return False
        into.mkdir(mode=0o755, parents=True, exist_ok=True)
        descriptor, new = tempfile.mkstemp(dir=into, prefix=".new-")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(new).replace(into / host)
    except OSError as error:
        raise FleetError(f"host keys of {host} cannot be kept in {into}: {error.strerror}; correct it") from error
    return True


def ssh_args(files: Path) -> str:
    """Return ssh's words, as Ansible splits them: it looks there first, and then where a person's own keys are."""
    quoted = str(files).replace("%", "%%")
    option = f'UserKnownHostsFile="{quoted}/%h" ~/.ssh/known_hosts'
    return f"-o {shlex.quote(option)}"
