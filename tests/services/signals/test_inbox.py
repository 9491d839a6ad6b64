"""What waits is bounded, and those who push take turns."""

from threading import Thread
from typing import Any

import pytest

from fleet_runner.services.signals.inbox import OVERHEAD, Bounds, Delivery, Inbox, InboxFullError, Outcome


def parcel(sender: str = "192.0.2.1", text: bytes = b"line") -> Delivery:
    """Return a parcel whose answer nobody hears."""

    def answer(outcome: Outcome) -> None:
        del outcome

    return Delivery("log", sender, (text,), 1.0, answer)


def senders(inbox: Inbox, **more: Any) -> list[str]:
    """Return who is next."""
    return [each.sender for each in inbox.take(more.get("seconds", 0.0))]


def test_those_who_push_take_turns_whoever_came_first() -> None:
    """A thousand of one before one of another: that one is second."""
    inbox = Inbox(Bounds(batch=3 * OVERHEAD))
    for _ in range(1_000):
        inbox.put(parcel("192.0.2.1"))
    inbox.put(parcel("192.0.2.2"))
    assert senders(inbox) == ["192.0.2.1", "192.0.2.2", "192.0.2.1"]


def test_parcels_of_one_sender_stay_in_order() -> None:
    inbox = Inbox()
    for number in range(10):
        inbox.put(parcel(text=b"%d" % number))
    assert [each.texts[0] for each in inbox.take(0.0)] == [b"%d" % number for number in range(10)]


def test_one_sender_has_his_share_and_the_others_theirs() -> None:
    size = parcel().size
    inbox = Inbox(Bounds(all=4 * size, one=2 * size))
    inbox.put(parcel("a"))
    inbox.put(parcel("a"))
    with pytest.raises(InboxFullError) as full:
        inbox.put(parcel("a"))
    assert full.value.alone
    inbox.put(parcel("b"))
    inbox.put(parcel("c"))
    with pytest.raises(InboxFullError) as full:
        inbox.put(parcel("d"))
    assert not full.value.alone
    assert inbox.waiting() == (4, 4 * size)
    assert len(inbox.take(0.0)) == 4
    assert inbox.waiting() == (0, 0)
    inbox.put(parcel("a"))


def test_small_parcels_are_no_way_around_the_bounds() -> None:
    """Each counts for more than its bytes."""
    inbox = Inbox(Bounds(all=100 * OVERHEAD))
    for number in range(100):
        inbox.put(parcel(f"192.0.2.{number}", b""))
    with pytest.raises(InboxFullError):
        inbox.put(parcel("192.0.2.200", b""))


def test_a_batch_ends_at_its_bound_and_holds_at_least_one() -> None:
    inbox = Inbox(Bounds(batch=10))
    for _ in range(2):
        inbox.put(parcel(text=b"x" * 1_000))
    assert len(inbox.take(0.0)) == 1


def test_whoever_takes_waits_for_what_comes() -> None:
    inbox = Inbox()
    thread = Thread(target=inbox.put, args=(parcel(),))
    thread.start()
    assert senders(inbox, seconds=30.0) == ["192.0.2.1"]
    thread.join()
    assert senders(inbox, seconds=0.01) == []


def test_once_closed_nothing_more_is_put_and_what_waits_is_given_out() -> None:
    inbox = Inbox()
    inbox.put(parcel())
    inbox.close()
    with pytest.raises(InboxFullError):
        inbox.put(parcel())
    assert len(inbox.take(30.0)) == 1
    assert inbox.take(30.0) == []
