"""A round of tests keeps the moment it began at, however many runs look at it."""

from typing import Any, cast

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.lifecycle import run_variables

PASSED, WORKING = Outcome.PASSED, Outcome.WORKING


class Looks:
    """A store that knows the looks at a node's tests, and counts how many were read."""

    def __init__(self, *outcomes: Outcome, by_hand: int = 0) -> None:
        """Take the outcomes, oldest first, ten seconds apart; so many of the last are of plays by hand."""
        last = len(outcomes) - by_hand
        self.known = [look(number, outcome, int(number < last)) for number, outcome in enumerate(outcomes)]
        self.read: list[int] = []

    def runs_of(self, _node: str, stage: Stage, limit: int) -> tuple[Run, ...]:
        """Return the newest ones."""
        assert stage is Stage.HEALTH_ACTIVE
        found = self.known[-limit:]
        self.read.append(len(found))
        return tuple(found)

    def began(self, since: float = 0.0) -> float:
        """Return when the round began that the next run looks at."""
        return run_variables._began(cast("Store", self), look(len(self.known), None), since)


def look(number: int, outcome: Outcome | None, fence: int = 1) -> Run:
    """A run that looks at tests."""
    more: dict[str, Any] = {"by": "runner", "reason": "", "outcome": outcome}
    return Run(number + 1, "gpu-01", Stage.HEALTH_ACTIVE, fence, "b", 10.0 * number, **more)


def test_a_round_of_ten_thousand_looks_began_with_its_first() -> None:
    looks = Looks(PASSED, *[WORKING] * 10_000)
    assert looks.began() == 10.0
    assert looks.read[:3] == [50, 500, 5_000]


@pytest.mark.parametrize("number", range(40, 62))
def test_where_what_was_read_ends_does_not_matter(number: int) -> None:
    assert Looks(*[PASSED] * 100, *[WORKING] * number).began() == 1000.0


def test_a_short_round_costs_few_rows() -> None:
    looks = Looks(*[PASSED] * 1_000, WORKING, WORKING)
    assert looks.began() == 10_000.0
    assert looks.read == [50]


def test_plays_by_hand_and_looks_before_the_node_came_to_its_state_do_not_count() -> None:
    assert Looks(PASSED, *[WORKING] * 100, by_hand=60).began() == 10.0
    assert Looks(*[WORKING] * 100).began(since=900.0) == 900.0
    assert Looks().began() == 0.0
