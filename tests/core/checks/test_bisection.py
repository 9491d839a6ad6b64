"""Bisection names exactly the bad nodes and pairs, from few tests."""

from collections import Counter
from collections.abc import Callable, Iterable
from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.checks.bisection import Group, Named, Outcome, following
from tests.examples import examples

Pair = tuple[str, str]


class Truth:
    """A rack whose bad nodes and pairs are known to the test alone."""

    def __init__(self, nodes: Iterable[str], bad: Iterable[str] = (), pairs: Iterable[Pair] = ()) -> None:
        self.nodes, self.bad, self.pairs = sorted(nodes), frozenset(bad), {frozenset(pair) for pair in pairs}

    def passes(self, group: Group) -> bool:
        """What a test of a group says."""
        return not group & self.bad and not any(pair <= group for pair in self.pairs)

    def found(self, good: Iterable[str] = (), begun: Iterable[Outcome] = ()) -> tuple[Named, list[Outcome]]:
        """Test what is asked for until nothing is."""
        outcomes, good = list(begun), list(good)
        while True:
            group = following(self.nodes, outcomes, good)
            if isinstance(group, Named):
                return group, outcomes
            assert len(group) > 1
            assert all(group != each.group for each in outcomes)
            outcomes.append(Outcome(group, self.passes(group)))


