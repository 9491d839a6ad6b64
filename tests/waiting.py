"""Waiting for what will come: a busy computer takes its time, but no test waits for ever."""

import time
from collections.abc import Callable

PATIENCE = 120.0
"""Seconds until a test gives up; nothing is measured by it."""

PAUSE = 0.02


def until(is_so: Callable[[], object], why: str | Callable[[], str] = "", seconds: float = PATIENCE) -> None:
    """Wait until something is so, or fail with what was waited for, or with all that is known by then."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"not within {seconds:g} s: {why if isinstance(why, str) else why()}"
        time.sleep(PAUSE)
