"""What a tenant reads about a node of theirs: plain sentences from tables, and nothing from anybody's free text.

A reason, a ticket or a run may name a neighbour's node or another tenant; a state, a transition and a remedy do not.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.lifecycle.runs import Entry, Node
from fleet_runner.core.lifecycle.states import ENDED, FABRICS, REMEDIED, SERVING, STATES, Condition, Event, State


class Said(NamedTuple):
    """How a state is told: a few words, what is being done, and what happens next."""

    word: str
    now: str
    next: str


TESTED = "It is checked and tested under load, which takes one to two days; then it serves."

SAID: Mapping[State, Said] = {
    State.REGISTERED: Said("planned", "It is planned; work on it has not begun.",
                           "It is set up, checked and tested under load before it serves."),
    State.PROVISION: Said("being set up", "It is being started and set up.",
                          "A technician looks it over; then it is checked and tested under load."),
    State.ONBOARD: Said("being set up", "A technician looks it over by hand.", TESTED),
    State.VERIFY: Said("being checked", "Its parts and its cables are being checked.", TESTED),
    State.FIRMWARE: Said("being updated", "The software of its parts is being updated.", TESTED),
    State.FIRMWARE_FAILED: Said("being repaired", "An update did not end as it should; our people look into it.",
                                "The update is tried again, or the node is repaired. " + TESTED),
    State.BURN_IN: Said("being tested", "It is being tested under full load, which takes one to two days.",
                        "When the tests pass, it serves."),
    State.PRODUCTION: Said("serving", "It serves; we watch it all the time.", ""),
    State.RESET: Said("being repaired", "Its GPUs, or one of its services, are being restarted to clear a fault.",
                      "It is checked and serves again; if that does not help, the whole node is restarted."),
    State.REBOOT: Said("being repaired", "It is being restarted to clear a fault.",
                       "It is checked and serves again; if that does not help, our people look into it."),
    State.TRIAGE: Said("being repaired", "It has a fault that a restart does not clear; our people look into it.",
                       "It is repaired. " + TESTED),
    State.DEBUG: Said("being repaired", "A technician works on it.", TESTED),
    State.RMA: Said("being repaired", "It, or a part of it, is with its maker for repair.",
                    "When it is back: " + TESTED[0].lower() + TESTED[1:]),
    State.WIPE: Said("being erased", "Everything that was stored on it is being erased.",
                     "Our people decide whether it is repaired or leaves service."),
    State.RETIRED: Said("out of service for good", "It has left service for good.", ""),
    State.WATCHED: Said("watched", "It is watched.", ""),
}  # fmt: skip
"""Every state in a tenant's words."""

CAME: Mapping[State, str] = {
    State.REGISTERED: "It was planned.",
    State.PROVISION: "It was started to be set up.",
    State.ONBOARD: "It was handed to a technician, who looks it over.",
    State.VERIFY: "A check of its parts and cables began.",
    State.FIRMWARE: "The software of its parts began to be updated.",
    State.FIRMWARE_FAILED: "An update did not end as it should; our people looked into it.",
    State.BURN_IN: "A test under full load began.",
    State.PRODUCTION: "It passed its tests and came into service.",
    State.RESET: "A fault was found. It left service, and its GPUs or a service were restarted.",
    State.REBOOT: "A fault was found. It left service and was restarted.",
    State.TRIAGE: "A fault was found that our people had to look into.",
    State.DEBUG: "A technician began to work on it.",
    State.RMA: "It, or a part of it, went back to its maker for repair.",
    State.WIPE: "Everything that was stored on it began to be erased.",
    State.RETIRED: "It left service for good.",
    State.WATCHED: "It began to be watched.",
}
"""What happened when a node came to a state; some ways there are told in other words."""

WAYS: Mapping[tuple[State, Event], str] = {
    (State.RESET, Event.PASSED): "The fault was cleared, its checks passed, and it served again.",
    (State.REBOOT, Event.PASSED): "The restart cleared the fault, its checks passed, and it served again.",
    (State.RESET, Event.FAILED): "That did not clear the fault, so the whole node was restarted.",
    (State.RESET, Event.OVERDUE): "That took too long; our people looked into it.",
    (State.REBOOT, Event.FAILED): "The restart did not clear the fault; our people looked into it.",
    (State.REBOOT, Event.OVERDUE): "The restart took too long; our people looked into it.",
    (State.PROVISION, Event.FAILED): "It did not start as it should; our people looked into it.",
    (State.PROVISION, Event.OVERDUE): "It did not start in time; our people looked into it.",
    (State.VERIFY, Event.FAILED): "A check found that something must be corrected by hand.",
    (State.VERIFY, Event.OVERDUE): "A check took too long; a technician looked.",
    (State.BURN_IN, Event.FAILED): "A test under load found a fault; our people looked into it.",
    (State.BURN_IN, Event.OVERDUE): "A test under load took too long; our people looked into it.",
    (State.TRIAGE, Event.REPAIRED): "It was repaired and handed to a technician, who looks it over.",
    (State.DEBUG, Event.REPAIRED): "It was repaired and handed to a technician, who looks it over.",
    (State.RMA, Event.REPAIRED): "It came back from its maker and was handed to a technician, who looks it over.",
    (State.WIPE, Event.PASSED): "Everything that was stored on it is erased.",
    (State.WIPE, Event.FAILED): "Not everything that was stored on it could be erased; our people looked into it.",
    (State.WIPE, Event.OVERDUE): "It is not known yet that everything was erased; our people looked into it.",
    (State.WIPE, Event.TRIAGE_NEEDED): "The erasing was stopped; our people looked into it.",
    (State.PRODUCTION, Event.FIRMWARE_NEEDED): "It left service to have the software of its parts updated.",
}
"""What happened on a way between two states, where it is not told by where it led."""

