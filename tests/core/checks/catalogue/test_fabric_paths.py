"""What pairs of nodes tell of the links between switches: suspects, and no cable by its speed alone."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.checks.catalogue.fabric_paths import slow, suspects
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.path_tests import PathsTold, PathTest, written
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import judged, remedies

FABRIC = "ethernet.hall"


def ways(*leaves: int) -> tuple[Link, ...]:
    return tuple(
        link(Port(f"leaf-{leaf}", f"Ethernet{49 + spine}"), Port(f"spine-{spine}", f"Ethernet{leaf}"))
        for leaf in leaves
        for spine in range(2)
    )


def pair(nodes: tuple[int, int], leaves: tuple[int, int], gbitps: float | None = 392.0, **more: Any) -> PathTest:
    """Return a test of two nodes, each by its port of the leaf's number."""
    one, other = (Port(f"gpu-{node}", f"eth{leaf}") for node, leaf in zip(nodes, leaves, strict=True))
    names = (f"leaf-{leaves[0]}", f"leaf-{leaves[1]}")
    told: dict[str, Any] = {"mark": 380.0} | more
    return PathTest(one, other, names, 12, ways(*leaves), gbitps, **told)


def answer(*tests: PathTest, **uncovered: str) -> Result:
    """Judge tests of a fabric of sixteen links."""
    told = written(PathsTold(tests, 16, uncovered))
    return judged("fabric_paths", {"path_tests": json.dumps(told)}, Expected(FABRIC))


def test_fast_pairs_pass_with_how_many_links_they_used() -> None:
    result = answer(pair((1, 2), (1, 2)), pair((3, 4), (3, 4), 390.5), leaf="no node at leaf-5 is idle")
    assert result.verdict is Verdict.PASS
    used = "15 of 16 links between switches were used by 2 pairs of nodes"
    assert result.message == f"{used}, the slowest at 390.5 Gb/s each way; none is slow"
    assert (result.observed["covered"], result.observed["uncovered"]) == (15, {"leaf": "no node at leaf-5 is idle"})
    assert [each["slow"] for each in result.observed["tests"]] == [False, False]


def test_a_slow_pair_is_watched_and_never_a_cable_to_move() -> None:
    result = answer(pair((1, 2), (1, 2), 150.0), pair((3, 4), (3, 4)))
    assert remedies(result) == {"paths.slow": Remedy.WATCH}
    (finding,) = result.findings
    assert "gpu-1 eth1 and gpu-2 eth2: 150 Gb/s each way, expected 380 or more" in finding.message
    assert finding.steps == ()
    assert (finding.component, finding.nodes) == ("leaf-1 and leaf-2", (FABRIC,))
    assert finding.devices == ("gpu-1", "gpu-2", "leaf-1", "leaf-2")


def test_other_nodes_that_are_fast_at_the_same_leaves_clear_links_and_leave_the_nodes() -> None:
    (finding,) = answer(pair((1, 2), (1, 2), 150.0), pair((3, 4), (1, 2))).findings
    assert finding.message.endswith(
        "suspects (in every slow pair, in no fast one): node gpu-1, gpu-2; port gpu-1 eth1, gpu-2 eth2"
    )


def test_other_nodes_that_are_slow_as_well_clear_the_nodes_and_leave_leaves_and_links() -> None:
    result = answer(pair((1, 2), (1, 2), 150.0), pair((3, 4), (1, 2), 149.0), pair((1, 2), (3, 4)))
    (finding,) = result.findings
    assert "149 to 150 Gb/s" in finding.message
    assert "node" not in finding.message
    assert "switch leaf-1, leaf-2; link leaf-1 Ethernet49 to spine-0 Ethernet1" in finding.message


def test_one_node_in_all_slow_pairs_and_in_no_fast_one_is_one_finding() -> None:
    slow_ones = [pair((1, other), (1, other), 100.0) for other in (2, 3)]
    (finding,) = answer(*slow_ones, pair((4, 5), (4, 5)), pair((2, 3), (2, 3))).findings
    assert "node gpu-1; port gpu-1 eth1" in finding.message
    assert finding.component == "all slow pairs"


def test_slow_pairs_that_have_nothing_in_common_are_each_told_by_its_leaves() -> None:
    result = answer(pair((1, 2), (1, 2), 100.0), pair((3, 4), (3, 4), 90.0), pair((5, 6), (1, 3)))
    assert [finding.component for finding in result.findings] == ["leaf-1 and leaf-2", "leaf-3 and leaf-4"]
    other = answer(pair((1, 2), (1, 2), 100.0), pair((1, 2), (1, 2)))
    assert "nothing that they have in common is in no fast pair: test again" in other.message


