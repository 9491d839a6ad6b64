"""Tickets by where to stand: as one walks, or the longest waiting first."""

from fleet_runner.core.inventory.records import Device, Fleet, Rack
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.work_orders.queue import OLDEST, TicketFilter, by_rack, chosen, stops, tasks

FLEET = Fleet(
    ("a", "b"),
    {"a/R2": Rack("R2", "a"), "a/R10": Rack("R10", "a")},
    {},
    {
        "gpu-1": Device("gpu-1", "t", "gpu-server", "a", "R10", 1.0),
        "gpu-2": Device("gpu-2", "t", "gpu-server", "a", "R2", 1.0),
        "leaf-1": Device("leaf-1", "t", "leaf", "b"),
    },
    (),
)


def ticket(number: int, *nodes: str, at: float = 0.0, remedy: str = "TRIAGE") -> Ticket:
    return Ticket(number, f"f{number}", "check", f"title {number}", "", nodes, remedy, at)


EVERY = tasks(
    [ticket(1, "gpu-1", at=1.0), ticket(2, "gpu-2", at=3.0), ticket(3, "leaf-1", "gpu-2", at=2.0, remedy="RECABLE"),
     ticket(4, "gone", at=9.0), ticket(5, "leaf-1", at=4.0)],
    FLEET,
)  # fmt: skip


def ids(order: str = "walking") -> list[list[int]]:
    return [[task.ticket.id for task in stop.tasks] for stop in stops(EVERY, order)]


def test_places_follow_each_other_as_one_walks_and_the_oldest_is_first_there() -> None:
    assert ids() == [[3, 2], [1], [5], [4]]


def test_or_the_longest_waiting_is_first() -> None:
    assert ids(OLDEST) == [[1], [3, 2], [5], [4]]


def test_somebody_finds_what_they_look_for() -> None:
    def found(wanted: TicketFilter) -> list[int]:
        return [task.ticket.id for task in chosen(EVERY, wanted)]

    assert found(TicketFilter()) == [1, 2, 3, 4, 5]
    assert found(TicketFilter(site="b")) == [3, 5]
    assert found(TicketFilter(remedy="RECABLE")) == [3]
    assert found(TicketFilter(text=" LEAF-1 ")) == [3, 5]
    assert found(TicketFilter(text="#4")) == [4]
    assert found(TicketFilter(text="r10")) == [1]
    assert found(TicketFilter(text="nothing")) == []


def test_without_a_source_of_truth_every_ticket_is_still_there() -> None:
    (stop,) = stops(tasks([ticket(1, "gpu-1")], None))
    assert stop.room == ("", "", "")


def test_racks_with_most_tickets_are_first() -> None:
    found = by_rack([task.ticket for task in EVERY], FLEET)
    assert found == (("a/R2", 2), ("a/R10", 1))
    assert by_rack([ticket(1, "gpu-1", "gpu-2"), ticket(2, "gpu-2", "gpu-2")], FLEET) == (("a/R2", 2), ("a/R10", 1))
