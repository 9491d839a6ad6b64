"""The objects of a stand-in NetBox: made, changed and deleted as NetBox allows, each time with its object change."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.netbox import special
from tests.netbox.description import Model, models
from tests.netbox.kinds import COMPONENTS, DEFAULTS, LET_GO, NULLS_ALIKE, OWNERS, PRINTED, UNIQUE
from tests.netbox.values import InvalidError, check_custom_fields, value

Row = dict[str, Any]

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
CHANGES = "core/object-changes"
UNLOGGED = {CHANGES, "users/tokens", "core/object-types"}


class ProtectedError(Exception):
    """An object is named by others, which keeps it from being deleted."""


class Database:
    """What a NetBox holds: for each list, its objects by their ids, references as ids and choices as their values."""

    def __init__(self) -> None:
        self.lists: dict[str, dict[int, Row]] = {path: {} for path in models()}
        self.numbers: dict[str, int] = defaultdict(int)
        self.clock = EPOCH
        self.request = self.requests = 0
        self.user = 0
        self.watch: list[Callable[[Row], object]] = []

    @contextmanager
    def as_one(self, user: int) -> Iterator[None]:
        """One request of a user: all that it changes, or nothing."""
        before = {path: dict(rows) for path, rows in self.lists.items()}, dict(self.numbers)
        self.requests += 1
        self.request, self.user = self.requests, user
        try:
            yield
        except Exception:
            self.lists, self.numbers = before[0], defaultdict(int, before[1])
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
        row = {name: deepcopy(shape.empty) for name, shape in model.written.items()} | DEFAULTS.get(path, {})
        row |= {"id": 0, "tags": [], "custom_fields": {}}
        wrong = {name: ["This field is required."] for name in model.required if name not in given}
        message = given.get("changelog_message", "")
        row |= self._values(model, given, wrong, row)
        if wrong:
            raise InvalidError(wrong)
        special.completed(self, path, row)
        self._alone(model, row)
        self.numbers[path] += 1
        row |= {"id": self.numbers[path], **more}
        row["created"] = row["last_updated"] = self.now()
        self.lists[path][row["id"]] = row
        special.created(self, path, row)
        self.note(path, row, "create", None, message)
        return row

    def change(self, path: str, number: int, given: Mapping[str, Any]) -> Row:
        """Change an object. Raises InvalidError."""
        model, old = models()[path], self.lists[path][number]
        wrong: dict[str, Any] = {}
        row = deepcopy(old) | self._values(model, given, wrong, old)
        if wrong:
            raise InvalidError(wrong)
        special.completed(self, path, row)
        self._alone(model, row)
        row["last_updated"] = self.now()
        self.lists[path][number] = row
        special.changed(self, path, old, row)
        self.note(path, row, "update", old, given.get("changelog_message", ""))
        return row

    def delete(self, path: str, number: int, message: str = "") -> None:
        """Delete an object with what belongs to it. Raises ProtectedError."""
        row = self.lists[path][number]
        held: list[str] = []
        for other, name, each in list(self._naming(path, number)):
            if other in COMPONENTS and name in OWNERS:
                if each["id"] in self.lists[other]:
                    self.delete(other, each["id"])
            elif name in LET_GO or (isinstance(each[name], list) and name != "object_types"):
                kept = [one for one in each[name] if one != number] if isinstance(each[name], list) else None
                self.touch(other, each["id"], **{name: kept})
            else:
                held.append(f"{self.printed(other, each)} ({each['id']})")
        if held:
            text = f"Unable to delete object. {len(held)} dependent objects were found: {', '.join(held)}"
            raise ProtectedError(text)
        special.deleted(self, path, row)
        del self.lists[path][number]
        self.note(path, row, "delete", row, message)

    def touch(self, path: str, number: int, **values: Any) -> None:
        """Change an object as a consequence of another change: nothing is checked."""
        old = self.lists[path].get(number)
        if old is not None:
            row = deepcopy(old) | values | {"last_updated": self.now()}
            self.lists[path][number] = row
            self.note(path, row, "update", old)

    def note(self, path: str, row: Row, action: str, old: Row | None, message: str = "") -> None:
        """Write an object change, as NetBox does for every change."""
        if path in UNLOGGED:
            return
        user = self.get("users/users", self.user)
        self.numbers[CHANGES] += 1
        change = {
            "id": self.numbers[CHANGES],
            "time": self.now(),
            "user": self.user or None,
            "user_name": user["username"] if user else "",
            "request_id": str(UUID(int=self.request, version=4)),
            "action": action,
            "changed_object_type": models()[path].object_type,
            "changed_object_id": row["id"],
            "object_repr": self.printed(path, row)[:200],
            "message": message or "",
            "prechange_data": None if action == "create" else special.data(self, path, old or row),
            "postchange_data": None if action == "delete" else special.data(self, path, row),
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
            except InvalidError as error:
                wrong[name] = error.detail
        return found

    def _alone(self, model: Model, row: Row) -> None:
        for names in UNIQUE.get(model.path, ()):
            values = [row.get(name) for name in names]
            if values[-1] in (None, "") or (model.path not in NULLS_ALIKE and None in values):
                continue
            for other in self.lists[model.path].values():
                if other["id"] != row["id"] and [other.get(name) for name in names] == values:
                    raise InvalidError(special.taken(model, names))

    def _naming(self, path: str, number: int) -> Iterator[tuple[str, str, Row]]:
        """Return the objects that name another, each with the field that does."""
        for other, model in models().items():
            names = [name for name, shape in model.written.items() if special.refers(shape, path)]
            for row in self.lists[other].values():
                for name in names:
                    if row.get(name) == number or (isinstance(row.get(name), list) and number in row[name]):
                        yield other, name, row
