"""Links through patch panels in a NetBox: followed to the other interface, or to a sentence why not."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters import netbox
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Termination
from tests.adapters.netbox.standin import TOKEN, Row, Standin, as_netbox, serving, termination
from tests.examples import examples

QUICK = netbox.Timeouts(connect_seconds=30, read_seconds=60, retries=0)
PORTS = 4
IFACES = tuple(Interface(f"ib{number}", "infiniband-ndr") for number in range(PORTS))
TYPE = DeviceType("box", "Maker", "Box", 1.0, IFACES)
DEVICES = {
    "gpu-1": Device("gpu-1", "box", "gpu-server", "hall", interfaces=IFACES),
    "leaf-1": Device("leaf-1", "box", "leaf", "hall", interfaces=IFACES),
}
FLEET = Fleet(sites=("hall",), racks={}, device_types={"box": TYPE}, devices=DEVICES, cables=())
GPU, LEAF = 1, 1 + PORTS  # the ids of their first interfaces
FRONT, REAR = "dcim.frontport", "dcim.rearport"


class Plant:
    """Panels and cables drawn into a stand-in; in the words of NetBox up to 4.4, or of the later ones."""

    def __init__(self, standin: Standin, *, later: bool = False) -> None:
        self.lists, self.later = standin.lists, later

    def panel(self, name: str, positions: int, fronts: int = 0) -> tuple[list[int], int]:
        """Add a panel with one rear port; return its front ports' ids and its rear port's."""
        owner = {"id": len(self.lists["rear-ports"]) + 100, "name": name}
        rear = len(self.lists["rear-ports"]) + 1
        self.lists["rear-ports"].append({"id": rear, "device": owner, "positions": positions})
        ids = []
        for position in range(1, (fronts or positions) + 1):
            ids.append(len(self.lists["front-ports"]) + 1)
            old = {"rear_port": {"id": rear, "name": "R"}, "rear_port_position": position}
            new = {"rear_ports": [{"position": 1, "rear_port": rear, "rear_port_position": position}]}
            self.lists["front-ports"].append({"id": ids[-1], "device": owner, **(new if self.later else old)})
        return ids, rear

    def cable(self, a: tuple[str, int], b: tuple[str, int], **values: object) -> int:
        """Add a cable; return its id."""
        return self.wide([a], [b], **values)

    def wide(self, a: list[tuple[str, int]], b: list[tuple[str, int]], **values: object) -> int:
        """Add a cable with several terminations."""
        number = len(self.lists["cables"]) + 1
        row: Row = {"id": number, "type": "smf", "label": "", "status": {"value": "connected"}}
        self.lists["cables"].append(row | values)
        for side, ends in (("A", a), ("B", b)):
            rows = [termination(number, side, its_id, kind) for kind, its_id in ends]
            self.lists["cable-terminations"].extend(rows)
        return number


def port(number: int) -> tuple[str, int]:
    """An interface as an end."""
    return "dcim.interface", number


@pytest.fixture
def standin() -> Iterator[Standin]:
    """A NetBox with a node and a leaf, without cables."""
    with serving(as_netbox(FLEET)) as serves:
        yield serves


@pytest.fixture(params=[False, True], ids=["NetBox 4.4", "NetBox 4.5"])
def plant(standin: Standin, request: pytest.FixtureRequest) -> Plant:
    """Its cable plant."""
    return Plant(standin, later=request.param)


def load(standin: Standin) -> Fleet:
    """Read the stand-in."""
    return netbox.load(standin.url, TOKEN, QUICK)


def test_a_link_through_two_panels_is_one_cable_with_its_carriers(standin: Standin, plant: Plant) -> None:
    (fronts, rear), (others, far) = plant.panel("PP-A", 4), plant.panel("PP-B", 4)
    cords = [plant.cable(port(GPU + at), (FRONT, fronts[at]), label=f"C{at}") for at in range(2)]
    plant.cable((REAR, rear), (REAR, far), label="T-12", bundle={"id": 1, "name": "row A"})
    for at in range(2):
        plant.cable((FRONT, others[at]), port(LEAF + at), status={"value": "planned"})
    found = load(standin)
    carriers = ("bundle row A", "trunk T-12", "panel PP-A", "panel PP-B")
    ends = [(Termination("gpu-1", name), Termination("leaf-1", name)) for name in ("ib0", "ib1")]
    assert found.cables == tuple(
        Cable(a, b, f"C{at}", "smf", carriers, id=cords[at]) for at, (a, b) in enumerate(ends)
    )
    assert found.notes == ()


def test_positions_lead_to_their_own_front_port(standin: Standin, plant: Plant) -> None:
    """The far panel is patched the other way round."""
    (fronts, rear), (others, far) = plant.panel("PP-A", 2), plant.panel("PP-B", 2)
    trunk = plant.cable((REAR, far), (REAR, rear))
    for at in range(2):
        plant.cable(port(GPU + at), (FRONT, fronts[at]))
        plant.cable(port(LEAF + 1 - at), (FRONT, others[at]))
    found = load(standin).cables
    assert [(str(cable.a), str(cable.b)) for cable in found] == [
        ("gpu-1 ib0", "leaf-1 ib1"),
        ("gpu-1 ib1", "leaf-1 ib0"),
    ]
    assert found[0].carriers[0] == f"trunk #{trunk}"


def test_a_trunk_of_one_position_is_nothing_shared(standin: Standin, plant: Plant) -> None:
    ([front], rear), ([other], far) = plant.panel("PP-A", 1), plant.panel("PP-B", 1)
    plant.cable(port(LEAF), (FRONT, front))
    plant.cable((REAR, rear), (REAR, far))
    cord = plant.cable((FRONT, other), port(GPU), label="at the node")
    [cable] = load(standin).cables
    assert (cable.a.device, cable.label, cable.id) == ("gpu-1", "at the node", cord)
    assert cable.carriers == ("panel PP-B", "panel PP-A")


def test_a_link_between_two_switches_is_told_by_the_cord_of_the_first(standin: Standin, plant: Plant) -> None:
    (fronts, rear), (others, far) = plant.panel("PP-A", 2), plant.panel("PP-B", 2)
    plant.cable((FRONT, others[0]), port(LEAF + 1))
    cord = plant.cable(port(LEAF), (FRONT, fronts[0]))
    plant.cable((REAR, rear), (REAR, far))
    [cable] = load(standin).cables
    assert (str(cable.a), str(cable.b), cable.id) == ("leaf-1 ib0", "leaf-1 ib1", cord)


def test_a_path_may_pass_a_trunk_twice(standin: Standin, plant: Plant) -> None:
    """Out by position 1, patched across the far panel, and back by position 2."""
    (fronts, rear), (others, far) = plant.panel("PP-A", 2), plant.panel("PP-B", 2)
    plant.cable(port(GPU), (FRONT, fronts[0]))
    plant.cable((REAR, rear), (REAR, far))
    plant.cable((FRONT, others[0]), (FRONT, others[1]))
    plant.cable((FRONT, fronts[1]), port(LEAF))
    [cable] = load(standin).cables
    assert (str(cable.a), str(cable.b)) == ("gpu-1 ib0", "leaf-1 ib0")
    assert cable.carriers[1:] == ("panel PP-A", "panel PP-B")


def test_a_trunk_of_several_rear_ports_is_a_trunk(standin: Standin, plant: Plant) -> None:
    near = [plant.panel("PP-A", 1) for _ in range(2)]
    far = [plant.panel("PP-B", 1) for _ in range(2)]
    plant.wide([(REAR, rear) for _, rear in near], [(REAR, rear) for _, rear in far], label="T")
    for at in range(2):
        plant.cable(port(GPU + at), (FRONT, near[at][0][0]))
        plant.cable(port(LEAF + at), (FRONT, far[at][0][0]))
    assert [cable.carriers for cable in load(standin).cables] == [("trunk T", "panel PP-A", "panel PP-B")] * 2


def test_a_rear_port_may_be_cabled_to_an_interface(standin: Standin, plant: Plant) -> None:
    [front], rear = plant.panel("PP-A", 1)
    plant.cable(port(GPU), (FRONT, front))
    plant.cable(port(LEAF), (REAR, rear))
    assert [cable.carriers for cable in load(standin).cables] == [("panel PP-A",)]


def test_a_label_that_several_cables_have_tells_no_trunk_from_another(standin: Standin, plant: Plant) -> None:
    for at in range(2):
        (fronts, rear), (others, far) = plant.panel(f"PP-A{at}", 2), plant.panel(f"PP-B{at}", 2)
        plant.cable(port(GPU + at), (FRONT, fronts[0]), label="C")
        plant.cable((REAR, rear), (REAR, far), label="MPO")
        plant.cable((FRONT, others[0]), port(LEAF + at), label="C")
    assert [cable.carriers[0] for cable in load(standin).cables] == ["trunk MPO #2", "trunk MPO #5"]


def half_patched(plant: Plant) -> None:
    """A cord into a panel with nothing behind it."""
    plant.cable(port(GPU), (FRONT, plant.panel("PP-A", 2)[0][0]))


def forked(plant: Plant) -> None:
    """Two nodes' ports share the rear port of a panel that goes into one switch port: a breakout."""
    fronts, rear = plant.panel("PP-A", 2)
    for at in range(2):
        plant.cable(port(GPU + at), (FRONT, fronts[at]))
    plant.cable((REAR, rear), port(LEAF))


