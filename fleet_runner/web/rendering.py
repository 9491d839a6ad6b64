"""Pages from templates: everything that is put into one is escaped, and what a template lacks is an error."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from fleet_runner.core.access.roles import Right, Role, Who
from fleet_runner.core.base import durations
from fleet_runner.core.base.printable import printable
from fleet_runner.core.lifecycle.diagram import kind
from fleet_runner.core.lifecycle.states import STATES, State
from fleet_runner.reconcile.loop import remote_answers
from fleet_runner.web.access import cookie, csrf

NAVIGATION: tuple[tuple[str, str, Right], ...] = (
    ("/fleet", "Fleet", Right.SEE),
    ("/tickets", "Tickets", Right.SEE),
    ("/fabric", "Fabric", Right.SEE),
    ("/runs", "Runs", Right.SEE),
    ("/jobs", "Jobs", Right.SEE),
    ("/schedules", "Schedules", Right.SEE),
    ("/rollouts", "Rollouts", Right.SEE),
    ("/modes", "Modes", Right.SEE),
    ("/trends", "Trends", Right.SEE),
    ("/mine", "My nodes", Right.OWN),
    ("/audit", "Audit", Right.AUDIT),
)
"""Where the head of every page leads, and the right that each needs."""

HOME: Mapping[Role, str] = {
    Role.OPERATOR: "/fleet",
    Role.VIEWER: "/fleet",
    Role.TECHNICIAN: "/tickets",
    Role.TENANT: "/mine",
    Role.INGEST: "/login",
}
"""Where somebody begins."""


def stamp(at: float) -> str:
    """Return a time as people read it, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def machine(at: float) -> str:
    """Return a time as <time datetime=...> has it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def state_kind(state: str) -> str:
    """Return how a state is coloured: moving, serving, resting, watched or ended."""
    return kind(State(state))


age = durations.age
"""How a duration is said."""


TEMPLATES = Environment(
    loader=PackageLoader("fleet_runner.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True,
)  # fmt: skip
TEMPLATES.filters.update(age=age, stamp=stamp, machine=machine, printable=printable, kind=state_kind)
TEMPLATES.globals.update(STATES=STATES, Right=Right)


def page(request: Request, who: Who, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page for somebody; to htmx, which asks for a part, the template's block `content` alone."""
    here = request.app.state.site
    secret = request.cookies.get(cookie(request), "")
    given = {
        "who": who,
        "now": here.clock(),
        "path": request.url.path,
        "csrf": csrf(secret) if secret else "",
        "mode": remote_answers.mode(here.settings, here.store) if who.may(Right.SEE) else "",
        "notice": here.settings.notice if who.name else "",
        "navigation": [(url, name) for url, name, right in NAVIGATION if who.may(right)],
        **values,
    }
    given["whole"] = request.headers.get("hx-request") != "true"
    return HTMLResponse(TEMPLATES.get_template(template).render(given), status)
