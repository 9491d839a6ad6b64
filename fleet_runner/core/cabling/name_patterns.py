"""Which designed device each name of a capture may mean, by its letters and its numbers."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.cabling.names import short

_DIGITS = re.compile(r"[0-9]{1,18}")
_SEPARATORS = re.compile(r"[-_. ]")


def candidates(designed: Collection[str], seen: Collection[str]) -> tuple[Mapping[str, str], ...]:
    """Return each way to give seen names a designed device; none of them, where letters and numbers tell nothing.

    Letters come first: `GPU_01.example.net` and `gpu1` are gpu-01. What is left goes by its numbers alone (`node7` is
    gpu-07), or by its order, where both have as many (`node0` is gpu-01): these are two ways. The third
    gives a kind its order though most names of it read alike: gpu0 to gpu7 may be gpu-01 to gpu-08.
    """
    folded = _equal(designed, seen, _folded)
    plain = folded | _equal({*designed} - {*folded.values()}, {*seen} - folded.keys(), _plain)
    ways: list[Mapping[str, str]] = []
    for same, matched in ((plain, _numbered), (plain, _ordered), (folded, _ordered)):
        found = dict(same)
        for mine, theirs in _groups({*designed} - {*same.values()}, {*seen} - same.keys()):
            found |= matched(mine, theirs)
        if found and found not in ways:
            ways.append(found)
    return tuple(ways)


def skeleton(name: str) -> str:
    """Return a name with `#` for each of its numbers: what devices of a kind have in common."""
    return _DIGITS.sub("#", name)


def glob(devices: Collection[str], others: Iterable[str]) -> str:
    """Return what matches the names of some devices and none of the others ("leaf-*"); "" if nothing simple does."""
    names = sorted(devices)
    if len(names) == 1:
        return names[0]
    shortest = min(map(len, names))
    head = next((at for at in range(shortest) if len({name[at] for name in names}) > 1), shortest)
    room = shortest - head
    tail = next((at for at in range(room) if len({name[-1 - at] for name in names}) > 1), room)
    start, end = names[0][:head], names[0][len(names[0]) - tail :]
    shared = any(name.startswith(start) and name.endswith(end) for name in others if name not in devices)
    return "" if shared else f"{start}*{end}"


def _folded(name: str) -> str:
    return short(name).casefold().replace("_", "-")


def _plain(name: str) -> str:
    """Return a name without separators and leading zeros."""
    return _SEPARATORS.sub("", _DIGITS.sub(lambda digits: f"-{int(digits[0])}-", _folded(name)).replace("--", "-"))


def _equal(designed: Iterable[str], seen: Iterable[str], key: Callable[[str], str]) -> dict[str, str]:
    """Return the designed device of each seen name that is the only one on both sides to be the same by a key."""
    mine, theirs = list(designed), list(seen)
    count, others = Counter(map(key, mine)), Counter(map(key, theirs))
    devices = {key(name): name for name in mine if count[key(name)] == 1}
    return {name: devices[key(name)] for name in theirs if others[key(name)] == 1 and key(name) in devices}


_Rows = Mapping[str, tuple[int, ...]]
"""Names with the numbers by which they differ from others of their kind."""


def _groups(designed: Iterable[str], seen: Iterable[str]) -> list[tuple[_Rows, _Rows]]:
    """Return the kinds of names that may mean each other: of the same letters, the only ones, of the same numbers."""
    mine, theirs = _kinds(designed), _kinds(seen)
    words, other_words = (Counter(map(_letters, each)) for each in (mine, theirs))
    same = {word for word in words if words[word] == other_words[word] == 1}
    spelled = {_letters(rows): rows for rows in theirs}
    pairs = [(rows, spelled[word]) for rows in mine if (word := _letters(rows)) in same]
    mine, theirs = ([rows for rows in each if _letters(rows) not in same] for each in (mine, theirs))
    return pairs + _alike(mine, theirs)


def _letters(rows: _Rows) -> str:
    return _SEPARATORS.sub("", skeleton(_folded(next(iter(rows)))))


def _alike(mine: list[_Rows], theirs: list[_Rows]) -> list[tuple[_Rows, _Rows]]:
    if len(mine) == len(theirs) == 1:
        return [(mine[0], theirs[0])]
    by_numbers = Counter(frozenset(rows.values()) for rows in mine)
    others = Counter(frozenset(rows.values()) for rows in theirs)
    alone = {numbers for numbers in by_numbers if by_numbers[numbers] == others[numbers] == 1}
    found = {frozenset(rows.values()): rows for rows in theirs}
    return [(rows, found[key]) for rows in mine if (key := frozenset(rows.values())) in alone]


def _kinds(names: Iterable[str]) -> list[_Rows]:
    kinds: dict[str, list[str]] = {}
    for name in sorted(names, key=natural):
        kinds.setdefault(skeleton(_folded(name)), []).append(name)
    return [_rows(each) for each in kinds.values()]


def _rows(names: list[str]) -> _Rows:
    rows = {name: tuple(map(int, _DIGITS.findall(_folded(name)))) for name in names}
    differing = [at for at, column in enumerate(zip(*rows.values(), strict=True)) if len({*column}) > 1]
    return {name: tuple(row[at] for at in differing) for name, row in rows.items()}


def _numbered(mine: _Rows, theirs: _Rows) -> dict[str, str]:
    devices, count = {row: name for name, row in mine.items()}, Counter(theirs.values())
    return {name: devices[row] for name, row in theirs.items() if row in devices and count[row] == 1}


def _ordered(mine: _Rows, theirs: _Rows) -> dict[str, str]:
    if len(mine) != len(theirs):
        return {}
    return dict(
        zip(sorted(theirs, key=lambda name: theirs[name]), sorted(mine, key=lambda name: mine[name]), strict=True)
    )
