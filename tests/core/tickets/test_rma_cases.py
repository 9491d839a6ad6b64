"""Cases at vendors: which part went out of which slot, and which came in."""

import pytest

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.inventory.records import Device, Fleet, Part
from fleet_runner.core.tickets.rma_cases import LONGEST, MOST_PARTS, Case, Replaced, elsewhere, exchanged, pairs, told

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


def a_fleet(**serials: dict[str, str | None]) -> Fleet:
    """Return a fleet of nodes whose parts have these serial numbers."""
    devices = {
        name: Device(
            name, "hgx", "gpu-server", "hall", parts=tuple(Part(each, "gpu", "H100", parts[each]) for each in parts)
        )
        for name, parts in serials.items()
    }
    return Fleet((), {}, {}, devices, ())


@pytest.mark.parametrize(
    ("came", "found"),
    [
        ({"GPU 1": "new"}, None),
        ({"GPU 1": "B"}, None),
        ({"GPU 1": "A"}, ("GPU 1", "A", "a GPU 0")),
        ({"GPU 1": "C"}, ("GPU 1", "C", "b GPU 0")),
        ({"GPU 0": "B", "GPU 1": "A"}, None),
        ({"GPU 0": "new", "GPU 1": "new"}, ("GPU 0", "new", "a GPU 1")),
        ({"GPU 2": "new", "GPU 3": "new"}, ("GPU 2", "new", "a GPU 3")),
        ({"port 0": "new", "port 1": "new"}, None),
    ],
)
def test_a_part_is_in_one_place(came: dict[str, str], found: tuple[str, str, str] | None) -> None:
    """In no other slot, and in no other device; two may change places, and one of two slots comes for both."""
    mine: dict[str, str | None] = {"GPU 0": "A", "GPU 1": "B", "GPU 2": None, "port 0": "P", "port 1": "P"}
    assert elsewhere(a_fleet(a=mine, b={"GPU 0": "C", "GPU 1": None}), "a", came) == found
