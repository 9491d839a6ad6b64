"""Firmware, wave by wave: who is out and how far, what failed, and why the rest waits."""

import asyncio
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse

from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.firmware.flash_text import what
from fleet_runner.core.firmware.rollout import Rollout, RolloutStatus, turned, unturnable
from fleet_runner.core.firmware.rollout_text import by_wave, counted, other, reasons, tally, waits, wave_name
from fleet_runner.core.firmware.turns import Member, RolloutStep
from fleet_runner.core.firmware.waves import NO_WAVE
from fleet_runner.core.lifecycle.runs import Node, Run
from fleet_runner.web.access import Sees, Steers
from fleet_runner.web.intents import wake
from fleet_runner.web.live import Seen, SharedView
from fleet_runner.web.rendering import TEMPLATES, page
from fleet_runner.web.site import Here, Site

router = APIRouter()

LISTED = 100
"""Rollouts on a page, the newest."""

SHOWN = 200
"""Nodes of a wave, or of a reason, as a page shows them; the others are counted."""

LOOK_SECONDS = 2.0
"""Pause between two looks at a rollout."""

MANY = 2**63
"""More rollouts than the databases can number."""

TURNS = {
    "pause": (RolloutStatus.PAUSED, "paused"),
    "resume": (RolloutStatus.RUNNING, "resumed"),
    "stop": (RolloutStatus.STOPPED, "stopped"),
}
"""What a person may do with a rollout, where that brings it, and how it is said."""


class Out(NamedTuple):
    """A node that was asked: where it is, its open run and its open flash, None where there is none."""

    node: Node
    run: Run | None
    flash: Flash | None


class One(NamedTuple):
    """A rollout with its nodes; of those that are out, where they are."""

    rollout: Rollout
    members: tuple[Member, ...]
    out: tuple[Out, ...]


@router.get("/rollouts")
def rollouts(request: Request, here: Here, who: Sees) -> HTMLResponse:
    """List rollouts, the newest first."""
    newest = here.store.rollouts(LISTED)[::-1]
    tallies = here.store.rollout_counts(each.id for each in newest)
    found = [(each, tally(tallies.get(each.id, {}))) for each in newest]
    return page(request, who, "rollouts.html", found=found, limit=LISTED)


@router.get("/rollouts/{number}")
def rollout(request: Request, here: Here, who: Sees, number: int) -> HTMLResponse:
    """Show a rollout, wave by wave."""
    one = _one(here, number)
    acts = [name for name, (to, _) in TURNS.items() if not unturnable(one.rollout, to)]
    return page(request, who, "rollout.html", **_told(one), acts=acts, settings=here.settings)


@router.get("/rollouts/{number}/events")
async def rollout_events(request: Request, here: Here, who: Sees, number: int) -> StreamingResponse:
    """Tell how far a rollout is, as it happens."""
    del who
    await asyncio.to_thread(_one, here, number)
    drawn = TEMPLATES.get_template("rollout_live.html")

    def look() -> Seen:
        one = _one(here, number)
        return Seen(one, over=one.rollout.standing is RolloutStatus.DONE)

    scene = SharedView(("rollout", number), look, lambda one: {"waves": drawn.render(_told(one))}, every=LOOK_SECONDS)
    return here.live.stream(request, scene)


@router.get("/rollouts/{number}/{act}")
def asking(request: Request, here: Here, who: Steers, number: int, act: str) -> HTMLResponse:
    """Ask why a rollout is to be paused, resumed or stopped, and say what that means."""
    found = _one(here, number).rollout
    to, _ = _act(act)
    return page(request, who, "rollout_turn.html", rollout=found, act=act, refused=_refused(here, found, to))


@router.post("/rollouts/{number}/{act}")
def turn(
    here: Here, who: Steers, number: int, act: str, reason: Annotated[str, Form(max_length=500)] = ""
) -> RedirectResponse:
    """Pause, resume or stop a rollout."""
    found = _one(here, number).rollout
    to, word = _act(act)
    if not reason.strip():
        raise FleetError("no reason is given; it goes into the rollout and into nodes' histories")
    if refused := _refused(here, found, to):
        raise HTTPException(409, refused)
    now = here.clock()
    changed = turned(found, to, f"{word} by {who.name}: {printable(' '.join(reason.split()))}", now)
    here.store.change_rollout(found, changed, (), now=now)
    wake(here)
    return RedirectResponse(f"/rollouts/{number}", 303)


def _act(act: str) -> tuple[RolloutStatus, str]:
    if act not in TURNS:
        raise HTTPException(404, f"a rollout can be asked to {', '.join(TURNS)}, nothing else")
    return TURNS[act]


def _refused(here: Site, found: Rollout, to: RolloutStatus) -> str:
    """Say why a person cannot bring a rollout to a standing; "" where they can."""
    refused = unturnable(found, to)
    if not refused and to is RolloutStatus.RUNNING:
        refused = other(found, here.store.live_rollouts())
    return refused


def _one(here: Site, number: int) -> One:
    with here.store.one_moment():
        found = here.store.rollout(number) if 0 < number < MANY else None
        if found is None:
            raise HTTPException(404, "there is no such rollout; the list has all")
        members = here.store.rollout_members(number)
        names = [each.node for each in members if each.turn is RolloutStep.ASKED]
        runs = {run.node: run for run in here.store.open_runs(names)}
        flashes = {each.node: each for each in here.store.open_flashes()} if names else {}
        rows = here.store.some(names)
    return One(found, members, tuple(Out(row, runs.get(row.name), flashes.get(row.name)) for row in rows))


def _told(one: One) -> dict[str, Any]:
    """Return what the live part of a rollout's page shows."""
    waves = {wave: rows for wave, rows in by_wave(one.members).items() if wave != NO_WAVE}
    return {
        "rollout": one.rollout,
        "tally": counted(one.members),
        "total": len(one.members),
        "waves": [(wave_name(wave), counted(rows), rows) for wave, rows in waves.items()],
        "out": {each.node.name: each for each in one.out},
        "reasons": reasons(one.members),
        "waits": waits(one.rollout, one.members),
        "shown": SHOWN,
        "RolloutStep": RolloutStep,
        "what": what,
    }
