"""What a tick works on: the settings, the store, the source of truth and the engine that carries plays."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from fleet_runner.adapters.plays import engine as playbooks
from fleet_runner.adapters.plays.engine import Batch, Look
from fleet_runner.adapters.plays.leased_engine import Leased
from fleet_runner.adapters.store import Store
from fleet_runner.core.access.store_identity import Identity, Remembered
from fleet_runner.core.budgets.modes import Where
from fleet_runner.core.cabling.fabrics import Fabric
from fleet_runner.core.inventory.identity import Refused
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Run
from fleet_runner.core.lifecycle.spool import Decoded
from fleet_runner.core.lifecycle.view import Timing
from fleet_runner.core.schedules.known import SWEEPS
from fleet_runner.core.schedules.sweep import AWAKE, Sweep, SweepHistory
from fleet_runner.reconcile.checks.tested_types import ActiveTests
from fleet_runner.reconcile.faults.policy import Policy
from fleet_runner.reconcile.firmware.catalogues import Catalogues
from fleet_runner.reconcile.lifecycle.batches import in_line
from fleet_runner.reconcile.loop.liveness import Heartbeat, LastHeard
from fleet_runner.settings import Settings


class Engine(Protocol):
    """What carries batches: see `adapters.plays.engine`, which is the one in use."""

    def launch(self, settings: Settings, batch: Batch) -> None:
        """Start a batch that nobody started yet."""

    def look(self, settings: Settings, batch_id: str) -> Look:
        """Tell what became of a batch."""
        ...

    def spool(self, settings: Settings, batch_id: str, offset: int) -> Decoded:
        """Return what its play told since byte `offset`."""
        ...

    def stop(self, settings: Settings, batch_id: str) -> None:
        """Have a running batch ended."""

    def discard(self, settings: Settings, batch_id: str) -> None:
        """Remove what a batch that is over left behind."""


@dataclass(slots=True)
class TickContext:
    """What a tick works on. `read_source` may be slow; its last good answer is kept in `fleet` and `designed`.

    `designed` are the fabrics as that answer names them; `fabrics` those by the names that the store has for them.

    Where other machines write the store, too, batches are offered to all of them, and one machine `decides`; `heard`
    tells when they last heard of this one, while it shares their work. `unaccepted` says why nothing is done by the
    store, "" where it is this fleet's, None before that was looked at; `identity` and `remembered` are what is known
    of it then. `line` names the nodes that wait for room for
    a play, the first one first. `domain_turns` says what compute trays wait for in firmware rollouts.
    `refused` says why a node is not touched, as of the source that is `registered`.
    """

    settings: Settings
    store: Store
    read_source: Callable[[], Fleet]
    engine: Engine = playbooks
    fleet: Fleet | None = None
    designed: tuple[Fabric, ...] = ()
    fabrics: Mapping[str, Fabric] = field(default_factory=dict[str, Fabric])
    fleet_read_at: float = 0.0
    standings: Mapping[str, SweepHistory] = field(default_factory=dict[str, SweepHistory])
    catalogues: Catalogues = field(default_factory=Catalogues)
    active: ActiveTests = field(default_factory=ActiveTests)
    policy: Policy = field(default_factory=Policy)
    pulse: Heartbeat = field(default_factory=Heartbeat)
    decides: Callable[[], bool] = field(default=lambda: True)
    heard: LastHeard | None = None
    registered: str = ""
    domain_turns: Mapping[str, str] = field(default_factory=dict[str, str])
    unaccepted: str | None = None
    identity: Identity | None = None
    remembered: Remembered | None = None
    refused: Mapping[str, Refused] = field(default_factory=dict[str, Refused])
    line: dict[str, None] = field(default_factory=dict[str, None])

    def __post_init__(self) -> None:
        """Carry batches as the store wants it, where nobody says otherwise, and take up a line left behind."""
        if self.engine is playbooks and self.store.shared:
            self.engine = Leased(self.store)
        if not self.store.shared:
            self.line |= dict.fromkeys(node.name for node in in_line(self.store))

    def where(self, name: str) -> Where:
        """Return where a node or a fabric belongs, as of the source that was read last."""
        fabric = self.fabrics.get(name)
        if fabric is not None:
            return Where(name, fabric.site)
        return Where.of(self.fleet, name) if self.fleet is not None else Where(name)


def source_due(world: TickContext, now: float) -> float:
    """Return when the source of truth is read again."""
    sweep = Sweep(world.settings.schedule("source"), world.standings.get("source", AWAKE))
    return sweep.due(world.settings.runner_name, world.fleet_read_at, now)


@dataclass(slots=True)
class Report:
    """What one tick did: sentences on moves and tickets, the batches it started, the fabric sweeps that it closed.

    `tickets` counts how often one was opened, seen again or closed.
    """

    moves: list[str] = field(default_factory=list[str])
    started: int = 0
    closed: int = 0
    conflicts: int = 0
    tickets: int = 0
    swept: list[Run] = field(default_factory=list[Run])


def timing(settings: Settings, standings: Mapping[str, SweepHistory] = MappingProxyType({})) -> Timing:
    """Return the runner's patience as the settings have it, and how its schedules stand."""
    sweeps = {name: Sweep(settings.schedule(name), standings.get(name, AWAKE)) for name in SWEEPS}
    return Timing(
        retry=settings.retry_seconds,
        working=settings.working_seconds,
        firmware=settings.firmware_pause_seconds,
        drain=settings.drain_seconds,
        drain_deadline=settings.drain_deadline_seconds,
        passive=sweeps["passive"],
        active=sweeps["active"],
        active_visit=settings.active_visit_seconds,
        cabling=sweeps["cabling"],
        confirm=settings.cabling_confirm_seconds,
    )
