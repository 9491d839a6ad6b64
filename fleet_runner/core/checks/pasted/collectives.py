"""Who waited for whom in a job whose collective timed out: what its output tells, and what it cannot tell.

A timeout is a symptom. It never condemns hardware: it says which rank to look at first, or that the ranks' programs
went different ways, which is no hardware's doing.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.ranks import SHOWN, named
from fleet_runner.core.checks.parsers import torch_watchdog
from fleet_runner.core.checks.parsers.torch_watchdog import Wait
from fleet_runner.core.checks.pasted.told import Part

UNEVEN = frozenset({"ALLTOALL", "ALLTOALL_BASE", "SEND", "RECV", "GATHER", "SCATTER", "COALESCED", "UNKNOWN"})
"""Operations whose ranks may give and take different sizes."""

WHOLE = frozenset({"", "0"})
"""Process groups whose ranks are numbered from 0 without a gap: the job's own; where none is told, it likely is."""


def timeouts(text: str, node: str) -> Part:
    """Say who waited in which collective, who is behind, who is missing, and which ranks disagree."""
    waits = torch_watchdog.parse(text)
    groups: dict[str, list[Wait]] = defaultdict(list)
    for each in waits:
        groups[each.group].append(each)
    notes: list[str] = []
    unsure = [] if waits else [f"{node}: a collective timed out; the line that says in which cannot be read"]
    for group, mine in sorted(groups.items()):
        apart = list(_disagreeing(mine))
        if group:
            notes += [f"process group {group}: {each}" for each in apart]
            unsure += [] if apart else [f"process group {group}: {each}" for each in _waiting(group, mine)]
        else:
            unsure += [f"{each}, unless these are two process groups" for each in apart] or list(
                _waiting(group, mine)
            )
    ranks = len({each.rank for each in waits})
    return Part(f"PyTorch's watchdog of {counted(ranks, 'rank')}", (), tuple(unsure), tuple(notes), len(waits))


def _disagreeing(waits: Sequence[Wait]) -> Iterator[str]:
    """Yield where ranks are in different operations, or give different sizes, under one number."""
    by_number: dict[int, list[Wait]] = defaultdict(list)
    for each in waits:
        by_number[each.number].append(each)
    for number, mine in sorted(by_number.items()):
        operations, sizes = _ranks_by(mine, lambda each: each.operation), _ranks_by(mine, _size)
        if len(operations) > 1:
            yield (
                f"collective {number} differs between ranks: {_told(operations)}; their code paths differ,"
                " which no hardware causes: look for a branch that depends on the rank or its data"
            )
        elif mine[0].operation not in UNEVEN and len(sizes) > 1:
            yield (
                f"collective {number} ({mine[0].operation}) has different sizes: {_told(sizes)}; that is the"
                " program's: look for data that differs between ranks"
            )


def _waiting(group: str, waits: Sequence[Wait]) -> Iterator[str]:
    """Yield who is behind or missing; where all wait in one place, that nothing more can be told."""
    most = Counter(each.number for each in waits).most_common(1)[0][0]
    behind = [each for each in waits if each.number < most]
    known = {each.rank for each in waits}
    silent = set(range(max(known))) - known if group in WHOLE else set[int]()
    operation = next(each.operation for each in waits if each.number == most)
    place = f"collective {most} ({operation})"
    if behind:
        told = "; ".join(f"rank {each.rank} in {each.number} ({each.operation})" for each in behind[:SHOWN])
        yield (
            f"most ranks waited in {place}, and {told}: who is behind held the others up, unless it was in another"
            " process group; look at that rank's stack and its node's kernel log first"
        )
    if 0 < len(silent) < len(known):
        yield (
            f"{named(silent)} of 0 to {max(known)} told of no timeout: never joined {place}, or ended before; look"
            " at the output and the node of each first"
        )
    elif not behind:
        yield (
            f"{named(known)} waited {max(each.seconds for each in waits):.0f} s in {place}, and nobody is behind in"
            " what was pasted; paste also the output of all ranks, their flight recorder dumps"
            " (TORCH_NCCL_TRACE_BUFFER_SIZE=2000, TORCH_NCCL_DUMP_ON_TIMEOUT=1), the kernel logs of their nodes"
        )


def _told(ranks: dict[str, list[int]]) -> str:
    return "; ".join(f"{what} on {named(who)}" for what, who in sorted(ranks.items()))


def _size(each: Wait) -> str:
    return "untold" if each.given is None else f"{each.given} in, {each.taken} out"


def _ranks_by(waits: Iterable[Wait], key: Callable[[Wait], str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for each in waits:
        found[key(each)].append(each.rank)
    return found
