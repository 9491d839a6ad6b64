"""The outbox: written with the ticket, told to each tracker in its own time."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest
from sqlalchemy import text

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.lifecycle.actions import CloseTicket
from fleet_runner.core.lifecycle.runs import Intent, IntentKind
from fleet_runner.core.tickets.trackers.changes import Act, Change
from fleet_runner.core.tickets.work_orders import verification
from tests.adapters.store.builders import decision, device, node, swap


def acts(store: Store, ticket: int = 1) -> list[Act]:
    """What the outbox says of a ticket."""
    return [change.act for change in store.ticket_changes(ticket)]


def test_each_change_of_a_ticket_is_a_line_and_a_mere_sighting_none(stocked: Store) -> None:
    """Until a day is over."""
    for at in (200.0, 300.0, 400.0):
        stocked.apply(node(stocked), decision(swap("gpu-01")), at)
    assert acts(stocked) == [Act.OPENED]
    stocked.apply(node(stocked), decision(swap("gpu-01", "gpu-02", body="Other words.")), 500.0)
    stocked.apply(node(stocked), decision(swap("gpu-01", body="Still others.")), 600.0)
    stocked.apply(node(stocked), decision(swap("gpu-01", body="Still others.")), 90_000.0)
    stocked.apply(node(stocked), decision(CloseTicket(1, "The check passes.")), 90_010.0)
    stocked.apply(node(stocked), decision(replace(swap("gpu-01"), at=90_020.0)), 90_020.0)
    assert stocked.note_ticket(1, "Hm.", "ann", 90_030.0)
    assert acts(stocked) == [Act.OPENED, Act.CHANGED, Act.SEEN, Act.CLOSED, Act.REOPENED, Act.NOTED]
    assert stocked.ticket_changes(1)[1].sentence == "It names gpu-02 as well."


def test_what_fails_leaves_neither_a_change_nor_a_line(stocked: Store) -> None:
    """Both are one transaction."""
    with pytest.raises(ConflictError):
        stocked.apply(node(stocked), decision(swap("gpu-01"), CloseTicket(99, "No.")), 200.0)
    assert stocked.tickets(open_only=False) == ()
    assert stocked.ticket_changes(1) == ()


def test_a_tracker_waits_for_open_tickets_and_for_what_it_was_told_of(stocked: Store) -> None:
    """What was closed before it was told is over for it."""
    stocked.apply(node(stocked), decision(swap("gpu-01", fault="old")), 200.0)
    stocked.apply(node(stocked), decision(CloseTicket(1, "Gone.")), 210.0)
    stocked.apply(node(stocked), decision(swap("gpu-01", fault="new")), 220.0)
    (link,) = stocked.untold("desk")
    assert (link.ticket, link.tries) == (2, 0)
    assert stocked.take_tracker("desk", "me", 300.0, 60.0) is not None
    begun = stocked.begin_telling(link, "me", asks=True, now=300.0, seconds=60.0)
    assert (begun.tries, begun.asked_at) == (1, 300.0)
    made = stocked.linked(begun, "OPS-1", "https://desk.example/OPS-1")
    newest = stocked.ticket_changes(2)[-1].id
    told = stocked.told(made, newest, "d", 301.0)
    assert (told.waits, told.tries, stocked.untold("desk")) == (False, 0, ())
    assert stocked.tracker("desk").heard_at == 301.0
    stocked.apply(node(stocked), decision(CloseTicket(2, "Gone.")), 310.0)
    assert [each.remote for each in stocked.untold("desk")] == ["OPS-1"]
    assert [each.ticket for each in stocked.untold("other")] == []


def test_what_happens_while_a_tracker_is_told_is_told_next(stocked: Store) -> None:
    """A line that came after the one that was told leaves the ticket waiting."""
    stocked.apply(node(stocked), decision(swap("gpu-01")), 200.0)
    (link,) = stocked.untold("desk")
    stocked.take_tracker("desk", "me", 300.0, 60.0)
    begun = stocked.begin_telling(link, "me", asks=True, now=300.0, seconds=60.0)
    first = stocked.ticket_changes(1)[-1].id
    stocked.note_ticket(1, "Meanwhile.", "ann", 301.0)
    assert stocked.told(begun, first, "d", 302.0).waits
    assert [each.told for each in stocked.untold("desk")] == [first]


def test_only_the_holder_of_a_tracker_may_begin(stocked: Store) -> None:
    """A right that is over is anybody's."""
    stocked.apply(node(stocked), decision(swap("gpu-01")), 200.0)
    (link,) = stocked.untold("desk")
    assert stocked.take_tracker("desk", "me", 300.0, 60.0) is not None
    assert stocked.take_tracker("desk", "you", 310.0, 60.0) is None
    assert stocked.take_tracker("desk", "you", 361.0, 60.0) is not None
    with pytest.raises(ConflictError, match="another process updates it now"):
        stocked.begin_telling(link, "me", asks=True, now=362.0, seconds=60.0)
    stocked.leave_tracker("desk", "me")
    assert stocked.take_tracker("desk", "me", 363.0, 60.0) is None
    stocked.leave_tracker("desk", "you")
    assert stocked.take_tracker("desk", "me", 364.0, 60.0) is not None


