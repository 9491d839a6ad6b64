"""A tenant's own nodes, in plain words: what they do, what is done to them, and how much they served.

Whose a node is, the source of truth says at this very request; without it nothing is shown. Of what people and
checks wrote nothing is repeated here: it may name others.
"""

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, NamedTuple

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse

from fleet_runner.core.access.roles import Who
from fleet_runner.core.access.tenant_jobs import TenantJob, jobs
from fleet_runner.core.access.tenants import NodeForTenant, availability, cell, happened, standing
from fleet_runner.core.base.durations import age
from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.inventory.records import NODE_ROLES, Fleet
from fleet_runner.core.lifecycle.runs import Entry, Node
from fleet_runner.core.schedules.retention import DAY
from fleet_runner.web.access import Owns
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here, Site

router = APIRouter()

SPAN = 30 * DAY
"""Seconds that are told of."""

FAR = 365 * DAY
"""For so many seconds back it is known since when a node is out of service."""

PAGE, LINES = 100, 200
"""Nodes on a page, and what happened to one of them."""

COLUMNS = ("node", "status", "since", "what is being done", "what happens next", "expected back by",
           "served, percent", "of")  # fmt: skip

ANSWERS, JOBS = 2_000, 50
"""Newest answers that are looked through for a tenant's, and their jobs that are shown."""

LATELY = "the last 30 days"
"""What a node's share is of, where it was in service all that time."""


class TenantNodeView(NamedTuple):
    """A node of a tenant's: how it stands, the share of `span` in which it served, its transitions of a year."""

    name: str
    standing: NodeForTenant
    share: float | None
    span: str
    moves: Sequence[Entry]


@router.get("/mine")
def mine(
    request: Request, here: Here, who: Owns, number: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1
) -> HTMLResponse:
    """Show a tenant's nodes."""
    found = own(here, who)
    counted = [each for each in found if each.standing.kind != "ended"]
    shares = [each.share for each in counted if each.share is not None]
    return page(
        request,
        who,
        "mine.html",
        known=here.fleet() is not None,
        total=len(found),
        rows=sorted(found, key=_order)[(number - 1) * PAGE : number * PAGE],
        page_number=number,
        pages=-(-len(found) // PAGE),
        serving=sum(each.standing.kind in {"serving", "planned"} for each in found),
        out=sum(each.standing.kind == "out" for each in found),
        planned=sum(each.standing.kind == "planned" for each in found),
        mean=sum(shares) / len(shares) if shares else None,
        span=_span_of_all(counted),
        jobs=died(here, who),
    )


@router.get("/mine.csv")
def export(here: Here, who: Owns) -> Response:
    """Give a tenant's nodes as a table."""
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(COLUMNS)
    for each in own(here, who):
        told = each.standing
        words = (each.name, told.word, _stamp(told.since), " ".join(told.now), told.next)
        served = f"{each.share * 100:.2f}" if each.share is not None else ""
        back = _stamp(told.back_by) if told.back_by is not None else ""
        lines.writerow([cell(word) for word in (*words, back, served, each.span if served else "")])
    name = {"content-disposition": 'attachment; filename="nodes.csv"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=name)


@router.get("/mine/{name}")
def node(request: Request, here: Here, who: Owns, name: str) -> HTMLResponse:
    """Show one of a tenant's nodes; of another's it is said that there is none, as of one that is nowhere."""
    found = next(iter(own(here, who, name)), None)
    if found is None:
        raise HTTPException(404, "you have no node of this name; your nodes are listed at /mine")
    told = happened([move for move in found.moves if move.at >= here.clock() - SPAN])
    return page(
        request,
        who,
        "mine-node.html",
        name=found.name,
        standing=found.standing,
        share=found.share,
        span=found.span,
        happened=told[:LINES],
        cut=len(told) > LINES,
    )


def died(here: Site, who: Who) -> list[TenantJob]:
    """Return a tenant's jobs that died lately, of those whose end was looked into."""
    answers = here.store.answers_whole(here.clock() - SPAN, ANSWERS)
    return list(islice(jobs(answers, names(here.fleet(), who.tenant)), JOBS))


def names(fleet: Fleet | None, tenant: str) -> tuple[str, ...]:
    """Return the names of a tenant's nodes, as the source of truth has the tenant's name, to the letter."""
    if fleet is None or not tenant:
        return ()
    mine = (each.name for each in fleet.devices.values() if each.tenant == tenant and each.role in NODE_ROLES)
    return tuple(sorted(mine, key=natural))


def own(here: Site, who: Who, name: str | None = None) -> list[TenantNodeView]:
    """Return what a tenant may know: of all their nodes that are registered, or of one of them."""
    mine = names(here.fleet(), who.tenant)
    wanted = mine if name is None else tuple(each for each in mine if each == name)
    now, store = here.clock(), here.store
    with store.one_moment():
        nodes = store.some_nodes(wanted)
        first = store.served_first(wanted)
        moves: dict[str, list[Entry]] = {}
        for move in store.moves(wanted, now - FAR):
            moves.setdefault(move.node, []).append(move)
    found = {each.name: _told(each, moves.get(each.name, []), first.get(each.name), now) for each in nodes}
    return [found[each] for each in wanted if each in found]


def _told(node: Node, moves: list[Entry], first: float | None, now: float) -> TenantNodeView:
    lately = [move for move in moves if move.at >= now - SPAN]
    share = availability(node, lately, first, now - SPAN, now)
    short = first is not None and first > now - SPAN
    span = f"the {age(now - first)} since it first came into service" if short and first else LATELY
    return TenantNodeView(node.name, standing(node, moves), share, span, moves)


def _span_of_all(found: Sequence[TenantNodeView]) -> str:
    """Say what the mean of the shares is of."""
    if len(found) == 1:
        return found[0].span
    short = any(each.span != LATELY for each in found if each.share is not None)
    return f"{LATELY}, or of the time since each first came into service" if short else LATELY


ORDER = ("out", "planned", "serving", "ended")
"""What somebody looks for comes first."""


def _order(each: TenantNodeView) -> tuple[int, object]:
    return ORDER.index(each.standing.kind), natural(each.name)


def _stamp(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
