"""The states of a node and the requests that its page takes, as fleet-runner names them, and how each looks."""

from collections.abc import Mapping
from typing import NamedTuple

NODE_ROLES = ("gpu-server",)
"""Slugs of the device roles whose devices are nodes."""

STATE, SINCE, WISH, REASON = "fleet_state", "fleet_since", "fleet_wish", "fleet_wish_reason"
"""The custom fields that `fleet-runner netbox init` makes."""

LONGEST_REASON = 500
"""Characters of a reason that fleet-runner keeps."""


class Tone(NamedTuple):
    """How states look that mean the same to somebody at a rack: a colour of NetBox's badges, and one of a drawing."""

    badge: str
    fill: str
    means: str


SERVING = Tone("green", "2fb344", "in production")
MOVING = Tone("azure", "4299e1", "being worked on by automation")
WAITING = Tone("yellow", "f59f00", "waits for a person")
FAULTY = Tone("red", "d63939", "out of service with a fault")
ENDED = Tone("gray", "868e96", "retired, or not known")

TONES = (SERVING, MOVING, WAITING, FAULTY, ENDED)

STATES: Mapping[str, Tone] = {
    "registered": WAITING,
    "provision": MOVING,
    "onboard": WAITING,
    "verify": MOVING,
    "firmware": MOVING,
    "firmware_failed": FAULTY,
    "burn_in": MOVING,
    "production": SERVING,
    "reset": MOVING,
    "reboot": MOVING,
    "triage": FAULTY,
    "debug": FAULTY,
    "rma": FAULTY,
    "wipe": MOVING,
    "retired": ENDED,
}


class Wish(NamedTuple):
    """A request: what its button says, what follows, and what a person is asked first, "" where nothing is lost."""

    label: str
    does: str
    sure: str = ""


WISHES: Mapping[str, Wish] = {
    "certify": Wish("Certify", "It is built as designed: parts, power and cabling are verified next."),
    "repaired": Wish("Repaired", "It is repaired, and passes every stage again; certify it next."),
    "hold": Wish("Hold", "Nothing moves it until it is released. A hold has priority over all automation."),
    "release": Wish("Release", "The hold ends, or else the planned work: automation continues."),
    "maintenance": Wish("Maintenance", "Planned work begins: checks continue, and no remedy follows."),
    "cancel": Wish(
        "Cancel the remedy", "The pending remedy is cancelled; the same fault triggers none until it has cleared."
    ),
    "debug": Wish("Debug", "A person works on it in place."),
    "retry": Wish(
        "Retry",
        "What failed is retried.",
        "From triage, debug or rma, Day 0 begins again: a network boot, which ends its running work.",
    ),
    "reboot": Wish(
        "Reboot",
        "It is power-cycled when it is idle, and verified before it serves again.",
        "It is out of service until it has been verified.",
    ),
    "triage": Wish(
        "Triage",
        "Taken out of service for a person to inspect; from production when it is idle.",
        "It is taken from its tenant, or its current stage is given up; a person must bring it back.",
    ),
}
"""In the order of their buttons. What cannot be undone is not asked for here."""


def tone(state: str) -> Tone:
    """Return how a state looks; one that is not known, such as a newer fleet-runner's, looks like none."""
    return STATES.get(state, ENDED)


def shown(state: str) -> str:
    """Return a state as people read it."""
    return state.replace("_", " ")
