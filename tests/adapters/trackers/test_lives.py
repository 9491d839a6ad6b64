"""A ticket's life in each kind of tracker, over HTTP."""

from typing import cast

import pytest

from tests.adapters.trackers.bench import HASTY, HOUR, LIMITS, Bench
from tests.adapters.trackers.code_hosts import GitHubRemote


def test_a_ticket_is_opened_updated_closed_and_opened_again_in_one_issue(desk: Bench) -> None:
    """Whatever kind of tracker it is."""
    number = desk.see()
    assert desk.send() == 1
    made = desk.only()
    assert made.open
    assert made.title == "gpu-01: gpu-01/disk is worn out"
    assert "1. Replace gpu-01/disk." in made.text
    assert made.notes == []
    desk.now += 60.0
    desk.see(remedy="RMA", body="Send it back.")
    assert desk.send() == 1
    assert "Send it back." in desk.only().text
    assert "The remedy is now RMA, before: TRIAGE." in desk.only().notes[0]
    desk.now += 60.0
    desk.prove(number)
    assert desk.send() == 1
    assert not desk.only().open
    assert "Closed: disks on gpu-01: all well" in desk.only().notes[1]
    desk.now += 60.0
    desk.see()
    assert desk.send() == 1
    assert desk.only().open
    assert "Found again" in desk.only().notes[2]
    assert desk.send() == 0


def test_a_sighting_like_the_one_before_sends_nothing(desk: Bench) -> None:
    """Nor does one in which only figures grow, before a day is over."""
    desk.see(body="12 errors.")
    desk.send()
    asked = len(desk.remote.log)
    for count in range(13, 20):
        desk.now += 300.0
        desk.see(body=f"{count} errors.")
        assert desk.send() == 0
    assert len(desk.remote.log) == asked
    desk.now += 24 * HOUR
    desk.see(body="19 errors.")
    assert desk.send() == 1
    assert "19 errors." in desk.only().text
    assert desk.only().notes == []


def test_labels_say_what_people_sort_by(desk: Bench) -> None:
    """Those that people gave stay."""
    desk.see()
    desk.send()
    labels = desk.only().labels or desk.only().text.split()
    for label in ("fleet-runner", "remedy:TRIAGE", "priority:2", "type:hgx", "site:hall-1", "rack:A03"):
        assert label in labels


def test_a_closed_ticket_that_was_never_sent_makes_no_issue(desk: Bench) -> None:
    """Nobody has to know of it any more."""
    desk.prove(desk.see())
    assert desk.send() == 0
    assert desk.remote.log == []


def test_a_tracker_that_is_configured_later_gets_the_open_tickets_alone(desk: Bench) -> None:
    """Those that were closed before are over."""
    desk.prove(desk.see("old"))
    desk.see("a")
    desk.see("b")
    assert desk.send() == 2
    assert sorted(issue.title for issue in desk.remote.seen()) == ["gpu-01: a is worn out", "gpu-01: b is worn out"]


def test_a_persons_note_goes_there_once_with_the_name(desk: Bench) -> None:
    """As a note, not as a new text."""
    number = desk.see()
    desk.send()
    assert desk.store.note_ticket(number, "The part is on its way.", "ann", desk.now)
    assert desk.send() == 1
    assert len(desk.only().notes) == 1
    assert "ann: The part is on its way." in desk.only().notes[0]


def test_a_ticket_closed_by_hand_is_closed_there_and_says_who_did_it(desk: Bench) -> None:
    """A check that still sees the fault opens both again."""
    number = desk.see()
    desk.send()
    assert desk.store.close_ticket(number, "It is a known one.", "ann", desk.now)
    assert not desk.store.close_ticket(number, "Twice.", "ann", desk.now)
    desk.send()
    assert not desk.only().open
    assert "by hand, by ann: It is a known one." in desk.only().notes[0]
    desk.now += 300.0
    desk.see()
    desk.send()
    assert desk.only().open


@pytest.mark.parametrize("fault", ["lost", "503-done", "late"])
def test_an_issue_whose_making_was_not_answered_is_found_and_not_made_again(desk: Bench, fault: str) -> None:
    """The next try looks for the marker first."""
    number = desk.see()
    desk.remote.late_seconds, desk.limits = 30.0, HASTY if fault == "late" else LIMITS
    desk.remote.faults = [fault] if desk.of.kind == "webhook" else ["", fault]
    assert desk.send() == 0
    assert desk.send(HOUR) == 1
    assert desk.only().open
    assert [link.ticket for link in desk.store.ticket_links(number) if link.remote] == [number]
    desk.prove(number)
    assert desk.send() == 1
    assert not desk.only().open


def test_an_issue_that_was_made_unseen_is_closed_though_its_ticket_was_closed_meanwhile(desk: Bench) -> None:
    """It must not stay open for ever."""
    number = desk.see()
    desk.remote.faults = ["lost"] if desk.of.kind == "webhook" else ["", "lost"]
    desk.send()
    desk.prove(number)
    desk.settle()
    assert not desk.only().open


def test_a_note_whose_answer_was_lost_is_not_said_twice(desk: Bench) -> None:
    """The notes on the issue tell which line came last."""
    number = desk.see()
    desk.send()
    desk.store.note_ticket(number, "Look at slot 4.", "ann", desk.now)
    desk.remote.faults = {"webhook": ["lost"]}.get(desk.of.kind, ["", "lost"])
    assert desk.send() == 0
    desk.store.note_ticket(number, "Slot 5 as well.", "ann", desk.now)
    desk.settle()
    said = "\n".join(desk.only().notes)
    assert said.count("Slot 5 as well.") == 1
    if desk.of.kind != "webhook":
        assert said.count("Look at slot 4.") == 1


def test_what_people_close_there_is_opened_again_while_the_fault_is_seen(github: Bench) -> None:
    """Within a day; the check decides, not the click."""
    github.see()
    github.send()
    cast("GitHubRemote", github.remote).issues[0]["state"] = "closed"
    github.now += 25 * HOUR
    github.see()
    assert github.send() == 1
    assert github.only().open
