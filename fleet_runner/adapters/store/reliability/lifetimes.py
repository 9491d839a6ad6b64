"""What the analysis of lifetimes looks at, read row by row: what is held grows with the fleet, not with its past."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, pairwise
from typing import Any

from sqlalchemy import Connection, Row, select

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.core import journal, nodes, results
from fleet_runner.adapters.store.schema.remedies import COUNTED, alarms
from fleet_runner.adapters.store.schema.trends import episodes
from fleet_runner.adapters.store.tickets import rma_cases
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.lifecycle.states import Event, State
from fleet_runner.core.reliability.lifetimes.analyse import SPAN, Given
from fleet_runner.core.reliability.lifetimes.burn_in import Visit
from fleet_runner.core.reliability.report.figures import Found
from fleet_runner.core.reliability.report.rows import Fault, Step
from fleet_runner.core.reliability.report.stories import Story, story

PIECE = 2_000
"""Rows that are fetched at a time."""

CHUNK = 500
"""Results that are asked for at a time."""

MOST_ALARMS = 200_000

HOUR = 3600.0


def read(store: Store, models: Mapping[str, str], now: float) -> Given:
    """Read all of it at one moment; `models` are those of parts by serial number, as the source of truth has them."""
    found, visits, born = Found(), list[Visit](), dict[str, float]()
    database = store._database  # noqa: SLF001  as the store's own methods do
    with database.one_moment(), database.read() as connection:
        types = {row.name: row.device_type for row in connection.execute(select(nodes.c.name, nodes.c.device_type))}
        seen = _first_faults(connection)
        for node, steps in _transitions(connection):
            if types.get(node) not in FABRIC_TYPES:
                found.stories.append(story(node, steps))
                visits += _visits(node, steps, seen.get(node, ()))
                born |= {step.node: step.at for step in steps[:1] if step.event is Event.START}
        found.stories += _unmoved(connection, {told.node for told in found.stories})
        found.codes = _codes(connection, found.stories, now - SPAN)
        found.alarms = _alarms(connection, now - SPAN)
        kept = rma_cases.found(connection, None, open_only=False)
        return Given(store.stays(), store.episodes(0.0), kept, found, visits, now, born, types, models)


def _transitions(connection: Connection) -> Iterator[tuple[str, list[Step]]]:
    """Give the transitions of one node after the other, in the order in which they were written."""
    columns = (journal.c.node, journal.c.at, journal.c.state, journal.c.event, journal.c.to, journal.c.by)
    query = select(*columns, journal.c.results).where(journal.c.kind == "transition")
    with connection.execution_options(yield_per=PIECE).execute(query.order_by(journal.c.node, journal.c.id)) as rows:
        for node, mine in groupby(rows, key=lambda row: row.node):
            yield node, [_step(row) for row in mine]


def _step(row: Row[*tuple[Any, ...]]) -> Step:
    ends = (State(row.state), Event(row.event), State(row.to))
    return Step(row.node, row.at, *ends, row.by, tuple(row.results))


def _unmoved(connection: Connection, told: set[str]) -> list[Story]:
    """Return the stories of nodes in production whose way there is not on record."""
    here = select(nodes.c.name, nodes.c.since).where(
        nodes.c.state == State.PRODUCTION.value, nodes.c.device_type.not_in(FABRIC_TYPES)
    )
    rows = connection.execute(here.order_by(nodes.c.name)).all()
    return [Story(row.name, served=((row.since, None),)) for row in rows if row.name not in told]


def _visits(node: str, steps: Iterable[Step], seen: Iterable[float]) -> Iterator[Visit]:
    """Give a node's burn-ins: a fault counts from when it was first seen, else from when it was decided on."""
    for came, left in pairwise(steps):
        if came.to is State.BURN_IN and left.state is State.BURN_IN and left.at > came.at:
            failed = left.event is Event.FAILED
            first = min((at for at in seen if failed and came.at < at <= left.at), default=left.at)
            yield Visit(node, (first - came.at) / HOUR, failed)


def _first_faults(connection: Connection) -> dict[str, list[float]]:
    """Return when faults of each node were first seen."""
    found: dict[str, list[float]] = {}
    query = select(episodes.c.node, episodes.c.first_at).order_by(episodes.c.id)
    with connection.execution_options(yield_per=PIECE).execute(query) as rows:
        for row in rows:
            found.setdefault(row.node, []).append(row.first_at)
    return found


def _codes(connection: Connection, stories: Iterable[Story], since: float) -> dict[int, str]:
    """Return the first finding's code of each result from which it was decided to take a node out."""
    recent = (each for told in stories for each in told.exclusions if each.ends is None or each.ends >= since)
    wanted = sorted({number for each in recent for number in each.step.results})
    found: dict[int, str] = {}
    for start in range(0, len(wanted), CHUNK):
        query = select(results.c.id, results.c.findings).where(results.c.id.in_(wanted[start : start + CHUNK]))
        found |= {row.id: row.findings[0]["code"] for row in connection.execute(query) if row.findings}
    return found


def _alarms(connection: Connection, since: float) -> dict[str, list[Fault]]:
    """Return the alarms that were raised, by node."""
    found: dict[str, list[Fault]] = {}
    stood = alarms.c.cleared_at.is_(None) | (alarms.c.cleared_at >= since)
    raised = select(alarms).where(COUNTED, stood).order_by(alarms.c.id.desc())
    for row in connection.execute(raised.limit(MOST_ALARMS)).all():
        fault = Fault(row.node, row.code, row.fault, row.raised_at, row.cleared_at)
        found.setdefault(row.node, []).insert(0, fault)
    return found
