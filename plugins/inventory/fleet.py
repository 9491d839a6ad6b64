"""The source of truth as Ansible's inventory: devices and fabrics, their groups and variables, the designed links."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable
from ansible.utils.display import Display

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.inventory import ansible as ansible_view
from fleet_runner.core.inventory.bmc_address import networks

if TYPE_CHECKING:
    from fleet_runner.core.inventory.records import Fleet
    from fleet_runner.settings import Settings

DOCUMENTATION = r"""
name: fleet
short_description: Devices and fabrics of the source of truth that the settings name
description:
  - Reads the site files or the NetBox that fleet.toml names; the inventory file only has to ask for this plugin.
  - Groups are nodes, fabrics, and those by device_type, site, location, rack, role and tenant; and from the store,
    where there is one, those by state and condition.
  - Values from the source of truth are data; a template in them is not evaluated.
options:
  plugin: {description: The name of this plugin., type: str, required: true, choices: [fleet]}
extends_documentation_fragment: [constructed, inventory_cache]
author: [fleet-runner]
"""

EXAMPLES = r"""
---
plugin: fleet
---
plugin: fleet
strict: true
compose:
  ansible_port: 2222 if fleet_device.site == 'hall-1' else 22
groups:
  ndr: fleet_device.interfaces | selectattr('kind', 'eq', 'infiniband-ndr')
keyed_groups:
  - {prefix: status, key: fleet_device.status}
"""

KEPT = 10  # fabric files: plays that still run may read an older one
CONSTRUCTED = ("compose", "groups", "keyed_groups")


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    NAME = "fleet"

    _sanitize_group_name = staticmethod(ansible_view.plain)

    def verify_file(self, path: str) -> bool:
        """Take files that are named after the plugin."""
        return super().verify_file(path) and Path(path).name in {"fleet.yml", "fleet.yaml"}

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:  # noqa: FBT001, FBT002  Ansible's
        """Add every device; a source that cannot be read is one error with all that is wrong with it."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        from fleet_runner import settings  # noqa: PLC0415  Ansible loads this file for every inventory

        try:
            configured = settings.load()
            view = self._view(configured, path, may_be_old=cache)
        except FleetError as error:
            raise AnsibleParserError(str(error)) from error
        for name, variables in view["hosts"].items():
            self.inventory.add_host(name)
            for key, value in variables.items():
                self.inventory.set_variable(name, key, value)
        self._add(view["groups"])
        if view["fabric"]:
            self.inventory.set_variable("all", "fleet_fabric_file", view["fabric"])
        if configured.boot_url:
            from fleet_runner.adapters.files import known_hosts  # noqa: PLC0415  likewise

            words = known_hosts.ssh_args(known_hosts.folder(configured))
            self.inventory.set_variable("nodes", "ansible_ssh_common_args", words)
        self._add_states(configured, view["groups"]["nodes"])
        if any(map(self.get_option, CONSTRUCTED)):
            for name in view["hosts"]:
                self._construct(name)

    def _view(self, configured: Settings, path: str, *, may_be_old: bool) -> dict[str, Any]:
        """Return what the source says now, or, where a cache is wanted and not to be renewed, what it said."""
        source_named = hashlib.sha256(
            f"{configured.source} {configured.state_dir} {configured.bmc_networks}".encode()
        ).hexdigest()[:12]
        key = f"{self.get_cache_key(path)}_{ansible_view.VIEW}_{ansible_view.FORM}_{source_named}"
        kept = self.cache.get(key) if self.get_option("cache") and may_be_old else None
        if kept is not None and (not kept["fabric"] or Path(kept["fabric"]).is_file()):
            return dict(kept)
        import structlog  # noqa: PLC0415  as above

        from fleet_runner.adapters import source  # noqa: PLC0415  as above

        if not structlog.is_configured():  # standard output is for what ansible-inventory prints
            structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))
        fleet = source.read(configured, as_kept="FLEET_BATCH" in os.environ)
        allowed = networks(configured.bmc_networks)
        view = {**ansible_view.view(fleet, allowed), "fabric": _offer(fleet, configured.state_dir / "cache")}
        for variables in view["hosts"].values():
            if refused := variables.get("fleet_bmc_refused"):
                Display().warning(refused)
        if "://" in configured.source and (lost := ansible_view.disarm(view["hosts"])):
            text = f"the NetBox's config contexts set {', '.join(lost)} to what could run something here"
            Display().warning(f"{text}; left out. Set it in group_vars or host_vars beside the inventory")
        if self.get_option("cache"):
            self.cache[key] = view
        return view

    def _add(self, groups: dict[str, list[str]]) -> None:
        for group, members in groups.items():
            self.inventory.add_group(group)
            for member in members:
                self.inventory.add_child(group, member)

    def _add_states(self, configured: Settings, members: list[str]) -> None:
        """Add the groups by state and condition as they are now, whatever a cache holds; plays can do without."""
        from fleet_runner.adapters import store_snapshot  # noqa: PLC0415  as above

        try:
            rows = store_snapshot.states(configured.store_url)
        except FleetError as error:
            Display().warning(f"{error}; there are no groups by state and condition")
        else:
            self._add(ansible_view.standing_groups(members, rows))

    def _construct(self, name: str) -> None:
        """Add what the inventory file composes. Its expressions are evaluated, and never the values they find."""
        strict = self.get_option("strict")
        variables = self.inventory.get_host(name).get_vars()
        self._set_composite_vars(self.get_option("compose"), variables, name, strict)
        self._add_host_to_composed_groups(self.get_option("groups"), variables, name, strict)
        self._add_host_to_keyed_groups(self.get_option("keyed_groups"), variables, name, strict)


def _offer(fleet: Fleet, folder: Path) -> str:
    """Put the designed links into a file; one copy per device would drown the inventory."""
    try:
        return str(keep_fabric(fleet, folder))
    except OSError as error:
        Display().warning(f"the designed links cannot be kept under {folder}: {error}; cabling will be UNKNOWN")
        return ""


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
