"""Do pairs of nodes write over the links between switches as fast as they should?

A speed names no cable: a test has many flows, and nobody outside the switches knows which link each of them took. So
what is common to slow pairs, and to no fast one, is called suspect and no more.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import median

from fleet_runner.core.cabling.explain import some
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import path_tests
from fleet_runner.core.checks.parsers.path_tests import PathTest
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict

NAME = "fabric_paths"

LEAST_PAIRS = 5
"""Pairs without a pass mark from which on their median is one: of fewer, one slow one moves it."""

MEDIAN_SHARE = 0.8
"""Less than this share of the median is slow. Pairs of one kind of port differ by a few per cent; with a mark in the
profile it is not used."""

Group = frozenset[str]
"""The two leaves of a test."""

Parts = Mapping[str, frozenset[str]]
"""What a test uses, by kind."""

SHOWN = 4
"""Suspects of a kind that are named; of a large fabric one test uses hundreds of links."""

KINDS = ("node", "port", "rail", "switch", "link")


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL for slow pairs, and where two agree that there is no way; UNKNOWN for a pair that came to nothing."""
    told = path_tests.parse(text_of(readings["path_tests"]))
    if not told.tests:
        nothing = {"links": told.links, "covered": 0, "uncovered": dict(told.uncovered), "tests": []}
        if not told.links:
            return Result(NAME, Verdict.PASS, "no link between switches is there to be tested", observed=nothing)
        why = "no pair was tested; fleet-runner cabling paths says which nodes are idle"
        return Result(NAME, Verdict.UNKNOWN, why, observed=nothing)
    measured = [each for each in told.tests if each.gbitps is not None]
    bad = slow(told.tests)
    fast = [each for each in measured if each not in bad]
    lost = list(_lost(told.tests))
    findings = [*_slow(bad, fast, expected.node), *(_none(each, expected.node) for each in lost)]
    agreed = {_leaves(one) for one, _ in lost}
    doubted = [each for each in told.tests if each.apart and _leaves(each) not in agreed]
    unread = [f"{each.named}: {each.untold}" for each in told.tests if each.untold]
    unread += [
        f"{each.named} did not reach each other ({each.apart}), and no other pair of nodes agrees" for each in doubted
    ]
    covered = told.links - len(told.uncovered)
    observed = {
        "links": told.links,
        "covered": covered,
        "uncovered": dict(told.uncovered),
        "tests": [_observed(each, slow=each in bad) for each in told.tests],
    }
    pairs = f"{len(measured)} pair{'s' * (len(measured) != 1)} of nodes"
    passed = f"{covered} of {told.links} links between switches were used by {pairs}, {_rates(measured)}"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def slow(tests: Sequence[PathTest]) -> list[PathTest]:
    """Return the tests below their mark; without one, below a share of their kind's median, if there are enough."""
    rates: dict[str, list[float]] = defaultdict(list)
    for each in tests:
        if each.gbitps is not None:
            rates[each.kind].append(each.gbitps)
    usual = {kind: median(mine) * MEDIAN_SHARE for kind, mine in rates.items() if len(mine) >= LEAST_PAIRS}
    return [
        each for each in tests if each.gbitps is not None and each.gbitps < least(each, usual.get(each.kind, 0.0))
    ]


def least(test: PathTest, usual: float) -> float:
    """Return what a test must reach, in Gb/s."""
    return usual if test.mark is None else test.mark


def _rates(measured: Sequence[PathTest]) -> str:
    if not measured:
        return "none of which measured anything"
    kinds = Counter(each.kind for each in measured)
    unjudged = any(each.mark is None and kinds[each.kind] < LEAST_PAIRS for each in measured)
    why = (
        f"no pass mark is given, and fewer than {LEAST_PAIRS} pairs are not compared" if unjudged else "none is slow"
    )
    return f"the slowest at {min(each.gbitps or 0.0 for each in measured):.4g} Gb/s each way; {why}"


def _observed(test: PathTest, *, slow: bool) -> dict[str, object]:
    why = test.apart or test.untold
    told: dict[str, object] = {"from": f"{test.one}", "to": f"{test.other}", "gbitps": test.gbitps}
    return told | {"flows": test.flows, "slow": slow} | ({"why": why} if why else {})


def _leaves(test: PathTest) -> Group:
    return frozenset(test.leaves)


