"""What goes wrong beside the work, said: whoever looks again and again goes on."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

import structlog

from fleet_runner.core.base.errors import FleetError

log = structlog.get_logger()


@contextmanager
def errors_logged(stop: Event, sentence: str, **about: str) -> Iterator[None]:
    """Log an error of the block instead of raising it; after `stop` was set it is the end, and nothing is said."""
    try:
        yield
    except FleetError as error:
        if not stop.is_set():
            log.error(sentence, **about, error=str(error))  # noqa: TRY400  the sentence says it
    except Exception:
        if not stop.is_set():
            log.exception(sentence, **about)


@contextmanager
def threads_run(threads: Sequence[Thread], stop: Event, grace: float) -> Iterator[None]:
    """Have threads go on for as long as it is open; at the end all of them together have `grace` seconds to end."""
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        until = time.monotonic() + grace
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
