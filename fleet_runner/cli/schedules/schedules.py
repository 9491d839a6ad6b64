"""Commands about what happens by the clock: when it did and does, by whom, and what people want otherwise."""

from typing import Annotated, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from fleet_runner.cli.base import remote
from fleet_runner.cli.base.session import Exit, age, console, explained, opened, print_json, stamp, whoami
from fleet_runner.cli.lifecycle.board import brief
from fleet_runner.core.access.api import Scheduled
from fleet_runner.core.access.overview import Paused
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.inventory.switch import Switch
from fleet_runner.core.schedules.known import KNOWN
from fleet_runner.core.schedules.schedule import Scope
from fleet_runner.reconcile.loop.leader import described
from fleet_runner.reconcile.schedules.runner import run_now

app = typer.Typer(invoke_without_command=True, rich_markup_mode="markdown")

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Name = Annotated[str, typer.Argument(help=f"{', '.join(KNOWN)}", metavar="NAME")]

INTERRUPTED = "a runner continues unfinished work, or the next one that starts"


class Line(NamedTuple):
    """A schedule as people read it; moments are epoch seconds, null for never.

    `running` and `overdue` count nodes; they are null where there are none to count, and `overdue` where a node's
    turn depends on more than the clock. `waits` says what a sweep waits for that is due, or has no next moment.
    """

    name: str
    what: str
    schedule: str
    zone: str
    jitter: float
    missed: str
    last_at: float | None
    last_by: str
    last_ended: str
    next_at: float | None
    running: int | None
    overdue: int | None
    paused: str
    waits: str = ""


@app.callback()
def schedules(context: typer.Context, json: Json = False) -> None:
    """Show every schedule: when it comes, how the last one ended, and the next one.

    With `--json` also the spread, the rule for missed moments, and who did the last one.
    """
    if context.invoked_subcommand is not None:
        return
    with opened() as (settings, store):
        found = remote.schedules(settings, store)
        now, lines = found.at, [_line(each) for each in found.schedules]
        if json:
            print_json([line._asdict() for line in lines])
            return
        console.print(_table(lines, now))
        for line in lines:
            if line.paused:
                said = f"{line.name} is {line.paused}. To continue: fleet-runner schedules resume {line.name}"
                console.print(Text(said, "bold yellow"), soft_wrap=True)


@app.command("run")
def run(name: Name) -> None:
    """Trigger a schedule now: a sweep reaches every node within ten minutes, a job of the fleet starts at once."""
    _check(name)
    with opened() as (settings, store):
        switch = store.schedules()[2].get(name)
        if switch is not None:
            console.print(f"{name} is {_paused(switch)}; fleet-runner schedules resume {name}", markup=False)
            raise typer.Exit(Exit.NO)
        if KNOWN[name].whose is not Scope.FLEET:
            store.ask_schedule(name)
            console.print(f"{name}: requested; a serving runner begins it, each {KNOWN[name].whose} at its own time")
            return
        with explained(INTERRUPTED):
            row = run_now(settings, store, name, f"{described(settings).id}, by {whoami()}")
        console.print(f"{name}: {row.outcome} by {row.runner}: {row.detail}", markup=False, soft_wrap=True)
        if row.outcome != "done":
            raise typer.Exit(Exit.NO)


@app.command("pause")
def pause(
    name: Name,
    reason: Annotated[str, typer.Option("--reason", "-r", help="why; others see it in `fleet-runner schedules`")],
    by: Annotated[str | None, typer.Option("--by", help="who asks; default: the user who runs the command")] = None,
) -> None:
    """Pause a schedule until it is resumed; what runs is finished."""
    _check(name)
    if not reason.strip():
        raise FleetError("--reason is empty; say why this schedule is paused")
    with opened() as (_, store):
        store.pause_schedule(name, by or whoami(), reason.strip())
        console.print(f"paused until fleet-runner schedules resume {name}", markup=False)


@app.command("resume")
def resume(name: Name) -> None:
    """Resume a schedule."""
    _check(name)
    with opened() as (_, store):
        if store.resume_schedule(name):
            console.print(f"{name} comes again", markup=False)
            return
        console.print(f"{name} is not paused; nothing was changed", markup=False)
        raise typer.Exit(Exit.NO)


def _check(name: str) -> None:
    if name not in KNOWN:
        raise FleetError(f"no schedule {name!r}; there are {', '.join(KNOWN)}")


def _paused(switch: Switch | Paused) -> str:
    return f"paused by {switch.by} since {stamp(switch.at)} UTC: {switch.reason}"


def _line(each: Scheduled) -> Line:
    waits = each.unmet
    if each.waits is not None and each.waits.waiting:
        waits = f"{each.waits.name}: {brief(each.waits, each.waits.waiting)}"
    return Line(
        each.name,
        each.what,
        each.schedule,
        each.zone,
        each.jitter,
        each.missed,
        each.last_at,
        each.last_by,
        each.last_ended,
        each.next_at,
        each.running,
        each.overdue,
        _paused(each.paused) if each.paused is not None else "",
        waits,
    )


def _table(lines: list[Line], now: float) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for title in ("NAME", "SCHEDULE", "LAST", "NEXT"):
        table.add_column(title, no_wrap=True)
    table.add_column("HOW IT STANDS")
    for line in lines:
        table.add_row(
            Text(line.name, "yellow" if line.paused else ""),
            Text(line.schedule if line.schedule.startswith(("every", "never")) else f"{line.schedule} {line.zone}"),
            f"{age(now - line.last_at)} ago" if line.last_at else "-",
            _moment(line, now),
            _standing(line),
        )
    return table


def _moment(line: Line, now: float) -> str:
    """Return a schedule's next moment in a word or two."""
    if line.paused:
        return "paused"
    if line.next_at is None:
        return "-"
    return f"in {age(line.next_at - now)}" if line.next_at > now + 1 else "now"


def _standing(line: Line) -> Text:
    """Return how the last one ended, how many nodes run and are late, and what the next one waits for."""
    told = [Text(line.last_ended)] if line.last_ended else []
    told += [Text(f"{line.running} now")] if line.running else []
    told += [Text(f"{line.overdue} late", "red")] if line.overdue else []
    told += [Text(line.waits)] if line.waits else []
    return Text("; ").join(told)
