"""Commands about the batches between runners: what runs where, what waits and why; and who runs."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from fleet_runner.adapters import playbooks
from fleet_runner.adapters.playbooks import BatchState
from fleet_runner.adapters.store import Store
from fleet_runner.cli.session import Exit, age, console, opened, plain, print_json, whoami
from fleet_runner.core.errors import FleetError
from fleet_runner.core.placement import SOON, Runner, Switch, living, stopped, waits
from fleet_runner.reconcile.alone import served
from fleet_runner.reconcile.carrying import described
from fleet_runner.settings import Settings

app = typer.Typer(invoke_without_command=True, rich_markup_mode="markdown")

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Reason = Annotated[str, typer.Option("--reason", "-r", help="why; others see it in `fleet-runner queue`")]
By = Annotated[str | None, typer.Option("--by", help="who asks; default: the user who runs the command")]


class Line(NamedTuple):
    """A batch as the queue shows it: `since` is how many seconds ago it was offered."""

    batch: str
    stage: str
    nodes: tuple[str, ...]
    places: tuple[str, ...]
    runner: str
    since: float
    state: str
    why: str


@app.callback()
def queue(context: typer.Context, json: Json = False) -> None:
    """Show every batch that has not ended: its nodes, who carries it, since when, and why it waits."""
    if context.invoked_subcommand is not None:
        return
    with opened() as (settings, store):
        lines = _shared(settings, store) if store.shared else _embedded(settings, store)
        paused = store.queue_paused()
        if json:
            print_json(
                {"batches": [line._asdict() for line in lines], "paused": paused._asdict() if paused else None}
            )
            return
        if paused is not None:
            console.print(Text(said(paused), "bold yellow"))
        if lines:
            console.print(_table(lines))
        else:
            console.print("no batch runs or waits")


@app.command("pause")
def pause(reason: Reason, by: By = None) -> None:
    """Have nothing more begin; what runs goes on to its end."""
    with opened() as (_, store):
        if not reason.strip():
            raise FleetError("--reason is empty; say why nothing more is to begin")
        store.pause_queue(by or whoami(), reason.strip())
        console.print("paused: nothing more begins until fleet-runner queue resume")


@app.command("resume")
def resume() -> None:
    """Have what waits begin."""
    with opened() as (_, store):
        if store.resume_queue():
            console.print("resumed: what waits begins")
            return
        console.print("it is not paused; nothing was changed")
        raise typer.Exit(Exit.NO)


@app.command("stop")
def stop(
    batch: Annotated[str, typer.Argument(help="a batch, as `fleet-runner queue` names it", metavar="BATCH")],
    reason: Reason,
    by: By = None,
) -> None:
    """End a batch wherever it runs; one that nobody began never will be. Its nodes are decided anew."""
    with opened() as (settings, store):
        if not reason.strip():
            raise FleetError("--reason is empty; say why it is to end")
        if not any(run.batch == batch for run in store.open_runs()):
            raise FleetError(f"no batch {batch!r} runs or waits; fleet-runner queue shows those that do")
        if not store.shared:
            playbooks.stop(settings, batch)
        elif not store.stop_parcel(batch, f"{by or whoami()} stopped it: {reason.strip()}"):
            raise FleetError(f"batch {batch} is over already; its nodes are decided at the next tick")
        console.print(f"{batch}: it ends; its nodes are decided anew")


def runners(json: Json = False) -> None:
    """Show who runs: where, which release, how much it carries, when it was last heard of, and what it reaches."""
    with opened() as (settings, store):
        known = store.runners() if store.shared else _alone(settings, store)
        deciding = store.deciding() if store.shared else described(settings).id
        if json:
            print_json([_told(runner, deciding, settings.lease_seconds) for runner in known])
            return
        if not store.shared:
            there = "serves" if served(settings) else "does not serve: fleet-runner serve"
            console.print(f"the store is SQLite: this machine is the only runner, and it {there}")
            return
        if not known:
            console.print("no runner was heard of within a week: fleet-runner serve")
            return
        table = _columns("RUNNER", "HOST", "RELEASE", "CARRIES", "HEARD", "WHAT")
        for runner in known:
            told = _told(runner, deciding, settings.lease_seconds)
            dead = told["state"] == "silent"
            what = Text(
                f"{told['state']}; reaches {', '.join(runner.places) or 'every place'}", "red" if dead else ""
            )
            used = f"{runner.used} of {runner.slots}"
            table.add_row(runner.id, runner.host, runner.release, used, f"{age(runner.silent)} ago", what)
        console.print(table)


def queued(settings: Settings, store: Store) -> dict[str, str]:
    """Say of each node whose batch nobody has taken why that is; nothing where it is about to be."""
    if not store.shared:
        return {}
    waiting = [line for line in _shared(settings, store) if line.state == "waits" and line.why != SOON]
    return {node: f"{line.stage} waits: {line.why}" for line in waiting for node in line.nodes}


def said(paused: Switch) -> str:
    """Say who paused the queue and why, and how it goes on."""
    words = stopped(paused)
    return f"{words[0].upper()}{words[1:]}. To go on: fleet-runner queue resume"


def _alone(settings: Settings, store: Store) -> tuple[Runner, ...]:
    """Return this machine where it serves: with SQLite nobody else can."""
    used = len({run.batch for run in store.open_runs()})
    return (replace(described(settings), places=(), used=used),) if served(settings) else ()


def _told(runner: Runner, deciding: str, seconds: float) -> dict[str, Any]:
    alive = runner.silent < seconds
    state = "decides" if runner.id == deciding else "runs"
    if runner.ending:
        state = "ending" if alive and runner.used else "ended"
    elif not alive:
        state = "silent"
    return {**plain(runner), "state": state}


def _shared(settings: Settings, store: Store) -> list[Line]:
    known, paused = living(store.runners(), settings.lease_seconds), store.queue_paused()
    lines: list[Line] = []
    for parcel in store.parcels():
        state = "runs" if parcel.started_at is not None else "taken" if parcel.runner else "waits"
        why = parcel.detail if parcel.stop else "" if parcel.runner else waits(parcel, known, paused)
        since = parcel.read_at - parcel.offered_at
        lines.append(Line(parcel.batch, parcel.stage, parcel.nodes, parcel.places, parcel.runner, since, state, why))
    return lines


def _embedded(settings: Settings, store: Store) -> list[Line]:
    """Return the batches of the embedded engine, as their folders on this machine tell."""
    now, found = time.time(), dict[str, list[Any]]()
    for run in store.open_runs():
        found.setdefault(run.batch, []).append(run)
    lines: list[Line] = []
    for batch, mine in found.items():
        look = playbooks.look(settings, batch)
        state = "runs" if look.state is BatchState.RUNNING else look.state.value
        names = tuple(sorted(run.node for run in mine))
        lines.append(Line(batch, mine[0].stage, names, (), "", now - mine[0].opened_at, state, look.detail))
    return lines


def _table(lines: Sequence[Line]) -> Table:
    table = _columns("BATCH", "NODES", "RUNNER", "SINCE", "WHAT")
    for line in lines:
        nodes = line.nodes[0] if line.nodes else "none"
        more = f" +{len(line.nodes) - 1}" if len(line.nodes) > 1 else ""
        what = f"{line.state}: {line.why}" if line.why else line.state
        style = "yellow" if line.state == "waits" else ""
        table.add_row(line.batch, nodes + more, line.runner or "-", age(line.since), Text(what, style))
    return table


def _columns(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name == "SINCE")
    return table
