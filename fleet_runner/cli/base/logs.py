"""What commands log, for people: no value of a variable, which may be a secret, and nothing that moves a terminal."""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from traceback import format_exception
from types import ModuleType
from typing import TYPE_CHECKING, TextIO

from fleet_runner.core.base.printable import printable

if TYPE_CHECKING:
    from structlog.typing import EventDict, ExcInfo, WrappedLogger

STRUCTLOG = "structlog"


class Configured(SourceFileLoader):
    """Loads structlog, and has it log to standard error."""

    def exec_module(self, module: ModuleType) -> None:
        """Make the module, and then its configuration, before whoever imports it can log a line."""
        super().exec_module(module)
        configure()


class WhenImported(MetaPathFinder):
    """Waits for the import of structlog: it takes a tenth of a short command, and few of these log a line."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return structlog with a loader that configures it; None for everything else."""
        spec = PathFinder.find_spec(fullname, path, target) if fullname == STRUCTLOG else None
        if spec is None or spec.origin is None:
            return None
        spec.loader = Configured(fullname, spec.origin)
        return spec


WHEN_IMPORTED = WhenImported()


def begin() -> None:
    """Log to standard error from now on: standard output is for answers."""
    if STRUCTLOG in sys.modules:
        configure()
    elif WHEN_IMPORTED not in sys.meta_path:
        sys.meta_path.insert(0, WHEN_IMPORTED)


def configure() -> None:
    """Have structlog write for people, to standard error."""
    import structlog  # noqa: PLC0415  it is imported by those who log

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


def _shown(_logger: "WrappedLogger", _method: str, event: "EventDict") -> "EventDict":
    """Mark what nodes, trackers or a NetBox's pages could have put into a text to mislead whoever reads it."""
    return {key: printable(value) if isinstance(value, str) else value for key, value in event.items()}


def _traceback(to: TextIO, error: "ExcInfo") -> None:
    """Write where an error came from; structlog's own form shows the variables of each function as well."""
    to.write("\n" + printable("".join(format_exception(*error))).rstrip("\n"))
