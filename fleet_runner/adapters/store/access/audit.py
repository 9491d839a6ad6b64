"""Who asked what through pages and the API. Rows are only ever added to, but for what retention takes away."""

from collections.abc import Sequence

from sqlalchemy import Connection, insert, select

from fleet_runner.adapters.store.schema.web import audit
from fleet_runner.core.access.roles import AuditLine


def note(connection: Connection, asked: Sequence[AuditLine]) -> None:
    """Write lines, in their order."""
    if asked:
        connection.execute(insert(audit), [_row(each) for each in asked])


def newest(connection: Connection, name: str | None, before: int | None, limit: int) -> tuple[AuditLine, ...]:
    """Return the newest `limit` lines, newest first: all or a name's, and only those older than the line `before`."""
    query = select(audit).order_by(audit.c.id.desc()).limit(limit)
    if name is not None:
        query = query.where(audit.c.name == name)
    if before is not None:
        query = query.where(audit.c.id < before)
    return tuple(
        AuditLine(row.at, row.name, row.role, row.source, row.method, row.path, row.status, row.detail, row.id)
        for row in connection.execute(query)
    )


def _row(asked: AuditLine) -> dict[str, object]:
    return {
        "at": asked.at,
        "name": asked.name,
        "role": asked.role,
        "source": asked.source,
        "method": asked.method,
        "path": asked.path,
        "status": asked.status,
        "detail": asked.detail,
    }
