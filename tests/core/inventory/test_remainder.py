"""What can be used of a source of truth that contradicts itself in places: all but what is wrong, and why."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.inventory.consistency import Draft, Found, Remainder, problems, remainder
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Rack, Termination
from tests.core.inventory.test_consistency import draft_of
from tests.examples import examples

T = TypeVar("T")


class Page:
    """A place that is the same for all of a record's fields."""

    def __init__(self, kind: str, number: int) -> None:
        self.url = f"{kind}/{number}"

    def __call__(self, field: str = "") -> str:
        """The page."""
        del field
        return self.url


def found(kind: str, records: Iterable[T]) -> list[Found[T]]:
    """Records with a page each."""
    return [Found(record, Page(kind, number)) for number, record in enumerate(records, 1)]


def draft(
    devices: Iterable[Device],
    cables: Iterable[Cable] = (),
    racks: Iterable[Rack] = (),
    sites: Iterable[str] = ("hall",),
) -> Draft:
    """A draft of devices of one type."""
    kinds = [DeviceType("box", "Acme", "Box", 2.0)]
    every = found("devices", devices)
    return Draft(
        sites=found("sites", sites),
        roles=frozenset({"gpu-server", "leaf", "pdu"}),
        racks=found("racks", racks),
        device_types=found("types", kinds),
        devices=every,
        cables=found("cables", cables),
        notes=("as before",),
    )


PORTS = (Interface("1", "infiniband-ndr"), Interface("2", "infiniband-ndr"))
GPU = Device("gpu-1", "box", "gpu-server", "hall", interfaces=PORTS)
LEAF = Device("leaf-1", "box", "leaf", "hall", interfaces=PORTS)
OTHER = replace(LEAF, name="leaf-2")


def cable(a: str, b: str, *carriers: str) -> Cable:
    """A cable from port to port: "gpu-1 1"."""
    ends = [Termination(*end.split(" ")) for end in (a, b)]
    return Cable(ends[0], ends[1], carriers=carriers)


def rest(*devices: Device, cables: Iterable[Cable] = (), racks: Iterable[Rack] = ()) -> Remainder:
    return remainder(draft(devices, cables, racks), {})


def names(left: Remainder) -> list[str]:
    return [each.record.name for each in left.draft.devices]


NAMES = st.sampled_from(["gpu-1", "gpu-2", "leaf-1", "all", "pdu"])
TERMINATIONS = st.builds(Termination, NAMES, st.sampled_from("123"))
DEVICES = st.builds(
    Device,
    name=NAMES,
    device_type=st.sampled_from(["box", "none"]),
    role=st.sampled_from(["gpu-server", "leaf", "odd"]),
    site=st.sampled_from(["hall", "other"]),
    rack=st.sampled_from([None, "A1", "A2"]),
    position=st.sampled_from([None, 1.0, 2.0, 99.0]),
    oob_address=st.sampled_from([None, "192.0.2.1"]),
    interfaces=st.sampled_from([(), PORTS, (Interface("1", "x", guid="00000000000000aa"),)]),
    context=st.sampled_from([{}, {"fleet_device": 1, "mine": 2}]),
)
CABLES = st.builds(
    Cable,
    TERMINATIONS,
    TERMINATIONS,
    carriers=st.sampled_from([(), ("panel P",), ("panel P", "panel P")]),
    status=st.sampled_from(["connected", "loose"]),
)
RACKS = st.builds(
    Rack, st.sampled_from(["A1", "A2"]), st.sampled_from(["hall", "other", "none"]), st.integers(-1, 50)
)


