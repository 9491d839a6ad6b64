"""What stored results say about tomorrow: what is foreseen, and what each analysis came to.

The nightly analysis has made everything that is shown here but the lines of single parts; pages draw it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Annotated, NamedTuple

from fastapi import APIRouter, HTTPException, Path, Query, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from fleet_runner.adapters.plays import profiles
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.checks import baseline
from fleet_runner.core.reliability.forecasts import Analysis, Foresight, Kind
from fleet_runner.core.reliability.parts.stay import Stay
from fleet_runner.core.reliability.report.picture import bar
from fleet_runner.core.reliability.trends import picture, picture_heat, stored
from fleet_runner.core.reliability.trends.metrics import BY_NAME
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import Name
from fleet_runner.web.pages.node import known
from fleet_runner.web.rendering import page
from fleet_runner.web.series import DAYS, LONG, Series, series
from fleet_runner.web.site import Here, Site

router = APIRouter()

LISTED = 200
"""Things foreseen that one page shows."""

PARTS = 16
"""Parts of a node whose lines one page shows."""

KINDS: Mapping[Kind, str] = {
    Kind.SHIFT: "jumped, and its peers did not",
    Kind.TREND: "moves steadily towards its pass mark",
    Kind.SPREAD: "scatters more than before",
    Kind.SLOT: "one part after the other fails in this place",
    Kind.PART: "the same part fails wherever it is",
    Kind.LEMON: "causes more work than others",
}
"""What each kind of foresight means, as people read it."""

ANALYSES: tuple[tuple[str, str, str, str], ...] = (
    ("drift", "Drift", "", "parts that move away from their peers or towards a limit"),
    ("heat", "Heat", "", "how each slot compares with the others, metric by metric"),
    (
        "parts",
        "Parts and places",
        "/trends/lemons#again",
        "parts that fail wherever they are, and places where parts fail",
    ),
    ("lemons", "Lemons", "/trends/lemons", "nodes that cost more work than others"),
    ("lifetimes", "Lifetimes", "/trends/lifetimes", "how long parts live, and how many will fail next"),
    ("weeks", "Weeks", "/trends/weeks", "failures, repairs, bring-ups and service of the last 13 weeks"),
    ("worth", "Which checks pay", "/trends/checks", "what each check found, and what it costs"),
    ("limits", "Limits from evidence", "/trends/checks#limits", "pass marks that the fleet's own results propose"),
)
"""Every analysis: how it is kept, what it is called, the page that shows it, and what it tells."""

LABELS: Mapping[str, str] = {
    "gpu": "GPUs", "hca": "InfiniBand ports", "nic": "Ethernet ports", "optic": "Optics", "nvme": "NVMe drives",
    "dimm": "DIMMs", "psu": "Power supplies", "sensor": "Sensors of the BMC", "node": "Nodes", "place": "Places",
}  # fmt: skip
"""What people call each kind of part."""

CHECK = ("check", "first", "alone", "unconfirmed", "minutes_a_week", "sentence")
LIMIT = ("device_type", "key", "unit", "now", "proposed", "flagged", "flagged_nodes", "flagged_bad", "sentence")
"""What must be told of a check and of a limit for it to be shown."""

MetricName = Annotated[str, Path(max_length=100)]


class Made(NamedTuple):
    """An analysis as the fleet's page has it."""

    label: str
    url: str
    tells: str
    found: Analysis | None
    sentences: tuple[str, ...]


@router.get("/trends")
def trends(request: Request, here: Here, who: Sees, kind: Annotated[str, Query(max_length=20)] = "") -> HTMLResponse:
    """Show what is foreseen of the whole fleet, and how each slot stands to the rest."""
    made = _made(here)
    every = here.store.foresights(limit=1000)
    wanted = kind if kind in set(Kind) else ""
    shown = [each for each in every if not wanted or each.what.kind == wanted]
    drift, metrics = body(made["drift"].found), stored.rows(body(made["heat"].found), "metrics", *stored.HEATED)
    return page(
        request,
        who,
        "trends.html",
        made=made,
        kinds=KINDS,
        labels=LABELS,
        kind=wanted,
        counts=Counter(str(each.what.kind) for each in every),
        foreseen=shown[:LISTED],
        more=max(0, len(shown) - LISTED),
        tables=picture_heat.by_slot(metrics),
        single=sorted(str(each["metric"]) for each in metrics if len(each["slots"]) < 2),  # noqa: PLR2004  no other
        together=stored.rows(drift, "together", "sentence"),
        silences=stored.rows(drift, "silences", "sentence", "count"),
    )


@router.get("/trends/metrics/{name}")
def metric(request: Request, here: Here, who: Sees, name: MetricName) -> HTMLResponse:
    """Show one metric: what it was like day by day, who stands out, and each rack by its slots."""
    heat = here.store.analysis("heat")
    told = stored.metric_of(body(heat), name)
    if name not in BY_NAME and told is None:
        raise HTTPException(404, f"there is no metric {name!r}; /trends has those that are followed")
    return page(
        request,
        who,
        "trends-metric.html",
        metric=BY_NAME.get(name),
        name=name,
        told=told,
        at=heat.at if heat else None,
        bands=[(each["device_type"], each["parts"], pictured(picture.svg(stored.fleet(told or {}, each))))
               for each in stored.bands(told)],
        table=picture_heat.by_place(told) if told else None,
        foreseen=[each for each in here.store.foresights(limit=1000) if each.what.metric == name][:LISTED],
    )  # fmt: skip


