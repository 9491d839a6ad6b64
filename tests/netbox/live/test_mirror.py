"""States, history, serial numbers, cables told to a NetBox that others hold: ours only, once, never over people."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox.selections import plain
from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event
from tests.netbox.live.conftest import WRITES, Prepared, Said
from tests.netbox.live.hall import Hall
from tests.netbox.live.place import Place

Run = Callable[..., Said]


@pytest.fixture
def nodes(hall: Hall, fleet: Callable[[], Fleet]) -> list[Device]:
    """Our nodes as the source of truth has them."""
    devices, _ = hall.of(fleet())
    return [devices[name] for name in hall.nodes]


@pytest.fixture
def store(nodes: list[Device], complete: Prepared, tmp_path: Path) -> Iterator[Store]:
    """A store that knows our two nodes and nobody else's."""
    (tmp_path / "state").mkdir()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as made:
        made.register(nodes, made.clock())
        yield made


@pytest.fixture
def tell(run: Run, complete: Prepared) -> Run:
    """Run a command with the rights that `netbox init` gave to fleet-runner."""
    return lambda *words: run(*words, **{**WRITES, "netbox_token_file": str(complete.token_file)})


def move(store: Store, node: str, event: Event) -> None:
    """Move a node."""
    row = store.node(node)
    assert row is not None
    store.apply(row, Decision((Move(TRANSITIONS[row.state, event], "test"),), "", store.clock()), store.clock())


def fields(place: Place, hall: Hall, node: str) -> dict[str, str | None]:
    """Return the custom fields of a node's page."""
    found: dict[str, str | None] = plain(place.row("dcim/devices", hall.devices[node]))["custom_fields"]
    return found


def journal(place: Place, hall: Hall, node: str) -> list[str]:
    """Return a device's journal, the oldest first."""
    number = hall.devices[node]
    which = {"assigned_object_type": "dcim.device", "assigned_object_id": number, "ordering": "id"}
    rows = place.rows("extras/journal-entries", **which)
    return [row["comments"] for row in rows if row["assigned_object_id"] == number]


def empty(place: Place, hall: Hall) -> None:
    """Have our nodes' pages say nothing of us."""
    for node in hall.nodes:
        unset = {"fleet_state": None, "fleet_since": None, "fleet_wish": None, "fleet_wish_reason": None}
        place.change("dcim/devices", hall.devices[node], custom_fields=unset)


def test_states_are_written_once_and_a_person_s_edit_stays(place: Place, hall: Hall, store: Store, tell: Run) -> None:
    """What would be written is said, then it is, then there is nothing left; a person's value is not touched."""
    empty(place, hall)
    first, second = hall.nodes
    assert first in tell("netbox", "sync", "--check").words
    assert fields(place, hall, first)["fleet_state"] is None
    done = tell("netbox", "sync")
    assert done.code == 0, done.words
    assert fields(place, hall, first)["fleet_state"] == "registered"
    mark = place.last_change()
    assert tell("netbox", "sync").code == 0
    assert place.changes_since(mark) == [], "nothing is written where nothing differs"
    place.change("dcim/devices", hall.devices[second], custom_fields={"fleet_state": "retired"})
    for node in hall.nodes:
        move(store, node, Event.START)
    said = tell("netbox", "sync")
    assert said.code != 0
    assert "retired" in said.words
    assert fields(place, hall, first)["fleet_state"] == "provision"
    assert fields(place, hall, second)["fleet_state"] == "retired"
    place.change("dcim/devices", hall.devices[second], custom_fields={"fleet_state": None})
    assert tell("netbox", "sync").code == 0
    assert fields(place, hall, second)["fleet_state"] == "provision"


def test_history_comes_into_the_journal_once(place: Place, hall: Hall, store: Store, tell: Run) -> None:
    """A node's moves from now on are in its journal, however often they are told."""
    empty(place, hall)
    node = hall.nodes[0]
    tell("netbox", "sync")
    before = len(journal(place, hall, node))
    move(store, node, Event.START)
    for _ in range(2):
        tell("netbox", "sync")
    new = journal(place, hall, node)[before:]
    assert len([text for text in new if "provision" in text]) == 1, new


def test_an_exchanged_part_s_serial_is_written_where_the_old_one_stands(
    place: Place, hall: Hall, store: Store, tell: Run
) -> None:
    """It is written over the serial that is known to be out, and over no other."""
    node, slot = hall.nodes[1], "GPU 0"
    number = hall.items[node, slot]
    was = place.row("dcim/inventory-items", number)["serial"]
    for event in (Event.START, Event.FAILED):
        move(store, node, event)
    tell(
        "rma", "open", node, "--vendor", "Acme", "--case", "C-1", "--reason", "failed", "--part", slot, "--wait", "0"
    )
    new = f"N{place.prefix}1"
    said = tell("rma", "parts", node, "--in", f"{slot}={new}")
    assert said.code == 0, said.words
    assert place.row("dcim/inventory-items", number)["serial"] == new
    place.change("dcim/inventory-items", number, serial="somebody-else-s")
    said = tell("rma", "parts", node, "--in", f"{slot}=N{place.prefix}2")
    assert place.row("dcim/inventory-items", number)["serial"] == "somebody-else-s", said.words
    place.change("dcim/inventory-items", number, serial=was)


def test_a_planned_cable_is_called_connected_and_no_other(place: Place, hall: Hall) -> None:
    """What somebody calls otherwise stays so."""
    one, other = hall.cables[hall.name("rail-1")], hall.cables[hall.name("rail-2")]
    place.change("dcim/cables", other, status="decommissioning")
    written = netbox.connect_cables(place.url, place.token, [one, other])
    assert (written.done, written.warnings) == (1, [])
    assert place.row("dcim/cables", one)["status"]["value"] == "connected"
    assert place.row("dcim/cables", other)["status"]["value"] == "decommissioning"
    for number in (one, other):
        place.change("dcim/cables", number, status="planned")
