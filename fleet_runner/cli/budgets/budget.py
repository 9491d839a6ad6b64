"""Commands about how much automation may do at a time: the disruption budget, and the circuit breaker."""

import time
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from fleet_runner.adapters.source import Reader
from fleet_runner.cli.base.session import Exit, console, opened, print_json, stamp, whoami
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.budgets import disruption_budget
from fleet_runner.core.budgets.breaker import refusal
from fleet_runner.reconcile.budgets.allowance import limits, measured
from fleet_runner.reconcile.faults.policy import Policy

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


def show_budget(
    everything: Annotated[bool, typer.Option("--all", help="also racks with no node out")] = False,
    json: Json = False,
) -> None:
    """Show how many nodes may be out of service, and how many are: fleet, tenants, failure domains, racks."""
    with opened() as (settings, store):
        allowed = limits(settings, Policy().rules(settings))
        found = disruption_budget.uses(measured(store, Reader(settings)(), time.time()), allowed)
        shown = [use for use in found if everything or use.out or use.scope not in disruption_budget.MANY]
        if json:
            print_json([use._asdict() | {"out": [out._asdict() for out in use.out]} for use in shown])
            return
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
        for name, justify in (("BUDGET", "left"), ("OUT", "right"), ("MOST", "right"), ("NODES", "right")):
            table.add_column(name, justify="right" if justify == "right" else "left")
        table.add_column("WHO", overflow="fold")
        for use in shown:
            who = ", ".join(f"{out.node} ({out.where})" for out in use.out)
            spent = "yellow" if len(use.out) >= use.most else ""
            named = f"{use.scope} {use.name}".rstrip()
            table.add_row(named, Text(str(len(use.out)), style=spent), str(use.most), str(use.total), Text(who))
        console.print(table)


@app.command("show")
def show(json: Json = False) -> None:
    """Show whether the circuit breaker is open, why and until when."""
    with opened() as (_, store):
        known = store.breaker()
        if json:
            print_json(known)
        elif known is None:
            console.print("closed: automation takes nodes out of service, within the budget")
        else:
            console.print(refusal(known), markup=False, soft_wrap=True)
            if known.trial:
                console.print(f"tried since {stamp(known.tried_at)}; it opened: {known.because}", markup=False)


@app.command("reset")
def reset(
    reason: Annotated[str, typer.Option("--reason", "-r", help="what the nodes had in common; goes into the ticket")],
    by: Annotated[str | None, typer.Option("--by", help="who asks; default: the user who runs the command")] = None,
) -> None:
    """Close the circuit breaker: waiting nodes follow within the budget; only new failures open it again."""
    if not reason.strip():
        raise FleetError("--reason is empty; say what the nodes had in common, and that it is fixed")
    with opened() as (_, store):
        if store.reset_breaker(by or whoami(), reason.strip(), time.time()):
            console.print("closed: the waiting nodes follow, within the budget")
            return
        console.print("already closed; nothing was changed")
        raise typer.Exit(Exit.NO)
