"""What every tracker can do: find an issue by its marker, open one, and bring one up to date."""

from dataclasses import dataclass
from typing import Protocol, Self

from fleet_runner.core.tickets.trackers.draft import Draft, Update


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue of a tracker: its name in requests, and the address at which people see it."""

    remote: str
    url: str


class Tracker(Protocol):
    """One tracker, spoken to over one session. Everything raises TrackerError.

    `settles` is how many seconds after it was asked for an issue is found for certain, if it was made.
    """

    settles: float

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def find(self, draft: Draft, since: float) -> Issue | None:
        """Return the issue that carries a draft's marker, made since a moment; None where there is none."""
        ...

    def create(self, draft: Draft, change: int) -> Issue:
        """Open an issue, in the name of a line of the outbox; who calls has looked that there is none."""
        ...

    def said(self, remote: str, draft: Draft) -> int:
        """Return the newest line of the outbox that the notes on an issue tell of, 0 for none."""
        ...

    def tell(self, remote: str, update: Update) -> None:
        """Bring an issue up to date: its text, its notes, and whether it is open.

        Doing it twice changes nothing more, but that a note would stand there twice: who calls looks what is `said`
        before it tells again.
        """
        ...
