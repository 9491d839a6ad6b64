"""Cases at vendors: which part went out of which slot, and which came in."""

import pytest

from fleet_runner.core.cases import LONGEST, MOST_PARTS, Case, Replaced, exchanged, pairs, told
from fleet_runner.core.errors import FleetError

CASE = Case(1, "gpu-01", "Acme", "C-7", "ann", 1.0, (Replaced("SXM4", "A"),))


def test_pairs_are_read_by_slot() -> None:
    """A slot's name may have a sign of its own."""
    assert pairs(["SXM4=A1", " GPU 0 = B2 ", "a=b=c"], "--in") == {"SXM4": "A1", "GPU 0": "B2", "a=b": "c"}


@pytest.mark.parametrize("given", [["SXM4"], ["=A"], ["SXM4="], ["A=1", "A=2"], ["x" * (LONGEST + 1) + "=1"]])
def test_what_is_no_pair_is_refused(given: list[str]) -> None:
    with pytest.raises(FleetError, match="expected SLOT=SERIAL"):
        pairs(given, "--in")


def test_what_came_in_is_kept_with_what_went_out() -> None:
    first = exchanged(CASE, {}, {"SXM4": "B"})
    assert first.parts == (Replaced("SXM4", "A", "B"),)
    assert exchanged(first, {"SXM5": "C"}, {}).parts == (Replaced("SXM4", "A", "B"), Replaced("SXM5", "C"))


def test_a_case_does_not_grow_without_end() -> None:
    with pytest.raises(FleetError, match="expected at most"):
        exchanged(CASE, {f"slot {at}": "x" for at in range(MOST_PARTS)}, {})


def test_a_part_is_told_by_what_is_known_of_it() -> None:
    assert told(Replaced("SXM4")) == "SXM4 (serial not known out)"
    assert told(Replaced("SXM4", "A", "B")) == "SXM4 (A out, B in)"
