"""How long parts live and nodes serve, and what burn-in catches: curves with their intervals."""

from collections.abc import Iterable
from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from fleet_runner.core.reliability.lifetimes.saying import amount, percent
from fleet_runner.core.reliability.report.picture import bar
from fleet_runner.core.reliability.trends import picture_survival, stored
from fleet_runner.core.reliability.trends.picture_survival import Curve
from fleet_runner.web.access import Sees
from fleet_runner.web.pages.trends import body, pictured, sentences
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here

router = APIRouter()

CAUSES, JOBS = 20, 40
"""Causes of lost time, and jobs, that are shown."""


class Kind(NamedTuple):
    """A kind of part: its words, the picture of its survival, and its cohorts beside each other."""

    name: str
    told: stored.Body
    drawn: Markup | None
    cohorts: tuple["Cohorts", ...]


class Cohorts(NamedTuple):
    """How cohorts of one kind differ: "device type", what is said of them, one by one, and their curves."""

    by: str
    sentence: str
    rows: tuple[str, ...]
    drawn: Markup | None


@router.get("/trends/lifetimes")
def lifetimes(request: Request, here: Here, who: Sees) -> HTMLResponse:
    """Show how long parts live, what burn-in catches, and what a job of many nodes has to expect."""
    found = here.store.analysis("lifetimes")
    told = body(found) or {}
    burn_in, service, jobs = (stored.part(told, name) for name in ("burn_in", "service", "jobs"))
    causes = stored.rows(service, "causes", "cause", "gpu_hours", "exclusions", "sentence")[:CAUSES]
    burning = stored.curve(stored.part(burn_in, "curve"), "ages_hours")
    return page(
        request,
        who,
        "trends-lifetimes.html",
        found=found,
        sentences=sentences(found),
        kinds=[_kind(each) for each in stored.rows(told, "kinds", "name", "sentence")],
        burn_in=burn_in,
        burning=_drawn([burning] if burning else [], "hours", "Nodes in burn-in without a fault"),
        lengths=[*stored.rows(burn_in, "rows", "sentence"), *_early(burn_in)],
        service=service,
        causes=causes,
        most=max((each["gpu_hours"] or 0 for each in causes), default=0),
        bar=bar,
        amount=amount,
        percent=percent,
        jobs=jobs,
        expected=stored.rows(jobs, "rows", "nodes", "hours", "expected", "none_chance", "sentence")[:JOBS],
        cut=str(told.get("cut") or ""),
    )


def _kind(told: stored.Body) -> Kind:
    curve = stored.curve(stored.part(told, "curve"), "ages_days")
    cohorts = tuple(_cohorts(each, str(told["name"])) for each in stored.rows(told, "cohorts", "by", "sentence"))
    return Kind(
        str(told["name"]), told, _drawn([curve] if curve else [], "days", f"{told['name']} that live"), cohorts
    )


def _cohorts(told: stored.Body, kind: str) -> Cohorts:
    rows = stored.rows(told, "rows", "sentence")
    curves = [found for each in rows if (found := stored.curve(stored.part(each, "curve"), "ages_days"))]
    by = str(told["by"])
    said = tuple(str(each["sentence"]) for each in rows)
    return Cohorts(by, str(told["sentence"]), said, _drawn(curves, "days", f"{kind} that live, by {by}"))


def _drawn(curves: Iterable[Curve], unit: str, name: str) -> Markup | None:
    shown = tuple(curves)
    return pictured(picture_survival.svg(shown, unit, name)) if shown else None


def _early(burn_in: stored.Body) -> list[stored.Body]:
    early = stored.part(burn_in, "early")
    return [early] if "sentence" in early else []