def rack(count: int) -> list[str]:
    """Return the names of nodes."""
    return [f"gpu-{number:03}" for number in range(count)]


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    """Draw up to three bad nodes and three bad pairs, no node in two of them."""
    nodes = rack(draw(st.integers(8, 64)))
    mixed = draw(st.permutations(nodes))
    bad, pairs = draw(st.integers(0, min(3, len(nodes) // 4))), draw(st.integers(0, min(3, len(nodes) // 4)))
    rest = mixed[bad:]
    return Truth(nodes, mixed[:bad], [(rest[2 * each], rest[2 * each + 1]) for each in range(pairs)])


@settings(max_examples=examples(60))
@given(truths())
def test_exactly_the_bad_ones_are_named(truth: Truth) -> None:
    """Of any few, wherever they are; or it is said that nothing can be told."""
    named, outcomes = truth.found()
    if named.untold:
        assert not any(each.passed for each in outcomes)
        return
    assert (set(named.nodes), {frozenset(pair) for pair in named.pairs}) == (truth.bad, truth.pairs)
    assert (named.flaky, named.together) == ((), ())
    faults = len(truth.bad) + len(truth.pairs)
    assert len(outcomes) <= 1 + 4 * (faults + 1) * log2(len(truth.nodes))


@settings(max_examples=examples(30))
@given(truths(), st.data())
def test_it_can_be_stopped_and_resumed_anywhere(truth: Truth, data: st.DataObject) -> None:
    """The outcomes are all there is to remember, in whatever order they came."""
    named, outcomes = truth.found()
    begun = data.draw(st.permutations(outcomes[: data.draw(st.integers(0, len(outcomes)))]))
    again, _ = truth.found(begun=begun)
    assert again == named


@settings(max_examples=examples(30))
@given(truths())
def test_known_good_nodes_make_any_rack_tellable(truth: Truth) -> None:
    """Beside two that are good, even a rack in which nothing works is told apart."""
    named, _ = truth.found(good=["ref-1", "ref-2"])
    assert (set(named.nodes), {frozenset(pair) for pair in named.pairs}) == (truth.bad, truth.pairs)
    assert not named.untold


@given(st.sets(st.sampled_from(rack(16)), min_size=2, max_size=6), st.sampled_from(rack(16)))
def test_a_node_with_bad_ways_to_several_is_found_with_each_of_them(ends: set[str], hub: str) -> None:
    """Unless its ways to both of the company are bad: then it is called bad itself."""
    pairs = [(hub, end) for end in ends - {hub}]
    named, _ = Truth(rack(16), (), pairs).found()
    assert named.nodes in {(), (hub,)}
    if not named.nodes:
        assert {frozenset(pair) for pair in named.pairs} == {frozenset(pair) for pair in pairs}


def test_ways_between_nodes_that_were_put_aside_are_found() -> None:
    """A triangle and a chain: each pair of them, once."""
    pairs = [("gpu-000", "gpu-009"), ("gpu-009", "gpu-012"), ("gpu-000", "gpu-012"), ("gpu-012", "gpu-013")]
    named, _ = Truth(rack(16), (), pairs).found(good=["ref-1", "ref-2"])
    assert named.nodes == ()
    assert Counter(named.pairs) == Counter(tuple(sorted(pair)) for pair in pairs)


def test_a_whole_group_that_passes_needs_no_other_test() -> None:
    """One test proves all of them."""
    named, outcomes = Truth(rack(128)).found()
    assert (named, len(outcomes)) == (Named(), 1)


def test_one_bad_node_among_a_hundred_takes_a_dozen_tests() -> None:
    """All pairs would be 8,128."""
    named, outcomes = Truth(rack(128), ["gpu-077"]).found()
    assert named == Named(nodes=("gpu-077",))
    assert len(outcomes) <= 18


def test_two_nodes_that_fail_together_are_not_told_apart() -> None:
    """Without a third nobody knows which of them it is; with company it is told."""
    assert Truth(rack(2), ["gpu-001"]).found()[0] == Named(untold=("gpu-000", "gpu-001"))
    assert Truth(rack(2), ["gpu-001"]).found(good=["ref-1", "ref-2"])[0] == Named(nodes=("gpu-001",))
    assert Truth(rack(1)).found()[0] == Named()


def test_a_bad_way_to_the_company_is_no_bad_node() -> None:
    """It passes with one of them."""
    named, _ = Truth(rack(8), (), [("gpu-003", "ref-1")]).found(good=["ref-1", "ref-2"])
    assert named == Named(pairs=(("gpu-003", "ref-1"),))


def scripted(nodes: list[str], answers: list[bool]) -> Named:
    """Return what comes of given answers, one after the other; after the last all groups pass."""
    outcomes: list[Outcome] = []
    while True:
        group = following(nodes, outcomes)
        if isinstance(group, Named):
            return group
        outcomes.append(Outcome(group, answers[len(outcomes)] if len(outcomes) < len(answers) else True))


def test_a_group_that_fails_once_is_flaky() -> None:
    """The whole fails and all that is tested afterwards passes."""
    named = scripted(rack(8), [False])
    assert not named.nodes
    assert not named.pairs
    assert tuple(rack(8)) in named.flaky


@pytest.mark.parametrize("three", [("gpu-000", "gpu-003", "gpu-006"), ("gpu-000", "gpu-001", "gpu-007")])
@pytest.mark.parametrize("good", [(), ("ref-1", "ref-2")])
def test_a_group_that_fails_only_as_a_whole_is_said_to_do_so(three: tuple[str, ...], good: tuple[str, ...]) -> None:
    """Three nodes that fail together and pass in pairs: nobody's cable."""
    named = answered(rack(8), good, lambda group: not set(three) <= group)
    assert not named.nodes
    assert not named.pairs
    assert named.together
    assert set(three) <= set(named.together[0])


def test_a_node_that_passes_when_it_is_confirmed_is_not_named() -> None:
    """It fails beside both of its company, and passes beside each."""
    named = answered(rack(4), (), lambda group: "gpu-003" not in group or len(group) == 2)
    assert not named.nodes
    assert ("gpu-000", "gpu-001", "gpu-003") in named.together


def answered(nodes: list[str], good: Iterable[str], passes: Callable[[Group], bool]) -> Named:
    """Return what comes of answers that need not be those of bad nodes and pairs; a group may be asked for again."""
    outcomes: list[Outcome] = []
    while True:
        group = following(nodes, outcomes, good)
        if isinstance(group, Named):
            return group
        outcomes.append(Outcome(group, passes(group)))


@given(st.lists(st.booleans(), max_size=60), st.integers(2, 12))
def test_whatever_is_answered_it_ends(answers: list[bool], count: int) -> None:
    """Answers at random, from a network of moods."""
    assert isinstance(scripted(rack(count), answers), Named)
