"""fleet-runner netbox sync: the NetBox told once, by hand, or what it would be told."""

from typing import Annotated

import typer

from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit, console, known, opened
from fleet_runner.cli.inventory.netbox.status import summary, waiting, wanted
from fleet_runner.core.base.printable import printable
from fleet_runner.core.inventory.netbox.mirror.fields import fields
from fleet_runner.settings import Settings

MOST = 200
"""Visits of one call: each tells as much as one of serve's does in a minute."""


def sync(
    *,
    check: Annotated[bool, typer.Option("--check", help="change nothing; show what would be written")] = False,
    over: Annotated[
        list[str] | None,
        typer.Option("--over", metavar="NODE", help="overwrite the state that somebody else wrote into its page"),
    ] = None,
) -> None:
    """Write pending states, history and serial numbers to NetBox; serve does so by itself.

    Exit code 1: something is in conflict or could not be written; netbox status says what. With --check: something
    would be written.
    """
    with opened() as (settings, store):
        wanted(settings)
        if check:
            _check(settings, store)
        else:
            _sync(settings, store, frozenset(known(store, name).name for name in over or ()))


def _sync(settings: Settings, store: Store, over: frozenset[str]) -> None:
    from fleet_runner.reconcile.inventory import netbox  # noqa: PLC0415  the client is slow to load

    store.hurry_mirror(netbox.url(settings))
    done: dict[str, int] = {}
    states, history, serials = netbox.tellers(settings, store)
    states.over, states.anew = over, store.clock()
    for teller in (states, history, serials):
        store.hurry_tracker(teller.name)
        done[teller.of] = 0
        for _ in range(MOST):
            count = teller.visit()
            done[teller.of] += count
            if not count:
                break
    _line(f"written: {', '.join(f'{count} {of}' for of, count in done.items())}")
    left = summary(settings, store)
    if counts := waiting(settings, store):
        left = [f"{counts} still" if left else f"{counts} still: another process writes now", *left]
    for sentence in left:
        _line(sentence)
    if left:
        raise typer.Exit(Exit.NO)


def _check(settings: Settings, store: Store) -> None:
    from fleet_runner.reconcile.inventory import netbox  # noqa: PLC0415  as above
    from fleet_runner.reconcile.inventory.netbox_mirror.serials import foretold  # noqa: PLC0415  as above

    states, history, _ = netbox.tellers(settings, store)
    store.scan_mirror(states.url)
    due = 0
    with netbox.session(settings) as client:
        for found in states.look(client):
            for each, page in found.due:
                due += 1
                was = {name: page.fields[name] for name in fields(each.wanted)}
                said = ", ".join(f"{name} {value} (is {was[name]})" for name, value in fields(each.wanted).items())
                _line(f"{each.node}: {said}")
            for each, why in (*found.conflicts, *found.lost):
                _line(f"{each.node}: not written: {why}")
        for part in store.serials_due():
            due += 1
            _line(f"{part.node} {part.slot}: serial number {part.came} {foretold(client, part)}")
    lines = store.lines_waiting(history.url)
    _line(f"{due} fields and serial numbers, {lines} lines of history to write; nothing was written")
    if due or lines:
        raise typer.Exit(Exit.NO)


def _line(text: str) -> None:
    console.print(printable(text), markup=False, soft_wrap=True)