def fanned(plant: Plant) -> None:
    """One interface is cabled to two front ports."""
    (fronts, rear), (others, far) = plant.panel("PP-A", 2), plant.panel("PP-B", 2)
    plant.wide([port(GPU)], [(FRONT, front) for front in fronts])
    plant.cable((REAR, rear), (REAR, far))
    for at in range(2):
        plant.cable(port(LEAF + at), (FRONT, others[at]))


def looped(plant: Plant) -> None:
    """A rear port is cabled back onto the way to itself."""
    (fronts, rear), (others, far) = plant.panel("PP-A", 2), plant.panel("PP-B", 2)
    plant.cable(port(GPU), (FRONT, fronts[0]))
    plant.cable((REAR, rear), (FRONT, others[0]))
    plant.cable((REAR, far), (FRONT, fronts[1]))


def unknown_profile(plant: Plant) -> None:
    """A cable whose positions come out in an order that is not known here."""
    (fronts, rear), (others, far) = plant.panel("PP-A", 2), plant.panel("PP-B", 2)
    plant.cable(port(GPU), (FRONT, fronts[0]))
    plant.cable((REAR, rear), (REAR, far), profile={"value": "trunk-3c5p-braid"})
    plant.cable(port(LEAF), (FRONT, others[0]))


def doubled(plant: Plant) -> None:
    """A front port before two rear ports, as NetBox 4.5 allows."""
    (fronts, rear), (others, far) = plant.panel("PP-A", 1), plant.panel("PP-B", 1)
    plant.cable(port(GPU), (FRONT, fronts[0]))
    plant.cable((REAR, rear), (REAR, far))
    plant.cable(port(LEAF), (FRONT, others[0]))
    row = plant.lists["front-ports"][0]
    row.pop("rear_port", None)
    row["rear_ports"] = [{"position": at, "rear_port": at, "rear_port_position": 1} for at in (1, 2)]


