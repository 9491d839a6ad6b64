"""The fleet as racks: each node by its state, what moves, and why the rest waits."""

from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.inventory import floor
from fleet_runner.core.inventory.elevation import elevation
from fleet_runner.core.inventory.floor import MARKS, FloorFilter, NodeTile
from fleet_runner.core.lifecycle import days
from fleet_runner.core.lifecycle.attention import attention
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.core.lifecycle.waits import waits
from fleet_runner.web.access import Sees
from fleet_runner.web.fleet import Floor, Look, kept
from fleet_runner.web.rendering import TEMPLATES, page
from fleet_runner.web.site import Here, Site

router = APIRouter()

SINGLY = 300
"""Up to so many nodes each is a link of its own; of more, each rack is, and all of them fit on a screen or two."""

ROOMY = 200
"""Up to so many nodes each has room for its state in a word."""

RUNS, WAITS = 5, 12
"""Open runs, and reasons to wait, that are shown; the others are counted."""

FIRST = 4
"""Reasons to wait that are shown at once; the other ones open."""

WIDTH, HEIGHT = 300.0, 90.0
"""Of the picture of the last days."""

KINDS = {
    "serving": ("s", "serves tenants"),
    "moving": ("m", "the runner works on it"),
    "resting": ("r", "waits for somebody or something"),
    "ended": ("e", "has left the fleet"),
}
"""Kinds of states: the letter that draws one, and what it means."""

CONDITIONS = {**{name: meaning for name, (_, meaning) in MARKS.items()}, Condition.IN_USE: "work runs on it"}
"""What can be asked for as a node's condition."""

Filter = Annotated[str, Query(max_length=200)]


@router.get("/fleet")
def fleet(request: Request, here: Here, who: Sees) -> HTMLResponse:
    """Show every node, or those that a filter names."""
    wanted, known = _wanted(request), kept(request)
    look = known.look(here)
    return page(
        request,
        who,
        "fleet.html",
        **_said(known, look, here, wanted),
        floor=_floor(known, look, wanted),
        sieve=_sieve(look, wanted),
        days=known.days(here, look),
        areas=days.areas(known.days(here, look), WIDTH, HEIGHT),
        highest=days.highest(known.days(here, look)),
        service=(service := known.service(here, look)),
        lost_gpu_hours=service.lost_gpu_hours(look.fleet),
    )


@router.get("/fleet/parts/now")
def now(request: Request, here: Here, who: Sees, seen: Filter = "") -> Response:
    """Show what moves and what waits anew; nothing where that is as it was."""
    wanted, known = _wanted(request), kept(request)
    said = _said(known, known.look(here), here, wanted)
    return Response(status_code=204) if said["seen"] == seen else page(request, who, "fleet-parts.html", **said)


@router.get("/fleet/parts/floor")
def part(request: Request, here: Here, who: Sees, seen: Filter = "") -> Response:
    """Show the racks anew; nothing where they are as they were."""
    wanted, known = _wanted(request), kept(request)
    look = known.look(here)
    del who
    return Response(status_code=204) if look.tag == seen else HTMLResponse(_floor(known, look, wanted))


@router.get("/fleet/racks/{place:path}")
def rack(request: Request, here: Here, who: Sees, place: str) -> HTMLResponse:
    """Show a rack as it stands there, and what each of its nodes does or waits for."""
    look = kept(request).look(here)
    site, rack = _rack_of(look, place)
    drawn = elevation(look.fleet, site, rack) if look.fleet is not None else None
    plan = next((each for each in look.racks if (each.place.site, each.place.rack) == (site, rack)), None)
    if drawn is None and plan is None:
        why = "" if look.fleet is not None else "; the source of truth could not be read yet"
        raise HTTPException(404, f"the source of truth knows no such rack{why}; the fleet's page has all of them")
    spots = tuple(look.spots[name] for name in plan.names) if plan is not None else ()
    names = {spot.node.name for spot in spots}
    tickets = [ticket for ticket in look.tickets if names & set(ticket.nodes)]
    return page(
        request,
        who,
        "rack.html",
        site=site,
        rack=rack,
        location=plan.place.location if plan is not None else drawn.rack.location if drawn is not None else "",
        drawn=drawn,
        spots=spots,
        by_name={spot.node.name: spot for spot in spots},
        runs={run.node: run for run in look.runs if run.node in names},
        tickets=tickets,
        marks=MARKS,
    )


def _rack_of(look: Look, place: str) -> tuple[str, str]:
    """Return the site and the rack that an address names; either name may hold a slash of its own."""
    known = [(each.place.site, each.place.rack or "") for each in look.racks]
    known += [(each.site, each.name) for each in look.fleet.racks.values()] if look.fleet is not None else []
    site, _, rack = place.partition("/")
    return next((each for each in known if "/".join(each) == place), (site, rack))


def _wanted(request: Request) -> FloorFilter:
    """Return what a request asks for; a field of the form that is left empty narrows nothing."""
    given = {name: request.query_params.get(name, "").strip()[:200] for name in FloorFilter._fields}
    return FloorFilter(**given)


