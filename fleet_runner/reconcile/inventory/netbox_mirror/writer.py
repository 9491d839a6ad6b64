"""What tells a NetBox of one kind of news: by one process at a time, and left alone for a while when it fails."""

import os
import secrets
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import ClassVar

from fleet_runner.adapters.netbox.client import Client
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, SettingsError, SourceError
from fleet_runner.core.tickets.trackers.backoff import pause
from fleet_runner.core.tickets.trackers.links import TrackerStatus

LEASE = 180.0
"""Seconds for which the right to tell is taken: longer than all the requests about one chunk may take."""

SPAN = 60.0
"""Seconds of one visit, after which the other kinds of news have their turn."""

TRIES = 3
"""At what others change while it is written."""


@dataclass(slots=True)
class Mirror(ABC):
    """What tells of one kind of news. `opened` opens a session; `now` is the clock of all who share the store."""

    store: Store
    url: str
    opened: Callable[[], AbstractContextManager[Client]]
    now: Callable[[], float]
    holder: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}")
    until: float = 0.0
    may: Callable[[str], bool] = lambda _: True
    """Whether NetBox is told of a node; of every one where a person asks for it."""

    name: ClassVar[str]
    """Under which the store knows who tells it and how it stands; no tracker of people can have such a name."""

    of: ClassVar[str]
    """What is told, in words."""

    @abstractmethod
    def waits(self) -> bool:
        """Whether there is something to tell now."""

    @abstractmethod
    def tell(self, client: Client) -> int:
        """Tell what waits; return how much of it."""

    def visit(self) -> int:
        """Tell what is due; return how much was told. What went wrong is in the store."""
        self.store.scan_mirror(self.url)
        standing = self.store.tracker(self.name)
        if standing.due_at > self.now() or not self.waits():
            return 0
        if self.store.take_tracker(self.name, self.holder, self.now(), LEASE) is None:
            return 0
        self.until = self.now() + SPAN
        try:
            with self.opened() as client:
                return self.tell(client)
        except ConflictError:  # another process took over while this one slept
            pass
        except (SourceError, SettingsError) as error:
            self._rest(standing, str(error))
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            text = f"{self.url}: an answer has another shape than NetBox 4 gives it ({type(error).__name__}: {error})"
            self._rest(standing, f"{text}; check its version")
        finally:
            self.store.leave_tracker(self.name, self.holder)
        return 0

    def _rest(self, standing: TrackerStatus, why: str) -> None:
        self.store.tracker_failed(self.name, why, self.now() + pause(standing.tries + 1))

    def keep(self) -> bool:
        """Keep the right to tell; False where the visit is over."""
        if self.store.take_tracker(self.name, self.holder, self.now(), LEASE) is None:
            raise ConflictError(f"{self.name}: another process updates it now; this one is on standby")
        return self.now() < self.until
