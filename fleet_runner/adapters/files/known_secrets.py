"""The secrets that this controller knows, so that nothing that leaves it holds one."""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from fleet_runner.core.inventory.records import Fleet
from fleet_runner.settings import Settings

SECRET = re.compile(r"(?i)pass|secret|token|key|credential|community|psk")
"""Names under which a file or a host variable keeps one."""

LONGEST = 1_000_000


def known(settings: Settings, fleet: Fleet | None) -> frozenset[str]:
    """Return every secret in the files that the settings name, the environment, and the devices' host variables."""
    found: set[str] = set()
    for file in (settings.bmc_credentials, settings.boot_join):
        with contextlib.suppress(OSError, yaml.YAMLError, ValueError):
            found.update(_leaves(yaml.safe_load(_text(file)), secret=False))
    files = (
        settings.netbox_token_file, settings.netbox_webhook_secret, settings.bmc_vault_token_file,
        settings.boot_dhcp_token, settings.server_token_file,
    )  # fmt: skip
    for file in files:
        with contextlib.suppress(OSError, ValueError):
            found.add(_text(file).strip())
    found.update(value for name, value in os.environ.items() if name.startswith("FLEET_") and SECRET.search(name))
    for device in fleet.devices.values() if fleet is not None else ():
        found.update(_leaves(device.context, secret=False))
    return frozenset(found - {""})


def _leaves(value: Any, *, secret: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _leaves(each, secret=secret or SECRET.search(str(name)) is not None)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each, secret=secret)
    elif secret and isinstance(value, str | int) and not isinstance(value, bool):
        yield str(value)


def _text(file: Path | None) -> str:
    if file is None:
        return ""
    with file.open(encoding="utf-8") as opened:
        return opened.read(LONGEST)
