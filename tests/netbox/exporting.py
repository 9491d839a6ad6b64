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
    ("dcim/front-ports", "mappings"): ("", ""),
    ("dcim/device-types", "interfacetemplates"): ("dcim/interface-templates", "device_type"),
}
"""Objects by what they name, as a template reaches them."""

RENAMED = {"custom_field_data": "custom_fields", "cf": "custom_fields"}


def rendered(database: Database, path: str, template: Row, rows: Iterable[Row]) -> str:
    """Return what a template makes of rows."""
    environment = SandboxedEnvironment(**(template["environment_params"] or {}))
    environment.undefined = StrictUndefined  # NetBox's is lenient: here a template must not name what is not there
    environment.filters |= {"placeholder": lambda value: value or "-"}
    apps: dict[str, dict[str, Kind]] = {}
    for model in models().values():
        apps.setdefault(model.path.partition("/")[0], {})[model.schema] = Kind(database, model.path)
    several = Several(database, path, filtering.ordered(database, path, list(rows)))
    return environment.from_string(template["template_code"]).render(**apps, queryset=several)


class One:
    """An object as a template sees it."""

    def __init__(self, database: Database, path: str, row: Row) -> None:
        self._database, self._path, self._row = database, path, row

    def __getattr__(self, name: str) -> Any:  # noqa: PLR0911  one for each kind of attribute
        database, path, row = self._database, self._path, self._row
        model = models()[path]
        if name in {"pk", "id"}:
            return row["id"]
        if (path, name) == ("dcim/front-ports", "mappings"):
            return Mappings(row["rear_ports"])
        if (path, name) in REVERSE:
            other, field = REVERSE[path, name]
            rows = database.where(other, **{field: row["id"]})
            return Several(database, other, filtering.ordered(database, other, rows))
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


class Kind:
    """A model as a template sees it: what it has is defined."""

    def __init__(self, database: Database, path: str) -> None:
        self._database, self._path = database, path

    def __getattr__(self, name: str) -> Any:
        if name == "objects":
            return Several(self._database, self._path, list(self._database.lists[self._path].values()))
        if name in models()[self._path].written or (self._path, name) in REVERSE:
            return name
        raise AttributeError(name)


class Mapping:
    """One rear port of a front port as a template sees it."""

    def __init__(self, at: int, given: Row) -> None:
        self.pk = at
        self.rear_port_id, self.rear_port_position = given["rear_port"], given["rear_port_position"]
        self.front_port_position = given["position"]


class Mappings(list[Mapping]):
    """The rear ports of a front port."""

    def __init__(self, given: list[Row]) -> None:
        super().__init__(Mapping(at, each) for at, each in enumerate(given))

    def order_by(self, *_: str) -> list[Mapping]:
        """Return them in the order in which they were given."""
        return self


