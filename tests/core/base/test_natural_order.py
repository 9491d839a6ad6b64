"""Names with numbers in them are in the order people expect."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.natural_order import natural


def test_ten_comes_after_two() -> None:
    assert sorted(["ib10", "ib2", "ib", "1", "10", "2", "a"], key=natural) == [
        "1",
        "2",
        "10",
        "a",
        "ib",
        "ib2",
        "ib10",
    ]


@given(st.lists(st.text("ab0129\u0661", max_size=6)))
def test_any_names_can_be_ordered(names: list[str]) -> None:
    keys = [natural(name) for name in sorted(names, key=natural)]
    assert keys == sorted(keys)


def test_a_number_may_be_longer_than_python_reads() -> None:
    assert natural("9" * 5000) > natural("8" * 5000)
