"""What every request is answered from, and the people it is answered for."""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.reconcile.loop.liveness import Heartbeat
from fleet_runner.services.http.admission import Admission
from fleet_runner.settings import Settings
from fleet_runner.web.live import Live


@dataclass(slots=True)
class Site:
    """The settings, the store, and what the source of truth said last: None where it could not be read yet.

    `pulse` is that of the runner's loop where it goes round in this process. `clock` tells the time, `steady`
    measures it. `stop` is set when the service ends: what waits then gives up. `confirmation_key` signs what is asked
    twice; it is this process's own.
    """

    settings: Settings
    store: Store
    fleet: Callable[[], Fleet | None]
    clock: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    pulse: Heartbeat | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    confirmation_key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    admission: Admission = field(init=False)
    live: Live = field(init=False)

    def __post_init__(self) -> None:
        self.admission = Admission(self.store.tokens, self.steady)
        self.live = Live(self.stop)


def site(request: Request) -> Site:
    """Return what a request is answered from."""
    found: Site = request.app.state.site
    return found


Here = Annotated[Site, Depends(site)]
