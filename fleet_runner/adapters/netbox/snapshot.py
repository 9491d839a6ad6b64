"""Everything that is kept of a NetBox at one moment, and from where its changes are asked for."""

from dataclasses import dataclass

from fleet_runner.adapters.netbox.rows import Rows


@dataclass(frozen=True, slots=True)
class Mark:
    """How far NetBox's change log was read: the last change's id and what tells it from another one of that id.

    `open` are ids below it that were not there yet: of changes whose transaction was not done. `whole_at` is when
    everything was read, in seconds since 1970, by this machine's clock.
    """

    change: int
    told: str
    open: tuple[int, ...]
    whole_at: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was read, from where its changes are asked for, in how many requests, and how ("nothing changed")."""

    rows: Rows
    mark: Mark | None
    requests: int
    how: str
