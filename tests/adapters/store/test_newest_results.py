"""Which result of a check is the newest: one that says nothing hides none that does, however many there are."""

from alembic import command
from sqlalchemy import event, text

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.maintenance.migrate import config
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage
from tests.adapters.store.builders import judged, opened

WORKING = Result("xid", Verdict.UNKNOWN, "it runs", observed={"working": True})
GAVE_WAY = Result("xid", Verdict.SKIPPED, "it gave way", observed={"preempted": True})
NOBODY_ASKED = Result("xid", Verdict.SKIPPED, "the profile has no such section")


def swept(store: Store, *told: Result | Verdict, stage: Stage = Stage.HEALTH_ACTIVE) -> list[str]:
    """Carry out a run that brings some answers; return the verdicts that it stored."""
    batch = f"b-{len(store.runs('gpu-01', limit=1000))}"
    mine = opened(store, stage=stage, batch=batch)
    lines = [judged(verdict=each) if isinstance(each, Verdict) else Judged("gpu-01", 201.0, each) for each in told]
    store.ingest(batch, 0, 10, lines)
    store.close_run(mine, Outcome.UNKNOWN, "", 300.0)
    return [stored.result.verdict.value for stored in store.results(mine.id)]


def newest(store: Store) -> dict[str, str]:
    """The verdict of the newest result of each check."""
    return {stored.result.check: stored.result.verdict.value for stored in store.latest_results("gpu-01")}


def test_a_fault_is_known_again_however_long_a_test_ran_before_it_gave_way(stocked: Store) -> None:
    swept(stocked, Verdict.FAIL)
    swept(stocked, *[WORKING] * 60)
    swept(stocked, *[WORKING] * 60)
    assert newest(stocked) == {"xid": "UNKNOWN"}
    swept(stocked, GAVE_WAY)
    assert newest(stocked) == {"xid": "FAIL"}


def test_what_speaks_and_what_gave_way_may_come_together(stocked: Store) -> None:
    swept(stocked, WORKING, Verdict.FAIL, WORKING, GAVE_WAY)
    assert newest(stocked) == {"xid": "FAIL"}


def test_a_test_that_always_gave_way_is_skipped(stocked: Store) -> None:
    swept(stocked, WORKING)
    swept(stocked, GAVE_WAY)
    assert newest(stocked) == {"xid": "SKIPPED"}


def test_sweeps_say_once_that_nobody_asks(stocked: Store) -> None:
    """Whether a test gave way is said each time."""
    other = Result("lldp", Verdict.PASS, "fine")
    assert swept(stocked, NOBODY_ASKED, other) == ["SKIPPED", "PASS"]
    assert swept(stocked, NOBODY_ASKED, other) == ["PASS"]
    assert swept(stocked, GAVE_WAY, other) == ["SKIPPED", "PASS"]
    assert swept(stocked, WORKING, other) == ["UNKNOWN", "PASS"]
    assert swept(stocked, NOBODY_ASKED, other) == ["SKIPPED", "PASS"]


def test_that_nobody_asks_any_more_takes_the_place_of_what_was_known(stocked: Store) -> None:
    """The profile asks no more about the fault; what gives way later hides no fault from before."""
    other = Result("lldp", Verdict.PASS, "fine")
    swept(stocked, Verdict.FAIL, other)
    assert swept(stocked, NOBODY_ASKED, other) == ["SKIPPED", "PASS"]
    assert newest(stocked) == {"xid": "SKIPPED", "lldp": "PASS"}
    swept(stocked, WORKING)
    swept(stocked, GAVE_WAY)
    assert newest(stocked) == {"xid": "SKIPPED", "lldp": "PASS"}
    swept(stocked, Verdict.FAIL)
    swept(stocked, GAVE_WAY)
    assert newest(stocked) == {"xid": "FAIL", "lldp": "PASS"}


def test_a_run_that_nobody_asked_anything_has_an_answer_and_so_has_each_other_stage(stocked: Store) -> None:
    other = Result("lldp", Verdict.SKIPPED, "the profile has no such section")
    assert swept(stocked, NOBODY_ASKED, other) == ["SKIPPED", "SKIPPED"]
    assert swept(stocked, NOBODY_ASKED, other) == ["SKIPPED"]
    assert swept(stocked, NOBODY_ASKED, other, stage=Stage.BURN_IN) == ["SKIPPED", "SKIPPED"]


def test_many_skipped_answers_cost_one_question(stocked: Store) -> None:
    opened(stocked, stage=Stage.HEALTH_PASSIVE)
    asked: list[str] = []
    event.listen(stocked._database.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    skipped = [Judged("gpu-01", 201.0, Result(f"check-{each}", Verdict.SKIPPED, "m")) for each in range(30)]
    stocked.ingest("b-1", 0, 10, skipped)
    assert len([each for each in asked if "FROM latest" in each]) == 1


def test_the_runs_of_a_stage_are_read_alone(stocked: Store) -> None:
    """However many others lie between them; the newest, the oldest first."""
    for _ in range(3):
        swept(stocked, Verdict.PASS)
        swept(stocked, Verdict.PASS, stage=Stage.HEALTH_PASSIVE)
    ids = [run.id for run in stocked.runs("gpu-01") if run.stage is Stage.HEALTH_ACTIVE]
    assert [run.id for run in stocked.runs_of("gpu-01", Stage.HEALTH_ACTIVE, 2)] == ids[1:]
    assert stocked.runs_of("gpu-02", Stage.HEALTH_ACTIVE, 2) == ()


def test_the_runs_of_a_stage_that_ended_in_some_ways_are_read_alone(stocked: Store) -> None:
    for outcome in (Outcome.SKIPPED, Outcome.WORKING, Outcome.SKIPPED, Outcome.PASSED, Outcome.WORKING):
        mine = opened(stocked, stage=Stage.HEALTH_ACTIVE)
        stocked.close_run(mine, outcome, "", 300.0)
    found = stocked.runs_of("gpu-01", Stage.HEALTH_ACTIVE, 2, {Outcome.SKIPPED, Outcome.PASSED})
    assert [run.outcome for run in found] == [Outcome.SKIPPED, Outcome.PASSED]
    assert len(stocked.runs_of("gpu-01", Stage.HEALTH_ACTIVE, 9)) == 5


def test_what_an_older_store_knows_is_known_after_its_migration(stocked: Store, url: str) -> None:
    swept(stocked, Verdict.FAIL, Result("lldp", Verdict.UNKNOWN, "it runs", observed={"working": True}))
    database = connect(url)
    with database.write() as connection:
        connection.execute(text("ALTER TABLE latest DROP COLUMN spoke"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0004'"))
        command.upgrade(config(connection), "0005")
        rows = connection.execute(text('SELECT "check", spoke = result FROM latest ORDER BY 1')).all()
    database.close()
    assert [tuple(row) for row in rows] == [("lldp", None), ("xid", True)]
