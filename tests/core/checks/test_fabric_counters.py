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
from tests.core.checks.judging import cuts, documented, text_of

SEEN = text_of("ibnetdiscover/by_port.txt")
NOW = 1_740_900_000.0
HOUR = 3600.0
FABRIC = "infiniband.h"
NDR = "infiniband-ndr"
NODE, OTHER_NODE = "a088c20300ab0c10", "a088c20300ab0d10"
LEAF, SPINE, NEW_NODE = "fc6a1c0300e70000", "fc6a1c0300e90000", "a088c20300ab0c99"


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


def look(
    counters: str, before: Result | None = None, *, at: float | None = None, seen: str = SEEN, **run_data: Any
) -> Result:
    """Look at the fabric: at NOW, and ten minutes later if another look was before, or at a moment after NOW."""
    at = (600.0 if before else 0.0) if at is None else at
    rc = run_data.pop("rc", 1)
    ago = run_data.pop("ago", 600.0)
    told = {"at": NOW + at - ago, "observed": json.loads(json.dumps(before.observed))} if before else None
    readings = {
        "ibqueryerrors": Reading("ibqueryerrors", ReadEnd.OK, counters, rc=rc, at=NOW + at),
        "ibnetdiscover": Reading("ibnetdiscover", ReadEnd.OK, seen, at=NOW + at),
    }
    without = run_data.pop("without", None)
    fabric = {**EXPECTED.fabric, "links": [row for row in EXPECTED.fabric["links"] if row[:2] != without]}
    data = {"now": NOW + at, "before": {"fabric_counters": told}, **run_data}
    held = Expected(FABRIC, device=EXPECTED.device, fabric=fabric, profiles=EXPECTED.profiles, run=data)
    return documented(CHECKS["fabric_counters"], run(CHECKS["fabric_counters"], readings, held))


def looks(*steps: tuple[float, Counts], seen: str = SEEN) -> list[Result]:
    """Look again and again, each time so many seconds after NOW."""
    results: list[Result] = []
    last = 0.0
    for at, counts in steps:
        results.append(look(report(counts), results[-1] if results else None, at=at, ago=at - last, seen=seen))
        last = at
    return results


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
        f"nothing is known of 1 whose counters are full or new: 0x{LEAF} port 1 (perfquery -R clears one)"
    )


def test_a_message_names_a_few_full_counters_only() -> None:
    many: Counts = {(LEAF, port): (65_535, 0) for port in range(1, 6)}
    assert "nothing is known of 5" in looked(many, many).message
    assert f"0x{LEAF} port 3, …" in looked(many, many).message


def test_a_counter_that_ran_full_is_a_fault_until_it_is_cleared() -> None:
    full: Counts = {(LEAF, 1): (65_535, 0)}
    steps = [(4 * HOUR, full), (5 * HOUR, full), (8 * HOUR, full), (12 * HOUR, full)]
    _, second, *later, third = looks((0, {(LEAF, 1): (60_000, 0)}), *steps)
    assert {the(each).fault for each in later} == {the(third).fault}
    assert the(second).fault == the(third).fault
    assert the(third).steps[-1] == f"Then clear the full counter of leaf-1 1: perfquery -R -G 0x{LEAF} 1"
    assert look(report({}), third, at=16 * HOUR).verdict is Verdict.PASS


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


@pytest.mark.parametrize("now", [NOW, NOW - 100.0])
def test_a_look_of_the_same_moment_or_of_the_future_is_no_look_before(now: float) -> None:
    result = looked({}, {(LEAF, 1): (90, 0)}, now=now)
    assert result.verdict is Verdict.PASS
    assert result.message.endswith("the next look tells what they count")


def test_without_the_runners_clock_the_readings_own_time_counts() -> None:
    assert looked({}, {(LEAF, 1): (90, 0)}, now=None).verdict is Verdict.FAIL
