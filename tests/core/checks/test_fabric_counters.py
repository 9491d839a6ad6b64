"""Are the links of a fabric good? Two looks at it, one after the other."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.links import Port
from fleet_runner.core.cabling.quality import key
from fleet_runner.core.checks import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.verdicts import Finding, Remedy, Result, Verdict
from tests.core.checks.judging import cuts, text_of

SEEN = text_of("ibnetdiscover/by_port.txt")
NOW = 1_740_900_000.0
FABRIC = "infiniband.h"
NDR = "infiniband-ndr"
NODE, OTHER_NODE = "a088c20300ab0c10", "a088c20300ab0d10"
LEAF, SPINE, STRANGER = "fc6a1c0300e70000", "fc6a1c0300e90000", "b0b1c20300ab0e10"


def device(role: str, rack: str, unit: int) -> dict[str, Any]:
    """Return where a device stands."""
    kind = "hgx" if role == "gpu-server" else "q"
    return {"site": "h", "rack": rack, "unit": unit, "role": role, "device_type": kind, "guids": {}}


EXPECTED = Expected(
    FABRIC,
    device={"switches": ["leaf-1", "leaf-2", "spine-1"]},
    fabric={
        "links": [
            ["gpu-01", "ib0", "leaf-1", "1", NDR, []],
            ["gpu-01", "ib1", "leaf-2", "1", NDR, []],
            ["gpu-02", "ib0", "leaf-1", "2", NDR, []],
            ["gpu-02", "ib1", "leaf-2", "2", NDR, []],
            ["leaf-1", "33", "spine-1", "1", NDR, []],
            ["leaf-2", "33", "spine-1", "2", NDR, []],
        ],
        "devices": {
            "gpu-01": device("gpu-server", "A1", 4),
            "gpu-02": device("gpu-server", "A2", 4),
            "leaf-1": device("leaf", "N1", 1),
            "leaf-2": device("leaf", "N1", 2),
            "spine-1": device("spine", "N1", 3),
        },
    },
    profiles={"hgx": {"hca_interfaces": {"mlx5_0": "ib0", "mlx5_1": "ib1"}}},
)

Counts = dict[tuple[str, int], tuple[int, int]]


def report(counts: Counts, unread: int = 0, checked: int = 196) -> str:
    """Return what ibqueryerrors prints of ports that counted (symbol errors, link downs)."""
    lines = [
        f'Errors for "x"\n   GUID 0x{guid} port {port}: [SymbolErrorCounter == {symbol}]'
        f" [LinkDownedCounter == {down}]\n"
        for (guid, port), (symbol, down) in counts.items()
    ]
    failures = f"##          {unread} PMA query failures\n" if unread else ""
    return (
        f"{''.join(lines)}\n## Summary: 9 nodes checked, {len(lines)} bad nodes found\n"
        f"##          {checked} ports checked, {len(lines)} ports have errors beyond threshold\n"
        f"## Thresholds: \n{failures}## Suppressed:\n"
    )


def look(counters: str, before: Result | None = None, *, seen: str = SEEN, rc: int = 1, **run_data: Any) -> Result:
    """Look at the fabric, ten minutes after a look before."""
    told = {"at": NOW - 600.0, "observed": json.loads(json.dumps(before.observed))} if before else None
    readings = {
        "ibqueryerrors": Reading("ibqueryerrors", ReadEnd.OK, counters, rc=rc, at=NOW),
        "ibnetdiscover": Reading("ibnetdiscover", ReadEnd.OK, seen, at=NOW),
    }
    data = {"now": NOW, "before": {"fabric_counters": told}, **run_data}
    held = Expected(FABRIC, device=EXPECTED.device, fabric=EXPECTED.fabric, profiles=EXPECTED.profiles, run=data)
    return run(CHECKS["fabric_counters"], readings, held)


def looked(first: Counts, second: Counts, **run_data: Any) -> Result:
    """Look twice."""
    return look(report(second), look(report(first)), **run_data)


def the(result: Result) -> Finding:
    """Return the one finding of a look that failed."""
    assert result.verdict is Verdict.FAIL, result.message
    (finding,) = result.findings
    return finding


pairs = st.dictionaries(
    st.sampled_from([(NODE, 1), (OTHER_NODE, 1), (LEAF, 1), (LEAF, 2), (LEAF, 33), (SPINE, 1), (SPINE, 9)]),
    st.tuples(st.integers(0, 70_000), st.integers(0, 300)),
)


@given(pairs)
def test_a_first_look_passes_whatever_was_counted_and_remembers_it(counts: Counts) -> None:
    """Counters that nobody cleared since the fabric was built say nothing about today."""
    result = look(report(counts))
    assert result.verdict is Verdict.PASS
    assert result.message == "the counters of 196 ports are remembered; the next look tells what they count"


@given(pairs)
def test_a_second_look_at_the_same_counters_passes(counts: Counts) -> None:
    assert looked(counts, counts).verdict is Verdict.PASS


@given(pairs, pairs)
def test_any_two_looks_give_a_result_that_can_be_kept(first: Counts, second: Counts) -> None:
    result = looked(first, second)
    assert result.verdict is not Verdict.UNKNOWN
    assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result
    assert len({finding.fault for finding in result.findings}) == len(result.findings)


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


def test_symbol_errors_name_both_ends_and_begin_where_they_were_counted() -> None:
    finding = the(looked({(LEAF, 1): (100, 0)}, {(LEAF, 1): (112, 0)}))
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
        "If the next look at the fabric still sees it, replace the cable with its modules.",
    ]


def test_the_same_errors_at_the_other_end_are_the_same_fault() -> None:
    one, other = looked({}, {(LEAF, 1): (12, 0)}), looked({}, {(NODE, 1): (12, 0)})
    assert the(one).fault == the(other).fault
    assert the(other).steps[0].startswith("At gpu-01 port ib0")


def test_a_few_errors_are_no_fault() -> None:
    assert looked({}, {(LEAF, 1): (2, 0)}).verdict is Verdict.PASS


def test_a_link_that_both_ends_saw_go_down_is_a_fault() -> None:
    finding = the(looked({(LEAF, 33): (0, 7)}, {(LEAF, 33): (0, 9), (SPINE, 1): (0, 2)}))
    assert finding.code == "cabling.link_down"
    assert "went down 2 times in 10 min, seen from both ends" in finding.message
    assert finding.nodes == (FABRIC,), "no node would notice"


def test_what_only_one_end_saw_is_recorded() -> None:
    result = looked({}, {(LEAF, 1): (0, 5)})
    assert result.verdict is Verdict.PASS
    assert result.observed["one_ended"] == 1
    (finding,) = result.findings
    assert (finding.remedy, finding.code) == (Remedy.RECORD, "cabling.one_end_down")
    assert finding.message == "Only one end saw gpu-01 ib0 to leaf-1 1 go down: gpu-01 ib0 0 times, leaf-1 1 5 times."


def test_a_link_that_flaps_stays_a_fault_while_its_day_lasts() -> None:
    """Seen again by the look that confirms it, though it was quiet meanwhile."""
    first = look(report({}))
    down = {(LEAF, 1): (0, 4), (NODE, 1): (0, 4)}
    second = look(report(down), first)
    third = look(report(down), second)
    assert the(second).code == the(third).code == "cabling.link_flaps"
    assert the(second).fault == the(third).fault
    assert third.observed["downs"] == second.observed["downs"]


def test_a_link_that_went_down_once_is_a_fault_once() -> None:
    down = {(LEAF, 1): (0, 1), (NODE, 1): (0, 1)}
    second = look(report(down), look(report({})))
    assert second.verdict is Verdict.FAIL
    assert look(report(down), second).verdict is Verdict.PASS


def test_a_link_of_a_disturbed_node_is_left_out_and_the_others_are_not() -> None:
    counts = {(LEAF, 1): (50, 3), (NODE, 1): (50, 3), (LEAF, 2): (50, 3), (OTHER_NODE, 1): (50, 3)}
    result = looked({}, counts, disturbed={"gpu-01": NOW - 300.0})
    assert the(result).component == "gpu-02 ib0 to leaf-1 2"
    assert result.observed["excluded"] == 1
    assert looked({}, counts, disturbed={"gpu-01": NOW - 601.0}).observed["excluded"] == 0


def test_a_disturbed_node_proves_nothing_about_its_links() -> None:
    """Its tickets stay open: a look that leaves a link out has not seen it well."""
    upset = {"gpu-01": NOW - 300.0, "gpu-02": NOW - 601.0}
    assert looked({}, {}, disturbed=upset).observed["unsure"] == ["gpu-01"]


def test_a_link_that_flapped_before_its_node_was_disturbed_is_still_a_fault() -> None:
    """Else a reboot would close its ticket."""
    flapped = look(report({(LEAF, 1): (0, 4), (NODE, 1): (0, 4)}), look(report({})))
    result = look(report({(LEAF, 1): (0, 9)}), flapped, disturbed={"gpu-01": NOW})
    assert the(result).fault == the(flapped).fault


def test_counters_that_went_backwards_or_are_full_condemn_nothing() -> None:
    """An adapter forgets when its server boots; sixteen bits are full after 65,535 errors."""
    assert looked({(LEAF, 1): (900, 9)}, {(LEAF, 1): (800, 8)}).verdict is Verdict.PASS
    full = looked({(LEAF, 1): (65_535, 255)}, {(LEAF, 1): (65_535, 255)})
    assert full.verdict is Verdict.PASS
    assert full.observed["unknown"] == 1
    assert full.message.endswith(
        f"nothing is known of 1 whose counters are full or new: 0x{LEAF} port 1 (perfquery -R clears one)"
    )


def test_a_message_names_a_few_full_counters_only() -> None:
    many: Counts = {(LEAF, port): (65_535, 0) for port in range(1, 6)}
    assert "nothing is known of 5" in looked(many, many).message
    assert f"0x{LEAF} port 3, …" in looked(many, many).message


def test_a_counter_that_ran_full_is_a_fault_until_it_is_cleared() -> None:
    first = look(report({(LEAF, 1): (60_000, 0)}))
    second = look(report({(LEAF, 1): (65_535, 0)}), first)
    third = look(report({(LEAF, 1): (65_535, 0)}), second)
    assert the(second).fault == the(third).fault
    assert the(third).steps[-1] == f"Then clear the full counter of leaf-1 1: perfquery -R -G 0x{LEAF} 1"
    assert look(report({}), third).verdict is Verdict.PASS


def test_a_port_that_did_not_answer_once_is_not_taken_for_one_that_was_cleared() -> None:
    first = look(report({(LEAF, 1): (900, 0)}))
    second = look(report({}, unread=3), first)
    assert (second.verdict, second.observed["whole"]) == (Verdict.PASS, False)
    assert look(report({(LEAF, 1): (901, 0)}), second).verdict is Verdict.PASS
    third = look(report({(LEAF, 2): (900, 0)}), second)
    assert third.verdict is Verdict.PASS, "of that port nothing was known"


def test_a_fabric_that_did_not_answer_for_the_most_part_is_unknown() -> None:
    result = look(report({}, unread=99))
    assert result.verdict is Verdict.UNKNOWN
    assert "no answer to 99 queries about 196 ports" in result.message


def test_a_tool_that_failed_is_unknown_whatever_it_printed() -> None:
    assert look(report({}), rc=255).verdict is Verdict.UNKNOWN
    assert look(report({}), rc=0).verdict is Verdict.PASS


def test_a_port_without_a_link_is_not_judged() -> None:
    """Its cable is a matter of topology."""
    assert looked({}, {(LEAF, 3): (5000, 200)}).findings == ()


def test_a_link_of_another_fabric_that_is_seen_too_is_left_to_it() -> None:
    assert looked({}, {(SPINE, 127): (5000, 0)}).verdict is Verdict.FAIL
    first, second = look(report({})), report({(SPINE, 127): (5000, 0)})
    data = {"now": NOW, "before": {"fabric_counters": {"at": NOW - 600.0, "observed": dict(first.observed)}}}
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


@pytest.mark.parametrize("now", [NOW - 600.0, NOW - 700.0])
def test_a_look_of_the_same_moment_or_of_the_future_is_no_look_before(now: float) -> None:
    result = looked({}, {(LEAF, 1): (90, 0)}, now=now)
    assert result.verdict is Verdict.PASS
    assert result.message.endswith("the next look tells what they count")


def test_without_the_runners_clock_the_readings_own_time_counts() -> None:
    assert looked({}, {(LEAF, 1): (90, 0)}, now=None).verdict is Verdict.FAIL
