"""A list of things with names, as a file describes trackers and channels: read as a whole or not at all."""

import re
from collections.abc import Callable
from typing import Protocol, TypeVar

from fleet_runner.core.base import fields
from fleet_runner.core.base.fields import Problem, Section, Unfit

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


class Named(Protocol):
    """What a list holds."""

    @property
    def name(self) -> str:
        """Return the name, "" where it was wrong."""
        ...


T = TypeVar("T", bound=Named)


class ListError(Exception):
    """A list is unusable. `problems` are all of its wrong fields."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(map(told, problems)))
        self.problems = problems


def told(problem: Problem) -> str:
    """Return a problem as a sentence, with where it is: trackers[1].url."""
    where = fields.named(problem.path, "")
    return f"{where or 'the file'}: found {problem.found}, expected {problem.expected}"


def read(raw: object, key: str, most: int, one: Callable[[Section], T]) -> tuple[T, ...]:
    """Return what stands below a key, at most so many, each made by `one` and each name once.

    Raises:
        ListError: with everything that is wrong.
    """
    problems: list[Problem] = []
    top = Section({} if raw is None else raw, (), problems)
    nothing: list[object] = []
    rows = top.take(key, fields.rows, nothing)
    top.strangers()
    if len(rows) > most:
        top.wrong(key, f"{len(rows)} {key}", f"at most {most}")
    found = [one(Section(row, (key, index), problems)) for index, row in enumerate(rows[:most])]
    names = [each.name for each in found]
    for index, name in enumerate(names):
        if name and name in names[:index]:
            problems.append(Problem((key, index, "name"), repr(name), "each name only once"))
    if problems:
        raise ListError(tuple(problems))
    return tuple(found)


def name(row: Section) -> str:
    """Return the name of a row; "" where it is wrong, which is noted."""
    return row.take("name", like(_NAME, "a name in small letters, digits and dashes"), "", needed=True)


def like(pattern: re.Pattern[str], expected: str) -> Callable[[object], str]:
    """Return the form of a text that matches a pattern as a whole."""

    def form(value: object) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise Unfit(expected)
        return value

    return form
