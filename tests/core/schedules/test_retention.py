"""What goes with time, and what stays whatever its age."""

import pytest

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.schedules.retention import (
    DAY,
    Artifact,
    Body,
    Pruned,
    RetentionLimits,
    Said,
    aged,
    bodies,
    since,
    size,
    thinned,
)

NOW = 1_000 * DAY
KEEP = RetentionLimits(
    evidence_days=30.0, evidence_bytes=1_000, sweeps_days=30.0, artifacts_days=30.0, signals_days=180.0
)
FOREVER = RetentionLimits(0.0, 0, 0.0, 0.0, 0.0)


def body(name: str, days: float, size: int = 10) -> Body:
    """A piece of evidence that was told so many days ago."""
    return Body(name, NOW - days * DAY, size)


def day(words: str, check: str = "xid", first: int = 1) -> list[Said]:
    """A node's results of a check on one day: P, F, U or S each."""
    verdicts = {each.value[0]: each for each in Verdict}
    return [Said(number, 100 + number, check, verdicts[word]) for number, word in enumerate(words, start=first)]


def test_evidence_goes_by_age_but_for_what_something_rests_on() -> None:
    found = [body("a", 40), body("b", 35), body("c", 29)]
    assert bodies(found, {"a"}, KEEP, 0, NOW) == (found[1],)


def test_evidence_goes_by_size_the_oldest_first_until_there_is_room() -> None:
    found = [body("a", 20), body("b", 19), body("c", 18), body("d", 17)]
    assert bodies(found, {"b"}, KEEP, 11, NOW) == (found[0], found[2])


def test_fresh_evidence_stays_however_much_there_is() -> None:
    assert bodies([body("a", 0.9)], (), KEEP, 10**9, NOW) == ()


def test_without_an_age_nothing_is_too_old() -> None:
    assert bodies([body("a", 999)], (), FOREVER, 0, NOW) == ()
    assert since(NOW, 0.0) == 0.0


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        ("PPPP", (2, 3, 4)),  # one a day stays
        ("PPFPP", (5,)),  # the neighbours of what differs stay
        ("FFFF", ()),  # faults all stay
        ("UUUU", ()),
        ("SSS", (2, 3)),
        ("PSPS", ()),  # no two are the same
        ("P", ()),
        ("", ()),
    ],
)
def test_of_what_a_sweep_said_the_same_one_a_day_stays(said: str, gone: tuple[int, ...]) -> None:
    assert thinned(day(said), ()) == gone


def test_results_that_are_named_elsewhere_stay() -> None:
    assert thinned(day("PPPP"), {3}) == (2, 4)


def test_each_check_keeps_its_own() -> None:
    assert thinned([*day("PPP"), *day("PP", "gpus", first=11)], ()) == (2, 3, 12)


def test_folders_go_by_age_but_for_those_that_must_stay() -> None:
    found = [Artifact("old", NOW - 31 * DAY, 5), Artifact("mine", NOW - 31 * DAY, 5), Artifact("new", NOW, 5)]
    assert aged(found, {"mine"}, NOW, 30.0) == (found[0],)
    assert aged(found, (), NOW, 0.0) == ()


def test_what_went_is_said_in_one_sentence() -> None:
    first = Pruned(evidence=2, evidence_bytes=3_000, alarms=1)
    both = first + Pruned(evidence=1, evidence_bytes=400, folders=1, folder_bytes=12, more=True)
    expected = "3 pieces of evidence (3.4 kB), 1 cleared alarms, 1 folders (12 B) went; there is more to do"
    assert both.sentence() == expected
    assert Pruned().sentence() == "nothing went"
    assert Pruned(asked=2).sentence() == "2 lines of the audit log went"
    assert Pruned(runs=1_234).sentence(would=True) == "1,234 of their runs would go"


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 B"), (999, "999 B"), (2_500_000, "2.5 MB"), (4e10, "40.0 GB"), (3.2e12, "3.2 TB")]
)
def test_bytes_are_said_as_people_say_them(count: float, said: str) -> None:
    assert size(count) == said
