"""Modules in the ports of switches that are too warm, or receive or send too little light."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from fleet_runner.core.cabling import quality
from fleet_runner.core.cabling.links import Port
from fleet_runner.core.checks.parsers.port_states.modules import RX_POWER, TEMPERATURE, TX_POWER, ModuleAlarm
from fleet_runner.core.checks.parsers.switch_ports import written
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import READ_AT, judged
from tests.core.checks.catalogue.test_fabric_roce import FABRIC, GOOD, HOUR, SWITCHES, asked, counted, held

AT_NODE, UPLINK = ("leaf-1", "Ethernet8"), ("leaf-1", "Ethernet16")
DIM = ModuleAlarm(RX_POWER, 3, -10.7, -9.4)
WARM = ModuleAlarm(TEMPERATURE, 0, 81.0, 75.0)


def twice(alarms: Mapping[tuple[str, str], ModuleAlarm], hours: float = 1.0, **run: object) -> Result:
    """Judge the fabric some hours after a look at which the same modules alarmed."""
    ports = {port: replace(GOOD, alarms=(alarm,)) for port, alarm in alarms.items()}
    observed = asked(ports).observed
    before = {"fabric_roce": {"at": READ_AT - hours * HOUR, "observed": {"alarms": observed["alarms"]}}}
    return asked(ports, held(before=before, **run))


def test_a_lane_with_too_little_light_names_both_ends_with_the_key_of_their_cable() -> None:
    result = twice({AT_NODE: DIM})
    (finding,) = result.findings
    assert (result.verdict, finding.code, finding.remedy) == (Verdict.FAIL, "optics.rx_power", Remedy.RECABLE)
    assert finding.message == (
        "leaf-1 Ethernet8: its module receives -10.7 dBm on lane 3, expected at least -9.4 by its own limits"
    )
    assert finding.fault == quality.key((Port("gpu-02", "eth1"), Port(*AT_NODE)))
    assert (finding.nodes, finding.devices) == ((FABRIC, "gpu-02"), ("gpu-02", "leaf-1"))
    assert finding.steps[1].startswith("At its other end, gpu-02 port eth1")
    assert "which sends what arrives here" in finding.steps[1]


def test_a_module_that_sends_too_much_is_told_of_its_farthest_lane() -> None:
    loud = (ModuleAlarm(TX_POWER, 1, 6.2, 6.0), ModuleAlarm(TX_POWER, 2, 7.5, 6.0))
    (finding,) = asked({UPLINK: replace(GOOD, alarms=loud)}).findings
    assert (finding.code, finding.nodes) == ("optics.tx_power", (FABRIC,))
    assert "sends 7.5 dBm on lane 2, expected at most 6" in finding.message
    assert "which hears it" in finding.steps[1]


@pytest.mark.parametrize("alarm", [DIM, WARM])
def test_once_is_recorded_and_so_is_what_was_seen_more_than_a_day_ago(alarm: ModuleAlarm) -> None:
    for result in (asked({AT_NODE: replace(GOOD, alarms=(alarm,))}), twice({AT_NODE: alarm}, hours=25)):
        (finding,) = result.findings
        assert (result.verdict, finding.remedy) == (Verdict.PASS, Remedy.RECORD)
        assert finding.message.endswith("by its own limits; the next sweep tells whether it goes on")
    nonsense = held(before={"fabric_roce": {"at": READ_AT - HOUR, "observed": {"alarms": 5}}})
    assert asked({AT_NODE: replace(GOOD, alarms=(alarm,))}, nonsense).findings[0].remedy is Remedy.RECORD


def test_a_module_that_is_too_warm_is_told_and_three_of_a_switch_are_its_fans() -> None:
    (finding,) = twice({AT_NODE: WARM}).findings
    assert (finding.code, finding.remedy, finding.devices) == ("optics.temperature", Remedy.RECABLE, ("leaf-1",))
    assert "its module is at 81 C, expected at most 75 by its own limits" in finding.message
    assert finding.steps[0].startswith("At leaf-1 port Ethernet8")
    hotter = WARM._replace(value=84.5)
    warm = {AT_NODE: WARM, UPLINK: hotter, ("leaf-1", "Ethernet0"): WARM, ("leaf-2", "Ethernet0"): WARM}
    first, second = twice(warm).findings
    assert (first.remedy, first.component, first.steps) == (Remedy.WATCH, "leaf-1", ())
    assert first.message.startswith("leaf-1: 3 modules are beyond their own limits of temperature, the worst at")
    assert "at leaf-1 Ethernet16 with 84.5 C" in first.message
    assert second.component == "leaf-2 Ethernet0"


def test_what_a_node_that_boots_sends_is_left_out() -> None:
    assert twice({AT_NODE: DIM}, disturbed={"gpu-02": READ_AT - 60}).verdict is Verdict.FAIL, "its window is empty"
    assert twice({AT_NODE: DIM}, disturbed={"gpu-02": READ_AT + 60}).findings == ()


def test_light_counts_with_errors_and_flaps_for_the_cap_and_is_one_ticket_with_them() -> None:
    bad = {AT_NODE: replace(counted(uncorrected=5 + 10**6), alarms=(DIM,))}
    looks = asked().observed["looks"]
    aged = {switch: [row | {"at": READ_AT - HOUR} for row in rows] for switch, rows in looks.items()}
    observed = {"looks": aged, "bad": {"leaf-1 Ethernet8": 5}, "alarms": ["leaf-1 Ethernet8 rx_power"]}
    found = asked(bad, held(before={"fabric_roce": {"at": READ_AT - HOUR, "observed": observed}})).findings
    assert [each.code for each in found] == ["cabling.symbol_errors", "optics.rx_power"]
    assert len({each.fault for each in found}) == 1
    assert {each.remedy for each in found} == {Remedy.RECABLE}
    assert len(SWITCHES) == 3


def test_a_warm_switch_is_told_also_where_too_many_links_are_bad_at_once() -> None:
    rows = [[f"gpu-{n:02d}", "eth1", "leaf-1", f"Ethernet{8 * n}", "400gbase-x-osfp", []] for n in range(11)]
    expected = held()
    devices = dict.fromkeys((row[0] for row in rows), expected.fabric["devices"]["gpu-01"])
    fabric = {"devices": {**devices, "leaf-1": expected.fabric["devices"]["leaf-1"]}, "links": rows}
    wide = replace(expected, fabric=fabric, device={"switches": ["leaf-1"]})
    bad = {"leaf-1": {row[3]: replace(GOOD, alarms=(DIM, WARM)) for row in rows}}
    said = {"switch_ports": json.dumps(written(bad, {}))}
    before = {"fabric_roce": {"at": READ_AT - HOUR, "observed": judged("fabric_roce", said, wide).observed}}
    found = judged("fabric_roce", said, replace(wide, run={"now": READ_AT, "before": before})).findings
    assert {each.code: each.component for each in found} == {"optics.temperature": "leaf-1", "roce.suspect": FABRIC}
