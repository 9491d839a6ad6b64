"""The plugin names states, roles, fields and requests by itself: they are fleet-runner's."""

from netbox_fleet_runner import config, states
from netbox_fleet_runner.release import __version__

from fleet_runner.core.inventory.netbox import custom_fields, page_intents
from fleet_runner.core.inventory.records import NODE_ROLES
from fleet_runner.core.lifecycle.offers import ROWS
from fleet_runner.core.lifecycle.runs import IntentKind


def test_every_state_of_a_node_has_a_look() -> None:
    assert tuple(states.STATES) == custom_fields.STATES
    assert states.tone("of a newer release") is states.ENDED


def test_requests_are_those_that_a_page_in_netbox_takes_in_the_words_of_fleet_runners_own() -> None:
    assert set(states.WISHES) == set(custom_fields.REQUESTS)
    rows = {kind: ROWS[IntentKind(kind)] for kind in states.WISHES}
    assert {kind: (each.label, each.does, each.sure) for kind, each in rows.items()} == {
        kind: tuple(each) for kind, each in states.WISHES.items()
    }
    assert list(states.WISHES) == [kind.value for kind in ROWS if kind.value in states.WISHES]


def test_fields_and_roles_are_fleet_runners() -> None:
    own = (states.STATE, states.SINCE, states.WISH, states.REASON)
    assert own == (custom_fields.STATE, custom_fields.SINCE, custom_fields.REQUEST, custom_fields.REASON)
    assert set(states.NODE_ROLES) == set(NODE_ROLES)
    assert states.LONGEST_REASON == page_intents.LONGEST


def test_netbox_is_told_the_release() -> None:
    assert config.version == __version__
