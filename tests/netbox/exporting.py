"""Export templates, rendered over a stand-in's objects that look like NetBox's to a template."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jinja2 import StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from tests.netbox import filtering, special
from tests.netbox.database import Database, Row
from tests.netbox.description import by_object_type, listed, models

REVERSE = {
    ("dcim/cables", "terminations"): ("dcim/cable-terminations", "cable"),
    ("dcim/devices", "interfaces"): ("dcim/interfaces", "device"),
    ("dcim/devices", "inventoryitems"): ("dcim/inventory-items", "device"),
    ("dcim/devices", "modules"): ("dcim/modules", "device"),
    ("dcim/devices", "modulebays"): ("dcim/module-bays", "device"),
    ("dcim/devices", "frontports"): ("dcim/front-ports", "device"),
    ("dcim/devices", "rearports"): ("dcim/rear-ports", "device"),
    ("dcim/device-types", "interfacetemplates"): ("dcim/interface-templates", "device_type"),
}
"""Objects by what they name, as a template reaches them."""

RENAMED = {"custom_field_data": "custom_fields", "cf": "custom_fields"}


def rendered(database: Database, path: str, template: Row, rows: Iterable[Row]) -> str:
    """Return what a template makes of rows."""
    environment = SandboxedEnvironment(**(template["environment_params"] or {}))
    environment.undefined = StrictUndefined  # NetBox's is lenient: here a template must not name what is not there
    environment.filters |= {"placeholder": lambda value: value or "-"}
    apps: dict[str, dict[str, Any]] = {}
    for model in models().values():
        app, _, name = model.object_type.partition(".")
        class_name = model.schema.removesuffix("WithConfigContext")
        objects = Several(database, model.path, list(database.lists[model.path].values()))
        apps.setdefault(app, {})[class_name] = type(name, (), {"objects": objects})
    several = Several(database, path, list(rows))
    return environment.from_string(template["template_code"]).render(**apps, queryset=several)


class One:
    """An object as a template sees it."""

    def __init__(self, database: Database, path: str, row: Row) -> None:
        self._database, self._path, self._row = database, path, row

    def __getattr__(self, name: str) -> Any:
        database, path, row = self._database, self._path, self._row
        model = models()[path]
        if name in {"pk", "id"}:
            return row["id"]
        if (path, name) in REVERSE:
            other, field = REVERSE[path, name]
            return Several(database, other, database.where(other, **{field: row["id"]}))
        if (path, name) in MADE:
            return MADE[path, name](self)
        if name.endswith("_id") and name.removesuffix("_id") in model.written:
            return row[name.removesuffix("_id")]
        name = RENAMED.get(name, name)
        shape = model.written.get(name)
        if shape is not None and shape.kind == "one":
            return _one(database, listed(shape.of), row[name])
        if shape is not None and shape.kind == "many" and listed(shape.of):
            rows = [database.lists[listed(shape.of)][each] for each in row[name]]
            return Several(database, listed(shape.of), rows)
        if name in row:
            return row[name]
        raise AttributeError(name)

    def __str__(self) -> str:
        return self._database.printed(self._path, self._row)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, One) and (self._path, self._row["id"]) == (other._path, other._row["id"])

    def __hash__(self) -> int:
        return hash((self._path, self._row["id"]))

    def get_config_context(self) -> Row:
        """Return a device's rendered config context."""
        return special.config_context(self._database, self._row)


class Several:
    """Objects of one list as a template sees them: a query set."""

    def __init__(self, database: Database, path: str, rows: list[Row]) -> None:
        self._database, self._path = database, path
        self._rows = filtering.ordered(database, path, rows)

    def __iter__(self) -> Iterator[One]:
        return (One(self._database, self._path, row) for row in self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: Any) -> Any:
        found = self._rows[at]
        return Several(self._database, self._path, found) if isinstance(at, slice) else self._one(found)

    def _one(self, row: Row) -> One:
        return One(self._database, self._path, row)

    def _same(self, *_: Any, **__: Any) -> "Several":
        return self

    all = select_related = prefetch_related = only = defer = iterator = distinct = restrict = annotate = _same

    def annotate_config_context_data(self) -> "Several":
        """Return the same devices: their contexts are made when they are asked for."""
        return self

    def rows(self) -> list[Row]:
        """Return them as they are kept."""
        return self._rows

    def count(self) -> int:
        """Return how many there are."""
        return len(self._rows)

    def first(self) -> One | None:
        """Return the first, None if there is none."""
        return next(iter(self), None)

    def exists(self) -> bool:
        """Say whether there is any."""
        return bool(self._rows)

    def order_by(self, *names: str) -> "Several":
        """Return them in another order."""
        found = Several(self._database, self._path, self._rows)
        found._rows = filtering.ordered(self._database, self._path, list(self._rows), ",".join(names))
        return found

    def filter(self, **wanted: Any) -> "Several":
        """Return those with these values."""
        rows = [row for row in self._rows if all(self._fits(row, name, each) for name, each in wanted.items())]
        found = Several(self._database, self._path, [])
        found._rows = rows
        return found

    def exclude(self, **wanted: Any) -> "Several":
        """Return those without these values."""
        kept = {row["id"] for row in self.filter(**wanted)._rows}
        found = Several(self._database, self._path, [])
        found._rows = [row for row in self._rows if row["id"] not in kept]
        return found

    def values_list(self, *names: str, flat: bool = False) -> list[Any]:
        """Return values of each."""
        rows = [tuple(self._at(row, name) for name in names) for row in self._rows]
        return [row[0] for row in rows] if flat else rows

    def values(self, *names: str) -> list[Row]:
        """Return values of each by their names."""
        return [{name: self._at(row, name) for name in names} for row in self._rows]

    def _fits(self, row: Row, name: str, wanted: Any) -> bool:
        base, _, lookup = name.rpartition("__")
        if lookup == "in":
            return self._at(row, base) in list(wanted)
        if lookup == "isnull":
            return (self._at(row, base) is None) is wanted
        return bool(self._at(row, name) == wanted)

    def _at(self, row: Row, name: str) -> Any:
        """Return a value by its way through references ("device__site__name")."""
        value: Any = self._one(row)
        for part in name.split("__"):
            if isinstance(value, dict):
                value = value.get(part)
            elif value is not None:
                value = getattr(value, part)
        return value._row["id"] if isinstance(value, One) else value


def _one(database: Database, path: str, number: int | None) -> One | None:
    row = database.get(path, number) if path else None
    return None if row is None else One(database, path, row)


def _mac(one: One) -> Any:
    found = one.primary_mac_address
    return None if found is None else found.mac_address


def _termination(one: One) -> Any:
    return _one(one._database, by_object_type()[one._row["termination_type"]].path, one._row["termination_id"])


def _primary(one: One) -> Any:
    return one.primary_ip4 or one.primary_ip6


def _kind(one: One) -> Any:
    app, _, name = one._row["termination_type"].partition(".")
    return type("ContentType", (), {"app_label": app, "model": name})


def _cable(one: One) -> Any:
    return _one(one._database, "dcim/cables", one._row["cable"])


MADE: dict[tuple[str, str], Callable[[One], Any]] = {
    ("dcim/interfaces", "mac_address"): _mac,
    ("dcim/devices", "primary_ip"): _primary,
    ("dcim/cable-terminations", "termination"): _termination,
    ("dcim/cable-terminations", "termination_type"): _kind,
    ("dcim/cable-terminations", "cable"): _cable,
    ("dcim/cable-terminations", "cable_id"): lambda one: one._row["cable"],
}
