"""The user and password of a BMC: from the environment, from HashiCorp Vault, or from a file of its owner's alone."""

import os
import stat
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from fleet_runner.adapters.plays.credentials import HANDED, PASSWORD, USERNAME
from fleet_runner.adapters.redfish import vault
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.settings import Settings


def credentials(settings: Settings, url: str = "", name: str = "") -> tuple[str, str]:
    """Return the user name and password of the BMC at an address, of the device of a name.

    Raises:
        SettingsError: there are none, or what holds them is unusable; none of it is quoted.
    """
    if os.environ.get(USERNAME) or os.environ.get(PASSWORD):
        return _from_environment()
    if handed := os.environ.get(HANDED):
        return _chosen(_read(Path(handed), HANDED), handed, url, name)
    if settings.bmc_vault:
        return _chosen(vault.secret(settings), f"the Vault secret {settings.bmc_vault}", url, name)
    path = settings.bmc_credentials
    if path is None:
        raise SettingsError(
            "no BMC can be asked: set bmc_credentials to a YAML file with username and password, or bmc_vault,"
            f" or the variables {USERNAME} and {PASSWORD}"
        )
    return _chosen(_read(path, "bmc_credentials"), str(path), url, name)


def _from_environment() -> tuple[str, str]:
    username, password = os.environ.get(USERNAME, ""), os.environ.get(PASSWORD, "")
    if not username or not password:
        missing = PASSWORD if username else USERNAME
        raise SettingsError(f"the variable {missing} is not set, and its companion is; set both or none")
    return username, password


def trouble(settings: Settings) -> str:
    """Say what is wrong with the credentials of the environment or of the settings' file, whatever the device.

    "" where nothing is, where none are named, and where they come from elsewhere. Every node that needs its BMC would
    say the same.
    """
    path = settings.bmc_credentials
    try:
        if os.environ.get(USERNAME) or os.environ.get(PASSWORD):
            _from_environment()
        elif path is not None and not os.environ.get(HANDED) and not settings.bmc_vault:
            _check(_read(path, "bmc_credentials"), str(path))
    except SettingsError as error:
        return str(error)
    return ""


def _check(found: Any, where: str) -> None:
    """Raise unless there are credentials for all devices or for some, and each of them has its form."""
    devices = _devices(found, where)
    for pattern, mine in devices.items():
        _pair(mine, _of(pattern, where))
    if not devices or "username" in found or "password" in found:
        _pair(found, where)


def _read(path: Path, setting: str) -> Any:
    try:
        mode = path.stat().st_mode
        found: Any = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"{setting} names {path}, which cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError):
        # The parser's own words quote the line, and the line may hold the password: one that looks like a date, say.
        raise SettingsError(f"{path} is not YAML; expected two lines, username and password") from None
    if stat.S_IMODE(mode) & 0o077:
        raise SettingsError(f"{path} can be read by others than its owner; run: chmod 600 {path}")
    return found


def _chosen(found: Any, where: str, url: str, name: str) -> tuple[str, str]:
    """Return the credentials of the first pattern that fits the device, else those of all."""
    devices = _devices(found, where)
    for pattern, mine in devices.items():
        if any(fnmatchcase(known, str(pattern)) for known in _known_as(url, name)):
            return _pair(mine, _of(pattern, where))
    if devices and "username" not in found:
        raise SettingsError(f"{where} has no credentials for {name or url}; add the device, or username and password")
    return _pair(found, where)


def _devices(found: Any, where: str) -> Mapping[Any, Any]:
    devices = (found.get("devices") or {}) if isinstance(found, dict) else {}
    if not isinstance(devices, dict):
        raise SettingsError(f"devices in {where} must hold credentials by the devices' names, addresses or patterns")
    return devices


def _of(pattern: Any, where: str) -> str:
    return f"{where}, devices: {str(pattern)!r},"


def _known_as(url: str, name: str) -> list[str]:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:  # brackets that are no IPv6 address
        host = ""
    return [known for known in (name, url, url.rstrip("/"), host) if known]


def _pair(found: Any, where: str) -> tuple[str, str]:
    if not isinstance(found, Mapping) or not all(isinstance(found.get(key), str) for key in ("username", "password")):
        raise SettingsError(f"{where} must hold username and password as text; quote them if they look like numbers")
    return found["username"], found["password"]
