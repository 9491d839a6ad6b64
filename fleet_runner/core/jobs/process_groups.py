"""A job's process groups, and which of their collectives each rank recorded, from the dumps of all ranks."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fleet_runner.core.base.ranks import named
from fleet_runner.core.jobs.flight_recorder import Dump, Entry, State

HOST_ONLY = frozenset({"gloo", "c10d"})
"""Who records no progress of its own: an operation of theirs is over, done or failed, once the rank retired it."""

DISPATCHER = "c10d"
"""Whose records (of FlightRecorderHook) may stand beside those of who carries the operation out, with other names."""

COALESCED = "coalesced"
"""The record of several operations that were sent off together; theirs stay "scheduled" (ProcessGroupNCCL)."""

ALIKE = frozenset(
    {
        "all_reduce",
        "allreduce",
        "all_reduce_barrier",
        "allreduce_coalesced",
        "broadcast",
        "reduce",
        "_all_gather_base",
        "all_gather_single",
        "all_gather_into_tensor_coalesced",
        "_reduce_scatter_base",
        "reduce_scatter_single",
        "reduce_scatter_tensor_coalesced",
    }
)
"""Operations to which every rank gives as many elements, of one type; the others may differ between ranks."""


@dataclass(frozen=True, slots=True)
class Step:
    """One number of a group at one rank: an operation, or several that were sent off together."""

    entries: tuple[Entry, ...]

    @property
    def _telling(self) -> tuple[Entry, ...]:
        return tuple(each for each in self.entries if each.kind == COALESCED) or self.entries

    @property
    def _operations(self) -> tuple[Entry, ...]:
        told = tuple(each for each in self.entries if each.kind != COALESCED) or self.entries
        return tuple(each for each in told if each.backend != DISPATCHER) or told

    @property
    def over(self) -> bool:
        """Say whether it came back: done, or, where progress is not recorded, failed."""
        return all(
            each.state is State.COMPLETED or (each.retired and each.backend in HOST_ONLY) for each in self._telling
        )

    @property
    def state(self) -> State:
        """Return how far the accelerator came. Starts are seen only with TORCH_NCCL_ENABLE_TIMING."""
        states = {each.state for each in self._telling}
        return next(iter(states)) if len(states) == 1 else State.STARTED

    @property
    def host_only(self) -> bool:
        """Say whether its progress is not recorded."""
        return all(each.backend in HOST_ONLY for each in self.entries)

    @property
    def created(self) -> int | None:
        """Return when the rank asked for it, in nanoseconds since 1970."""
        return min((each.created for each in self.entries if each.created is not None), default=None)

    @property
    def kinds(self) -> str:
        """Return what is done, several joined by "+"."""
        return "+".join(dict.fromkeys(each.kind for each in self._operations))

    @property
    def counts(self) -> str:
        """Return how many elements this rank gives, where all ranks must give as many; else ""."""
        given = [sum(map(math.prod, each.inputs)) for each in self._operations if each.kind in ALIKE]
        return "+".join(f"{each:,} elements" for each in given)

    @property
    def types(self) -> str:
        """Return of which types they are, where all ranks must give the same; else ""."""
        given = (kind for each in self._operations if each.kind in ALIKE for kind in each.input_types)
        return "+".join(dict.fromkeys(given))

    @property
    def line(self) -> str:
        """Return the first record in short."""
        each = self._operations[0]
        frame = f" at {each.frames[0].file.rpartition('/')[2]}:{each.frames[0].line}" if each.frames else ""
        sizes = ", ".join(str(list(size)) for size in each.inputs[:3])
        retired = ", retired" if each.retired else ""
        return f"{each.name} {each.collective} {sizes or 'without sizes'} {each.state}{retired}{frame}"

    @property
    def asked_at(self) -> str:
        """Return the caller's function, file and line; "" where no stack was recorded."""
        frames = self._operations[0].frames
        return f"{frames[0].function}, {frames[0].file.rpartition('/')[2]}:{frames[0].line}" if frames else ""


