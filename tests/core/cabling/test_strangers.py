"""Devices that the design does not know."""

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.judge import hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.plan import Add, Move, Remove, apply
from fleet_runner.core.cabling.suspect import FEWEST
from tests.core.cabling.fabrics import rails
from tests.core.cabling.plugging import FACTORY_HCA, NOWHERE, at, judged, without

DESIGN = rails(4, 4)


def stray(*ports: str, device: str = "gpu-77") -> tuple[Link, ...]:
    """Return links from a device outside the design to a port of each leaf."""
    return tuple(link(Port(device, f"ib{rail}"), Port(f"leaf-{rail + 1}", port)) for rail, port in enumerate(ports))


def test_a_device_that_nobody_planned_is_one_fault_with_all_its_cables() -> None:
    cables = stray("60", "60", "60")
    (fault,) = judged(DESIGN, (*DESIGN, *cables)).faults
    assert (fault.kind, fault.key) == (Kind.UNPLANNED, "cabling/unplanned/gpu-77")
    assert set(fault.actions) == {Remove(each) for each in cables}
    assert fault.message.startswith("The design does not know gpu-77: observed gpu-77 ib0 to leaf-1 60, ")
    assert fault.steps[0] == "Find out what gpu-77 is: if it belongs there, add it to the design and move no cable."
    assert "gpu-77" in fault.devices


def test_one_that_sits_where_an_absent_device_belongs_is_told_so() -> None:
    plugged = (*without(DESIGN, "gpu-02"), *stray("2", "2", "2", "2", device="gpu-77"))
    verdicts = judged(DESIGN, plugged)
    (fault,) = verdicts.faults
    assert fault.kind is Kind.UNPLANNED
    assert fault.message.endswith("; gpu-02 belongs there and is not seen at it.")
    assert fault.steps[0] == "Read the serial of gpu-77: if it is gpu-02, correct its name and move no cable."
    assert all(isinstance(action, Move) for action in fault.actions)
    assert apply(fault.actions, plugged) == set(DESIGN)
    assert verdicts.absent == fault.expected
    assert len(fault.expected) == 4


def test_one_cable_of_it_at_a_designed_port_and_one_at_a_free_port_are_one_fault() -> None:
    plugged = (*without(DESIGN, "gpu-02"), *at(DESIGN, "gpu-02")[1:], *stray("2", "60"))
    (fault,) = judged(DESIGN, plugged).faults
    assert fault.kind is Kind.UNPLANNED
    assert sorted(type(action).__name__ for action in fault.actions) == ["Move", "Remove"]


def test_a_cable_of_it_among_moved_ones_is_told_with_them() -> None:
    """What it sits in the way of is more than itself."""
    moved = link(Port("gpu-02", "ib0"), Port("leaf-1", "60"))
    plugged = (*without(DESIGN, "gpu-02"), *at(DESIGN, "gpu-02")[1:], moved, *stray("2"))
    (fault,) = judged(DESIGN, plugged).faults
    assert fault.kind is Kind.OCCUPIED
    assert not any(isinstance(action, Add) for action in fault.actions)


def test_a_device_that_is_joined_to_another_unknown_one_is_part_of_what_the_design_leaves_out() -> None:
    """A storage fabric behind the same leaves."""
    others = (*stray("60"), link(Port("gpu-77", "ib1"), Port("leaf-99", "1")))
    verdicts = judged(DESIGN, (*DESIGN, *others))
    assert verdicts.faults == ()
    assert set(verdicts.unbound) == set(others)


def test_many_devices_at_free_ports_are_what_the_design_leaves_out() -> None:
    """As many as that are no mishap, and would hide the real faults."""
    others = [link(Port(f"gpu-{number}", "ib0"), Port("leaf-1", str(number))) for number in range(60, 61 + FEWEST)]
    assert len(judged(DESIGN, (*DESIGN, *others[1:])).faults) == FEWEST
    verdicts = judged(DESIGN, (*DESIGN, *others))
    assert verdicts.faults == ()
    assert len(verdicts.unbound) == FEWEST + 1


def test_a_nameless_device_at_a_free_port_is_counted_and_no_fault() -> None:
    """Nothing tells whose it is, nor that it does not belong there."""
    (cable,) = stray("60")
    verdicts = judged(DESIGN, (*DESIGN, cable), {cable.a: FACTORY_HCA})
    assert verdicts.faults == ()
    assert len(verdicts.unbound) == 1


def test_where_it_is_not_known_which_devices_are_strangers_none_is_unplanned() -> None:
    """Half a view, as of one node's neighbours: its wrong neighbour may well be in the design."""
    (cable,) = stray("2")
    plugged = (*without(DESIGN, "gpu-02"), *at(DESIGN, "gpu-02")[1:], cable)
    (fault,) = hold(DESIGN, Bound(dict.fromkeys(plugged, "")), NOWHERE).faults
    assert fault.kind is Kind.WRONG_SWITCH
