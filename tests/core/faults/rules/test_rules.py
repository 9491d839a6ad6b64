"""What follows from a code: the last rule that names a field wins."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.built_in import BUILT_IN
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.rules.rule import Rule
from fleet_runner.core.faults.rules.rules import DEFAULT, FRESH, KEPT, Cap, Rules

DAY = 86_400.0


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("xid.79", Following(Remedy.POWER_CYCLE, at_once=True, quiet=2 * DAY)),
        ("xid.48", Following(Remedy.RESET, quiet=2 * DAY)),
        ("xid.140", Following(Remedy.RESET, quiet=2 * DAY)),
        ("xid.63", Following(Remedy.RECORD, quiet=2 * DAY)),
        ("xid.31", Following(Remedy.TRIAGE, repeats=2, within=DAY, quiet=2 * DAY)),
        ("xid.13", Following(Remedy.TRIAGE, repeats=5, within=DAY, quiet=2 * DAY)),
        ("xid.94", Following(Remedy.RECORD)),
        ("xid.74", Following(quiet=2 * DAY)),
        ("gpu.driver_stuck", Following(quiet=2 * DAY)),
        ("hca.queue_timeout", Following(Remedy.TRIAGE, repeats=20, within=DAY)),
        ("xid.154", Following(quiet=2 * DAY)),
        ("fabric_manager.down", Following(Remedy.RESTART)),
        ("alert.NodeDown", Following(Remedy.WATCH, quiet=DAY)),
        ("gpu.remap_failed", Following()),
    ],
)
def test_the_built_in_rules_say(code: str, expected: Following) -> None:
    """A row of the table a row; what no rule speaks of stays what the check proposes."""
    assert DEFAULT.of("any", code) == expected


def test_every_built_in_rule_says_where_it_comes_from() -> None:
    """A person who is asked why must be able to look it up."""
    assert all(rule.source for rule in BUILT_IN)


def test_a_later_rule_wins_field_by_field_and_by_device_type() -> None:
    """An override says only what differs."""
    mine = Rule(("xid.79",), ("dgx-*",), remedy=Remedy.REBOOT, source="policy.yml:3")
    rules = Rules((*BUILT_IN, mine))
    assert rules.of("dgx-h100", "xid.79") == replace(DEFAULT.of("dgx-h100", "xid.79"), remedy=Remedy.REBOOT)
    assert rules.of("sys-821ge", "xid.79") == DEFAULT.of("sys-821ge", "xid.79")
    said = rules.sayings("dgx-h100", "xid.79")
    assert (said["remedy"].source, said["at_once"].source) == (mine.source, DEFAULT.rules[3].source)


def test_no_rules_at_all_leave_what_is_proposed() -> None:
    """The defaults of what follows are those that the built-in rules name."""
    assert Rules(()).of("t", "gpu.hot") == Following() == DEFAULT.of("t", "gpu.hot")


@given(st.lists(st.text(max_size=20), max_size=30))
def test_what_is_remembered_is_the_same(codes: list[str]) -> None:
    """Asked twice, answered once."""
    rules = Rules()
    assert [rules.of("t", code) for code in codes] == [DEFAULT.of("t", code) for code in codes]


def test_senders_that_make_up_codes_fill_no_memory() -> None:
    """The answers to all of them are not kept."""
    rules = Rules((Rule(remedy=Remedy.WATCH),))
    assert all(rules.of("t", str(number)).remedy is Remedy.WATCH for number in range(KEPT + 10))
    assert rules.of("t", "0").remedy is Remedy.WATCH


def test_attempts_matter_as_long_as_anything_asks_for_them() -> None:
    """The longest of memory, caps, and a fresh boot."""
    assert DEFAULT.remembered() == 7 * DAY
    assert Rules(memory=60).remembered() == DAY
    assert Rules(memory=60, caps={Remedy.RESET: Cap(1, 60)}).remembered() == FRESH
