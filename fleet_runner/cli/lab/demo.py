"""fleet-runner lab demo: the main job from the loading dock to production, watched live."""

import os
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from fleet_runner.cli.base.session import Exit, console, errors
from fleet_runner.cli.lifecycle.board import COLOURS, board, usual
from fleet_runner.core.lifecycle.states import State
from fleet_runner.lab import demo as story
from fleet_runner.lab.demo import Demo

HERE = Path("demo")
LONGEST = 600.0
"""Seconds after which the demo gives up and says where everything lies."""

SAID_LINES = 6


def demo(
    folder: Annotated[Path, typer.Option("--dir", help="its lab's folder; an older demo's is replaced")] = HERE,
    *,
    netbox: Annotated[
        bool,
        typer.Option("--netbox", help="with a real NetBox as the source; minutes, the first time"),
    ] = False,
    history: Annotated[
        bool,
        typer.Option("--history/--no-history", help="90 simulated days of a hall beside it; not with --netbox"),
    ] = True,
) -> None:
    """Watch eight GPU servers go from the loading dock to production.

    One does not boot at first, one is miscabled, one has a slow GPU, and later one loses a GPU in production. At last
    the store is thrown away, and a new one adopts the servers as they are.
    Everything you see is the real product on simulated hardware: its boot service, its playbooks, its decisions, its
    tickets. Takes about three minutes.
    """
    console.print("Bringing up a simulated data centre: 8 servers of 8 GPUs, 8 leaves, 2 spines …")
    played = story.begin(
        folder, lambda line: console.print(f"  {line} …", markup=False), netbox=netbox, history=history
    )
    console.print(f"Meanwhile its pages are at {played.url}\nLog in there with {played.token}\n", markup=False)
    if there := played.netbox:
        console.print(f"NetBox {there.version} is at {there.url}", markup=False)
        console.print(f"Log in there as {there.user} with {there.password}\n", markup=False)
    started = time.time()
    try:
        ended = _watch(played, started)
        _summary(played, time.time() - started)
        if ended:
            _epilogue(played)
    finally:
        story.end(played)
    _next(played)
    if not ended:
        errors.print(f"error: the story did not end within {LONGEST:.0f} s; read {played.lab.root / 'serve.log'}")
        raise typer.Exit(Exit.TROUBLE)


def _watch(played: Demo, started: float) -> bool:
    """Play and show until the story ends; without a terminal, print each sentence as it comes."""
    told: set[tuple[float, str]] = set()
    with Live(console=console, transient=True, auto_refresh=False) as live:
        while (now := time.time()) - started < LONGEST:
            ended = played.step(now)
            news = _news(played)
            if console.is_terminal:
                live.update(_frame(played, news, now - started), refresh=True)
            else:
                for _, sentence in (each for each in news if each not in told):
                    console.print(sentence, markup=False)
                told |= set(news)
            if ended:
                return True
            time.sleep(0.3)
    return False


def _frame(played: Demo, news: list[tuple[float, str]], seconds: float) -> Group:
    runs = {run.node: run for run in played.store.open_runs()}
    return Group(
        Rule(Text(f"{played.act}, {seconds:.0f} s"), align="left"),
        board(played.nodes(), runs, time.time(), usual(played.store, runs.values())),
        Text(""),
        *(
            Text(f"· {sentence}", style="dim", no_wrap=True, overflow="ellipsis")
            for _, sentence in news[-SAID_LINES:]
        ),
    )


def _news(played: Demo) -> list[tuple[float, str]]:
    """Return every transition and every sentence of the story so far, in order."""
    moves = [
        (entry.at, f"{entry.node}: {entry.state} → {entry.to}. {entry.sentence}")
        for node in played.nodes()
        for entry in played.store.history(node.name)
        if entry.kind == "transition"
    ]
    return sorted(moves + played.said)


def _summary(played: Demo, seconds: float) -> None:
    console.print(Rule(f"The story in {seconds:.0f} s", align="left"))
    console.print(_paths(played))
    console.print("\n[bold]Tickets[/bold]: one a physical fault")
    for ticket in played.tickets():
        closed = f"closed: {ticket.closed_because}" if ticket.closed_at else "open: somebody must look at the node"
        console.print(Padding(Text(f"#{ticket.id} {ticket.remedy}\n{ticket.body}\n→ {closed}"), (0, 0, 1, 2)))


def _epilogue(played: Demo) -> None:
    console.print(Rule("Epilogue: the disk with the store dies, the servers serve on", align="left"))
    came = story.lose_the_store(played, lambda line: console.print(f"  {line}", markup=False))
    console.print(f"{came} servers are back in production; by the machines' own log, no power was switched.\n")


def _next(played: Demo) -> None:
    lab = played.lab
    near = Path(os.path.relpath(lab.root))
    shown = lab.root if ".." in near.parts else near
    console.print("[bold]Where it lies[/bold]")
    for what, where in (
        ("results, history, tickets", "state/fleet.db"),
        ("plays without a verdict", "state/batches/"),
        ("the source of truth", "site/"),
        ("what the machines did", "log.jsonl"),
    ):
        console.print(f"  {what:<26} {shown}/{where}", markup=False)
    console.print("\n[bold]What to type next[/bold]")
    for command in (
        f"export FLEET_CONFIG={shown}/fleet.toml PATH=$PWD/.venv/bin:$PATH",
        "fleet-runner status",
        f"fleet-runner explain {story.UNLUCKY}",
        f"fleet-runner history {story.MISCABLED}",
        f"fleet-runner boot show {story.SILENT}",
        f"fleet-runner lab up --dir {shown}; fleet-runner serve",
        f"fleet-runner lab inject missing_gpu gpu-02 --dir {shown}",
        "FLEET_WEB_LISTEN=127.0.0.1:8492 fleet-runner web serve",
    ):
        console.print(f"  {command}", markup=False, soft_wrap=True)


def _paths(played: Demo) -> Table:
    table = Table(box=None, pad_edge=False, expand=True)
    table.add_column("NODE", no_wrap=True)
    table.add_column("ITS PATH", overflow="fold", ratio=1)
    for node in played.nodes():
        path = Text(State.REGISTERED)
        for entry in played.store.history(node.name):
            if entry.kind == "transition" and entry.to is not None:
                path.append(" → ", style="dim").append(entry.to, style=COLOURS[entry.to])
        table.add_row(node.name, path)
    return table
