"""Who is excused, and whose links may go down."""

import pytest

from fleet_runner.core.cabling.exempt import STEADY, excused, upset
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.states import Condition, State
from tests.making import a_fabric, a_node, conditions


def fleet(*devices: Device) -> Fleet:
    """A fleet of a few devices."""
    return Fleet(("hall",), {}, {}, {device.name: device for device in devices}, ())


NODE = Device("gpu-01", "t", "gpu-server", "hall")
LEAF = Device("leaf-1", "t", "leaf", "hall")


@pytest.mark.parametrize("state", State)
def test_a_node_that_does_not_serve_is_excused(state: State) -> None:
    """A fabric is no node and excuses nothing."""
    why = excused(["gpu-01"], fleet(NODE), {"gpu-01": a_node(state)})
    assert bool(why) == (state not in {State.PRODUCTION, State.WATCHED})
    assert not why or why == {"gpu-01": f"gpu-01 is in {state}"}


@pytest.mark.parametrize(
    ("condition", "words"),
    [(Condition.MAINTENANCE, "in maintenance"), (Condition.DRAINING, "draining"), (Condition.HELD, "held")],
)
def test_a_node_that_is_worked_on_is_excused(condition: Condition, words: str) -> None:
    """With the reason in words; one that is only in use is not."""
    rows = {"gpu-01": a_node(conditions=conditions(condition, Condition.IN_USE))}
    assert excused(["gpu-01"], fleet(NODE), rows) == {"gpu-01": f"gpu-01 is {words}"}
    assert excused(["gpu-01"], fleet(NODE), {"gpu-01": a_node(conditions=conditions(Condition.IN_USE))}) == {}


def test_a_device_that_the_source_of_truth_does_not_call_ready_is_excused() -> None:
    """A switch too; one that nobody knows is not."""
    planned = Device("leaf-2", "t", "leaf", "hall", status="planned")
    found = excused(
        ["leaf-1", "leaf-2", "stranger", "infiniband.hall"], fleet(LEAF, planned), {"infiniband.hall": a_fabric()}
    )
    assert found == {"leaf-2": "leaf-2 is planned in the source of truth"}


@pytest.mark.parametrize("state", State)
def test_links_may_go_down_where_boots_flashes_and_hands_take_them_down(state: State) -> None:
    """And wherever a person announced it."""
    assert upset(a_node(state)) == (state not in STEADY)
    assert upset(a_node(state, conditions=conditions(Condition.MAINTENANCE)))
    assert upset(a_node(state, conditions=conditions(Condition.HELD))) == (state not in STEADY)
