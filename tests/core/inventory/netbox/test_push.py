"""What a push writes into a NetBox: what is missing and what differs there, and nothing else."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from fleet_runner.core.cabling.breakouts import laid
from fleet_runner.core.inventory.netbox.push import Kind, Known, Step, plan
from fleet_runner.core.inventory.netbox.push.devices import covered
from fleet_runner.core.inventory.records import (  # fmt: skip
    Cable,
    Device,
    DeviceType,
    Fleet,
    Interface,
    Management,
    Part,
    Rack,
    Termination,
)
from tests.examples import examples
from tests.fleets import fleets
from tests.small_fleet import ENDS, FLEET, LEAF, NODE, PORTS, TYPE

EMPTY = Fleet((), {}, {}, {}, ())
KNOWN = Known(
    frozenset({"Acme"}), frozenset({"gpu-server", "leaf"}), frozenset({"gpu"}), frozenset({"Maker"}),
    frozenset({("hall", "Row A")}),
)  # fmt: skip


def with_node(**changes: Any) -> Fleet:
    """The fleet with its node changed."""
    return replace(FLEET, devices={**FLEET.devices, "gpu-1": replace(NODE, **changes)})


def only(wanted: Fleet, has: Fleet = FLEET) -> Step:
    """The one step that is planned."""
    planned = plan(wanted, has, KNOWN)
    assert not planned.conflicts
    [step] = planned.steps
    return step


def everything(fleet: Fleet) -> Known:
    """Every name that a fleet has, as if a NetBox knew it."""
    return Known(
        frozenset(device.tenant for device in fleet.devices.values() if device.tenant),
        frozenset(device.role for device in fleet.devices.values()),
        frozenset(part.kind for device in fleet.devices.values() for part in device.parts),
        frozenset(each.manufacturer for each in fleet.device_types.values()),
        frozenset((rack.site, rack.location) for rack in fleet.racks.values() if rack.location),
    )


@given(fleet=fleets())
@settings(max_examples=examples(40))
def test_what_netbox_says_already_is_not_written(fleet: Fleet) -> None:
    assert plan(fleet, fleet, everything(fleet)).steps == ()


@given(fleet=fleets())
@settings(max_examples=examples(40))
def test_nothing_is_taken_out_of_a_netbox_that_has_more(fleet: Fleet) -> None:
    assert plan(EMPTY, fleet, Known()).steps == ()


@given(fleet=fleets())
@settings(max_examples=examples(40))
def test_into_an_empty_netbox_everything_is_new_in_an_order_it_can_take(fleet: Fleet) -> None:
    planned = plan(fleet, EMPTY, Known())
    kinds = [step.kind for step in planned.steps]
    assert kinds == sorted(kinds, key=list(Kind).index)
    names = {kind: {step.key for step in planned.steps if step.kind is kind} for kind in Kind}
    assert names[Kind.DEVICE] == {(name,) for name in fleet.devices}
    assert names[Kind.RACK] == {(rack.site, rack.name) for rack in fleet.racks.values()}
    assert names[Kind.PART] == {
        (device.name, part.slot) for device in fleet.devices.values() for part in device.parts
    }
    assert len(names[Kind.CABLE]) == len(fleet.cables)
    assert len({step.name for step in planned.steps}) == len(planned.steps)


def test_an_empty_netbox_is_given_all_of_a_small_fleet() -> None:
    planned = plan(FLEET, EMPTY, Known())
    steps = {step.name: dict(step.values) for step in planned.steps}
    assert steps["rack hall A1"] == {"u_height": 20, "starting_unit": 1, "location": "Row A"}
    assert steps["device gpu-1"] == {
        "site": "hall", "device_type": "hgx", "role": "gpu-server", "rack": "A1", "position": 1.0, "face": "front",
        "status": "active", "serial": "S1", "tenant": "Acme", "context": {"a": {"b": 1}},
    }  # fmt: skip
    assert "interface gpu-1 eth0" not in steps  # NetBox makes it from the type's
    assert steps["interface gpu-1 ib0"] == {"guid": "0002c90300a1b2c3"}
    assert steps["MAC address gpu-1 eth0"] == {"mac": "02:00:00:00:00:01"}
    assert steps["IP address gpu-1 oob"] == {"address": "192.0.2.7", "interface": "bmc"}
    assert steps["IP address gpu-1 primary"] == {"address": "192.0.2.8", "interface": "eth0"}
    assert steps["cable gpu-1 ib0 to leaf-1 ib0"] == {"label": "C1", "kind": "mmf", "status": "connected"}
    for name in ("location hall Row A", "tenant Acme", "role leaf", "part role gpu", "manufacturer Maker"):
        assert steps[name] == {}


@pytest.mark.parametrize(
    ("changes", "name", "values", "was"),
    [
        ({"serial": "S2"}, "device gpu-1", {"serial": "S2"}, {"serial": "S1"}),
        ({"management": Management.CUSTOMER}, "device gpu-1", {"management": "customer"}, {"management": "full"}),
        ({"context": {"a": {"b": 2}}}, "device gpu-1", {"context": {"a": {"b": 2}}}, {"context": {"a": {"b": 1}}}),
        (
            {"position": 9.0},
            "device gpu-1",
            {"position": 9.0, "face": "front"},
            {"position": 1.0},
        ),
        (
            {"primary_address": "192.0.2.9"},
            "IP address gpu-1 primary",
            {"address": "192.0.2.9", "interface": "eth0"},
            {"address": "192.0.2.8"},
        ),
        (
            {"parts": (Part("GPU 0", "gpu", "H100", "G9"),)},
            "part gpu-1 GPU 0",
            {"serial": "G9"},
            {"serial": "G0"},
        ),
        (
            {"interfaces": (*PORTS[:1], replace(PORTS[1], mac="02:00:00:00:00:02"), PORTS[2])},
            "MAC address gpu-1 eth0",
            {"mac": "02:00:00:00:00:02"},
            {"mac": "02:00:00:00:00:01"},
        ),
        (
            {"interfaces": (*PORTS, Interface("eth1", "1000base-t"))},
            "interface gpu-1 eth1",
            {"kind": "1000base-t", "mgmt_only": False},
            None,
        ),
        (
            {"interfaces": (*PORTS[:2], replace(PORTS[2], kind="infiniband-xdr"))},
            "interface gpu-1 ib0",
            {"kind": "infiniband-xdr"},
            {"kind": "infiniband-ndr"},
        ),
    ],
)
def test_one_change_of_a_device_is_one_step(
    changes: dict[str, Any], name: str, values: dict[str, Any], was: dict[str, Any] | None
) -> None:
    step = only(with_node(**changes))
    assert (step.name, step.values, step.was) == (name, values, was)


@pytest.mark.parametrize(
    "changes",
    [
        {"serial": None, "tenant": None, "rack": None, "position": None, "oob_address": None, "context": {}},
        {"parts": (), "interfaces": tuple(replace(port, mac=None, guid=None) for port in PORTS)},
    ],
)
def test_what_the_folder_leaves_empty_stays_in_netbox(changes: dict[str, Any]) -> None:
    assert plan(with_node(**changes), FLEET, KNOWN).steps == ()


def test_racks_and_types_that_differ_are_changed() -> None:
    wider = replace(FLEET, racks={"hall/A1": Rack("A1", "hall", 42, location="Row A")})
    assert (only(wider).values, only(wider).was) == ({"u_height": 42}, {"u_height": 20})
    more = replace(TYPE, u_height=10.0)
    assert only(replace(FLEET, device_types={"hgx": more})).values == {"u_height": 10.0}
    turned = replace(TYPE, interfaces=(replace(PORTS[0], mgmt_only=False), *TYPE.interfaces[1:]))
    step = only(replace(FLEET, device_types={"hgx": turned}))
    assert (step.name, step.values) == ("interface of a type hgx bmc", {"mgmt_only": False})


def test_a_cable_that_differs_is_changed_by_its_number() -> None:
    step = only(replace(FLEET, cables=(Cable(*ENDS, "C2", "mmf"),)))
    assert (step.id, step.values, step.was) == (7, {"label": "C2"}, {"label": "C1"})


def test_where_netbox_has_another_cable_is_a_conflict() -> None:
    other = Cable(Termination("gpu-1", "eth0"), ENDS[1])
    planned = plan(replace(FLEET, cables=(other,)), FLEET, KNOWN)
    assert planned.steps == ()
    assert "leaf-1 ib0 has a cable to gpu-1 ib0 in NetBox (#7); remove that cable in NetBox" in planned.conflicts[0]
    turned = Cable(ENDS[0], Termination("leaf-1", "eth0"))
    unnumbered = replace(FLEET, cables=(Cable(*ENDS),))
    said = plan(replace(FLEET, cables=(turned,)), unnumbered, KNOWN).conflicts[0]
    assert "gpu-1 ib0 has a cable to leaf-1 ib0 in NetBox; remove" in said


def test_a_breakout_is_one_cable_from_its_single_end() -> None:
    near = Termination("leaf-1", "ib0")
    far = [Termination("gpu-1", "eth0"), Termination("gpu-1", "ib0")]
    cables = tuple(Cable(end, near) for end in far)
    step = next(s for s in plan(replace(FLEET, cables=cables), EMPTY, Known()).steps if s.kind is Kind.CABLE)
    assert step.name == "cable leaf-1 ib0 to gpu-1 eth0, gpu-1 ib0"
    assert plan(replace(FLEET, cables=cables), replace(FLEET, cables=cables), KNOWN).steps == ()
    assert [(end, [each for _, each in others]) for end, others in laid(cables)] == [(near, far)]


def test_a_device_at_another_site_is_left_with_all_that_is_in_it() -> None:
    away = replace(NODE, site="lab", rack=None, serial="other", parts=(Part("GPU 7", "gpu", "H100"),))
    wanted = replace(FLEET, devices={"gpu-1": away, "leaf-1": LEAF}, cables=(Cable(ENDS[0], ENDS[1], "new label"),))
    planned = plan(wanted, FLEET, KNOWN)
    assert planned.steps == ()
    assert planned.conflicts[0].startswith("device gpu-1 is in site hall in NetBox, expected lab as in the folder")


def test_a_primary_address_of_the_other_family_is_a_conflict() -> None:
    """NetBox has one of each and shows one of them: every push would write it again."""
    found = plan(with_node(primary_address="2001:db8::8"), FLEET, KNOWN)
    assert found.steps == ()
    [conflict] = found.conflicts
    assert conflict.startswith("device gpu-1: its primary address is 192.0.2.8 in NetBox, which shows one")
    assert conflict.endswith("; empty it there, then push 2001:db8::8")


def test_an_address_without_an_interface_is_a_conflict() -> None:
    bare = Device("pdu-1", "pdu", "pdu", "hall", primary_address="192.0.2.1")
    wanted = replace(
        EMPTY, sites=("hall",), device_types={"pdu": DeviceType("pdu", "Maker", "P", 0.0)}, devices={"pdu-1": bare}
    )
    assert "pdu-1: found no interface for its address 192.0.2.1" in plan(wanted, EMPTY, Known()).conflicts[0]


@pytest.mark.parametrize(("number", "said"), [(1, "1 cable passes"), (2, "2 cables pass")])
def test_trunks_and_panels_are_said_not_to_be_made(number: int, said: str) -> None:
    cables = [replace(FLEET.cables[0], carriers=("trunk T-1",))]
    cables.append(Cable(Termination("gpu-1", "eth0"), Termination("leaf-1", "eth0"), carriers=("panel P",)))
    [note] = plan(replace(FLEET, cables=tuple(cables[:number])), FLEET, KNOWN).notes
    assert note.startswith(said)
    breakout = replace(FLEET.cables[0], carriers=("cable C1",))
    assert plan(replace(FLEET, cables=(breakout,)), EMPTY, Known()).notes == ()
    same = replace(FLEET, cables=tuple(cables))
    assert plan(same, same, KNOWN).notes == ()


@pytest.mark.parametrize(
    ("wanted", "has", "is_covered"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}, "d": 3}, True),
        ({"a": [1]}, {"a": [1, 2]}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": {}}, {"a": 1}, False),
        ({"a": None}, {}, False),
    ],
)
def test_a_context_is_covered_by_one_that_says_all_of_it(wanted: Any, has: Any, is_covered: bool) -> None:
    assert covered(wanted, has) is is_covered