@pytest.mark.parametrize(
    ("draw", "count"), [(half_patched, 1), (forked, 3), (fanned, 3), (looped, 1), (unknown_profile, 2), (doubled, 2)]
)
def test_a_path_without_one_end_is_no_link_and_is_counted(
    standin: Standin, plant: Plant, draw: object, count: int
) -> None:
    assert callable(draw)
    draw(plant)
    found = load(standin)
    assert found.cables == ()
    [note] = found.notes
    assert note.startswith("1 interface is cabled" if count == 1 else f"{count} interfaces are cabled")
    assert "first: gpu-1 ib0" in note


def test_a_cable_that_is_designed_no_more_leads_nowhere(standin: Standin, plant: Plant) -> None:
    [front], rear = plant.panel("PP-A", 1)
    plant.cable(port(GPU), (FRONT, front))
    plant.cable(port(LEAF), (REAR, rear), status={"value": "decommissioning"})
    found = load(standin)
    assert found.cables == ()
    assert len(found.notes) == 1


def test_panels_without_a_name_and_devices_without_one(standin: Standin, plant: Plant) -> None:
    [front], rear = plant.panel("", 1)
    plant.cable(port(GPU), (FRONT, front))
    plant.cable(port(LEAF), (REAR, rear))
    assert load(standin).cables[0].carriers == ("panel #100",)
    for row in standin.lists["devices"][1:]:
        row["name"] = None
    for row in standin.lists["interfaces"][PORTS:]:
        row["device"] = row["device"] | {"name": None}
    found = load(standin)
    assert (found.cables, found.notes) == ((), ())