def test_what_is_put_off_is_hurried_on_a_persons_word(stocked: Store) -> None:
    """All, or some tickets."""
    for fault in ("a", "b"):
        stocked.apply(node(stocked), decision(swap("gpu-01", fault=fault)), 200.0)
    stocked.take_tracker("desk", "me", 300.0, 60.0)
    for link in stocked.untold("desk"):
        stocked.not_told(link, "It is down.", 9_000.0, others=link.ticket == 2)
    assert (stocked.tracker("desk").due_at, stocked.tracker("desk").detail) == (9_000.0, "It is down.")
    assert [link.due_at for link in stocked.untold("desk")] == [9_000.0, 0.0]
    stocked.hurry_tracker("desk", (1,))
    assert stocked.tracker("desk").due_at == 0.0
    assert [(link.due_at, link.tries) for link in stocked.untold("desk")] == [(0.0, 1), (0.0, 1)]


def test_nobody_closes_or_notes_a_ticket_that_is_not_there(stocked: Store) -> None:
    """And closing one twice says so."""
    assert not stocked.close_ticket(1, "No.", "ann", 200.0)
    assert not stocked.note_ticket(1, "No.", "ann", 200.0)
    stocked.apply(node(stocked), decision(swap("gpu-01")), 200.0)
    assert stocked.close_ticket(1, "A known one.", "ann", 210.0)
    assert not stocked.close_ticket(1, "Again.", "ann", 211.0)
    (entry,) = stocked.history("gpu-01")[-1:]
    assert (entry.sentence, entry.by) == ("Ticket 1 closed by hand: A known one.", "ann")


def test_of_two_who_say_at_once_that_it_is_done_one_is_heard(stocked: Store) -> None:
    """Both looked when nobody had said so; what proves it is asked for once, and all of it or nothing."""
    stocked.apply(node(stocked), decision(swap("gpu-01")), 200.0)
    newest = stocked.ticket_changes(1)[-1].id
    intent = Intent(0, "gpu-01", IntentKind.RUN, "ann", 210.0, "ticket 1 is done", "cabling")

    def say(by: str, *intents: Intent, ticket: int = 1, after: int = newest) -> bool:
        now = Change(after, ticket, Act.NOTED, "It is looked at now.", by, 210.0)
        return stocked.claim_ticket(
            now, intents, lambda numbers: verification.told(now.sentence, numbers, "two plugs")
        )

    with pytest.raises(StoreError, match="no such node"):
        say("ann", intent, replace(intent, node="gpu-99"))
    assert (stocked.intents("gpu-01"), acts(stocked)) == ((), [Act.OPENED])
    assert say("ann", intent)
    assert not say("bob", replace(intent, by="bob"))
    assert not say("bob", ticket=99)
    [intent] = stocked.intents("gpu-01")
    said = verification.claim(stocked.ticket_changes(1))
    assert said is not None
    assert (said.by, said.intents) == ("ann", (intent.id,))
    assert stocked.history("gpu-01")[-1].sentence.endswith("What was done: two plugs")
    assert say("bob", after=stocked.ticket_changes(1)[-1].id), "who has seen that may say it again"


def test_a_report_with_a_key_is_written_once(stocked: Store) -> None:
    """Also where it comes as a note first, and by whomever."""
    stocked.apply(node(stocked), decision(swap("gpu-01")), 200.0)
    newest = stocked.ticket_changes(1)[-1].id
    assert not stocked.reported("")
    assert not stocked.reported("ann 1")
    assert stocked.note_ticket(1, "Done, too.", "ann", 210.0, key="ann 1")
    assert stocked.reported("ann 1")
    assert not stocked.note_ticket(1, "Done, too.", "ann", 211.0, key="ann 1")
    said = Change(newest, 1, Act.NOTED, "It is looked at now.", "ann", 212.0)
    assert not stocked.claim_ticket(said, (), lambda _: "Done: yes", key="ann 1")
    assert stocked.claim_ticket(said, (), lambda _: "Done: yes", key="ann 2")
    assert stocked.note_ticket(1, "No key.", "ann", 213.0)
    assert stocked.note_ticket(1, "No key.", "ann", 214.0)
    assert acts(stocked) == [Act.OPENED, *(Act.NOTED,) * 4]


def _notes(url: str) -> int:
    """Send thirty reports, as another process does at the same time; return how many were written."""
    with Store.open(url) as store:
        return sum(store.note_ticket(1, "Done.", "ann", 210.0, key=f"ann 1 {each}") for each in range(30))


def test_a_report_that_two_processes_write_at_once_is_written_once(url: str) -> None:
    with Store.open(url) as store:
        store.register([device("gpu-01")], 100.0)
        store.apply(node(store), decision(swap("gpu-01")), 200.0)
        with ProcessPoolExecutor(2, get_context("spawn")) as both:
            assert sum(both.map(_notes, [url, url])) == 30
        assert acts(store).count(Act.NOTED) == 30


def test_no_two_lines_have_a_key_whoever_writes_them(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap("gpu-01")), 200.0)
    assert stocked.note_ticket(1, "Done.", "ann", 210.0, key="ann 1")
    again = (
        "INSERT INTO outbox (ticket, act, sentence, by, at, key)"
        " SELECT ticket, act, sentence, by, at, key FROM outbox"
    )
    with pytest.raises(StoreError, match=r"outbox[_.]key"), stocked._database.write() as connection:
        connection.execute(text(again))


def test_tickets_are_found_by_when_their_fault_was_seen(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(swap("gpu-01")), 200.0)
    assert stocked.close_ticket(1, "A known one.", "ann", 210.0)
    assert [ticket.id for ticket in stocked.tickets_since(200.0)] == [1]
    assert stocked.tickets_since(200.5) == ()
