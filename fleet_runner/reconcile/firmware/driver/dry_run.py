"""What would be done to a node: every request, in order, and nothing of it is sent or written."""

from typing import Any

from fleet_runner.core.base.errors import BmcError, ImageError
from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import Flash, Seen
from fleet_runner.core.firmware.flash_events import silent
from fleet_runner.core.firmware.planner import Step
from fleet_runner.core.firmware.progress_text import FirmwareStatus, Report, line, versions
from fleet_runner.reconcile.firmware.driver import next_step, send
from fleet_runner.reconcile.firmware.driver.visit import Visit


def report(visit: Visit) -> Report:
    """Look once, and report the plan; a flash that is open is told of instead."""
    flash = visit.store.open_flash(visit.target.node) if visit.means.store else None
    seen = visit.looks.see(flash)
    if flash is not None:
        return _under_way(visit, flash, seen)
    if seen.versions is None:
        return visit.report(FirmwareStatus.UNREAD, seen.trouble)
    plan = next_step.plan(visit)
    visit.notes = plan.notes
    if plan.refused or (plan.stuck and not plan.steps):
        return visit.report(
            FirmwareStatus.REFUSED if plan.refused else FirmwareStatus.FAILED, "; ".join(plan.refused + plan.stuck)
        )
    try:
        steps = tuple(_shown(visit, step) for step in plan.steps)
    except (ImageError, BmcError) as error:
        stand = FirmwareStatus.REFUSED if isinstance(error, ImageError) else FirmwareStatus.UNREAD
        return visit.report(stand, str(error))
    if not steps:
        return visit.report(FirmwareStatus.DONE, next_step.all_right(visit))
    told = ", ".join(f"{step.component} {versions(step.before, step.targets)}" for step in plan.steps)
    then = f"; and then it has failed: {'; '.join(plan.stuck)}" if plan.stuck else ""
    return visit.report(FirmwareStatus.WAITING, visit.start or f"{len(steps)} to send: {told}{then}", steps=steps)


def _under_way(visit: Visit, flash: Flash, seen: Seen) -> Report:
    if silent(seen):
        why = f"flash {flash.id} is {flash.phase}, and the BMC does not say how far it is: {seen.trouble}"
        return visit.report(FirmwareStatus.UNREAD, why, flash)
    return visit.report(FirmwareStatus.WORKING, line(flash, f"it is {flash.phase}", seen.at, seen.task), flash)


def _shown(visit: Visit, step: Step) -> dict[str, Any]:
    """Return one request as it would be sent, with what comes before and after it."""
    way, uri = send.check(visit, step)
    return {
        "component": step.component,
        "why": step.why,
        "power": step.power.value,
        "transport": way.value,
        "method": "POST",
        "uri": uri,
        "requests": [request._asdict() for request in visit.looks.updates.requests(send.upload(visit, step))],
        "targets": list(step.uris),
        "image": step.image.file,
        "sha256": step.image.sha256,
        "force": step.image.force,
        "versions": {entry: [step.before[entry], version] for entry, version in step.targets.items()},
        "resets": [step.activate.value] * (step.times if step.activate is not Activate.NONE else 0),
        "seconds": step.seconds,
    }
