"""What runs now and ran before, as it happens; and how the queue is steered."""

import asyncio
from statistics import median
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import APIRouter, Depends, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse

from fleet_runner.adapters.files import known_secrets
from fleet_runner.adapters.plays import log
from fleet_runner.adapters.store.runs.past import SoughtRuns
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.base.redaction import Scrubber
from fleet_runner.core.lifecycle.runs import Outcome, Run, Stored
from fleet_runner.core.lifecycle.states import STAGES, Stage
from fleet_runner.reconcile.lifecycle import queue as queueing
from fleet_runner.reconcile.lifecycle.queue import Line
from fleet_runner.web.access import Sees, Steers
from fleet_runner.web.intents import wake
from fleet_runner.web.live import Seen, SharedView
from fleet_runner.web.rendering import TEMPLATES, page
from fleet_runner.web.site import Here, Site

router = APIRouter()

SHOWN = 100
"""Runs that are under way, and batches that wait, as a page shows them; the others are counted."""

PAST = 200
"""Runs that are over on a page."""

RESULTS = 200
"""Results of a run on its page, the newest."""

NOW_SECONDS = 2.0
"""Pause between two looks at all that runs."""

LONGEST_ID = 2**63
"""More runs than the databases can number."""

Reason = Annotated[str, Form(max_length=500)]


Word = TypeVar("Word", Stage, Outcome)


class Now(NamedTuple):
    """What runs, each with the batch that carries it, and which batches wait; how many there are of both."""

    running: tuple[tuple[Run, str, str], ...]
    waiting: tuple[Line, ...]
    runs: int
    batches: int


class One(NamedTuple):
    """A run and its newest results; how many there are of them."""

    run: Run
    results: tuple[Stored, ...]
    total: int


def filtered(stage: str = "", outcome: str = "", node: str = "") -> SoughtRuns:
    """Return which runs a form asks for."""
    return SoughtRuns(node.strip()[:253], _named(Stage, stage, "stage"), _named(Outcome, outcome, "outcome"))


Sought = Annotated[SoughtRuns, Depends(filtered)]


@router.get("/runs")
def runs(request: Request, here: Here, who: Sees, sought: Sought, below: int = 0) -> HTMLResponse:
    """Show what runs, what waits and why, who runs, and what is over."""
    past = here.store.past_runs(sought, below=below if 0 < below < LONGEST_ID else None, limit=PAST)
    decides = queueing.deciding(here.settings, here.store)
    known = queueing.runners(here.settings, here.store)
    return page(
        request,
        who,
        "runs.html",
        seen=_now(here),
        paused=here.store.queue_paused(),
        runners=[(each, queueing.standing(each, decides, here.settings.lease_seconds)) for each in known],
        shared=here.store.shared,
        past=past,
        sought=sought,
        below=below,
        stages=list(Stage),
        outcomes=list(Outcome),
        STAGES=STAGES,
        limit=PAST,
    )


@router.get("/runs/events")
async def runs_events(request: Request, here: Here, who: Sees) -> StreamingResponse:
    """Tell of what runs, as it happens."""
    del who
    scene = SharedView("runs", lambda: Seen(_now(here)), _drawn("runs_now.html", "now"), every=NOW_SECONDS)
    return here.live.stream(request, scene)


@router.get("/runs/queue")
def queue(request: Request, here: Here, who: Steers) -> HTMLResponse:
    """Ask why the queue is paused."""
    return page(request, who, "runs_queue.html", paused=here.store.queue_paused())


@router.post("/runs/queue/pause")
def pause(here: Here, who: Steers, reason: Reason = "") -> RedirectResponse:
    """Have nothing more begin; what runs goes on."""
    here.store.pause_queue(who.name, _because(reason, "why the queue is paused"))
    return RedirectResponse("/runs", 303)


@router.post("/runs/queue/resume")
def resume(here: Here, who: Steers) -> RedirectResponse:
    """Start what waits again."""
    del who
    here.store.resume_queue()
    wake(here)
    return RedirectResponse("/runs", 303)


