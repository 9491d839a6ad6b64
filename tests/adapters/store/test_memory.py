"""What was before: the results behind the newest ones, and when nodes left states."""

from sqlalchemy.dialects import sqlite

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.results import results
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.actions import Move
from fleet_runner.core.lifecycle.runs import Outcome, Stored
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from tests.adapters.store.builders import START, UrlMaker, decision, device, judged, node, opened


def told(store: Store, *verdicts: Verdict, stage: Stage = Stage.CABLING, name: str = "gpu-01") -> tuple[int, ...]:
    """Run a stage as often as there are verdicts; return the ids of its results."""
    ids = []
    for verdict in verdicts:
        batch = f"{name}-{stage}-{len(store.runs(name))}"
        run = opened(store, name, stage, batch)
        store.ingest(batch, 0, 10, [judged(name, verdict=verdict)])
        store.close_run(run, Outcome.PASSED, "", 300.0)
        ids.append(store.results(run.id)[0].id)
    return tuple(ids)


def before(store: Store, name: str = "gpu-01") -> list[int]:
    """The ids of what was before a node's newest results."""
    return [stored.id for stored in store.before(store.latest_results(name))]


def test_what_was_before_is_the_newest_answer_that_said_anything(stocked: Store) -> None:
    assert before(stocked) == []
    first, *_ = told(stocked, Verdict.FAIL)
    assert before(stocked) == []
    told(stocked, Verdict.UNKNOWN, Verdict.UNKNOWN, Verdict.PASS)
    assert before(stocked) == [first]


def test_what_another_stage_or_node_or_check_saw_does_not_count(stocked: Store) -> None:
    told(stocked, Verdict.FAIL, stage=Stage.VERIFY)
    told(stocked, Verdict.FAIL, name="gpu-02")
    run = opened(stocked, stage=Stage.CABLING, batch="other")
    stocked.ingest("other", 0, 10, [judged(check="optics")])
    stocked.close_run(run, Outcome.PASSED, "", 300.0)
    told(stocked, Verdict.FAIL)
    assert before(stocked) == []


def test_an_unknown_answer_that_names_what_it_is_unsure_of_said_something(stocked: Store) -> None:
    run = opened(stocked, stage=Stage.CABLING, batch="unsure")
    partly = Result("xid", Verdict.UNKNOWN, "Partly.", observed={"unsure": ["gpu-07"]})
    stocked.ingest("unsure", 0, 10, [Judged("gpu-01", 201.0, partly)])
    stocked.close_run(run, Outcome.UNKNOWN, "", 300.0)
    told(stocked, Verdict.FAIL)
    (found,) = stocked.before(stocked.latest_results("gpu-01"))
    assert (found.run, found.result) == (run.id, partly)


def test_sqlite_walks_back_over_indexes(sqlite_urls: UrlMaker) -> None:
    """However many results there are."""
    stored = Stored(9, 8, "gpu-01", Stage.CABLING, 1.0, Result("xid", Verdict.PASS, "m"))
    plain = results.before_query(stored).compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
    database = connect(sqlite_urls())
    with database.read() as connection:
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {plain}")]
    database.close()
    assert any("runs_stage" in line for line in plan)
    assert any("results_run" in line for line in plan)
    assert not any(line.startswith("SCAN") for line in plan)


def test_when_a_node_left_a_state_is_known(stocked: Store) -> None:
    """The newest time, and only since a moment."""
    store = stocked
    assert store.left(["gpu-01"], State, 0.0) == {}
    store.apply(node(store), decision(START), 200.0)
    passed = Move(TRANSITIONS[State.PROVISION, Event.PASSED], "runner")
    store.apply(node(store), decision(passed), 300.0)
    store.apply(node(store, "gpu-02"), decision(START), 250.0)
    assert store.left(["gpu-01", "gpu-02", "gpu-03"], State, 0.0) == {"gpu-01": 300.0, "gpu-02": 250.0}
    assert store.left(["gpu-01", "gpu-02"], {State.REGISTERED}, 0.0) == {"gpu-01": 200.0, "gpu-02": 250.0}
    assert store.left(["gpu-01", "gpu-02"], State, 260.0) == {"gpu-01": 300.0}
    assert store.left(["gpu-02"], State, 0.0) == {"gpu-02": 250.0}
    assert store.left([], State, 0.0) == {}


def test_thousands_of_nodes_are_asked_about_at_once(store: Store) -> None:
    names = [f"gpu-{number:04d}" for number in range(2_500)]
    store.register([device(name) for name in names], 1.0)
    store.apply(node(store, names[-1]), decision(START), 200.0)
    assert store.left(names, State, 0.0) == {names[-1]: 200.0}
