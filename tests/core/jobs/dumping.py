"""Made-up flight recorder dumps: of a job that really goes through its program, until something stops it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fleet_runner.core.jobs.flight_recorder import Dump, Entry, Group, State

BEGUN = 1_790_000_000_000_000_000
"""Nanoseconds since 1970."""


def entry(number: int, state: State = State.COMPLETED, **more: object) -> Entry:
    """Return an all-reduce of the whole job, or what is said instead."""
    usual: dict[str, object] = {
        "group": "0",
        "description": "default_pg",
        "record": number - 1,
        "collective": number,
        "p2p": 0,
        "operation": number,
        "name": "nccl:all_reduce",
        "is_p2p": False,
        "state": state,
        "retired": state is State.COMPLETED,
        "inputs": ((1024,),),
        "outputs": ((1024,),),
        "input_types": ("Float",),
        "output_types": ("Float",),
        "created": BEGUN + number * 1_000_000,
        "timeout_ms": 600_000,
    }
    return Entry(**(usual | more))  # type: ignore[arg-type]  # its fields by name


def dump(rank: int, *entries: Entry, groups: Mapping[str, Sequence[int]] | None = None, world: int = 4) -> Dump:
    """Return a rank's dump."""
    told = {"0": range(world)} if groups is None else groups
    return Dump(rank, "2.10", "", tuple(Group(name, "", tuple(ranks)) for name, ranks in told.items()), entries)


class Operation(NamedTuple):
    """One line of the program: a family of groups, and which operation."""

    family: str
    name: str = "nccl:all_reduce"
    size: int = 1024


class Job:
    """A job of rows of ranks (tensor groups) and columns (data groups), whose program is a list of operations.

    A rank issues operations `ahead` of the newest that is done; its accelerator does them in order, and each is done
    once all ranks of the group have begun it. `stopped` says before which operation a rank stops for good, `broken`
    which operation never ends, `other` what a rank calls instead.
    """

    def __init__(self, rows: int, columns: int, program: Sequence[Operation], ahead: int = 0) -> None:
        self.world = rows * columns
        self.program, self.ahead = program, ahead
        self.stopped: dict[int, int] = {}
        self.other: dict[tuple[int, int], Operation] = {}
        self.broken: set[tuple[str, int]] = set()
        self.groups: dict[tuple[str, int], tuple[str, tuple[int, ...]]] = {}
        for rank in range(self.world):
            row, column = divmod(rank, columns)
            self.groups["default_pg", rank] = "0", tuple(range(self.world))
            self.groups["tensor", rank] = f"{1 + row}", tuple(range(row * columns, (row + 1) * columns))
            self.groups["data", rank] = f"{1 + rows + column}", tuple(range(column, self.world, columns))
        self.done = dict.fromkeys(range(self.world), 0)

    def asked(self, rank: int, line: int) -> Operation:
        """Return what a rank calls in a line of the program."""
        return self.other.get((rank, line), self.program[line])

    def issued(self, rank: int) -> int:
        """Return how many operations a rank has asked for."""
        return min(len(self.program), self.stopped.get(rank, len(self.program)), self.done[rank] + 1 + self.ahead)

    def run(self) -> None:
        """Go on until nobody can."""
        moved = True
        while moved:
            moved = False
            for rank in range(self.world):
                line = self.done[rank]
                if line < self.issued(rank) and self._together(rank, line):
                    for member in self.groups[self.program[line].family, rank][1]:
                        self.done[member] += 1
                    moved = True

    def _together(self, rank: int, line: int) -> bool:
        """Say whether all ranks of the group are in the same operation, and it can end."""
        name, members = self.groups[self.program[line].family, rank]
        here = all(self.done[each] == line < self.issued(each) for each in members)
        return here and len({self.asked(each, line) for each in members}) == 1 and (name, line) not in self.broken

    def dumps(self, *, starts: bool = True, kept: int = 1000) -> dict[int, Dump]:
        """Return what each rank recorded; `starts`: whether the beginning of operations was; `kept`: the buffer."""
        found: dict[int, Dump] = {}
        for rank in range(self.world):
            numbers: Counter[str] = Counter()
            entries: list[Entry] = []
            for line in range(self.issued(rank)):
                operation = self.asked(rank, line)
                name, _ = self.groups[operation.family, rank]
                numbers[name] += 1
                begun = State.STARTED if starts and line == self.done[rank] else State.SCHEDULED
                entries.append(
                    entry(
                        numbers[name],
                        State.COMPLETED if line < self.done[rank] else begun,
                        group=name,
                        description=operation.family,
                        record=line,
                        name=operation.name,
                        inputs=((operation.size,),),
                        created=BEGUN + line * 1_000_000 + rank,
                    )
                )
            mine = {name: ranks for (_, who), (name, ranks) in self.groups.items() if who == rank}
            found[rank] = dump(rank, *entries[-kept:], groups=mine)
        return found
