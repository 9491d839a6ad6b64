"""torchrun's report of the process that failed first, which stands at the end of a job's output."""

import re
from datetime import UTC, datetime

from fleet_runner.core.jobs.lines import Line

HEAD = "Root Cause (first"

_ROOT = re.compile(r"[ \t]{0,8}(?P<name>time|host|rank|exitcode|traceback) {0,12}: (?P<value>[^\n]{1,400})", re.ASCII)
_EXIT = re.compile(r"-?\d{1,3}", re.ASCII)


class RootCause:
    """The report as its lines come."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}

    def take(self, text: str) -> bool:
        """Take a line; False for one after the report's end."""
        found = _ROOT.fullmatch(text)
        if found is not None:
            self.told[found["name"]] = found["value"].strip()
            return True
        return not text.strip(" -=") or text.lstrip().startswith(("[", "error_file"))

    def end(self) -> tuple[Line, int] | None:
        """Return whose process it was, and its exit code, below 0 for a signal; None where no code is told."""
        code = _EXIT.match(self.told.get("exitcode", ""))
        if code is None:
            return None
        rank = _EXIT.match(self.told.get("rank", ""))
        at = _underscored(self.told.get("time", ""))
        return Line("", None if rank is None else int(rank[0]), self.told.get("host", ""), at), int(code[0])


def _underscored(told: str) -> float | None:
    """Return the moment of torchrun's "2026-11-29_02:10:44"; None for anything else."""
    try:
        return datetime.strptime(told, "%Y-%m-%d_%H:%M:%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
