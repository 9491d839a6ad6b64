"""Are the links of a fabric good? What two looks at its counters, one after the other, find wrong."""

import json

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.links import Port
from fleet_runner.core.cabling.quality import key
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.fabric_looks import (
    EXPECTED,
    FABRIC,
    HOUR,
    LEAF,
    NODE,
    NOW,
    OTHER_NODE,
    SEEN,
    SPINE,
    Counts,
    look,
    looked,
    looks,
    report,
    the,
)

pairs = st.dictionaries(
    st.sampled_from([(NODE, 1), (OTHER_NODE, 1), (LEAF, 1), (LEAF, 2), (LEAF, 33), (SPINE, 1), (SPINE, 9)]),
    st.tuples(st.integers(0, 70_000), st.integers(0, 300)),
)


@given(pairs)
def test_a_first_look_passes_whatever_was_counted_and_remembers_it(counts: Counts) -> None:
    """Counters that nobody cleared since the fabric was built say nothing about today."""
    result = look(report(counts))
    assert result.verdict is Verdict.PASS
    assert result.message == "the counters of 196 ports are stored; the next check shows what they count"


@given(pairs)
def test_a_second_look_at_the_same_counters_passes(counts: Counts) -> None:
    assert looked(counts, counts).verdict is Verdict.PASS


@given(pairs, pairs)
def test_any_two_looks_give_a_result_that_can_be_kept(first: Counts, second: Counts) -> None:
    result = looked(first, second)
    assert result.verdict is not Verdict.UNKNOWN
    assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result
    assert len({finding.fault for finding in result.findings}) == len(result.findings)


def test_symbol_errors_name_both_ends_and_begin_where_they_were_counted() -> None:
    result = looked({(LEAF, 1): (100, 0)}, {(LEAF, 1): (112, 0)})
    finding = the(result)
    assert result.observed["counted"] == [["gpu-01", "ib0", "leaf-1", "1", 12]]
    assert (result.observed["counting"], result.observed["seconds"]) == (1, 600.0)
    assert finding.code == "cabling.symbol_errors"
    assert finding.remedy is Remedy.RECABLE
    assert finding.component == "gpu-01 ib0 to leaf-1 1"
    assert (
        finding.message
        == "The link leaf-1 1 to gpu-01 ib0 counted 12 symbol errors at leaf-1 1 in 10 min, allowed 2.88."
    )
    assert finding.fault == key((Port("gpu-01", "ib0"), Port("leaf-1", "1")))
    assert (finding.nodes, finding.devices) == ((FABRIC, "gpu-01"), ("gpu-01", "leaf-1"))
    assert [step.split(":")[0] for step in finding.steps] == [
        "At leaf-1 port 1 (h rack N1 U1)",
        "At its other end, gpu-01 port ib0 (h rack A1 U4)",
        "If the next check of the fabric still finds it, replace the cable with its modules.",
    ]


def test_the_same_errors_at_the_other_end_are_the_same_fault() -> None:
    one, other = looked({}, {(LEAF, 1): (12, 0)}), looked({}, {(NODE, 1): (12, 0)})
    assert the(one).fault == the(other).fault
    assert the(other).steps[0].startswith("At gpu-01 port ib0")


def test_a_few_errors_are_no_fault() -> None:
    assert looked({}, {(LEAF, 1): (2, 0)}).verdict is Verdict.PASS


def test_a_link_that_both_ends_saw_go_down_is_recorded() -> None:
    """Nobody can confirm what is over: no sweep is made for it, and only one that flaps is worth a ticket."""
    result = looked({(LEAF, 33): (0, 7)}, {(LEAF, 33): (0, 9), (SPINE, 1): (0, 2)})
    assert result.verdict is Verdict.PASS
    (finding,) = result.findings
    assert (finding.code, finding.remedy) == ("cabling.link_down", Remedy.RECORD)
    assert finding.message == "The link leaf-1 33 to spine-1 1 went down 2 times since the last look."
    assert finding.fault == f"{key((Port('leaf-1', '33'), Port('spine-1', '1')))}/link_down"
    assert finding.nodes == (FABRIC,), "no node would notice"


def test_a_link_that_goes_down_again_and_again_is_a_fault_that_the_next_look_still_sees() -> None:
    """Once in each look records it; six times in a day is flapping."""
    down = [{(LEAF, 33): (0, times), (SPINE, 1): (0, times)} for times in range(8)]
    steps = [(2.5 * HOUR * times, counts) for times, counts in enumerate(down)]
    found = looks(*steps, (steps[-1][0] + 600.0, down[-1]))
    assert [result.verdict for result in found] == [Verdict.PASS] * 6 + [Verdict.FAIL] * 3
    assert len({finding.fault for result in found for finding in result.findings}) == 2
    assert the(found[-1]).code == "cabling.link_flaps"


@given(st.floats(2.0, 30.0), st.lists(st.booleans(), min_size=6, max_size=12), st.floats(0.0, 1.0))
def test_steady_errors_beyond_the_limit_are_seen_by_every_look(rate: float, soon: list[bool], rest: float) -> None:
    """Whether it comes after four hours or ten minutes; so they are ticketed once, and the ticket stays."""
    at, steps = 0.0, [(0.0, {(LEAF, 33): (int(rest), 1)})]
    for early in (False, *soon):
        at += 600.0 if early else 4 * HOUR
        steps.append((at, {(LEAF, 33): (int(rest + rate * at / HOUR), 1)}))
    found = looks(*steps)[1:]
    assert {the(result).fault for result in found} == {key((Port("leaf-1", "33"), Port("spine-1", "1")))}


