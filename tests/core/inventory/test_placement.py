"""Which runner reaches which node, and why a batch waits."""

from dataclasses import replace

import pytest

from fleet_runner.core.cabling.fabrics import Fabric
from fleet_runner.core.inventory.placement import (
    BatchSummary,
    Runner,
    apart,
    group,
    living,
    patterns,
    place,
    queue,
    reaches,
    reaches_all,
    waits,
)
from fleet_runner.core.inventory.records import Device, Fleet, Rack
from fleet_runner.core.inventory.switch import Switch, resumable

FLEET = Fleet(
    ("hall-a",),
    {"hall-a/R01": Rack("R01", "hall-a")},
    {},
    {
        "gpu-01": Device("gpu-01", "t", "gpu-server", "hall-a", "R01", 1.0),
        "gpu-02": Device("gpu-02", "t", "gpu-server", "hall-a"),
    },
    (),
    "1",
)
FABRICS = {"infiniband.hall-a": Fabric("infiniband.hall-a", "hall-a", frozenset(), ())}
PARCEL = BatchSummary("b-1", "verify", ("gpu-01",), ("hall-a/R01",), "", 0, 0.0, 10.0, 0.0)
EVERYWHERE = Runner("r1", "host", "1", (), 8)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("gpu-01", "hall-a/R01"), ("gpu-02", "hall-a"), ("infiniband.hall-a", "hall-a"), ("nobody", "")],
)
def test_a_node_is_in_its_rack_or_else_in_its_site(name: str, expected: str) -> None:
    assert place(FLEET, FABRICS, name) == expected


def test_places_are_read_with_commas_each_once() -> None:
    assert patterns(" hall-a, hall-b/r0*,,hall-a ") == ("hall-a", "hall-b/r0*")
    assert patterns("") == ()


@pytest.mark.parametrize(
    ("reach", "where", "expected"),
    [
        ((), "hall-a/R01", True),
        ((), "", True),
        (("hall-a",), "hall-a/R01", True),
        (("hall-a",), "hall-a", True),
        (("hall-a",), "hall-ab/R01", False),
        (("hall-*",), "hall-ab/R01", True),
        (("hall-b/r0*",), "hall-b/r07", True),
        (("hall-b/r0*",), "hall-b/r17", False),
        (("hall-b/*",), "hall-b", False),
        (("hall-a",), "", False),
    ],
)
def test_a_site_is_reached_with_its_racks_and_racks_by_themselves(
    reach: tuple[str, ...], where: str, expected: bool
) -> None:
    """A fabric and a node without a rack are a site's: who reaches only racks does not reach them."""
    assert reaches(reach, where) is expected


def test_the_queue_of_some_places_is_named_after_them_and_short_enough_for_postgresql_to_tell_of() -> None:
    """A channel has 63 bytes, of which the engine takes 23: a longer name would keep a batch from being made."""
    assert queue([]) == "anywhere"
    assert queue(["hall-1/r02", "hall-1/r01"]) == queue(["hall-1/r01", "hall-1/r02"]) == "hall-1/r01,hall-1/r02"
    many = [queue(f"hall-{'é' * 9}/r{rack:02}" for rack in range(least, 9)) for least in range(4)]
    assert len(set(many)) == 4
    assert all(len(name.encode()) <= 40 and name.startswith("hall-éééé") for name in many)


def test_all_places_of_a_batch_have_to_be_reached() -> None:
    assert reaches_all(("hall-a",), ("hall-a/R01", "hall-a/R02"))
    assert not reaches_all(("hall-a",), ("hall-a/R01", "hall-b/R02"))


def test_only_runners_that_were_heard_of_and_do_not_end_may_take() -> None:
    runners = (EVERYWHERE, replace(EVERYWHERE, id="r2", silent=31.0), replace(EVERYWHERE, id="r3", ending=True))
    assert [runner.id for runner in living(runners, 30.0)] == ["r1"]


def test_nodes_that_the_same_runners_reach_may_share_a_batch() -> None:
    runners = (EVERYWHERE, replace(EVERYWHERE, id="r2", places=("hall-b",)))
    assert group(runners, "hall-a/R01") == group(runners, "hall-a/R02") == {"r1"}
    assert group(runners, "hall-b/R01") == {"r1", "r2"}


def test_nodes_that_nobody_reaches_share_a_batch_with_their_own_place_alone() -> None:
    """Who comes back to reach one such place may not reach another."""
    runners = (replace(EVERYWHERE, places=("hall-a",)),)
    assert group(runners, "hall-c/R01") == group(runners, "hall-c/R01")
    assert group(runners, "hall-c/R01") != group(runners, "hall-d/R01")


@pytest.mark.parametrize(
    ("places", "reach", "expected"),
    [
        (("hall-a", "hall-b"), (("hall-a",), ("hall-b",)), True),
        (("hall-a", "hall-b"), (("hall-a",), ("hall-a", "hall-b")), False),
        (("hall-a", "hall-b"), (("hall-a",),), False),
        (("hall-a",), (), False),
        ((), (), False),
    ],
)
def test_a_batch_is_apart_whose_places_are_reached_by_several_runners_alone(
    places: tuple[str, ...], reach: tuple[tuple[str, ...], ...], expected: bool
) -> None:
    able = [replace(EVERYWHERE, places=each) for each in reach]
    assert apart(places, able) is expected


@pytest.mark.parametrize(
    ("parcel", "able", "paused", "expected"),
    [
        (PARCEL, (EVERYWHERE,), Switch("queue", 0.0, "ann", "a move"), "the queue is paused by ann: a move"),
        (PARCEL, (), None, "no runner is running; start one: fleet-runner serve"),
        (PARCEL, (replace(EVERYWHERE, places=("hall-b",)),), None, "no runner reaches hall-a/R01"),
        (
            replace(PARCEL, places=("",)),
            (replace(EVERYWHERE, places=("hall-b",)),),
            None,
            "no runner reaches a node without a place",
        ),
        (
            replace(PARCEL, places=("hall-a", "hall-b")),
            (replace(EVERYWHERE, places=("hall-a",)), replace(EVERYWHERE, places=("hall-b",))),
            None,
            "no runner reaches all of hall-a, hall-b",
        ),
        (PARCEL, (replace(EVERYWHERE, used=8),), None, "each runner that reaches it is at its limit: r1"),
        (PARCEL, (EVERYWHERE,), None, "a runner is about to take it"),
    ],
)
def test_it_is_said_why_a_batch_waits(
    parcel: BatchSummary, able: tuple[Runner, ...], paused: Switch | None, expected: str
) -> None:
    assert waits(parcel, able, paused) == expected


def test_it_is_said_how_a_paused_queue_goes_on() -> None:
    said = resumable(Switch("queue", 0.0, "ann", "a move"))
    assert said == "The queue is paused by ann: a move. To continue: fleet-runner queue resume"
