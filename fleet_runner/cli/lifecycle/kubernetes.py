"""fleet-runner kubernetes: what the nodes of a cluster are to say of their machines, and an end of it."""

from typing import Annotated

import typer

from fleet_runner.adapters import source
from fleet_runner.cli.base.session import Exit, console, opened, print_json
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.printable import printable
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.store_ownership import Outward

app = typer.Typer(no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


@app.callback()
def kubernetes() -> None:
    """Labels and conditions that nodes of a Kubernetes cluster carry of their machines."""


@app.command()
def show(*, json: Json = False) -> None:
    """Show which nodes say something else than they should; serve corrects them. Nothing is written.

    Exit code 1: at least one does.
    """
    from fleet_runner.reconcile.lifecycle import node_conditions  # noqa: PLC0415  the client is slow to load

    with opened() as (settings, store):
        world = TickContext(settings, store, source.Reader(settings), unaccepted="")
        world.fleet = source.read(settings)
        may, theirs = Outward(world), node_conditions.theirs(world.fleet)
        told = may if may.anything() else lambda _: False
        teller = node_conditions.ConditionsTeller(store, node_conditions.opened(settings), lambda: theirs, told)
        teller.look()
        due = list(teller.due())
    if json:
        print_json([
            {
                "node": name,
                "scheduler_node": there,
                "labels": dict(want.labels),
                "conditions": [each._asdict() for each in (*want.conditions, *want.lifecycle)],
            }
            for name, there, want in due
        ])  # fmt: skip
    else:
        for name, _, want in due:
            _line(f"{name}: {', '.join(f'{key}={value}' for key, value in want.labels.items())}")
            for each in (*want.conditions, *want.lifecycle):
                _line(f"  {each.type} {each.status} {each.reason}: {each.message}")
        _line(f"{counted(len(due), 'node')} to be corrected; nothing was written")
    if due:
        raise typer.Exit(Exit.NO)


@app.command()
def clear(
    *,
    check: Annotated[bool, typer.Option("--check", help="change nothing; count the nodes")] = False,
) -> None:
    """Take every label and condition of fleet-runner off the cluster's nodes; what others set stays."""
    from fleet_runner.reconcile.lifecycle import node_conditions  # noqa: PLC0415  as above

    with opened() as (settings, store):
        if settings.kubernetes_conditions and not check:
            raise ConflictError("kubernetes_conditions is on: serve would write them again; set it to false first")
        count = node_conditions.ConditionsTeller(store, node_conditions.opened(settings)).clear(dry=check)
    _line(f"{counted(count, 'node')} {'would be cleared' if check else 'cleared'}")


def _line(text: str) -> None:
    console.print(printable(text), markup=False, soft_wrap=True)
