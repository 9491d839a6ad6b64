"""How the fleet stands at a moment, as metrics tell it: counts and moments, no words of anybody."""

from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select

from fleet_runner.adapters.store.engine.database import Database
from fleet_runner.adapters.store.maintenance import size
from fleet_runner.adapters.store.schema.core import LIVE, beats, conditions, latest, nodes, results, runs, tickets
from fleet_runner.adapters.store.schema.firmware import flashes
from fleet_runner.adapters.store.schema.remedies import STANDING, alarms, trackers
from fleet_runner.adapters.store.schema.runners import parcels
from fleet_runner.adapters.store.schema.web import channels
from fleet_runner.core.lifecycle.states import SERVING

OPEN_TICKET, OPEN_RUN, OPEN_FLASH = tickets.c.closed_at, runs.c.ended_at, flashes.c.ended_at


@dataclass(frozen=True, slots=True)
class FleetGauges:
    """What is so at a moment.

    `nodes` are name, device type, state and since; `runs` stage, how many are open and the oldest's moment;
    `tickets` remedy and moment of those open. `waiting` are the moments at which batches were offered that nobody
    has taken, `tries` how often telling each tracker and channel failed since it last worked.
    """

    nodes: tuple[tuple[str, str, str, float], ...] = ()
    conditions: dict[str, int] = field(default_factory=dict[str, int])
    due: int = 0
    runs: tuple[tuple[str, int, float], ...] = ()
    tickets: tuple[tuple[str, float], ...] = ()
    alarms: dict[str, int] = field(default_factory=dict[str, int])
    flashes: int = 0
    waiting: tuple[float, ...] = ()
    carried: int = 0
    beats: dict[str, float] = field(default_factory=dict[str, float])
    tries: tuple[tuple[str, str, int], ...] = ()


class FleetGaugeMethods:
    """Methods of the Store, which extends this."""

    _database: Database

    def glance(self, now: float) -> FleetGauges:
        """Return how the fleet stands."""
        with self._database.read() as connection:
            return _glance(connection, now)

    def oldest_answers(self) -> dict[str, float]:
        """Return when the node in production that was asked longest ago said something to each check.

        Nodes that nobody asks are not meant. This walks the newest results of all nodes.
        """
        serving = nodes.c.state.in_(sorted(SERVING))
        oldest = select(func.min(latest.c.spoke)).join_from(latest, nodes, nodes.c.name == latest.c.node)
        query = select(results.c.check, results.c.at)
        with self._database.read() as connection:
            found = connection.execute(oldest.where(serving).group_by(latest.c.check)).scalars()
            ids = [each for each in found if each is not None]
            return {row.check: row.at for row in connection.execute(query.where(results.c.id.in_(ids)))}

    def disk_bytes(self) -> tuple[int, int]:
        """Return how many bytes the store has, and how many of them are free for reuse."""
        with self._database.read() as connection:
            return size.on_disk(connection, self._database.where)


def _glance(connection: Connection, now: float) -> FleetGauges:
    ask = connection.execute
    queued = select(parcels.c.offered_at, parcels.c.started_at).where(parcels.c.ended_at.is_(None))
    batches = ask(queued).all()
    held = select(conditions.c.condition, func.count()).join_from(
        conditions, nodes, nodes.c.name == conditions.c.node
    )
    going = select(runs.c.stage, func.count(), func.min(runs.c.opened_at)).where(OPEN_RUN.is_(None))
    stand = select(alarms.c.source, func.count()).where(STANDING).group_by(alarms.c.source)
    told = [
        (kind, row.name, row.tries)
        for kind, table in (("tracker", trackers), ("channel", channels))
        for row in ask(select(table.c.name, table.c.tries)).all()
    ]
    return FleetGauges(
        nodes=tuple(
            (row[0], row[1], row[2], row[3])
            for row in ask(select(nodes.c.name, nodes.c.device_type, nodes.c.state, nodes.c.since))
        ),
        conditions={row[0]: row[1] for row in ask(held.where(LIVE).group_by(conditions.c.condition))},
        due=ask(select(func.count()).select_from(nodes).where(nodes.c.wake_at <= now, LIVE)).scalar_one(),
        runs=tuple((row[0], row[1], row[2]) for row in ask(going.group_by(runs.c.stage))),
        tickets=tuple(
            (row[0], row[1])
            for row in ask(select(tickets.c.remedy, tickets.c.opened_at).where(OPEN_TICKET.is_(None)))
        ),
        alarms={row[0]: row[1] for row in ask(stand)},
        flashes=ask(select(func.count()).select_from(flashes).where(OPEN_FLASH.is_(None))).scalar_one(),
        waiting=tuple(row.offered_at for row in batches if row.started_at is None),
        carried=sum(row.started_at is not None for row in batches),
        beats={row.who: row.at for row in ask(select(beats))},
        tries=tuple(told),
    )