@given(st.lists(st.floats(380, 400), min_size=0, max_size=8))
def test_no_pair_that_reaches_its_mark_is_slow(rates: list[float]) -> None:
    tests = [pair((2 * at, 2 * at + 1), (2 * at, 2 * at + 1), rate) for at, rate in enumerate(rates)]
    assert slow(tests) == []


@given(st.lists(st.floats(390, 394), min_size=4, max_size=8), st.floats(1, 300))
def test_without_a_mark_a_pair_far_below_the_median_of_five_is_slow(rates: list[float], low: float) -> None:
    tests = [pair((2 * at, 2 * at + 1), (1, 2), rate, mark=None) for at, rate in enumerate([low, *rates])]
    assert slow(tests) == tests[:1]
    assert slow(tests[:4]) == []
    assert "expected 80% of the median of pairs with such ports" in answer(*tests).message


def test_ports_of_another_type_are_not_compared() -> None:
    """A 100 Gb/s port is no slow one of 400."""
    fast = [pair((2 * at, 2 * at + 1), (1, 2), mark=None, kind="400gbase-x-osfp") for at in range(5)]
    other = pair((20, 21), (1, 2), 97.0, mark=None, kind="100gbase-x-qsfp28")
    result = answer(*fast, other)
    assert result.verdict is Verdict.PASS
    assert "fewer than 5 pairs are not compared" in result.message


def test_where_no_pair_was_tested_it_is_told_what_is_not_covered() -> None:
    result = answer(leaf="no node at leaf-5 is idle")
    assert (result.verdict, result.observed["uncovered"]) == (Verdict.UNKNOWN, {"leaf": "no node at leaf-5 is idle"})
    assert "no pair was tested" in result.message


def test_a_fabric_without_links_between_switches_passes() -> None:
    told = written(PathsTold((), 0, {}))
    result = judged("fabric_paths", {"path_tests": json.dumps(told)}, Expected(FABRIC))
    assert (result.verdict, result.observed["links"]) == (Verdict.PASS, 0)


def test_few_pairs_without_a_mark_are_not_judged_by_their_speed_and_that_is_said() -> None:
    result = answer(pair((1, 2), (1, 2), 9.0, mark=None), pair((3, 4), (3, 4), mark=None))
    assert (result.verdict, "no pass mark is given, and fewer than 5 pairs are not compared" in result.message) == (
        Verdict.PASS,
        True,
    )


WHY = "Failed status 12: wr_id 0 syndrom 0x81"


def test_two_pairs_without_a_common_node_that_find_no_way_agree() -> None:
    result = answer(pair((1, 2), (1, 2), None, apart=WHY), pair((3, 4), (1, 2), None, apart=WHY))
    assert remedies(result) == {"paths.none": Remedy.WATCH}
    assert "no RDMA path between gpu-1 eth1 and gpu-2 eth2, nor between gpu-3 eth1 and gpu-4 eth2" in result.message
    assert result.findings[0].devices == ("gpu-1", "gpu-2", "gpu-3", "gpu-4", "leaf-1", "leaf-2")


@pytest.mark.parametrize(
    "others",
    [
        (),
        (pair((1, 4), (1, 2), None, apart=WHY),),
        (pair((3, 4), (3, 4), None, apart=WHY),),
        (pair((3, 4), (1, 2)),),
        (pair((3, 4), (1, 2), None, apart=WHY), pair((5, 6), (1, 2))),
    ],
)
def test_one_pair_that_finds_no_way_is_unknown_unless_an_independent_one_agrees(others: tuple[PathTest, ...]) -> None:
    """Nor where a third pair does find one."""
    result = answer(pair((1, 2), (1, 2), None, apart=WHY), *others)
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert f"gpu-1 eth1 and gpu-2 eth2 did not reach each other ({WHY})" in result.message


def test_a_pair_that_was_not_tested_is_unknown_with_its_reason() -> None:
    result = answer(pair((1, 2), (1, 2), None, untold="gpu-1: a tenant's work runs on it"))
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == "gpu-1 eth1 and gpu-2 eth2: gpu-1: a tenant's work runs on it"
    assert result.observed["tests"][0]["why"] == "gpu-1: a tenant's work runs on it"
    assert answer().verdict is Verdict.UNKNOWN


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(4, 7), st.booleans()), min_size=1, max_size=8))
def test_nothing_of_a_fast_pair_is_ever_suspect(drawn: list[tuple[int, int, bool]]) -> None:
    tests = [(pair((a, b), (a, b)), fast) for a, b, fast in drawn]
    bad = [each for each, fast in tests if not fast]
    if bad:
        found = suspects(bad, [each for each, fast in tests if fast])
        for each, fast in tests:
            assert not fast or not found["node"] & each.nodes
            assert not fast or not found["link"] & {f"{a} to {b}" for a, b in each.ways}