class Several:
    """Objects of one list as a template sees them: a query set."""

    def __init__(self, database: Database, path: str, rows: list[Row], order: tuple[str, ...] = ()) -> None:
        self._database, self._path, self._rows, self._order = database, path, rows, order
        self.model = Kind(database, path)

    def __iter__(self) -> Iterator[One]:
        return (self._one(row) for row in self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: Any) -> Any:
        found = self._rows[at]
        return self._with(found) if isinstance(at, slice) else self._one(found)

    def _one(self, row: Row) -> One:
        return One(self._database, self._path, row)

    def _with(self, rows: list[Row]) -> "Several":
        return Several(self._database, self._path, rows, self._order)

    def _same(self, *_: Any, **__: Any) -> "Several":
        return self

    all = select_related = prefetch_related = only = defer = iterator = distinct = restrict = annotate = _same
    annotate_config_context_data = _same

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
        """Return them in another order; by what names them, only `values_list` looks at."""
        own = [name.replace("pk", "id") for name in names if (self._path, name.split("__")[0]) not in REVERSE]
        rows = filtering.ordered(self._database, self._path, list(self._rows), ",".join(own))
        return Several(self._database, self._path, rows, names)

    def filter(self, **wanted: Any) -> "Several":
        """Return those with these values."""
        return self._with([row for row in self._rows if self._fits_all(row, wanted)])

    def exclude(self, **wanted: Any) -> "Several":
        """Return those without these values."""
        return self._with([row for row in self._rows if not self._fits_all(row, wanted)])

    def values_list(self, *names: str, flat: bool = False) -> list[Any]:
        """Return values of each, once for every object that names it where those are asked for, too."""
        rows = [
            tuple(self._at(one, name) for name in names) for row in self._rows for one in self._joined(row, names)
        ]
        return [row[0] for row in rows] if flat else rows

    def values(self, *names: str) -> list[Row]:
        """Return values of each by their names."""
        return [dict(zip(names, row, strict=True)) for row in self.values_list(*names)]

    def _joined(self, row: Row, names: tuple[str, ...]) -> list[tuple[One, str, One | None]]:
        """Return an object with each of those that name it and are asked for, as a database joins them."""
        one = self._one(row)
        asked = {name.split("__")[0] for name in names if (self._path, name.split("__")[0]) in REVERSE}
        if not asked:
            return [(one, "", None)]
        [reverse] = asked  # two at once would multiply: no template of ours does that
        order = [name.removeprefix(f"{reverse}__") for name in self._order if name.startswith(f"{reverse}__")]
        others = getattr(one, reverse).order_by(*(order or ["pk"]))
        return [(one, reverse, other) for other in others] or [(one, reverse, None)]

    def _fits_all(self, row: Row, wanted: Row) -> bool:
        return all(self._fits(row, name, each) for name, each in wanted.items())

    def _fits(self, row: Row, name: str, wanted: Any) -> bool:
        base, _, lookup = name.rpartition("__")
        if lookup == "in":
            return self._at((self._one(row), "", None), base) in list(wanted)
        if lookup == "isnull":
            return (self._at((self._one(row), "", None), base) is None) is wanted
        return bool(self._at((self._one(row), "", None), name) == wanted)

    def _at(self, joined: tuple[One, str, One | None], name: str) -> Any:
        """Return a value by its way through references ("device__site__name")."""
        value: Any = joined[0]
        parts = name.split("__")
        if joined[1] and parts[0] == joined[1]:
            value, parts = joined[2], parts[1:]
        for part in parts:
            if isinstance(value, dict):
                value = value.get(part)
            elif value is not None:
                value = getattr(value, part)
        return value.pk if isinstance(value, One) else value


def _one(database: Database, path: str, number: int | None) -> One | None:
    row = database.get(path, number) if path else None
    return None if row is None else One(database, path, row)


def _mac(one: One) -> Any:
    found = one.primary_mac_address
    return None if found is None else found.mac_address


def _termination(one: One) -> Any:
    return _one(one._database, by_object_type()[one._row["termination_type"]].path, one._row["termination_id"])


def _primary(one: One) -> Any:
    return one.primary_ip6 or one.primary_ip4


def _kind(one: One, field: str = "termination_type") -> Any:
    app, _, name = one._row[field].partition(".")
    return type("ContentType", (), {"app_label": app, "model": name})


def _cable(one: One) -> Any:
    return _one(one._database, "dcim/cables", one._row["cable"])


MADE: dict[tuple[str, str], Callable[[One], Any]] = {
    ("dcim/interfaces", "mac_address"): _mac,
    ("dcim/devices", "primary_ip"): _primary,
    ("dcim/devices", "config_context_data"): lambda one: special.config_contexts(one._database, one._row) or None,
    ("ipam/ip-addresses", "family"): lambda one: 6 if ":" in one._row["address"] else 4,
    ("dcim/cable-terminations", "termination"): _termination,
    ("core/object-changes", "changed_object_type"): lambda one: _kind(one, "changed_object_type"),
    ("dcim/cable-terminations", "termination_type"): _kind,
    ("dcim/cable-terminations", "cable"): _cable,
    ("dcim/cable-terminations", "cable_id"): lambda one: one._row["cable"],
}
