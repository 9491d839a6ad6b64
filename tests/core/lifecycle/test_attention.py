"""What needs a person: each node once, the most pressing first, tickets beside them."""

from fleet_runner.core.inventory.floor import TICKET, UNKNOWN, Location, NodeTile
from fleet_runner.core.lifecycle.attention import NEEDS, Attention, attention
from fleet_runner.core.lifecycle.page import WAITS_FOR_A_PERSON
from fleet_runner.core.lifecycle.runs import Held, Node, Ticket
from fleet_runner.core.lifecycle.states import Condition, State

TICKETS = [
    Ticket(7, "a", "c", "t", "b", ("n1",), "RECABLE", 300.0),
    Ticket(9, "b", "c", "t", "b", ("n2",), "RECABLE", 100.0),
    Ticket(8, "c", "c", "t", "b", ("n3",), "CLEAN", 200.0),
    Ticket(6, "d", "c", "t", "b", ("n3",), "TRIAGE", 200.0),
]


def tile(name: str, state: State, *marks: str, since: float = 50.0, rack: str = "R1") -> NodeTile:
    """Return a node as it is drawn; its conditions hold a while longer than its state."""
    held = {mark: Held(since - 10.0, "why", "alice") for mark in marks if isinstance(mark, Condition)}
    return NodeTile(Node(name, "h100", state, since, 1, conditions=held), Location(rack=rack), marks, frozenset())


def test_a_fleet_that_is_well_needs_nobody() -> None:
    moving = tile("n2", State.FIRMWARE, Condition.PENDING)
    assert attention([tile("n1", State.PRODUCTION), moving, tile("n3", State.PRODUCTION, TICKET)], []) == ()


def test_what_is_most_pressing_comes_first_and_a_node_counts_once() -> None:
    spots = [
        tile("n1", State.PRODUCTION, Condition.HELD, since=20.0),
        tile("n2", State.TRIAGE, Condition.HELD, TICKET, since=40.0),
        tile("n3", State.TRIAGE, since=30.0, rack="R2"),
        tile("n4", State.TRIAGE, rack=""),
        tile("n5", State.TRIAGE),
        tile("n6", State.PRODUCTION, UNKNOWN),
    ]
    assert attention(spots, ()) == (
        Attention(
            4, "node", NEEDS[State.TRIAGE][1], "operator", ("n2", "n3", "n4"), ("R1", "R2"), 30.0,
            "/fleet?state=triage",
        ),
        Attention(1, "node", NEEDS[UNKNOWN][1], "operator", ("n6",), ("R1",), None, "/fleet?condition=unknown"),
        Attention(1, "node", NEEDS[Condition.HELD][1], "operator", ("n1",), ("R1",), 10.0, "/fleet?condition=held"),
    )  # fmt: skip


def test_tickets_are_work_for_hands_by_what_there_is_to_do() -> None:
    triage, hands, onboard = attention([tile("n1", State.ONBOARD), tile("n2", State.TRIAGE)], TICKETS)
    assert (triage.who, onboard.who) == ("operator", "technician")
    what = "cables to move (2), CLEAN, a fault to find"
    assert hands == Attention(4, "ticket", what, "technician", ("#9", "#6", "#8"), (), 100.0, "/tickets")


def test_every_state_that_waits_for_a_person_is_told() -> None:
    for state in WAITS_FOR_A_PERSON:
        (told,) = attention([tile("n1", state)], ())
        assert told.number == 1
