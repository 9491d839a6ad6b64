"""The log of what short commands import: structlog is loaded with the first line, which most of them never write."""

from typing import Any


class Log:
    """Stands for `structlog.get_logger()`."""

    def __getattr__(self, method: str) -> Any:
        import structlog  # noqa: PLC0415  it takes a tenth of a short command

        return getattr(structlog.get_logger(), method)


log = Log()
