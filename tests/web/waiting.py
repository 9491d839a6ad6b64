"""Waiting for what comes by itself."""

import time
from collections.abc import Callable


def until(true: Callable[[], bool]) -> None:
    """Wait for something to become true, for ten seconds."""
    for _ in range(200):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError
