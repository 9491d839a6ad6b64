"""How far a NetBox is told: from when on, which lines, and what is looked for after a store was brought back."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from sqlalchemy import text

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.lifecycle import history
from fleet_runner.adapters.store.netbox import fields
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.inventory.netbox.mirror.fields import NEVER, MirroredState
from fleet_runner.core.lifecycle.runs import Entry, IntentKind
from tests.adapters.store.builders import START, UrlMaker, decision, device, node
from tests.waiting import PATIENCE

URL = "https://netbox.example"
SPAN = (100.0, 60.0)


def told(store: Store) -> dict[str, list[str]]:
    """What there is to tell of each node."""
    return {each.node: [line.sentence for line in store.lines(each, 50)] for each in store.untold_lines(URL)}


def test_what_happened_before_it_is_told_first_is_not_told(stocked: Store) -> None:
    stocked.leave_intent("gpu-01", IntentKind.HOLD, "ada", reason="fan noise", now=100.0)
    stocked.scan_mirror(URL)
    assert told(stocked) == {}
    stocked.leave_intent("gpu-02", IntentKind.HOLD, "ada", now=101.0)
    stocked.leave_intent("gpu-01", IntentKind.RELEASE, "bob", now=102.0)
    stocked.scan_mirror(URL)
    assert told(stocked) == {"gpu-01": ["bob asks: release."], "gpu-02": ["ada asks: hold."]}
    assert stocked.lines_waiting(URL) == 2


def test_a_node_that_comes_later_is_told_from_its_first_line(stocked: Store) -> None:
    stocked.scan_mirror(URL)
    stocked.register([device("gpu-09")], 200.0)
    stocked.apply(node(stocked, "gpu-09"), decision(START), 201.0)
    stocked.scan_mirror(URL)
    assert list(told(stocked)) == ["gpu-09"]


def test_sweeps_and_steps_of_boots_are_not_told(stocked: Store) -> None:
    """They come by the thousand."""
    stocked.scan_mirror(URL)
    with stocked._database.write() as connection:
        kinds = ("run", "boot", "alarm")
        history.add(connection, [Entry(0, "gpu-01", 200.0, kind, "Says little.", "runner") for kind in kinds])
    stocked.scan_mirror(URL)
    assert stocked.untold_lines(URL) == ()


def test_another_netbox_is_told_from_when_on_it_is_one(stocked: Store) -> None:
    stocked.scan_mirror(URL)
    stocked.leave_intent("gpu-01", IntentKind.HOLD, "ada", now=100.0)
    stocked.scan_mirror("https://other.example")
    stocked.scan_mirror(URL)
    assert stocked.untold_lines("https://other.example") == ()
    assert list(told(stocked)) == ["gpu-01"]


def test_a_line_that_is_written_down_late_is_not_passed_over(postgresql_urls: UrlMaker) -> None:
    """Two write at once: the one with the lower number ends last. Nobody waits for it longer than a moment."""
    url = postgresql_urls()
    with closing(connect(url)) as slow, Store.open(url) as store:
        store.register([device("gpu-01"), device("gpu-02")], 100.0)
        store.scan_mirror(URL)
        with slow.write() as connection:
            history.add(connection, [Entry(0, "gpu-01", 200.0, "condition", "Late.", "ada")])
            store.leave_intent("gpu-02", IntentKind.HOLD, "bob", now=200.0)
            with pytest.raises(StoreError, match="a process is writing to journal for more than"):
                store.scan_mirror(URL)
            assert told(store) == {}
        store.scan_mirror(URL)
        assert told(store) == {"gpu-01": ["Late."], "gpu-02": ["bob asks: hold."]}


def test_nobody_waits_while_one_that_writes_is_waited_for(
    postgresql_urls: UrlMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frozen runner in the middle of writing must not hold up the ticks of the others."""
    monkeypatch.setattr(database, "SETTLING", PATIENCE)
    url = postgresql_urls()
    with closing(connect(url)) as slow, Store.open(url) as store, ThreadPoolExecutor(1) as pool:
        store.register([device("gpu-01"), device("gpu-02")], 100.0)
        store.scan_mirror(URL)
        with slow.write() as connection:
            history.add(connection, [Entry(0, "gpu-01", 200.0, "condition", "Late.", "ada")])
            store.leave_intent("gpu-02", IntentKind.HOLD, "bob", now=200.0)
            scan = pool.submit(store.scan_mirror, URL)
            with pytest.raises(TimeoutError):
                scan.result(1.0)
            store.leave_intent("gpu-02", IntentKind.RELEASE, "bob", now=201.0)
        scan.result(PATIENCE)
        assert told(store) == {"gpu-01": ["Late."], "gpu-02": ["bob asks: hold."]}
    slow.close()


