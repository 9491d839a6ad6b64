"""The analysis "lifetimes": how long parts live, what burn-in finds, how much nodes serve, what jobs must expect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fleet_runner.core.reliability.lifetimes import cohorts, serving
from fleet_runner.core.reliability.lifetimes.burn_in import Visit, burn_ins
from fleet_runner.core.reliability.lifetimes.fatal import called
from fleet_runner.core.reliability.lifetimes.jobs import expect
from fleet_runner.core.reliability.lifetimes.lives import lives
from fleet_runner.core.reliability.lifetimes.saying import DAY
from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.reliability.report.figures import Found
from fleet_runner.core.reliability.report.rows import Span
from fleet_runner.core.tickets.rma_cases import Case

SPAN = 365 * DAY
"""Seconds of service that are looked back on; parts' lives are told from all that is kept."""

JOBS = ((1, 8, 32, 128, 512), (24.0, 168.0, 720.0))
"""Nodes and hours of the jobs that are told of."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the analysis looks at.

    `found` are the stories of all nodes with what took them out; `born` says when each node's bring-up began, `types`
    its device type, `models` the model of parts by their serial numbers. `visits` are burn-ins.
    """

    stays: Sequence[Stay]
    episodes: Sequence[Episode]
    cases: Sequence[Case]
    found: Found
    visits: Sequence[Visit]
    now: float
    born: Mapping[str, float] = field(default_factory=dict[str, float])
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    models: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """What it came to: plain JSON, with numbers and the sentences that say them."""

    until: float
    kinds: Sequence[Mapping[str, Any]] = ()
    burn_in: Mapping[str, Any] = field(default_factory=dict[str, Any])
    service: Mapping[str, Any] = field(default_factory=dict[str, Any])
    jobs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cut: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return what is kept and shown."""
        return {
            "until": self.until,
            "span_days": SPAN / DAY,
            "sentences": [
                *(kind["sentence"] for kind in self.kinds),
                self.service["sentence"],
                self.jobs["sentence"],
            ],
            "kinds": list(self.kinds),
            "burn_in": dict(self.burn_in),
            "service": dict(self.service),
            "jobs": dict(self.jobs),
            "cut": self.cut,
        }


def analyse(given: Given) -> Lifetimes:
    """Tell all of it; whatever the data does not carry says so in its sentence, and its numbers are None."""
    span = Span(given.now - SPAN, given.now)
    watched = lives(given.stays, given.episodes, given.cases, given.born)
    jobs = serving.interruptions(given.found, span, given.now)
    nodes, hours = JOBS
    return Lifetimes(
        given.now,
        cohorts.kinds(watched, given.types, given.models),
        burn_ins(given.visits) | {"early": serving.early(given.found.stories, span, given.now)},
        serving.service(given.found, span, _gpus(given.stays), given.now),
        jobs | {"rows": [expect(jobs, size, length) for size in nodes for length in hours]},
        _left_out(given.stays),
    )


def _gpus(stays: Sequence[Stay]) -> dict[str, int]:
    """Return how many GPUs each node has: the places in which any was seen."""
    places: dict[str, set[str]] = {}
    for stay in stays:
        if stay.kind == "gpu":
            places.setdefault(stay.node, set()).add(stay.component)
    return {node: len(mine) for node, mine in places.items()}


def _left_out(stays: Sequence[Stay]) -> str:
    """Say of what no lives are told."""
    bare = sorted({called(stay.kind) for stay in stays if not stay.serial})
    return f"Left out, for their serial numbers are not known: {', '.join(bare)}." if bare else ""
