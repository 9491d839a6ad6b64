"""Which nodes or pairs of nodes make a group fail: the next group to test, from the outcomes of those before.

A group fails if it holds a bad node, or both ends of a bad pair (two nodes with a bad way between them), however many
good ones it holds besides. All pairs of n nodes would be n(n-1)/2 tests; k faults are found here in fewer
than 4 (k + 1) log2(n).

1. The whole group. If it passes, all are good.
2. Halves, until one passes: its nodes are known to be good, and two of them are the company of every later group, so
   that also a single node can be tested.
3. Halves of what is left, beside that company. One that fails is halved again; where both halves pass alone, a pair
   across them is bad, and each of its ends is found by halving one side while the other stays.
4. Each that was found is confirmed alone: a node with either of its company, a pair by itself. One that then passes
   was not to be trusted before: it is flaky.

The state is the list of outcomes, nothing else: `following` begins anew each time and stops at the first group whose
outcome it lacks. What follows from other outcomes (a part of a group that passed passes; one that holds a group that
failed fails) is not tested.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

Group = frozenset[str]

COMPANY = 2
"""Good nodes beside which others are tested: with one alone, a bad way to it would look like a bad node. One that has
a bad way to both is called bad itself."""

TRIES = 2
"""Outcomes of one group before it is believed that its parts pass while it fails."""


class Outcome(NamedTuple):
    """A group that was tested, and whether it passed."""

    group: Group
    passed: bool


@dataclass(frozen=True, slots=True)
class Named:
    """What the outcomes prove. Nodes and pairs are sorted; nothing in any of them means that all are good.

    `flaky` are groups whose outcomes contradict each other or those of their parts; `together` those that fail again
    and again while all their parts pass: too much load on what they share, say. `untold` are nodes of which nothing
    is known, because no group passed beside which they could be tested.
    """

    nodes: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    flaky: tuple[tuple[str, ...], ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    untold: tuple[str, ...] = ()


class _NeedError(Exception):
    """An outcome that is not known yet."""

    def __init__(self, group: Group) -> None:
        super().__init__()
        self.group = group


class _OddError(Exception):
    """A group that fails although no node and no pair in it does."""

    def __init__(self, group: Group) -> None:
        super().__init__()
        self.group = group


def following(nodes: Iterable[str], outcomes: Sequence[Outcome], good: Iterable[str] = ()) -> Group | Named:
    """Return the next group to test; or what was found, once nothing is left to be tested.

    `good` are nodes, two at best, that are known to be good and may take part although nobody asks about them.
    """
    asked, known = sorted(set(nodes)), sorted(set(good))
    own: dict[Group, list[bool]] = {}
    for group, passed in outcomes:
        own.setdefault(group, []).append(passed)
    passing = [group for group, answers in own.items() if any(answers)]
    failing = [group for group, answers in own.items() if not all(answers)]
    contradicted = [group for group in failing if any(group <= each for each in passing)]
    search = _Search(own, passing, [group for group in failing if group not in contradicted], contradicted)
    try:
        return search.whole(asked, known)
    except _NeedError as need:
        return need.group


@dataclass(slots=True)
class _Search:
    own: dict[Group, list[bool]]
    passing: list[Group]
    failing: list[Group]
    contradicted: list[Group]
    company: Group = frozenset()
    nodes: list[str] = field(default_factory=list[str])
    pairs: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    flaky: list[Group] = field(default_factory=list[Group])
    together: list[Group] = field(default_factory=list[Group])

    def passes(self, group: Iterable[str]) -> bool:
        """Say whether a group passes, from its own outcomes or those of others; the last of its own counts."""
        wanted = frozenset(group)
        if wanted in self.own:
            return self.own[wanted][-1]
        if any(wanted <= each for each in self.passing):
            return True
        if any(each <= wanted for each in self.failing):
            return False
        raise _NeedError(wanted)

    def beside(self, group: Iterable[str]) -> bool:
        """Say whether some nodes pass beside their company; none at all do."""
        wanted = frozenset(group)
        return not wanted or self.passes(wanted | self.company)

    def whole(self, asked: Sequence[str], good: Sequence[str]) -> Named:
        """Find everything, or raise for the outcome that is needed next."""
        if len({*asked, *good}) < 2 or self.passes({*asked, *good}):  # noqa: PLR2004  one node has nobody to add up with
            return self._named()
        company = good[:COMPANY] or self._company(asked)
        if not company:
            return self._named(untold=tuple(asked))
        self.company = frozenset(company)
        self._independent([name for name in asked if name not in self.company])
        return self._named()

    def _company(self, asked: Sequence[str]) -> Sequence[str]:
        """Return two nodes of the first part that passes, halves before quarters."""
        parts = [asked]
        while parts:
            parts = [half for part in parts for half in _halves(part) if len(half) > 1]
            for part in parts:
                if self.passes(part):
                    return part[:COMPANY]
        return ()

    def _independent(self, names: Sequence[str]) -> None:
        """Find what is bad among some nodes, beside their company, and all bad pairs of each."""
        left, aside = list(names), list[str]()
        while not self.beside(left):
            try:
                first, *others = self._minimal(left, ())
            except _OddError as odd:
                self._odd(odd.group)
                return
            left = [name for name in left if name != first]
            if others or not self._node(first):
                # It passes beside others: by which of them it fails is looked at when they pass among themselves.
                aside.append(first)
        circles = [left]
        for name in aside:
            for circle in circles:
                self._neighbours(name, circle)
            # Those that were put aside pass with it or not; only such as pass together can be asked at once.
            friends = next((each for each in circles[1:] if not any(self._met(name, one) for one in each)), None)
            if friends is None:
                circles.append([name])
            else:
                friends.append(name)

    def _minimal(self, names: Sequence[str], beside: Sequence[str]) -> tuple[str, ...]:
        """Return the one node that fails beside its company and others, or two that fail together."""
        if len(names) == 1:
            return tuple(names)
        one, other = _halves(names)
        for half in (one, other):
            if not self.beside((*half, *beside)):
                return self._minimal(half, beside)
        if beside:
            raise _OddError(frozenset((*names, *beside)) | self.company)
        first = self._minimal(one, other)
        return (*first, *self._minimal(other, first))

    def _node(self, name: str) -> bool:
        """Confirm a node that fails beside its company: with either of them alone; say if it is the node."""
        bad = [each for each in sorted(self.company) if not self.passes({name, each})]
        if len(bad) == len(self.company):
            self.nodes.append(name)
            return True
        self.pairs += [_pair(name, each) for each in bad]
        if not bad:
            self._odd(self.company | {name})
        return False

    def _neighbours(self, name: str, circle: Sequence[str]) -> None:
        """Find each of a circle, whose nodes all pass together, with which a node fails."""
        partner = [each for each in self.company if not any(self._met(each, one) for one in (name, *circle))]
        if not circle or self.passes({name, *circle, *partner}):
            return
        if len(circle) > 1:
            for half in _halves(circle):
                self._neighbours(name, half)
        elif self.passes({name, *circle}):
            self._odd(frozenset({name, *circle, *partner}))
        else:
            self.pairs.append(_pair(name, circle[0]))

    def _met(self, name: str, other: str) -> bool:
        return _pair(name, other) in self.pairs

    def _odd(self, group: Group) -> None:
        """A group fails and its parts pass: by chance, unless it fails again."""
        own = self.own.get(group, [])
        if len(own) < TRIES:
            raise _NeedError(group)
        (self.flaky if any(own) else self.together).append(group)

    def _named(self, untold: tuple[str, ...] = ()) -> Named:
        flaky = sorted({tuple(sorted(group)) for group in (*self.flaky, *self.contradicted)})
        together = sorted({tuple(sorted(group)) for group in self.together})
        return Named(tuple(sorted(self.nodes)), tuple(sorted(set(self.pairs))), tuple(flaky), tuple(together), untold)


def _halves(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    middle = (len(names) + 1) // 2
    return names[:middle], names[middle:]


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)
