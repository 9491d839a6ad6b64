"""Which node a sender means."""

import pytest

from fleet_runner.core.faults.signals.places import LONGEST, MOST_UNKNOWN, OTHERS, Places
from tests.core.faults.signals.telling import signal

PLACES = Places.of(
    ("gpu-01", "gpu-02.hall-a.example", "gpu-03.hall-a.example", "gpu-03.hall-b.example", "7"),
    {"0002c9030060DC20": "gpu-01"},
)  # fmt: skip


@pytest.mark.parametrize(
    ("said", "node"),
    [
        ("gpu-01", "gpu-01"),
        ("GPU-01.", "gpu-01"),
        ("gpu-01.hall-a.example", "gpu-01"),
        ("gpu-02", "gpu-02.hall-a.example"),
        ("gpu-02.hall-a.example", "gpu-02.hall-a.example"),
        ("gpu-03.hall-b.example", "gpu-03.hall-b.example"),
        ("gpu-02.hall-a", "gpu-02.hall-a.example"),
        ("gpu-02.hall-a.example.internal", "gpu-02.hall-a.example"),
        ("gpu-02.hall-b.example", None),
        ("gpu-02.hall", None),
        ("gpu-02.hall-a.examples", None),
        ("gpu-03", None),
        ("gpu-03.hall-c.example", None),
        ("gpu-04", None),
        ("", None),
        (".example", None),
        ("7", "7"),
        ("7.1.2.3", None),
        ("0002c9030060dc20", "gpu-01"),
    ],
)
def test_a_host_is_a_node_by_its_name_or_by_what_is_before_the_first_dot(said: str, node: str | None) -> None:
    """If only one has that; an address is not a name, and another site's host is nobody here."""
    assert PLACES.find(said) == node


def test_strangers_are_counted_by_name() -> None:
    """Only so many of them by theirs, and never at length."""
    told = [signal(node="gpu-01.example"), *(signal(node=f"x{each}") for each in range(MOST_UNKNOWN + 5))]
    placed = PLACES.place([*told, signal(node="x1"), signal(node="gpu-01")])
    assert [each.node for each in placed.signals] == ["gpu-01", "gpu-01"]
    assert (len(placed.unknown), placed.unknown["x1"], placed.unknown[OTHERS]) == (MOST_UNKNOWN + 1, 2, 5)
    assert [len(each) for each in PLACES.place([signal(node="y" * 999)]).unknown] == [LONGEST]
