"""The source of truth as Ansible's inventory: devices and fabrics, their groups and variables, the designed links."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin
from ansible.utils.display import Display

from fleet_runner.core import inventory as ansible_view
from fleet_runner.core.errors import FleetError

if TYPE_CHECKING:
    from fleet_runner.core.records import Fleet

DOCUMENTATION = r"""
name: fleet
short_description: Devices and InfiniBand fabrics of the source of truth that the settings name
description:
  - Reads the site files or the NetBox that fleet.toml names; the inventory file only asks for this plugin.
  - Values from the source of truth are data; a template in them is not evaluated.
options:
  plugin: {description: The name of this plugin., type: str, required: true, choices: [fleet]}
author: [fleet-runner]
"""

EXAMPLES = r"""
---
plugin: fleet
"""

FABRICS = "fabrics"  # InfiniBand fabrics: hosts without an address, read through the nodes in them
KEPT = 10  # fabric files: plays that still run may read an older one


class InventoryModule(BaseInventoryPlugin):
    NAME = "fleet"

    def verify_file(self, path: str) -> bool:
        """Take files that are named after the plugin."""
        return super().verify_file(path) and Path(path).name in {"fleet.yml", "fleet.yaml"}

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:  # noqa: FBT001, FBT002  Ansible's
        """Add every device; a source that cannot be read is one error with all that is wrong with it."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        from fleet_runner import settings, source  # noqa: PLC0415  Ansible loads this file for every inventory

        try:
            configured = settings.load()
            fleet = source.read(configured)
        except FleetError as error:
            raise AnsibleParserError(str(error)) from error
        fabrics = ansible_view.fabric_hostvars(fleet)
        for name, variables in {**fabrics, **ansible_view.all_hostvars(fleet)}.items():
            self.inventory.add_host(name)
            for key, value in variables.items():
                self.inventory.set_variable(name, key, value)
        for group, members in {**ansible_view.groups(fleet), FABRICS: list(fabrics)}.items():
            self.inventory.add_group(group)
            for member in members:
                self.inventory.add_child(group, member)
        self._offer_fabric(fleet, configured.state_dir / "cache")
        if configured.boot_url:
            from fleet_runner.adapters import known_hosts  # noqa: PLC0415  likewise

            words = known_hosts.ssh_args(known_hosts.folder(configured))
            self.inventory.set_variable("nodes", "ansible_ssh_common_args", words)

    def _offer_fabric(self, fleet: Fleet, folder: Path) -> None:
        """Put the designed links into a file; one copy per device would drown the inventory."""
        try:
            file = keep_fabric(fleet, folder)
        except OSError as error:
            Display().warning(f"the designed links cannot be kept under {folder}: {error}; cabling will be UNKNOWN")
        else:
            self.inventory.set_variable("all", "fleet_fabric_file", str(file))


def keep_fabric(fleet: Fleet, folder: Path) -> Path:
    """Write the designed links under their form and revision, whole or not at all, and drop the oldest of others."""
    revision = re.sub("[^A-Za-z0-9.-]", "_", fleet.revision) or "none"
    file = folder / f"fabric-{ansible_view.FORM}-{revision}.json"
    if not file.is_file():
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        descriptor, new = tempfile.mkstemp(dir=folder, prefix=".fabric-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                json.dump(ansible_view.fabric(fleet), stream)
                stream.flush()
                os.fsync(stream.fileno())
            Path(new).replace(file)
        except BaseException:
            Path(new).unlink(missing_ok=True)
            raise
    else:
        with contextlib.suppress(OSError):
            file.touch()  # in use: the newest are kept
    others = sorted(folder.glob("fabric-*.json"), key=_age, reverse=True)
    for old in others[KEPT:]:
        old.unlink(missing_ok=True)
    return file


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0  # somebody else dropped it
