"""Keeps power and firmware apart: no power action while a flash is open, no flash while power is switched."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fleet_runner.adapters.store import Store
from fleet_runner.core.errors import ConflictError
from fleet_runner.core.firmware.guard import refusal

SECONDS = 300.0
"""How long a node stays closed to drivers of its firmware where the one who switches its power is killed."""


@contextmanager
def power(store: Store | None, node: str) -> Iterator[None]:
    """Let power actions be sent to a node, and nobody begin a flash of it meanwhile.

    Without a store, and for a node that it does not know, nothing was ever flashed. A person's leave goes before all.

    Raises:
        ConflictError: a flash is open, somebody is at the node's firmware, or it failed and nobody understood why.
    """
    known = store.node(node) if store is not None else None
    if store is None or known is None or store.power_allowed(node, time.time()):
        yield
        return
    holder = f"power:{socket.gethostname()}:{os.getpid()}"
    store.lease(node, holder, run=None, now=time.time(), seconds=SECONDS)
    try:
        if why := refusal(node, known.state, store.open_flash(node), ""):
            raise ConflictError(why)
        yield
    finally:
        store.unlease(node, holder)
