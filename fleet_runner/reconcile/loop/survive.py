"""What goes wrong beside the work, said: whoever looks again and again goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

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
