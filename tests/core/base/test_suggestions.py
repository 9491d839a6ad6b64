"""Names that somebody may have meant."""

from difflib import get_close_matches

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.suggestions import AROUND, CLOSE, alike

MANY = [f"gpu-{number:05d}" for number in range(1, 10_001)]


@given(st.text("abc-12", max_size=8), st.lists(st.text("abc-12", max_size=8), max_size=AROUND, unique=True))
def test_of_few_names_all_are_compared(name: str, names: list[str]) -> None:
    assert alike(name, names) == get_close_matches(name, sorted(names), n=5, cutoff=CLOSE)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gpu-1", "gpu-00001"),
        ("gpu-0417", "gpu-00417"),
        ("gup-00417", "gpu-00417"),
        ("GPU-00417", "gpu-00417"),
        ("gpu00417", "gpu-00417"),
        ("gpu-00417x", "gpu-00417"),
        ("node-00417", "gpu-00417"),
    ],
)
def test_a_slip_is_understood_among_ten_thousand(typed: str, meant: str) -> None:
    assert alike(typed, MANY)[0] == meant


@pytest.mark.parametrize("typed", ["", "switch", "\u202e<script>", "g" * 253])
def test_what_is_like_nothing_means_nothing(typed: str) -> None:
    assert alike(typed, MANY) == []
