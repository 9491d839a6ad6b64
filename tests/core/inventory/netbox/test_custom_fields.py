"""What people find in a node's page in NetBox."""

from fleet_runner.core.inventory.netbox import custom_fields
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import FABRICS, State


def test_the_states_are_those_of_nodes() -> None:
    """A fabric has no page."""
    assert set(custom_fields.STATES) == set(State) - FABRICS


def test_nothing_that_cannot_be_undone_is_asked_for_in_a_page() -> None:
    """A slip of the hand in a list of choices erases no disk."""
    assert set(custom_fields.REQUESTS) < set(IntentKind)
    assert not {IntentKind.WIPE, IntentKind.RETIRE, IntentKind.RUN, IntentKind.RMA} & set(custom_fields.REQUESTS)
