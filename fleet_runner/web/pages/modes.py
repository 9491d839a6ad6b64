"""How far automation may go: what people said of it, and a form for whoever may say so."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.budgets import modes
from fleet_runner.core.budgets.modes import Kind, Mode, Scope, Setting, Where
from fleet_runner.core.inventory.records import nodes
from fleet_runner.core.lifecycle.states import ENDED
from fleet_runner.web.access import Sees, Steers
from fleet_runner.web.intents import wake
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here, Site

router = APIRouter()

FORGET = "forget"
"""What the form calls it to take back what was said of a place."""


@router.get("/modes")
def show(request: Request, here: Here, who: Sees) -> HTMLResponse:
    """Show what holds, who said so and why, and at how many nodes that observes, advises and acts."""
    said = here.store.modes()
    return page(
        request,
        who,
        "modes.html",
        holding=modes.standing(said),
        counts=_counts(here, said),
        scopes=list(Scope),
        kinds=list(Kind),
        modes=[*Mode, FORGET],
        Mode=Mode,
    )


@router.post("/modes")
def say(  # noqa: PLR0913, PLR0917  each is a field of the form
    here: Here,
    who: Steers,
    scope: Annotated[Scope, Form()],
    mode: Annotated[str, Form(max_length=20)],
    name: Annotated[str, Form(max_length=200)] = "",
    kind: Annotated[str, Form(max_length=20)] = "",
    reason: Annotated[str, Form(max_length=500)] = "",
) -> RedirectResponse:
    """Keep what somebody says of a place."""
    if not reason.strip():
        raise FleetError("no reason is given; say why, for the person on call")
    if kind not in {"", *Kind} or mode not in {FORGET, *Mode}:
        raise FleetError(f"mode {mode!r:.40} for {kind!r:.40} is none; choose them on the page of modes")
    setting = Setting(
        scope,
        _place(here, scope, name.strip()),
        Kind(kind) if kind else None,
        None if mode == FORGET else Mode(mode),
        here.clock(),
        who.name,
        printable(" ".join(reason.split())),
    )
    here.store.set_mode(setting)
    wake(here)
    return RedirectResponse("/modes", 303)


def _place(here: Site, scope: Scope, name: str) -> str:
    """Return a place that is there: a slip of the keys would be a mode of nothing."""
    if scope is Scope.FLEET:
        return ""
    fleet = here.fleet()
    if fleet is None:
        raise FleetError("the source of truth could not be read yet; try again once it can be")
    if name not in {Where.of(fleet, device.name).named(scope) for device in nodes(fleet)} - {""}:
        what = scope.value.replace("_", " ")
        raise FleetError(f"the source of truth has no {what} {name!r:.80} with nodes; a rack is named as hall-1/A03")
    return name


def _counts(here: Site, said: Sequence[Setting]) -> dict[Kind, dict[Mode, int]]:
    fleet = here.fleet()
    if fleet is None:
        return {}
    living = [node.name for node in here.store.nodes() if node.state not in ENDED]
    found = [modes.modes(said, Where.of(fleet, name)) for name in living]
    return {kind: {mode: sum(each.mode(kind) is mode for each in found) for mode in Mode} for kind in Kind}
