"""fleet-runner trends: what stored results say about tomorrow."""

import time
from typing import Annotated, Any

import typer
from rich.text import Text

from fleet_runner.cli.base import remote
from fleet_runner.cli.base.session import Exit, age, console, explained, known, opened, print_json, stamp, whoami
from fleet_runner.cli.base.wrapped import say
from fleet_runner.cli.reliability.trends import metrics, text
from fleet_runner.cli.reliability.trends.text import ANALYSES, Json
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.reliability.parts.travels import Line
from fleet_runner.reconcile.loop.leader import described
from fleet_runner.reconcile.schedules.runner import run_now

app = typer.Typer(invoke_without_command=True, rich_markup_mode="markdown")

NAME = "trend"
"""The schedule that looks."""

LISTED = 50
"""Things foreseen that are shown unless more are asked for."""

LINES = 1_000
"""Lines of what befell a part, or those of a node: as many as a server gives."""

INTERRUPTED = "gathered data is kept; fleet-runner trends run continues from there"


@app.callback()
def trends(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="the newest so many")] = LISTED,
    json: Json = False,
) -> None:
    """Show the current forecasts, and when the analysis last ran."""
    if context.invoked_subcommand is not None:
        return
    with opened() as (_, store):
        found = store.foresights(limit=limit + 1)
        made = {name: store.analysis(name) for name in ANALYSES}
    if json:
        told = {name: {"at": each.at, "seconds": each.seconds} for name, each in made.items() if each is not None}
        print_json({"foresights": found[:limit], "analyses": told})
        return
    now = time.time()
    for each in found[:limit]:
        text.foretell(each, now)
    if len(found) > limit:
        console.print("there is more: use a higher --limit", style="dim")
    newest = max((each.at for each in made.values() if each is not None), default=None)
    if newest is None:
        say(text.NEVER)
        return
    if not found:
        console.print("no prediction")
    console.print(Text(f"looked at {age(now - newest)} ago", "dim"))
    for name, analysis in made.items():
        if analysis is None:
            console.print(f"{name}: not analysed yet", markup=False)
        elif analysis.at < newest:
            console.print(f"{name}: as of {age(now - analysis.at)} ago", style="yellow", markup=False)


@app.command("show")
def show(name: Annotated[str, typer.Argument(metavar="NODE", help="a node")], json: Json = False) -> None:
    """Show the forecasts for one node, current and past."""
    with opened() as (_, store):
        known(store, name)
        found = store.foresights(node=name, standing=False)
    if json:
        print_json(found)
        return
    now = time.time()
    for each in found:
        text.foretell(each, now)
    if not found:
        console.print(f"no prediction was ever made for {name}", markup=False)


@app.command("run")
def run() -> None:
    """Run the nightly analysis now: here, or by the runner that is sooner."""
    with opened() as (settings, store):
        remote.at_hand(store, "trends run")
        with explained(INTERRUPTED):
            row = run_now(settings, store, NAME, f"{described(settings).id}, by {whoami()}")
    say(f"{row.outcome}: {row.detail}")
    if row.outcome != "done":
        raise typer.Exit(Exit.NO)


@app.command("parts")
def parts(
    word: Annotated[str, typer.Argument(metavar="[SERIAL|NODE]", help="default: the whole fleet")] = "",
    json: Json = False,
) -> None:
    """Show slots and parts that fail repeatedly; or the history of one part, or of one node's parts."""
    if not word:
        text.show("parts", json=json, lists=("rates", "slots", "parts"))
        return
    with opened() as (_, store):
        found = _befell(store, word, LINES + 1)
    if json:
        print_json(found[-LINES:])
        return
    if len(found) > LINES:
        console.print(f"the newest {LINES:,} lines; older lines are left out", style="dim")
    for each in found[-LINES:]:
        say(f"{stamp(each.at)} {each.node} {each.place}: {each.sentence}")
    if not found:
        say(f"no data on a part or node {printable(word)!r}")
        raise typer.Exit(Exit.NO)


def _befell(store: Any, word: str, limit: int) -> tuple[Line, ...]:
    """Return the newest of what befell a part, or the parts of a node, oldest first."""
    far = remote.remote(store)
    if far is not None:
        return far.part_history(word, limit)
    from fleet_runner.adapters.reliability.lemons import history  # noqa: PLC0415  only this needs it

    return history(store, word)[-limit:]


@app.command("lemons")
def lemons(json: Json = False) -> None:
    """Show nodes that need far more work than others, and why."""
    text.show("lemons", json=json, lists=("lemons", "absent"))


@app.command("lifetimes")
def lifetimes(
    *,
    nodes: Annotated[int, typer.Option(help="what a job on so many nodes has to expect; with --hours")] = 0,
    hours: Annotated[float, typer.Option(help="how long that job runs")] = 0.0,
    json: Json = False,
) -> None:
    """Show failure rates of parts and nodes, and how often a job must expect an interruption."""
    if not nodes and not hours:
        text.show("lifetimes", json=json, lists=("kinds", "burn_in"), one=("service", "jobs"))
        return
    if not (nodes and hours):
        raise FleetError("what a job has to expect takes both --nodes and --hours")
    from fleet_runner.core.reliability.lifetimes.jobs import expect  # noqa: PLC0415  only this needs it

    found = text.made("lifetimes")
    row = expect(text.part(found.body, "jobs"), nodes, hours) if found is not None else None
    if json:
        print_json(row)
    else:
        say(text.NEVER if row is None else str(row["sentence"]))


@app.command("checks")
def checks(json: Json = False) -> None:
    """Show what each check finds and what it costs, and a schedule that finds the same in less time."""
    text.show("worth", json=json, lists=("checks", "schedules"))


@app.command("limits")
def limits(json: Json = False) -> None:
    """Show limits learned from good nodes; `fleet-runner baseline` proposes the change to the inventory."""
    text.show("limits", json=json, lists=("limits",))


app.command("metric")(metrics.metric)
