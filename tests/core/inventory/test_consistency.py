"""What a source of truth says against itself is found, and named on both sides."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.inventory.consistency import (
    ROLES,
    Draft,
    Found,
    Location,
    Problem,
    paired,
    problems,
    refusal,
    settle,
    show,
)
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Rack, Termination
from tests.examples import examples
from tests.fleets import fleets

T = TypeVar("T")


class Line:
    """A place in a file."""

    def __init__(self, file: str, line: int) -> None:
        self.file, self.line = file, line

    def __call__(self, field: str = "") -> str:
        """The line, and the field if one was asked for."""
        return f"{self.file}:{self.line}{'.' if field else ''}{field}"


def found(file: str, records: Iterable[T]) -> list[Found[T]]:
    """Records as found in a file, one per line."""
    return [Found(record, Line(file, number)) for number, record in enumerate(records, 1)]


def draft_of(fleet: Fleet, locations: Iterable[Location] = ()) -> Draft:
    """A fleet as if it had just been read."""
    standing = {Location(rack.location, rack.site) for rack in fleet.racks.values() if rack.location is not None}
    return Draft(
        sites=found("sites", fleet.sites),
        roles=ROLES,
        locations=found("locations", [*locations, *sorted(standing, key=str)]),
        racks=found("racks", fleet.racks.values()),
        device_types=found("types", fleet.device_types.values()),
        devices=found("devices", fleet.devices.values()),
        cables=found("cables", fleet.cables),
    )


PORTS = (Interface("ib0", "infiniband-ndr", guid="00000000000000aa"), Interface("ib1", "infiniband-ndr"))
TYPE = DeviceType("hgx", "Maker", "HGX", 8.0, PORTS)
SLIM = DeviceType("slim", "Maker", "Slim", 1.0, full_depth=False)
NODE = Device("gpu-1", "hgx", "gpu-server", "hall", rack="A1", position=1.0, oob_address="10.0.0.1", interfaces=PORTS)
LEAF = Device("leaf-1", "slim", "leaf", "hall", rack="A1", position=9.0, interfaces=(Interface("1", "other"),))
GOOD = draft_of(
    Fleet(
        sites=("hall",),
        racks={"hall/A1": Rack("A1", "hall", 20)},
        device_types={"hgx": TYPE, "slim": SLIM},
        devices={"gpu-1": NODE, "leaf-1": LEAF},
        cables=(Cable(Termination("leaf-1", "1"), Termination("gpu-1", "ib0")),),
    )
)


def devices(*records: Device) -> Draft:
    """The good draft with other devices and no cables."""
    return replace(GOOD, devices=found("devices", records), cables=[])


def shared(*ends: tuple[str, str], carrier: str = "trunk T-1") -> Draft:
    """Devices in two sites, and cables between them that all name one carrier."""
    ports = tuple(Interface(str(number), "other") for number in range(len(ends)))
    names = sorted({name for pair in ends for name in pair})
    boxes = [Device(name, "slim", "leaf", "hall" if name < "n" else "next", interfaces=ports) for name in names]
    made = [
        Cable(Termination(a, str(at)), Termination(b, str(at)), carriers=(carrier,)) for at, (a, b) in enumerate(ends)
    ]
    sites = found("sites", ["hall", "next"])
    return replace(GOOD, sites=sites, devices=found("devices", boxes), cables=found("cables", made))


def racks(*records: Rack) -> Draft:
    """The good draft with other racks and no devices."""
    return replace(GOOD, racks=found("racks", records), devices=[], cables=[])


def cables(*pairs: tuple[str, str, str, str]) -> Draft:
    """The good draft with other cables."""
    made = [Cable(Termination(a, a_port), Termination(b, b_port)) for a, a_port, b, b_port in pairs]
    return replace(GOOD, cables=found("cables", made))


def locations(*records: Location) -> Draft:
    """The good draft with locations."""
    return replace(GOOD, locations=found("locations", records))


@given(fleets())
@settings(max_examples=examples(60), deadline=None)
def test_a_fleet_that_makes_sense_has_no_problems_and_settles_into_itself(fleet: Fleet) -> None:
    draft = draft_of(fleet)
    assert list(problems(draft)) == []
    assert replace(settle(draft, "r"), revision="") == fleet


@given(fleets(), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_whatever_is_said_twice_is_found(fleet: Fleet, data: st.DataObject) -> None:
    draft = draft_of(fleet)
    kind = data.draw(st.sampled_from([name for name in ("sites", "racks", "devices") if getattr(draft, name)]))
    rows = getattr(draft, kind)
    again = Found(data.draw(st.sampled_from(rows)).record, Line("again", 7))
    told = [problem for problem in problems(replace(draft, **{kind: [*rows, again]})) if "already" in problem.text]
    assert [problem.where for problem in told] == ["again:7.name"]
    assert f"already defined at {kind}:" in told[0].text


def test_the_ends_of_a_cable_are_ordered() -> None:
    assert settle(GOOD, "").cables[0].a == Termination("gpu-1", "ib0")


@pytest.mark.parametrize(
    ("draft", "where", "said"),
    [
        (
            replace(GOOD, sites=found("sites", ["hall", "hall"])),
            "sites:2.name",
            "'hall' is already defined at sites:1",
        ),
        (racks(Rack("A1", "hal")), "racks:1.site", "rack 'A1' is in unknown site 'hal', expected 'hall'"),
        (racks(Rack("A1", "hall", 0)), "racks:1.u_height", "has 0 units, expected 1 to 100"),
        (racks(Rack("A1", "hall", 42, 1, "row")), "racks:1.location", "stands in unknown location 'row', and none"),
        (
            replace(GOOD, device_types=[*GOOD.device_types, *found("more", [replace(TYPE, slug="h-x")] * 2)]),
            "more:2.name",
            "device type 'h-x' is already defined at more:1",
        ),
        (
            replace(
                GOOD,
                device_types=[
                    *GOOD.device_types,
                    *found("more", [replace(TYPE, slug=slug) for slug in ("h-x", "h_x")]),
                ],
            ),
            "more:2.slug",
            "'h-x' and 'h_x' would share group device_type_h_x",
        ),
        (devices(replace(NODE, device_type="hgz")), "devices:1.device_type", "unknown device type 'hgz'"),
        (devices(replace(NODE, role="gpu-sever")), "devices:1.role", "unknown role 'gpu-sever', expected one of the"),
        (devices(replace(NODE, site="x")), "devices:1.site", "device 'gpu-1' is in unknown site 'x'"),
        (devices(replace(NODE, rack="B1")), "devices:1.rack", "in rack 'B1', which site 'hall' lacks, expected 'A1'"),
        (devices(replace(NODE, name="gpu 1")), "devices:1.name", "cannot be an Ansible host"),
        (devices(replace(NODE, name="localhost")), "devices:1.name", "cannot be an Ansible host"),
        (devices(replace(NODE, name="rack_A03")), "devices:1.name", "cannot be an Ansible host"),
        (devices(replace(NODE, name="state_rma")), "devices:1.name", "cannot be an Ansible host"),
        (devices(replace(NODE, context={"fleet_x": 1})), "devices:1.context", "sets 'fleet_x', which fleet-runner"),
        (devices(replace(NODE, rack=None)), "devices:1.position", "position 1 but no rack"),
        (devices(replace(NODE, position=0.5)), "devices:1.position", "would fill U0.5 to U7.5, rack 'A1' has U1 to"),
        (devices(replace(NODE, position=13.5)), "devices:1.position", "would fill U13.5 to U20.5"),
        (devices(replace(NODE, position=1.3)), "devices:1.position", "in halves"),
        (
            devices(NODE, replace(NODE, name="gpu-2", position=8.5, oob_address=None, interfaces=())),
            "devices:2.position",
            "device 'gpu-2' and device 'gpu-1' (devices:1.position) both fill U8.5 of rack 'A1'",
        ),
        (
            devices(replace(LEAF, face="front"), replace(LEAF, name="leaf-2", face="front")),
            "devices:2.position",
            "both fill U9",
        ),
        (
            devices(NODE, replace(NODE, name="gpu-2", position=9.0, interfaces=())),
            "devices:2.oob_ip",
            "BMC address '10.0.0.1' of 'gpu-2' is also that of 'gpu-1' at devices:1.oob_ip",
        ),
        (
            devices(NODE, replace(NODE, name="gpu-2", position=9.0, oob_address=None)),
            "devices:2.interfaces.ib0",
            "GUID 00000000000000aa of 'gpu-2 ib0' is also that of 'gpu-1 ib0'",
        ),
        (
            replace(devices(NODE), racks=found("racks", [Rack("A1", "hall", 4)])),
            "devices:1.position",
            "is 8 units high, rack 'A1' has 4",
        ),
        (cables(("gpu-1", "ib0", "gpu-1", "ib0")), "cables:1", "both ends of the cable are 'gpu-1 ib0'"),
        (cables(("gpu-2", "ib0", "leaf-1", "1")), "cables:1.a", "unknown device 'gpu-2', expected 'gpu-1', 'leaf-1'"),
        (cables(("gpu-1", "ib0", "leaf-1", "2")), "cables:1.b", "'2', an interface that device 'leaf-1' lacks"),
        (
            cables(("gpu-1", "ib0", "leaf-1", "1"), ("gpu-1", "ib1", "leaf-1", "1")),
            "cables:2.b",
            "'leaf-1 1' already has the cable of cables:1",
        ),
        (
            replace(GOOD, cables=found("cables", [replace(GOOD.cables[0].record, status="conected")])),
            "cables:1.status",
            "'conected', expected 'connected', 'decommissioning', 'planned'; did you mean 'connected'?",
        ),
        (
            replace(GOOD, cables=found("cables", [replace(GOOD.cables[0].record, carriers=("panel P", "panel P"))])),
            "cables:1.panel",
            "the cable names 'panel P' twice",
        ),
        (
            shared(("a", "b"), ("x", "y")),
            "cables:2.trunk",
            "'trunk T-1' is in site 'next' here and in 'hall' at cables:1; these are two things",
        ),
        (
            shared(("a", "b"), ("a", "b"), ("x", "y"), carrier="cage c"),
            "cables:3.cage",
            "'cage c' is in site 'next' here",
        ),
        (locations(Location("a", "hal")), "locations:1.site", "location 'a' is in unknown site 'hal'"),
        (
            locations(Location("a", "hall", "b")),
            "locations:1.parent",
            "'a' lies in unknown location 'b', expected 'a'",
        ),
        (locations(Location("a", "hall", "a")), "locations:1.parent", "location 'a' lies in 'a': a loop"),
        (
            locations(Location("a", "hall", "b"), Location("b", "hall", "c"), Location("c", "hall", "b")),
            "locations:2.parent",
            "location 'b' lies in 'c', in 'b': a loop",
        ),
    ],
)
def test_a_contradiction_is_found_once_where_it_is(draft: Draft, where: str, said: str) -> None:
    told = list(problems(draft))
    assert [problem.where for problem in told] == [where]
    assert said in str(told[0])


@pytest.mark.parametrize(
    "draft",
    [
        GOOD,
        shared(("a", "b")),
        shared(("a", "b"), ("x", "y"), ("a", "y")),
        devices(replace(LEAF, face="front"), replace(LEAF, name="leaf-2", face="rear")),
        devices(replace(LEAF, position=None)),
        devices(replace(LEAF, rack=None, position=None)),
        devices(replace(LEAF, name="a leaf: [1]")),
        devices(replace(LEAF, oob_address="10.0.0.1"), NODE),
        locations(Location("a", "hall"), Location("b", "hall", "a"), Location("c", "hall", "a")),
        racks(Rack("A1", "hall")),
    ],
)
def test_what_only_looks_odd_is_let_be(draft: Draft) -> None:
    assert list(problems(draft)) == []


def test_a_breakout_is_one_cable_and_uses_its_port_once() -> None:
    where = Line("cables", 1)
    ends = paired([Termination("leaf-1", "1")], [Termination("gpu-1", "ib0"), Termination("gpu-1", "ib1")])
    draft = replace(GOOD, cables=[Found(Cable(a, b), where) for a, b in ends])
    assert len(draft.cables) == 2
    assert list(problems(draft)) == []


@given(st.lists(st.integers(), max_size=4), st.lists(st.integers(), max_size=4))
def test_ends_are_paired_one_to_one_or_one_to_many(a: list[int], b: list[int]) -> None:
    pairs = paired(a, b)
    if len(a) == len(b):
        assert [list(side) for side in zip(*pairs, strict=True)] == ([a, b] if a else [])
    elif 1 in {len(a), len(b)}:
        assert len(pairs) == len(a) * len(b)
    else:
        assert pairs == []


def test_the_nearest_name_is_suggested() -> None:
    assert (
        str(Problem("f:1", "no 'gpu-sever'", "gpu-sever", ROLES)) == "f:1: no 'gpu-sever'; did you mean 'gpu-server'?"
    )
    assert str(Problem("f:1", "no 'zzz'", "zzz", ROLES)) == "f:1: no 'zzz'"


@pytest.mark.parametrize(("count", "lines"), [(1, 2), (2, 3), (20, 21), (21, 22), (500, 22)])
def test_a_refusal_tells_twenty_and_counts_the_rest(count: int, lines: int) -> None:
    said = str(refusal("site", (Problem(f"f:{number}", "bad") for number in range(count)))).splitlines()
    assert len(said) == lines
    assert said[0] == f"site: {count} problem{'s' if count > 1 else ''}; nothing was changed"
    assert (said[-1] == f"  ... and {count - 20} more") == (count > 20)


@given(st.text())
def test_what_is_shown_is_one_short_line_without_control_characters(text: str) -> None:
    shown = show(text)
    assert shown.isprintable()
    assert len(shown) <= 10 * 81 + 3


def test_other_values_can_be_shown() -> None:
    assert show(["a"]) == repr("['a']")
