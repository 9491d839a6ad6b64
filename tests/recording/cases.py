"""What goes wrong in the recorded jobs, and what must be found."""

from typing import NamedTuple


class Case(NamedTuple):
    """A job: its name, how many ranks, which of them can write no dump."""

    name: str
    ranks: int
    silent: tuple[int, ...] = ()


CASES = (
    Case("whole", 4),
    Case("hang", 4),
    Case("late", 4),
    Case("leave", 4, (1,)),
    Case("stopped", 4, (2,)),
    Case("size", 4, (2,)),
    Case("type", 4),
    Case("other", 4),
    Case("groups", 8),
    Case("order", 8),
)
