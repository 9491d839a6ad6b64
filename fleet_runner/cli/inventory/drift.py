"""fleet-runner drift: what the fleet observed against what the source of truth says."""

import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated

import typer

from fleet_runner.adapters import source
from fleet_runner.adapters.files import proposals
from fleet_runner.adapters.plays import profiles
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit, age, console, errors, known, opened, plain, print_json, split
from fleet_runner.core.base.errors import EvidenceError, SettingsError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.inventory.drift.compare import Expected, dated, differences, each_fault_once, fabric_links
from fleet_runner.core.inventory.drift.difference import Difference
from fleet_runner.core.inventory.drift.tables import Tables, importable, tables
from fleet_runner.core.inventory.profile import hca_interfaces
from fleet_runner.core.inventory.records import NODE_ROLES, Fleet, nodes
from fleet_runner.settings import Settings

Nodes = Annotated[list[str] | None, typer.Argument(metavar="[NODE]...", help="nodes; all, and fabrics, if none")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Propose = Annotated[
    Path | None,
    typer.Option("--propose", metavar="FOLDER", help="write the proposed source data into a new folder, for review"),
]

DIFF = "site-files.diff"


def drift(names: Nodes = None, *, json: Json = False, propose: Propose = None) -> None:
    """Compare serial numbers, GUIDs, MACs, firmware and links as last observed with the source of truth.

    Nothing is changed, here or there: --propose only writes a diff of site files, or tables for NetBox's import. Exit
    code 1: something differs. What was not observed is no difference, and neither is what the source leaves empty.
    """
    with opened() as (settings, store):
        fleet = source.read(settings)
        for name in (chosen := split(names or ())):
            known(store, name)
        found = _found(settings, store, fleet, chosen)
    differing = [each for each in found if not each.empty]
    if json:
        print_json({"differences": [_shown(each) for each in found]})
    else:
        _tell(found, differing)
    if propose is not None:
        _propose(settings, propose, found)
    if differing:
        raise typer.Exit(Exit.NO)


def _found(settings: Settings, store: Store, fleet: Fleet, chosen: Collection[str]) -> tuple[Difference, ...]:
    adapters = {name: _adapters(settings, name) for name in {device.device_type for device in nodes(fleet)}}
    found: list[Difference] = []
    with store.one_moment():
        for row in store.nodes():
            device = fleet.devices.get(row.name)
            if device is not None and device.role in NODE_ROLES and (not chosen or row.name in chosen):
                expected = Expected(device, adapters[device.device_type])
                found += dated(differences(expected, store.latest_results(row.name)), row)
        for fabric in () if chosen else store.fabrics():
            found += fabric_links(store.latest_results(fabric.name))
    return each_fault_once(found)


def _adapters(settings: Settings, device_type: str) -> Mapping[str, str]:
    try:
        return hca_interfaces(profiles.read(settings, device_type))
    except (SettingsError, EvidenceError) as error:
        errors.print(f"warning: {error}; GUIDs of {device_type} are not compared", markup=False, soft_wrap=True)
        return {}


def _tell(found: Collection[Difference], differing: Collection[Difference]) -> None:
    now = time.time()
    for each in differing:
        before = f", before it came to {each.before}" if each.before else ""
        line = f"{each.node} {each.kind}: {each.sentence} ({each.check}, {age(now - each.at)} ago{before})"
        console.print(printable(" ".join(line.split())), markup=False, soft_wrap=True)
    counted = "1 difference" if len(differing) == 1 else f"{len(differing)} differences"
    console.print(counted if differing else "no observation differs", style="dim")
    if empty := len(found) - len(differing):
        words = f"observed where the source has no value: {empty}; --propose FOLDER writes these, too"
        console.print(words, style="dim", soft_wrap=True)


def _shown(each: Difference) -> dict[str, object]:
    return {**plain(each), "sentence": each.sentence, "only_empty": each.empty}


def _propose(settings: Settings, folder: Path, found: Collection[Difference]) -> None:
    proposed = [each for each in found if each.proposed]
    if not proposed:
        errors.print("nothing to propose: no difference has a certain value", soft_wrap=True)
        return
    files, made, left = dict[str, str](), Tables(), list[str]()
    if "://" in settings.source:
        from fleet_runner.adapters.netbox import places  # noqa: PLC0415  its client is slow to load

        names = {each.node for each in proposed}
        there = importable(places.places(settings.source, source.token(settings), names))
        made = tables(proposed, there)
        left = [
            f"{each.node} {each.name}: NetBox has no one place for it, or its name is no plain one"
            for each in proposed
            if _key(each) not in there
        ]
    else:
        files[DIFF], left = proposals.site_diff(Path(settings.source), proposed)
    for path in proposals.write(folder, {name: text for name, text in files.items() if text}, made):
        errors.print(f"{path}: written for review", markup=False, soft_wrap=True)
    for sentence in left:
        errors.print(printable(f"not proposed: {sentence}"), markup=False, soft_wrap=True)


def _key(each: Difference) -> tuple[str, object, str]:
    return each.node, each.kind, each.name