@given(st.floats(0.0, 1.1), st.lists(st.booleans(), min_size=6, max_size=12))
def test_steady_errors_within_the_limit_are_seen_by_none(rate: float, soon: list[bool]) -> None:
    at, steps = 0.0, [(0.0, {(LEAF, 33): (0, 1)})]
    for early in soon:
        at += 600.0 if early else 4 * HOUR
        steps.append((at, {(LEAF, 33): (int(rate * at / HOUR), 1)}))
    assert all(result.verdict is Verdict.PASS for result in looks(*steps))


def test_a_repaired_link_passes_once_a_look_holds_it_against_a_mark_after_the_repair() -> None:
    """Ten minutes without errors prove nothing of a link that counts fifteen in an hour."""
    steps = [(0.0, 0), (4 * HOUR, 60), (4 * HOUR + 600, 62), (8 * HOUR, 64), (12 * HOUR, 64), (12 * HOUR + 600, 64)]
    found = looks(*((at, {(LEAF, 33): (count, 1)}) for at, count in steps))
    assert [result.verdict.value for result in found] == ["PASS", "FAIL", "FAIL", "PASS", "PASS", "PASS"]


def test_what_only_one_end_saw_is_recorded() -> None:
    result = looked({}, {(LEAF, 1): (0, 5)})
    assert result.verdict is Verdict.PASS
    assert result.observed["one_ended"] == 1
    (finding,) = result.findings
    assert (finding.remedy, finding.code) == (Remedy.RECORD, "cabling.one_end_down")
    assert finding.message == "Only one end saw gpu-01 ib0 to leaf-1 1 go down: gpu-01 ib0 0 times, leaf-1 1 5 times."


def test_a_link_that_flaps_stays_a_fault_while_its_day_lasts() -> None:
    """Seen again by the look that confirms it, though it was quiet meanwhile."""
    down: Counts = {(LEAF, 1): (0, 4), (NODE, 1): (0, 4)}
    _, second, third = looks((0, {}), (600, down), (1200, down))
    assert the(second).code == the(third).code == "cabling.link_flaps"
    assert the(second).fault == the(third).fault
    assert third.observed["downs"] == second.observed["downs"]


def test_a_counter_that_ran_full_is_a_fault_until_it_is_cleared() -> None:
    full: Counts = {(LEAF, 1): (65_535, 0)}
    steps = [(4 * HOUR, full), (5 * HOUR, full), (8 * HOUR, full), (12 * HOUR, full)]
    _, second, *later, third = looks((0, {(LEAF, 1): (60_000, 0)}), *steps)
    assert {the(each).fault for each in later} == {the(third).fault}
    assert the(second).fault == the(third).fault
    assert the(third).steps[-1] == f"Then clear the full counter of leaf-1 1: perfquery -R -G 0x{LEAF} 1"
    assert look(report({}), third, at=16 * HOUR).verdict is Verdict.PASS


def test_a_port_without_a_link_is_not_judged() -> None:
    """Its cable is a matter of topology."""
    assert looked({}, {(LEAF, 3): (5000, 200)}).findings == ()


def test_a_link_of_another_fabric_that_is_seen_too_is_left_to_it() -> None:
    assert looked({}, {(SPINE, 127): (5000, 0)}).verdict is Verdict.FAIL
    first, second = look(report({})), report({(SPINE, 127): (5000, 0)})
    data = {"now": NOW + 600.0, "before": {"fabric_counters": {"at": NOW, "observed": dict(first.observed)}}}
    readings = {
        "ibqueryerrors": Reading("ibqueryerrors", ReadEnd.OK, second, rc=1),
        "ibnetdiscover": Reading("ibnetdiscover", ReadEnd.OK, SEEN),
    }
    held = Expected(FABRIC, device={"switches": ["leaf-1"]}, fabric=EXPECTED.fabric, run=data)
    assert run(CHECKS["fabric_counters"], readings, held).verdict is Verdict.PASS


def test_ends_that_claim_one_port_are_named_as_the_fabric_names_them() -> None:
    """Two adapters that call themselves the same: nobody is sent to the wrong one."""
    both = SEEN.replace("gpu-02 mlx5_0", "gpu-01 mlx5_0")
    finding = the(look(report({(LEAF, 2): (90, 0)}), look(report({}), seen=both), seen=both))
    assert finding.component == f"MF0;leaf-1:MQM9700/U1 0x{LEAF} 2 to gpu-01 mlx5_0 0x{OTHER_NODE} 1"


def test_many_bad_links_at_once_are_one_finding_that_names_no_cable() -> None:
    """A switch that restarted, or new firmware: no technician is sent to each cable."""
    ports = range(1, 12)
    seen = "".join(
        f"CA {port} 1 0x{port:016x} 4x NDR - SW 2 {port} 0x{LEAF} ( 'n{port} mlx5_0' - 'leaf-1' )\n"
        f"SW 2 {port} 0x{LEAF} 4x NDR - CA {port} 1 0x{port:016x} ( 'leaf-1' - 'n{port} mlx5_0' )\n"
        for port in ports
    )
    first = look(report({}), seen=seen)
    bad: Counts = {(LEAF, port): (90, 0) for port in ports}
    finding = the(look(report(bad), first, seen=seen))
    assert finding.code == "cabling.suspect"
    assert finding.fault == f"cabling/quality/suspect/{FABRIC}"
    assert "11 of 11 links are bad at once" in finding.message
    del bad[LEAF, 11]
    assert len(look(report(bad), first, seen=seen).findings) == 10


def test_without_the_runners_clock_the_readings_own_time_counts() -> None:
    assert looked({}, {(LEAF, 1): (90, 0)}, now=None).verdict is Verdict.FAIL
