"""Commands about what happens by the clock."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.core import nodes as rows
from fleet_runner.core.inventory.records import Device, nodes
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.schedules.known import KNOWN
from fleet_runner.reconcile.schedules import runner
from fleet_runner.reconcile.schedules.runner import GoOn, Job
from fleet_runner.settings import Settings, load
from tests.cli.conftest import Type

HOUR = 3600.0


@pytest.fixture
def store(typed: Type, project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The example's nodes, in production for a day."""
    del typed  # it sets the folder
    site = project / "docs" / "examples" / "site"
    monkeypatch.setenv("FLEET_SOURCE", str(site))
    with Store.create(load().store_url) as made:
        more = Device("gpu-90", "hgx", "gpu-server", "hall-1")
        made.register([*nodes(sitefiles.load(site)), more], 1000.0)
        with made._database.write() as connection:
            connection.execute(update(rows).values(state="production", since=time.time() - 24 * HOUR))
        yield made


def listed(typed: Type) -> dict[str, dict[str, Any]]:
    """The schedules as a program reads them."""
    return {each["name"]: each for each in json.loads(typed("schedules", "--json").out)}


def swept(store: Store, name: str, ended: float | None) -> None:
    """Have a node looked at, or being looked at."""
    node = store.node(name)
    assert node is not None
    at = time.time() - 2 * HOUR
    (run,) = store.apply(node, Decision((OpenRun(Stage.HEALTH_PASSIVE, "It is time.", batch=name),), "", 0.0), at)
    if ended is not None:
        store.close_run(run, Outcome.PASSED, "", ended)


def test_every_schedule_is_listed_with_its_next_moment(typed: Type, store: Store) -> None:
    """Also before anything came by it."""
    found = listed(typed)
    assert list(found) == list(KNOWN)
    retention = found["retention"]
    assert (retention["schedule"], retention["zone"], retention["jitter"]) == ("17 3 * * *", "UTC", HOUR)
    assert 0 < retention["next_at"] - time.time() <= 25 * HOUR
    assert (retention["missed"], retention["last_at"], retention["overdue"]) == ("catch up", None, None)
    assert "retention 17 3 * * *" in typed("schedules").words


def test_the_table_is_read_on_eighty_columns(typed: Type, store: Store) -> None:
    """No word is cut, the header is one line, and what has no next moment says why."""
    said = typed("schedules")
    lines = said.out.splitlines()
    assert lines[0].split() == ["NAME", "SCHEDULE", "LAST", "NEXT", "HOW", "IT", "STANDS"]
    assert max(map(len, lines)) <= 80
    assert set(KNOWN) <= {line.split()[0] for line in lines}
    with store._database.write() as connection:
        connection.execute(update(rows).values(state="onboard"))
    assert "no node is in production" in typed("schedules").words
    assert listed(typed)["passive"]["waits"] == "no node is in production"


def test_a_fabric_that_is_due_says_what_it_waits_for(typed: Type, store: Store) -> None:
    """As the fabric itself does, whatever it was told; not that it comes at once."""
    with store._database.write() as connection:
        connection.execute(update(rows).values(state="onboard"))
        fabric = {"state": "watched", "waiting": "No node that is up has a port in this fabric.\r\nssh: no"}
        connection.execute(update(rows).where(rows.c.name == "gpu-90").values(fabric))
    cabling = listed(typed)["cabling"]
    assert cabling["waits"] == "gpu-90: No node that is up has a port in this fabric …"
    assert "gpu-90: No node that is up has a port" in typed("schedules").words
    assert "in 0 s" not in typed("schedules").words


def test_nodes_that_run_and_nodes_that_are_late_are_counted(typed: Type, store: Store) -> None:
    """One swept just now, one long ago, and one at this moment."""
    names = sorted(node.name for node in store.nodes())
    swept(store, names[0], time.time())
    swept(store, names[1], time.time() - HOUR)
    swept(store, names[2], None)
    passive = listed(typed)["passive"]
    assert (passive["running"], passive["overdue"]) == (1, 1)
    assert passive["last_at"] == pytest.approx(time.time(), abs=30)
    assert passive["last_ended"] == f"2 of {len(names)} had their turn"
    assert listed(typed)["active"]["overdue"] is None


def test_a_job_is_done_now_and_the_command_says_how_it_ended(
    typed: Type, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1 where it failed."""
    done = typed("schedules", "run", "retention")
    assert (done.code, "retention: done by" in done.words, "nothing went" in done.words) == (0, True, True)
    found = listed(typed)["retention"]
    assert (found["last_ended"], found["last_at"]) == ("done: nothing went", pytest.approx(time.time(), abs=30))

    def full(_settings: Settings, _store: Store, _go_on: GoOn) -> str:
        raise OSError("disk is full")

    monkeypatch.setitem(runner.JOBS, "retention", Job(full, 60.0))  # type: ignore[arg-type]  a dict all the same
    failed = typed("schedules", "run", "retention")
    assert (failed.code, "retention: failed by" in failed.words) == (1, True)


def test_a_sweep_is_asked_for(typed: Type, store: Store) -> None:
    """Whoever serves does it."""
    asked = typed("schedules", "run", "passive")
    assert (asked.code, "each node at its own time" in asked.words) == (0, True)
    assert store.schedules()[1]["passive"].asked_at == pytest.approx(time.time(), abs=30)


def test_a_schedule_is_paused_with_a_reason_and_resumed(typed: Type, store: Store) -> None:
    """Paused, it does not even come when it is asked for."""
    assert typed("schedules", "pause", "passive", "--reason", "cables are moved", "--by", "kim").code == 0
    assert listed(typed)["passive"]["paused"].startswith("paused by kim since ")
    assert "cables are moved. To continue: fleet-runner schedules resume passive" in typed("schedules").words
    assert "Schedule passive is paused by kim: cables are moved. fleet-runner" in typed("status").words
    assert json.loads(typed("status", "--json").out)["paused_schedules"]["passive"]["by"] == "kim"
    refused = typed("schedules", "run", "passive")
    assert (refused.code, "cables are moved" in refused.words) == (1, True)
    assert store.schedules()[1].get("passive") is None
    assert typed("schedules", "resume", "passive").code == 0
    assert typed("schedules", "resume", "passive").code == 1
    assert listed(typed)["passive"]["paused"] == ""


@pytest.mark.parametrize("words", [
    ("run", "nightly"), ("pause", "nightly", "--reason", "x"), ("resume", "nightly"),
    ("pause", "passive", "--reason", " "),
])  # fmt: skip
def test_what_there_is_not_is_refused(typed: Type, words: tuple[str, ...]) -> None:
    """With what there is, before a store is opened."""
    refused = typed("schedules", *words)
    assert refused.code == 2
    assert "there are passive, active" in refused.err or "--reason is empty" in refused.err


def test_a_job_that_goes_on_and_one_whose_runner_is_silent_are_told_apart(typed: Type, store: Store) -> None:
    """The second one is taken up by another."""
    store.ask_schedule("retention")
    mine = store.take_schedule(load().schedule("retention"), load().source, "vm-1", 30.0)
    assert mine is not None
    assert listed(typed)["retention"]["last_ended"].startswith("runs for ")
    store.renew_schedule(mine, 0.0)
    assert "its runner is silent" in listed(typed)["retention"]["last_ended"]
    store.renew_schedule(mine, 0.0, "does it hang?")
    assert listed(typed)["retention"]["last_ended"] == "does it hang?"
