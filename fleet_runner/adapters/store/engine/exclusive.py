"""Who else is at a database now: what moves, migrates or replaces it waits until nobody is."""

from sqlalchemy import Connection, inspect, text

from fleet_runner.adapters.store.engine.database import Database, clock

_SESSIONS = """
SELECT coalesce(host(client_addr), 'this machine') FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'fleet-runner' AND pid <> pg_backend_pid()
ORDER BY backend_start
"""
_LEASES = """
SELECT runner, count(*) FROM parcels WHERE ended_at IS NULL AND runner <> '' AND until > :now
GROUP BY runner ORDER BY runner
"""


def others(database: Database) -> tuple[str, ...]:
    """Return a sentence for each runner with a live lease, and for the processes that are connected.

    SQLite knows neither: there the locks in `state_dir` say who serves.
    """
    with database.read() as connection:
        if connection.dialect.name != "postgresql":
            return ()
        return (*_leases(connection), *_sessions(connection))


def _leases(connection: Connection) -> tuple[str, ...]:
    if not inspect(connection).has_table("parcels"):
        return ()
    rows = connection.execute(text(_LEASES), {"now": clock(connection)}).all()
    return tuple(f"runner {name} carries {count} batches" for name, count in rows)


def _sessions(connection: Connection) -> tuple[str, ...]:
    hosts = connection.execute(text(_SESSIONS)).scalars().all()
    found = {host: hosts.count(host) for host in hosts}
    return tuple(f"{count} connections of fleet-runner from {host}" for host, count in found.items())
