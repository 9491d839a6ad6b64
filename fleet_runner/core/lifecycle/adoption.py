"""Whether a node that serves already may be adopted as it is: what a survey saw of it, held against the design."""

from collections.abc import Iterator

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle import registration
from fleet_runner.core.lifecycle.registration import FRESH, OFF, POWER, UP, said
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.view import View

IDENTITY = "machine_identity"
SCHEDULER = "scheduler"
"""The checks of a survey that say whose machine answers, and whether the scheduler gives it work."""

UNSEEN = frozenset({Outcome.LOST, Outcome.CANCELLED})
"""How a survey ends of which nothing is known."""


def survey(view: View, asked_at: float) -> Run | None:
    """Return the survey that answers for a request of a moment (epoch seconds): from after it, or lately before it.

    One whose end was not seen answers for no request but that for which it was made.
    """
    last = registration.survey(view)
    if last is None or (last.outcome in UNSEEN and last.opened_at < asked_at):
        return None
    return last if (last.ended_at or 0.0) >= asked_at - FRESH else None


def evidence(view: View) -> tuple[int, ...]:
    """Return the ids of the results that a node is adopted by."""
    last = registration.survey(view)
    return tuple(each.id for each in view.latest if last is not None and each.run == last.id)


def reasons(view: View) -> tuple[str, ...]:
    """Return why a node may not be adopted, a clause each; none where it serves as it was designed."""
    return tuple(_reasons(view))


def _reasons(view: View) -> Iterator[str]:
    up, power, identity = said(view, UP), said(view, POWER), said(view, IDENTITY)
    if up is None or up.result.verdict is not Verdict.PASS:
        last = registration.survey(view)
        why = up.result.message if up is not None else last.detail if last is not None else ""
        yield f"it does not answer over ssh{f' ({why})' if why else ''}"
        return
    if power is not None and power.result.verdict is Verdict.PASS and power.result.observed.get("power") == OFF:
        yield f"it answers over ssh, and its BMC says: {power.result.message}; is that its BMC?"
    if identity is None or identity.result.verdict is not Verdict.PASS:
        yield identity.result.message if identity is not None else "its machine was not identified"
    yield from _scheduled(view)


def _scheduled(view: View) -> Iterator[str]:
    """Where a scheduler gives nodes work, it must give this one some: what somebody drained is theirs to judge."""
    if not view.scheduled:
        return
    found = said(view, SCHEDULER)
    if found is None or found.result.verdict is Verdict.SKIPPED:
        yield "the scheduler does not know it"
    elif found.result.verdict is not Verdict.PASS:
        yield f"the scheduler's answer is missing: {found.result.message}"
    elif not found.result.observed.get("takes_work"):
        yield f"the scheduler gives it no work: {found.result.message}"