@dataclass(frozen=True, slots=True)
class Team:
    """A process group whose ranks are numbered as in the whole job.

    `steps` has, of each rank whose dump tells of the group, its collectives by number. `silent` ranks have no dump;
    `unclear` ones have one that holds nothing of the group and may have lost it: only the newest records are kept.
    """

    name: str
    description: str
    ranks: tuple[int, ...]
    steps: Mapping[int, Mapping[int, Step]]
    transfers: Mapping[int, tuple[Step, ...]]
    silent: frozenset[int]
    unclear: frozenset[int]

    @property
    def label(self) -> str:
        """Return how it is named in a sentence."""
        what = f"{self.description}, " if self.description not in {"", "undefined"} else ""
        return f"process group {self.name or 'without a name'} ({what}{named(self.ranks)})"


def expected(dumps: Mapping[int, Dump], world: int) -> frozenset[int]:
    """Return all ranks of the job, as far as dumps, or the number of ranks, tell."""
    told = {rank for dump in dumps.values() for group in dump.groups for rank in group.ranks}
    return frozenset(told | set(dumps) | set(range(world)))


def teams(dumps: Mapping[int, Dump], world: int) -> list[Team]:
    """Return the groups in which anything was recorded, by name."""
    everyone = expected(dumps, world)
    found: dict[tuple[str, tuple[int, ...]], dict[int, list[Entry]]] = defaultdict(dict)
    untold: dict[str, dict[int, list[Entry]]] = defaultdict(dict)
    for rank, dump in dumps.items():
        ranks = {group.name: group.ranks for group in dump.groups}
        for name, entries in _by_group(dump.entries).items():
            if rank in ranks.get(name, ()):
                found[name, ranks[name]][rank] = entries
            else:
                untold[name][rank] = entries
    for name, entries_by_rank in untold.items():
        first = next(iter(entries_by_rank.values()))[0]
        whole = first.description == "default_pg"
        found[name, tuple(sorted(everyone if whole else entries_by_rank))].update(entries_by_rank)
    partly = any(map(_active_only, dumps.values()))
    return [_team(key, entries_by_rank, dumps, partly=partly) for key, entries_by_rank in sorted(found.items())]


def _team(
    key: tuple[str, tuple[int, ...]],
    entries: Mapping[int, list[Entry]],
    dumps: Mapping[int, Dump],
    *,
    partly: bool,
) -> Team:
    name, ranks = key
    without = [rank for rank in ranks if rank in dumps and rank not in entries]
    lost = {rank for rank in without if partly or (dumps[rank].entries and dumps[rank].entries[0].record > 0)}
    steps = {rank: _steps(each for each in mine if not each.is_p2p) for rank, mine in entries.items()}
    return Team(
        name,
        next(iter(entries.values()))[0].description,
        ranks,
        steps | {rank: dict[int, Step]() for rank in without if rank not in lost},
        {rank: tuple(_transfers(each for each in mine if each.is_p2p)) for rank, mine in entries.items()},
        frozenset(ranks) - frozenset(dumps),
        frozenset(lost),
    )


def _by_group(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = defaultdict(list)
    for each in entries:
        found[each.group].append(each)
    return found


def _active_only(dump: Dump) -> bool:
    """Say whether completed operations were left out (TORCH_INCLUDE_ONLY_ACTIVE)."""
    return bool(dump.entries) and dump.entries[0].record > 0 and not any(Step((each,)).over for each in dump.entries)


def _steps(entries: Iterable[Entry]) -> dict[int, Step]:
    """Return a rank's collectives by number; of a group that was made anew, which counts anew, the newest."""
    numbered: dict[int, list[Entry]] = {}
    newest = 0
    for each in entries:
        if each.collective < newest:
            numbered = {}
        newest = each.collective
        numbered.setdefault(newest, []).append(each)
    return {number: Step(tuple(mine)) for number, mine in numbered.items()}


def _transfers(entries: Iterable[Entry]) -> Iterable[Step]:
    """Yield each transfer between two ranks, with the record that tells how it went."""
    numbered: dict[int, list[Entry]] = defaultdict(list)
    for each in entries:
        numbered[each.p2p].append(each)
    for mine in numbered.values():
        telling = tuple(each for each in mine if each.kind == COALESCED)
        for each in mine:
            if each.kind != COALESCED:
                yield Step((each, *telling))
