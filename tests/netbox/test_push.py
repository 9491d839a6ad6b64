"""Pushes into a stand-in NetBox: complete, repeated, interrupted, refused, and beside other people."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox import push as pushing
from fleet_runner.adapters.netbox.push import Pushed
from fleet_runner.adapters.netbox.refusals import LONGEST, said
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.netbox.push import Kind, Plan
from fleet_runner.core.inventory.records import Fleet, Management, Part  # fmt: skip
from tests import small_fleet
from tests.fleets import fleets
from tests.netbox.description import models
from tests.netbox.site import custom_fields, put
from tests.netbox.standin import TOKEN, Standin, serving
from tests.small_fleet import LEAF, PORTS

PATIENCE = netbox.Timeouts(connect_seconds=5, read_seconds=30, retries=0)
NODE = replace(small_fleet.NODE, primary_address="2001:db8::8", face="front")
FLEET = replace(
    small_fleet.FLEET,
    devices={**small_fleet.FLEET.devices, NODE.name: NODE},
    cables=(replace(small_fleet.FLEET.cables[0], id=None),),
)


def planned(standin: Standin, fleet: Fleet, token: str = TOKEN) -> Plan:
    """What a push would write."""
    with pushing.opened(standin.url, token, fleet, PATIENCE) as opened:
        return opened.plan(netbox.load(standin.url, token, PATIENCE))


def push(standin: Standin, fleet: Fleet, token: str = TOKEN) -> Pushed:
    """Push a fleet."""
    with pushing.opened(standin.url, token, fleet, PATIENCE) as opened:
        return opened.do(opened.plan(netbox.load(standin.url, token, PATIENCE)), lambda *_: None)


def bare(fleet: Fleet) -> Fleet:
    """A fleet without what only a source gives it."""
    return replace(fleet, cables=tuple(replace(cable, id=None) for cable in fleet.cables), revision="", notes=())


def with_node(**changes: Any) -> Fleet:
    """The fleet with its node changed."""
    return replace(FLEET, devices={**FLEET.devices, "gpu-1": replace(NODE, **changes)})


@pytest.fixture
def filled(standin: Standin) -> Standin:
    """A NetBox into which the fleet was pushed."""
    custom_fields(standin)
    assert push(standin, FLEET).conflicts == []
    return standin


def sensible(fleet: Fleet) -> Fleet:
    """A generated fleet as NetBox can have it: addresses at interfaces, a face for each position, models once."""
    types = {slug: replace(each, model=slug) for slug, each in fleet.device_types.items()}
    devices = {}
    for name, device in fleet.devices.items():
        found = device if device.interfaces else replace(device, oob_address=None, primary_address=None)
        placed = found.position is not None and not types[found.device_type].u_height
        devices[name] = replace(found, position=None if placed else found.position, face=found.face or "front")
    return replace(fleet, device_types=types, devices=devices)


@given(fleet=fleets())
@settings(max_examples=8, deadline=None, phases=[Phase.generate])
def test_what_is_pushed_is_what_is_read_and_a_second_push_writes_nothing(fleet: Fleet) -> None:
    fleet = sensible(fleet)
    with serving() as standin:
        custom_fields(standin)
        pushed = push(standin, fleet)
        assert (pushed.conflicts, pushed.waiting) == ([], 0)
        assert bare(netbox.load(standin.url, TOKEN, PATIENCE)) == fleet
        before = len(standin.changes)
        assert push(standin, fleet) == Pushed()
        assert len(standin.changes) == before
        assert standin.problems() == []


def test_a_push_that_was_cut_off_is_completed_by_the_next(standin: Standin) -> None:
    custom_fields(standin)
    for path in ("devices", "mac-addresses", "ip-addresses", "cables"):
        standin.fail(f"^POST /api/(dcim|ipam)/{path}/", lost=True)
        with pytest.raises(SourceError, match="are written; push again to continue"):
            push(standin, FLEET)
    assert push(standin, FLEET).conflicts == []
    assert bare(netbox.load(standin.url, TOKEN, PATIENCE)) == FLEET
    assert len(standin.rows("dcim/mac-addresses")) == 1
    assert len(standin.rows("ipam/ip-addresses")) == 2


def test_changes_are_written_and_only_they(filled: Standin) -> None:
    changed = with_node(
        serial="S2", rack=None, position=None, status="offline", management=Management.CUSTOMER,
        context={"a": {"c": 2}}, primary_address="2001:db8::9",
        parts=(Part("GPU 0", "gpu", "H100", "G9"), Part("HCA 0", "hca", "CX7")),
        interfaces=(PORTS[0], replace(PORTS[1], mac="02:00:00:00:00:02"), replace(PORTS[2], guid="0002c90300a1b2c4")),
    )  # fmt: skip
    before = len(filled.changes)
    assert push(filled, changed).conflicts == []
    paths = {change.path for change in filled.changes[before:]}
    assert not paths & {"dcim/racks", "dcim/cables", "dcim/sites", "dcim/device-types"}
    found = netbox.load(filled.url, TOKEN, PATIENCE).devices["gpu-1"]
    wanted = replace(changed.devices["gpu-1"], context={"a": {"b": 1, "c": 2}}, rack="A1", position=1.0)
    assert found == wanted
    assert planned(filled, changed).steps == ()


def test_one_that_netbox_refuses_keeps_nothing_else_from_being_written(standin: Standin) -> None:
    many = {f"pdu-{at}": replace(LEAF, name=f"pdu-{at}", role="pdu", interfaces=PORTS[:1]) for at in range(7)}
    many["pdu-3"] = replace(many["pdu-3"], status="nonsense", serial="S3", parts=NODE.parts)
    pushed = push(standin, replace(FLEET, devices=many, cables=()))
    assert len(pushed.conflicts) == 1
    assert pushed.conflicts[0].startswith("device pdu-3: NetBox refuses the change (HTTP 400: status: ")
    assert pushed.waiting == 1  # its part
    assert len(netbox.load(standin.url, TOKEN, PATIENCE).devices) == 6


def test_a_part_that_is_a_module_gets_its_serial_number_and_no_other_type(standin: Standin) -> None:
    put(standin, FLEET)
    parts = (Part("GPU 0", "gpu", "H100", "G9"), Part("HCA 0", "hca", "CX7", "C1"))
    assert push(standin, with_node(parts=parts)).conflicts == []
    assert netbox.load(standin.url, TOKEN, PATIENCE).devices["gpu-1"].parts == parts
    assert planned(standin, with_node(parts=parts)).steps == ()
    other = (Part("GPU 0", "gpu", "H200", "G9"), parts[1])
    assert push(standin, with_node(parts=other)).conflicts == [
        "part gpu-1 GPU 0 is a module in NetBox, whose type has another model; exchange it there"
    ]
    assert netbox.load(standin.url, TOKEN, PATIENCE).devices["gpu-1"].parts == parts


def test_a_new_part_whose_slot_is_a_module_bay_becomes_a_module_there(standin: Standin) -> None:
    """Its type is made once; of a kind that has no profile yet that is made as well."""
    put(standin, replace(FLEET, devices={**FLEET.devices, "gpu-1": replace(NODE, parts=())}))
    device = standin.row("dcim/devices", name="gpu-1")["id"]
    for bay in ("GPU 0", "GPU 1", "NIC 0"):
        standin.add("dcim/module-bays", device=device, name=bay)
    parts = (
        Part("DIMM 0", "dimm", "64G", "D0"),
        Part("GPU 0", "gpu", "H100", "G0"),
        Part("GPU 1", "gpu", "H100"),
        Part("NIC 0", "hca", "CX7", "C0"),
    )
    pushed = push(standin, with_node(parts=parts))
    assert (pushed.conflicts, pushed.done[Kind.PART]) == ([], 4)
    assert netbox.load(standin.url, TOKEN, PATIENCE).devices["gpu-1"].parts == parts
    assert len(standin.rows("dcim/modules")) == 3
    assert {row["model"] for row in standin.rows("dcim/module-types")} == {"H100", "CX7"}
    assert [row["name"] for row in standin.rows("dcim/inventory-items")] == ["DIMM 0"]
    assert planned(standin, with_node(parts=parts)).steps == ()


def test_nothing_is_written_into_devices_whose_name_several_have(standin: Standin) -> None:
    put(standin, FLEET)
    row = standin.row("dcim/devices", name="leaf-1")
    away = standin.add("dcim/sites", name="other", slug="other")
    twin = {key: row[key]["id"] for key in ("device_type", "role")}
    standin.add("dcim/devices", name="leaf-1", site=away, **twin)
    leaf = replace(LEAF, serial="L-9")
    pushed = push(standin, replace(FLEET, devices={**FLEET.devices, "leaf-1": leaf}))
    assert "device leaf-1: NetBox's record of it cannot be used" in pushed.conflicts[0]
    assert not [each for each in standin.rows("dcim/devices") if each["serial"] == "L-9"]


def test_a_customers_node_is_not_made_where_nothing_can_say_so(standin: Standin) -> None:
    with pytest.raises(SourceError, match="no custom field fleet_management, which gpu-1 needs; run fleet-runner"):
        push(standin, with_node(management=Management.CUSTOMER))
    assert standin.changes == []


def test_the_permission_that_is_missing_is_named(filled: Standin) -> None:
    may: dict[str, Any] = dict.fromkeys(("dcim.site", "dcim.rack", "dcim.location"), ("view",))
    with pytest.raises(SourceError, match="HTTP 403"):
        push(filled, FLEET, filled.token_of("nobody", may))
    may = {path.object_type: ("view",) for path in models().values()}
    with pytest.raises(SourceError, match=r"the permission dcim\.change_device"):
        push(filled, with_node(serial="S2"), filled.token_of("reader", may))


def test_what_somebody_else_changed_meanwhile_is_not_written_over(filled: Standin) -> None:
    number = filled.row("dcim/devices", name="gpu-1")["id"]
    fleet = with_node(serial="S2")
    with pushing.opened(filled.url, TOKEN, fleet, PATIENCE) as opened:
        found = opened.plan(netbox.load(filled.url, TOKEN, PATIENCE))
        filled.edit("dcim/devices", number, by="maria", serial="S9")
        pushed = opened.do(found, lambda *_: None)
    assert pushed.conflicts == ["device gpu-1: somebody else changed it meanwhile; push again"]
    assert filled.row("dcim/devices", name="gpu-1")["serial"] == "S9"


def test_addresses_that_somebody_else_gave_meanwhile_stay(filled: Standin) -> None:
    eth0 = (PORTS[0], replace(PORTS[1], mac="02:00:00:00:00:02"), PORTS[2])
    fleet = with_node(interfaces=eth0, primary_address="2001:db8::9", oob_address="192.0.2.8")
    device = filled.row("dcim/devices", name="gpu-1")["id"]
    port = filled.row("dcim/interfaces", name="eth0", device=device)["id"]
    mine = {"assigned_object_type": "dcim.interface", "assigned_object_id": port}
    free = filled.add("ipam/ip-addresses", address="192.0.2.8/24")
    with pushing.opened(filled.url, TOKEN, fleet, PATIENCE) as opened:
        found = opened.plan(netbox.load(filled.url, TOKEN, PATIENCE))
        mac = filled.add("dcim/mac-addresses", mac_address="02:00:00:00:00:77", **mine)
        filled.edit("dcim/interfaces", port, by="maria", primary_mac_address=mac)
        address = filled.add("ipam/ip-addresses", address="2001:db8::a/64", **mine)
        filled.edit("dcim/devices", device, by="maria", primary_ip6=address)
        leaf = filled.row("dcim/devices", name="leaf-1")["id"]
        theirs = filled.row("dcim/interfaces", name="eth0", device=leaf)["id"]
        taken = {**mine, "assigned_object_id": theirs}

        def take() -> None:
            if filled.requests[-1].path == "ipam/ip-addresses":
                filled.edit("ipam/ip-addresses", free, by="maria", **taken)

        filled.meanwhile = take
        pushed = opened.do(found, lambda *_: None)
    text = "somebody else changed it meanwhile; push again"
    assert sorted(pushed.conflicts) == [
        f"IP address gpu-1 oob: {text}",
        f"IP address gpu-1 primary: {text}",
        f"MAC address gpu-1 eth0: {text}",
    ]
    assert filled.row("ipam/ip-addresses", id=free)["assigned_object_id"] == theirs
    now = netbox.load(filled.url, TOKEN, PATIENCE).devices["gpu-1"]
    assert (now.primary_address, now.oob_address) == ("2001:db8::a", "192.0.2.7")
    assert now.interfaces[1].mac == "02:00:00:00:00:77"


def test_two_pushes_at_once_make_nothing_twice(standin: Standin) -> None:
    custom_fields(standin)
    standin.add("dcim/inventory-item-roles", name="gpu", slug="gpu")
    more = with_node(parts=(*NODE.parts, Part("GPU 1", "gpu", "H100", "G1")))
    for fleet in (FLEET, more):  # a new device, and one that is there
        has = netbox.load(standin.url, TOKEN, PATIENCE)
        with pushing.opened(standin.url, TOKEN, fleet, PATIENCE) as one:
            first = one.plan(has)
            with pushing.opened(standin.url, TOKEN, fleet, PATIENCE) as other:
                second = other.plan(has)
                assert one.do(first, lambda *_: None).conflicts == []
                assert other.do(second, lambda *_: None).done.get(Kind.PART, 0) == 0
        assert bare(netbox.load(standin.url, TOKEN, PATIENCE)) == fleet
        assert push(standin, fleet) == Pushed()


def test_a_change_right_before_the_write_is_seen_by_its_entity_tag(filled: Standin) -> None:
    number = filled.row("dcim/devices", name="gpu-1")["id"]
    edits = iter([lambda: filled.edit("dcim/devices", number, by="maria", serial="S9")])
    filled.meanwhile = lambda: next(edits, lambda: None)()  # noqa: PLW0108  another one each time
    assert push(filled, with_node(serial="S2")).conflicts == [
        "device gpu-1: somebody else changed it meanwhile; push again"
    ]
    assert filled.row("dcim/devices", name="gpu-1")["serial"] == "S9"


def test_an_address_that_is_there_is_used_and_one_of_somebody_else_is_a_conflict(standin: Standin) -> None:
    custom_fields(standin)
    standin.add("ipam/ip-addresses", address="192.0.2.7/24")
    standin.add("ipam/prefixes", prefix="2001:db8::/64")
    assert push(standin, FLEET).conflicts == []
    assert {row["address"] for row in standin.rows("ipam/ip-addresses")} == {"192.0.2.7/24", "2001:db8::8/64"}
    other = replace(LEAF, primary_address="192.0.2.7")
    [conflict] = push(standin, replace(FLEET, devices={"gpu-1": NODE, "leaf-1": other})).conflicts
    assert conflict.startswith("IP address leaf-1 primary: NetBox has 192.0.2.7 assigned to another object (#")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ('{"rack": ["Rack A1 does not belong to site hall."]}', "rack: Rack A1 does not belong to site hall"),
        ('[{}, {"__all__": ["No."]}]', "No"),
        (
            '{"__all__": ["Duplicate termination found for dcim.interface 12: cable 5"]}',
            "one of its ends already has cable #5 in NetBox; remove that cable in NetBox",
        ),
        (
            '{"position":["U1.0 is already occupied or does not have sufficient space to accommodate: X (8U)"]}',
            "position: no room in the rack from U1.0 upwards; move what is there",
        ),
        ("<html>\nno", "<html> no"),
        ("[" * 5000, "[" * LONGEST + "…"),
    ],
)
def test_what_netbox_refuses_is_said_in_plain_words(answer: str, told: str) -> None:
    assert said(answer) == told
