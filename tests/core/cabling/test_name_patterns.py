"""Names that mean each other by letters, by numbers or by their order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.name_patterns import candidates, glob, skeleton

GPUS = tuple(f"gpu-{number:02d}" for number in range(1, 12))


@pytest.mark.parametrize("form", ["GPU-{:02d}", "gpu_{:02d}.example.net", "gpu{}", "GPU-{}", "Gpu_{:03d}"])
def test_letters_in_another_form_are_one_way(form: str) -> None:
    told = [form.format(number) for number in range(1, 12)]
    assert candidates(GPUS, told) == (dict(zip(told, GPUS, strict=True)),)


@pytest.mark.parametrize("form", ["node{}", "dgx-b200-{:03d}.example.net", "rack7-{}-ib"])
def test_numbers_alone_are_one_way_where_both_count_alike(form: str) -> None:
    told = [form.format(number) for number in range(1, 12)]
    assert candidates(GPUS, told) == (dict(zip(told, GPUS, strict=True)),)


def test_numbers_that_begin_elsewhere_are_two_ways() -> None:
    """By number node1 is gpu-01, by order it is gpu-02: the cables decide."""
    by_number, by_order = candidates(GPUS, [f"node{number}" for number in range(11)])
    assert (by_number["node1"], by_order["node1"]) == ("gpu-01", "gpu-02")
    assert ("node0" in by_number, by_order["node0"]) == (False, "gpu-01")


def test_several_kinds_go_by_the_same_numbers_or_by_nothing() -> None:
    spines, leaves = ["spine-1", "spine-2"], ["leaf-1", "leaf-2", "leaf-3"]
    told = [*(f"s{number}" for number in (1, 2)), *(f"l{number}" for number in (1, 2, 3))]
    assert candidates([*spines, *leaves], told) == (dict(zip(told, [*spines, *leaves], strict=True)),)
    assert candidates(["a-1", "a-2", "b-1", "b-2"], ["x1", "x2", "y1", "y2"]) == ()
    assert candidates(["a-1", "a-2"], []) == ()


def test_two_names_that_mean_one_device_are_neither() -> None:
    assert candidates(["gpu-01"], ["GPU-01", "gpu_01"]) == ()
    assert candidates(["leaf-1"], ["sw7"]) == ({"sw7": "leaf-1"},)
    assert candidates(["leaf-1"], ["sw7", "sw8"]) == ()


def test_what_stands_for_devices_stands_for_no_other() -> None:
    assert glob(GPUS, [*GPUS, "leaf-1"]) == "gpu-*"
    assert glob(["gpu-01"], GPUS) == "gpu-01"
    assert glob(GPUS[:2], GPUS) == ""
    assert glob(["r1-leaf", "r2-leaf"], ["r1-spine"]) == "r*-leaf"
    assert glob(["aa", "a"], []) == "a*"
    assert skeleton("rack7-gpu-01") == "rack#-gpu-#"


@given(
    st.sets(st.text("gpuGPU-_.019", min_size=1, max_size=8)),
    st.sets(st.text("gpunode-_.019", min_size=1, max_size=8)),
)
def test_no_two_names_are_ever_one_device(designed: set[str], seen: set[str]) -> None:
    for way in candidates(designed, seen):
        assert len(set(way.values())) == len(way)
        assert way.keys() <= seen
        assert set(way.values()) <= designed
