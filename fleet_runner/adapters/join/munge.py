"""The key that MUNGE has in common on all nodes of a Slurm cluster."""

from pathlib import Path

from fleet_runner.adapters.files import secret
from fleet_runner.core.base.errors import SettingsError

LEAST_BYTES, MOST_BYTES = 32, 1024
"""What munged takes as a key (munge 0.5.15, MUNGE_MINIMUM_SECRET_KEY_LEN and its maximum)."""


def key(path: Path) -> bytes:
    """Return the key, or raise SettingsError where munged would not take it."""
    found = secret.read(path, "a MUNGE key")
    if LEAST_BYTES <= len(found) <= MOST_BYTES:
        return found
    raise SettingsError(
        f"{path} has {len(found)} bytes, expected a MUNGE key of {LEAST_BYTES} to {MOST_BYTES}; "
        "copy /etc/munge/munge.key of the Slurm controller"
    )
