"""Lemons of the whole fleet: the scores of the last 28 days, and how right such scores were before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet_runner.core.base.plural import counted
from fleet_runner.core.reliability.forecasts import Foresight
from fleet_runner.core.reliability.lemons.past import WINDOW, Proof, as_of, known_since, prove
from fleet_runner.core.reliability.lemons.score import Score, Weighing, usual
from fleet_runner.core.reliability.lemons.signals import JOBS, Jobs, NodeHistory, count
from fleet_runner.core.reliability.lemons.weights import SIGNALS
from fleet_runner.core.reliability.parts.failures import DAY
from fleet_runner.core.reliability.report.rows import Span

LISTED = 200


@dataclass(frozen=True, slots=True)
class Lemons:
    """The scores of nodes; `absent` says of each signal that nobody tells why."""

    now: float
    nodes: int
    scores: tuple[Score, ...]
    usual: dict[str, float]
    weighing: Weighing
    proof: Proof
    absent: Mapping[str, str] = field(default_factory=dict[str, str])

    def foresights(self) -> tuple[Foresight, ...]:
        """Return the nodes for which triage is suggested."""
        return tuple(each.foresight(WINDOW, self.weighing.mark) for each in self.scores if each.suggested)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types: the nodes with the most points, and how many more have any."""
        mark = self.weighing.mark
        return {
            "since_at": self.now - WINDOW * DAY, "until_at": self.now, "days": WINDOW, "nodes": self.nodes,
            "mark": mark, "sentences": self._sentences(),
            "signals": [self._signal(name, known=name not in self.absent) for name in SIGNALS],
            "absent": [
                {"name": name, "sentence": f"{SIGNALS[name].meaning}: {why}"}
                for name, why in sorted(self.absent.items())
            ],
            "lemons": [each.to_json(WINDOW, mark) for each in self.scores[:LISTED]],
            "left_out": max(0, len(self.scores) - LISTED), "past": self.proof.to_json(),
        }  # fmt: skip

    def _signal(self, name: str, *, known: bool) -> dict[str, Any]:
        signal, weight = SIGNALS[name], self.weighing.weight(name)
        among = self.usual[name] if known else None
        words = {"name": name, "meaning": signal.meaning}
        return {**words, "weight": weight, "most": signal.most, "usual": among, "known": known}

    def _sentences(self) -> list[str]:
        if not self.nodes:
            return ["Not enough data: no node served in the last 28 days."]
        many = sum(each.suggested for each in self.scores)
        told = (
            f"Triage is suggested for {many:,} of {counted(self.nodes, 'node')}: {self.weighing.mark:g} points or"
            f" more in {WINDOW:.0f} days, and at most {100 * self.weighing.share:g} % of the fleet."
        )
        return [
            told,
            self.proof.sentence,
            *self._unheard(),
        ]

    def _unheard(self) -> list[str]:
        if self.absent.keys() >= JOBS:
            return [f"Jobs are not among the signals: {self.absent['jobs_of_many']}."]
        if why := self.absent.get("jobs_without"):
            return [f"Which nodes jobs leave out is not among the signals: {why}."]
        return []


def analyse(past: NodeHistory, now: float, weighing: Weighing, told: str = "", since: float | None = None) -> Lemons:
    """Score every node that served lately; `since` is the moment from which on rows were read, None for all.

    `told` says why nothing is known of jobs, "" where something is.
    """
    counted = count(past, Span(now - WINDOW * DAY, now))
    scores, _ = as_of(past, now, weighing)
    begins = max(known_since(past) or 0.0, since or 0.0)
    proof = prove(past, begins, now, weighing)
    return Lemons(now, len(counted), scores, usual(counted), weighing, proof, _absent(past.jobs, told))


def _absent(jobs: Jobs | None, told: str) -> dict[str, str]:
    if told:
        return dict.fromkeys(JOBS, told)
    return {"jobs_without": jobs.unsaid} if jobs is not None and jobs.unsaid else {}
