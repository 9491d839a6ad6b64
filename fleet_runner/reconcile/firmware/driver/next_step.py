"""What to begin where no flash is open: nothing, a switch of the host's power, or the next flash of the plan."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from fleet_runner.core.base.errors import ImageError
from fleet_runner.core.firmware import leftovers, planner
from fleet_runner.core.firmware.catalogue import Activate, Catalogue, Power
from fleet_runner.core.firmware.flash import End, Flash, Seen, TaskEnd
from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.core.firmware.matching import match, meant
from fleet_runner.core.firmware.planner import Plan, Step
from fleet_runner.core.firmware.progress_text import FirmwareStatus, Report, span
from fleet_runner.reconcile.firmware.driver import activate, send
from fleet_runner.reconcile.firmware.driver.lease import steady
from fleet_runner.reconcile.firmware.driver.visit import Chosen, Visit

ATTEMPTS = 2
"""Flashes of one entry to one version before it is given up, in one stay in the state."""

SURE = 2  # looks in a row that must agree before anything is begun

BY_HAND = frozenset({Activate.AC_DRAIN, Activate.BMC_RESET})
"""Activations that a BMC may offer no way to."""

SPENT = {End.FAILED: 1, End.NOT_SENT: ATTEMPTS}
"""Ends of a flash, and the attempts that it was: what a BMC has refused several times it will refuse again."""


def begin(visit: Visit) -> Report | None:
    """Take the next step that nobody has begun; a report where there is none, or where none may be taken."""
    if visit.start:
        return visit.report(FirmwareStatus.WAITING, visit.start)
    seen = visit.looks.see()
    if visit.chosen:
        return _take(visit, seen, visit.chosen)
    busy = _busy(seen)
    silent = seen.trouble if seen.versions is None else missing(visit.means.catalogue, visit.looks.entries)
    if silent and (soon := busy or _coming(visit, seen, silent)):
        return visit.wait(FirmwareStatus.WAITING, soon, visit.means.pace.poll)
    if seen.versions is None or (silent and seen.stable < visit.means.pace.stable):
        return unread(visit, silent)
    if seen.stable < min(SURE, visit.means.pace.stable):
        return None
    return visit.wait(FirmwareStatus.WAITING, busy, visit.means.pace.poll) if busy else _planned(visit, seen)


def plan(visit: Visit) -> Plan:
    """Plan from the newest look and from what failed before."""
    given_up = failed(visit.flashes())
    updates, means = visit.looks.updates, visit.means
    return planner.plan(
        means.catalogue,
        visit.looks.entries,
        boards=updates.boards(),
        failed=given_up,
        customer=means.customer,
        maker=updates.maker(),
    )


def all_right(visit: Visit) -> str:
    """Say that there is nothing to do, and of what."""
    ours = " that is ours" if visit.means.customer else ""
    return f"every firmware component{ours} has an accepted version"


def failed(flashes: Iterable[Flash]) -> dict[str, frozenset[str]]:
    """Return the versions that were tried in vain as often as they may be, by entry."""
    given_up: dict[str, set[str]] = {}
    for (entry, version), count in _tries(flashes).items():
        if count >= ATTEMPTS:
            given_up.setdefault(entry, set()).add(version)
    return {entry: frozenset(some) for entry, some in given_up.items()}


def missing(catalogue: Catalogue, entries: Mapping[str, Entry]) -> str:
    """Say which component the inventory does not tell of now; it may, once the host is on and has come up."""
    for row, mine in match(catalogue, entries).rows:
        if len(mine) < (row.count or 1):
            return f"the BMC lists {len(mine) or 'no'} {row.name} ({meant(row)})"
        if silent := [entry.id for entry in mine if not entry.version]:
            return f"the BMC gives no version of {silent[0]}"
    return ""


def unread(visit: Visit, why: str) -> Report | None:
    """Look some more times at a BMC that does not tell what has to be known; then the visit is over.

    Not for some time: of a slow BMC that would be one look, which never shows that it stays so.
    """
    visit.silent += 1
    if visit.silent > visit.means.pace.stable:
        return visit.report(FirmwareStatus.UNREAD, why)
    return visit.wait(FirmwareStatus.UNREAD, why, visit.means.pace.poll)


def _coming(visit: Visit, seen: Seen, why: str) -> str:
    """Say why the BMC may soon tell what it does not tell now; empty where nothing speaks for it."""
    now, pace = steady(), visit.means.pace
    if seen.power == "Off" and (left := _staged(visit, seen)):
        return left
    if seen.power == "Off" and visit.switched_at is None:
        switch(visit, Power.ON)
        return f"{why}; the host is off, and is switched on"
    resets = [flash.activated_at or 0.0 for flash in visit.flashes()]
    up_at = max(visit.switched_at or 0.0, *resets, 0.0)
    ago = f"it was reset {span(now - up_at)} ago, and may take {span(pace.boot)} to tell"
    return f"{why}; {ago}" if now < up_at + pace.boot else ""


def _busy(seen: Seen) -> str:
    """Say what the BMC does that nobody here began; empty where it is at rest."""
    running = [task for task in (seen.tasks or {}).values() if task.state is TaskEnd.RUNNING]
    if running:
        name = f" ({running[0].name})" if running[0].name else ""
        return f"the BMC works on {running[0].uri}{name}, not started by fleet-runner; nothing is sent until it ends"
    return "the BMC runs an update that fleet-runner did not start" if seen.busy else ""


def left(visit: Visit, seen: Seen, step: Step) -> str:
    """Say what is staged and would be done by a start of the host that a step needs; empty where nothing is."""
    starts = step.activate in activate.HOST or activate.wrong(step.power, seen.power)
    return _staged(visit, seen) if starts else ""


def _staged(visit: Visit, seen: Seen) -> str:
    node, since = visit.target.node, visit.target.since
    bios = visit.store.bios_try(node, since) is not None
    return leftovers.staged((seen.tasks or {}).values(), visit.store.flashes(node), bios=bios)


def _planned(visit: Visit, seen: Seen) -> Report | None:
    if waiting := _hands(visit, seen):
        return visit.report(FirmwareStatus.FAILED, waiting.detail, waiting)
    made = plan(visit)
    visit.notes = made.notes
    if made.steps:
        return _next(visit, seen, made)
    flashes = visit.flashes()
    newest = flashes[-1] if flashes and flashes[-1].end in SPENT else None
    wrong = "; ".join((*made.stuck, *made.refused))
    if newest and wrong:
        return _roll_back(visit, seen, newest, wrong)
    if made.refused:
        return visit.report(FirmwareStatus.REFUSED, wrong)
    if made.stuck:
        return visit.report(FirmwareStatus.FAILED, wrong)
    return visit.report(FirmwareStatus.DONE, all_right(visit))


def _hands(visit: Visit, seen: Seen) -> Flash | None:
    """Return the newest flash if a reset that its BMC has no way to do must still be done by hand.

    Written once more, it would only be pending once more. A BMC that started since has had that reset.
    """
    newest = next(iter(visit.store.flashes(visit.target.node, limit=1)), None)
    if newest is None or newest.end is not End.FAILED or newest.activate not in BY_HAND:
        return None
    refused = newest.activations > 0 and newest.activated < newest.times
    as_before = all((seen.versions or {}).get(entry) == was for entry, was in newest.before.items())
    asked, started = newest.activated_at or 0.0, seen.bmc_reset_at
    pending = newest.intended_at >= visit.target.since if started is None else started < asked
    return newest if refused and as_before and pending else None


def _next(visit: Visit, seen: Seen, made: Plan) -> Report | None:
    """Take the first step of a plan, once the images of all are seen to be right.

    That may take minutes, and longer than a visit: it is brought to its end, or no visit would ever come further.
    """
    began = time.monotonic()
    try:
        for step in made.steps[:1] if visit.checked else made.steps:
            send.check(visit, step)
    except ImageError as error:
        return visit.report(FirmwareStatus.REFUSED, str(error))
    known, visit.checked = visit.checked, True
    if not known and time.monotonic() - began > visit.means.pace.poll:  # the look is old by now
        return None
    visit.then = tuple(step.component for step in made.steps[1:])
    visit.chosen = Chosen(made.steps[0])
    return _take(visit, seen, visit.chosen)


def _roll_back(visit: Visit, seen: Seen, newest: Flash, wrong: str) -> Report | None:
    """Bring back a version that is right after a flash that failed, if there is a way; else the node has failed."""
    step = planner.rollback(visit.means.catalogue, undone(visit.flashes(), newest), visit.looks.entries)
    why = step if isinstance(step, str) else ""
    if isinstance(step, Step):
        try:
            send.check(visit, step)
        except ImageError as error:
            why = str(error)
        else:
            visit.then, visit.chosen = (), Chosen(step, newest.id)
            return _take(visit, seen, visit.chosen)
    return visit.report(FirmwareStatus.FAILED, f"{wrong}; {newest.detail}; not rolled back: {why}", newest)


def undone(flashes: Iterable[Flash], flash: Flash) -> Flash:
    """Return a flash that failed with the versions from before the first of its attempts, which a rollback brings."""
    same = [each for each in flashes if each.targets == flash.targets and each.rolls_back is None]
    return replace(flash, before=same[0].before) if same else flash


def _take(visit: Visit, seen: Seen, chosen: Chosen) -> Report | None:
    """Switch the host as the chosen step needs it, then write the flash down and send its image.

    A host that is off tells less than was planned with, so what was chosen stands until its power is right.
    """
    seen = replace(seen, tasks=visit.looks.tasks(), busy=visit.looks.updates.updating())
    if busy := _busy(seen) or left(visit, seen, chosen.step):
        return visit.wait(FirmwareStatus.WAITING, busy, visit.means.pace.poll)
    if activate.wrong(chosen.step.power, seen.power):
        return _switch_for(visit, seen, chosen)
    if unready := visit.looks.updates.unready():
        told = f"the BMC takes no update just now: {unready}"
        return visit.wait(FirmwareStatus.WAITING, told, visit.means.pace.poll)
    flash = _flash(visit, chosen, seen)
    visit.changed, visit.chosen = True, None
    intended = visit.write(lambda store: store.intend(flash, visit.target.holder, now=time.time()))
    send.send(visit, intended, chosen.step)
    return None


def _flash(visit: Visit, chosen: Chosen, seen: Seen) -> Flash:
    tries = _tries(visit.flashes())
    target, step = visit.target, chosen.step
    return Flash(
        id=0,
        node=target.node,
        component=step.component,
        before=step.before,
        targets=step.targets,
        image=step.image.file,
        sha256=step.image.sha256,
        activate=step.activate,
        times=step.times,
        seconds=step.seconds,
        attempt=1 + max((tries[entry, version] for entry, version in step.targets.items()), default=0),
        intended_at=steady(),
        by=target.by,
        run=target.run[0] if target.run else None,
        rolls_back=chosen.rolls_back,
        tasks_before=tuple(seen.tasks or ()),
        bmc_reset_before=seen.bmc_reset_at,
    )


def _switch_for(visit: Visit, seen: Seen, chosen: Chosen) -> Report | None:
    """Switch the host once, and wait until its BMC says so."""
    pace, now, step = visit.means.pace, steady(), chosen.step
    if not chosen.switched:
        visit.chosen = chosen._replace(switched=True)
        switch(visit, step.power)
    elif now > (visit.switched_at or now) + pace.boot:
        message = f"the host was set to {step.power}, and its BMC says {seen.power} after {span(pace.boot)}"
        return visit.report(FirmwareStatus.UNREAD, f"{message}; look at the node")
    why = f"{step.component} is written while the host is {step.power}, and it is {seen.power}"
    return visit.wait(FirmwareStatus.WAITING, why, pace.poll)


def switch(visit: Visit, power: Power) -> None:
    """Switch the host with nothing open."""
    visit.confirm()
    visit.switched_at, visit.changed = steady(), True
    visit.looks.bmc.power(activate.ACTIONS[power])


def _tries(flashes: Iterable[Flash]) -> Counter[tuple[str, str]]:
    tries: Counter[tuple[str, str]] = Counter()
    for flash in flashes:
        tries.update(dict.fromkeys(flash.targets.items(), SPENT.get(flash.end, 0) if flash.end else 0))
    return tries
