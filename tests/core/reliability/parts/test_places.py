"""Who is in which place is what parts told last; faults are one until they have been silent for long."""

from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.reliability.parts import identities
from fleet_runner.core.reliability.parts.events import MOST as MOST_FAULTS
from fleet_runner.core.reliability.parts.events import SILENCE, Episodes
from fleet_runner.core.reliability.parts.identities import Identity
from fleet_runner.core.reliability.parts.places import MOST, MOST_IN_A_PLACE, Places
from fleet_runner.core.reliability.parts.stay import Episode, Stay

GPU = "GPU 0000:1b:00.0"


def gpu(serial: str, slot: str = "") -> Identity:
    """A GPU in its place."""
    return Identity("gpu", GPU, serial, slot)


def test_a_stay_goes_on_over_nights_and_learns_its_slot() -> None:
    known = Stay(7, "gpu", "S-1", "gpu-01", GPU, "", 1.0, 2.0)
    places = Places("gpu-01", [known, Stay(8, "hca", "H", "gpu-01", "mlx5_0", "", 1.0, 2.0)], count(9))
    places.see(gpu("S-1", "SXM3"), 5.0)
    places.see(gpu("S-1"), 6.0)
    assert places.find("gpu", GPU, 4.0) == 7
    assert places.changed() == ((), (Stay(7, "gpu", "S-1", "gpu-01", GPU, "SXM3", 1.0, 6.0),))


def test_the_first_serial_number_adopts_the_place_and_the_next_leaves_it() -> None:
    places = Places("gpu-01", (), count(1))
    assert places.find("gpu", GPU, 1.0) == 1
    places.see(gpu("S-1"), 2.0)
    places.see(gpu("S-2"), 3.0)
    places.see(gpu("S-1"), 4.0)
    assert places.find("gpu", GPU, 5.0) == 3
    began, more = places.changed()
    assert more == ()
    assert [(stay.serial, stay.first_at, stay.last_at) for stay in began] == [
        ("S-1", 1.0, 2.0), ("S-2", 3.0, 3.0), ("S-1", 4.0, 5.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("component", "serial"),
    [(GPU, "S-1"), (f"{GPU} NVLink 3", "S-1"), ("GPU 0000:1b:00.01", ""), ("mlx5_0", ""), ("", "")],
)
def test_a_fault_is_that_of_the_part_it_is_about(component: str, serial: str) -> None:
    places = Places("gpu-01", [Stay(1, "hca", "", "gpu-01", "mlx5_0")], count(2))
    places.see(gpu("S-1"), 1.0)
    assert places.serial(component) == serial


@given(st.lists(st.sampled_from(["", "a", "b"]), max_size=20))
def test_no_stay_has_two_serial_numbers_and_none_ends_before_it_begins(told: list[str]) -> None:
    places = Places("gpu-01", (), count(1))
    for at, serial in enumerate(told, start=1):
        if serial:
            places.see(gpu(serial), at)
        else:
            places.find("gpu", GPU, at)
    began, _ = places.changed()
    changes = [serial for serial in told if serial]
    swaps = sum(one != other for one, other in pairwise(changes))
    assert len(began) == (swaps + 1 if told else 0)
    assert all(stay.first_at <= stay.last_at for stay in began)
    assert all(one.last_at < other.first_at for one, other in pairwise(began))


def fault(at: float, seen: int = 1, number: int = 0) -> Episode:
    """One sight of a fault."""
    return Episode(number, "gpu-01", GPU, "xid.79", "f", "xid", "S-1", at, at, seen)


def test_a_fault_goes_on_until_it_was_silent() -> None:
    befell = Episodes([fault(100.0, 3, 5)], count(6))
    befell.see(fault(100.0 + SILENCE))
    befell.see(fault(50.0))
    befell.see(fault(101.0 + 2 * SILENCE))
    began, more = befell.changed()
    assert [(each.id, each.first_at, each.last_at, each.seen) for each in more] == [(5, 50.0, 100.0 + SILENCE, 5)]
    assert [(each.id, each.first_at, each.seen) for each in began] == [(6, 101.0 + 2 * SILENCE, 1)]
    assert Episodes([fault(1.0, 1, 5)], count(6)).changed() == ((), ())


@pytest.mark.parametrize(
    ("check", "observed", "found"),
    [
        ("parts_gpu", {"parts": {GPU: {"serial": " S-1 ", "slot": "SXM3"}}}, [gpu("S-1", "SXM3")]),
        ("parts_gpu", {"parts": {GPU: {"serial": "S-1", "slot": 3}}}, [gpu("S-1")]),
        ("parts_nvme", {"serials": {"0000:65:00.0": "N"}}, [Identity("nvme", "NVMe 0000:65:00.0", "N", "")]),
        ("parts_hca", {"guids": {"mlx5_0": "a0"}}, [Identity("hca", "mlx5_0", "a0", "")]),
        ("parts_gpu", {"parts": {GPU: {"serial": ""}, "GPU 2": {"serial": 7}, "\x1b": {"serial": "x"}}}, []),
        ("parts_gpu", {"parts": [GPU]}, []),
        ("parts_gpu", {"serials": ["S-1"]}, []),
        ("xid", {"parts": {GPU: {"serial": "S-1"}}}, []),
    ],
)
def test_identities_are_read_where_checks_tell_them(
    check: str, observed: dict[str, Any], found: list[Identity]
) -> None:
    assert list(identities.read(check, observed)) == found


def test_a_part_that_is_another_at_each_look_is_not_believed_for_ever() -> None:
    places = Places("gpu-01", (), count(1))
    for at in range(2 * MOST_IN_A_PLACE):
        places.see(gpu(f"S-{at}"), float(at))
    began, _ = places.changed()
    assert (len(began), began[-1].serial) == (MOST_IN_A_PLACE, f"S-{MOST_IN_A_PLACE - 1}")
    assert began[-1].last_at == 2.0 * MOST_IN_A_PLACE - 1  # something is there still
    again = Places("gpu-01", began, count(MOST))
    again.see(gpu("S-new"), 1e6)
    assert again.changed()[0] == ()


def test_a_node_has_no_end_of_places() -> None:
    places = Places("gpu-01", (), count(1))
    found = [places.find("gpu", f"GPU {number}", 1.0) for number in range(MOST + 1)]
    assert found[-2:] == [MOST, None]
    places.see(gpu("S-1"), 2.0)
    assert len(places.changed()[0]) == MOST


def sight(number: int, at: float, node: str = "gpu-01") -> Episode:
    """One sight of one of many faults."""
    return Episode(0, node, f"GPU {number}", "xid.79", "f", "xid", "", at, at)


def test_a_node_has_no_end_of_faults() -> None:
    befell = Episodes((), count(1))
    assert all(befell.see(sight(number, 1.0)) for number in range(MOST_FAULTS))
    assert not befell.see(sight(MOST_FAULTS, 1.0))
    assert befell.see(sight(1, 2.0))
    assert befell.see(sight(1, 1.0, "gpu-02"))
    assert len(befell.changed()[0]) == MOST_FAULTS + 1


def test_a_clock_that_jumped_back_makes_no_fault_older() -> None:
    befell = Episodes((), count(1))
    for at in (100 * SILENCE, SILENCE, 99.5 * SILENCE):
        assert befell.see(sight(1, at))
    ((only,), _) = befell.changed()
    assert (only.first_at, only.last_at, only.seen) == (99.5 * SILENCE, 100 * SILENCE, 3)