@router.get("/trends/nodes/{name}")
def measured(request: Request, here: Here, who: Sees, name: Name) -> HTMLResponse:
    """Show every metric that parts of a node told of, each by its worst part; the pictures come one by one."""
    row, heat = known(here, name), here.store.analysis("heat")
    kinds = {stay.kind for stay in here.store.stays(node=name)}
    told = [
        metric
        for each in stored.rows(body(heat), "metrics", *stored.HEATED)
        if (metric := BY_NAME.get(str(each["metric"]))) is not None
        and metric.part in kinds
        and any(band["device_type"] == row.device_type for band in stored.bands(each))
    ]
    return page(request, who, "trends-node.html", row=row, heat=heat, metrics=told, labels=LABELS)


@router.get("/trends/nodes/{name}/metrics/{metric}")
def part(request: Request, here: Here, who: Sees, name: Name, metric: MetricName) -> HTMLResponse:
    """Show what the parts of a node told of a metric, between their peers; or one part of it."""
    row, component = known(here, name), request.query_params.get("component", "")[:200]
    stays = [each for each in here.store.stays(node=name) if component in {"", each.component}]
    seen = {each.what.component: each.what for each in here.store.foresights(node=name) if each.what.metric == metric}
    weekly = any(each.numbers.get("step_days", 1) > 1 for each in seen.values())
    days, found = series(here.store, metric, stays, LONG if weekly else DAYS)
    peers = stored.band(stored.metric_of(body(here.store.analysis("heat")), metric), row.device_type, days)
    mark = _mark(here, metric, row.device_type)
    ordered = sorted(found, key=lambda each: natural(called(each.stay)))
    if request.query_params.get("only") == "worst":
        ordered = _worst(ordered, metric)
    return page(
        request,
        who,
        "trends-part.html",
        row=row,
        metric=BY_NAME.get(metric),
        name=metric,
        drawn=[
            (each.stay, called(each.stay), _one(metric, days, each, (peers, mark), seen.get(each.stay.component)))
            for each in ordered[:PARTS]
        ],
        more=max(0, len(ordered) - PARTS),
        component=component,
        seen_of=seen,
    )


@router.get("/trends/checks")
def checks(request: Request, here: Here, who: Sees) -> HTMLResponse:
    """Show which checks find what, in how many minutes, and which limits good nodes would have."""
    worth, limits = here.store.analysis("worth"), here.store.analysis("limits")
    return page(
        request,
        who,
        "trends-checks.html",
        worth=worth,
        limits=limits,
        sentences=sentences(worth),
        checks=stored.rows(body(worth), "checks", *CHECK),
        most=max((each["first"] for each in stored.rows(body(worth), "checks", *CHECK)), default=0),
        bar=bar,
        schedules=stored.rows(body(worth), "schedules", "name", "sentence", "steps"),
        limit_sentences=sentences(limits),
        rows=stored.rows(body(limits), "limits", *LIMIT)[:LISTED],
    )


def _worst(found: list[Series], metric: str) -> list[Series]:
    """Return the part whose newest number is the worst; of a metric that may be bad both ways, the highest."""
    sign = -1 if metric in BY_NAME and BY_NAME[metric].worse == "low" else 1

    def newest(each: Series) -> float:
        return next((sign * value for value in reversed(each.own) if value is not None), -inf)

    return [max(found, key=newest)] if found else []


def called(stay: Stay) -> str:
    """Return what people call a place: by its slot where that is known."""
    named = stay.slot or stay.component or "the node"
    return f"{named} ({stay.component})" if stay.slot and stay.component else named


def _mark(here: Site, metric: str, device_type: str) -> float | None:
    """Return what a metric is held against; None where nothing is, or the profile cannot be read."""
    key = BY_NAME[metric].mark if metric in BY_NAME else ""
    try:
        return next(baseline.values(profiles.read(here.settings, device_type), key), None) if key else None
    except SettingsError:
        return None


def _one(
    name: str, days: range, found: Series, beside: tuple[picture.Band | None, float | None], seen: Foresight | None
) -> Markup:
    peers, mark = beside
    drawn = stored.trend(f"{name} of {called(found.stay)}", days, found.own, peers, seen)
    drawn = drawn if drawn.mark is not None else replace(drawn, mark=mark)
    unit = BY_NAME[name].unit if name in BY_NAME else ""
    return pictured(picture.svg(replace(drawn, unit=unit)))


def _made(here: Site) -> dict[str, Made]:
    """Return every analysis by its name."""
    found = {name: here.store.analysis(name) for name, *_ in ANALYSES}
    return {
        name: Made(label, url, tells, found[name], sentences(found[name])) for name, label, url, tells in ANALYSES
    }


def body(found: Analysis | None) -> stored.Body | None:
    """Return what an analysis came to; None where it was not made."""
    return found.body if found is not None else None


def sentences(found: Analysis | None) -> tuple[str, ...]:
    """Return what an analysis says in words."""
    return tuple(str(each) for each in stored.listed(body(found), "sentences"))


def pictured(svg: str) -> Markup:
    """Return a picture as part of a page: whatever is text in it was escaped where it was drawn."""
    return Markup(svg)  # noqa: S704  see there
