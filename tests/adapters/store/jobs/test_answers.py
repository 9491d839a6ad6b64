"""Answers about jobs are kept: one for each end, the newest; on both databases."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine import bounds
from fleet_runner.adapters.store.jobs import answers
from fleet_runner.adapters.store.jobs.answers import Sought
from fleet_runner.adapters.store.schema.core import results, runs
from fleet_runner.adapters.store.schema.remedies import alarms
from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.kept import kept
from fleet_runner.core.schedules.retention import DAY
from fleet_runner.reconcile.schedules.retention import pruned
from fleet_runner.settings import load
from tests.core.jobs.made import BEGUN, ENDED, answer, fallen

LATER = ENDED + 3_600.0


def keep_faults(store: Store) -> None:
    """Have checks find faults, and alarms raised."""
    run = {"id": 1, "node": "gpu-01", "stage": "health_passive", "fence": 1, "opened_at": 1.0, "by": "runner"}
    ran = {"reason": "", "ended_at": 2.0, "detail": "", "done": 0, "total": 0, "task": ""}
    fault = {"code": "xid.79", "component": "GPU 3", "message": "", "remedy": "REBOOT", "fault": "f"}
    row = {"run": 1, "stage": "health_passive", "check": "xid", "message": "", "observed": {}, "evidence": []}
    found = [("gpu-01", 100.0, "FAIL"), ("gpu-01", 300.0, "FAIL"), ("gpu-01", 50.0, "UNKNOWN")]
    alarm = {"component": "GPU 3", "fault": "f", "source": "kernel", "message": "", "remedy": "REBOOT", "count": 1}
    heard = {"at_once": True, "first_at": 1.0, "last_at": 1.0, "heard_at": 1.0, "cleared_because": ""}
    raised = [("gpu-01", "xid.79", 250.0), ("gpu-02", "xid.48", 70.0), ("gpu-03", "xid.79", None)]
    with store._database.write() as connection:
        connection.execute(insert(runs), [run | ran])
        for node, at, verdict in (*found, ("gpu-02", 60.0, "FAIL")):
            told = {"node": node, "at": at, "verdict": verdict, "findings": [fault]}
            connection.execute(insert(results), [row | told])
        for node, code, when in raised:
            told = {"node": node, "code": code, "raised_at": when, "authenticated": True}
            connection.execute(insert(alarms), [alarm | heard | told])


def test_an_answer_is_read_as_it_was_kept(store: Store) -> None:
    store.keep_answer(answer(fallen(blur=300.0)), LATER, "ann")
    found = store.answer_of("4711")
    assert found is not None
    assert found == kept(answer(fallen(blur=300.0)), LATER, "ann")
    assert store.answers(0.0, LATER) == (replace(found, body={}),)
    assert store.answer_of("4712") is None


def test_the_newest_answers_are_found_by_area_and_node(store: Store) -> None:
    for at in range(3):
        store.keep_answer(answer(fallen(node=f"gpu-0{at}"), id=f"{at}", ended=ENDED + at), LATER, "ann")
    store.keep_answer(answer(id="last", ended=ENDED + 9), LATER, "ann")
    assert [each.job for each in store.newest_answers(3)] == ["last", "2", "1"]
    assert [each.job for each in store.newest_answers(9, area="hardware")] == ["2", "1", "0"]
    assert [each.job for each in store.newest_answers(9, node="gpu-01")] == ["1"]
    assert store.newest_answers(9, area="storage") == ()


def test_a_newer_answer_about_the_same_end_replaces_the_older_one(store: Store) -> None:
    store.keep_answer(answer(), LATER, "ann")
    store.keep_answer(answer(fallen()), LATER + 60, "bob")
    (found,) = store.answers(0.0, LATER)
    assert (found.area, found.at, found.told_at, found.by) == (Area.HARDWARE, LATER, LATER + 60, "bob")


def test_a_job_that_was_started_again_has_an_answer_for_each_end(store: Store) -> None:
    store.keep_answer(answer(fallen()), LATER, "ann")
    store.keep_answer(answer(begun=ENDED + 300, ended=ENDED + 900), LATER, "ann")
    assert [each.ended for each in store.answers(0.0, LATER)] == [ENDED, ENDED + 900]
    last = store.answer_of("4711")
    assert last is not None
    assert last.ended == ENDED + 900


def test_what_was_said_while_it_ran_goes_with_the_answer_about_its_end(store: Store) -> None:
    store.keep_answer(answer(ended=None), BEGUN + 60, "ann")
    store.keep_answer(answer(ended=None, id="4712"), BEGUN + 60, "ann")
    assert store.answers(BEGUN, BEGUN + 61) != ()
    store.keep_answer(answer(fallen()), LATER, "bob")
    assert [(each.job, each.ended, each.at) for each in store.answers(0.0, LATER + 1)] == [
        ("4712", None, BEGUN + 60),
        ("4711", ENDED, BEGUN + 60),
    ]
    store.keep_answer(answer(ended=None, begun=LATER), LATER + 60, "ann")
    store.keep_answer(answer(fallen()), LATER + 120, "ann")
    assert len(store.answers(0.0, LATER + 200)) == 3, "a later start of the job is not that end"


def test_answers_are_found_by_when_the_job_ended(store: Store) -> None:
    store.keep_answer(answer(fallen()), LATER, "ann")
    assert store.answers(ENDED, ENDED + 1) != ()
    assert store.answers(0.0, ENDED) == store.answers(ENDED + 1, LATER + 10) == ()


def test_work_that_was_named_by_nodes_is_kept_too(store: Store) -> None:
    for _ in range(2):
        store.keep_answer(answer(id="", scheduler=""), LATER, "ann")
        store.keep_answer(answer(id="", scheduler="", ended=None), BEGUN, "ann")
    assert [each.ended for each in store.answers(0.0, LATER)] == [None, ENDED]


def test_whatever_a_scheduler_says_can_be_kept(store: Store) -> None:
    odd = {"id": "x" * 5_000 + "\0\ud800", "owner": "\0", "gpus": 2**70, "ended": math.inf, "begun": math.nan}
    store.keep_answer(answer(fallen(math.nan), **odd), LATER, "ann")
    (found,) = store.answers(0.0, LATER + 1)
    assert (found.begun, found.ended, found.fault_at) == (LATER, LATER, LATER)
    assert store.answer_of(str(odd["id"])) is not None


def test_too_long_a_timeline_keeps_its_oldest_events_and_says_so(store: Store) -> None:
    long = replace(answer(fallen()), timeline=tuple(fallen(float(at), line="x" * 5_000) for at in range(400)))
    store.keep_answer(long, LATER, "ann")
    found = store.answer_of("4711")
    assert found is not None
    assert len(json.dumps(dict(found.body))) <= bounds.JSON_CHARS
    assert [each["at"] for each in found.body["timeline"]] == list(range(100))
    assert found.body["timeline_left_out"] == 300


def test_of_too_many_answers_the_newest_are_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        store.keep_answer(answer(id=str(number), ended=ENDED + number), LATER, "ann")
    assert [each.job for each in store.answers(0.0, LATER)] == ["0", "1", "2"]
    monkeypatch.setattr(answers, "MOST", 2)
    assert [each.job for each in store.answers(0.0, LATER)] == ["1", "2"]


def test_old_answers_go_and_the_store_says_how_many_there_are(store: Store, tmp_path: Path) -> None:
    store.keep_answer(answer(fallen()), LATER, "ann")
    store.keep_answer(answer(id="4712"), LATER + DAY, "ann")
    (kind,) = [each for each in store.weighed(LATER + 1).kinds if each.name == "answers about jobs"]
    assert (kind.rows, kind.oldest, kind.newest, kind.lately) == (2, LATER, LATER + DAY, 1)
    now = LATER + 400 * DAY + 1
    settings = load(state_dir=tmp_path)
    assert pruned(settings, store, now, dry=True).answers == pruned(settings, store, now).answers == 1
    assert store.answer_of("4711") is None
    assert store.answer_of("4712") is not None


def test_a_fault_was_known_when_a_check_found_it_or_an_alarm_was_raised(stocked: Store) -> None:
    """Whichever came first in the time in which it is looked for; another code, node or time is another fault."""
    keep_faults(stocked)
    asked = [
        Sought("gpu-01", "xid.79", 0.0, 1_000.0),
        Sought("gpu-01", "xid.79", 101.0, 1_000.0),
        Sought("gpu-01", "xid.79", 260.0, 1_000.0),
        Sought("gpu-01", "xid.79", 400.0, 1_000.0),
        Sought("gpu-02", "xid.48", 0.0, 1_000.0),
        Sought("gpu-03", "xid.79", 0.0, 1_000.0),
    ]
    assert stocked.first_seen(asked) == (100.0, 250.0, 300.0, None, 70.0, None)
    assert stocked.first_seen(()) == ()