@router.get("/runs/{number}")
def run(request: Request, here: Here, who: Sees, number: int) -> HTMLResponse:
    """Show a run: how far it is, what it found, and what its play wrote."""
    one = _one(here, number)
    carrier = ""
    if one.run.outcome is None and here.store.shared:
        carrier = next((each.runner for each in here.store.parcels([one.run.batch])), "")
    past = here.store.durations(one.run.stage)
    return page(
        request,
        who,
        "run.html",
        run=one.run,
        one=one,
        usual=median(past) if past else None,
        carrier=carrier,
        shared=here.store.shared,
        queued=queueing.queued(here.settings, here.store).get(one.run.node, "") if one.run.outcome is None else "",
        log=_log(here, one.run),
        STAGES=STAGES,
        limit=RESULTS,
    )


@router.get("/runs/{number}/events")
async def run_events(request: Request, here: Here, who: Sees, number: int) -> StreamingResponse:
    """Tell how far a run is and what it finds, until it is over."""
    del who
    await asyncio.to_thread(_one, here, number)

    def look() -> Seen:
        one = _one(here, number)
        return Seen(one, over=one.run.outcome is not None)

    return here.live.stream(request, SharedView(("run", number), look, _drawn("run_live.html", "one")))


@router.get("/runs/{number}/stop")
def stopping(request: Request, here: Here, who: Steers, number: int) -> HTMLResponse:
    """Ask whether a run is to end, and say what ends with it."""
    one = _one(here, number)
    with_it = sorted(each.node for each in here.store.open_runs() if each.batch == one.run.batch)
    return page(request, who, "run_stop.html", run=one.run, nodes=with_it, shown=SHOWN)


@router.post("/runs/{number}/stop")
def stop(here: Here, who: Steers, number: int, reason: Reason = "") -> RedirectResponse:
    """End a run, with its batch."""
    found = _one(here, number).run
    because = _because(reason, "why it is to end")
    if found.outcome is not None:
        raise HTTPException(409, f"run {number} has ended already: {found.outcome}")
    queueing.stop(here.settings, here.store, found.batch, (who.name, because))
    wake(here)
    return RedirectResponse(f"/runs/{number}", 303)


def _one(here: Site, number: int) -> One:
    with here.store.one_moment():
        found = here.store.run(number) if 0 < number < LONGEST_ID else None
        if found is None:
            raise HTTPException(404, "there is no such run; it may have been deleted by retention")
        results = here.store.results(number)
    return One(found, results[-RESULTS:], len(results))


def _now(here: Site) -> Now:
    opened = here.store.open_runs()
    lines = {line.batch: line for line in queueing.queue(here.settings, here.store)}
    begun = {run.batch for run in opened if run.total}
    # How long a batch waits is another figure at each look, and no news.
    waiting = [
        line._replace(since=0.0) for line in lines.values() if line.state != "runs" and line.batch not in begun
    ]
    names = {line.batch for line in waiting}
    running = [run for run in opened if run.batch not in names]
    rows = [(run, line.runner, line.why) if (line := lines.get(run.batch)) else (run, "", "") for run in running]
    return Now(tuple(rows[:SHOWN]), tuple(waiting[:SHOWN]), len(running), len(waiting))


def _drawn(template: str, name: str) -> Any:
    """Return what draws one part of a page of a value."""
    found = TEMPLATES.get_template(template)
    return lambda value: {name: found.render({name: value, "STAGES": STAGES, "limit": RESULTS})}


def _log(here: Site, run: Run) -> log.PlayLog | None:
    if not run.batch:
        return None
    scrubber = Scrubber(known_secrets.known(here.settings, here.fleet()))
    return log.tail(here.settings.batches_dir, run.batch, scrubber)


def _because(reason: str, what: str) -> str:
    if not reason.strip():
        raise FleetError(f"no reason is given; say {what}")
    return printable(" ".join(reason.split()))


def _named(words: type[Word], text: str, what: str) -> Word | None:
    try:
        return words(text) if text else None
    except ValueError:
        known = ", ".join(words)
        raise HTTPException(400, f"there is no such {what}; there are {known}") from None
