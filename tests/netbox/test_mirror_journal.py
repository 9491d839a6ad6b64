"""What happened to nodes, in their journals: each line once and in order, whatever is killed, lost or refused."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.netbox import node_fields as pages
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.netbox import fields
from fleet_runner.core.lifecycle.states import Event
from fleet_runner.reconcile.inventory.netbox_mirror.journal import SETTLES
from fleet_runner.reconcile.inventory.netbox_mirror.writer import LEASE
from tests.examples import UNHURRIED, examples
from tests.netbox.mirroring import NAMES, Told, told
from tests.netbox.standin import Standin

POST = "POST .*journal-entries"
FAULTS: tuple[Mapping[str, Any], ...] = (
    {"lost": True}, {"dropped": True}, {"cut": True}, {"status": 500}, {"status": 502, "body": b"<h1>"},
    {"status": 403}, {"status": 400},
)  # fmt: skip


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def mirror(standin: Standin, tmp_path: Path) -> Iterator[Told]:
    """Three nodes whose pages are told from now on."""
    with told(standin, tmp_path) as made:
        made.turn()
        yield made


def test_what_happens_is_told_with_who_and_when_and_once(mirror: Told) -> None:
    mirror.say("gpu-01", "fan noise")
    mirror.move("gpu-02", Event.START)
    mirror.turn()
    mirror.turn()
    assert mirror.entries("gpu-01") == ["ada asks: hold (fan noise)."]
    assert len(mirror.entries("gpu-02")) == 1
    [first, second] = mirror.standin.rows("extras/journal-entries")
    assert first["assigned_object_type"] == "dcim.device"
    assert "\nada, 2025-11-22 " in first["comments"]
    assert (first["kind"]["value"], second["kind"]["value"]) == ("info", "info")
    assert len([each for each in mirror.standin.changes if each.method == "POST"]) == 1


def test_many_lines_go_in_requests_that_netbox_bears(mirror: Told) -> None:
    for number in range(30):
        mirror.say("gpu-01", f"a {number}")
        mirror.say("gpu-02", f"b {number}")
    mirror.turn()
    assert mirror.entries("gpu-01") == [f"ada asks: hold (a {number})." for number in range(30)]
    assert mirror.entries("gpu-02") == [f"ada asks: hold (b {number})." for number in range(30)]
    assert max(len(each.body) for each in mirror.standin.changes if each.method == "POST") == 50


@pytest.mark.parametrize("fault", FAULTS)
def test_a_line_is_told_once_however_its_request_ends(mirror: Told, fault: Mapping[str, Any]) -> None:
    mirror.say("gpu-01", "fan noise")
    mirror.standin.fail(POST, **fault)
    mirror.turn()
    mirror.say("gpu-01", "still")
    for _ in range(4):
        mirror.turn(SETTLES)
    assert mirror.entries("gpu-01") == ["ada asks: hold (fan noise).", "ada asks: hold (still)."]
    assert (mirror.standing("journal"), mirror.store.untold_lines(mirror.standin.url)) == ("", ())


def test_a_process_that_is_killed_between_sending_and_noting_tells_nothing_twice(
    mirror: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror.say("gpu-01", "fan noise")
    with monkeypatch.context() as patched:
        patched.setattr(Store, "lines_told", _killed)
        with pytest.raises(Killed):
            mirror.turn()
    assert len(mirror.entries("gpu-01")) == 1
    mirror.turn(SETTLES)
    assert mirror.entries("gpu-01") == ["ada asks: hold (fan noise)."]
    assert mirror.store.untold_lines(mirror.standin.url) == ()


def test_while_a_request_may_still_be_under_way_nothing_is_sent_again(mirror: Told) -> None:
    """A NetBox that hangs goes on with what nobody waits for any more."""
    mirror.say("gpu-01", "fan noise")
    mirror.standin.fail(POST, dropped=True)
    mirror.turn()
    mirror.turn(60)
    assert "searched for" in mirror.store.untold_lines(mirror.standin.url)[0].detail
    mirror.say("gpu-02", "as well")
    mirror.turn(5)
    assert mirror.entries("gpu-02") == ["ada asks: hold (as well)."], "the others do not wait for it"
    assert mirror.entries("gpu-01") == []
    mirror.turn(SETTLES)
    assert mirror.entries("gpu-01") == ["ada asks: hold (fan noise)."]


def test_hours_without_netbox_lose_nothing(mirror: Told) -> None:
    mirror.standin.fail(times=500, dropped=True)
    said = []
    for hour in range(3):
        mirror.say("gpu-01", f"hour {hour}")
        said.append(f"ada asks: hold (hour {hour}).")
        mirror.turn(3600)
    mirror.standin.faults.clear()
    mirror.turn(3600)
    assert mirror.entries("gpu-01") == said


def test_a_device_that_is_away_keeps_no_other_back_and_is_told_when_it_is_there(mirror: Told) -> None:
    number = mirror.standin.row("dcim/devices", name="gpu-01")["id"]
    mirror.standin.edit("dcim/devices", number, name="gpu-old")
    mirror.say("gpu-01", "fan noise")
    mirror.say("gpu-02", "as well")
    mirror.turn()
    assert len(mirror.entries("gpu-02")) == 1
    [left] = mirror.store.untold_lines(mirror.standin.url)
    assert "NetBox has no device gpu-01" in left.detail
    mirror.standin.edit("dcim/devices", number, name="gpu-01")
    mirror.turn(4000)
    assert mirror.entries("gpu-01") == ["ada asks: hold (fan noise)."]


def test_a_device_that_is_deleted_while_it_is_told_keeps_no_other_back(mirror: Told) -> None:
    number = mirror.standin.row("dcim/devices", name="gpu-01")["id"]
    for name in NAMES:
        mirror.say(name, "fan noise")
    mirror.once(lambda: mirror.standin.remove("dcim/devices", number))
    mirror.turn()
    assert [len(mirror.entries(name)) for name in NAMES[1:]] == [1, 1]
    assert [each.node for each in mirror.store.untold_lines(mirror.standin.url)] == ["gpu-01"]


def test_a_device_at_which_netbox_fails_keeps_no_other_back(mirror: Told) -> None:
    mirror.breaks("POST", "gpu-01")
    for name in NAMES:
        mirror.say(name, "noise")
    for _ in range(9):
        mirror.turn(SETTLES + 1)
    assert [len(mirror.entries(name)) for name in NAMES] == [0, 1, 1]
    assert "HTTP 500" in mirror.standing("journal")


def test_a_permission_that_is_missing_is_named_and_given_nothing_is_doubted(mirror: Told) -> None:
    may = {"dcim.device": ("view", "change")}
    mirror.token = mirror.standin.token_of("writer", may)
    mirror.say("gpu-01", "fan noise")
    mirror.turn()
    assert "extras.add_journalentry" in mirror.standing("journal")
    assert mirror.store.untold_lines(mirror.standin.url)[0].doubted == 0


def test_a_token_that_may_not_look_for_lines_says_so_rather_than_telling_twice(mirror: Told) -> None:
    mirror.token = mirror.standin.token_of("writer", {"dcim.device": ("view",), "extras.journalentry": ("add",)})
    mirror.say("gpu-01", "fan noise")
    mirror.standin.fail(POST, lost=True)
    mirror.turn()
    mirror.turn(4000)
    assert len(mirror.entries("gpu-01")) == 1
    assert "extras/journal-entries" in mirror.standing("journal")


def test_a_store_that_was_brought_back_tells_nothing_again(mirror: Told) -> None:
    """Its copy is from before two lines were told, of which it has one."""
    mirror.say("gpu-01", "fan noise")
    mirror.store.scan_mirror(mirror.standin.url)
    [before] = mirror.store.untold_lines(mirror.standin.url)
    mirror.turn()
    with mirror.store._database.write() as connection:
        fields.told(connection, mirror.standin.url, {"gpu-01": before.told})
        fields.doubt(connection)
    mirror.say("gpu-01", "after")
    mirror.turn()
    assert mirror.entries("gpu-01") == ["ada asks: hold (fan noise).", "ada asks: hold (after)."]


def test_one_process_tells_at_a_time_and_another_goes_on_when_it_is_gone(mirror: Told) -> None:
    mirror.say("gpu-01", "fan noise")
    assert mirror.store.take_tracker("netbox journal", "other", mirror.now, LEASE) is not None
    mirror.turn()
    assert mirror.entries("gpu-01") == []
    mirror.turn(LEASE)
    assert mirror.entries("gpu-01") == ["ada asks: hold (fan noise)."]


def test_a_process_that_slept_while_another_took_over_sends_nothing(
    mirror: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror.say("gpu-01", "fan noise")
    real = pages.devices

    def slept(*given: Any) -> Any:
        found = real(*given)
        mirror.store.take_tracker("netbox journal", "other", mirror.now + LEASE + 1, LEASE)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(pages, "devices", slept)
        mirror.turn()
    assert mirror.entries("gpu-01") == []
    mirror.turn(3 * LEASE)
    assert mirror.entries("gpu-01") == ["ada asks: hold (fan noise)."]


@pytest.mark.nightly
@given(st.data())
@settings(max_examples=examples(40), deadline=None, suppress_health_check=UNHURRIED)
def test_whatever_happens_each_line_is_told_once_and_in_order(mirror: Told, data: st.DataObject) -> None:
    """Faults, kills and pauses in any order; in the end NetBox answers."""
    with pytest.MonkeyPatch.context() as patched:
        for step in range(data.draw(st.integers(1, 6))):
            mirror.say(data.draw(st.sampled_from(NAMES)), f"{mirror.now:.0f} {step}")
            mirror.standin.faults.clear()
            if data.draw(st.booleans()):
                fits = data.draw(st.sampled_from([POST, "GET .*devices", "GET .*journal", ""]))
                mirror.standin.fail(fits, data.draw(st.integers(1, 3)), **data.draw(st.sampled_from(FAULTS)))
            if data.draw(st.booleans()):
                patched.setattr(Store, data.draw(st.sampled_from(["lines_told", "begin_lines"])), _killed)
            try:
                mirror.turn(data.draw(st.sampled_from([1.0, 30.0, SETTLES, 4000.0])))
            except Killed:
                mirror.store.leave_tracker("netbox journal", mirror.journal.holder)  # its lease ends
            patched.undo()
    mirror.standin.faults.clear()
    for _ in range(4):
        mirror.turn(4000)
    for name in NAMES:
        said = [each.sentence for each in mirror.store.history(name, limit=10_000, kind="intent")]
        assert mirror.entries(name) == said


def _killed(*_: object, **__: object) -> NoReturn:
    raise Killed
