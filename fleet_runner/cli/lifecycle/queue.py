"""Commands about the batches between runners: what runs where, what waits and why; and who runs."""

from collections.abc import Sequence
from dataclasses import astuple
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from fleet_runner.cli.base import remote
from fleet_runner.cli.base.session import Exit, age, console, opened, plain, print_json, whoami
from fleet_runner.core.access.api import Batch
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.inventory.placement import Runner
from fleet_runner.core.inventory.switch import Switch, resumable
from fleet_runner.reconcile.lifecycle import queue as queueing
from fleet_runner.reconcile.loop.single_instance import served

app = typer.Typer(invoke_without_command=True, rich_markup_mode="markdown")

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Reason = Annotated[str, typer.Option("--reason", "-r", help="why; others see it in `fleet-runner queue`")]
By = Annotated[str | None, typer.Option("--by", help="who asks; default: the user who runs the command")]


@app.callback()
def queue(context: typer.Context, json: Json = False) -> None:
    """List the batches that run or wait: nodes, runner, since when, and why they wait."""
    if context.invoked_subcommand is not None:
        return
    with opened() as (settings, store):
        found = remote.queue(settings, store)
        if json:
            print_json({"batches": found.batches, "paused": found.paused})
            return
        if found.paused is not None:
            console.print(Text(resumable(Switch(*astuple(found.paused))), "bold yellow"))
        if found.batches:
            console.print(_table(found.batches))
        else:
            console.print("no batch runs or waits")


@app.command("pause")
def pause(reason: Reason, by: By = None) -> None:
    """Start nothing more; what runs is finished."""
    with opened() as (_, store):
        if not reason.strip():
            raise FleetError("--reason is empty; say why the queue is paused")
        store.pause_queue(by or whoami(), reason.strip())
        console.print("paused: nothing begins until fleet-runner queue resume")


@app.command("resume")
def resume() -> None:
    """Start what waits again."""
    with opened() as (_, store):
        if store.resume_queue():
            console.print("resumed: what waits begins")
            return
        console.print("not paused; nothing was changed")
        raise typer.Exit(Exit.NO)


@app.command("stop")
def stop(
    batch: Annotated[str, typer.Argument(help="a batch, as `fleet-runner queue` names it", metavar="BATCH")],
    reason: Reason,
    by: By = None,
) -> None:
    """Stop a batch, wherever it runs or waits. What its nodes need is decided again."""
    with opened() as (settings, store):
        if not reason.strip():
            raise FleetError("--reason is empty; say why the batch must end")
        queueing.stop(settings, store, batch, (by or whoami(), reason))
        console.print(f"{batch}: it ends; its nodes are decided again")


def runners(json: Json = False) -> None:
    """List the runners: where, which release, load, last heartbeat, and what each can reach."""
    with opened() as (settings, store):
        known, deciding = queueing.runners(settings, store), queueing.deciding(settings, store)
        if json:
            print_json([_told(runner, deciding, settings.lease_seconds) for runner in known])
            return
        if not store.shared:
            there = "serves" if served(settings) else "does not serve: fleet-runner serve"
            console.print(f"the store is SQLite: this machine is the only runner, and it {there}")
            return
        if not known:
            console.print("no runner was seen within a week: fleet-runner serve")
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


def _told(runner: Runner, deciding: str, seconds: float) -> dict[str, Any]:
    return {**plain(runner), "state": queueing.standing(runner, deciding, seconds)}


def _table(lines: Sequence[Batch]) -> Table:
    table = _columns("BATCH", "NODES", "RUNNER", "SINCE", "WHAT")
    for line in lines:
        nodes = line.nodes[0] if line.nodes else "none"
        more = f" +{len(line.nodes) - 1}" if len(line.nodes) > 1 else ""
        what = f"{line.state}: {line.why}" if line.why else line.state
        style = "yellow" if line.state == "waits" else ""
        table.add_row(line.batch or "in line", nodes + more, line.runner or "-", age(line.since), Text(what, style))
    return table


def _columns(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name == "SINCE")
    return table
