"""The ports of a ticket's devices, in order, with those that it names marked."""

from xml.etree import ElementTree as ET

import pytest

from fleet_runner.core.inventory.records import Device, Fleet, Interface
from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.core.tickets.work_orders.faces import MOST, UNEVEN, Face, faces, svg

SVG = "{http://www.w3.org/2000/svg}"


def device(name: str, *ports: str) -> Device:
    own = (Interface("bmc1", "1000base-t", mgmt_only=True), Interface("bmc2", "1000base-t", mgmt_only=True))
    return Device(
        name, "kind", "role", "hall", interfaces=(*own, *(Interface(port, "infiniband-ndr") for port in ports))
    )


def fleet(*devices: Device) -> Fleet:
    return Fleet(("hall",), {}, {}, {each.name: each for each in devices}, (), revision="1")


def ticket(*steps: str, title: str = "a fault", said: str = "") -> Ticket:
    body = "\n".join([said, *(f"{number}. {step}" for number, step in enumerate(steps, start=1))])
    return Ticket(1, "fault", "cabling", title, body, (), "RECABLE", 0.0)


HALL = fleet(
    device("gpu-1", "ib10", "ib2", "ib1", "storage1"),
    device("gpu-12", "ib1", "ib2"),
    device("leaf-1", *(f"1/{cage}/{lane}" for cage in range(12, 0, -1) for lane in (1, 2))),
    device("leaf-2", *(f"Ethernet{4 * port}" for port in range(64))),
    device("leaf-3", *(f"Ethernet1/{port}" for port in range(1, 65)), "Management"),
    device("core", *(f"p{port}" for port in range(1, 801))),
)


def test_ports_stand_in_the_order_of_their_numbers_and_those_of_the_steps_are_marked() -> None:
    found = faces(
        HALL, ticket("Unplug gpu-1 port ib2 (hall rack A U1), from leaf-2 Ethernet128; it stays.", title="gpu-12 ib1")
    )
    assert [each.sentence for each in found] == [
        f"gpu-1: ib2 is number 2 of 3. {UNEVEN}", "leaf-2: Ethernet128 is number 33 of 64.",
    ]  # fmt: skip
    assert [port for (port,) in found[0].cages] == ["ib1", "ib2", "ib10"], "neither the BMC's nor another kind's"


def test_where_the_steps_name_none_the_other_words_do() -> None:
    (found,) = faces(
        HALL, ticket("Call somebody.", title="gpu-12: ib1", said="gpu-12 ib1 is slow, and gpu-12 port ib2.")
    )
    assert found.sentence == "gpu-12: ib1 is number 1 of 2, ib2 is number 2 of 2."


def test_lanes_of_a_cage_stand_together() -> None:
    (found,) = faces(HALL, ticket("Reseat leaf-1 1/3/2."))
    assert found.cages[2] == ("1/3/1", "1/3/2")
    assert found.sentence == "leaf-1: 1/3/2 is number 6 of 24."
    (flat,) = faces(HALL, ticket("Reseat leaf-3 Ethernet1/7."))
    assert set(map(len, flat.cages)) == {1}, "64 ports of a card are no cage"


@pytest.mark.parametrize("step", [
    "Look at gpu-1.", "Unplug gpu-1 ib20.", "Unplug gpu-1 ib1/2.", "Unplug gpu-1 ib1.7", "Unplug gpu-9 ib1.",
    "Unplug gpu-1 bmc1.",
    "Unplug gpu-1 storage1.", "Unplug leaf-3 Management.", "my-gpu-1x ib1", "", "gpu-1",
])  # fmt: skip
def test_nothing_is_drawn_where_no_order_or_no_port_is_known(step: str) -> None:
    assert faces(HALL, ticket(step)) == ()


def test_so_many_devices_are_drawn_and_no_more() -> None:
    many = fleet(*(device(f"gpu-{number}", "ib1", "ib2") for number in range(20)))
    assert len(faces(many, ticket(*(f"Unplug gpu-{number} ib1." for number in range(20))))) == MOST


def texts(drawing: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(drawing).iter(f"{SVG}text")]  # noqa: S314  our own


def test_the_picture_says_what_it_shows() -> None:
    found = faces(HALL, ticket("Move leaf-1 1/3/2 to leaf-2 Ethernet128."))
    drawing = svg(found)
    said = texts(drawing)
    assert said[:3] == ["leaf-1", "1/3/2 is number 6 of 24.", "1/1/1"]
    assert "128" in said, "a long name's number"
    assert drawing.count('class="arrow"') == drawing.count('class="meant"') == 2
    assert drawing.count('class="cage"') == 12


def test_of_a_large_switch_the_rows_about_its_marked_ports_are_drawn() -> None:
    said = texts(svg(faces(HALL, ticket("Reseat core p777."))))
    assert said[1:3] == ["p777 is number 777 of 800.", "3 of 100 rows are drawn."]
    assert said[3:-1] == [f"p{port}" for port in range(769, 793)]


def test_that_rows_are_left_out_is_said_however_many_ports_are_marked() -> None:
    said = texts(svg(faces(HALL, ticket(*(f"Reseat core p{port}." for port in (1, 200, 400, 800))))))
    assert said[1].endswith("…")
    assert said[2] == "10 of 100 rows are drawn."


SPLIT = fleet(
    device(
        "leaf", *(f"Ethernet1/{port}" for port in (1, 2, 4, 5)), *(f"Ethernet1/3/{lane}" for lane in (1, 2, 3, 4))
    ),
    device("even", *(f"Ethernet{card}/{port}" for card in (1, 2) for port in (1, 2, 3))),
    device("cards", *(f"Ethernet{card}/{port}" for card in (1, 2, 4) for port in (1, 2))),
)


@pytest.mark.parametrize(("step", "gaps"), [
    ("Reseat leaf Ethernet1/4.", True), ("Reseat leaf Ethernet1/3/2.", False), ("Reseat even Ethernet2/1.", False),
    ("Reseat cards Ethernet4/1.", True),
])  # fmt: skip
def test_where_numbers_are_missing_nobody_is_told_to_count(step: str, *, gaps: bool) -> None:
    (found,) = faces(SPLIT, ticket(step))
    assert found.sentence.endswith(UNEVEN) is gaps
    assert (UNEVEN in texts(svg([found]))) is gaps


@pytest.mark.parametrize("kind", ["virtual", "lag", "bridge"])
def test_what_is_no_socket_is_not_drawn(kind: str) -> None:
    ports = [Interface(f"Ethernet1/{port}", "100gbase-x-qsfp28") for port in (1, 2)]
    unreal = [Interface(f"{name}{number}", kind) for name in ("bond", "Ethernet1/1.") for number in (1, 2)]
    mixed = fleet(Device("leaf", "kind", "role", "hall", interfaces=(*unreal, *ports)))
    assert faces(mixed, ticket("Look at leaf bond1 and leaf Ethernet1/1.2.")) == ()
    (found,) = faces(mixed, ticket("Reseat leaf Ethernet1/1."))
    assert found.cages == (("Ethernet1/1",), ("Ethernet1/2",))


def test_a_hostile_name_stays_text() -> None:
    name = "<script>1"
    drawing = svg([Face(name, ((name,), ("b2",)), frozenset({name}))])
    assert name in texts(drawing)
    assert "<script" not in drawing
