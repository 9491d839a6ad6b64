"""The limits that a fleet's own past speaks for, by device type, each with what it would have flagged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fleet_runner.core.base.plural import counted
from fleet_runner.core.checks.baseline import LearnedLimit, Margin
from fleet_runner.core.inventory.profile import Profile
from fleet_runner.core.reliability.check_value.limits import Limit, Look, Replay, learn, replay
from fleet_runner.core.reliability.check_value.past import DAY
from fleet_runner.core.reliability.check_value.share import share

MOST_FLAGGED = 20
"""Flagged nodes that are told of by name, of each limit."""

MOST_OUTSIDE = 20

MOST_LIMITS = 500


@dataclass(frozen=True, slots=True)
class Fleet:
    """What is known of nodes: the type of each, which are good, and when which were taken out of service as bad."""

    device_types: Mapping[str, str]
    good: frozenset[str]
    bad: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Proposal:
    """One limit of one device type: what was learned, and what it and the limit of today would have flagged."""

    device_type: str
    limit: Limit
    learned: LearnedLimit
    then: Replay | None = None
    today: Replay | None = None

    @property
    def changes(self) -> bool:
        """Whether it would change anything."""
        return self.learned.mark is not None and self.learned.mark != self.learned.now

    @property
    def sentence(self) -> str:
        """Return what a person reads, from the limit to those whom it would have flagged."""
        each, unit = self.learned, self.limit.metrics[0].unit
        name = f"{self.limit.key} of {self.device_type}"
        if each.mark is None or self.then is None:
            return f"{name}: {each.why}"
        instead = "" if each.now is None else f" instead of {each.now:g}"
        least = "least" if self.limit.higher else "most"
        known = share(len(each.outside), each.nodes)
        return (
            f"{name}: at {least} {each.mark:g} {unit}{instead if self.changes else ', as today'}; at their worst"
            f" {each.nodes} good nodes had {each.median:.3g} ± {each.deviation:.2g}, {len(each.outside)} of them are"
            f" outside (at most {known.high:.1%} of good nodes are); {_flagged(self.then)}"
        )


def propose(
    limit: Limit, looks: Sequence[Look], fleet: Fleet, profiles: Mapping[str, Profile]
) -> tuple[Proposal, ...]:
    """Learn a limit for each device type with a profile that was looked at, and hold all looks at it against both."""
    by_type: dict[str, list[Look]] = {}
    for each in looks:
        by_type.setdefault(fleet.device_types.get(each.node, ""), []).append(each)
    return tuple(
        _proposal(kind, limit, mine, fleet, profiles[kind])
        for kind, mine in sorted(by_type.items())
        if kind in profiles
    )


def _proposal(kind: str, limit: Limit, mine: Sequence[Look], fleet: Fleet, profile: Profile) -> Proposal:
    learned = learn(limit, [each for each in mine if each.node in fleet.good], profile, Margin())
    then = None if learned.mark is None else replay(limit, learned.mark, mine, fleet.bad)
    today = None if learned.now is None else replay(limit, learned.now, mine, fleet.bad)
    return Proposal(kind, limit, learned, then, today)


def analyse(
    looks: Mapping[Limit, Sequence[Look]], fleet: Fleet, profiles: Mapping[str, Profile], span: tuple[float, float]
) -> "Limits":
    """Propose limits from the looks of a span, given from when to when; those first that change most for nodes."""
    found = [each for limit, mine in looks.items() for each in propose(limit, mine, fleet, profiles)]
    found.sort(key=lambda each: (not each.changes, each.learned.mark is None, each.device_type, each.limit.key))
    return Limits(*span, len(fleet.good), tuple(found))


@dataclass(frozen=True, slots=True)
class Limits:
    """All proposals, from looks in a span."""

    since: float
    until: float
    good: int
    proposals: tuple[Proposal, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return what a person reads first."""
        told = [each for each in self.proposals if each.learned.mark is not None]
        changed = [each for each in told if each.changes]
        if not told:
            return (f"No limit could be learned from {counted(self.good, 'good node')}.",)
        hits = [hit for each in changed if each.then for hit in each.then.flagged]
        flagged, bad = {hit.node for hit in hits}, {hit.node for hit in hits if hit.bad_at is not None}
        days = f"In the last {(self.until - self.since) / DAY:.3g} days"
        learned, nodes = counted(len(told), "limit"), counted(len(flagged), "node")
        return (
            f"{learned} could be learned from {counted(self.good, 'good node')}; {len(changed)} would change.",
            f"{days} those would have flagged {nodes}; {len(bad)} of them turned out bad afterwards.",
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        kept = self.proposals[:MOST_LIMITS]
        return {
            "since_day": _day(self.since),
            "until_day": _day(self.until),
            "days": (self.until - self.since) / DAY,
            "good": self.good,
            "sentences": list(self.sentences),
            "limits": [_plain(each) for each in kept],
            "cut": len(self.proposals) - len(kept),
        }


def _plain(each: Proposal) -> dict[str, Any]:
    learned, then = each.learned, each.then
    outside = None if learned.mark is None else share(len(learned.outside), learned.nodes)
    flagged = sorted(then.flagged, key=lambda hit: (hit.bad_at is None, -hit.looks, hit.node)) if then else []
    return {
        "device_type": each.device_type,
        "metric": each.limit.metrics[0].name,
        "key": each.limit.key,
        "check": each.limit.check,
        "unit": each.limit.metrics[0].unit,
        "side": "least" if each.limit.higher else "most",
        "now": learned.now,
        "proposed": learned.mark,
        "changes": each.changes,
        "median": learned.median,
        "deviation": learned.deviation,
        "nodes": learned.nodes,
        "numbers": learned.numbers,
        "outside": list(learned.outside[:MOST_OUTSIDE]),
        "outside_share": outside and outside.value,
        "outside_high": outside and outside.high,
        "flagged": [
            {"node": hit.node, "looks": hit.looks, "of": hit.of, "worst": hit.worst, "first_day": _day(hit.first_at),
             "bad": hit.bad_at is not None}
            for hit in flagged[:MOST_FLAGGED]
        ],
        "flagged_nodes": len(flagged),
        "flagged_bad": then.bad if then else 0,
        "others_nodes": then.nodes - len(flagged) if then else 0,
        "others_bad": then.others_bad if then else 0,
        "today_nodes": len(each.today.flagged) if each.today else None,
        "today_bad": each.today.bad if each.today else None,
        "why": learned.why,
        "sentence": each.sentence,
    }  # fmt: skip


def _flagged(then: Replay) -> str:
    if not then.flagged:
        return f"it would have flagged none of {counted(then.nodes, 'node')}"
    others = then.nodes - len(then.flagged)
    others_bad = f"({then.others_bad} of the {others} others did)"
    told = f"it would have flagged {len(then.flagged)} of {counted(then.nodes, 'node')}"
    return f"{told}, {then.bad} of which turned out bad afterwards {others_bad}"


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
