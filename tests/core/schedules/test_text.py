"""A schedule's plan in words: the commonest forms of cron, and none that would be wrong."""

from dataclasses import replace

import pytest

from fleet_runner.core.schedules.schedule import Scope, schedule
from fleet_runner.core.schedules.text import words


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("never", "never"),
        ("every 30s", "every 30 s"),
        ("17 3 * * *", "every day at 03:17 (UTC)"),
        ("5 * * * *", "every hour at minute 5 (UTC)"),
        ("0 22 * * 5; Europe/Berlin", "every Friday at 22:00 (Europe/Berlin)"),
        ("0 22 * * 7", "every Sunday at 22:00 (UTC)"),
        ("30 6 1 * *", "on day 1 of every month at 06:30 (UTC)"),
        ("*/5 * * * *", "cron */5 * * * * (UTC)"),
        ("0 */2 * * *", "cron 0 */2 * * * (UTC)"),
        ("0 3 1 * 5", "cron 0 3 1 * 5 (UTC)"),
        ("0 3 1 1 *", "cron 0 3 1 1 * (UTC)"),
    ],
)
def test_a_plan_is_said_in_words_where_words_are_right(text: str, said: str) -> None:
    assert words(schedule("any", text), Scope.FLEET).partition(";")[0] == said


def test_the_spread_whose_it_is_and_the_rule_for_missed_moments_are_said() -> None:
    assert words(schedule("any", "17 3 * * *; jitter 1h; skip"), Scope.FLEET) == (
        "every day at 03:17 (UTC), spread over 60 min; one runner for the fleet; missed ones are skipped"
    )
    assert words(schedule("any", "every 4h", Scope.NODE), Scope.NODE).endswith(
        "spread over 4 h; each node at its own time; of missed ones one is made up for"
    )


def test_moments_of_another_kind_are_said_as_they_were_written() -> None:
    class Odd:
        """Moments that nobody has words for."""

        pause = 1.0

        def after(self, at: float) -> float:
            return at + 1.0

    assert words(replace(schedule("any", "every 5s"), text="odd", times=Odd()), Scope.RUNNER).startswith("odd; each")
