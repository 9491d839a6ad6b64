"""The batches between runners as people see and steer them: what runs where, what waits and why, and who runs."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from fleet_runner.adapters.plays import engine
from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.inventory.placement import SOON, Runner, living, waits
from fleet_runner.core.lifecycle import waits as waiting
from fleet_runner.core.lifecycle.states import ENDED, SERVING
from fleet_runner.reconcile.lifecycle.batches import AGAIN, in_line
from fleet_runner.reconcile.loop.leader import described
from fleet_runner.reconcile.loop.single_instance import served
from fleet_runner.settings import Settings

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store


class Line(NamedTuple):
    """A batch as the queue shows it: `since` is how many seconds ago it was offered.

    Those that are not made yet, because as many run as may, are one without a name: its nodes stand in line, the
    first one for at least so long (who waits is looked at again every `AGAIN` seconds, and waits on).
    """

    batch: str
    stage: str
    nodes: tuple[str, ...]
    places: tuple[str, ...]
    runner: str
    since: float
    state: str
    why: str


def queue(settings: Settings, store: "Store") -> list[Line]:
    """Return every batch that has not ended."""
    return _shared(settings, store) if store.shared else _embedded(settings, store)


def queued(settings: Settings, store: "Store") -> dict[str, str]:
    """Say of each node whose batch nobody has taken why that is; nothing where it is about to be."""
    if not store.shared:
        return {}
    untaken = [line for line in _shared(settings, store) if line.state == "waits" and line.why != SOON]
    return {node: f"{line.stage} waits: {line.why}" for line in untaken for node in line.nodes}


def away(settings: Settings, store: "Store") -> tuple[waiting.Wait, ...]:
    """Return what nodes that do not serve wait for now."""
    nodes = [each for each in store.nodes() if each.state not in SERVING | ENDED]
    return waiting.waits(nodes, (run.node for run in store.open_runs()), queued(settings, store))


def runners(settings: Settings, store: "Store") -> tuple[Runner, ...]:
    """Return who runs: with SQLite this machine, where it serves, for nobody else can."""
    if store.shared:
        return store.runners()
    used = len({run.batch for run in store.open_runs()})
    return (replace(described(settings), places=(), used=used),) if served(settings) else ()


def deciding(settings: Settings, store: "Store") -> str:
    """Return which runner decides, "" where none does."""
    return store.deciding() if store.shared else described(settings).id


def standing(runner: Runner, decides: str, seconds: float) -> str:
    """Say in a word how a runner stands that was to be heard of within so many seconds."""
    alive = runner.silent < seconds
    if runner.ending:
        return "ending" if alive and runner.used else "ended"
    if not alive:
        return "silent"
    return "decides" if runner.id == decides else "runs"


def stop(settings: Settings, store: "Store", batch: str, because: tuple[str, str]) -> None:
    """End a batch wherever it runs; one that nobody began never will be. `because` is by whom and why.

    Raises:
        FleetError: no reason is given, or the batch is over.
    """
    by, reason = because[0], because[1].strip()
    if not reason:
        raise FleetError("no reason is given; say why the batch must end")
    if not any(run.batch == batch for run in store.open_runs()):
        raise FleetError(f"no batch {batch!r} runs or waits; fleet-runner queue shows those that do")
    if not store.shared:
        engine.stop(settings, batch)
    elif not store.stop_parcel(batch, f"{by} stopped it: {reason}"):
        raise FleetError(f"batch {batch} has ended already; its nodes are decided at the next tick")


def _shared(settings: Settings, store: "Store") -> list[Line]:
    known, paused = living(store.runners(), settings.lease_seconds), store.queue_paused()
    lines: list[Line] = []
    for parcel in store.parcels():
        state = "runs" if parcel.started_at is not None else "taken" if parcel.runner else "waits"
        why = parcel.detail if parcel.stop else "" if parcel.runner else waits(parcel, known, paused)
        since = parcel.read_at - parcel.offered_at
        lines.append(Line(parcel.batch, parcel.stage, parcel.nodes, parcel.places, parcel.runner, since, state, why))
    return lines


def _embedded(settings: Settings, store: "Store") -> list[Line]:
    """Return the batches of the embedded engine, as their folders on this machine tell."""
    now, found = time.time(), dict[str, list[Any]]()
    for run in store.open_runs():
        found.setdefault(run.batch, []).append(run)
    lines: list[Line] = []
    for batch, mine in found.items():
        look = engine.look(settings, batch)
        state = "runs" if look.state is BatchState.RUNNING else look.state.value
        names = tuple(sorted(run.node for run in mine))
        lines.append(Line(batch, mine[0].stage, names, (), "", now - mine[0].opened_at, state, look.detail))
    waiting = in_line(store)
    if waiting:
        since = max(0.0, now + AGAIN - waiting[0].wake_at)
        names, why = tuple(node.name for node in waiting), waiting[0].waiting.removeprefix("waits: ")
        lines.append(Line("", "", names, (), "", since, "waits", why))
    return lines
