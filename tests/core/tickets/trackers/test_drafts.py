"""What a tracker is told of a ticket."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.trackers.changes import Act, Change
from fleet_runner.core.tickets.trackers.draft import (
    LABEL,
    MOST_LABELS,
    MOST_NOTES,
    Draft,
    carries,
    draft,
    labels,
    mark,
    newest_said,
    opening,
    relabelled,
    update,
)
from fleet_runner.core.tickets.trackers.links import Link
from tests.making import a_ticket

DEVICES = {
    name: Device(name, "hgx", "gpu-server", "Hall 1", rack=rack)
    for name, rack in (("gpu-01", "A 03"), ("gpu-02", None))
}
FLEET = Fleet((), {}, {}, DEVICES, ())
LINK = Link(5, "desk")


def drafted(ticket: Ticket | None = None, link: Link = LINK) -> Draft:
    """A ticket as it should stand elsewhere."""
    return draft(ticket or a_ticket(), link, "hgx", FLEET)


def change(number: int, act: Act, sentence: str = "so") -> Change:
    """A line of the outbox."""
    return Change(number, 5, act, sentence, "ann", 0.0)


def test_an_issue_says_what_the_ticket_says_and_where_it_comes_from() -> None:
    """The text is the ticket's, the footer is ours."""
    made = drafted()
    assert made.text == "b\nNodes and devices: gpu-01\nRemedy: RECABLE"
    assert made.footer == f"fleet-runner ticket 5, fault cable-1\n{made.marker}"
    assert (made.open, made.priority) == (True, 3)
    assert not drafted(a_ticket(closed_at=9.0)).open
    assert drafted(a_ticket(nodes=())).text == "b\nRemedy: RECABLE"


def test_the_digest_changes_with_what_is_said_and_with_nothing_else() -> None:
    """A ticket that is closed, or seen again, needs no new text."""
    digest = drafted().digest
    assert digest == drafted(a_ticket(seen=8, last_seen_at=9.0, closed_at=9.0)).digest
    assert digest != drafted(a_ticket(body="c")).digest
    assert digest != drafted(link=Link(5, "desk", serial=2)).digest


def test_labels_are_of_letters_that_every_tracker_takes() -> None:
    """A space, an emoji or a length breaks some."""
    found = labels(a_ticket(nodes=("gpu-01", "gpu-02", "leaf-1")), "", FLEET)
    assert found == ("fleet-runner", "remedy:RECABLE", "priority:3", "site:Hall-1", "rack:A-03")
    devices = {f"n{at}": Device(f"n{at}", "x", "gpu-server", "s" * 99, rack=f"{at}") for at in range(40)}
    many = labels(a_ticket(nodes=tuple(devices)), "hgx", Fleet((), {}, {}, devices, ()))
    assert len(many) == MOST_LABELS
    assert max(map(len, many)) == LABEL


def test_labels_of_people_stay_and_ours_are_kept_up_to_date() -> None:
    """A remedy that is no more asked for does not stay as a label."""
    assert relabelled(("mine", "remedy:RMA", "fleet-runner"), ("fleet-runner", "remedy:TRIAGE")) == (
        "fleet-runner",
        "remedy:TRIAGE",
        "mine",
    )


@pytest.mark.parametrize("remedy", Remedy)
def test_every_remedy_has_a_priority(remedy: Remedy) -> None:
    """What is only watched is the least urgent."""
    assert drafted(a_ticket(remedy=remedy.value)).priority in {2, 3, 4}


def test_a_remedy_that_is_no_more_known_is_the_least_urgent() -> None:
    """A ticket of an older store is told all the same."""
    assert drafted(a_ticket(remedy="DANCE")).priority == 4


def test_an_update_tells_each_line_that_is_news_in_one_note() -> None:
    """Openings and sightings are no notes."""
    lines = [
        change(1, Act.OPENED), change(2, Act.CHANGED, "Now A."), change(3, Act.SEEN), change(4, Act.NOTED, "Hm."),
        change(5, Act.CLOSED, "It passes."), change(6, Act.REOPENED, "It is back."),
    ]  # fmt: skip
    told = update(drafted(), LINK, lines)
    assert told.note.splitlines() == [
        "Now A.",
        "ann: Hm.",
        "Closed: It passes.",
        "Found again, so it is open again: It is back.",
    ]
    assert (told.newest, told.rewritten, told.mark) == (6, True, mark(drafted().marker, 6))
    known = Link(5, "desk", told=2, digest=drafted().digest)
    rest = update(drafted(), known, lines, said=4)
    assert rest.note.splitlines() == ["Closed: It passes.", "Found again, so it is open again: It is back."]
    assert not rest.rewritten


def test_an_update_without_lines_tells_nothing_and_forgets_nothing() -> None:
    """A ticket from before there was an outbox has none."""
    told = update(drafted(), Link(5, "desk", told=3), ())
    assert (told.newest, told.note) == (3, "")


def test_an_issue_that_is_opened_knows_all_but_peoples_notes() -> None:
    """Those are told next."""
    lines = [change(3, Act.OPENED), change(4, Act.CHANGED), change(6, Act.NOTED), change(7, Act.CHANGED)]
    assert opening(LINK, lines[:2]) == 4
    assert opening(LINK, lines) == 5
    assert opening(Link(5, "desk", told=7), lines) == 7


def test_hundreds_of_notes_become_the_newest_fifty() -> None:
    """A tracker that was away for a month is not flooded."""
    lines = [change(number, Act.NOTED, f"{number}") for number in range(1, 201)]
    told = update(drafted(), LINK, lines).note.splitlines()
    assert told[0] == "(150 notes before these are in fleet-runner alone)"
    assert told[1:] == [f"ann: {number}" for number in range(151, 201)]
    assert len(told) == MOST_NOTES + 1


@given(st.lists(st.integers(1, 10**9), max_size=5), st.text())
def test_the_newest_line_is_read_back_from_notes_in_any_markup(lines: list[int], around: str) -> None:
    """Also out of JSON."""
    marker = drafted().marker
    notes = [f"{around}\n\n{mark(marker, line)}\n" for line in lines]
    assert newest_said(marker, "\n".join(notes)) == max(lines, default=0)
    assert newest_said(marker, json.dumps(notes)) == max(lines, default=0)
    assert newest_said(f"{marker}-2", "\n".join(notes)) == 0


def test_a_second_issues_marker_is_not_taken_for_the_firsts() -> None:
    """One begins as the other."""
    marker = drafted().marker
    assert carries(f"a\n{marker}\n", marker)
    assert not carries(f"a\n{marker}-2\n", marker)
    assert not carries("", marker)
