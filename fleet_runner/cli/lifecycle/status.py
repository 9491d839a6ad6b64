"""fleet-runner status: the whole fleet at a glance."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.text import Text

from fleet_runner.adapters.store.reader import reader
from fleet_runner.cli.base.options import Json
from fleet_runner.cli.base.remote import overview, pause, remote
from fleet_runner.cli.base.session import console, opened, print_json
from fleet_runner.cli.boot.progress import on_their_way
from fleet_runner.cli.faults.remedies import alarmed, raised
from fleet_runner.cli.lifecycle.board import board, brief, usual
from fleet_runner.core.lifecycle.runs import Node, Run
from fleet_runner.core.lifecycle.states import FABRICS, State

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store
    from fleet_runner.settings import Settings

FEW = 5
"""Tickets that a fabric's line names; the rest is counted."""

NOTICES = {"bad": "bold red", "unsure": "bold yellow", "calm": "dim"}


def status(
    state: Annotated[State | None, typer.Option(help="only nodes in this state")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="keep the view on the screen until Ctrl-C")] = False,
    json: Json = False,
) -> None:
    """List nodes and fabrics: state, since when, and what happens next or what they wait for.

    A node whose last check was UNKNOWN says so here: nothing follows from that but another try.
    """
    with opened() as (settings, store):
        if json:
            _, nodes, runs = _fleet(store, state)
            seen = overview(settings, store)
            now_open = {"runs": list(runs.values()), "flashes": store.open_flashes()}
            alarms = [each for mine in raised(store.standing_alarms()).values() for each in mine]
            told = {
                "unserved_since": seen.unserved_since,
                "paused_queue": seen.paused_queue,
                "heard": seen.heard,
                "breaker": seen.breaker,
                "policy": seen.policy,
                "mode": seen.mode,
                "paused_schedules": seen.paused_schedules,
            }
            print_json({"nodes": nodes, **now_open, "alarms": alarms, **told})
        elif watch:
            from rich.live import Live  # noqa: PLC0415  it brings threads and logging, for those who stay

            with Live(console=console, screen=True, refresh_per_second=2) as live:
                for looked_at in _looks(settings, store):
                    live.update(_status(settings, looked_at, state))
        else:
            console.print(_status(settings, store, state))


def _looks(settings: "Settings", store: "Store") -> Iterator["Store"]:
    """Give the store for one look after another; one that takes no writes is let go of between them.

    Whoever reads it keeps others out on a full disk, and they may write by now.
    """
    while True:
        yield store
        alone = remote(store) is None and store.refusal
        if alone:
            store.close()
        time.sleep(pause(store))
        if alone:
            store = reader.opened(settings.store_url)


def _status(settings: "Settings", store: "Store", state: State | None) -> Group:
    now, nodes, runs = _fleet(store, state)
    seen = overview(settings, store)
    waits = seen.waits
    nodes = [replace(node, waiting=brief(node, waits.get(node.name, node.waiting))) for node in nodes]
    runs = {name: run for name, run in runs.items() if name not in waits}
    below = [Text(notice.words, NOTICES.get(notice.kind, "")) for notice in seen.notices]
    flashes = _flashes(store, now)
    alarms = raised(store.standing_alarms())
    nodes = [
        alarmed(_flashed(_ticketed(store, node), flashes.get(node.name, "")), alarms.get(node.name, []))
        for node in nodes
    ]
    mode = [Text(seen.mode, "dim")] if seen.mode else []
    return Group(*mode, board(nodes, runs, now, usual(store, runs.values()), on_their_way(store)), *below)


def _flashes(store: "Store", now: float) -> dict[str, str]:
    """Return the open flash of each node in a few words."""
    found = store.open_flashes()
    if not found:
        return {}
    from fleet_runner.core.firmware.flash_text import short  # noqa: PLC0415  mostly nothing is flashed

    return {flash.node: short(flash, now) for flash in found}


def _fleet(store: "Store", state: State | None) -> tuple[float, list[Node], dict[str, Run]]:
    nodes = [node for node in (*store.nodes(), *store.fabrics()) if state is None or node.state is state]
    return time.time(), nodes, {run.node: run for run in store.open_runs()}


def _ticketed(store: "Store", node: Node) -> Node:
    """Name a fabric's open tickets in what it waits for: it says nothing anew between two sweeps."""
    numbers = [f"#{ticket.id}" for ticket in store.tickets(node=node.name)] if node.state in FABRICS else []
    if not numbers:
        return node
    more = f" and {len(numbers) - FEW} more" if len(numbers) > FEW else ""
    tickets = "ticket" if len(numbers) == 1 else "tickets"
    return replace(node, waiting=f"{node.waiting}; open {tickets} {', '.join(numbers[:FEW])}{more}")


def _flashed(node: Node, flash: str) -> Node:
    """Name an open flash in what a node waits for, where no runner says so: a person's, or one left behind."""
    if not flash or node.state is State.FIRMWARE:
        return node
    return replace(node, waiting="; ".join(filter(None, (node.waiting, flash))))
