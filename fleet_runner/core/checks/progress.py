"""How far a node's tests are, in one line: which runs, its share and what is left, and how many have ended."""

from collections.abc import Iterable

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.runs import Run, Stored
from fleet_runner.core.lifecycle.states import HOUR, MINUTE


def standing(latest: Iterable[Stored], run: Run) -> str:
    """Return "burn_in: gpu_burn 42 %, 27 h left; 3 of 7 tests ended" from what a run saw; "" where no test runs."""
    tests = [each.result for each in latest if each.run == run.id and _is_test(each.result)]
    going = [each for each in tests if each.observed.get("working") is True]
    running = next((each for each in going if number(each.observed.get("elapsed")) is not None), None)
    if running is None:
        return ""
    left = sum(max(0.0, _seconds(each, "seconds") - _seconds(each, "elapsed")) for each in going)
    asked = _seconds(running, "seconds")
    share = f" {min(1.0, _seconds(running, 'elapsed') / asked) * 100:.0f} %" if asked else ""
    return f"{run.stage}: {running.check}{share}, {_span(left)} left; {_ended(tests, going)}"


def _is_test(result: Result) -> bool:
    check = CHECKS.get(result.check)
    return check is not None and check.job is not None and result.verdict is not Verdict.SKIPPED


def _ended(tests: list[Result], going: list[Result]) -> str:
    bad = [each.check for each in tests if each not in going and each.verdict is not Verdict.PASS]
    without = f" ({', '.join(bad)} without an answer)" if bad else ""
    return f"{len(tests) - len(going)} of {len(tests)} {'test' if len(tests) == 1 else 'tests'} ended{without}"


def _seconds(result: Result, name: str) -> float:
    return number(result.observed.get(name)) or 0.0


def _span(seconds: float) -> str:
    if seconds >= 2 * HOUR:
        return f"{seconds / HOUR:.0f} h"
    return f"{seconds / MINUTE:.0f} min" if seconds >= 2 * MINUTE else f"{seconds:.0f} s"
