"""Racks in order, what marks a node, and what a filter leaves."""

from dataclasses import replace

import pytest

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.inventory.floor import (
    ALARM,
    TICKET,
    UNKNOWN,
    FloorFilter,
    Location,
    Segment,
    bar,
    code,
    counts,
    faults,
    is_wanted,
    laid_out,
    letter,
    places,
    plans,
    spots,
)
from fleet_runner.core.inventory.records import Device, Fleet, Rack, rack_key
from fleet_runner.core.lifecycle.runs import Held, Node, Ticket
from fleet_runner.core.lifecycle.states import Condition, State

RACKS = (Rack("R2", "hall-1", location="row-1"), Rack("R10", "hall-1", location="row-1"), Rack("R1", "hall-1"))
DEVICES = (
    Device("n1", "h100", "gpu-server", "hall-1", "R10", 1.0, tenant="Acme"),
    Device("n2", "h100", "gpu-server", "hall-1", "R10", 11.0),
    Device("n10", "b200", "gpu-server", "hall-1", "R10"),
    Device("n3", "h100", "gpu-server", "hall-1", "R2", 1.0),
    Device("n4", "h100", "gpu-server", "hall-1", "R1", 1.0),
    Device("n5", "h100", "gpu-server", "hall-1", "R99"),
    Device("n6", "h100", "gpu-server", "hall-2"),
    Device("leaf", "leaf", "leaf", "hall-1", "R10", 40.0),
)
FLEET = Fleet(
    ("hall-1", "hall-2"),
    {rack_key(rack.site, rack.name): rack for rack in RACKS},
    {},
    {d.name: d for d in DEVICES},
    (),
)
NAMES = ("n1", "n10", "n2", "n3", "n4", "n5", "n6", "strange")
HELD = Held(1.0, "fans", "alice")
ALARMED = Alarm(
    "n1", "xid.79", "GPU 3", "n1/xid.79/GPU 3", next(iter(Source)), "", Remedy.TRIAGE, at_once=False, first_at=1.0,
    last_at=1.0, heard_at=1.0, raised_at=1.0,
)  # fmt: skip


def node(name: str, state: State = State.PRODUCTION, **more: object) -> Node:
    """Return a node."""
    return replace(Node(name, "h100", state, 0.0, 1), **more)  # type: ignore[arg-type]  names of its fields


def ticket(fault: str, *nodes: str) -> Ticket:
    """Return an open ticket."""
    return Ticket(1, fault, "kernel_log", "", "", nodes, "TRIAGE", 0.0)


def test_racks_come_by_site_and_row_in_their_natural_order_and_without_a_rack_last() -> None:
    found = [
        (each.place.site, each.place.location, each.place.rack, each.names) for each in plans(places(FLEET), NAMES)
    ]
    assert found == [
        ("hall-1", "", "R1", ("n4",)),
        ("hall-1", "", "R99", ("n5",)),
        ("hall-1", "row-1", "R2", ("n3",)),
        ("hall-1", "row-1", "R10", ("n2", "n1", "n10")),
        ("hall-2", "", "", ("n6",)),
        ("", "", "", ("strange",)),
    ]


def test_a_node_is_marked_by_what_is_wrong_the_most_pressing_first() -> None:
    wrong = faults([ticket("n1/xid.79/GPU 3", "n1", "leaf")], [ALARMED, replace(ALARMED, node="n2", raised_at=None)])
    drawn = spots(
        [
            node("n1", conditions={Condition.HELD: HELD, Condition.IN_USE: HELD}, waiting="UNKNOWN: no answer"),
            node("n2"),
        ],
        places(FLEET),
        wrong,
    )
    assert drawn["n1"].marks == (ALARM, TICKET, UNKNOWN, Condition.HELD)
    assert drawn["n1"].codes == {"xid.79"}
    assert (drawn["n2"].marks, letter(drawn["n1"]), letter(drawn["n2"])) == ((), "S", "s")


def test_an_alarm_that_is_cleared_marks_nobody() -> None:
    assert not faults([], [replace(ALARMED, cleared_at=2.0)])


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("n1/xid.79/GPU 3", "xid.79"),
        ("cabling/swap/abc", "cabling.swap"),
        ("cabling/", "kernel_log"),
        ("xid.79:n1", "kernel_log"),
        ("n2/xid.79/GPU 3", "kernel_log"),
    ],
)
def test_a_tickets_key_tells_its_code(fault: str, expected: str) -> None:
    assert code(ticket(fault, "n1")) == expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (FloorFilter(), {"n1", "n2", "n6"}),
        (FloorFilter(site="hall-2"), {"n6"}),
        (FloorFilter(rack="r10"), {"n1", "n2"}),
        (FloorFilter(type="b200"), set()),
        (FloorFilter(state="triage"), {"n2"}),
        (FloorFilter(state="resting"), {"n2"}),
        (FloorFilter(tenant="Acme"), {"n1"}),
        (FloorFilter(condition="held"), {"n1"}),
        (FloorFilter(condition="in_use"), {"n6"}),
        (FloorFilter(condition=TICKET), {"n1"}),
        (FloorFilter(fault="cabling.swap"), {"n1"}),
        (FloorFilter(site="hall-1", fault="xid.79"), set()),
    ],
)
def test_a_filter_leaves_what_fits_all_of_it(wanted: FloorFilter, expected: set[str]) -> None:
    nodes = [
        node("n1", conditions={Condition.HELD: HELD}),
        node("n2", State.TRIAGE),
        node("n6", conditions={Condition.IN_USE: HELD}),
    ]
    known = places(FLEET)
    drawn = spots(nodes, known, faults([ticket("cabling/swap/1", "n1")], []))
    assert {name for name, spot in drawn.items() if is_wanted(spot, wanted)} == expected
    sites = laid_out(plans(known, drawn), drawn, wanted)
    assert {
        spot.node.name for site in sites for row in site.rows for rack in row.racks for spot in rack.spots
    } == expected


def test_a_rack_is_summed_up() -> None:
    nodes = [node("n1", conditions={Condition.HELD: HELD}), node("n2"), node("n10", State.TRIAGE)]
    known = places(FLEET)
    drawn = spots(nodes, known, {})
    ((row,),) = [site.rows for site in laid_out(plans(known, drawn), drawn, FloorFilter())]
    (rack,) = row.racks
    assert (row.name, rack.letters, rack.summary) == ("row-1", ["s", "S", "r"], "2 serving, 1 resting, 1 marked")
    assert counts(drawn.values()) == {State.PRODUCTION: 2, State.TRIAGE: 1}
    assert (
        laid_out(plans(known, ["n3"]), spots([node("n3")], known, {}), FloorFilter())[0].rows[0].racks[0].summary
        == "1 serving"
    )


def test_who_the_source_of_truth_does_not_know_is_nowhere() -> None:
    assert spots([node("strange")], {}, {})["strange"].place == Location()


def test_a_bar_shows_the_states_by_kind_with_widths_as_their_numbers() -> None:
    found = {State.VERIFY: 1, State.PRODUCTION: 5, State.TRIAGE: 2, State.PROVISION: 2}
    assert bar(found) == (
        Segment(State.PRODUCTION, 5, 0.0, 50.0),
        Segment(State.PROVISION, 2, 50.0, 20.0),
        Segment(State.VERIFY, 1, 70.0, 10.0),
        Segment(State.TRIAGE, 2, 80.0, 20.0),
    )
    assert bar({}) == ()