def test_lines_that_may_be_told_are_known_for_it_until_they_are(stocked: Store) -> None:
    stocked.scan_mirror(URL)
    stocked.leave_intent("gpu-01", IntentKind.HOLD, "ada", now=100.0)
    stocked.scan_mirror(URL)
    [before] = stocked.untold_lines(URL)
    assert stocked.take_tracker("netbox journal", "me", *SPAN) is not None
    stocked.begin_lines("netbox journal", "me", SPAN, URL, {"gpu-01": before.newest})
    [asked] = stocked.untold_lines(URL)
    assert (asked.doubted, asked.asked_at) == (before.newest, 100.0)
    stocked.lines_not_taken(URL, [before])
    assert stocked.untold_lines(URL) == (before,)
    stocked.lines_told("netbox journal", URL, {"gpu-01": before.newest}, 101.0)
    assert stocked.untold_lines(URL) == ()
    assert stocked.tracker("netbox journal").heard_at == 101.0


def test_who_has_lost_the_right_to_tell_begins_nothing(stocked: Store) -> None:
    stocked.scan_mirror(URL)
    assert stocked.take_tracker("netbox fields", "me", *SPAN) is not None
    assert stocked.take_tracker("netbox fields", "other", 200.0, 60.0) is not None
    wanted = stocked.unwritten_fields(URL)
    with pytest.raises(ConflictError):
        stocked.begin_fields("netbox fields", "me", SPAN, URL, wanted)
    with pytest.raises(ConflictError):
        stocked.begin_lines("netbox fields", "me", SPAN, URL, {"gpu-01": 1})
    assert all(each.asked == () for each in stocked.unwritten_fields(URL))


def test_fields_wait_until_they_are_written_and_again_after_a_while(stocked: Store) -> None:
    stocked.scan_mirror(URL)
    assert [each.written for each in stocked.unwritten_fields(URL)] == [NEVER] * 3
    stocked.fields_written("netbox fields", URL, stocked.unwritten_fields(URL), 500.0)
    assert stocked.unwritten_fields(URL) == ()
    assert len(stocked.unwritten_fields(URL, before=500.1)) == 3
    stocked.apply(node(stocked), decision(START), 600.0)
    [moved] = stocked.unwritten_fields(URL)
    assert (moved.written, moved.wanted) == (MirroredState("registered", 100.0), MirroredState("provision", 600.0))


def test_what_was_sent_is_ours_until_an_answer_came_and_no_list_without_end(stocked: Store) -> None:
    stocked.scan_mirror(URL)
    stocked.take_tracker("netbox fields", "me", *SPAN)
    for at in range(20):
        with stocked._database.write() as connection:
            connection.execute(text("UPDATE nodes SET since = :at WHERE name = 'gpu-01'"), {"at": float(at)})
        stocked.begin_fields("netbox fields", "me", SPAN, URL, stocked.mirrored_fields(URL, ["gpu-01"]))
    [each] = stocked.mirrored_fields(URL, ["gpu-01"])
    assert [stand.since for stand in each.asked] == [float(at) for at in range(12, 20)]
    stocked.fields_written("netbox fields", URL, [each], 700.0)
    assert stocked.mirrored_fields(URL, ["gpu-01"])[0].asked == ()


def test_a_conflict_is_a_line_of_the_history_once_until_it_is_settled(stocked: Store) -> None:
    stocked.scan_mirror(URL)
    for what in ("fleet_state is 'x'", "fleet_state is 'x'", "fleet_state is 'y'", "fleet_state is 'z'"):
        [each] = stocked.mirrored_fields(URL, ["gpu-01"])
        stocked.fields_conflict(URL, each, what, (700.0, 1000.0))
        if what.endswith("'y'"):
            stocked.fields_written("netbox fields", URL, [each], 800.0)
    said = [entry.sentence for entry in stocked.history("gpu-01", kind="netbox")]
    assert [sentence[:45] for sentence in said] == [
        f"In its page in NetBox fleet_state is '{each}', whi"[:45] for each in "xz"
    ]
    assert stocked.unwritten_fields(URL)[0].conflict == "fleet_state is 'z'"


def test_fabrics_have_no_page(stocked: Store) -> None:
    stocked.register([device("fabric-a", device_type=FABRIC_TYPES[0])], 100.0)
    stocked.scan_mirror(URL)
    names = {each.node for each in stocked.mirrored_fields(URL)}
    assert ("gpu-01" in names, "fabric-a" in names) == (True, False)


def test_a_store_that_was_brought_back_looks_for_every_line_first(stocked: Store) -> None:
    """What was told since the backup is not known to it."""
    stocked.scan_mirror(URL)
    stocked.leave_intent("gpu-01", IntentKind.HOLD, "ada", now=100.0)
    stocked.scan_mirror(URL)
    with stocked._database.write() as connection:
        fields.doubt(connection)
    [each] = stocked.untold_lines(URL)
    assert each.doubted >= each.newest > each.told


def test_everything_that_waits_can_be_hurried(stocked: Store) -> None:
    stocked.scan_mirror(URL)
    [each, *_] = stocked.unwritten_fields(URL)
    stocked.fields_not_written(URL, each, "NetBox has no device gpu-01", 9_999.0)
    assert stocked.mirrored_fields(URL, ["gpu-01"])[0].due_at == 9_999.0
    stocked.hurry_mirror(URL)
    assert stocked.mirrored_fields(URL, ["gpu-01"])[0].due_at == 0.0
