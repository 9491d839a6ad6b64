"""Where a ticket lives elsewhere, and how it stands with a tracker."""

from dataclasses import dataclass
from hashlib import sha256

from fleet_runner.core.lifecycle.runs import Ticket


@dataclass(frozen=True, slots=True)
class Link:
    """A ticket at a tracker. `remote` is the issue's name there, "" while none is known.

    `serial` counts the issues that the ticket had there. `told` is the newest line of the outbox that the tracker
    knows, `digest` of which text. `asked_at` is when an issue was asked for, None before that. `waits` says whether
    there is more to tell, not before `due_at`, and `detail` why not yet; `tries` are those since the last that went
    well, also one that was begun and whose end was not seen.
    """

    ticket: int
    tracker: str
    serial: int = 1
    remote: str = ""
    url: str = ""
    told: int = 0
    digest: str = ""
    asked_at: float | None = None
    waits: bool = True
    tries: int = 0
    due_at: float = 0.0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TrackerStatus:
    """How a tracker stands: since when it is not asked, until when and why; when it took something last."""

    name: str
    tries: int = 0
    due_at: float = 0.0
    detail: str = ""
    heard_at: float | None = None


def marker(ticket: Ticket, serial: int = 1) -> str:
    """Return what names a ticket's issue in every tracker: the same for as long as the ticket lives, and no other's.

    Its number alone would be another ticket's in another fleet, or after a store was made anew.
    """
    digest = sha256(f"{ticket.fault}\n{ticket.id}\n{ticket.opened_at!r}".encode()).hexdigest()[:20]
    return f"fleet-runner-{digest}" + (f"-{serial}" if serial > 1 else "")
