"""One record of a site file, read field by field; what is wrong is noted with its line."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from fleet_runner.adapters.sitefiles.tree import Map, Plain, Seq, meaning, plain_json
from fleet_runner.core.inventory.consistency import Problem, show

NULLS = frozenset({"", "~", "null", "Null", "NULL"})
MAX_CHARS = 200  # of a name, serial number or address; NetBox allows fewer


class Mark:
    """Says where a record was found, or one of its fields: "devices.yml:12"."""

    __slots__ = ("file", "line", "lines")

    def __init__(self, file: str, line: int, lines: Mapping[str, int]) -> None:
        self.file, self.line, self.lines = file, line, lines

    def __call__(self, field: str = "") -> str:
        """Return the file and line of the record, or of one of its fields."""
        return f"{self.file}:{self.lines.get(field, self.line)}"


class Row:
    """A mapping of a site file. Each method reads one key; a key that has nothing gives None or the default."""

    __slots__ = ("kind", "mark", "problems", "tree")

    def __init__(self, tree: Map, file: str, kind: str, problems: list[Problem]) -> None:
        self.tree, self.kind, self.problems = tree, kind, problems
        self.mark = Mark(file, tree.line, tree.lines)

    def wrong(self, key: str, text: str, known: Collection[str] = ()) -> None:
        """Note a problem of one key."""
        self.problems.append(Problem(self.mark(key), text, key if known else "", known))

    def unknown(self, key: str, text: str, known: Collection[str]) -> None:
        """Note the name under a key that nothing defines."""
        self.problems.append(Problem(self.mark(key), text, str(self.tree.items[key]), known))

    def only(self, known: Collection[str]) -> None:
        """Note every key that such a record does not have."""
        for key in self.tree.items:
            if key not in known:
                self.wrong(key, f"{self.kind} has the unknown key {show(key)}", known)

    def needed(self, key: str) -> str:
        """Return the text of a key that every such record has."""
        text = self.text(key)
        if text is None and not isinstance(self.tree.items.get(key), Map | Seq):
            self.wrong(key, f"{self.kind} has no {show(key)}; give it one")
        return text or ""

    def text(self, key: str) -> str | None:
        """Return a short text as it was written, even if it looks like a number."""
        value = self._scalar(key, "a text")
        return None if value is None else self._short(key, value)

    def texts(self, key: str) -> Iterator[str]:
        """Return the short texts of the list under a key."""
        value = self._given(key)
        if value is None:
            return
        if not isinstance(value, Seq):
            self._refuse(key, _describe(value), "a list of texts")
            return
        for entry in value.items:
            found = self._short(key, entry) if isinstance(entry, str) else None
            if found is None:
                self._refuse(key, f"a list with {_describe(entry)}", "a list of texts")
            else:
                yield found

    def number(self, key: str, default: float | None = None) -> float | None:
        """Return a number that is not negative."""
        value = self._scalar(key, "a number")
        if value is None:
            return default
        try:
            number = float(value) if isinstance(value, Plain) and "_" not in value else math.nan
        except ValueError:
            number = math.nan
        if math.isfinite(number) and number >= 0:
            return number
        self._refuse(key, value, "a number that is not negative")
        return default

    def integer(self, key: str, default: int) -> int:
        """Return a whole number that is not negative."""
        number = self.number(key, float(default))
        if number is not None and not number.is_integer():
            self._refuse(key, f"{number:g}", "a whole number")
        return default if number is None else int(number)

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self._scalar(key, "true or false")
        if value is None:
            return default
        if isinstance(found := meaning(value), bool):
            return found
        self._refuse(key, value, "true or false")
        return default

    def choice(self, key: str, choices: Collection[str], default: str) -> str:
        """Return one of a few words."""
        value = self.text(key)
        if value is None or value in choices:
            return value or default
        self._refuse(key, value, f"one of {', '.join(choices)}")
        return default

    def address(self, key: str, form: Callable[[str], str | None], expected: str) -> str | None:
        """Return an address in the form that records keep."""
        value = self.text(key)
        found = form(value) if value is not None else None
        if value is not None and found is None:
            self._refuse(key, value, expected)
        return found

    def row(self, key: str, kind: str) -> "Row | None":
        """Return the record under a key."""
        value = self._given(key)
        if value is None:
            return None
        if isinstance(value, Map):
            return Row(value, self.mark.file, kind, self.problems)
        self._refuse(key, _describe(value), "a mapping")
        return None

    def rows(self, key: str, kind: str) -> Iterator["Row"]:
        """Return the records of the list under a key."""
        value = self._given(key)
        if value is None:
            return
        if not isinstance(value, Seq):
            self._refuse(key, _describe(value), "a list")
            return
        yield from rows(value, self.mark.file, kind, self.problems)

    def json(self, key: str) -> dict[str, Any]:
        """Return the mapping under a key, whatever it holds, as JSON values."""
        found = self.row(key, key)
        return plain_json(found.tree) if found else {}

    def _short(self, key: str, value: str) -> str | None:
        if len(value) > MAX_CHARS or not value.isprintable():
            self.wrong(key, f"{show(key)} is {show(value)}, expected up to {MAX_CHARS} printable characters")
            return None
        return str(value.strip()) or None

    def _given(self, key: str) -> Any:
        value = self.tree.items.get(key)
        return None if isinstance(value, Plain) and value in NULLS else value

    def _scalar(self, key: str, expected: str) -> str | None:
        value = self._given(key)
        if value is None or isinstance(value, str):
            return value
        self._refuse(key, _describe(value), expected)
        return None

    def _refuse(self, key: str, found: str, expected: str) -> None:
        self.wrong(key, f"{show(key)} of {self.kind} is {show(found)}, expected {expected}")


def rows(tree: Seq, file: str, kind: str, problems: list[Problem]) -> Iterator[Row]:
    """Return the records of a list; entries that are no mappings are noted."""
    for line, entry in zip(tree.lines, tree.items, strict=True):
        if isinstance(entry, Map):
            yield Row(entry, file, kind, problems)
        else:
            problems.append(
                Problem(f"{file}:{line}", f"found {show(_describe(entry))}, expected {kind} as a mapping")
            )


def _describe(value: Any) -> str:
    match value:
        case Map():
            return "a mapping"
        case Seq():
            return "a list"
        case _:
            return str(value)
