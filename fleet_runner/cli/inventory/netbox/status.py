"""fleet-runner netbox status: how far the NetBox is told, what is in conflict there, and what failed and why."""

import time
from collections.abc import Iterable
from typing import Annotated

import typer

from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import age, console, opened, print_json
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.budgets import modes
from fleet_runner.core.tickets.trackers.links import TrackerStatus
from fleet_runner.settings import Settings, origin

SHOWN = 20
"""Nodes of a kind that are told one by one; the rest is counted."""

REQUESTS = "requests"


def wanted(settings: Settings) -> None:
    """Refuse settings under which no NetBox gets updates of nodes."""
    if "://" not in settings.source:
        raise SettingsError(f"source is the folder {settings.source}, {origin('source')}; expected a NetBox's URL")
    if not settings.netbox_write_nodes:
        where = origin("netbox_write_nodes")
        raise SettingsError(f"netbox_write_nodes is off, {where}; set it to true to have nodes written into NetBox")


def status(json: Annotated[bool, typer.Option("--json", help="print JSON instead of text")] = False) -> None:
    """Show what was written to NetBox, what others changed there, and what could not be written."""
    with opened() as (settings, store):
        wanted(settings)
        url = settings.source.rstrip("/")
        if json:
            fields, lines = store.mirrored_fields(url), store.untold_lines(url)
            standings = list(_standings(store).values())
            print_json({"fields": fields, "lines": lines, "serials": store.serials_due(), "standings": standings})
            return
        waits = waiting(settings, store)
        _line(f"{url}: {waits or 'everything is written'}")
        if waits and not modes.is_above_observe(modes.standing(store.modes())):
            _line("nothing is written about nodes in mode observe; fleet-runner mode shows them")
        for what, standing in _standings(store).items():
            if standing.heard_at is not None:
                said = "looked for" if what == REQUESTS else "taken"
                _line(f"{what}: {said} last {age(time.time() - standing.heard_at)} ago")
        for sentence in summary(settings, store):
            _line(sentence)


def waiting(settings: Settings, store: Store) -> str:
    """Return what is not written, in words; "" for nothing."""
    url = settings.source.rstrip("/")
    counts = {
        "states": len(store.unwritten_fields(url)),
        "lines of history": store.lines_waiting(url),
        "serial numbers": len(store.serials_due()),
    }
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"{said} to write" if said else ""


def summary(settings: Settings, store: Store) -> list[str]:
    """Return what is in conflict and what failed, in sentences; nothing where all is told."""
    url = settings.source.rstrip("/")
    said = [
        f"{what}: {standing.detail}; tried again in {age(max(0.0, standing.due_at - time.time()))}"
        for what, standing in _standings(store).items()
        if standing.detail
    ]
    fields, lines, serials = store.unwritten_fields(url), store.untold_lines(url), store.serials_due()
    said += _some(
        f"{each.node}: {each.conflict}, which fleet-runner did not write" for each in fields if each.conflict
    )
    failed = [(each.node, each.detail) for each in fields] + [(each.node, each.detail) for each in lines]
    said += _some(f"{node}: {detail}" for node, detail in failed if detail)
    said += _some(
        f"{each.node} {each.slot}: {each.came} is not written: {each.detail or f'NetBox has {each.conflict}'}"
        for each in serials
        if each.detail or each.conflict
    )
    return list(dict.fromkeys(said))


def _standings(store: Store) -> dict[str, TrackerStatus]:
    return {what: store.tracker(f"netbox {what}") for what in ("fields", "journal", "serials", REQUESTS)}


def _some(sentences: Iterable[str]) -> list[str]:
    given = list(dict.fromkeys(sentences))
    more = [f"... and {len(given) - SHOWN} more"] if len(given) > SHOWN else []
    return given[:SHOWN] + more


def _line(text: str) -> None:
    console.print(text, markup=False, soft_wrap=True)
