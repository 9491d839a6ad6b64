"""One node: where it is and why, its way through the lifecycle, what was found, and what may be asked for."""

from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field

from fleet_runner.core.access.api import NodeRequest
from fleet_runner.core.access.roles import Right, Who, needed
from fleet_runner.core.base.suggestions import alike
from fleet_runner.core.boot.text import words
from fleet_runner.core.cabling.of_node import wires
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.firmware.flash_text import short
from fleet_runner.core.lifecycle.journey import journey, stays
from fleet_runner.core.lifecycle.journey_diagram import drawing
from fleet_runner.core.lifecycle.life_band import band
from fleet_runner.core.lifecycle.offers import elsewhere, offers, stages
from fleet_runner.core.lifecycle.runs import IntentKind, Node, Stored
from fleet_runner.core.lifecycle.states import FABRICS, Stage
from fleet_runner.core.lifecycle.timeline import FILTERS, cursor, shown
from fleet_runner.reconcile.faults.remedies import remedies
from fleet_runner.reconcile.lifecycle.queue import queued
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import Name
from fleet_runner.web.node_firmware import firmware
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here, Site

router = APIRouter()

MOVES = 200
"""Transitions of which a node's way is told, the newest."""

STAYS, WIRES, TICKETS, FORESEEN = 50, 64, 20, 12
"""Lines of the way, links, closed tickets and things foreseen that are shown."""


class NodeQuery(BaseModel):
    """What the address asks for: the request that somebody just left, and which lines of the past."""

    asked: int = Field(0, ge=0, le=2**62)
    kind: str = Field("", max_length=20)
    before: str = Field("", max_length=100)


@router.get("/nodes/{name}")
def node(request: Request, here: Here, who: Sees, name: Name, wanted: Annotated[NodeQuery, Query()]) -> Response:
    """Show a node; while it waits for an answer, a page that is open asks for that part alone."""
    intents = _intents(here, name, wanted.asked)  # before the node: once it is answered the page asks no more
    row = known(here, name)
    if row.state in FABRICS:
        return RedirectResponse(f"/fabric/{quote(name, safe='')}", 303)
    waits = any(each.accepted is None for each in intents)
    now: dict[str, Any] = {"row": row, "requests": intents, "waits": waits, "asked": wanted.asked}
    if waits and request.headers.get("hx-request") == "true":
        return page(request, who, "node-waiting.html", **now)
    kind = wanted.kind if wanted.kind in FILTERS else ""
    lines = shown(here.store.timeline(name, FILTERS[kind], cursor(wanted.before)))
    past: dict[str, Any] = {"filter": kind, "filters": FILTERS, "timeline": lines, "later": bool(wanted.before)}
    return page(request, who, "node.html", **now, **_head(here, who, row), **_found(here, row), **past)


def known(here: Site, name: str) -> Node:
    """Return a node or a fabric; 404, with names that are like it, where there is none."""
    found = here.store.node(name)
    if found is None:
        like = alike(name, (each.name for each in here.store.nodes()))
        near = f"; similar names: {', '.join(like)}" if like else "; /fleet shows all"
        raise HTTPException(404, f"there is no node {name!r}{near}")
    return found


def runnable(who: Who, row: Node) -> tuple[Stage, ...]:
    """Return the stages that somebody may run on a node as it is."""
    return tuple(each for each in stages(row.state) if who.may(needed(IntentKind.RUN, each)))


def _intents(here: Site, name: str, asked: int) -> list[NodeRequest]:
    """Return what is asked for and not answered, and the request that this page was led to by, answered or not."""
    pending = [
        NodeRequest(each.id, each.node, each.kind, each.by, each.at, each.reason, each.detail)
        for each in here.store.intents(name)
    ]
    mine = here.store.find_intent(asked) if asked and asked not in {each.id for each in pending} else None
    return [*([mine] if mine is not None and mine.node == name else []), *pending]


def _head(here: Site, who: Who, row: Node) -> dict[str, Any]:
    """Return where a node is, what it waits for, what may be asked, and its way."""
    store, now, fleet = here.store, here.clock(), here.fleet()
    boot, flash = next(iter(store.boots(row.name, limit=1)), None), store.open_flash(row.name)
    run = next(iter(store.open_runs([row.name])), None)
    found = stays(store.history(row.name, limit=MOVES, kind="transition"), row.state, row.since)
    signs = [words(boot, now)] if boot is not None and boot.closed_at is None else []
    if flash is not None:
        signs.append(short(flash, now))
    return {
        "known": fleet is not None,
        "device": fleet.devices.get(row.name) if fleet is not None else None,
        "coded": fleet is not None and row.name in fleet.devices and here.settings.web_url and who.may(Right.MEND),
        "place": fleet.place(row.name) if fleet is not None else "",
        "run": run,
        "queue": queued(here.settings, store).get(row.name, ""),
        "signs": signs,
        "offers": [
            replace(each, stages=runnable(who, row) if each.stages else ())
            for each in offers(row)
            if who.may(needed(each.kind))
        ],
        "elsewhere": elsewhere(row),
        "drawing": drawing(journey(found, now)),
        "band": band(found, store.tickets(node=row.name, open_only=False), now),
        "stays": tuple(reversed(found))[:STAYS],
        "older_stays": max(0, len(found) - STAYS),
    }


def _found(here: Site, row: Node) -> dict[str, Any]:
    """Return what checks, signals and people found of a node."""
    store, fleet = here.store, here.fleet()
    latest = store.latest_results(row.name)
    read = firmware(here, row, latest)
    tickets = store.tickets(node=row.name, open_only=False)
    links = wires(fleet, row.name, latest) if fleet is not None else ()
    closed = [each for each in tickets if each.closed_at is not None]
    return {
        "told": sorted((each for each in latest if each.result.verdict is not Verdict.SKIPPED), key=_worst),
        "skipped": [each for each in latest if each.result.verdict is Verdict.SKIPPED],
        "tickets": [each for each in tickets if each.closed_at is None],
        "closed": tuple(reversed(closed))[:TICKETS],
        "older_tickets": max(0, len(closed) - TICKETS),
        "standing": remedies(here.settings, store, row, here.clock()),
        "cases": store.cases(row.name),
        "wires": links[:WIRES],
        "more_wires": max(0, len(links) - WIRES),
        "firmware": read.newest,
        "pins": read.pins,
        "unpinned": read.unpinned,
        **_foreseen(here, row),
    }


def _foreseen(here: Site, row: Node) -> dict[str, Any]:
    """Return what is foreseen of a node, and of which metrics and components there are pictures."""
    every = here.store.foresights(node=row.name)
    shown = every[:FORESEEN]
    pictures = dict.fromkeys((each.what.metric, each.what.component) for each in shown if each.what.metric)
    return {"foreseen": shown, "more_foreseen": len(every) - len(shown), "pictures": tuple(pictures)}


WORST = {Verdict.FAIL: 0, Verdict.UNKNOWN: 1, Verdict.PASS: 2}


def _worst(stored: Stored) -> tuple[int, str]:
    return WORST[stored.result.verdict], stored.result.check
