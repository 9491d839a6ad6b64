"""Which runner reaches which node; and runners, and the batches between them, as the store knows them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any

from fleet_runner.core.cabling.fabrics import Fabric
from fleet_runner.core.inventory.records import Fleet, rack_key
from fleet_runner.core.inventory.switch import Switch, stopped

SOON = "a runner is about to take it"
"""What nothing keeps a batch from."""

QUEUE_BYTES = 40
"""The engine tells of a job over a channel with its queue's name after 23 letters; PostgreSQL has 63 bytes for it."""

Reach = tuple[str, ...]
"""Patterns of places; without any, every place is reached."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Who carries batches; times are the database's.

    `slots` is how many at a time, `used` how many it carries, `silent` for how many seconds it was not heard of. One
    that no database knows of has no `started_at` and no `beat_at`.
    """

    id: str
    host: str
    release: str
    places: Reach
    slots: int
    started_at: float | None = None
    beat_at: float | None = None
    ending: bool = False
    used: int = 0
    silent: float = 0.0


@dataclass(frozen=True, slots=True)
class Offer:
    """A batch that a runner may take: what its play is told about each node, and where the nodes are."""

    batch: str
    stage: str
    runs: Mapping[str, Mapping[str, Any]]
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """A batch between runners, as people see it.

    `runner` is "" while nobody has it, `left` how many seconds its lease has left; `read_at` is when it was read, by
    the database's clock as all of its times.
    """

    batch: str
    stage: str
    nodes: tuple[str, ...]
    places: tuple[str, ...]
    runner: str
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


def queue(places: Iterable[str]) -> str:
    """Return the name of the engine's queue for batches of some places, which is short: PostgreSQL tells of it."""
    name = ",".join(sorted(places)) or "anywhere"
    if len(name.encode()) <= QUEUE_BYTES:
        return name
    digest = sha256(name.encode()).hexdigest()[:12]
    return f"{name.encode()[: QUEUE_BYTES - 13].decode(errors='ignore')}~{digest}"


def living(runners: Iterable[Runner], seconds: float) -> tuple[Runner, ...]:
    """Return the runners that may take batches: heard of within so many seconds, and not ending."""
    return tuple(runner for runner in runners if not runner.ending and runner.silent < seconds)


def group(runners: Iterable[Runner], where: str) -> frozenset[str]:
    """Return which of some runners reach a place: nodes that the same ones reach may share a batch.

    A place that none reaches is a group of its own: whoever comes back to reach it may not reach another such place.
    """
    return frozenset(runner.id for runner in runners if reaches(runner.places, where)) or frozenset({where})


def apart(places: Sequence[str], able: Sequence[Runner]) -> bool:
    """Whether each of a batch's places is reached, but all of them by no runner: as it is, nobody can take it."""
    together = any(reaches_all(runner.places, places) for runner in able)
    singly = all(any(reaches(runner.places, where) for runner in able) for where in places)
    return bool(places) and singly and not together


def waits(parcel: BatchSummary, able: Sequence[Runner], paused: Switch | None) -> str:
    """Say why nobody has taken a batch, of those who may."""
    if paused is not None:
        return stopped(paused)
    if not able:
        return "no runner is running; start one: fleet-runner serve"
    far = [where for where in parcel.places if not any(reaches(runner.places, where) for runner in able)]
    if far:
        return f"no runner reaches {far[0] or 'a node without a place'}"
    near = [runner for runner in able if reaches_all(runner.places, parcel.places)]
    if not near:
        return f"no runner reaches all of {', '.join(parcel.places)}"
    if all(runner.used >= runner.slots for runner in near):
        return f"each runner that reaches it is at its limit: {', '.join(runner.id for runner in near)}"
    return SOON
