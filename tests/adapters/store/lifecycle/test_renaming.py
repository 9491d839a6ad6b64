"""Nodes that are renamed: every row goes with them, or none."""

from collections.abc import Iterator

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.exc import DBAPIError

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import Database, connect
from fleet_runner.adapters.store.lifecycle import renaming
from fleet_runner.adapters.store.schema.core import metadata
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.inventory.identity import DesignedMachine, Renamed
from fleet_runner.core.inventory.records import Interface
from fleet_runner.core.lifecycle.actions import SetCondition
from fleet_runner.core.lifecycle.runs import Held, IntentKind, Outcome
from fleet_runner.core.lifecycle.spool import Ended, PlayEnd
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from tests.adapters.store.builders import START, decision, device, failing_after, judged, node, opened, swap
from tests.adapters.store.filling import fill

LATER = 4e9
AWAY = (Renamed("gpu-01", "gpu-99", "same serial S-1"),)
EXCHANGED = (Renamed("gpu-01", "gpu-02", "same serial S-1"), Renamed("gpu-02", "gpu-01", "same serial S-2"))


@pytest.fixture
def full(url: str) -> Iterator[Database]:
    """A store with two rows in every table, which name the nodes one and two wherever a node is named."""
    database = connect(url)
    with database.write() as connection:
        fill(connection)
        connection.execute(text("UPDATE runs SET ended_at = opened_at + 1"))
        connection.execute(text("UPDATE journal SET id = id + 100"))  # a new line is numbered from 1 on
        names = sorted(connection.execute(text("SELECT name FROM nodes")).scalars())
        for column in renaming.ELSEWHERE:
            for number, name in enumerate(names, 1):
                mine = update(column.table).where(column.endswith(f" {number}"))
                connection.execute(mine.values({column.name: name}))
    yield database
    database.close()


def named(database: Database) -> dict[str, list[str]]:
    """Which names stand in each column that names a node, in the order of the rows."""
    found: dict[str, list[str]] = {}
    with database.read() as connection:
        for column in renaming.naming():
            others = [each for each in column.table.c if each.name in {"id", "at", "since", "state", "detail"}]
            rows = connection.execute(select(column).order_by(*others, column)).scalars()
            found[str(column)] = list(rows)
    return found


def test_every_column_that_names_a_node_is_known() -> None:
    """A table that is added later is renamed, too, or says here that it names no node."""
    known = {str(column) for column in renaming.naming()}
    meant = {
        str(column)
        for table in metadata.tables.values()
        for column in table.c
        if column.name in {"node", "nodes", "trial"} and str(column) != "tokens.nodes"
    }
    assert meant <= known


def test_a_name_is_another_in_every_table_at_once(full: Database) -> None:
    first, second = sorted(set(named(full)["conditions.node"]))
    with full.write() as connection:
        assert renaming.rename(connection, (Renamed(first, "gpu-99", "same serial S"),), LATER)
    for column, found in named(full).items():
        assert first not in found, column
        assert {"gpu-99", second} <= set(found), column


def test_two_names_are_exchanged_in_every_table(full: Database) -> None:
    first, second = sorted(set(named(full)["conditions.node"]))
    with full.read() as connection:
        before = dict(connection.execute(text("SELECT name, state FROM nodes")).all())
    with full.write() as connection:
        assert renaming.rename(connection, (Renamed(first, second, ""), Renamed(second, first, "")), LATER)
    with full.read() as connection:
        after = dict(connection.execute(text("SELECT name, state FROM nodes")).all())
    assert after == {first: before[second], second: before[first]}
    assert all(set(found) >= {first, second} for found in named(full).values())


def history(store: Store) -> None:
    """A node that has been somewhere, with a result, a ticket, a request and a hold."""
    run = opened(store)
    lines = (judged(verdict=Verdict.FAIL), Ended("gpu-01", 202.0, PlayEnd.OK))
    store.ingest(run.batch, 0, 9, lines)
    store.close_run(run, Outcome.FAILED, "one fault", 210.0)
    store.apply(node(store), decision(START, swap("gpu-01", "gpu-02", fault="cabling/gpu-01 ib2|gpu-02 ib5")), 220.0)
    store.leave_intent("gpu-01", IntentKind.HOLD, "ada", now=230.0)


def test_a_renamed_node_keeps_its_state_its_history_its_results_and_its_tickets(stocked: Store) -> None:
    history(stocked)
    before = stocked.history("gpu-01")
    assert stocked.rename(AWAY, 300.0)
    assert stocked.node("gpu-01") is None
    now = node(stocked, "gpu-99")
    assert (now.state, now.since, now.wake_at) == (State.PROVISION, 220.0, 0.0)
    *kept, last = stocked.history("gpu-99")
    assert [each.sentence for each in kept] == [each.sentence for each in before]
    assert (last.kind, last.sentence) == ("identity", "Renamed from gpu-01 to gpu-99: same serial S-1.")
    assert [run.stage for run in stocked.runs("gpu-99")] == [Stage.VERIFY]
    assert [intent.kind for intent in stocked.intents("gpu-99")] == [IntentKind.HOLD]
    (ticket,) = stocked.tickets(node="gpu-99")
    assert (set(ticket.nodes), ticket.fault) == ({"gpu-99", "gpu-02"}, "cabling/gpu-99 ib2|gpu-02 ib5")
    (stored,) = stocked.latest_results("gpu-99")
    assert [finding.fault for finding in stored.result.findings] == ["xid.79:gpu-99:3"]
    assert [finding.nodes for finding in stored.result.findings] == [("gpu-99",)]


