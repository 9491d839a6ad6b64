"""What every node and fabric is held against: as it is today, and with a change of the profile laid over it."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fleet_runner.adapters import source
from fleet_runner.adapters.plays import profiles
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import errors
from fleet_runner.core.base.errors import SettingsError, SourceError
from fleet_runner.core.checks import replay
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.replay import Setting
from fleet_runner.core.inventory import ansible
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.settings import Settings

Profile = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Design:
    """What the source of truth says: each device's groups and record, and the links between all; nothing unread."""

    groups: Mapping[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    records: Mapping[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    fabric: Mapping[str, Any] = field(default_factory=dict[str, Any])


def against(settings: Settings, store: Store, changed: Path | Mapping[str, Profile]) -> dict[str, Setting]:
    """Return what each node and fabric is held against; a node without a profile is left out, and that is said.

    `changed` is the file of the change, or the change itself by device type.

    Raises:
        SettingsError: the file of the change cannot be used.
    """
    design = _design(settings)
    nodes = store.nodes()
    held = _profiles(settings, nodes, design)
    kinds = _by_type(nodes, held)
    changes = _changes(changed, kinds) if isinstance(changed, Path) else changed
    after = {
        node.name: replay.overlaid(held[node.name], changes.get(node.device_type, {}))
        for node in nodes
        if node.name in held
    }
    kinds_after = _by_type(nodes, after)
    names = [*held, *(each.name for each in store.fabrics())]
    found: dict[str, Setting] = {}
    for name in names:
        today = Expected(name, held.get(name, {}), design.records.get(name, {}), design.fabric, profiles=kinds)
        found[name] = Setting(today, replace(today, profile=after.get(name, {}), profiles=kinds_after))
    return found


def _profiles(settings: Settings, nodes: Collection[Node], design: Design) -> dict[str, Profile]:
    """Return the profile of each node: of its groups, or its own, as Ansible chooses; files are read once."""
    read: dict[tuple[Path, ...], Profile | None] = {}
    found: dict[str, Profile] = {}
    for node in nodes:
        groups = design.groups.get(node.name) or ["nodes", ansible.group_name("device_type", node.device_type)]
        files = profiles.files_of(settings, node.name, groups)
        if files not in read:
            read[files] = _read(settings, files, node)
        if (profile := read[files]) is not None:
            found[node.name] = profile
    return found


def _read(settings: Settings, files: tuple[Path, ...], node: Node) -> Profile | None:
    try:
        # As a play is given it: JSON's types alone, no dates and no numbers as keys.
        found: Profile = json.loads(json.dumps(profiles.last(settings, files, node.device_type), default=str))
    except SettingsError as error:
        errors.print(f"warning: {error}", markup=False, soft_wrap=True)
        return None
    return found


def _by_type(nodes: Collection[Node], held: Mapping[str, Profile]) -> dict[str, Profile]:
    """Return one profile for each device type, its first node's, as a play of a fabric has them."""
    found: dict[str, Profile] = {}
    for node in nodes:
        if node.name in held:
            found.setdefault(node.device_type, held[node.name])
    return found


def _changes(changed: Path, kinds: Mapping[str, Profile]) -> dict[str, Profile]:
    try:
        changes = replay.spread(profiles.load(changed), kinds)
    except SettingsError as error:
        raise SettingsError(
            f"{changed}: {error}".replace("the file: ", "").replace("the file holds", "it holds")
        ) from None
    for kind, change in changes.items():
        for key in replay.added(kinds[kind], change):
            told = f"warning: {key} is not in the profile of {kind}: it is new, or a typing error"
            errors.print(told, markup=False, soft_wrap=True)
    return changes


def _design(settings: Settings) -> Design:
    """Read the source of truth; without it, say what is missing."""
    try:
        fleet = source.read(settings)
    except (SourceError, SettingsError) as error:
        told = "warning: without designed cables, serial numbers and places of parts"
        errors.print(f"{told}: {error}", markup=False, soft_wrap=True)
        return Design()
    variables = {**ansible.fabric_hostvars(fleet), **ansible.all_hostvars(fleet)}
    records = {name: each["fleet_device"] for name, each in variables.items()}
    return Design(_groups(fleet), records, json.loads(json.dumps(ansible.fabric(fleet))))


def _groups(fleet: Fleet) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for group, members in ansible.groups(fleet).items():
        for name in members:
            found.setdefault(name, []).append(group)
    return found