def test_an_interface_that_was_not_read_names_the_cord(standin: Standin, plant: Plant) -> None:
    [front], rear = plant.panel("PP-A", 1)
    plant.cable(port(GPU), (FRONT, front))
    plant.cable(port(99), (REAR, rear))
    found = load(standin)
    assert (found.cables, found.uncompared) == ((), (Termination("gpu-1", "ib0"),))
    assert "dcim/cables/1/: the cable ends at interface 99, which was not" in found.notes[0]


def test_the_ports_of_panels_are_read_only_where_a_cable_ends_at_one(standin: Standin) -> None:
    plant = Plant(standin)
    plant.panel("PP-A", 2)
    plant.cable(port(GPU), port(LEAF))
    load(standin)
    assert not any("front-ports" in asked or "rear-ports" in asked for asked in standin.asked)
    half_patched(plant)
    standin.lists["cable-terminations"] = [
        row | {"termination_id": 2} if row["cable"] == 2 and row["cable_end"] == "A" else row
        for row in standin.lists["cable-terminations"]
    ]
    load(standin)
    assert sum("front-ports" in asked or "rear-ports" in asked for asked in standin.asked) == 2


def test_links_of_one_breakout_cable_share_it(standin: Standin) -> None:
    plant = Plant(standin)
    number = plant.wide([port(GPU), port(GPU + 1)], [port(LEAF), port(LEAF + 1)], bundle={"name": "row A"})
    found = load(standin).cables
    assert [cable.carriers for cable in found] == [("bundle row A", f"cable #{number}")] * 2
    assert {cable.id for cable in found} == {number}


@given(
    designed=st.permutations(range(PORTS)),
    order=st.permutations(range(PORTS)),
    through=st.lists(st.booleans(), min_size=PORTS, max_size=PORTS),
    later=st.booleans(),
)
@settings(max_examples=examples(40), deadline=None)
def test_links_are_the_same_with_and_without_panels(
    designed: list[int], order: list[int], through: list[bool], later: bool
) -> None:
    """Any matching of ports, some links straight, the others by any positions of a trunk."""
    with serving(as_netbox(FLEET)) as standin:
        plant = Plant(standin, later=later)
        (fronts, rear), (others, far) = plant.panel("PP-A", PORTS), plant.panel("PP-B", PORTS)
        plant.cable((REAR, far), (REAR, rear))
        for at, (to, place) in enumerate(zip(designed, order, strict=True)):
            if through[at]:
                plant.cable((FRONT, fronts[place]), port(GPU + at))
                plant.cable((FRONT, others[place]), port(LEAF + to))
            else:
                plant.cable(port(LEAF + to), port(GPU + at))
        found = netbox.load(standin.url, TOKEN, QUICK)
    assert {(cable.a.interface, cable.b.interface) for cable in found.cables} == {
        (f"ib{at}", f"ib{to}") for at, to in enumerate(designed)
    }
    assert [bool(cable.carriers) for cable in found.cables] == through
    assert replace(found, cables=(), revision="") == replace(FLEET, cables=())
