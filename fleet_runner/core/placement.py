"""Which runner reaches which node; and runners, and the batches between them, as the store knows them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from fleet_runner.core.fabrics import Fabric
from fleet_runner.core.records import Fleet, rack_key

Reach = tuple[str, ...]
"""Patterns of places; without any, every place is reached."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Who carries batches. `slots` is how many at a time, `used` how many it carries; times are the database's."""

    id: str
    host: str
    release: str
    places: Reach
    slots: int
    started_at: float = 0.0
    beat_at: float = 0.0
    ending: bool = False
    used: int = 0


@dataclass(frozen=True, slots=True)
class Offer:
    """A batch that any runner may take: what its play is told about each node, and where the nodes are."""

    batch: str
    stage: str
    runs: Mapping[str, Mapping[str, Any]]
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """A batch that a runner took; `token` is another one each time that it is taken."""

    offer: Offer
    token: int


@dataclass(frozen=True, slots=True)
class Parcel:
    """A batch between runners, as people see it.

    `runner` is "" while nobody has it, `left` how many seconds its lease has left; `read_at` is when it was read, by
    the database's clock as all of its times.
    """

    batch: str
    stage: str
    nodes: tuple[str, ...]
    places: tuple[str, ...]
    runner: str
    token: int
    offered_at: float
    read_at: float
    left: float
    started_at: float | None = None
    ended_at: float | None = None
    rc: int | None = None
    detail: str = ""
    stop: bool = False


def patterns(text: str) -> Reach:
    """Return the places that a setting names, with commas."""
    return tuple(dict.fromkeys(word for each in text.split(",") if (word := each.strip())))


def place(fleet: Fleet, fabrics: Mapping[str, Fabric], name: str) -> str:
    """Return where a node is: its rack with its site, or the site where no rack is known; a fabric is its site's."""
    if name in fabrics:
        return fabrics[name].site
    device = fleet.devices.get(name)
    if device is None:
        return ""
    return rack_key(device.site, device.rack) if device.rack else device.site


def reaches(reach: Reach, where: str) -> bool:
    """Whether a place is one of some patterns: a site with all of its racks (hall-a), or racks (hall-b/r0*)."""
    site = where.partition("/")[0]
    return not reach or any(fnmatchcase(where if "/" in each else site, each) for each in reach)


def reaches_all(reach: Reach, places: Iterable[str]) -> bool:
    """Whether every one of some places is reached."""
    return all(reaches(reach, where) for where in places)


def unreached(runners: Iterable[Runner], places: Iterable[str]) -> str:
    """Return a place that none of some runners reaches, "" where there is none; an ending runner reaches nothing."""
    able = [runner for runner in runners if not runner.ending]
    return next((where for where in places if not any(reaches(runner.places, where) for runner in able)), "")


def group(runners: Iterable[Runner], where: str) -> frozenset[str]:
    """Return which runners reach a place: nodes that the same ones reach may share a batch."""
    return frozenset(runner.id for runner in runners if not runner.ending and reaches(runner.places, where))
