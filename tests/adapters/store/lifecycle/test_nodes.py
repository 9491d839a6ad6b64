"""Nodes: registering them, finding the due ones."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.store import Store
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES, Fabric
from fleet_runner.core.inventory.records import Fleet, Management, Place
from fleet_runner.core.lifecycle.actions import Move, SetCondition
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, State
from tests.adapters.store.builders import UrlMaker, decision, device, node
from tests.examples import UNHURRIED

SHARED = settings(suppress_health_check=UNHURRIED, deadline=None, max_examples=10)


def test_registering_adds_what_is_missing_and_is_due_at_once(store: Store) -> None:
    assert store.register([device("gpu-02"), device("gpu-01")], 5.0) == ("gpu-01", "gpu-02")
    first = node(store)
    assert (first.state, first.since, first.version, first.conditions) == (State.REGISTERED, 5.0, 1, {})
    assert [due.name for due in store.due(5.0)] == ["gpu-01", "gpu-02"]


def test_a_fabric_is_watched_beside_the_nodes(stocked: Store) -> None:
    record = Fabric("infiniband.hall", "hall", frozenset({"leaf-1"}), ()).record
    assert stocked.register([record, device("gpu-04")], 7.0) == ("gpu-04", "infiniband.hall")
    (fabric,) = stocked.fabrics()
    assert (fabric.name, fabric.state, fabric.device_type) == ("infiniband.hall", State.WATCHED, FABRIC_TYPES[0])
    assert [known.name for known in stocked.nodes()] == ["gpu-01", "gpu-02", "gpu-03", "gpu-04"]
    assert node(stocked, "infiniband.hall") == fabric
    assert "infiniband.hall" in {due.name for due in stocked.due(7.0)}


def test_registering_again_changes_nothing(stocked: Store) -> None:
    before = stocked.nodes()
    assert stocked.register([device(known.name) for known in before], 900.0) == ()
    assert stocked.nodes() == before


def test_a_changed_record_wakes_the_node_and_leaves_its_state(stocked: Store) -> None:
    stocked.apply(node(stocked), decision(), 200.0)
    stocked.register([device("gpu-01", device_type="gb200", management=Management.CUSTOMER)], 300.0)
    now = node(stocked)
    assert (now.device_type, now.management) == ("gb200", Management.CUSTOMER)
    assert (now.version, now.wake_at, now.since) == (3, 0.0, 100.0)


def test_a_device_named_twice_is_one_node(store: Store) -> None:
    assert store.register([device("gpu-01"), device("gpu-01")], 5.0) == ("gpu-01",)


def test_an_unknown_node_is_none(store: Store) -> None:
    assert store.node("gpu-99") is None
    assert store.due(1e12) == ()


def test_thousands_of_nodes_are_registered_and_read_at_once(store: Store) -> None:
    names = [f"gpu-{number:05d}" for number in range(3_000)]
    assert list(store.register([device(name) for name in names], 5.0)) == names
    assert [node.name for node in store.nodes()] == names


def test_conditions_come_with_their_nodes(stocked: Store) -> None:
    held, cordoned = Held(150.0, "Audit", "ada"), Held(160.0, "Xid 79", "runner", "REBOOT")
    setting = (SetCondition(Condition.HELD, held), SetCondition(Condition.CORDONED, cordoned))
    stocked.apply(node(stocked, "gpu-02"), decision(*setting, wake_at=1.0), 200.0)
    found = {due.name: due.conditions for due in stocked.due(300.0)}
    assert found == {"gpu-01": {}, "gpu-02": {Condition.HELD: held, Condition.CORDONED: cordoned}, "gpu-03": {}}


def test_retired_nodes_are_never_due(stocked: Store) -> None:
    retire = Move(TRANSITIONS[State.REGISTERED, Event.RETIRE], "ada")
    stocked.apply(node(stocked), decision(retire, wake_at=0.0), 200.0)
    assert [due.name for due in stocked.due(1e12)] == ["gpu-02", "gpu-03"]


@SHARED
@given(st.lists(st.floats(0, 2_000), min_size=1, max_size=12), st.floats(0, 2_000))
def test_due_is_every_node_whose_time_has_come_longest_waiting_first(
    urls: UrlMaker, wakes: list[float], now: float
) -> None:
    with Store.open(urls()) as store:
        store.register([device(f"gpu-{number:02d}") for number in range(len(wakes))], 1.0)
        for number, wake in enumerate(wakes):
            store.apply(node(store, f"gpu-{number:02d}"), decision(wake_at=wake), 2.0)
        expected = sorted((wake, f"gpu-{number:02d}") for number, wake in enumerate(wakes) if wake <= now)
        assert [(due.wake_at, due.name) for due in store.due(now)] == expected


def test_places_are_remembered_until_another_is_said(stocked: Store) -> None:
    fleet = Fleet((), {}, {}, {}, ())
    assert stocked.placed(fleet) is fleet
    first, other = Place("hall", "hall/A", "hall/feed-1", "red"), Place("hall", "hall/B")
    stocked.keep_places({"gpu-01": first, "gpu-02": first})
    stocked.keep_places({"gpu-02": other})
    stocked.keep_places({})
    known = stocked.placed(fleet)
    assert known.last_places == {"gpu-01": first, "gpu-02": other}
    assert stocked.placed(known) is known
