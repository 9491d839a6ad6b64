"""What proves a ticket done: whom to ask for what, and how that stands. A check closes it, nobody's word does."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.intents import READ_ONLY
from fleet_runner.core.lifecycle.runs import Held, IntentKind, Node, Run, Stored, Ticket
from fleet_runner.core.lifecycle.stages import progress
from fleet_runner.core.lifecycle.states import FABRICS, STATES, Condition, Stage, State
from fleet_runner.core.tickets.node_tickets import BOOTING, CABLING
from fleet_runner.core.tickets.trackers.changes import Act, Change

DONE, STUCK = "Done:", "Cannot be done:"
"""How the notes begin by which somebody says so on a page."""

_REQUESTS = re.compile(r"\((?:request|wish) ([0-9]{1,12}(?:, [0-9]{1,12})*)\)")

RESTING = frozenset({State.ONBOARD, State.TRIAGE, State.DEBUG, State.RMA, State.FIRMWARE_FAILED})
"""States that a node leaves when a person says so."""

NOTHING: Mapping[State, str] = {
    State.REGISTERED: "it is not checked before Day 0 has begun",
    State.RETIRED: "it is retired, and no check can be requested",
}
"""States in which nothing can be asked."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked of a node or a fabric, each with its detail; `sentence` says it to whoever asks."""

    node: str
    intents: tuple[tuple[IntentKind, str], ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class Claim:
    """Somebody said that it is done; `requests` are the ids of what was asked for then."""

    at: float
    by: str
    sentence: str
    intents: tuple[int, ...] = ()


class ProofStatus(StrEnum):
    """How a ticket stands with its proof."""

    OPEN = "to do"
    ASKED = "check requested"
    REFUSED = "proof refused"
    RUNNING = "the check is running"
    PASSED = "the check passed"
    SEEN = "still seen"
    UNSURE = "not known"
    CLOSED = "proved"


@dataclass(frozen=True, slots=True)
class ProofReport:
    """It, and why, in one sentence."""

    stand: ProofStatus
    sentence: str


@dataclass(frozen=True, slots=True)
class Answers:
    """What came of a claim: the requests' answers (None while nobody has), the runs and the result since then."""

    answers: tuple[tuple[bool, str] | None, ...] = ()
    runs: tuple[Run, ...] = ()
    result: Stored | None = None


def ask(ticket: Ticket, rows: Iterable[Node], stage: Stage | None) -> Ask | str:
    """Return what proves a ticket done, or in a sentence why nothing can be asked.

    `rows` are those of its nodes and fabrics that the store knows, who saw the fault first; `stage` is where it was
    seen. A whole fabric is asked before a node: one look there proves both ends.
    """
    known = sorted(rows, key=lambda row: row.state not in FABRICS)
    able = [row for row in known if row.state not in NOTHING]
    if not known:
        return "No node or fabric of this ticket is known any more: an operator must close it."
    if not able:
        return f"{known[0].name}: {NOTHING[known[0].state]}."
    return _ask(ticket, able[0], stage)


def _ask(ticket: Ticket, row: Node, stage: Stage | None) -> Ask | str:
    name, held = row.name, row.conditions.get(Condition.HELD)
    if row.state in FABRICS:
        return Ask(name, ((IntentKind.RUN, Stage.FABRIC.value),), f"Every link of {name} is checked now.")
    if row.state in RESTING:
        if stage is Stage.WIPE:
            return f"Only another wipe of {name} can verify it; it cannot be undone: an operator must request it."
        return _held(name, held) if held is not None else _moved(row, stage)
    looked = _stage(ticket, row, stage)
    return Ask(name, ((IntentKind.RUN, looked.value),), f"{name} is checked now ({looked}).")


def _held(name: str, held: Held) -> str:
    return f"{name} is held by {held.by} ({held.reason or 'no reason given'}); ask them to release it first."


def _moved(row: Node, stage: Stage | None) -> Ask:
    """A node that serves nobody goes on: its next state is the proof."""
    name, certified = row.name, (IntentKind.CERTIFY, "")
    if row.state is State.ONBOARD:
        return Ask(name, (certified,), f"{name} is certified: its parts, power and cabling are verified next.")
    if row.state is State.FIRMWARE_FAILED:
        return Ask(name, ((IntentKind.RETRY, ""),), f"{name} retries its firmware update.")
    if stage in BOOTING:
        return Ask(name, ((IntentKind.RETRY, ""),), f"{name} is booted again: it is verified when it is up.")
    said = f"{name} is marked as repaired and certified: its parts, power and cabling are verified next."
    return Ask(name, ((IntentKind.REPAIRED, ""), certified), said)


def _stage(ticket: Ticket, row: Node, stage: Stage | None) -> Stage:
    """Return the stage that looks again: where it was seen, if that may be asked for now."""
    may = {*READ_ONLY, *STATES[row.state].stages}
    if row.state is State.PRODUCTION:
        may.add(Stage.HEALTH_ACTIVE)
    if stage is not None and stage in may:
        return stage
    return Stage.CABLING if ticket.fault.startswith(CABLING) else Stage.HEALTH_PASSIVE


def told(sentence: str, intents: Iterable[int], words: str = "") -> str:
    """Return the note by which somebody says that it is done."""
    numbers = ", ".join(map(str, intents))
    asked = f" (request {numbers})" if numbers else ""
    return f"{DONE} {sentence}{asked}{f' What was done: {words}' if words else ''}"


def claim(changes: Iterable[Change]) -> Claim | None:
    """Return who said last that it is done; None where nobody has since it was opened, or somebody said it cannot."""
    found: Claim | None = None
    for change in changes:
        if change.act in {Act.OPENED, Act.REOPENED} or _is_stuck(change):
            found = None
        elif change.act is Act.NOTED and change.sentence.startswith(DONE):
            named = _REQUESTS.search(change.sentence)
            numbers = tuple(int(number) for number in named[1].split(", ")) if named else ()
            found = Claim(change.at, change.by, change.sentence, numbers)
    return found


def stuck(changes: Iterable[Change]) -> Change | None:
    """Return the note that says last why it cannot be done, unless somebody has done it since."""
    found: Change | None = None
    for change in changes:
        if _is_stuck(change):
            found = change
        elif change.act is not Act.SEEN and (change.act is not Act.NOTED or change.sentence.startswith(DONE)):
            found = None
    return found


def _is_stuck(change: Change) -> bool:
    return change.act is Act.NOTED and change.sentence.startswith(STUCK)


def waits(ticket: Ticket, said: Claim | None) -> bool:
    """Whether a ticket is done as far as hands go: nobody has seen its fault since somebody said so."""
    return said is not None and ticket.last_seen_at <= said.at


def standing(ticket: Ticket, said: Claim | None, came: Answers) -> ProofReport:
    """Return how a ticket stands with its proof."""
    if ticket.closed_at is not None:
        return ProofReport(ProofStatus.CLOSED, ticket.closed_because)
    if said is None:
        return ProofReport(ProofStatus.OPEN, "Nobody has reported it as done yet.")
    if came.result is not None and came.result.at >= said.at and all(run.ended_at is not None for run in came.runs):
        return _judged(ticket, came.result)
    return _waiting(ticket, said, came)


def _waiting(ticket: Ticket, said: Claim, came: Answers) -> ProofReport:
    """Return how it stands while no check has answered since."""
    refused = next((answer[1] for answer in came.answers if answer is not None and not answer[0]), "")
    if refused:
        return ProofReport(ProofStatus.REFUSED, refused)
    running = next((run for run in came.runs if run.ended_at is None), None)
    if running is not None:
        return ProofReport(ProofStatus.RUNNING, f"{progress(running, None)}.")
    if ticket.last_seen_at > said.at:
        return ProofReport(ProofStatus.SEEN, "The fault was found again after that.")
    if None in came.answers:
        return ProofReport(
            ProofStatus.ASKED, "The runner has not answered yet; a running runner answers within seconds."
        )
    ended = came.runs[-1] if came.runs else None
    if ended is not None:
        return ProofReport(
            ProofStatus.UNSURE, f"{ended.stage} ended without a result of {ticket.check}: {_outcome(ended)}."
        )
    return ProofReport(
        ProofStatus.ASKED, "The check is still pending." if came.answers else "No check was requested; it is noted."
    )


def _outcome(run: Run) -> str:
    return (run.detail or str(run.outcome)).rstrip(".")


def _judged(ticket: Ticket, stored: Stored) -> ProofReport:
    result = stored.result
    if any(finding.fault == ticket.fault for finding in result.findings):
        return ProofReport(ProofStatus.SEEN, f"{result.check} ran again and still finds it: {result.message}")
    if result.verdict is Verdict.PASS:
        return ProofReport(
            ProofStatus.PASSED, f"{result.check} passed: {result.message}. The ticket closes within seconds."
        )
    return ProofReport(ProofStatus.UNSURE, f"{result.check} says {result.verdict}: {result.message}")
