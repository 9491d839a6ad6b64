"""May something be done to a node that ends work, cuts power, boots it anew, flashes or erases it?"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from fleet_runner.core.checks.answers import code_of
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.faults.rules.rules import AtDeadline, Rules
from fleet_runner.core.lifecycle.preflight import work
from fleet_runner.core.lifecycle.preflight.machine import Identity, Match
from fleet_runner.core.lifecycle.runs import RUNNER


class Ends(StrEnum):
    """Which work a remedy of the runner's own may end; what a person asked for waits for all of it."""

    NONE = "none"
    LOST = "lost"  # a rule says `at_once`: work that is known to be lost
    ANY = "any"  # the policy says `at_deadline: act`: whatever is left when the drain's deadline is over


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a node beside what it and its BMC say.

    `boot` is the boot in which the boot service proved it, "" where there was none. `off` says that its BMC calls it
    off, `served` that what follows is a boot in which the boot service proves it. `sure` says that its identity must
    be proven; else it is enough that nothing speaks against it, because what follows proves it by itself. `wishes`
    says that its scheduler can tell of work that is never to be interrupted, or of who else has the node.
    """

    boot: str = ""
    off: bool = False
    served: bool = False
    sure: bool = True
    wishes: bool = False


class Used(NamedTuple):
    """What the node's processes and its scheduler said of its work, None where they were not asked."""

    usage: Result | None
    scheduler: Result | None


def unproven(found: Identity, known: Known) -> str:
    """Say why nothing may be done to the machine that answers; "" where it is the designed one.

    One of which neither its BMC nor its system tells anything is not touched, unless it was proven by its boot; nor
    one that may be two machines. A node that is off may be booted: the boot service gives nothing to another one.
    """
    if found.match is Match.OTHER:
        return found.sentence
    if found.match is Match.SAME or not known.sure:
        return ""
    if not found.doubt and (known.boot or (known.off and known.served)):
        return ""
    return f"nothing proves that this is the designed machine: {found.sentence}"


def unended(used: Used, known: Known, ends: Ends, *, scheduled: bool) -> str:
    """Say which work would end; "" where none is known to run, or that may be ended which runs.

    What is never to be interrupted, and a node that somebody else has, is left, whatever may be ended.
    """
    if kept := _kept(used.scheduler, known):
        return kept
    why = "" if known.off else work.running(used.usage, used.scheduler)
    if not why or ends is Ends.ANY:
        return ""
    lost = work.lost(used.usage, used.scheduler, scheduled=scheduled) if ends is Ends.LOST else ""
    return "" if lost else why


def _kept(scheduler: Result | None, known: Known) -> str:
    """Say why nothing may be ended whatever the rules say; a node that is off runs nothing, and may have an owner."""
    observed = scheduler.observed if scheduler is not None else {}
    if owner := observed.get(work.OWNER):
        return f"it is left to {owner}"
    if known.off:
        return ""
    if never := observed.get(work.NEVER):
        return f"{never[0]} is never to be interrupted"
    if known.wishes and (scheduler is None or scheduler.verdict is Verdict.UNKNOWN):
        return "its scheduler does not say whether its work may be interrupted"
    return ""


def ends(rules: Rules, device_type: str, attempt: Attempt) -> Ends:
    """Return which work the remedy that is carried out may end, by the rules of its faults."""
    if attempt.by != RUNNER:
        return Ends.NONE
    if rules.at_deadline is AtDeadline.ACT:
        return Ends.ANY
    codes = {code_of(fault) for fault in attempt.faults}
    told = any(rules.of(device_type, code).at_once or rules.seen(device_type, code).at_once for code in codes)
    return Ends.LOST if told else Ends.NONE
