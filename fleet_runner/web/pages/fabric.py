"""A fabric's topology with its discrepancies, and how two days differ."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from fleet_runner.core.cabling.fabrics import ETHERNET
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.topology import heat, tiles
from fleet_runner.core.cabling.topology.days import Between, begins, between
from fleet_runner.core.cabling.topology.picture import svg
from fleet_runner.core.cabling.topology.tiles import LEAF, WAYS
from fleet_runner.core.cabling.topology.wrong import untold, wrong
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.tickets.node_tickets import EYES
from fleet_runner.reconcile.lifecycle.racks import racked
from fleet_runner.web import fabrics
from fleet_runner.web.access import Sees
from fleet_runner.web.fabrics import Shown
from fleet_runner.web.pages.pictures import drawn
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here, Site

router = APIRouter()

MOST = 100
"""Faults, and links, that a page shows."""

TILES = 1_100
"""Leaves or racks that a page shows: with fewer than ten thousand nodes these are all."""

Name = Annotated[str, Query(max_length=200)]
Day = Annotated[str, Query(max_length=20)]


@router.get("/fabric")
def every(request: Request, here: Here, who: Sees) -> HTMLResponse:
    """List the fabrics, and how the newest sweep of each went."""
    ethernet = [ticket.id for ticket in here.store.tickets() if ticket.check in EYES[ETHERNET]]
    rows = [(row, fabrics.newest(here, row.name), fabrics.beside(here, row.name)) for row in here.store.fabrics()]
    return page(
        request,
        who,
        "fabrics.html",
        rows=rows,
        drawn=here.fleet() is not None,
        names=fabrics.BESIDE,
        ethernet=ethernet[:20],
        wired=len(ethernet),
    )


@router.get("/fabric/{name}/topology.svg")
def topology(here: Here, who: Sees, name: str) -> Response:
    """Draw a fabric in its layers."""
    del who
    fabrics.known(here, name)
    it = fabrics.layered(here.fleet(), name)
    return drawn(svg(it, wrong(it.links, fabrics.findings(here, name, it.nodes))))


@router.get("/fabric/{name}")
def one(  # noqa: PLR0913, PLR0917  one argument for each field of the forms
    request: Request,
    here: Here,
    who: Sees,
    name: str,
    by: Annotated[str, Query(max_length=10)] = LEAF,
    leaf: Name = "",
    rail: Name = "",
    rack: Name = "",
    kind: Name = "",
    since: Annotated[str, Query(alias="from", max_length=20)] = "",
    to: Day = "",
) -> HTMLResponse:
    """Show a fabric: what is wrong in it, by which leaf, rail or rack, and what changed between two days."""
    row = fabrics.known(here, name)
    fleet = here.fleet()
    it = fabrics.layered(fleet, name)
    found = fabrics.findings(here, name, it.nodes)
    counters = fabrics.counters(here, name)
    rates = heat.rates(counters.result.observed) if counters is not None else None
    counting = counters.result.findings if counters is not None else ()
    every = wrong(it.links, (*found, *counting))
    looking = {id(each) for each in counting}  # a fabric may have thousands, and to compare them takes long
    worn = {joined for joined, about in every.items() if any(id(each) in looking for each in about)}
    bad = {
        joined: mine
        for joined, about in every.items()
        if (mine := tuple(each for each in about if id(each) not in looking))
    }
    blind = frozenset[Link]()
    if counters is not None and rates is not None:
        observed = counters.result.observed
        blind = untold(it.links, counters.result) | heat.untold(observed, it.links)
    way, chosen = next(((way, given) for way, given in zip(WAYS, (leaf, rail, rack), strict=True) if given), ("", ""))
    links = tiles.of(it, way, chosen) if way else ()
    faults = fabrics.shown(here, [each for each in found if kind in {"", each.code}])
    if way:
        keys = {each.fault for joined in links for each in bad.get(joined, ())}
        faults = [each for each in faults if each.finding.fault in keys]
    looked = by if by in WAYS else LEAF
    newest = fabrics.newest(here, name)
    domain = fabrics.domain(fleet, row)
    dark = untold(it.links, newest.result if newest is not None else None)
    counted = tiles.tiles(it, bad, dark, looked)
    problems, differences = _compared(here, name, since, to)
    links = tuple(sorted(tiles.ordered(links, every), key=lambda each: -(rates or {}).get(each, heat.NOTHING).times))
    return page(
        request,
        who,
        "fabric.html",
        row=row,
        newest=newest,
        beside=fabrics.beside(here, name),
        names=fabrics.BESIDE,
        it=it,
        domain=domain,
        machine=racked(here.store, fleet, row, domain) if fleet is not None and domain is not None else None,
        known=fleet is not None,
        by=looked,
        ways=WAYS,
        tiles=counted[:TILES],
        all_tiles=len(counted),
        way=way,
        chosen=chosen,
        links=[(joined, every.get(joined, ()), joined in dark) for joined in links[:MOST]],
        tickets=fabrics.ticketed(here) if way else {},
        dark=len(dark),
        counters=counters,
        rates=rates,
        blind=blind,
        unplaced=_unplaced(counters),
        erring=_erring(counters),
        heat=heat.heat(it, fabrics.sized(it), rates or {}, worn, blind) if counters is not None and not way else (),
        allowed=sorted({each.allowed for each in (rates or {}).values()}),
        all_links=len(links),
        wrong=len(bad),
        faults=faults[:MOST],
        all_faults=len(faults),
        kinds=sorted({each.code for each in found}),
        kind=kind,
        place=fleet.place if fleet is not None else (lambda _: ""),
        days=fabrics.days(here, name),
        since=since,
        to=to,
        most=MOST,
        problems=problems,
        differences=differences,
    )


def _compared(here: Site, name: str, since: str, to: str) -> tuple[list[str], list[tuple[str, list[Shown], int]]]:
    """Return what lies between two days, part by part, or why that is not known."""
    if not since and not to:
        return [], []
    problems: list[str] = []
    looks = []
    for day in (since, to):
        start = begins(day)
        look = fabrics.of_day(here, name, start) if start is not None else None
        if start is None:
            problems.append(f"{day or 'nothing'} is no day; a day is written 2026-11-22.")
        elif look is None:
            problems.append(f"No sweep of {day} with a result is stored.")
        looks.append(look)
    before, after = looks
    if before is None or after is None:
        return problems, []
    found: Between = between(before.result.findings, after.result.findings)
    parts = (("gone", found.gone), ("new", found.new), ("still there", found.still))
    told = [(title, fabrics.shown(here, each[:MOST]), len(each)) for title, each in parts]
    return problems, told


def _erring(counters: Stored | None) -> int:
    """Return how many links counted errors; a look names those with most."""
    told = counters.result.observed.get("counting") if counters is not None else None
    return told if isinstance(told, int) else 0


def _unplaced(counters: Stored | None) -> int:
    """Return how many ports a look could not tell of without naming them: no answer came, or a counter is full."""
    observed = counters.result.observed if counters is not None else {}
    told = [observed.get(key) for key in ("unread", "unknown")]
    return sum(each for each in told if isinstance(each, int))
