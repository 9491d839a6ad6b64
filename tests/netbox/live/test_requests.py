"""What a person asks for in a page of a NetBox that others hold: taken once, with who asked, and answered."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.netbox import Timeouts
from fleet_runner.adapters.netbox.client import Client
from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.reconcile.inventory.page_intents import PageIntentReader
from tests.netbox.live.conftest import Prepared
from tests.netbox.live.hall import Hall
from tests.netbox.live.place import Place


@pytest.fixture
def taker(
    place: Place, hall: Hall, fleet: Callable[[], Fleet], complete: Prepared, tmp_path: Path
) -> Iterator[PageIntentReader]:
    """What takes requests, with a store of our nodes; skips where somebody else's requests would be taken as well."""
    others = place.rows("dcim/devices", cf_fleet_wish__empty="false", fields="id,name,custom_fields")
    if theirs := [row["name"] for row in others if row["custom_fields"]["fleet_wish"]]:
        pytest.skip(f"somebody asks for something in the pages of {theirs[:3]}, which is not ours to take")
    devices, _ = hall.of(fleet())
    token = complete.token_file.read_text("utf-8").strip()
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store:
        store.register([devices[name] for name in hall.nodes], store.clock())
        yield PageIntentReader(
            store, place.url, lambda: Client(place.url, token, Timeouts()), lambda: None, store.clock
        )


def ask(place: Place, hall: Hall, name: str, intent: str, reason: str) -> None:
    """Set the fields as a person does."""
    wanted = {"fleet_wish": intent, "fleet_wish_reason": reason}
    place.change("dcim/devices", hall.devices[name], custom_fields=wanted)


def test_a_request_becomes_an_intent_once_with_who_asked(place: Place, hall: Hall, taker: PageIntentReader) -> None:
    """The field is emptied, and the token's user is who asked."""
    node = hall.nodes[0]
    ask(place, hall, node, "hold", "look at its fans")
    me = place.changes_since(place.last_change() - 1)[0].user
    assert taker.visit(rung=True) == 1
    (intent,) = taker.store.intents(node)
    assert (intent.kind.value, intent.reason) == ("hold", "look at its fans")
    assert me in intent.by
    assert place.row("dcim/devices", hall.devices[node])["custom_fields"]["fleet_wish"] is None
    assert taker.visit(rung=True) == 0
    assert len(taker.store.intents(node)) == 1


def test_a_request_for_what_is_no_node_is_answered_in_its_journal(
    place: Place, hall: Hall, taker: PageIntentReader
) -> None:
    """A leaf has no lifecycle: its page says so, once."""
    leaf = hall.name("leaf-1")
    ask(place, hall, leaf, "certify", "please")
    for _ in range(2):
        taker.visit(rung=True)
    number = hall.devices[leaf]
    found = place.rows("extras/journal-entries", assigned_object_type="dcim.device", assigned_object_id=number)
    entries = [row["comments"] for row in found if row["assigned_object_id"] == number]
    assert len(entries) == 1, entries
    place.change("dcim/devices", number, custom_fields={"fleet_wish": None})  # which the runner's rights leave to us