def test_what_people_said_of_a_nodes_mode_goes_with_its_machine(stocked: Store) -> None:
    """A site of the same name keeps its own."""
    for scope, name, mode in ((Scope.NODE, "gpu-01", Mode.OBSERVE), (Scope.NODE, "gpu-02", Mode.ACT)):
        stocked.set_mode(Setting(scope, name, None, mode, 200.0, "ada"))
    stocked.set_mode(Setting(Scope.SITE, "gpu-01", None, Mode.ADVISE, 200.0, "ada"))
    assert stocked.rename(EXCHANGED, 300.0)
    assert [(each.scope, each.name, each.mode) for each in stocked.modes()] == [
        (Scope.NODE, "gpu-02", Mode.OBSERVE),
        (Scope.NODE, "gpu-01", Mode.ACT),
        (Scope.SITE, "gpu-01", Mode.ADVISE),
    ]


def test_exchanged_nodes_exchange_their_states_and_the_keys_of_their_tickets(stocked: Store) -> None:
    history(stocked)
    stocked.apply(node(stocked, "gpu-02"), decision(swap("gpu-02", fault="gpu-02/xid.79/GPU 3")), 240.0)
    stocked.apply(node(stocked, "gpu-01"), decision(swap("gpu-01", fault="gpu-01/xid.79/GPU 3")), 240.0)
    assert stocked.rename(EXCHANGED, 300.0)
    assert (node(stocked, "gpu-01").state, node(stocked, "gpu-02").state) == (State.REGISTERED, State.PROVISION)
    assert [ticket.fault for ticket in stocked.tickets(node="gpu-01")] == [
        "cabling/gpu-02 ib2|gpu-01 ib5",
        "gpu-01/xid.79/GPU 3",
    ]
    assert {ticket.fault for ticket in stocked.tickets()} == {
        "cabling/gpu-02 ib2|gpu-01 ib5",
        "gpu-01/xid.79/GPU 3",
        "gpu-02/xid.79/GPU 3",
    }
    assert stocked.history("gpu-01")[-1].sentence == "Renamed from gpu-02 to gpu-01: same serial S-2."


def test_a_node_on_which_something_runs_is_renamed_later(stocked: Store) -> None:
    run = opened(stocked)
    assert not stocked.rename(AWAY, 300.0)
    assert not stocked.rename(EXCHANGED, 300.0)
    assert node(stocked).name == "gpu-01"
    stocked.close_run(run, Outcome.PASSED, "", 310.0)
    assert stocked.rename(AWAY, 320.0)


def test_a_node_whose_firmware_somebody_holds_is_renamed_later(stocked: Store, given_times: None) -> None:
    stocked.lease("gpu-01", "host:1", run=None, now=290.0, seconds=60.0)
    assert not stocked.rename(AWAY, 300.0)
    assert stocked.rename(AWAY, 351.0)


@pytest.mark.parametrize("statement", [3, 12, 40])
def test_a_rename_that_fails_half_way_changes_nothing(stocked: Store, statement: int) -> None:
    history(stocked)
    before = (stocked.nodes(), stocked.history("gpu-01"), stocked.tickets())
    with pytest.raises((OSError, DBAPIError)), failing_after(stocked, statement):
        stocked.rename(AWAY, 300.0)
    assert (stocked.nodes(), stocked.history("gpu-01"), stocked.tickets()) == before


def test_what_the_source_says_of_machines_is_kept_and_a_serial_stays_as_it_was(store: Store) -> None:
    ports = (Interface("eth0", "", "02:00:00:00:00:01"),)
    record = device("gpu-01", serial="S-1", oob_address="10.0.0.1/24", interfaces=ports)
    store.register([record, device("gpu-02", serial="S-2")], 5.0, {"gpu-02"})
    known, taken = store.machines()
    assert known == {
        "gpu-01": DesignedMachine("S-1", "", "10.0.0.1", frozenset({"02:00:00:00:00:01"})),
        "gpu-02": DesignedMachine(),
    }
    assert taken == frozenset()
    store.register([device("gpu-01", serial="S-9", oob_address="10.0.0.9")], 6.0)
    assert store.machine("gpu-01") == DesignedMachine("S-1", "", "10.0.0.9", frozenset({"02:00:00:00:00:01"}))
    assert store.machine("gpu-02") == store.machine("gpu-77") == DesignedMachine()


def test_the_condition_of_a_waived_fault_names_the_node_by_its_new_name(stocked: Store) -> None:

    waived = SetCondition(Condition.WAIVED, Held(1.0, "cancelled", "ada", "gpu-01/xid.79/GPU 3"))
    stocked.apply(node(stocked), decision(waived), 200.0)
    assert stocked.rename(AWAY, 300.0)
    assert node(stocked, "gpu-99").conditions[Condition.WAIVED].detail == "gpu-99/xid.79/GPU 3"
