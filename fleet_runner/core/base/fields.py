"""Sections of a profile, read key by key: everything that is wrong with one is told at once."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

Path = tuple[str | int, ...]
Plain = str | int | bool

LONGEST = 200
"""Characters of a text; no vendor's version or id comes near."""

NEAR = 0.6
"""How alike (difflib's ratio) a key is to a known one before it is taken for a slip of the pen."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEX64 = re.compile(r"[0-9a-f]{64}")
_STEP = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+@=,()~-]{0,199}")


@dataclass(frozen=True, slots=True)
class Problem:
    """One wrong field of a profile: where it is below `fleet_profile`, what was found, and what was expected."""

    path: Path
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{named(self.path)}: found {self.found}, expected {self.expected}"


class Unfit(Exception):  # noqa: N818  (no error of the product: it never leaves this file and its forms)
    """A value does not have the form; the text says which it should have."""


class Section:
    """One mapping of a profile. What is wrong with it is added to `problems`, and reading goes on."""

    def __init__(self, found: object, path: Path, problems: list[Problem]) -> None:
        self.path = path
        self.problems = problems
        self.known: list[str] = []
        self.sound = isinstance(found, Mapping)
        self.rows: Mapping[object, object] = found if isinstance(found, Mapping) else {}
        if not self.sound:
            problems.append(Problem(path, shown(found), "a mapping"))

    def take(self, key: str, form: Callable[[object], T], otherwise: T, *, needed: bool = False) -> T:
        """Return a key's value in its form; `otherwise` where it is absent, or wrong, which is a problem then."""
        self.known.append(key)
        if key not in self.rows:
            if needed and self.sound:
                self.wrong(key, "nothing", "it to be given")
            return otherwise
        try:
            return form(self.rows[key])
        except Unfit as unfit:
            self.wrong(key, shown(self.rows[key]), str(unfit))
            return otherwise

    def below(self, key: str) -> "Section | None":
        """Return a key's mapping; None where it is absent."""
        self.known.append(key)
        return Section(self.rows[key], (*self.path, key), self.problems) if key in self.rows else None

    def several(self, key: str, form: Callable[[object], T]) -> tuple[T, ...]:
        """Return a key's list, each in a form and none twice; empty where it is absent, which alone may be empty."""
        nothing: list[object] = []
        rows = self.take(key, listed, nothing)
        found: list[T] = []
        for index, row in enumerate(rows):
            try:
                found.append(form(row))
            except Unfit as unfit:
                self.problems.append(Problem((*self.path, key, index), shown(row), str(unfit)))
                continue
            if found.index(found[-1]) < len(found) - 1:
                self.problems.append(Problem((*self.path, key, index), shown(row), "each only once"))
        return tuple(found)

    def wrong(self, key: str, found: str, expected: str) -> None:
        """Note what is wrong with a key."""
        self.problems.append(Problem((*self.path, key), found, expected))

    def strangers(self) -> None:
        """Note every key that nobody asked for: a slip of the pen would be a rule that is not kept."""
        for key in self.rows:
            if key not in self.known:
                near = get_close_matches(str(key), self.known, n=1, cutoff=NEAR)
                hint = f"{near[0]!r}" if near else f"one of {', '.join(self.known)}"
                self.wrong(str(key), f"the key {str(key)!r:.60}", hint)


def named(path: Path, root: str = "fleet_profile") -> str:
    """Return how a person writes a path: fleet_profile.firmware.components[3].images["2.1"].sha256."""
    steps = [root]
    for step in path:
        plain = isinstance(step, str) and _PLAIN.fullmatch(step)
        steps.append(f".{step}" if plain else f"[{step}]" if isinstance(step, int) else f'["{step}"]')
    return "".join(steps).removeprefix(".")


def shown(value: object) -> str:
    """Return a value as it is told to a person."""
    return f"{value!r:.80}"


def text(value: object) -> str:
    """A text of one line."""
    if isinstance(value, str) and _is_line(value):
        return value
    raise Unfit(f"a text of one line{_quote(value)}")


def version(value: object) -> str:
    """A version as the BMC writes it; a number that YAML made of it (1.10 is 1.1) is refused, not compared."""
    if not isinstance(value, str):
        raise Unfit(f"a version as a text{_quote(value)}")
    if not _is_line(value) or value != value.strip():
        raise Unfit("a version as the BMC writes it, without spaces around it")
    return value


def segment(value: object) -> str:
    """A glob over the last segment of a URI."""
    if "/" in text(value):
        raise Unfit("a glob over the last segment of a URI, without a slash")
    return text(value)


def rows(value: object) -> list[object]:
    """A list, which may be empty."""
    if not isinstance(value, list | tuple):
        raise Unfit("a list")
    return list(value)


def listed(value: object) -> list[object]:
    """A list of at least one."""
    if not isinstance(value, list | tuple) or not value:
        raise Unfit("a list of at least one")
    return list(value)


def whole(least: int, most: int) -> Callable[[object], int]:
    """A whole number in a range."""

    def form(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Unfit(f"a whole number from {least} to {most}")
        return value

    return form


def number(least: float, most: float) -> Callable[[object], float]:
    """A number in a range."""

    def form(value: object) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            raise Unfit(f"a number from {least:g} to {most:g}")
        return float(value)

    return form


def flag(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Unfit("true or false")
    return value


def plain(value: object) -> Plain:
    """A value that needs no structure: a text, a whole number, true or false."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, str) and _is_line(value):
        return value
    raise Unfit("a text of one line, a whole number, true or false")


def one_of(words: type[E]) -> Callable[[object], E]:
    """One of several words."""

    def form(value: object) -> E:
        if not isinstance(value, str) or value not in list(words):
            raise Unfit(f"one of {', '.join(words)}{_quote(value)}")
        return words(value)

    return form


def sha256(value: object) -> str:
    """A SHA-256 in hex, in small letters from here on."""
    if not isinstance(value, str) or not _HEX64.fullmatch(value.lower()):
        raise Unfit(f"a SHA-256, 64 hex digits{_quote(value)}")
    return value.lower()


def file_name(value: object) -> str:
    """A file below a folder, which no name leads out of: "bios_2.1.bin" or "supermicro/bios_2.1.bin"."""
    if not isinstance(value, str) or not all(_STEP.fullmatch(step) for step in value.split("/")):
        raise Unfit("a file below the folder of images, in letters, digits and _.+@=,()~-")
    return value


def resource(value: object) -> str:
    """A resource of a BMC."""
    if not isinstance(value, str) or not value.startswith("/redfish/v1/") or not _is_line(value):
        raise Unfit("a resource of the BMC, like /redfish/v1/Systems/1/Bios")
    return value


def _is_line(value: str) -> bool:
    return bool(value.strip()) and value.isprintable() and len(value) <= LONGEST


def _quote(value: object) -> str:
    """Say what helps where YAML made something else of a text: a number, a date, a yes or no."""
    return "" if value is None or isinstance(value, str | Mapping | list | tuple) else "; quote it"
