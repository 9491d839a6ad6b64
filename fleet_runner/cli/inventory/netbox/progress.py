"""How far something with a NetBox is, told on a terminal once it has taken a moment."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fleet_runner.cli.base.session import errors

SOON = 2.0
"""Seconds after which a person wants to know what takes so long."""

Tell = Callable[[str, int, int], None]
"""Told what is done, how much of it is, and how much there is of it (0: nobody knows)."""


@contextmanager
def progress() -> Iterator[Tell]:
    """Say on a terminal what is done, once that has taken two seconds; nothing elsewhere."""
    if not errors.is_terminal:
        yield lambda *_: None
        return
    shown = errors.status("")
    clock = threading.Timer(SOON, shown.start)
    clock.start()

    def tell(what: str, done: int, of: int) -> None:
        shown.update(f"{what}: {done:,} of {of:,}" if of else what)

    try:
        yield tell
    finally:
        clock.cancel()
        clock.join()
        shown.stop()
