"""Where the code lies, and the file with the settings."""

import os
from pathlib import Path

from fleet_runner.core.base.errors import SettingsError

CODE_DIR = Path(__file__).resolve().parent.parent.parent
"""The folder that the package lies in, for PYTHONPATH: a clone, or site-packages."""

INSTALLED = CODE_DIR / "fleet_runner" / "project"
"""Where a wheel puts playbooks, roles and plugins; a clone has no such folder."""

PROJECT_DIR = INSTALLED if INSTALLED.is_dir() else CODE_DIR


def config_file() -> Path | None:
    """Return the settings file in use, or None when there is none."""
    named = os.environ.get("FLEET_CONFIG")
    path = Path(named) if named else Path("fleet.toml")
    if named and not path.is_file():
        raise SettingsError(f"FLEET_CONFIG names {path}, which is not a file; correct it or unset it")
    return path.resolve() if path.is_file() else None
