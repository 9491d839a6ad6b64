"""Commands about what happens by the clock: when it did and does, by whom, and what people want otherwise."""

import math
import time
from typing import Annotated, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from fleet_runner.adapters.store import Store
from fleet_runner.cli.board import brief
from fleet_runner.cli.session import Exit, age, console, explained, opened, print_json, stamp, whoami
from fleet_runner.core.errors import FleetError
from fleet_runner.core.placement import Switch
from fleet_runner.core.schedules.firing import GRACE, Row
from fleet_runner.core.schedules.known import KNOWN
from fleet_runner.core.schedules.schedule import Schedule, Whose
from fleet_runner.core.schedules.sweep import Sweep
from fleet_runner.reconcile.carrying import described
from fleet_runner.reconcile.schedules import run_now, standings
from fleet_runner.settings import Settings

app = typer.Typer(invoke_without_command=True, rich_markup_mode="markdown")

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Name = Annotated[str, typer.Argument(help=f"{', '.join(KNOWN)}", metavar="NAME")]

INTERRUPTED = "a runner takes up what was not done; where none serves, the next one that does"


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
        now, rows, off = store.schedules()
        lines = [_line(settings, store, name, (now, rows, off)) for name in KNOWN]
        if json:
            print_json([line._asdict() for line in lines])
            return
        console.print(_table(lines, now))
        for line in lines:
            if line.paused:
                said = f"{line.name} is {line.paused}. To go on: fleet-runner schedules resume {line.name}"
                console.print(Text(said, "bold yellow"), soft_wrap=True)


@app.command("run")
def run(name: Name) -> None:
    """Have a schedule come now: a sweep of every node within ten minutes, a job of the fleet at once."""
    _check(name)
    with opened() as (settings, store):
        switch = store.schedules()[2].get(name)
        if switch is not None:
            console.print(f"{name} is {_paused(switch)}; fleet-runner schedules resume {name}", markup=False)
            raise typer.Exit(Exit.NO)
        if KNOWN[name].whose is not Whose.FLEET:
            store.ask_schedule(name)
            console.print(f"{name}: asked for; whoever serves begins it, each {KNOWN[name].whose} at its own moment")
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
    """Have nothing begin by a schedule until it is resumed; what runs goes on to its end."""
    _check(name)
    if not reason.strip():
        raise FleetError("--reason is empty; say why nothing is to begin by this schedule")
    with opened() as (_, store):
        store.pause_schedule(name, by or whoami(), reason.strip())
        console.print(f"paused: nothing begins by it until fleet-runner schedules resume {name}", markup=False)


@app.command("resume")
def resume(name: Name) -> None:
    """Have a schedule come again."""
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


def _paused(switch: Switch) -> str:
    return f"paused by {switch.by} since {stamp(switch.at)} UTC: {switch.reason}"


def _line(
    settings: Settings, store: Store, name: str, known: tuple[float, dict[str, Row], dict[str, Switch]]
) -> Line:
    now, rows, off = known
    schedule, row = settings.schedule(name), rows.get(name, Row(name))
    begin = Line(
        name,
        KNOWN[name].meaning,
        schedule.text,
        schedule.zone,
        schedule.jitter,
        schedule.missed.value,
        row.ended_at if not row.is_running else row.began_at,
        row.runner,
        _how(row, now),
        None,
        None,
        None,
        _paused(off[name]) if name in off else "",
    )
    if KNOWN[name].whose is Whose.NODE:
        return _sweep(store, begin, Sweep(schedule, standings(rows, off)[name]))
    return begin._replace(next_at=_next(settings, schedule, row, now))


def _next(settings: Settings, schedule: Schedule, row: Row, now: float) -> float | None:
    if KNOWN[schedule.name].whose is Whose.RUNNER:
        due = schedule.next(settings.runner_name, row.ended_at or now)
    else:
        due = row.due_at if row.plan == schedule.plan else schedule.next(settings.source, now)
    return due if due < math.inf else None


def _how(row: Row, now: float) -> str:
    """Say how the last firing ended, or that it goes on."""
    if not row.is_running:
        return f"{row.outcome}: {row.detail}" if row.outcome else ""
    if row.until <= now:
        silent = f"its runner is silent for {age(now - row.until)} beyond its lease; another one takes it up"
        return f"{row.detail or silent}"
    return f"runs for {age(now - (row.began_at or now))}"


def _sweep(store: Store, begin: Line, sweep: Sweep) -> Line:
    """Fill in how the nodes of a sweep stand."""
    now, known = time.time(), KNOWN[begin.name]
    turns = store.turns(known.stages)
    others = {name: ended for name, ended in turns.ended.items() if name not in turns.running}
    due = {name: sweep.due(name, ended or now, now) for name, ended in others.items() if ended or not known.must}
    if known.must and not sweep.is_off:
        due |= {name: now for name, ended in others.items() if not ended}  # swept at once
    late = sum(at < now - GRACE for at in due.values())
    first = min(due, key=due.__getitem__, default="")
    ahead = due.get(first, math.inf)
    swept = sum(ended > 0.0 for ended in turns.ended.values())
    return begin._replace(
        last_at=max(turns.ended.values(), default=0.0) or None,
        last_ended=f"{swept:,} of {len(turns.ended):,} had their turn" if turns.ended else "",
        next_at=max(ahead, now) if ahead < math.inf else None,
        running=len(turns.running),
        overdue=late if known.must else None,
        waits=_waits(store, first) if ahead <= now else "" if turns.ended else "no node is in production",
    )


def _waits(store: Store, name: str) -> str:
    """Say what keeps a node's turn that is due from its beginning."""
    node = store.node(name)
    return f"{name}: {brief(node, node.waiting)}" if node is not None and node.waiting else ""


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
