"""BIOS settings: wished at the settings object, checked against the registry, applied when the host starts."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.tasks import moment
from fleet_runner.lab.redfish.trees import Body, Tree, clean
from fleet_runner.lab.redfish.wire import Refused


class Bios:
    """The settings of one BIOS resource."""

    def __init__(self, chip: Chip, uri: str) -> None:
        self._chip = chip
        self.uri = uri
        self.settings = chip.tree.bios[uri]
        self.running: dict[str, Any] = dict(chip.tree.get(uri)["Attributes"])
        self.pending: dict[str, Any] = {}
        self.registry = registry(chip.tree, str(chip.tree.get(uri).get("AttributeRegistry") or ""))
        self._defaults = False
        self._applied: float | None = None

    def set(self, said: Mapping[str, Any]) -> None:
        """Take wishes, all or none; raise Refused for what the registry does not allow."""
        wishes = said.get("Attributes")
        if not isinstance(wishes, dict):
            raise Refused(400, "only Attributes can be changed here", "PropertyMissing")
        for name, value in wishes.items():
            if trouble := self._trouble(name, value):
                raise Refused(400, trouble[1], trouble[0])
        self._chip.emit("bios_set", attributes=dict(wishes))
        self.pending |= wishes

    def reset(self) -> None:
        """Wish for the registry's defaults at the next start."""
        self._defaults = True

    def apply(self, now: float) -> None:
        """Apply what is wished, as the host does when it starts."""
        if self._defaults:
            given = {name: row["DefaultValue"] for name, row in self.registry.items() if "DefaultValue" in row}
            self.pending = {**given, **self.pending}
        if not self.pending:
            return
        ignored = self._chip.rules.fire("bios").get("ignore_bios")
        glob = str(ignored["attribute"]) if ignored else None
        taken = {name: value for name, value in self.pending.items() if glob is None or not fnmatchcase(name, glob)}
        self._chip.emit("bios_applied", attributes=taken)
        self.running |= taken
        self.pending, self._defaults, self._applied = {}, False, now

    def body(self, uri: str) -> Body:
        """Return the BIOS resource, or its settings object."""
        body = dict(self._chip.tree.get(uri))
        if uri == self.uri:
            body["Attributes"] = dict(self.running)
            settings = body.get("@Redfish.Settings")
            if self._applied is not None and isinstance(settings, dict):
                body["@Redfish.Settings"] = {**settings, "Time": moment(self._applied), "Messages": []}
        elif "Attributes" in body or self.pending:
            # Some show every setting here with the wishes among them, some only the wishes.
            body["Attributes"] = {**(self.running if "Attributes" in body else {}), **self.pending}
        return {"@odata.id": uri, **body}

    def _trouble(self, name: str, value: Any) -> tuple[str, str] | None:
        row = self.registry.get(name)
        if name not in self.running and row is None:
            return "PropertyUnknown", f"the property {name} is not in the list of valid properties for the resource"
        if row is None:
            old = self.running[name]
            same = old is None or isinstance(value, type(old))
            return None if same else ("PropertyValueTypeError", f"the value {value!r} for {name} is of another type")
        if row.get("ReadOnly") or row.get("Immutable"):
            return "PropertyNotWritable", f"the property {name} is read only"
        return (
            None if _legal(row, value) else ("PropertyValueNotInList", f"the value {value!r} for {name} is not legal")
        )


def registry(tree: Tree, name: str) -> dict[str, Mapping[str, Any]]:
    """Return the rows of the attribute registry that a BIOS names, by attribute; empty where the tree has none."""
    found = [body for body in tree.bodies.values() if "AttributeRegistry." in str(body.get("@odata.type"))]
    words = name.partition(".")[0]
    named = [body for body in found if str(body.get("Id")).startswith(words)] or found
    entries = named[0].get("RegistryEntries") if named else None
    rows = entries.get("Attributes") if isinstance(entries, dict) else None
    return {row["AttributeName"]: row for row in rows or () if isinstance(row, dict) and "AttributeName" in row}


def bioses(chip: Chip) -> Iterator[Bios]:
    """Return every BIOS of a machine."""
    return (Bios(chip, clean(uri)) for uri in chip.tree.bios)


def _legal(row: Mapping[str, Any], value: Any) -> bool:
    match row.get("Type"):
        case "Enumeration":
            values = [each.get("ValueName") for each in row.get("Value") or ()]
            return value in values or not any(values)
        case "Integer":
            low, high = row.get("LowerBound"), row.get("UpperBound")
            whole = isinstance(value, int) and not isinstance(value, bool)
            return whole and (low is None or value >= low) and (high is None or value <= high)
        case "Boolean":
            return isinstance(value, bool)
        case "String" | "Password":
            return isinstance(value, str) and len(value) <= (row.get("MaxLength") or len(value))
        case _:
            return True
