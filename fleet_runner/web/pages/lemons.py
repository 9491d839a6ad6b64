"""Nodes that take more of everybody's time than others do: what of, and how well that would have told the past."""

from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from fleet_runner.core.reliability.trends import picture_lemons, stored
from fleet_runner.web.access import Sees
from fleet_runner.web.pages.trends import body, pictured, sentences
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here

router = APIRouter()

DRAWN, LISTED, FAULTY = 20, 100, 50
"""Nodes that are drawn and told of, and places and parts that fail again and again."""


class LemonRow(NamedTuple):
    """A node: its score, whether triage is suggested, and each line that it comes from."""

    node: str
    points: float
    suggested: bool
    lines: tuple[str, ...]


@router.get("/trends/lemons")
def lemons(request: Request, here: Here, who: Sees) -> HTMLResponse:
    """Show who scores most and why, and the places and parts that fail more often than chance explains."""
    found, travels = here.store.analysis("lemons"), here.store.analysis("parts")
    told = body(found) or {}
    bars = stored.bars(told)[:DRAWN]
    past = stored.part(told, "past")
    return page(
        request,
        who,
        "trends-lemons.html",
        found=found,
        sentences=sentences(found),
        drawn=pictured(picture_lemons.svg(bars, stored.number(told, "mark"), "Points")) if bars else None,
        signals=picture_lemons.signals(bars),
        meanings={
            str(each["name"]): str(each["meaning"]) for each in stored.rows(told, "signals", "name", "meaning")
        },
        nodes=_nodes(told)[:LISTED],
        more=max(0, len(_nodes(told)) - LISTED),
        absent=stored.rows(told, "absent", "sentence"),
        past=past,
        marks=stored.rows(past, "marks", "mark", "flagged", "right", "precision", "recall"),
        travels=travels,
        travelled=sentences(travels),
        slots=stored.rows(body(travels), "slots", "node", "sentence")[:FAULTY],
        parts_=stored.rows(body(travels), "parts", "node", "sentence")[:FAULTY],
    )


def _nodes(told: stored.Body) -> list[LemonRow]:
    return [
        LemonRow(
            str(each["node"]),
            stored.number(each, "points") or 0.0,
            bool(each.get("suggested")),
            tuple(str(line["sentence"]) for line in stored.rows(each, "lines", "sentence")),
        )
        for each in stored.rows(told, "lemons", "node", "points", "lines")
    ]
