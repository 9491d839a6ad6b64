"""The objects of a stand-in NetBox: made, changed and deleted as NetBox allows, each time with its object change."""

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.netbox import special
from tests.netbox.description import Model, models
from tests.netbox.kinds import COMPONENTS, DEFAULTS, LET_GO, NULLS_ALIKE, OWNERS, PRINTED, PROFILES, UNIQUE
from tests.netbox.values import InvalidError, UnfitError, check_custom_fields, value

Row = dict[str, Any]

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
CHANGES = "core/object-changes"
UNLOGGED = {CHANGES, "core/object-types", "users/groups", "users/permissions", "users/tokens", "users/users"}
CASCADE = ("dcim/inventory-items", "dcim/modules", "dcim/interfaces", "dcim/front-ports", "dcim/rear-ports")


class ProtectedError(Exception):
    """An object is named by others, which keeps it from being deleted; `held` are those in a word each."""

    def __init__(self, held: list[str]) -> None:
        super().__init__(f"Unable to delete object. {len(held)} dependent objects were found: {', '.join(held)}")
        self.held = held


class Database:
    """What a NetBox holds: for each list, its objects by their ids, references as ids and choices as their values."""

    def __init__(self) -> None:
        self.lists: dict[str, dict[int, Row]] = {path: {} for path in models()}
        self.numbers: dict[str, int] = defaultdict(int)
        self.clock = EPOCH
        self.request = self.requests = 0
        self.user = 0
        self.watch: list[Callable[[Row], object]] = []
        for number, name in enumerate(PROFILES, 1):
            self.lists["dcim/module-type-profiles"][number] = self._new("dcim/module-type-profiles") | {
                "id": number, "name": name, "created": EPOCH, "last_updated": EPOCH,
            }  # fmt: skip
            self.numbers["dcim/module-type-profiles"] = number

    def _new(self, path: str) -> Row:
        """Return an object of a list before anything is said of it."""
        row = {name: deepcopy(shape.empty) for name, shape in models()[path].written.items()}
        return row | DEFAULTS.get(path, {}) | {"id": 0, "tags": [], "custom_fields": {}}

    @contextmanager
    def as_one(self, user: int) -> Iterator[None]:
        """One request of a user: all that it changes, or nothing; ids are used up either way."""
        before = {path: dict(rows) for path, rows in self.lists.items()}
        self.requests += 1
        self.request, self.user = self.requests, user
        try:
            yield
        except Exception:
            self.lists = before
            raise

    def now(self) -> datetime:
        """Return a later time than any before, so that no two changes are of one time."""
        self.clock = max(self.clock + timedelta(microseconds=1371), self.clock)
        return self.clock

    def get(self, path: str, number: Any) -> Row | None:
        """Return an object, None if there is none."""
        return self.lists[path].get(number) if isinstance(number, int) else None

    def where(self, path: str, **values: Any) -> list[Row]:
        """Return the objects of a list with these values."""
        return [row for row in self.lists[path].values() if all(row.get(key) == each for key, each in values.items())]

    def create(self, path: str, given: Mapping[str, Any], **more: Any) -> Row:
        """Make an object of what a client sends. Raises InvalidError."""
        model = models()[path]
        only = more.pop("only", None)
        given, asked = _only(given, only), given
        row = self._new(path)
        said = "This field is required." if only is None else "This field cannot be null."
        wrong = {name: [said] for name in model.required if name not in given}
        row |= self._values(model, given, wrong, row)
        self._hold(path, row, wrong)
        self.numbers[path] += 1
        row |= {"id": self.numbers[path], **more}
        row["created"] = row["last_updated"] = self.now()
        self.lists[path][row["id"]] = row
        self.note(path, row, "create", message=asked.get("changelog_message", ""))
        special.created(self, path, row)
        return row

    def _hold(self, path: str, row: Row, wrong: dict[str, Any]) -> None:
        """Complete an object; InvalidError where something is wrong with it already, or another has what it takes."""
        model = models()[path]
        if found := self._taken(model, row, alone=True) | wrong:
            raise InvalidError(found)
        special.completed(self, path, row)
        if taken := self._taken(model, row):
            raise InvalidError(taken)

    def change(self, path: str, number: int, given: Mapping[str, Any], only: Container[str] | None = None) -> Row:
        """Change an object; of what is given, only these fields. Raises InvalidError."""
        given, asked = _only(given, only), given
        model, old = models()[path], self.lists[path][number]
        wrong: dict[str, Any] = {}
        row = deepcopy(old) | self._values(model, given, wrong, old)
        self._hold(path, row, wrong)
        before = special.data(self, path, old)
        row["last_updated"] = self.now()
        self.lists[path][number] = row
        special.changed(self, path, old, row)
        self.note(path, row, "update", before, asked.get("changelog_message", ""))
        return row

    def delete(self, path: str, number: int, message: str = "") -> None:
        """Delete an object with what belongs to it. Raises ProtectedError."""
        row = self.lists[path][number]
        named = list(self._naming(path, number))
        own = [(other, each["id"]) for other, name, each in named if _owned(other, name)]
        free = [one for one in named if one[1] in LET_GO or isinstance(one[2][one[1]], list)]
        held = [one for one in named if one not in free and (one[0], one[2]["id"]) not in own]
        if held:
            raise ProtectedError([f"{self.printed(other, each)} ({each['id']})" for other, _, each in held])
        special.unplugged(self, own)
        for other, its_id in [*special.assigned(self, path, number), *sorted(own, key=_cascade)]:
            if its_id in self.lists[other]:
                self.delete(other, its_id)
        before = special.data(self, path, row)
        ports = special.deleted(self, path, row)
        del self.lists[path][number]
        self.note(path, row, "delete", before, message)
        for other, name, each in free:
            kept = [one for one in each[name] if one != number] if isinstance(each[name], list) else None
            if path == "dcim/mac-addresses":  # NetBox notes no change of the interface
                self.lists[other][each["id"]] = each | {name: kept}
            else:
                self.touch(other, each["id"], **{name: kept})
        for other, its_id in ports:
            self.touch(other, its_id, **special.UNPLUGGED)

    def touch(self, path: str, number: int, **values: Any) -> None:
        """Change an object as a consequence of another change: nothing is checked."""
        old = self.lists[path].get(number)
        if old is not None:
            row = deepcopy(old) | values | {"last_updated": self.now()}
            self.lists[path][number] = row
            self.note(path, row, "update", special.data(self, path, old))

    def note(self, path: str, row: Row, action: str, before: Row | None = None, message: str = "") -> None:
        """Write an object change, as NetBox does for every change that changes something."""
        after = None if action == "delete" else special.data(self, path, row)
        if path in UNLOGGED or before == after:
            return
        self.write_change(
            models()[path].object_type, row["id"], self.printed(path, row), action, (before, after), message
        )

    def write_change(  # noqa: PLR0917  as many as a change has parts
        self, kind: str, number: int, name: str, action: str, data: tuple[Row | None, Row | None], message: str
    ) -> None:
        """Write an object change of any kind of object, also of one that has no list here."""
        user = self.get("users/users", self.user)
        self.numbers[CHANGES] += 1
        change = {
            "id": self.numbers[CHANGES],
            "time": self.now(),
            "user": self.user or None,
            "user_name": user["username"] if user else "",
            "request_id": str(UUID(int=self.request, version=4)),
            "action": action,
            "changed_object_type": kind,
            "changed_object_id": number,
            "object_repr": name[:200],
            "message": message or "",
            "prechange_data": data[0],
            "postchange_data": data[1],
        }
        self.lists[CHANGES][change["id"]] = change
        for watcher in self.watch:
            watcher(change)

    def printed(self, path: str, row: Row) -> str:
        """Return how NetBox shows an object in a word."""
        text = special.printed(self, path, row)
        return text if text is not None else str(row.get(PRINTED.get(path, "name"), ""))

    def _values(self, model: Model, given: Mapping[str, Any], wrong: dict[str, Any], old: Row) -> Row:
        found: Row = {}
        for name, shape in model.written.items():
            if name not in given:
                continue
            try:
                found[name] = value(self, shape, given[name])
                if name == "custom_fields":
                    found[name] = check_custom_fields(self, model.object_type, old["custom_fields"], found[name])
            except UnfitError as error:
                wrong |= error.detail
            except InvalidError as error:
                wrong[name] = error.detail
        return found

    def _taken(self, model: Model, row: Row, *, alone: bool = False) -> Row:
        """Say which values another object has already: single fields first, as NetBox looks at them first."""
        wrong: Row = {}
        for names in UNIQUE.get(model.path, ()):
            values = [row.get(name) for name in names]
            empty = values[-1] in (None, "") or (model.path not in NULLS_ALIKE and None in values)
            if empty or (len(names) == 1) is not alone:
                continue
            for other in self.lists[model.path].values():
                if other["id"] != row["id"] and [other.get(name) for name in names] == values:
                    wrong |= special.taken(model, names)
        return wrong

    def _naming(self, path: str, number: int) -> Iterator[tuple[str, str, Row]]:
        """Return the objects that name another, each with the field that does."""
        for other, model in models().items():
            names = [name for name, shape in model.written.items() if special.refers(shape, path)]
            for row in self.lists[other].values():
                for name in names:
                    if row.get(name) == number or (isinstance(row.get(name), list) and number in row[name]):
                        yield other, name, row


def _only(given: Mapping[str, Any], fields: Container[str] | None) -> Mapping[str, Any]:
    """Return of what is sent what NetBox looks at: `fields=` in the address limits what is written, too."""
    return given if fields is None else {name: each for name, each in given.items() if name in fields}


def _owned(path: str, field: str) -> bool:
    return (path in COMPONENTS and field in OWNERS) or (path == "dcim/locations" and field in {"site", "parent"})


def _cascade(one: tuple[str, int]) -> tuple[int, int]:
    """Return by what the components of an object that is deleted are ordered."""
    return CASCADE.index(one[0]) if one[0] in CASCADE else len(CASCADE), one[1]
