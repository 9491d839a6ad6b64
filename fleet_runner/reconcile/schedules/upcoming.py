"""What comes by the clock as people see it: each schedule's plan, its last and next moment, and how it stands."""

import math
import time
from typing import NamedTuple

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.durations import age
from fleet_runner.core.inventory.switch import Switch
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.schedules.firing import GRACE, Row
from fleet_runner.core.schedules.known import KNOWN
from fleet_runner.core.schedules.schedule import Schedule, Scope
from fleet_runner.core.schedules.sweep import Sweep
from fleet_runner.reconcile.schedules.runner import standings
from fleet_runner.settings import Settings


class Coming(NamedTuple):
    """A schedule and how it stands; moments are epoch seconds, None for never.

    `running` and `overdue` count nodes; they are None where there are none to count, and `overdue` where a node's
    turn depends on more than the clock. `waits` is the node whose turn is due and has not begun, `unmet` says what a
    sweep lacks that has no next moment.
    """

    schedule: Schedule
    row: Row
    paused: Switch | None
    last_at: float | None
    last_ended: str
    next_at: float | None
    running: int | None = None
    overdue: int | None = None
    waits: Node | None = None
    unmet: str = ""

    @property
    def name(self) -> str:
        """Return what it is called."""
        return self.schedule.name


def coming(settings: Settings, store: Store) -> tuple[float, list[Coming]]:
    """Return the database's time, and every schedule."""
    now, rows, off = store.schedules()
    return now, [_coming(settings, store, name, (now, rows, off)) for name in KNOWN]


def _coming(
    settings: Settings, store: Store, name: str, known: tuple[float, dict[str, Row], dict[str, Switch]]
) -> Coming:
    now, rows, off = known
    schedule, row = settings.schedule(name), rows.get(name, Row(name))
    last = row.ended_at if not row.is_running else row.began_at
    begin = Coming(schedule, row, off.get(name), last, how(row, now), None)
    if KNOWN[name].whose is Scope.NODE:
        return _sweep(store, begin, Sweep(schedule, standings(rows, off)[name]))
    return begin._replace(next_at=_next(settings, schedule, row, now))


def _next(settings: Settings, schedule: Schedule, row: Row, now: float) -> float | None:
    if KNOWN[schedule.name].whose is Scope.RUNNER:
        due = schedule.next(settings.runner_name, row.ended_at or now)
    else:
        due = row.due_at if row.plan == schedule.plan else schedule.next(settings.source, now)
    return due if due < math.inf else None


def how(row: Row, now: float) -> str:
    """Say how the last firing ended, or that it goes on."""
    if not row.is_running:
        return f"{row.outcome}: {row.detail}" if row.outcome else ""
    if row.until <= now:
        silent = f"its runner is silent for {age(now - row.until)} beyond its lease; another one takes over"
        return f"{row.detail or silent}"
    return f"runs for {age(now - (row.began_at or now))}"


def _sweep(store: Store, begin: Coming, sweep: Sweep) -> Coming:
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
        waits=store.node(first) if ahead <= now else None,
        unmet="" if turns.ended or ahead <= now else "no node is in production",
    )
