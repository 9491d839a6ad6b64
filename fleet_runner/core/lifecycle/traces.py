"""A run as a trace: how long it waited, its play, and when each check answered. What nodes said is no part of it.

The same run gives the same ids again, so that a backend that is told twice keeps one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from fleet_runner.core.base.printable import printable
from fleet_runner.core.lifecycle.runs import Outcome, Run, Stored

LONGEST = 200
"""Characters of a reason, which a person may have written."""

WELL = frozenset({Outcome.PASSED, Outcome.WORKING, Outcome.SKIPPED})
"""Outcomes that are no error."""


class Mark(NamedTuple):
    """A moment of a span: that a check answered."""

    name: str
    at: float
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time in a trace. `trace` has 128 bits, `id` and `parent` 64; times are epoch seconds."""

    name: str
    trace: int
    id: int
    parent: int | None
    began: float
    ended: float
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    marks: tuple[Mark, ...] = ()
    failed: bool = False


class Times(NamedTuple):
    """When a run's play began and was over; None where nobody knows."""

    began: float | None = None
    over: float | None = None


def spans(run: Run, times: Times, results: Iterable[Stored]) -> tuple[Span, ...]:
    """Return the spans of a run that has ended: its own first, then those within it."""
    if run.ended_at is None or run.outcome is None:
        return ()
    trace = _number(run, "trace", 16)
    whole = Span(
        f"stage {run.stage}", trace, _number(run, "run", 8), None, run.opened_at, max(run.opened_at, run.ended_at),
        _facts(run, run.outcome), failed=run.outcome not in WELL,
    )  # fmt: skip
    began = _within(whole, whole.began if times.began is None else times.began)
    over = max(began, _within(whole, whole.ended if times.over is None else times.over))
    marks = tuple(_mark(each) for each in results if whole.began <= each.at <= whole.ended)
    play = Span("play", trace, _number(run, "play", 8), whole.id, began, over, marks=marks)
    if times.began is None:
        return whole, play
    return whole, Span("waiting", trace, _number(run, "waiting", 8), whole.id, whole.began, began), play


def _facts(run: Run, outcome: Outcome) -> dict[str, str]:
    given = {
        "fleet.run": str(run.id),
        "fleet.node": run.node,
        "fleet.stage": run.stage.value,
        "fleet.outcome": outcome.value,
        "fleet.batch": run.batch,
        "fleet.by": run.by,
        "fleet.reason": run.reason,
    }
    return {name: printable(value)[:LONGEST] for name, value in given.items() if value}


def _mark(stored: Stored) -> Mark:
    result = stored.result
    return Mark(result.check, stored.at, {"fleet.check": result.check, "fleet.verdict": result.verdict.value})


def _within(whole: Span, at: float) -> float:
    """Return a moment as it lies in the run: clocks of several machines differ."""
    return min(max(at, whole.began), whole.ended)


def _number(run: Run, what: str, size: int) -> int:
    """Return an id. Numbers of runs begin anew in each store; with their node and moment they do not meet."""
    said = f"{what}/{run.id}/{run.node}/{run.opened_at!r}"
    return int.from_bytes(sha256(said.encode(errors="surrogatepass")).digest()[:size], "big") or 1
