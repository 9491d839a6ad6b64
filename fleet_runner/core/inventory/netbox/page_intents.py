"""Requests set in a device's page in NetBox: who asked, whether it was taken before, what cannot be taken.

A request is the change that set the field: NetBox numbers it, and says who made it and when. By number and moment
it is known again, however often its page is read and by however many runners. A token that may not read the change
log sees the page alone: then someone asked, and what stands there is what was taken until it was seen to be gone.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from fleet_runner.core.base.printable import printable
from fleet_runner.core.inventory.netbox.custom_fields import REQUESTS
from fleet_runner.core.inventory.records import NODE_ROLES
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.tickets.trackers.inert import cut, netbox

SOMEONE = "someone"

UNKNOWN = 0
"""The number of a change that nobody could read."""

LONGEST = 500
"""Characters of a reason, which is anything that somebody typed."""

LONGEST_NAME = 150
"""Characters of a name or a request: as many as NetBox has of a user's."""


@dataclass(frozen=True, slots=True)
class Page:
    """A device's page that holds a request, last changed at `changed_at`; `name` is "" where it has none."""

    device: int
    name: str
    role: str
    kind: str
    reason: str
    changed_at: float


@dataclass(frozen=True, slots=True)
class Change:
    """A line of a device's change log: what the request was before and after it, "" for none.

    `ours` are those by which a runner emptied the field.
    """

    id: int
    at: float
    by: str
    before: str
    after: str
    reason: str
    ours: bool = False


@dataclass(frozen=True, slots=True)
class PageIntent:
    """A request, with who asked and when. `change` is what set it, UNKNOWN where that cannot be read."""

    device: int
    name: str
    kind: str
    reason: str
    by: str
    at: float
    change: int


@dataclass(frozen=True, slots=True)
class TakenIntent:
    """A request of a device that was taken; `gone` once its field was seen without it."""

    change: int
    at: float
    kind: str
    reason: str
    gone: bool


def asked(page: Page, changes: Iterable[Change]) -> PageIntent:
    """Return the request that stands in a page, by the device's changes as they were when it was read.

    Where they do not lead to what stands there, it was set past the change log.
    """
    last = max(filter(_sets, changes), key=lambda change: change.id, default=None)
    if last is None or last.after != page.kind:
        return _asked(page, page.reason, Change(UNKNOWN, page.changed_at, SOMEONE, "", page.kind, ""))
    return _asked(page, page.reason, last)


def overwritten(page: Page, taken: PageIntent, changes: Iterable[Change]) -> PageIntent | None:
    """Return the request that somebody set after the one that was taken, and that emptying the field took away."""
    later = sorted((each for each in changes if each.id > taken.change and _sets(each)), key=lambda each: each.id)
    emptied = [at for at, each in enumerate(later) if each.ours]
    lost = later[: emptied[-1]] if emptied else []
    if taken.change == UNKNOWN or not lost or not lost[-1].after:
        return None
    return _asked(page, lost[-1].reason, lost[-1])


def known(intent: PageIntent, before: Iterable[TakenIntent]) -> bool:
    """Whether a request is one of those of its device that were taken."""
    return any(_same(intent, each) for each in before)


def waits(page: Page, node: Node | None) -> bool:
    """Whether a request is left where it is: its device is a node that the source of truth was not read with yet."""
    return page.role in NODE_ROLES and node is None


def refusal(page: Page, node: Node | None) -> str:
    """Return why a request cannot be left for the runner, "" where it can: then the runner answers it."""
    if page.role not in NODE_ROLES:
        role = f"nodes have the role {_listed(NODE_ROLES)}, this is a {_short(page.role)}"
        return f"This device is no node: {role}. Empty its field if the request is still there."
    if page.kind not in REQUESTS:
        return f"'{_short(page.kind)}' cannot be requested in NetBox; expected {_listed(REQUESTS)}."
    if node is not None and node.state is State.RETIRED:
        return "The node is retired and takes no requests; its history stays readable."
    return ""


def mark(intent: PageIntent) -> str:
    """Return what names a request in its device's journal: by it a refusal is found again that was said before."""
    return f"fleet-runner wish {intent.device}-{intent.change}-{intent.at:.6f}"


def told(intent: PageIntent, why: str) -> str:
    """Return the journal's entry that refuses a request, as a block that nothing that people typed breaks out of."""
    words = f"{intent.by} asks: {intent.kind}{f' ({intent.reason})' if intent.reason else ''}.\n{why}"
    return f"{netbox(words)}\n<!-- {mark(intent)} -->"


def _sets(change: Change) -> bool:
    return change.before != change.after


def _same(intent: PageIntent, taken: TakenIntent) -> bool:
    if (taken.change, taken.at) == (intent.change, intent.at):
        return True
    unsure = UNKNOWN in (taken.change, intent.change)
    return unsure and not taken.gone and (taken.kind, taken.reason) == (intent.kind, intent.reason)


def _asked(page: Page, reason: str, change: Change) -> PageIntent:
    who = f"{_short(change.by) or SOMEONE} in NetBox"
    return PageIntent(page.device, page.name, _short(change.after), _plain(reason), who, change.at, change.id)


def _plain(text: str) -> str:
    """Return a text as one line that can be shown."""
    return cut(" ".join(printable(text[: 2 * LONGEST]).split()), LONGEST)


def _short(text: str) -> str:
    return _plain(text)[:LONGEST_NAME]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
