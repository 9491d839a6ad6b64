"""Looks at the links of a fabric that prove nothing: nobody is condemned, and no ticket closes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Verdict
from tests.core.checks.catalogue.fabric_looks import (
    FABRIC,
    HOUR,
    LEAF,
    NEW_NODE,
    NODE,
    NOW,
    OTHER_NODE,
    SEEN,
    SPINE,
    Counts,
    look,
    looked,
    report,
    the,
)
from tests.core.checks.catalogue.judging import cuts


def test_cutting_either_capture_anywhere_never_fails_a_fabric() -> None:
    first, second = look(report({})), report({(LEAF, 1): (50, 9), (NODE, 1): (0, 9)})
    for cut in cuts(second):
        assert look(cut, first).verdict is Verdict.UNKNOWN
    for cut in list(cuts(SEEN))[::7]:
        result = look(report({}), first, seen=cut, rc=0)
        assert result.verdict is not Verdict.FAIL, result.message


@given(st.text(max_size=200))
def test_a_text_that_is_no_report_is_unknown(text: str) -> None:
    assert look(text).verdict is Verdict.UNKNOWN


def test_a_link_of_a_disturbed_node_is_left_out_and_the_others_are_not() -> None:
    counts = {(LEAF, 1): (50, 3), (NODE, 1): (50, 3), (LEAF, 2): (50, 3), (OTHER_NODE, 1): (50, 3)}
    result = looked({}, counts, disturbed={"gpu-01": NOW + 300.0})
    assert the(result).component == "gpu-02 ib0 to leaf-1 2"
    assert result.observed["excluded"] == 1
    assert looked({}, counts, disturbed={"gpu-01": NOW - 1.0}).observed["excluded"] == 0


def test_a_disturbed_node_proves_nothing_about_its_links() -> None:
    """Its tickets stay open: a look that leaves a link out has not seen it well."""
    upset = {"gpu-01": NOW + 300.0, "gpu-02": NOW - 1.0}
    assert looked({}, {}, disturbed=upset).observed["unsure"] == ["gpu-01"]


def test_a_link_that_flapped_before_its_node_was_disturbed_is_still_a_fault() -> None:
    """Else a reboot would close its ticket."""
    flapped = look(report({(LEAF, 1): (0, 4), (NODE, 1): (0, 4)}), look(report({})))
    result = look(report({(LEAF, 1): (0, 9)}), flapped, at=1200.0, disturbed={"gpu-01": NOW + 900.0})
    assert the(result).fault == the(flapped).fault


def test_counters_that_went_backwards_or_are_full_condemn_nothing() -> None:
    """An adapter forgets when its server boots; sixteen bits are full after 65,535 errors."""
    assert looked({(LEAF, 1): (900, 9)}, {(LEAF, 1): (800, 8)}).verdict is Verdict.PASS
    full = looked({(LEAF, 1): (65_535, 255)}, {(LEAF, 1): (65_535, 255)})
    assert full.verdict is Verdict.PASS
    assert full.observed["unknown"] == 1
    assert full.message.endswith(
        f"1 cannot be judged, their counters are full or new: 0x{LEAF} port 1 (perfquery -R clears one)"
    )


def test_a_message_names_a_few_full_counters_only() -> None:
    many: Counts = {(LEAF, port): (65_535, 0) for port in range(1, 6)}
    assert "5 cannot be judged" in looked(many, many).message
    assert f"0x{LEAF} port 3, …" in looked(many, many).message


def test_a_counter_that_filled_up_while_its_node_booted_is_taken_as_it_is() -> None:
    """What a boot counted is no error of the cable, now or later; a port that is new brings its own past along."""
    first = look(report({(LEAF, 1): (0, 1)}))
    full = report({(LEAF, 1): (65_535, 2), (NODE, 1): (3, 1)})
    upset = {"gpu-01": NOW + 2 * HOUR}
    found = [first]
    for at in (4 * HOUR, 8 * HOUR, 8 * HOUR + 600, 12 * HOUR):
        found.append(look(full, found[-1], at=at, ago=600 if at % HOUR else 4 * HOUR, disturbed=upset))
    assert {result.verdict for result in found} == {Verdict.PASS}
    assert found[-1].observed["unknown"] == 1


@pytest.mark.parametrize("symbols", [500, 65_535])
def test_a_device_that_was_not_there_before_brings_its_counts_along(symbols: int) -> None:
    alone = "".join(line for line in SEEN.splitlines(keepends=True) if f"0x{SPINE}" not in line)
    first = look(report({}), seen=alone)
    counts = report({(SPINE, 1): (symbols, 2)})
    second = look(counts, first)
    third = look(counts, second, at=4 * HOUR)
    assert [each.findings for each in (first, second, third)] == [(), (), ()]
    assert looked({}, {(SPINE, 1): (symbols, 2)}).verdict is Verdict.FAIL, "of one that was there they are new"


def gone(port: str = "gpu-01 mlx5_0") -> str:
    """Return the fabric without a link."""
    return "".join(line for line in SEEN.splitlines(keepends=True) if port not in line)


def test_a_bad_link_that_is_gone_is_not_proved_good() -> None:
    """Its ticket stays until the link is seen again, and well."""
    bad = report({(LEAF, 1): (500, 1)})
    found = look(bad, look(report({(LEAF, 1): (0, 1)})), at=4 * HOUR)
    away = look(bad, found, at=8 * HOUR, seen=gone())
    still = look(bad, away, at=12 * HOUR, seen=gone())
    back = look(bad, still, at=16 * HOUR)
    assert [(each.verdict, each.observed["unsure"]) for each in (away, still)] == [(Verdict.PASS, ["gpu-01"])] * 2
    assert (back.verdict, back.observed["unsure"], back.observed["bad"]) == (Verdict.PASS, [], {})


def test_a_bad_link_between_switches_that_is_gone_casts_doubt_on_both() -> None:
    found = look(report({(SPINE, 1): (500, 1)}), look(report({})))
    away = look(report({}), found, at=4 * HOUR, seen=gone(f"0x{SPINE}"))
    assert away.observed["unsure"] == ["leaf-1", "spine-1"]


def test_a_bad_link_that_is_not_designed_any_more_is_forgotten() -> None:
    found = look(report({(LEAF, 1): (500, 1)}), look(report({})))
    away = look(report({}), found, at=4 * HOUR, seen=gone(), without=["gpu-01", "ib0"])
    assert (away.observed["unsure"], away.observed["bad"]) == ([], {})


def test_a_bad_link_with_a_new_adapter_is_the_same_link() -> None:
    """Of its counts nothing is known at first."""
    other = SEEN.replace(NODE, NEW_NODE)
    found = look(report({(LEAF, 1): (500, 1)}), look(report({})))
    renewed = look(report({(NEW_NODE, 1): (7, 0)}), found, at=4 * HOUR, seen=other)
    assert (renewed.verdict, renewed.observed["unsure"]) == (Verdict.PASS, ["gpu-01"])
    assert look(report({(NEW_NODE, 1): (7, 0)}), renewed, at=8 * HOUR, seen=other).observed["unsure"] == []


def test_a_bad_link_whose_port_did_not_answer_or_is_full_is_not_proved_good() -> None:
    found = look(report({(LEAF, 1): (500, 1)}), look(report({})))
    silent = look(report({}, unread=3), found, at=4 * HOUR)
    assert (silent.verdict, silent.observed["unsure"]) == (Verdict.PASS, ["gpu-01"])
    booted = look(report({(LEAF, 1): (65_535, 1)}), found, at=4 * HOUR, disturbed={"gpu-01": NOW + 4 * HOUR})
    full = look(report({(LEAF, 1): (65_535, 1)}), booted, at=8 * HOUR)
    assert (full.verdict, full.observed["unsure"]) == (Verdict.PASS, ["gpu-01"])


def test_a_look_soon_after_a_boot_proves_nothing_either() -> None:
    found = look(report({(LEAF, 1): (500, 1)}), look(report({})), at=4 * HOUR)
    upset = {"gpu-01": NOW + 8 * HOUR - 60}
    booted = look(report({(LEAF, 1): (600, 2)}), found, at=8 * HOUR, disturbed=upset)
    soon = look(report({(LEAF, 1): (600, 2)}), booted, at=8 * HOUR + 600, disturbed=upset)
    later = look(report({(LEAF, 1): (600, 2)}), soon, at=12 * HOUR, disturbed=upset)
    assert [each.observed["unsure"] for each in (booted, soon, later)] == [["gpu-01"], ["gpu-01"], []]
    assert [each.verdict for each in (booted, soon, later)] == [Verdict.PASS] * 3


def test_a_look_without_a_memory_proves_nothing_of_any_link() -> None:
    """After a day without one, tickets stay open."""
    assert look(report({})).observed["unsure"] == [FABRIC]


def test_a_port_that_did_not_answer_once_is_not_taken_for_one_that_was_cleared() -> None:
    first = look(report({(LEAF, 1): (900, 0)}))
    second = look(report({}, unread=3), first)
    assert (second.verdict, second.observed["whole"]) == (Verdict.PASS, False)
    assert look(report({(LEAF, 1): (901, 0)}), second, at=1200.0).verdict is Verdict.PASS
    third = look(report({(LEAF, 2): (900, 0)}), second, at=1200.0)
    assert third.verdict is Verdict.PASS, "of that port nothing was known"


def test_a_fabric_that_did_not_answer_for_the_most_part_is_unknown() -> None:
    result = look(report({}, unread=99))
    assert result.verdict is Verdict.UNKNOWN
    assert "no answer to 99 queries about 196 ports" in result.message


def test_a_tool_that_failed_is_unknown_whatever_it_printed() -> None:
    assert look(report({}), rc=255).verdict is Verdict.UNKNOWN
    assert look(report({}), rc=0).verdict is Verdict.PASS


@pytest.mark.parametrize("now", [NOW, NOW - 100.0])
def test_a_look_of_the_same_moment_or_of_the_future_is_no_look_before(now: float) -> None:
    result = looked({}, {(LEAF, 1): (90, 0)}, now=now)
    assert result.verdict is Verdict.PASS
    assert result.message.endswith("the next check shows what they count")
