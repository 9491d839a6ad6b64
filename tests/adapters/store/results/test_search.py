"""Stored results are found by node, check, verdict and time, newest first, from an index, a page at a time."""

import itertools

import pytest
from sqlalchemy.dialects import sqlite

from fleet_runner.adapters.store import ResultFilter, Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.results import search
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.states import Stage
from tests.adapters.store.builders import UrlMaker, judged, told

NODES, CHECKS = ("gpu-01", "gpu-02"), ("xid", "gpu_errors", "wiped")


PAIRS = tuple(itertools.product(NODES, CHECKS))


@pytest.fixture
def filled(stocked: Store) -> Store:
    """A store with 48 results of two nodes and three checks, ten seconds apart; the newest is at 580."""
    for turn in range(0, 48, len(PAIRS)):
        lines = [
            judged(node, check, list(Verdict)[number % 7 % 4], 110.0 + 10 * number)
            for number, (node, check) in enumerate(PAIRS, start=turn)
        ]
        stocked.record_by_hand(Stage.CHECK, "ada", lines, lines[-1].at)
    return stocked


def every(store: Store) -> tuple[Stored, ...]:
    return store.find_results(ResultFilter(), limit=1000)


def test_all_results_are_told_newest_first(filled: Store) -> None:
    ids = [each.id for each in every(filled)]
    assert len(ids) == 48
    assert ids == sorted(ids, reverse=True)


def test_what_is_asked_for_is_found_and_nothing_else(filled: Store) -> None:
    """Each filter, and all of them together, against a look at every result."""
    stored = every(filled)
    asked = itertools.product(["", "gpu-01", "gpu-03"], ["", "xid", "nothing"], [None, *Verdict], [0.0, 400.0])
    for node, check, verdict, since in asked:
        right = [
            each
            for each in stored
            if node in {"", each.node}
            and check in {"", each.result.check}
            and verdict in {None, each.result.verdict}
            and each.at >= since
        ]
        sought = ResultFilter(node, check, verdict, since)
        assert list(filled.find_results(sought, limit=1000)) == right, sought
        assert list(filled.find_results(sought, limit=3)) == right[:3], sought


def test_pages_follow_each_other(filled: Store) -> None:
    sought, pages = ResultFilter(node="gpu-01"), list[Stored]()
    while page := filled.find_results(sought, below=pages[-1].id if pages else None, limit=7):
        pages += page
    assert tuple(pages) == filled.find_results(sought, limit=1000)


def test_results_that_came_late_are_found_by_when_they_were(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A runner that was away takes in old results under new ids; what is newer lies behind them."""
    monkeypatch.setattr(search, "PAGE", 4)
    for _ in range(3):
        filled.record_by_hand(Stage.CHECK, "ada", [judged(at=105.0)], 2000.0)
    found = filled.find_results(ResultFilter(since=520.0), limit=50)
    assert [each.at for each in found] == [580.0 - 10 * number for number in range(7)]
    assert filled.find_results(ResultFilter(since=9999.0), limit=50) == ()


def test_evidence_is_given_with_what_was_read_and_what_is_gone_is_left_out(filled: Store) -> None:
    line = told("hello\n")
    filled.record_by_hand(Stage.CHECK, "ada", [line, judged()], 300.0)
    found = filled.pieces([line.hash, "0" * 64])
    assert {key: (each.read, each.text) for key, each in found.items()} == {line.hash: ("dmesg", "hello\n")}
    assert filled.pieces([]) == {}


PLANS = {
    "results_node": ResultFilter(node="gpu-01"),
    "results_check": ResultFilter(check="xid"),
    "results_notable": ResultFilter(verdict=Verdict.FAIL, since=5.0),
}


@pytest.mark.parametrize("index", PLANS)
def test_sqlite_answers_from_an_index_and_sorts_nothing(sqlite_urls: UrlMaker, index: str) -> None:
    asked = search.query(PLANS[index], below=1000)
    plain = asked.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
    database = connect(sqlite_urls())
    with database.read() as connection:
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {plain} LIMIT 50")]
    database.close()
    assert len(plan) == 1
    assert index in plan[0]
