"""What commands log, for people: no value of a variable, which may be a secret, and nothing that moves a terminal."""

import os
import sys
from traceback import format_exception
from typing import TextIO

import structlog
from structlog.typing import EventDict, ExcInfo, WrappedLogger

from fleet_runner.core.base.printable import printable


def begin() -> None:
    """Log to standard error from now on: standard output is for answers."""
    colours = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.StackInfoRenderer(),
            structlog.dev.set_exc_info,
            structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S", utc=False),
            _shown,
            structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=_traceback),
        ],
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )


def _shown(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Mark what nodes, trackers or a NetBox's pages could have put into a text to mislead whoever reads it."""
    return {key: printable(value) if isinstance(value, str) else value for key, value in event.items()}


def _traceback(to: TextIO, error: ExcInfo) -> None:
    """Write where an error came from; structlog's own form shows the variables of each function as well."""
    to.write("\n" + printable("".join(format_exception(*error))).rstrip("\n"))
