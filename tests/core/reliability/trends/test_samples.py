"""Numbers are read from whatever was observed; nothing in it can do more than be counted."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.reliability.trends import samples
from fleet_runner.core.reliability.trends.metrics import METRICS, Kind, Metric
from fleet_runner.core.reliability.trends.samples import LONGEST, MOST, Sample


def metric(name: str, observed: str, unit: str = "count", part: str = "gpu") -> Metric:
    """A metric of one check."""
    return Metric(name, "nvlink", observed, unit, Kind.GAUGE, "high", 1, part, "what it is")


FOLLOWED = (
    metric("crc", "errors.*.+.CRC Errors"),
    metric("links", "links.*"),
    metric("all", "total", part="node"),
    metric("bad", "errors.*.+.Bad"),
)


def read(observed: dict[str, Any]) -> tuple[list[Sample], dict[str, int]]:
    """Read what a check observed."""
    left_out: dict[str, int] = {}
    return list(samples.read(samples.readers(FOLLOWED)["nvlink"], observed, left_out)), left_out


def test_links_are_added_up_for_their_gpu() -> None:
    links = {"0": {"CRC Errors": 3}, "1": {"CRC Errors": 4, "Other": 1}, "2": {}}
    assert read({"errors": {"1b": links}, "links": {"1b": 18, "9b": 17}, "total": 0}) == (
        [
            Sample("gpu", "GPU 1b", [(0, 7)]),
            Sample("gpu", "GPU 1b", [(1, 18)]),
            Sample("gpu", "GPU 9b", [(1, 17)]),
            Sample("node", "", [(2, 0)]),
        ],
        {},
    )


def test_what_is_no_number_is_counted_and_what_is_missing_is_not() -> None:
    strange = {"errors": {"1b": {"0": {"CRC Errors": "many"}}, "x" * (LONGEST + 1): {}}, "links": [3], "total": None}
    assert read(strange) == ([], {"garbage": 3})
    assert read({"links": {str(number): 1 for number in range(MOST + 1)}}) == ([], {"garbage": 1})
    assert read({"links": {"a\nb": 1, "1b": True, "9b": -1, "7b": float("nan"), "6b": 10**400}, "errors": 7}) == (
        [],
        {"garbage": 3, "absurd": 3},
    )
    assert read({"errors": {"1b": None, "9b": {"0": 3}}}) == ([], {})


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["gpus", "links", "errors", "counts", "celsius", "bad"]), JSON))
def test_nothing_that_is_observed_can_break_the_reader(observed: dict[str, Any]) -> None:
    for groups in samples.readers(METRICS).values():
        for sample in samples.read(groups, observed, {}):
            assert all(value == value for _, value in sample.numbers)  # noqa: PLR0124  NaN alone is not itself


def test_what_cannot_be_added_up_is_counted() -> None:
    """A whole number that no float can hold would raise, and end every night's look at the fleet."""
    links = {"0": {"CRC Errors": 10**400}, "1": {"CRC Errors": 1.5}}
    assert read({"errors": {"1b": links}}) == ([], {"absurd": 1})
    links = {"0": {"CRC Errors": float("nan")}, "1": {"CRC Errors": 1.5}}
    assert read({"errors": {"1b": links}}) == ([], {"absurd": 1})
