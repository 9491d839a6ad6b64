"""What goes wrong in the recorded jobs, and what must be found."""

from pathlib import Path
from typing import NamedTuple

from fleet_runner.core.jobs import flight_recorder
from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.flight_recorder import Dump


class Case(NamedTuple):
    """A job: its name, how many ranks, what is found first (code, rank, area), and which ranks can write no dump."""

    name: str
    ranks: int
    found: tuple[str, int | None, Area]
    silent: tuple[int, ...] = ()


CASES = (
    Case("whole", 4, ("job.nothing_stuck", None, Area.UNKNOWN)),
    Case("hang", 4, ("job.rank_missing", 2, Area.UNKNOWN)),
    Case("late", 4, ("job.rank_late", 2, Area.UNKNOWN)),
    Case("leave", 4, ("job.no_dump", 1, Area.UNKNOWN), (1,)),
    Case("stopped", 4, ("job.no_dump", 2, Area.UNKNOWN), (2,)),
    Case("size", 4, ("job.size_mismatch", 3, Area.SOFTWARE), (2,)),  # gloo ends the rank that gets too much
    Case("type", 4, ("job.type_mismatch", 1, Area.SOFTWARE), (0,)),  # likewise
    Case("other", 4, ("job.collective_mismatch", 0, Area.SOFTWARE)),
    Case("groups", 8, ("job.rank_missing", 5, Area.UNKNOWN)),
    Case("order", 8, ("job.group_order", None, Area.SOFTWARE)),
)


def dumps_in(folder: Path) -> dict[int, Dump]:
    """Return the dumps of a job by rank."""
    return {
        int(path.name[5:]): flight_recorder.read(path.read_bytes(), int(path.name[5:]))
        for path in folder.glob("rank_*")
        if not path.suffix
    }