def _slow(bad: Sequence[PathTest], fast: Sequence[PathTest], fabric: str) -> Iterator[Finding]:
    """Tell slow pairs: all in one, if they have in common what no fast one has; else those of two leaves."""
    by_leaves: dict[Group, list[PathTest]] = defaultdict(list)
    for each in bad:
        by_leaves[_leaves(each)].append(each)
    together = len(by_leaves) > 1 and any(suspects(bad, fast).values())
    for tests in [list(bad)] if together else by_leaves.values():
        yield _finding(tests, suspects(tests, fast), fabric)


def _finding(tests: Sequence[PathTest], suspected: Parts, fabric: str) -> Finding:
    rates = sorted(each.gbitps or 0.0 for each in tests)
    span = " to ".join(dict.fromkeys(f"{rate:.4g}" for rate in (rates[0], rates[-1])))
    marks = sorted({each.mark for each in tests if each.mark is not None})
    expected = f"{marks[0]:g} or more" if marks else f"{MEDIAN_SHARE:.0%} of the median of pairs with such ports"
    leaves = sorted({leaf for each in tests for leaf in each.leaves})
    who = " and ".join(leaves) if len(leaves) == len(("one", "other")) else "all slow pairs"
    pairs = some(each.named for each in tests)
    return about(fabric, "paths.slow", who)(
        message=f"{pairs}: {span} Gb/s each way, expected {expected}; {_words(suspected)}",
        remedy=Remedy.WATCH,
        devices=tuple(sorted({*leaves, *(node for each in tests for node in each.nodes)})),
    )


def _words(suspected: Parts) -> str:
    told = [f"{kind} {_few(sorted(suspected[kind]))}" for kind in KINDS if suspected[kind]]
    if not told:
        return "nothing that they have in common is in no fast pair: test again"
    return f"suspects (in every slow pair, in no fast one): {'; '.join(told)}"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def suspects(bad: Iterable[PathTest], fast: Iterable[PathTest]) -> Parts:
    """Return, by kind, what every slow test uses and no fast one does."""
    common = [parts(each) for each in bad]
    good = [parts(each) for each in fast]
    return {
        kind: frozenset.intersection(*(each[kind] for each in common)).difference(*(each[kind] for each in good))
        for kind in KINDS
    }


def parts(test: PathTest) -> Parts:
    """Return what a test uses: nodes, their ports, rails (what ports are called), switches and links."""
    ends = (test.one, test.other)
    return {
        "node": test.nodes,
        "port": frozenset(f"{end}" for end in ends),
        "rail": frozenset(end.interface for end in ends),
        "switch": frozenset({*test.leaves, *(port.device for each in test.ways for port in each)}),
        "link": frozenset(f"{each.a} to {each.b}" for each in test.ways),
    }


def _lost(tests: Iterable[PathTest]) -> Iterator[tuple[PathTest, PathTest]]:
    """Yield two tests that share no node for each two leaves between which these, and all others, found no way."""
    by_leaves: dict[Group, list[PathTest]] = defaultdict(list)
    for each in tests:
        by_leaves[_leaves(each)].append(each)
    for mine in by_leaves.values():
        apart = [each for each in mine if each.apart]
        independent = ((a, b) for a, b in combinations(apart, 2) if not a.nodes & b.nodes)
        if all(each.gbitps is None for each in mine):
            yield from list(independent)[:1]


def _none(agreed: tuple[PathTest, PathTest], fabric: str) -> Finding:
    one, other = agreed
    a, b = sorted(one.leaves)
    return about(fabric, "paths.none", f"{a} and {b}")(
        message=f"no RDMA path between {one.named}, nor between {other.named} ({one.apart:.120}); expected one over"
        f" {a} and {b}: look at their routes, and at the GIDs and VLANs of the nodes' ports",
        remedy=Remedy.WATCH,
        devices=tuple(sorted({a, b, *one.nodes, *other.nodes})),
    )


CHECK = Check(
    name=NAME,
    question="Do pairs of nodes write over the links between switches as fast as they should?",
    reads=("path_tests",),
    judge=judge,
    codes=(
        Code("paths.slow", (Remedy.WATCH,), "pairs of nodes write too slowly; what they have in common is suspect"),
        Code("paths.none", (Remedy.WATCH,), "two pairs of nodes without a common one find no way between two leaves"),
    ),
    source="`fleet-runner cabling paths --run`; the pass mark of the nodes' profiles, `active.ib_write_pair`.",
)
