"""The part of a report that looks ahead: what is foreseen, who is a lemon, how long parts live, which checks pay."""

from importlib.resources import files
from typing import Any, NamedTuple

from markupsafe import Markup

from fleet_runner.adapters.store import Store
from fleet_runner.core.reliability.forecasts import Analysis, Kind, StoredForecast
from fleet_runner.core.reliability.trends import picture_heat, picture_lemons, picture_survival, stored
from fleet_runner.core.reliability.trends.picture_heat import Table

FORESEEN, LEMONS, KINDS, METRICS = 25, 12, 3, 12
"""Things foreseen, nodes, kinds of parts and metrics that a report tells of."""

LOUD = 1.5
"""Spreads from which a metric is worth a line of heat."""

ORDER = (Kind.LEMON, Kind.SLOT, Kind.PART, Kind.TREND, Kind.SHIFT, Kind.SPREAD)
"""What comes first: what costs most."""

NAMES = ("drift", "parts", "lemons", "lifetimes", "worth", "limits", "heat")


class Ahead(NamedTuple):
    """What analyses say: their sentences by name, what is foreseen, and the pictures."""

    said: dict[str, tuple[str, ...]]
    foreseen: tuple[StoredForecast, ...] = ()
    lemons: Markup | None = None
    signals: tuple[str, ...] = ()
    survival: tuple[tuple[str, str, Markup], ...] = ()
    heat: tuple[Table, ...] = ()


NOTHING = Ahead({})


def ahead(store: Store) -> Ahead:
    """Return what the newest analyses say."""
    found = {name: each for name in NAMES if (each := store.analysis(name)) is not None}
    bars = stored.bars(_body(found.get("lemons")))[:LEMONS]
    mark = stored.number(_body(found.get("lemons")), "mark")
    kinds = stored.rows(_body(found.get("lifetimes")), "kinds", "name", "sentence", "curve")
    metrics = [
        each for each in stored.rows(_body(found.get("heat")), "metrics", *stored.HEATED) if _apart(each) >= LOUD
    ]
    loudest = sorted(metrics, key=lambda each: -_apart(each))[:METRICS]
    every = store.foresights()
    return Ahead(
        {name: tuple(map(str, stored.listed(each.body, "sentences"))) for name, each in found.items()},
        tuple(sorted(every, key=lambda each: (ORDER.index(each.what.kind), -each.first_at))),
        _drawn(picture_lemons.svg(bars, mark, "Points")) if bars else None,
        picture_lemons.signals(bars),
        tuple(_survival(each) for each in kinds if stored.curve(each["curve"] or {}, "ages_days"))[:KINDS],
        picture_heat.by_slot(loudest),
    )


def plain(found: Ahead) -> dict[str, Any]:
    """Return it as a program takes it."""
    standing = [{**each.what.to_json(), "since": each.first_at} for each in found.foreseen[:FORESEEN]]
    return {"foreseen": standing, "analyses": {name: list(said) for name, said in found.said.items()}}


def sheet() -> Markup:
    """Return how the pictures look: as they do in pages."""
    text = files("fleet_runner.web").joinpath("static", "trends.css").read_text(encoding="utf-8")
    return Markup(text)  # noqa: S704  it is ours


def _body(found: Analysis | None) -> stored.Body:
    return found.body if found is not None else {}


def _apart(metric: stored.Body) -> float:
    slots = stored.rows(metric, "slots", "apart")
    return max((abs(stored.number(slot, "apart") or 0.0) for slot in slots), default=0.0)


def _survival(kind: stored.Body) -> tuple[str, str, Markup]:
    curve = stored.curve(kind["curve"], "ages_days")
    name = str(kind["name"])
    drawn = picture_survival.svg([curve] if curve else [], "days", f"{name} that live")
    return name, str(kind["sentence"]), _drawn(drawn)


def _drawn(svg: str) -> Markup:
    """Return a picture: whatever is text in it was escaped where it was drawn."""
    return Markup(svg)  # noqa: S704  see there
