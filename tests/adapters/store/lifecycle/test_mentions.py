"""Which nodes the store says anything about, and what is written of many of which nothing follows."""

from sqlalchemy import update

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.core import nodes
from fleet_runner.core.lifecycle.runs import IntentKind, Outcome
from fleet_runner.core.lifecycle.states import State
from tests.adapters.store.builders import decision, judged, node, opened, swap
from tests.making import an_alarm

NAMES = ("gpu-01", "gpu-02", "gpu-03")


def test_nothing_is_known_of_new_nodes(stocked: Store) -> None:
    found = stocked.unmentioned([*NAMES, "gpu-99"])
    assert found == (frozenset(NAMES),) * 5  # of one that the store does not know, nothing is said


def test_what_is_known_of_a_node_is_said_of_it_alone(stocked: Store) -> None:
    opened(stocked, "gpu-01")
    stocked.ingest("b-1", 0, 10, [judged("gpu-01")])
    stocked.apply(node(stocked, "gpu-02"), decision(swap("gpu-02")), 210.0)
    stocked.keep_alarms(["gpu-02"], lambda _: [an_alarm(node="gpu-02", id=0)], 211.0)
    stocked.leave_intent("gpu-03", IntentKind.HOLD, "ada", now=212.0)
    found = stocked.unmentioned(NAMES)
    others = frozenset(NAMES)
    assert found.runs == found.results == others - {"gpu-01"}
    assert found.tickets == found.alarms == others - {"gpu-02"}
    assert found.intents == others - {"gpu-03"}


def test_what_is_over_is_no_news_but_a_run_is(stocked: Store) -> None:
    """A ticket that is closed and a request that is answered are read no more; what a run left is."""
    run = opened(stocked, "gpu-01")
    stocked.close_run(run, Outcome.PASSED, "", 220.0)
    stocked.apply(node(stocked, "gpu-02"), decision(swap("gpu-02")), 210.0)
    (ticket,) = stocked.tickets()
    stocked.close_ticket(ticket.id, "Done.", "ada", 230.0)
    found = stocked.unmentioned(NAMES)
    assert (found.runs, found.tickets) == (frozenset(NAMES) - {"gpu-01"}, frozenset(NAMES))


def test_those_that_changed_meanwhile_stay_as_they_are(stocked: Store) -> None:
    rows = stocked.nodes()
    stocked.leave_intent("gpu-02", IntentKind.HOLD, "ada", now=150.0)
    before = node(stocked, "gpu-02")
    decided = [(row, decision(waiting=f"{row.name} waits.", wake_at=900.0)) for row in rows]
    assert stocked.rest(decided) == ("gpu-02",)
    assert node(stocked, "gpu-02") == before
    after = [node(stocked, name) for name in ("gpu-01", "gpu-03")]
    assert [(row.waiting, row.wake_at, row.version) for row in after] == [
        ("gpu-01 waits.", 900.0, 2),
        ("gpu-03 waits.", 900.0, 2),
    ]
    assert stocked.rest(decided) == NAMES


def test_what_was_decided_before_all_were_woken_no_longer_applies(stocked: Store) -> None:
    """Somebody set a mode, or began a sweep: a node must not sleep on by what was decided before."""
    stocked.keep_alarms(["gpu-03"], lambda _: [an_alarm(node="gpu-03", id=0)], 211.0)
    for wake in (stocked.wake_all, stocked.wake_serving):
        with stocked._database.write() as connection:
            connection.execute(update(nodes).values(state=State.PRODUCTION.value))
        decided = [(row, decision(wake_at=900.0)) for row in stocked.nodes()]
        wake()
        assert stocked.rest(decided) == NAMES
        if wake == stocked.wake_all:
            assert [each.name for each in stocked.pressing(9)] == ["gpu-03"]  # comes before all others as before
