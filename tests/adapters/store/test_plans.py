"""What the databases do for the queries that every tick makes: cost follows what changed, not the fleet."""

from threading import Thread

import pytest
from sqlalchemy import event
from sqlalchemy.dialects import sqlite

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.firmware import rollouts
from fleet_runner.adapters.store.lifecycle import nodes
from fleet_runner.adapters.store.runs import runs
from fleet_runner.adapters.store.schema.core import metadata
from fleet_runner.adapters.store.tickets import tickets
from fleet_runner.core.lifecycle.actions import SetCondition
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.states import Condition
from tests.adapters.store.builders import UrlMaker, decision, device, node

HOT = {
    "nodes": nodes.due_query(5.0),
    "runs": runs.open_query(),
    "tickets": tickets.query(None, open_only=True),
    "rollouts": rollouts.going_on_query(),
    "rollout_nodes": rollouts.asked_query(),
}


@pytest.mark.parametrize("table", HOT)
def test_sqlite_answers_from_a_partial_index(sqlite_urls: UrlMaker, table: str) -> None:
    plain = HOT[table].compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
    database = connect(sqlite_urls())
    with database.read() as connection:
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {plain}")]
    database.close()
    partial = {
        index.name for index in metadata.tables[table].indexes if index.dialect_options["sqlite"]["where"] is not None
    }
    assert partial & set(plan[0].split())
    assert not any(line in {f"SCAN {table}" for table in metadata.tables} for line in plan)


def test_conditions_of_many_nodes_are_one_query(store: Store) -> None:
    store.register([device(f"gpu-{number:02d}") for number in range(20)], 1.0)
    for number in range(20):
        held = SetCondition(Condition.CORDONED, Held(1.0, "Test", "ada"))
        store.apply(node(store, f"gpu-{number:02d}"), decision(held, wake_at=2.0), 2.0)
    asked: list[str] = []
    event.listen(store._database.engine, "before_cursor_execute", lambda *args: asked.append(args[2]))
    assert len(store.due(10.0)) == 20
    assert len([line for line in asked if line.startswith("SELECT")]) == 1


def test_what_is_read_together_is_one_transaction_of_its_thread(store: Store) -> None:
    """Another thread reads for itself, and so does this one afterwards."""
    store.register([device("gpu-01")], 1.0)
    begun: list[object] = []
    event.listen(store._database.engine, "begin", begun.append)
    with store.one_moment():
        store.node("gpu-01")
        store.open_runs(["gpu-01"])
        assert len(begun) == 1
        other = Thread(target=store.node, args=("gpu-01",))
        other.start()
        other.join()
        assert len(begun) == 2
    store.node("gpu-01")
    assert len(begun) == 3
