"""The user and password of the BMCs, from a file that only its owner reads."""

import stat
from typing import Any

import yaml

from fleet_runner.core.errors import SettingsError
from fleet_runner.settings import Settings


def credentials(settings: Settings) -> tuple[str, str]:
    """Return user name and password from the file that `bmc_credentials` names."""
    path = settings.bmc_credentials
    if path is None:
        raise SettingsError("no BMC can be asked: set bmc_credentials to a YAML file with username and password")
    try:
        mode = path.stat().st_mode
        found: Any = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"bmc_credentials names {path}, which cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError):
        # The parser's own words quote the line, and the line may hold the password.
        raise SettingsError(f"{path} is not YAML; expected two lines, username and password") from None
    if stat.S_IMODE(mode) & 0o077:
        raise SettingsError(f"{path} can be read by others than its owner; run: chmod 600 {path}")
    if not isinstance(found, dict) or not all(isinstance(found.get(key), str) for key in ("username", "password")):
        raise SettingsError(f"{path} must hold username and password as text; quote them if they look like numbers")
    return found["username"], found["password"]
