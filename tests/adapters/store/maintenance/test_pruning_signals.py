"""Cleared alarms, steps of closed boots, told news and counters go with time; what stands or waits stays."""

from pathlib import Path

import pytest
from sqlalchemy import insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.remedies import alarms, heard, ticket_links
from fleet_runner.core.schedules.retention import DAY
from fleet_runner.reconcile.schedules.retention import pruned
from fleet_runner.settings import Settings, load
from tests.adapters.store.builders import armed, decision, node, swap

START = 10_000 * DAY
LATE = START + 200 * DAY


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with a state folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return load(state_dir=tmp_path / "state")


def test_cleared_alarms_go_and_standing_ones_stay(stocked: Store, settings: Settings) -> None:
    cleared = [START, None, START + 100 * DAY, START]
    rows = [
        {
            "node": "gpu-01", "code": f"xid.{number}", "component": "", "fault": "f", "source": "kernel",
            "message": "It fell.", "remedy": "REBOOT", "at_once": False,
            "first_at": START, "last_at": START, "heard_at": START, "count": 1,
            "raised_at": START, "cleared_at": at, "cleared_because": "",
        }
        for number, at in enumerate(cleared, start=1)
    ]  # fmt: skip
    with stocked._database.write() as connection:
        for row in rows:
            connection.execute(insert(alarms).values(row))
    assert pruned(settings, stocked, LATE).alarms == 1
    assert [each.code for each in stocked.past_alarms()] == ["xid.2", "xid.3", "xid.4"], "the newest keeps its number"


def test_steps_of_closed_boots_go_and_the_boots_stay(stocked: Store, settings: Settings) -> None:
    closed, going_on = armed(stocked, now=START), armed(stocked, "gpu-02", now=START)
    stocked.close_boot(closed.id, "It came up.", START + 60)
    stocked.arm("gpu-03", closed.expected, run=None, now=LATE, seconds=60.0)
    assert pruned(settings, stocked, LATE).steps == 2
    assert [each.boot for each in stocked.boot_events()] == [going_on.id, going_on.id + 1]
    assert [each.id for each in stocked.boots("gpu-01")] == [closed.id]


@pytest.mark.parametrize("waits", [False, True])
def test_news_of_closed_tickets_go_once_they_are_told(stocked: Store, settings: Settings, *, waits: bool) -> None:
    """The last line of each stays: later lines are counted from it."""
    for fault in ("a", "b"):
        stocked.apply(node(stocked), decision(swap("gpu-01", fault=fault)), START)
    stocked.note_ticket(1, "The part is on its way.", "ada", START + 1)
    stocked.close_ticket(1, "Mended.", "ada", START + 2)
    link = {
        "ticket": 1, "tracker": "ops", "serial": 1, "remote": "7", "url": "", "told": 4, "digest": "",
        "asked_at": START, "waits": waits, "tries": 0, "due_at": 0.0, "detail": "",
    }  # fmt: skip
    with stocked._database.write() as connection:
        connection.execute(insert(ticket_links).values(link))
    assert pruned(settings, stocked, LATE).news == (0 if waits else 2)
    assert len(stocked.ticket_changes(1)) == (3 if waits else 1)
    assert len(stocked.ticket_changes(2)) == 1, "it is open"


def test_photos_of_closed_tickets_go(stocked: Store, settings: Settings) -> None:
    for fault in ("a", "b"):
        stocked.apply(node(stocked), decision(swap("gpu-01", fault=fault)), START)
    for ticket in (1, 2):
        stocked.add_photo(ticket, b"picture", "ada", START + 1)
    stocked.close_ticket(1, "Mended.", "ada", START + 2)
    assert pruned(settings, stocked, LATE).photos == 1
    assert stocked.photos(1) == ()
    assert len(stocked.photos(2)) == 1, "it is open"


def test_counters_of_sources_that_were_not_heard_of_go(stocked: Store, settings: Settings) -> None:
    rows = [
        {"source": source, "what": "taken", "count": 1, "last_at": at, "detail": ""}
        for source, at in (("syslog", START), ("bmc", LATE - DAY))
    ]
    with stocked._database.write() as connection:
        connection.execute(insert(heard), rows)
    assert pruned(settings, stocked, LATE).counters == 1
    assert [each.source for each in stocked.heard()] == ["bmc"]


def test_with_zero_days_nothing_goes(stocked: Store, settings: Settings) -> None:
    boot = armed(stocked, now=START)
    stocked.close_boot(boot.id, "It came up.", START + 60)
    always = settings.model_copy(update={"keep_signals_days": 0.0})
    assert pruned(always, stocked, LATE).sentence() == "nothing went"
