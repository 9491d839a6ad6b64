"""`dcgmi health -c -j`: what DCGM's health watch says of each GPU."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import enclosed

HEADER = "Health Monitor Report"

WELL, STATES = "Healthy", frozenset({"Healthy", "Warning", "Failure"})

DEEPEST, MOST, LONGEST = 8, 500, 300


class Watched(NamedTuple):
    """What is not healthy: where in the report it stands ("GPU 0 Memory system"), and its words."""

    where: str
    words: str


def parse(text: str) -> tuple[Watched, ...]:
    """Return what is not healthy; EvidenceError for a report that does not tell the overall health."""
    raw = enclosed(text, ("header", "body"), "dcgmi health's report")
    header, body = raw.get("header"), raw.get("body")
    named = HEADER in header if isinstance(header, list) else header == HEADER
    overall = body.get("Overall Health") if isinstance(body, Mapping) else None
    said = overall.get("value") if isinstance(overall, Mapping) else overall
    if not named or not isinstance(body, Mapping) or said not in STATES:
        raise EvidenceError(
            f"dcgmi health's report has no overall health, expected one of {', '.join(sorted(STATES))}"
        )
    found = tuple(_bad({name: value for name, value in body.items() if name != "Overall Health"}, ()))[:MOST]
    return found or (() if said == WELL else (Watched("overall", str(said)),))


def _bad(value: Any, where: tuple[str, ...]) -> Iterator[Watched]:
    """Yield the innermost words of what is not healthy."""
    if len(where) > DEEPEST:
        return
    if not isinstance(value, Mapping):
        words = " ".join(str(value).split())[:LONGEST]
        if words not in {"", WELL, "None"}:
            yield Watched(" ".join(where), words)
        return
    children = value.get("children", value)
    inner = (
        {name: each for name, each in children.items() if name != "value"} if isinstance(children, Mapping) else {}
    )
    if inner and value.get("value") != WELL:
        for name, each in inner.items():
            yield from _bad(each, (*where, str(name)[:80]))
    elif "value" in value:
        yield from _bad(value["value"], where)
