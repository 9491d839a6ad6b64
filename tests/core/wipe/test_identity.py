"""A machine is erased only if it is known to be the node."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.evidence import ReadEnd, Reading
from fleet_runner.core.wipe.identity import stranger
from fleet_runner.core.wipe.reads import SERIALS
from tests.core.wipe.looks import reading

NAMES = st.text("ab1", max_size=2)


def saying(product: str, chassis: str = "") -> dict[str, Reading]:
    """Return what a machine's firmware calls it."""
    return dict([reading(SERIALS[0], f"{product}\n"), reading(SERIALS[1], f"{chassis}\n")])


@given(NAMES, NAMES, NAMES, st.frozensets(NAMES))
def test_a_machine_that_says_another_serial_number_is_never_the_node(
    serial: str, product: str, chassis: str, own: frozenset[str]
) -> None:
    why = stranger(serial, own, saying(product, chassis))
    known = (bool(serial) and serial in {product, chassis}) or (not serial and bool(own))
    assert bool(why) is not known


def test_a_machine_whose_firmware_cannot_be_read_is_not_the_node() -> None:
    failed = dict([reading(SERIALS[0], "S1", rc=1), reading(SERIALS[1], "S1", end=ReadEnd.MISSING)])
    for found in ({}, failed):
        why = stranger("S1", (), found)
        assert "says serial nothing, the source of truth S1" in why


def test_capitals_and_blanks_do_not_matter_and_the_chassis_counts_as_well() -> None:
    assert stranger("Abc", (), saying(" aBC ")) == ""
    assert stranger("C1", (), saying("To be filled", "C1")) == ""
    assert "A and C, the source of truth B" in stranger("B", (), saying("A", "C"))
    assert "nothing says that this is it" in stranger("", (), saying("A"))
