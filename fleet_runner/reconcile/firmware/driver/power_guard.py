"""Keeps power and firmware apart: no power action while a flash is open, no flash while power is switched."""

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, RunOverError
from fleet_runner.core.firmware.guard import refusal
from fleet_runner.reconcile.firmware.driver.lease import Lease, Target

SECONDS = 300.0
"""How long a node stays closed to drivers of its firmware where the one who switches its power is killed.

Longer than a BMC may take over one power action, with what is read before it."""

PATIENCE = 5.0  # seconds for which a busy store is asked again


@contextmanager
def power(
    store: Store | None, node: str, bmc: str = "", run: tuple[int, int] | None = None
) -> Iterator[Callable[[], None]]:
    """Let power actions be sent to a node, and nobody begin a flash of it meanwhile.

    What it gives is called right before each action: it closes the node for as long again, and raises a ConflictError
    where that comes too late, as after a freeze, or where `run` (its id, and its fence) is over. Without a store, and
    for a node that it does not know, nothing was ever flashed. A person's leave goes before all but that.

    Raises:
        RunOverError: the run is over, or was taken over.
        ConflictError: a flash is open, somebody is at the node's firmware, or it failed and nobody understood why.
    """
    if store is None or store.node(node) is None:
        yield _nothing
        return
    target = Target(node, f"power:{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}", run, bmc=bmc)
    lease = Lease(store, target, SECONDS)
    take = partial(lease.take, PATIENCE)
    try:
        _ask(store, node, take)
        yield partial(_ask, store, node, lease.alive, take)
    finally:
        store.unlease(node, target.holder)


def _ask(store: Store, node: str, *wanted: Callable[[], None]) -> None:
    """Do what is wanted of the lease; whoever has a person's leave goes on without."""
    known, allowed = store.node(node), store.power_allowed(node, time.time())
    try:
        for each in wanted:
            each()
    except RunOverError:
        raise
    except ConflictError:
        if not allowed:
            raise
    if why := refusal(node, known.state if known else None, store.open_flash(node), allowed):
        raise ConflictError(why)


def _nothing() -> None:
    pass
