"""What is foreseen of one node, out of what stands and of what analyses of the whole fleet came to."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from fleet_runner.core.reliability.forecasts import Kind, StoredForecast
from fleet_runner.core.reliability.trends import stored
from fleet_runner.core.reliability.trends.answers import Ahead, Days, Expected, Scored

NEXT: Mapping[Kind, str] = MappingProxyType({
    Kind.SHIFT: "look at what changed in the node that day, then at what cools, powers or connects that part",
    Kind.TREND: "plan a look at what cools, powers or connects that part, before its mark is crossed",
    Kind.SPREAD: "look for a contact, a fan that hunts, or a power supply that is near its limit",
})  # fmt: skip
"""What to do; of other kinds the sentence says it."""

LINES = 5
"""Failures of a place or a part that are told, the newest."""


def ahead(
    node: str, standing: Iterable[StoredForecast], lemons: stored.Body | None, parts: stored.Body | None
) -> Ahead:
    """Return what is foreseen of a node, its score, and other parts of it that failed again and again."""
    foreseen = tuple(map(_expected, standing))
    told = {each.sentence for each in foreseen}
    mine = next((each for each in stored.rows(lemons, "lemons", "node", "sentence") if each["node"] == node), None)
    again = (each for name in ("slots", "parts") for each in stored.rows(parts, name, "node", "sentence"))
    others = (str(each["sentence"]) for each in again if each["node"] == node)
    return Ahead(
        foreseen,
        _scored(mine, stored.number(lemons or {}, "mark")) if mine is not None else None,
        tuple(each for each in others if each not in told),
    )


def _expected(each: StoredForecast) -> Expected:
    what, crossing = each.what, stored.crossing(each.what.numbers)
    failures = stored.rows(what.numbers, "lines", "sentence") if what.kind in {Kind.SLOT, Kind.PART} else []
    return Expected(
        what.kind,
        what.component,
        what.sentence,
        each.first_at,
        metric=what.metric,
        serial=what.serial,
        mark_in=Days(crossing.likely, crossing.soonest, crossing.latest) if crossing is not None else None,
        failures=tuple(str(row["sentence"]) for row in failures[-LINES:]),
        next=NEXT.get(what.kind, ""),
    )


def _scored(row: stored.Body, mark: float | None) -> Scored:
    lines = tuple(str(each["sentence"]) for each in stored.rows(row, "lines", "sentence"))
    points, sentence = stored.number(row, "points") or 0.0, str(row["sentence"])
    return Scored(points, mark, row.get("suggested") is True, sentence, lines)
