"""What is foreseen: it stands from the night it is seen first until a night that sees it no more."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from fleet_runner.adapters.store.engine import bounds
from fleet_runner.adapters.store.reliability import rows
from fleet_runner.adapters.store.schema.trends import FORESEEN, foresights
from fleet_runner.core.reliability.forecasts import Foreseen, Foresight, Kind, StoredForecast


def foresee(connection: Connection, kinds: frozenset[Kind], found: Sequence[Foresight], now: float) -> Foreseen:
    """Have of some kinds exactly that stand which was found: begin, refresh and end what it takes."""
    wanted = {bounds.key(each.key): each for each in found if each.kind in kinds}
    mine = select(foresights).where(FORESEEN, foresights.c.kind.in_(sorted(kinds))).with_for_update()
    stood = {row.key: row for row in connection.execute(mine.order_by(foresights.c.id)).all()}
    begins = [key for key in wanted if key not in stood]
    new = [_row(key, wanted[key]) | {"first_at": now, "last_at": now} for key in begins]
    again = [{"_id": stood[key].id, **_told(each), "last_at": now} for key, each in wanted.items() if key in stood]
    over = [row for key, row in stood.items() if key not in wanted]
    by_id = foresights.c.id == bindparam("_id")
    if over:
        connection.execute(update(foresights).where(by_id).values(ended_at=now), [{"_id": row.id} for row in over])
    if again:
        connection.execute(update(foresights).where(by_id), again)
    begun: list[StoredForecast] = []
    if new:
        stored = insert(foresights).returning(foresights.c.id, sort_by_parameter_order=True)
        ids = connection.execute(stored, new).scalars().all()
        begun = [StoredForecast(number, wanted[key], now, now) for number, key in zip(ids, begins, strict=True)]
    return Foreseen(tuple(begun), tuple(rows.forecast(row, ended_at=now) for row in over))


def some(connection: Connection, node: str, limit: int, *, standing: bool) -> tuple[StoredForecast, ...]:
    """Return what is foreseen, the newest first: of a node or of all, what stands or what ever did."""
    mine = select(foresights).order_by(foresights.c.id.desc()).limit(limit)
    mine = mine.where(FORESEEN) if standing else mine
    mine = mine.where(foresights.c.node == node) if node else mine
    return tuple(rows.forecast(row, row.ended_at) for row in connection.execute(mine).all())


def _row(key: str, each: Foresight) -> dict[str, Any]:
    named = {name: bounds.key(getattr(each, name)) for name in ("node", "component", "metric", "serial")}
    return {"key": key, "kind": each.kind.value, **named, **_told(each), "ended_at": None}


def _told(each: Foresight) -> dict[str, Any]:
    return {"sentence": bounds.words(each.sentence), "numbers": plain(each.numbers)}


def plain(value: Any) -> Any:
    """Return JSON without what JSON does not know: what is not finite was not found out, and is null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value