Options = list[tuple[str, str]]


def _sieve(look: Look, wanted: FloorFilter) -> list[tuple[str, str, Options, str]]:
    """Return the fields of the form: name, label, what may be chosen, and what stands for anything."""
    kinds = [(kind, f"any that is {kind}") for kind in KINDS]
    states = [(state.value, state.value) for state in State if state is not State.WATCHED]
    conditions = [(str(name), f"{name}: {meaning}") for name, meaning in CONDITIONS.items()]
    fields: list[tuple[str, str, Options, str]] = [
        ("site", "Site", _named(look, "site"), "every site"),
        ("state", "State", [*kinds, *states], "any state"),
        ("condition", "Condition", conditions, "any"),
        ("fault", "Fault", _named(look, "fault"), "with or without"),
        ("type", "Device type", _named(look, "type"), "any type"),
        ("tenant", "Tenant", _named(look, "tenant"), "any or none"),
    ]
    # What is asked for and not to be chosen stays in the form, so that it can be seen and changed.
    asked = wanted._asdict()
    return [(name, label, _with(options, asked[name]), anything) for name, label, options, anything in fields]


def _named(look: Look, name: str) -> Options:
    return [(value, value) for value in look.choices[name]]


def _with(options: Options, value: str) -> Options:
    known = not value or any(value == each for each, _ in options)
    return options if known else [*options, (value, f"{value} (none is)")]


def _query(wanted: FloorFilter) -> str:
    return urlencode({name: value for name, value in wanted._asdict().items() if value})


def _floor(known: Floor, look: Look, wanted: FloorFilter) -> Markup:
    """Return the racks as HTML, which is the same for everybody."""

    def draw() -> str:
        sites = floor.laid_out(look.racks, look.spots, wanted)
        shown = sum(len(each.spots) for site in sites for row in site.rows for each in row.racks)
        return TEMPLATES.get_template("fleet-floor.html").render(
            sites=sites,
            shown=shown,
            every=len(look.spots),
            singly=shown <= SINGLY,
            limit=SINGLY,
            roomy=shown <= ROOMY,
            tag=look.tag,
            query=_query(wanted),
            known=look.fleet is not None,
            kinds=KINDS,
            marks=MARKS,
            label=label,
        )

    return Markup(known.picture(look, wanted, draw))  # noqa: S704  a template's own, which has escaped it


def label(spot: NodeTile) -> str:
    """Return a node in words: "gpu-00012, U21, production, a ticket is open"."""
    unit = f"U{spot.place.unit:g}" if spot.place.unit is not None else "unit unknown"
    return ", ".join([spot.node.name, unit, spot.node.state, *(MARKS[mark][1] for mark in spot.marks)])


def _said(known: Floor, look: Look, here: Site, wanted: FloorFilter) -> dict[str, Any]:
    """Return what stands beside the racks. Of what waits and runs, and in counts, only nodes that are wanted."""
    told = known.say(here)
    everything = wanted == FloorFilter()
    spots = [spot for spot in look.spots.values() if everything or floor.is_wanted(spot, wanted)]
    names = look.spots.keys() if everything else {spot.node.name for spot in spots}
    runs = [run for run in look.runs if run.node in names or everything]
    runs.sort(key=lambda run: (run.stage, natural(run.node)))
    reasons = waits((spot.node for spot in spots), (run.node for run in look.runs), told.queued)
    mine = [ticket for ticket in look.tickets if everything or not names.isdisjoint(ticket.nodes)]
    bar = floor.bar(floor.counts(spots))
    changes = days.changes(known.days(here, look)) if everything else {}
    minute = int(here.clock() // 60)
    seen = sha256(repr((look.tag, told, minute)).encode()).hexdigest()[:12]
    return {
        "seen": seen,
        "query": _query(wanted),
        "wanted": wanted,
        "known": look.fleet is not None,
        "notices": told.notices,
        "total": len(spots),
        "counts": floor.counts(spots),
        "bar": bar,
        "by_kind": {kind: sum(part.number for part in bar if floor.KINDS[part.state] == kind) for kind in KINDS},
        "changes": {kind: _change(number) for kind, number in changes.items()},
        "attention": attention(spots, mine),
        "kinds": KINDS,
        "fabrics": look.fabrics,
        "fabric_tickets": {
            fabric.name: sum(fabric.name in ticket.nodes for ticket in look.tickets) for fabric in look.fabrics
        },
        "runs": runs[:RUNS],
        "more_runs": max(0, len(runs) - RUNS),
        "moves": [move for move in look.moves if move.node in names or everything],
        "waits": reasons[:WAITS],
        "first": FIRST,
        "more_waits": sum(each.number for each in reasons[WAITS:]),
    }


def _change(number: int) -> str:
    """Return a number with its sign, or that nothing changed."""
    return f"{number:+d}".replace("-", "\N{MINUS SIGN}") if number else "unchanged"
