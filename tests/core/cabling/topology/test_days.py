"""Two days' sweeps, held against each other."""

import pytest

from fleet_runner.core.cabling.topology.days import DAY, begins, between, named
from fleet_runner.core.checks.verdicts import Finding, Remedy


def finding(key: str, message: str = "") -> Finding:
    return Finding("cabling.swap", "x", message, Remedy.RECABLE, key)


def test_faults_are_gone_new_or_still_there() -> None:
    found = between([finding("a"), finding("b")], [finding("b", "otherwise worded"), finding("c")])
    assert [each.fault for each in found.gone] == ["a"]
    assert [each.fault for each in found.new] == ["c"]
    assert found.still == (finding("b", "otherwise worded"),)


def test_a_day_begins_at_midnight_of_utc() -> None:
    assert begins("1970-01-02") == DAY
    assert named(2 * DAY - 1) == "1970-01-02"


@pytest.mark.parametrize("day", ["", "today", "2026-13-01", "2026-02-30", "١٢٣٤-01-01x", "2026-11-22T00:00"])
def test_what_is_no_day_is_none(day: str) -> None:
    assert begins(day) is None
