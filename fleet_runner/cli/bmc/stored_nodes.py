"""Known-good nodes of the store, as `profile propose` takes them: what was last read of them, and pass marks."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from fleet_runner import settings
from fleet_runner.adapters.plays import profiles
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.reader import reader
from fleet_runner.cli.base.session import errors, opened
from fleet_runner.cli.checks.baseline import learn
from fleet_runner.core.base.errors import FleetError, NoStoreError, SettingsError, StoreError
from fleet_runner.core.bmc import proposed_file, stored
from fleet_runner.core.bmc.proposed import Node
from fleet_runner.core.bmc.stored import Piece
from fleet_runner.core.checks.baseline import Margin
from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.lifecycle.runs import Stored

SPAN = 30 * 86_400.0
"""Seconds back from which results count for pass marks, as of `baseline`."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A device type's file from nodes of the store, and what these nodes would fail of it, by node."""

    device_type: str
    nodes: tuple[Node, ...]
    text: str
    failing: Mapping[str, tuple[Result, ...]]


def named(where: list[str]) -> bool:
    """Tell if these are nodes of the store; without a store, or for a file or an address, they are not.

    Raises:
        FleetError: some are and some are not.
    """
    if any("://" in each or Path(each).suffix in {".json", ".gz"} for each in where):
        return False
    try:
        store = reader.opened(settings.load().store_url)
    except NoStoreError:
        return False
    except StoreError as error:
        errors.print(f"warning: BMCs are asked, as the store cannot be read: {error}", markup=False, soft_wrap=True)
        return False
    try:
        known = {node.name for node in store.nodes()}
    finally:
        store.close()
    strange = [name for name in where if name not in known]
    if strange and len(strange) < len(where):
        raise FleetError(
            f"{', '.join(strange)}: no node of the store, unlike the others; name nodes of the store alone, or BMCs"
            " alone"
        )
    return not strange


def propose(where: list[str]) -> Proposal:
    """Return the file of a device type whose nodes these are, from what the store holds of them.

    Raises:
        FleetError: they are of several device types, or nothing was ever read of one.
    """
    with opened() as (found, store):
        types = {node.name: node.device_type for node in store.nodes() if node.name in where}
        if len({*types.values()}) > 1:
            told = ", ".join(f"{name} is a {kind}" for name, kind in sorted(types.items()))
            raise FleetError(f"a profile is one device type's: {told}; name nodes of one type")
        device_type = types[where[0]]
        present = _present(found, device_type)
        latest = {name: store.latest_results(name) for name in types}
        read = {name: _pieces(store, name, mine, present) for name, mine in latest.items()}
        nodes = [stored.node(name, read[name], [each.result for each in latest[name]]) for name in types]
        marks = learn(store, tuple(types), time.time() - SPAN, (present, Margin()))
    more = stored.learned(marks, present, {each.key for node in nodes for each in node.told})
    nodes = [replace(node, told=(*node.told, *more), notes=(*node.notes, *stored.refused(marks))) for node in nodes]
    text = proposed_file.text(nodes, stored.origin(device_type))
    profile = yaml.safe_load(text)["fleet_profile"] or {}
    failing = {name: tuple(stored.failing(name, profile, read[name])) for name in types}
    return Proposal(device_type, tuple(nodes), text, {name: mine for name, mine in failing.items() if mine})


def _present(found: settings.Settings, device_type: str) -> dict[str, Any]:
    """Return the profile that the type has today; a new type has none."""
    try:
        return profiles.read(found, device_type)
    except SettingsError:
        return {}


def _pieces(store: Store, name: str, latest: Sequence[Stored], present: dict[str, Any]) -> dict[str, Piece]:
    texts = store.pieces(digest for each in latest for digest in each.result.evidence)
    found = stored.pieces(latest, texts, present)
    if not found:
        raise FleetError(
            f"{name}: nothing that was read of it is in the store; have its checks run first (fleet-runner check run)"
        )
    return found
