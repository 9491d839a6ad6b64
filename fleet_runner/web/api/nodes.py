"""Nodes: which there are, and all that is known of one."""

from typing import Annotated

from fastapi import APIRouter, Query

from fleet_runner.core.access import node_brief
from fleet_runner.core.access.api import Page
from fleet_runner.core.access.node_brief import NodeBrief
from fleet_runner.core.access.overview import NodeSummary
from fleet_runner.core.boot.boots import Boot
from fleet_runner.core.cabling.of_node import wires
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.lifecycle.runs import Entry, Intent, Node, Run, Stored, Ticket
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.core.reliability.trends.answers import Ahead
from fleet_runner.core.tickets.rma_cases import Case
from fleet_runner.reconcile.loop import remote_answers
from fleet_runner.web.access import Sees
from fleet_runner.web.api.bounds import (
    NOT_FOUND,
    REFUSALS,
    Cursor,
    Limit,
    Name,
    Narrow,
    Since,
    known,
    page_of,
    shown,
    source,
)
from fleet_runner.web.node_firmware import firmware
from fleet_runner.web.site import Here, Site

router = APIRouter(tags=["nodes"], responses=REFUSALS)
one = APIRouter(prefix="/nodes/{name}", tags=["nodes"], responses=REFUSALS | NOT_FOUND)

Kind = Annotated[str, Query(max_length=20, pattern="^[a-z]*$", description="only entries of this kind: transition")]


@router.get("/nodes", operation_id="list_nodes")
def every(  # noqa: PLR0913  a query has as many parameters as it narrows by
    *,
    here: Here,
    _: Sees,
    state: State | None = None,
    condition: Condition | None = None,
    device_type: Narrow = "",
    site: Narrow = "",
    rack: Narrow = "",
    tenant: Narrow = "",
    limit: Limit = 100,
    cursor: Cursor = "",
) -> Page[Node]:
    """List nodes by name; site, rack and tenant are those of the source of truth."""
    placed = _placed(here, site, rack, tenant)
    rows = (
        node
        for node in here.store.nodes()
        if node.name > cursor
        and (state is None or node.state is state)
        and (condition is None or condition in node.conditions)
        and device_type in {"", node.device_type}
        and (placed is None or node.name in placed)
    )
    return page_of(map(shown, rows), limit, lambda node: node.name)


def _placed(here: Site, site: str, rack: str, tenant: str) -> frozenset[str] | None:
    """Return the names of the devices of a site, rack and tenant; None where all are meant."""
    if not (site or rack or tenant):
        return None
    return frozenset(
        device.name
        for device in source(here).devices.values()
        if site in {"", device.site} and rack in {"", device.rack} and tenant in {"", device.tenant}
    )


@one.get("", operation_id="get_node")
def node(here: Here, _: Sees, name: Name) -> Node:
    """Return a node or a fabric."""
    return shown(known(here, name))


@one.get("/history", operation_id="get_history")
def history(here: Here, _: Sees, name: Name, kind: Kind = "", limit: Limit = 200) -> tuple[Entry, ...]:
    """Return the newest entries of its history, oldest first."""
    known(here, name)
    return here.store.history(name, limit, kind or None)


@one.get("/latest", operation_id="get_latest_results")
def latest(here: Here, _: Sees, name: Name) -> tuple[Stored, ...]:
    """Return the newest result of each check."""
    known(here, name)
    return here.store.latest_results(name)


@one.get("/runs", operation_id="get_runs_of_node")
def runs(here: Here, _: Sees, name: Name, since: Since = 0.0, limit: Limit = 200) -> tuple[Run, ...]:
    """Return its newest runs, oldest first."""
    known(here, name)
    return here.store.runs(name, since=since, limit=limit)


@one.get("/tickets", operation_id="get_tickets_of_node")
def tickets(here: Here, _: Sees, name: Name, *, closed: bool = False) -> tuple[Ticket, ...]:
    """Return the tickets that name it, oldest first; with `closed` also those that are closed."""
    known(here, name)
    return here.store.tickets(node=name, open_only=not closed)


@one.get("/alarms", operation_id="get_alarms_of_node")
def alarms(here: Here, _: Sees, name: Name, *, past: bool = False, limit: Limit = 200) -> tuple[Alarm, ...]:
    """Return what stands of it, oldest first; with `past` the newest alarms, cleared ones too."""
    known(here, name)
    return here.store.past_alarms(name, limit) if past else here.store.alarms(name)


@one.get("/attempts", operation_id="get_attempts_of_node")
def attempts(here: Here, _: Sees, name: Name, since: Since = 0.0) -> tuple[Attempt, ...]:
    """Return which remedies were tried, oldest first."""
    known(here, name)
    return here.store.attempts(name, since)


@one.get("/boots", operation_id="get_boots_of_node")
def boots(here: Here, _: Sees, name: Name, limit: Limit = 20) -> tuple[Boot, ...]:
    """Return its newest boots over the network, oldest first."""
    known(here, name)
    return here.store.boots(name, limit)


@one.get("/flashes", operation_id="get_flashes_of_node")
def flashes(here: Here, _: Sees, name: Name, since: Since = 0.0, limit: Limit = 50) -> tuple[Flash, ...]:
    """Return its newest firmware updates, oldest first; one without an end goes on."""
    known(here, name)
    return here.store.flashes(name, since=since, limit=limit)


@one.get("/cases", operation_id="get_cases_of_node")
def cases(here: Here, _: Sees, name: Name) -> tuple[Case, ...]:
    """Return its cases at vendors, oldest first."""
    known(here, name)
    return here.store.cases(name)


@one.get("/requests", operation_id="get_requests_of_node")
def intents(here: Here, _: Sees, name: Name) -> tuple[Intent, ...]:
    """Return what was asked for and is not answered yet, oldest first."""
    known(here, name)
    return here.store.intents(name)


@one.get("/standing", operation_id="get_standing_of_node")
def standing(here: Here, _: Sees, name: Name) -> NodeSummary:
    """Say what stands, what was tried and what comes next by the fleet's policy, and why it waits in the queue."""
    return remote_answers.standing(here.settings, here.store, known(here, name), here.clock())


@one.get("/brief", operation_id="get_brief_of_node")
def brief(here: Here, _: Sees, name: Name) -> NodeBrief:
    """Return in one answer what another tool shows of it: state, why, tickets, firmware against pins, links."""
    row, store, fleet = known(here, name), here.store, here.fleet()
    latest = store.latest_results(name)
    read = firmware(here, row, latest)
    tickets = store.tickets(node=name, open_only=True)[: node_brief.MOST]
    links = wires(fleet, name, latest) if fleet is not None else ()
    return NodeBrief(
        at=here.clock(),
        node=shown(row),
        why=node_brief.reason(store.history(name, 1, "transition")),
        mode=remote_answers.mode(here.settings, store),
        wanted=node_brief.wanted(row),
        tickets=tuple(node_brief.ticket(each, store.ticket_links(each.id)) for each in tickets),
        firmware=node_brief.components(read.pins[: node_brief.MOST]),
        firmware_at=read.newest.at if read.newest is not None else None,
        links=node_brief.links(links[: node_brief.MOST]),
    )


@one.get("/foresight", operation_id="get_foresight_of_node")
def ahead(here: Here, _: Sees, name: Name) -> Ahead:
    """Say what is foreseen of it and its parts, when a pass mark is crossed, and how it scores as a lemon."""
    return remote_answers.ahead(here.store, known(here, name))