PLANNED: Mapping[str, str] = {
    Remedy.RESTART: "one of its services is restarted",
    Remedy.RESET: "its GPUs are restarted",
    Remedy.REBOOT: "it is restarted",
    Remedy.POWER_CYCLE: "it is switched off and on again",
    Remedy.REFLASH: "the software of its parts is updated",
}
"""What will be done to a node once it is idle; anything else is "it is repaired"."""

UNDER = (
    (Condition.MAINTENANCE, "planned work", "Planned work is under way on it."),
    (Condition.HELD, "being inspected", "Our staff inspect it; until they are done nothing is changed."),
)
"""What people do to a node, whatever its state: in a few words, and in a sentence."""


class NodeForTenant(NamedTuple):
    """A node as its tenant reads of it.

    `kind` is "serving", "planned" (it serves, and something is to be done), "out" or "ended". `since` is when that
    began, `back_by` when it serves again at the latest if all goes well, None where nobody knows.
    """

    word: str
    kind: str
    since: float
    now: tuple[str, ...]
    next: str
    back_by: float | None = None


class TenantEvent(NamedTuple):
    """What happened at a moment, in a sentence."""

    at: float
    sentence: str


def standing(node: Node, moves: Sequence[Entry]) -> NodeForTenant:
    """Return how a node is told; `moves` are its transitions, oldest first, as far back as is looked."""
    said = SAID[node.state]
    under = tuple(words for condition, _, words in UNDER if condition in node.conditions)
    if node.state in SERVING:
        return _serving(node, said, under)
    since = _left(moves) or node.since
    deadline = STATES[node.state].deadline
    back = node.since + deadline if node.state in REMEDIED and deadline is not None and not under else None
    kind = "ended" if node.state in ENDED | FABRICS else "out"
    return NodeForTenant(
        said.word, kind, node.since if kind == "ended" else since, (said.now, *under), said.next, back
    )


def _serving(node: Node, said: Said, under: tuple[str, ...]) -> NodeForTenant:
    held = node.conditions
    pending = held.get(Condition.PENDING)
    if pending is not None:
        what = PLANNED.get(pending.detail, "it is repaired")
        more = f"It goes on with the work that runs on it; when that has ended, {what}."
        return NodeForTenant("serving, work is planned", "planned", pending.since, (said.now, *under), more)
    for condition, word, _ in UNDER:
        if condition in held:
            return NodeForTenant(f"serving, {word}", "planned", held[condition].since, (said.now, *under), "")
    kept = held.get(Condition.DRAINING) or held.get(Condition.CORDONED)
    if kept is not None:
        words = (said.now, "It takes no new work for now; what runs on it goes on.")
        return NodeForTenant("serving, no new work", "planned", kept.since, words, "")
    return NodeForTenant(said.word, "serving", node.since, (said.now,), said.next)


def _left(moves: Sequence[Entry]) -> float | None:
    """Return when a node last left service; None where it did not, as far back as is looked."""
    return next((move.at for move in reversed(moves) if move.state in SERVING and move.to not in SERVING), None)


def happened(moves: Iterable[Entry]) -> tuple[TenantEvent, ...]:
    """Return what happened to a node, the newest first."""
    told = [TenantEvent(move.at, sentence) for move in moves if (sentence := _sentence(move))]
    return tuple(reversed(told))


def _sentence(move: Entry) -> str:
    """Return a transition's own sentence, never what the history has: that may quote others."""
    if move.to is None:
        return ""
    if move.state is not None and move.event is not None and (move.state, move.event) in WAYS:
        return WAYS[move.state, move.event]
    return CAME[move.to]


def availability(node: Node, moves: Sequence[Entry], first: float | None, since: float, now: float) -> float | None:
    """Return the share of time in which a node served since a moment, or since it first did; None if it never has.

    `moves` are its transitions since that moment, oldest first.
    """
    if first is None:
        return 1.0 if node.state in SERVING else None
    begins = max(since, first)
    state, at, served = (moves[0].state if moves else node.state), begins, 0.0
    for move in moves:
        if move.at > at:
            served += move.at - at if state in SERVING else 0.0
            at = move.at
        state = move.to
    served += max(0.0, now - at) if state in SERVING else 0.0
    return served / (now - begins) if now > begins else float(node.state in SERVING)


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How a cell begins that a spreadsheet would work out."""


def cell(text: str) -> str:
    """Return text as a spreadsheet shows it and never runs it."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text
