"""A machine is erased only if it is known to be the node."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.lifecycle.wipe.identity import HOLDS_SECONDS, stranger, term
from fleet_runner.core.lifecycle.wipe.reads import BOOT_ID, SERIALS, UPTIME
from tests.core.lifecycle.wipe.looks import reading

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


BOOT = "0c7b5d6e-2f5a-4b6e-9d3c-1a2b3c4d5e6f"


def running(boot: str = f"{BOOT}\n", uptime: str = "350735.47 234388.90\n") -> dict[str, Reading]:
    """Return which boot a machine says this is, and how old."""
    return dict([reading(BOOT_ID, boot), reading(UPTIME, uptime)])


def test_an_order_holds_in_the_boot_that_was_looked_at_and_not_for_long() -> None:
    assert term(running()) == {"boot": BOOT, "until": 350735.47 + HOLDS_SECONDS}
    assert term(running(uptime="12 3"))["until"] == 12 + HOLDS_SECONDS


@given(st.text() | st.just(BOOT), st.text() | st.text("0123456789. -e", max_size=9))
def test_without_a_boot_and_its_age_nothing_is_ordered(boot: str, uptime: str) -> None:
    with suppress(EvidenceError):
        found = term(running(boot, uptime))
        assert found["boot"] == BOOT
        assert HOLDS_SECONDS <= found["until"] == float(uptime.split(maxsplit=1)[0]) + HOLDS_SECONDS


def test_a_node_that_does_not_tell_which_boot_this_is_gets_no_order() -> None:
    for found in ({}, running(boot=""), running(uptime=""), running(uptime="soon")):
        with pytest.raises(EvidenceError, match="does not report which boot this is"):
            term(found)
