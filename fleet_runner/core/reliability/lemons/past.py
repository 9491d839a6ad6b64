"""How right the score was on the fleet's own past: what it said then, and what became of the nodes after.

A score as of a moment counts what was known before it; what followed within 30 days is looked at only to hold it
against: a part was replaced, a case was opened at a vendor, or the node went to triage or RMA.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.plural import counted
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.lemons.score import Score, Weighing, score
from fleet_runner.core.reliability.lemons.signals import NodeHistory, count, serving
from fleet_runner.core.reliability.parts.failures import DAY, Place, place
from fleet_runner.core.reliability.report.rows import Span

WINDOW, AFTER = 28.0, 30.0
"""Days that are counted, as Meta does, and days after, in which it shows."""

TIMES = 5
"""Moments that are looked back at, one every 30 days, so that no outcome is counted twice."""

MARKS = (4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0)

BAD = frozenset({State.TRIAGE, State.RMA})

NORMAL = 1.96
"""Standard deviations of an interval that holds the truth 95 times in 100."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How right a mark was: nodes that reached it, those of them that turned out bad, and all that did."""

    mark: float
    flagged: int
    right: int
    bad: int

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types; None where there is nothing to divide by."""
        row = {"mark": self.mark, "flagged": self.flagged, "right": self.right}
        return row | _share("precision", self.right, self.flagged) | _share("recall", self.right, self.bad)


@dataclass(frozen=True, slots=True)
class Proof:
    """What the past proves, of so many moments and nodes at them; `suggested` is what would have been suggested."""

    times: int
    nodes: int
    bad: int
    marks: tuple[Mark, ...]
    suggested: Mark

    @property
    def sentence(self) -> str:
        """Say it in words."""
        if not self.times or not self.bad:
            return "Not enough data to say how right this was: too little is kept, or no node turned out bad."
        told, kept = self.suggested, self.suggested.to_json()
        often = f"{self.times} times in the past" if self.times > 1 else "Once in the past"
        base = f"{100 * self.bad / self.nodes:.2g} % of all nodes did"
        if not told.flagged:
            nodes = counted(self.nodes, "node")
            return f"{often} nothing would have been suggested; of {nodes} {self.bad} turned out bad."
        interval = f"{100 * kept['precision_low']:.0f} to {100 * kept['precision_high']:.0f} %"
        return (
            f"{often} {counted(told.flagged, 'node')} would have been suggested, and {told.right} of them had a part"
            f" replaced, a case or triage within {AFTER:.0f} days ({100 * kept['precision']:.0f} %, {interval};"
            f" {base}); of {self.bad} that had, {told.right} would have been suggested"
            f" ({100 * kept['recall']:.0f} %)."
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "times": self.times, "days_after": AFTER, "nodes": self.nodes, "bad": self.bad,
            "base": self.bad / self.nodes if self.nodes else None, "sentence": self.sentence,
            "suggested": self.suggested.to_json(), "marks": [each.to_json() for each in self.marks],
        }  # fmt: skip


def prove(past: NodeHistory, since: float, now: float, weighing: Weighing) -> Proof:
    """Score nodes as of past moments, and hold that against what followed; nothing is known from before `since`."""
    flagged: dict[float, int] = defaultdict(int)
    right: dict[float, int] = defaultdict(int)
    times = nodes = bad = chosen = hit = 0
    for moment in moments(since, now):
        scores, serve = as_of(past, moment, weighing)
        turned = outcomes(past, Span(moment, moment + AFTER * DAY)) & serve
        times, nodes, bad = times + 1, nodes + len(serve), bad + len(turned)
        for each in scores:
            if each.node not in serve:
                continue
            for mark in MARKS:
                flagged[mark] += each.points >= mark
                right[mark] += each.points >= mark and each.node in turned
            chosen += each.suggested
            hit += each.suggested and each.node in turned
    marks = tuple(Mark(mark, flagged[mark], right[mark], bad) for mark in MARKS)
    return Proof(times, nodes, bad, marks, Mark(weighing.mark, chosen, hit, bad))


def moments(since: float, now: float) -> Iterator[float]:
    """Yield moments whose 28 days before and 30 days after are known, the newest first."""
    for number in range(1, TIMES + 1):
        moment = now - number * AFTER * DAY
        if moment - WINDOW * DAY >= since:
            yield moment


def as_of(past: NodeHistory, moment: float, weighing: Weighing) -> tuple[tuple[Score, ...], frozenset[str]]:
    """Return the scores as of a moment, and the nodes that served then: only those are suggested."""
    serve = frozenset(each.node for each in past.stories if serving(each, moment))
    return score(count(past, Span(moment - WINDOW * DAY, moment)), weighing, serve), serve


def outcomes(past: NodeHistory, after: Span) -> set[str]:
    """Return the nodes that turned out bad in a span."""
    found = {node for node, opened in past.cases.items() if any(map(after.holds, opened))}
    for story in past.stories:
        for each in story.exclusions:
            if after.holds(each.begins) and each.step.to in BAD:
                found.add(story.node)
    return found | _exchanged(past, after)


def _exchanged(past: NodeHistory, after: Span) -> set[str]:
    """Return the nodes in which another serial number came where one was known."""
    before: dict[Place, str] = {}
    found: set[str] = set()
    for stay in sorted((each for each in past.stays if each.serial), key=lambda each: (each.first_at, each.id)):
        if after.holds(stay.first_at) and before.get(place(stay), stay.serial) != stay.serial:
            found.add(stay.node)
        before[place(stay)] = stay.serial
    return found


def _share(name: str, part: int, whole: int) -> dict[str, float | None]:
    """Return a share with Wilson's interval (J. Am. Stat. Assoc. 22, 1927)."""
    if not whole:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    share, square = part / whole, NORMAL**2
    middle = (share + square / (2 * whole)) / (1 + square / whole)
    half = NORMAL / (1 + square / whole) * (share * (1 - share) / whole + square / (4 * whole**2)) ** 0.5
    rows: Sequence[tuple[str, float]] = (
        (name, share), (f"{name}_low", max(0.0, middle - half)), (f"{name}_high", min(1.0, middle + half))
    )  # fmt: skip
    return {key: round(value, 4) for key, value in rows}


def known_since(past: NodeHistory) -> float | None:
    """Return from when on nodes are known to have served; None where none is."""
    begins: Iterable[float] = (begins for story in past.stories for begins, _ in story.served)
    return min(begins, default=None)