@given(st.lists(DEVICES, max_size=5), st.lists(CABLES, max_size=5), st.lists(RACKS, max_size=3), st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_what_is_left_has_no_contradiction_and_what_is_left_out_is_told(
    devices: list[Device], cables: list[Cable], racks: list[Rack], twice: bool
) -> None:
    given_ = draft(devices, cables, racks, ("hall", "other", "hall") if twice else ("hall", "other"))
    left = remainder(given_, {"known": "why"}, [Termination("leaf-9", "1")])
    assert list(problems(left.draft)) == []
    assert {each.name for each in devices} | {"known"} == {*names(left), *left.unread}
    assert Termination("leaf-9", "1") in left.uncompared
    assert bool(left.told) or not list(problems(given_))
    here = set(names(left))
    for each in given_.cables:
        kept = any(other.where is each.where for other in left.draft.cables)
        ends = [end for end in (each.record.a, each.record.b) if end.device in here]
        assert kept or left.uncompared.issuperset(ends)


def test_a_draft_without_contradictions_stays_as_it_is() -> None:
    wanted = draft([GPU, LEAF], [cable("gpu-1 1", "leaf-1 1")])
    left = remainder(wanted, {})
    assert (left.draft, left.unread, left.uncompared, left.told) == (wanted, {}, frozenset(), ())


def test_two_nodes_with_one_bmc_address_are_both_left_out() -> None:
    one, two = (replace(GPU, name=f"gpu-{number}", oob_address="192.0.2.1") for number in (1, 2))
    left = rest(one, two, LEAF, cables=[cable("gpu-1 1", "leaf-1 1")])
    assert names(left) == ["leaf-1"]
    assert "BMC address '192.0.2.1' of 'gpu-1' is also that of 'gpu-2' at devices/2" in left.unread["gpu-1"]
    assert left.uncompared == {Termination("leaf-1", "1")}


def test_nodes_of_one_name_are_all_left_out_with_the_pages_of_all() -> None:
    left = rest(GPU, replace(GPU, serial="S2"), LEAF)
    assert names(left) == ["leaf-1"]
    assert left.unread["gpu-1"].startswith(
        "devices/1: 2 devices are called 'gpu-1' (devices/1, devices/2), and nothing distinguishes them"
    )


def test_of_namesakes_the_only_one_with_cables_is_kept_or_the_first() -> None:
    spare = replace(LEAF, role="pdu", interfaces=())
    left = rest(spare, LEAF, GPU, cables=[cable("gpu-1 1", "leaf-1 1")])
    assert [each.record.role for each in left.draft.devices] == ["leaf", "gpu-server"]
    assert (left.unread, len(left.draft.cables)) == ({}, 1)
    assert names(rest(spare, spare)) == ["leaf-1"]


def test_a_device_that_does_not_fit_into_its_rack_stays_and_has_no_place() -> None:
    racks = [Rack("A1", "hall", 10)]
    above, below = (replace(GPU, name=f"gpu-{number}", rack="A1", position=1.0 + number) for number in (1, 2))
    gone = replace(LEAF, rack="A9", position=1.0)
    left = rest(above, below, gone, racks=racks)
    assert [(each.record.rack, each.record.position) for each in left.draft.devices] == [
        ("A1", None),
        ("A1", None),
        (None, None),
    ]
    assert len(left.told) == 3


def test_a_rack_of_no_height_is_left_out_and_its_devices_have_none() -> None:
    left = rest(replace(GPU, rack="A1"), racks=[Rack("A1", "hall", 0)])
    assert (left.draft.racks, names(left)) == ([], ["gpu-1"])
    assert left.draft.devices[0].record.rack is None


def test_a_site_that_is_there_twice_is_one_site() -> None:
    left = remainder(draft([GPU, replace(LEAF, site="other")], sites=("hall", "hall", "other")), {})
    assert names(left) == ["gpu-1", "leaf-1"]
    assert [each.record for each in left.draft.sites] == ["hall", "other"]
    assert "it is taken for the same site" in left.told[0]


def test_a_device_type_that_cannot_be_used_takes_its_devices_away_and_no_others() -> None:
    taken = DeviceType(FABRIC_TYPES[0], "Acme", "Box", 1.0)
    wanted = draft([GPU, replace(LEAF, device_type=FABRIC_TYPES[0]), OTHER])
    left = remainder(replace(wanted, device_types=[*wanted.device_types, Found(taken, Page("types", 9))]), {})
    assert names(left) == ["gpu-1", "leaf-2"]
    assert f"types/9: device type '{FABRIC_TYPES[0]}' is what fleet-runner calls its own fabrics" in left.told[0]


def test_two_cables_at_one_port_are_both_left_out() -> None:
    left = rest(GPU, LEAF, cables=[cable("gpu-1 1", "leaf-1 1"), cable("gpu-1 1", "leaf-1 2")])
    assert left.draft.cables == []
    assert left.uncompared == {Termination(*each) for each in [("gpu-1", "1"), ("leaf-1", "1"), ("leaf-1", "2")]}


def test_a_carrier_that_is_in_two_sites_is_left_out_and_its_cables_stay() -> None:
    away = [replace(each, name=f"{each.name}0", site="other") for each in (GPU, LEAF)]
    cables = [cable("gpu-1 1", "leaf-1 1", "panel P"), cable("gpu-10 1", "leaf-10 1", "panel P")]
    cables.append(cable("gpu-1 2", "leaf-1 2", "panel Q"))
    left = remainder(draft([GPU, LEAF, *away], cables, sites=("hall", "other")), {})
    assert [each.record.carriers for each in left.draft.cables] == [(), (), ("panel Q",)]


def test_guids_that_two_interfaces_have_and_reserved_keys_are_passed_over() -> None:
    twin = (Interface("1", "infiniband-ndr", guid="00000000000000aa"), PORTS[1])
    left = rest(replace(GPU, interfaces=twin, context={"fleet_device": 1, "x": 2}), replace(LEAF, interfaces=twin))
    assert [each.record.interfaces[0].guid for each in left.draft.devices] == [None, None]
    assert left.draft.devices[0].record.context == {"x": 2}
    assert len(left.told) == 3


def test_a_source_whose_places_are_of_fields_is_refused() -> None:
    """There a problem cannot be given to its record."""
    kinds = {"box": DeviceType("box", "Acme", "Box", 1.0)}
    lines = draft_of(Fleet(("hall",), {}, kinds, {"gpu-1": GPU}, ()))
    with pytest.raises(SourceError, match="is in unknown site 'hall'"):
        remainder(replace(lines, sites=[]), {})
