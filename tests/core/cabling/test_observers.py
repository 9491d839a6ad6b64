"""Through whom a fabric is read."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.fabrics import Fabric
from fleet_runner.core.cabling.observers import MOST, observers
from fleet_runner.core.inventory.records import Device, Fleet, Termination
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import Condition, State
from tests.making import a_node, conditions

NAMES = [f"gpu-{number}" for number in range(1, 7)]


def asked(rows: dict[str, Node], racks: dict[str, str] | None = None) -> list[str]:
    """The nodes that a fabric of six nodes with two ports each is read through, the best first."""
    ports = tuple(Termination(name, port) for name in NAMES for port in ("ib0", "ib1"))
    devices = {name: Device(name, "t", "gpu-server", "hall", rack=(racks or {}).get(name, name)) for name in NAMES}
    fabric = Fabric("infiniband.hall", "hall", frozenset({"leaf"}), ports)
    found = observers(fabric, Fleet(("hall",), {}, {}, devices, ()), rows)
    assert all(port.interface == "ib0" for port in found)
    return [port.device for port in found]


def test_idle_nodes_in_service_come_first_then_busy_ones_then_whatever_is_up() -> None:
    """A node on its way to service sees as much as one that serves."""
    rows = {
        "gpu-1": a_node(State.BURN_IN),
        "gpu-2": a_node(conditions=conditions(Condition.IN_USE)),
        "gpu-3": a_node(conditions=conditions(Condition.MAINTENANCE)),
        "gpu-4": a_node(),
    }
    assert asked(rows) == ["gpu-4", "gpu-2", "gpu-1"]
    assert asked({name: rows[name] for name in ("gpu-1", "gpu-3")}) == ["gpu-1", "gpu-3"]


def test_nodes_that_are_not_up_are_not_asked() -> None:
    """Nor those that nobody has registered."""
    assert asked({name: a_node(State.PROVISION) for name in NAMES}) == []
    assert asked({}) == []


def test_they_are_of_different_racks_where_that_is_possible() -> None:
    """One lost rack must not blind a sweep."""
    rows = {name: a_node() for name in NAMES}
    racks = dict.fromkeys(NAMES, "A") | {"gpu-5": "B"}
    assert asked(rows, racks) == ["gpu-1", "gpu-5", "gpu-2"]


@given(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(list(State))))
def test_there_are_observers_exactly_where_something_is_up(states: dict[str, State]) -> None:
    """Each once, at most three."""
    found = asked({name: a_node(state) for name, state in states.items()})
    down = {State.REGISTERED, State.PROVISION, State.RMA, State.RETIRED, State.WATCHED}
    up = [name for name, state in states.items() if state not in down]
    assert len(found) == len(set(found)) == min(MOST, len(up))
    serving = {name for name in up if states[name] is State.PRODUCTION}
    assert not serving or found[0] in serving


def test_an_ethernet_fabric_is_read_from_all_switches_that_can_be_asked() -> None:
    fabric = Fabric("ethernet.hall", "hall", frozenset("cba"), (), "ethernet", frozenset("ca"))
    assert observers(fabric, Fleet((), {}, {}, {}, ()), {}) == (Termination("a", ""), Termination("c", ""))
