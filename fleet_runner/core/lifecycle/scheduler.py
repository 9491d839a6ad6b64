"""What a scheduler says of a node, and the mark by which a drain of ours is known from everybody else's."""

import re
from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.inventory.records import Device

MOST_REASON = 160
"""Characters of a reason that are kept: it stands in one line of `sinfo -R`."""

SHOWN = 3
"""Pieces of work that a sentence names; the others are counted."""

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?", re.ASCII)
_ALL = "all"


class By(StrEnum):
    """Who asked for a drain of ours; only the runner's are undone by the runner."""

    RUNNER = "fleet-runner"
    PERSON = "fleet-runner, by hand"


class SchedulerOutcome(NamedTuple):
    """What became of a drain, a resume or evictions: whether anything changed, and what a person should know."""

    changed: bool
    told: str


class Seen(NamedTuple):
    """A node as its scheduler has it.

    `takes_work` is whether it may be given new work; `work` names what runs on it, or may; `others` counts what runs
    there and is not waited for. `why` is who keeps work away and for which reason, in the scheduler's words; `ours`
    whose drain of ours that is, None where it is somebody else's or nobody's. `sole` says that its work is one job
    that has the whole node. `never` is the work that says of itself that it is never to be interrupted.
    `owner` is who else repairs or removes the node now.
    """

    state: str
    takes_work: bool
    work: tuple[str, ...]
    why: str = ""
    ours: By | None = None
    others: int = 0
    sole: bool = False
    never: tuple[str, ...] = ()
    owner: str = ""


def marked(node: str, reason: str, by: By) -> str:
    """Return the reason under which a node is drained: one printable line that ends with a sum over all of it.

    Whoever changes a word of it, or copies it to another node, makes it a reason of their own: the sum is wrong.
    """
    plain = printable(reason).encode("ascii", "replace").decode()  # every scheduler keeps ASCII as it is
    words = " ".join(plain.split()).replace('"', "'")
    text = f"{by}: {words[:MOST_REASON] or 'no reason was given'}"
    return f"{text} ({_sum(node, text)})"


def mark(node: str, text: str) -> By | None:
    """Return whose drain of ours a reason tells of; None where it is not ours, or a person has changed it."""
    said, _, rest = text.rpartition(" (")
    if rest != f"{_sum(node, said)})":
        return None
    return next((by for by in By if said.startswith(f"{by}: ")), None)


def holds(ours: By | None, by: By) -> bool:
    """Whether a drain that is there will do for whoever asks for one: a person's keeps the runner's, too."""
    return ours in {by, By.PERSON}


def lifted(by: By) -> frozenset[By]:
    """Return whose drains somebody undoes: the runner its own, a person all of ours."""
    return frozenset(By) if by is By.PERSON else frozenset({by})


def name(text: str) -> str:
    """Return a node's name that is one node's; EvidenceError for what a scheduler would take for several, or none."""
    if not _NAME.fullmatch(text) or text.lower() == _ALL:
        raise EvidenceError(
            f"scheduler_node is {text!r:.80}, expected the name of one node; correct it in its context"
        )
    return text


def names(devices: Iterable[Device]) -> dict[str, str]:
    """Return nodes by the names that the scheduler has for them, where it has others (`scheduler_node`)."""
    told = ((str(device.context.get("scheduler_node") or ""), device.name) for device in devices)
    return {theirs: ours for theirs, ours in told if theirs not in {"", ours}}


def listed(work: tuple[str, ...]) -> str:
    """Return what runs, in words: the first few by name, the others counted."""
    more = f" and {len(work) - SHOWN} more" if len(work) > SHOWN else ""
    return ", ".join(work[:SHOWN]) + more


def _sum(node: str, text: str) -> str:
    return sha256(f"{node}\n{text}".encode(errors="replace")).hexdigest()[:8]
