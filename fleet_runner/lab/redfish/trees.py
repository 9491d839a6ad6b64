"""A captured Redfish tree: reading it, and finding what it offers; nothing is known by its address but the root."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from fleet_runner.core.base.errors import FleetError

ROOT = "/redfish/v1"
OUR_OWN = Path(__file__).parent / "small.json"
"""A small tree that is made up, for whoever has none of a real machine."""

Body = dict[str, Any]


class TreeError(FleetError):
    """What was given is no tree of Redfish resources."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action that a resource offers: its name (ComputerSystem.Reset), whose it is, and how it is described."""

    name: str
    resource: str
    described: Mapping[str, Any]


@dataclass(frozen=True)
class Tree:
    """Resources by their URI, without a slash at the end; never changed, so that many emulators share one."""

    bodies: Mapping[str, Body]
    metadata: str = ""
    said: dict[str, tuple[bytes, str]] = field(default_factory=dict, repr=False)  # what never changes, as sent

    def get(self, uri: str) -> Body:
        """Return a resource, empty where there is none."""
        return self.bodies.get(uri, {})

    @cached_property
    def _spellings(self) -> dict[str, str]:
        return {uri.lower(): uri for uri in self.bodies}

    def spelled(self, uri: str) -> str:
        """Return a URI as the tree spells it: an iLO links to itself in small letters."""
        return self._spellings.get(uri.lower(), uri) if self.hpe else uri

    def link(self, uri: str, *names: str) -> str:
        """Return where a link of a resource leads, by the names on the way to it; "" where it has none."""
        found: Any = self.get(uri)
        for name in names:
            found = found.get(name) if isinstance(found, dict) else None
        target = found.get("@odata.id") if isinstance(found, dict) else None
        return clean(target) if isinstance(target, str) else ""

    def members(self, uri: str) -> list[str]:
        """Return the members of a collection."""
        listed = self.get(uri).get("Members")
        links = (
            [each.get("@odata.id") for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        )
        return [clean(link) for link in links if isinstance(link, str)]

    @cached_property
    def update_service(self) -> str:
        """Where updates are sent to."""
        return self.link(ROOT, "UpdateService") or f"{ROOT}/UpdateService"

    @cached_property
    def inventory(self) -> str:
        """The collection of firmware versions."""
        return self.link(self.update_service, "FirmwareInventory") or f"{self.update_service}/FirmwareInventory"

    @cached_property
    def entries(self) -> dict[str, str]:
        """The entries of the firmware inventory: id, which is the end of their URI, to URI."""
        listed = [uri for uri in self.members(self.inventory) if uri in self.bodies]
        listed += [uri for uri in self.bodies if uri.startswith(f"{self.inventory}/") and "/Actions/" not in uri]
        return {uri.rpartition("/")[2]: uri for uri in listed if "Version" in self.bodies[uri]}

    @cached_property
    def session_service(self) -> str:
        """The service of sessions."""
        return self.link(ROOT, "SessionService") or f"{ROOT}/SessionService"

    @cached_property
    def sessions(self) -> str:
        """The collection of sessions."""
        return self.link(ROOT, "Links", "Sessions") or f"{self.session_service}/Sessions"

    @cached_property
    def task_service(self) -> str:
        """The service of tasks."""
        return self.link(ROOT, "Tasks") or f"{ROOT}/TaskService"

    @cached_property
    def tasks(self) -> str:
        """The collection of tasks."""
        return self.link(self.task_service, "Tasks") or f"{self.task_service}/Tasks"

    @cached_property
    def dell(self) -> bool:
        """Whether the service root says that it is Dell's."""
        return self.get(ROOT).get("Vendor") == "Dell" or "Dell" in (self.get(ROOT).get("Oem") or {})

    @cached_property
    def hpe(self) -> bool:
        """Whether its UpdateService tells of updates as HPE's iLO does."""
        return "Hpe" in (self.get(self.update_service).get("Oem") or {})

    @cached_property
    def jobs(self) -> str:
        """The collection of jobs, "" where it has none."""
        return self.link(self.link(ROOT, "JobService"), "Jobs")

    @cached_property
    def account_service(self) -> str:
        """The service of accounts, which knows when one is locked."""
        return self.link(ROOT, "AccountService") or f"{ROOT}/AccountService"

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems that can be reset: the host, by whatever name."""
        listed = self.members(self.link(ROOT, "Systems") or f"{ROOT}/Systems")
        return tuple(uri for uri in listed if "#ComputerSystem.Reset" in self.get(uri).get("Actions", {}))

    @cached_property
    def managers(self) -> tuple[str, ...]:
        """The managers that can be reset; the first is the BMC itself."""
        listed = self.members(self.link(ROOT, "Managers") or f"{ROOT}/Managers")
        able = [uri for uri in listed if "#Manager.Reset" in self.get(uri).get("Actions", {})]
        return tuple(sorted(able, key=lambda uri: "HGX" in uri))

    @cached_property
    def bios(self) -> dict[str, str]:
        """The BIOS resources that can be set, each with its settings object (itself where it names none)."""
        found = [self.link(system, "Bios") for system in self.systems]
        return {uri: self.settings_of(uri) or uri for uri in found if "Attributes" in self.get(uri)}

    def settings_of(self, uri: str) -> str:
        """Return the settings object of a resource, "" where it names none."""
        return self.link(uri, "@Redfish.Settings", "SettingsObject")

    @cached_property
    def boards(self) -> frozenset[str]:
        """What systems and chassis call themselves: models and part numbers."""
        listed = [*self.members(f"{ROOT}/Systems"), *self.members(f"{ROOT}/Chassis")]
        named = [self.get(uri).get(name) for uri in listed for name in ("Model", "PartNumber", "SKU")]
        return frozenset(name for name in named if isinstance(name, str) and name)

    @cached_property
    def actions(self) -> dict[str, Action]:
        """Every action that a resource offers, by where it is sent to."""
        return {
            clean(described["target"]): Action(name.lstrip("#"), uri, described)
            for uri, body in self.bodies.items()
            for name, described in _actions(body.get("Actions"))
        }

    @cached_property
    def reset_tasks(self) -> bool:
        """Whether it makes a task of a reset, as NVIDIA's DGX does."""
        return any("Reset" in str(self.get(uri).get("Name")) for uri in self.members(self.tasks))

    def changed(self, changes: Mapping[str, Mapping[str, Any] | None]) -> "Tree":
        """Return the tree with changes merged into its resources; None takes a resource or a property out."""
        bodies = dict(self.bodies)
        for uri, change in changes.items():
            if change is None:
                bodies.pop(clean(uri), None)
            else:
                bodies[clean(uri)] = merged(bodies.get(clean(uri), {"@odata.id": clean(uri)}), change)
        return Tree(bodies, self.metadata)


def load(path: Path) -> Tree:
    """Read a tree: a .json or .json.gz file of {URI: body}, or a folder in the form of DMTF's mockups."""
    try:
        bodies, metadata = _folder(path) if path.is_dir() else (_file(path), "")
    except (OSError, ValueError) as error:
        raise TreeError(f"{path} cannot be read as a tree of Redfish resources: {error}") from None
    tree = Tree({clean(uri): body for uri, body in bodies.items()}, metadata)
    if ROOT not in tree.bodies:
        raise TreeError(f"{path} has no {ROOT}, expected a JSON object of URIs to bodies, or a DMTF mockup's folder")
    return tree


def clean(uri: str) -> str:
    """Return a URI without its query, its fragment and slashes at its end."""
    return "/" + uri.partition("#")[0].partition("?")[0].strip("/")


def merged(body: Mapping[str, Any], change: Mapping[str, Any]) -> Body:
    """Return a body with a change merged into it, object by object; None takes a property out."""
    found = dict(body)
    for name, value in change.items():
        old = found.get(name)
        if value is None:
            found.pop(name, None)
        elif isinstance(value, Mapping):
            found[name] = merged(old if isinstance(old, Mapping) else {}, value)
        else:
            found[name] = value
    return found


def _file(path: Path) -> dict[str, Body]:
    raw = path.read_bytes()
    found = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    if not isinstance(found, dict) or not all(isinstance(body, dict) for body in found.values()):
        raise ValueError("it is not a JSON object of URIs to bodies")
    return found


def _folder(path: Path) -> tuple[dict[str, Body], str]:
    whole = (path / "redfish").is_dir()
    prefix = "" if whole else ROOT
    bodies: dict[str, Body] = {}
    for file in sorted(path.rglob("index.json")):
        body = json.loads(file.read_text("utf-8"))
        if isinstance(body, dict):
            bodies[f"{prefix}/{file.parent.relative_to(path).as_posix()}".removesuffix("/.")] = body
    schema = path / ("redfish/v1" if whole else "") / "$metadata" / "index.xml"
    return bodies, schema.read_text("utf-8") if schema.is_file() else ""


def _actions(found: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every action below an `Actions` object: its own, and those of vendors, which nest at will."""
    for name, value in found.items() if isinstance(found, dict) else ():
        if isinstance(value, dict) and name.startswith("#") and isinstance(value.get("target"), str):
            yield name, value
        else:
            yield from _actions(value)
