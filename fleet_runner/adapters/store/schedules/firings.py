"""What runs by the clock: each firing is begun by one runner, and only the one that has it writes its end.

All times are the database's. A row is locked, stepped by `core.schedules.firing`, and written back; SQLite's write
transaction locks the whole file anyway.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, fields
from typing import NamedTuple

from sqlalchemy import Connection, func, select, update

from fleet_runner.adapters.store.budgets import switches as switching
from fleet_runner.adapters.store.engine import bounds, database
from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.lifecycle.nodes import wake_all
from fleet_runner.adapters.store.schedules import rows
from fleet_runner.adapters.store.schedules.rows import SWITCH
from fleet_runner.adapters.store.schema.core import nodes, runs
from fleet_runner.adapters.store.schema.runners import schedules, switches
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.inventory.switch import Switch
from fleet_runner.core.lifecycle.states import FABRICS, SERVING, Stage, State
from fleet_runner.core.schedules.firing import Outcome, Row, step, taken
from fleet_runner.core.schedules.schedule import Schedule

AWAY = 120.0
"""Seconds without a sign of any runner after which nobody was there: what came due meanwhile was missed."""


FROZEN = 3.0
"""Seconds for which a runner that froze in the middle of a transaction keeps a row from others."""


class SweepTurns(NamedTuple):
    """How the nodes that a sweep is for stand: when each one's last turn ended, and which run now."""

    ended: Mapping[str, float]
    running: frozenset[str]


class ScheduleMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def schedules(self) -> tuple[float, dict[str, Row], dict[str, Switch]]:
        """Return the database's time, every schedule that it knows, and which of them people paused."""
        with self._database.read() as connection:
            mine = connection.execute(select(*(schedules.c[field.name] for field in fields(Row)))).all()
            off = connection.execute(select(switches).where(switches.c.name.startswith(SWITCH))).all()
            return database.clock(connection), *rows.schedules(mine, off)

    def take_schedule(self, schedule: Schedule, fleet: str, runner: str, lease: float) -> Row | None:
        """Begin the firing that is due, or take up one whose runner is silent, for `lease` seconds; None for none."""
        with self._database.write() as connection:
            row = _locked(connection, schedule.name)
            paused = switching.one(connection, SWITCH + schedule.name) is not None
            now = database.clock(connection)
            after, fires = step(row, schedule, fleet, now, paused=paused)
            if fires:
                after = taken(after, bounds.key(runner), now, lease)
            if after != row:
                connection.execute(update(schedules).where(schedules.c.name == row.name).values(asdict(after)))
            return after if fires else None

    def renew_schedule(self, mine: Row, lease: float, detail: str = "") -> None:
        """Keep a firing for so many seconds more, 0 to give it up; ConflictError where another has taken it up."""
        with self._database.write() as connection:
            until = database.clock(connection) + lease
            _write(connection, mine, {"until": until, "detail": bounds.words(detail)})

    def end_schedule(self, mine: Row, outcome: Outcome, detail: str) -> None:
        """Write down how a firing ended; ConflictError where another runner has taken it up."""
        with self._database.write() as connection:
            now = database.clock(connection)
            words = bounds.words(detail)
            _write(connection, mine, {"ended_at": now, "until": now, "outcome": outcome.value, "detail": words})

    def note_schedule(self, name: str, runner: str, outcome: Outcome, detail: str) -> None:
        """Write down what a runner did by a schedule that each runner keeps for itself."""
        with self._database.write() as connection:
            _locked(connection, name)
            now = database.clock(connection)
            told = {"outcome": outcome.value, "detail": bounds.words(detail), "runner": bounds.key(runner)}
            mine = update(schedules).where(schedules.c.name == name)
            connection.execute(mine.values(began_at=now, ended_at=now, **told))

    def see_to(self, names: Iterable[str], runner: str) -> None:
        """Write down that a runner sees to some sweeps: since now, where nobody did for long."""
        with self._database.write() as connection:
            for name in names:
                row = _locked(connection, name)
                now = database.clock(connection)
                gone = row.began_at is None or row.ended_at is None or not -AWAY < now - row.ended_at < AWAY
                seen = {"began_at": now if gone else row.began_at, "ended_at": now, "runner": bounds.key(runner)}
                connection.execute(update(schedules).where(schedules.c.name == name).values(seen))

    def ask_schedule(self, name: str) -> None:
        """Have a schedule come now."""
        with self._database.write() as connection:
            _locked(connection, name)
            mine = update(schedules).where(schedules.c.name == name)
            connection.execute(mine.values(asked_at=database.clock(connection)))

    def pause_schedule(self, name: str, by: str, reason: str) -> None:
        """Have nothing begin by a schedule until it is resumed."""
        with self._database.write() as connection:
            switching.off(connection, SWITCH + name, by, reason)

    def resume_schedule(self, name: str) -> bool:
        """Have a schedule come again; False where nobody paused it."""
        with self._database.write() as connection:
            return switching.on(connection, SWITCH + name)

    def wake_serving(self) -> int:
        """Have all nodes that serve, and all fabrics, be looked at now; return how many."""
        with self._database.write() as connection:
            mine = update(nodes).where(nodes.c.state.in_([*SERVING, *FABRICS]))
            return connection.execute(mine.values(version=nodes.c.version + 1, wake_at=0.0)).rowcount

    def turns(self, stages: Mapping[Stage, Collection[State]]) -> SweepTurns:
        """Return when the last run of each stage ended on the nodes in some states, and which run now.

        0.0 where there was none since the node came to its state.
        """
        with self._database.read() as connection:
            found = dict[str, float]()
            for stage, states in stages.items():
                last = select(func.max(runs.c.id)).where(runs.c.node == nodes.c.name, runs.c.stage == stage)
                mine = runs.c.id == last.where(runs.c.ended_at.is_not(None)).correlate(nodes).scalar_subquery()
                query = select(nodes.c.name, nodes.c.since, runs.c.opened_at, runs.c.ended_at)
                query = query.select_from(nodes.outerjoin(runs, mine)).where(nodes.c.state.in_(states))
                for name, since, opened_at, ended_at in connection.execute(query):
                    found[name] = ended_at if opened_at is not None and opened_at >= since else 0.0
            opened = select(runs.c.node).where(runs.c.stage.in_(stages), runs.c.ended_at.is_(None))
            return SweepTurns(found, frozenset(connection.execute(opened).scalars()))

    def wake_all(self) -> None:
        """Have every node be looked at, whatever moment it waits for: the clock by which that was set was wrong."""
        with self._database.write() as connection:
            wake_all(connection)


def _locked(connection: Connection, name: str) -> Row:
    """Return a schedule's row, which nobody else changes meanwhile; a new one where there was none."""
    database.never_hold(connection, FROZEN)
    fresh = database.insert(connection, schedules).values(asdict(Row(name)))
    connection.execute(fresh.on_conflict_do_nothing())
    found = connection.execute(select(schedules).where(schedules.c.name == name).with_for_update()).one()
    return Row(**found._mapping)  # noqa: SLF001  as above


def _write(connection: Connection, mine: Row, values: Mapping[str, object]) -> None:
    """Write to a firing that is still the runner's own."""
    database.never_hold(connection, FROZEN)
    held = (schedules.c.name == mine.name, schedules.c.token == mine.token, schedules.c.ended_at.is_(None))
    if connection.execute(update(schedules).where(*held).values(values)).rowcount != 1:
        raise ConflictError(
            f"schedule {mine.name}: {mine.runner} was silent for longer than its lease and another runner has taken "
            f"it up; this one writes nothing"
        )
