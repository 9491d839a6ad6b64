"""Faults become failures of the parts that were there."""

from dataclasses import replace

import pytest

from fleet_runner.core.reliability.parts.failures import DAY, ONE, doubled, failed, of_hardware
from fleet_runner.core.reliability.parts.stay import Episode, Stay

STAY = Stay(1, "gpu", "S1", "n1", "GPU 3", "GPU 3", 0.0, 100 * DAY)
FAULT = Episode(1, "n1", "GPU 3", "xid.79", "f", "gpu", "S1", DAY, DAY)


@pytest.mark.parametrize(
    ("code", "counts"),
    [("xid.79", True), ("xid.13", False), ("xid.9999", True), ("foresight.slot", False), ("gpu.missing", True),
     ("xid.²", True)],
)  # fmt: skip
def test_an_applications_own_xid_says_nothing_of_the_part(code: str, counts: bool) -> None:
    """Nor does what is foreseen: it would prove itself."""
    assert of_hardware(code) is counts


def test_faults_that_follow_each_other_are_one_failure() -> None:
    """A part that dies logs many codes; one that fails a month later failed twice."""
    soon, later = (replace(FAULT, id=at, code="xid.48", first_at=when, last_at=when)
                   for at, when in ((2, DAY + ONE), (3, 40 * DAY)))  # fmt: skip
    found = failed([STAY], [later, FAULT, soon])
    assert [(each.at, each.last_at, each.codes) for each in found.failures] == [
        (DAY, DAY + ONE, ("xid.79", "xid.48")), (40 * DAY, 40 * DAY, ("xid.48",)),
    ]  # fmt: skip


def test_a_fault_is_of_the_part_that_was_there_then() -> None:
    """By its serial number, else by time; of a link of a GPU it is the GPU."""
    after = replace(STAY, id=2, serial="S2", first_at=50 * DAY)
    link = replace(FAULT, component="GPU 3 NVLink 2", serial="", first_at=60 * DAY, last_at=60 * DAY)
    old = replace(FAULT, id=5, serial="S1", first_at=61 * DAY, last_at=61 * DAY)
    early = replace(FAULT, id=6, serial="", first_at=-DAY, last_at=-DAY)
    found = failed([after, STAY], [link, old, early])
    assert [each.stay.id for each in found.failures] == [1, 2, 1]


def test_what_is_of_no_part_is_counted() -> None:
    """Of an application, of another node, or of the node itself."""
    node = replace(STAY, id=9, component="")
    faults = [replace(FAULT, code="xid.13"), replace(FAULT, node="n2"), replace(FAULT, component="")]
    assert failed([STAY, node], faults).silences == {
        "faults of applications, not of parts": 1, "faults of no part that is followed": 2,
    }  # fmt: skip


def test_parts_that_fail_at_once_fail_with_their_node() -> None:
    """Power that goes takes them all, and says nothing of any one."""
    stays = [replace(STAY, id=at, serial=f"S{at}", component=f"GPU {at}") for at in range(3)]
    faults = [replace(FAULT, id=at, component=f"GPU {at}", serial=f"S{at}", first_at=DAY + at) for at in range(3)]
    found = failed(stays, faults)
    assert (found.failures, [*found.silences.values()]) == ((), [3])
    assert len(failed(stays, faults[:2]).failures) == 2


def test_a_serial_number_in_two_places_at_once_names_no_part() -> None:
    """One that moved, or that the old place told a little longer, does."""
    there = replace(STAY, id=2, node="n2", first_at=50 * DAY, last_at=60 * DAY)
    assert doubled([STAY, there]) == {("gpu", "S1")}
    assert doubled([STAY, replace(there, first_at=99 * DAY, last_at=200 * DAY)]) == frozenset()
    assert doubled([STAY, replace(there, serial=""), replace(there, node="n1", serial="S1")]) == frozenset()
