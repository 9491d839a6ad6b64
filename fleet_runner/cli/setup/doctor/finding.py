"""One line of the doctor: what was looked at, what was found, and what to type."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Thread
from typing import Any

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.settings import Settings

SHOWN = 3
"""Names of a kind that are told; the rest is counted."""


class Grade(StrEnum):
    """How a part is. A warning is what may be meant, or comes later."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of a part; `todo` is what to type or to change where it is not ok."""

    part: str
    grade: Grade
    found: str
    todo: str = ""


@dataclass(slots=True)
class Site:
    """The settings, and what one look learns for those after it."""

    settings: Settings
    fleet: Fleet | None = None
    hosts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])


Look = Callable[[], Iterable[Finding]]


def ok(part: str, found: str) -> Finding:
    """Return that nothing is wrong."""
    return Finding(part, Grade.OK, found)


def warning(part: str, found: str, todo: str) -> Finding:
    """Return what may be meant."""
    return Finding(part, Grade.WARNING, found, todo)


def wrong(part: str, found: str, todo: str = "") -> Finding:
    """Return what keeps fleet-runner from its work."""
    return Finding(part, Grade.WRONG, found, todo)


def some(names: Iterable[str]) -> str:
    """Return the first names, and how many there are beside them."""
    given = list(names)
    more = f" and {len(given) - SHOWN} more" if len(given) > SHOWN else ""
    return ", ".join(given[:SHOWN]) + more


def limited(part: str, look: Look, seconds: float) -> tuple[Finding, ...]:
    """Return what a look finds in so many seconds; one that fails, or does not end, is a finding itself."""
    found: list[Finding] = []

    def run() -> None:
        try:
            found.extend(look())
        except FleetError as error:
            found.append(wrong(part, str(error)))
        except Exception as error:  # noqa: BLE001  the other parts are looked at all the same
            todo = "report it, with what this part is set to"
            found.append(wrong(part, f"not checked: {type(error).__name__} during the check", todo))

    thread = Thread(target=run, name=f"doctor {part}", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        todo = "find out what does not answer: a file server, a name server, a proxy"
        return (*found, wrong(part, f"no answer within {seconds:g} s", todo))
    return tuple(found)
