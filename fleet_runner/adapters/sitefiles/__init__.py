"""The source of truth as a folder of YAML files in NetBox's terms; docs/site-files.md describes them."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from fleet_runner.adapters.sitefiles import records
from fleet_runner.adapters.sitefiles.cables import cables
from fleet_runner.adapters.sitefiles.folder import File, read
from fleet_runner.adapters.sitefiles.row import Row, rows
from fleet_runner.adapters.sitefiles.tree import Map, Seq, parse
from fleet_runner.core.inventory.consistency import ROLES, Draft, Problem, problems, refusal, settle, show
from fleet_runner.core.inventory.records import Fleet

__all__ = ["load"]

T = TypeVar("T")


def load(folder: Path) -> Fleet:
    """Read a folder of site files.

    Raises SourceError with every problem, each with its file and line. Contradictions between files are looked
    for once every file can be read on its own.
    """
    wrong: list[Problem] = []
    site = read(folder, wrong)
    draft = _draft(site.files, wrong)
    if not wrong:
        wrong.extend(problems(draft))
    if wrong:
        raise refusal(str(folder), wrong)
    return settle(draft, site.revision)


def _draft(files: tuple[File, ...], wrong: list[Problem]) -> Draft:
    trees = [(file.kind, file.name, _entries(file, wrong)) for file in files]

    def each(kind: str, label: str, make: Callable[[Row], T]) -> list[T]:
        mine = [(name, tree) for its, name, tree in trees if its == kind]
        return [make(row) for name, tree in mine for row in rows(tree, name, label, wrong)]

    device_types = each("device_types", "a device type", records.device_type)
    by_slug = {found.record.slug: found.record for found in device_types}
    return Draft(
        sites=each("sites", "a site", records.site),
        roles=ROLES.union(each("roles", "a role", records.role)),
        locations=each("locations", "a location", records.location),
        racks=each("racks", "a rack", records.rack),
        device_types=device_types,
        devices=each("devices", "a device", lambda row: records.device(row, by_slug)),
        cables=[found for kind, name, tree in trees if kind == "cables" for found in cables(tree, name, wrong)],
    )


def _entries(file: File, wrong: list[Problem]) -> Seq:
    """Return a file's records: a list, a list under the kind's name, or a single record."""
    tree = parse(file.text, file.name, wrong)
    if isinstance(tree, Map) and list(tree.items) == [file.kind]:
        tree = tree.items[file.kind]
    if isinstance(tree, Seq):
        return tree
    found = Seq(1)
    if isinstance(tree, Map):
        found.items, found.lines = [tree], [tree.line]
    elif tree:
        wrong.append(Problem(f"{file.name}:1", f"found {show(tree)}, expected a list of {file.kind}"))
    return found
