"""Which ports, trunks and cords a NetBox lacks of cables through patch panels."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.inventory.netbox.push import Kind, Known, Plan, Step, plan
from fleet_runner.core.inventory.netbox.push.cables import passed
from fleet_runner.core.inventory.netbox.push.step import PanelPort
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Rack, Termination

PORTS = tuple(Interface(f"ib{number}", "infiniband-ndr") for number in range(4))
KNOWN = Known(roles=frozenset({"gpu-server", "leaf", "patch-panel"}), manufacturers=frozenset({"Acme"}))
PANELS = ("PP-A", "PP-B", "PP-C", "PP-D")
RACKS = {"hall/R1": Rack("R1", "hall"), "hall/R2": Rack("R2", "hall")}


def device(name: str, role: str, rack: str | None = None, *ports: Interface) -> Device:
    return Device(name, "box", role, "hall", rack, interfaces=ports)


DEVICES = (
    device("gpu-1", "gpu-server", "R1", *PORTS),
    device("leaf-1", "leaf", "R2", *PORTS),
    *(device(name, "patch-panel", "R1" if name == "PP-A" else "R2") for name in PANELS),
)
BARE = Fleet(
    ("hall",), RACKS, {"box": DeviceType("box", "Acme", "Box", 1.0)}, {each.name: each for each in DEVICES}, ()
)


def cable(at: int, *carriers: str) -> Cable:
    return Cable(Termination("gpu-1", f"ib{at}"), Termination("leaf-1", f"ib{at}"), f"L{at}", "smf", carriers)


def planned(*cables: Cable, ports: dict[PanelPort, bool] | None = None, has: Fleet = BARE) -> Plan:
    return plan(replace(BARE, cables=cables), has, replace(KNOWN, ports=ports or {}))


def cords(found: Plan) -> list[tuple[str, ...]]:
    return [step.key for step in found.steps if step.kind is Kind.CORD]


TRUNK = ("trunk T-1", "panel PP-A", "panel PP-B")


def test_cables_of_one_trunk_share_a_rear_port_at_each_end_and_its_cable() -> None:
    found = planned(cable(0, *TRUNK), cable(1, *TRUNK))
    rears = [step for step in found.steps if step.kind is Kind.REAR]
    assert [(step.key, step.values["positions"]) for step in rears] == [(("PP-A", "T-1"), 2), (("PP-B", "T-1"), 2)]
    fronts = [(step.key, step.values["position"]) for step in found.steps if step.kind is Kind.FRONT]
    assert fronts == [((panel, f"gpu-1 ib{at}"), at + 1) for at in range(2) for panel in ("PP-A", "PP-B")]
    assert cords(found).count(("PP-A", "T-1", "PP-B", "T-1")) == 1
    assert (found.conflicts, found.notes) == ((), ())


def test_the_panels_that_are_asked_of_a_netbox_are_those_of_cables_that_it_lacks() -> None:
    whole = replace(BARE, cables=(cable(0, *TRUNK), cable(1, "panel PP-C")))
    assert passed(whole, BARE) == ["PP-A", "PP-B", "PP-C"]
    assert passed(whole, replace(BARE, cables=whole.cables[:1])) == ["PP-C"]
    assert passed(whole, whole) == []


def test_the_cord_that_is_told_of_has_the_label_and_the_trunk_its_name() -> None:
    labels = {
        step.key[0]: step.values.get("label") for step in planned(cable(0, *TRUNK)).steps if step.kind is Kind.CORD
    }
    assert labels == {"gpu-1": "L0", "PP-A": "T-1", "PP-B": None}


def test_the_panel_in_the_rack_of_an_end_is_the_one_beside_it() -> None:
    """Which end a folder names first says nothing."""
    turned = planned(cable(0, "panel PP-B", "panel PP-A"))
    assert cords(turned) == cords(planned(cable(0, "panel PP-A", "panel PP-B")))
    assert cords(turned)[0][2] == "PP-A"


def test_four_panels_are_crossed_by_front_and_rear_in_turn() -> None:
    found = planned(cable(0, *(f"panel {name}" for name in PANELS)))
    sides = [step.values["sides"] for step in found.steps if step.kind is Kind.CORD]
    assert sides == [
        ("interface", "front"), ("rear", "rear"), ("front", "front"), ("rear", "rear"), ("front", "interface"),
    ]  # fmt: skip


@given(st.integers(1, 4), st.booleans())
def test_what_was_made_before_an_interruption_is_not_made_again(count: int, trunk: bool) -> None:
    carriers = ("trunk T-1",) * trunk + tuple(f"panel {name}" for name in PANELS[:count])
    whole = planned(cable(0, *carriers))
    ports = {
        PanelPort(step.key[0], str(step.kind).split(" ")[0], step.key[1]): True
        for step in whole.steps
        if step.kind in {Kind.REAR, Kind.FRONT}
    }
    assert planned(cable(0, *carriers), ports=ports).steps == ()
    left = planned(cable(0, *carriers), ports=dict.fromkeys(ports, False))
    assert cords(left) == cords(whole)
    assert {step.kind for step in left.steps} == {Kind.CORD}


def test_a_trunk_to_a_single_panel_is_said_to_be_left_out() -> None:
    [note] = planned(cable(0, "trunk T-1", "panel PP-A"), has=BARE).notes or ("",)
    assert note == ""
    assert [step.values["positions"] for step in planned(cable(0, "trunk T-1", "panel PP-A")).steps[:1]] == [1]


def test_a_panel_with_ports_of_its_own_is_a_conflict() -> None:
    found = planned(cable(0, "panel PP-A"), cable(1, "panel PP-C"), ports={PanelPort("PP-A", "rear", "24"): False})
    assert [step.key[0] for step in found.steps if step.kind is Kind.REAR] == ["PP-C"]
    assert found.conflicts[0].startswith("cable gpu-1 ib0 to leaf-1 ib0: panel PP-A has ports of its own in NetBox")


def test_a_panel_that_is_no_device_or_an_end_of_the_cable_is_not_made() -> None:
    found = planned(cable(0, "panel PP-X"), cable(1, "panel leaf-1"))
    assert [step.kind for step in found.steps] == [Kind.CABLE, Kind.CABLE]
    assert "2 cables pass trunks, panels or cages" in found.notes[0]


def test_a_link_that_netbox_has_stays_as_it_is() -> None:
    there = replace(BARE, cables=(cable(0, *TRUNK),))
    assert planned(cable(0, *TRUNK), has=there).steps == ()
    other = replace(there, cables=(replace(cable(0), b=Termination("leaf-1", "ib3")),))
    assert "has a cable to leaf-1 ib3 in NetBox" in planned(cable(0, *TRUNK), has=other).conflicts[0]


def test_a_device_whose_record_cannot_be_used_is_a_conflict_and_nothing_in_it_is_written() -> None:
    unread = replace(BARE, devices={}, unread={"gpu-1": "devices/1: two of them"})
    found = planned(cable(0), cable(1, "panel PP-A"), has=unread)
    assert "device gpu-1: NetBox's record of it cannot be used (devices/1: two of them)" in found.conflicts[0]
    assert not [step for step in found.steps if "gpu-1" in step.key]


def test_a_cord_is_named_by_both_its_ends() -> None:
    assert Step(Kind.CORD, ("gpu-1", "ib0", "PP-A", "1"), {}).name == "cord gpu-1 ib0 to PP-A 1"
