"""What a fabric needs: a sweep several times a day, a second one soon where something was seen for the first time."""

import math
from collections.abc import Iterable
from datetime import UTC, datetime

from fleet_runner.core.cabling.explain import some
from fleet_runner.core.cabling.fabrics import NVLINK_TYPE
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.confirmation import Worth, seen_once, speaks, suspect, touches, unsure, weigh
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.runs import Run, Stored
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.lifecycle.view import FAR, Timing, View

CABLING = frozenset({"fabric_cabling", "fabric_ethernet", "fabric_nvlink"})
"""The checks that sweeps are made for; whatever else is read with them can wait for the next one."""

NO_OBSERVER = "No node that is up has a port in this fabric, so nothing can read it; bring one into service."

DAY = 86_400.0

SOON = 300.0
"""Seconds after which an NVLink domain is looked at: did a compute tray lose links? It is swept before a reboot."""


def watch(view: View, timing: Timing, now: float) -> Decision:
    """Decide for a fabric."""
    if view.status is None:
        return Decision((), "the source of truth does not know it any more; it is not swept", now + FAR)
    sweeps = _sweeps(view)
    if not view.observers:
        return Decision((), _sentence(NO_OBSERVER, _last_words(view, sweeps)), now + timing.passive.pause)
    due, why = _due(view, sweeps, timing, now)
    if now >= due:
        return Decision((OpenRun(Stage.FABRIC, why),), "fabric starts", now)
    next_one = why if timing.cabling.is_off else f"next sweep at {_clock(due, now)}"
    look = SOON if view.node.device_type == NVLINK_TYPE else FAR
    leak = f"{view.domain_leak}; " if view.domain_leak else ""
    return Decision((), f"{leak}{_last_words(view, sweeps)}; {next_one}", min(now + look, due))


def told(view: View, timing: Timing, now: float) -> tuple[str, float, str]:
    """Return how the last sweep went, when the next one is due (epoch seconds), and why then."""
    sweeps = _sweeps(view)
    due, why = _due(view, sweeps, timing, now)
    return _last_words(view, sweeps), due, why


def _sweeps(view: View) -> list[Run]:
    return [run for run in view.runs if run.stage is Stage.FABRIC]


def _due(view: View, sweeps: list[Run], timing: Timing, now: float) -> tuple[float, str]:
    """Return when the next sweep is due, and why."""
    if timing.cabling.is_off:
        return math.inf, f"the schedule of sweeps is {timing.cabling.standing.paused}"
    if not sweeps:
        return 0.0, "first sweep of the fabric"
    ended = sweeps[-1].ended_at or 0.0
    silent = _silent(view, sweeps)
    if silent:
        pause = min(timing.retry * 2.0 ** min(silent - 1, 20), timing.cabling.pause)
        return ended + pause, f"{silent} sweep(s) in a row gave no verdict"
    if view.suspected_at > ended:
        again = max(view.suspected_at, ended + min(timing.confirm, timing.cabling.pause))
        return again, "a compute tray lost links; is the cause outside of it?"
    once = len(seen_once(view))
    if once:
        again = ended + min(timing.confirm, timing.cabling.pause)
        return again, f"{once} fault(s) were seen once; are they still there?"
    return timing.cabling.due(view.node.name, ended, now), "scheduled sweep"


def _silent(view: View, sweeps: list[Run]) -> int:
    """Return how many sweeps in a row, up to now, said nothing about the cabling."""
    spoke = _spoke(view)
    return sum(spoke is None or run.id > spoke.run for run in sweeps)


def _last_words(view: View, sweeps: list[Run]) -> str:
    """Say how the last sweep went."""
    if not sweeps:
        return "it was not swept yet"
    answer = _spoke(view)
    if answer is None or _silent(view, sweeps):
        return f"UNKNOWN: {sweeps[-1].detail or sweeps[-1].outcome}"
    whole = suspect(answer.result)
    if whole is not None:
        return whole.message.rstrip(".")
    words = [_matched(answer)]
    words += [counted for stored in view.latest if speaks(stored.result) for counted in _counted(view, stored)]
    silent = answer.result.observed.get("unread") or ()
    if isinstance(silent, list | tuple) and silent:
        words.append(
            f"{len(silent)} {'switches' if len(silent) > 1 else 'switch'} not read ({some(map(str, silent))})"
        )
    doubtful = len(unsure(answer.result))
    return ", ".join([*words, *([f"{doubtful} device(s) or link(s) that cannot be judged"] if doubtful else [])])


def _spoke(view: View) -> Stored | None:
    """Return the newest answer about the cabling."""
    found = (*view.latest, *view.before)
    return next((each for each in found if each.result.check in CABLING and speaks(each.result)), None)


def _matched(answer: Stored) -> str:
    """Return "1,536 of 1,538 links as designed"; where the numbers are missing, the check's own words."""
    designed, matched = (answer.result.observed.get(name) for name in ("designed", "matched"))
    if not (isinstance(designed, int) and isinstance(matched, int)):
        return answer.result.message.rstrip(".")
    return f"{matched:,} of {designed:,} links as designed"


def _counted(view: View, stored: Stored) -> Iterable[str]:
    """Return what a check of the sweep found: "2 faults", "1 unconfirmed", "1 excused (gpu-03 is in triage)"."""
    weighed = [(each, worth) for each, worth in weigh(view, stored) if each.remedy is not Remedy.RECORD]
    if not weighed:
        return
    what = "fault" if stored.result.check in CABLING else f"fault of {stored.result.check}"
    yield f"{len(weighed)} {what if len(weighed) == 1 else what.replace('fault', 'faults')}"
    once = sum(worth is Worth.ONCE for _, worth in weighed)
    if once:
        yield f"{once} unconfirmed"
    let_off = [each for each, worth in weighed if worth is Worth.EXCUSED]
    if let_off:
        why = sorted({view.excused[name] for each in let_off for name in touches(each) & view.excused.keys()})
        more = f" and {len(why) - 2} more" if len(why) > 2 else ""  # noqa: PLR2004  two are enough to understand it
        yield f"{len(let_off)} excused ({', '.join(why[:2])}{more})"


def _clock(at: float, now: float) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    return moment.strftime("%H:%M UTC" if at - now < DAY else "%Y-%m-%d %H:%M UTC")


def _sentence(first: str, then: str) -> str:
    return f"{first.rstrip('.')}; last sweep: {then}"
