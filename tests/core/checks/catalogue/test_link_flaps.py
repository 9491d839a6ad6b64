"""Do the node's links stay up?"""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import NODE, documented

NOW = 1_740_900_000.0
HOUR, DAY = 3600.0, 86_400.0
DEVICE = {
    "place": "h rack A1 U4",
    "links": [
        {"interface": "ib0", "far_device": "leaf-1", "far_interface": "1", "far_place": "h rack N1 U1"},
        {"interface": "eth0", "far_device": "mgmt-1", "far_interface": "swp1", "far_place": "h rack N1 U40"},
    ],
}


def stamp(at: float) -> str:
    """Return a time as dmesg writes it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S,%f+00:00")


def asked(*ages: float, interface: str = "ib0", up: float = 5 * DAY, log: str = "", **run_data: Any) -> Result:
    """Judge a node whose interface lost its carrier so many seconds ago, each time."""
    lines = [
        f"{stamp(NOW - age)} mlx5_core 0000:1b:00.0 {interface}: Link down\n" for age in sorted(ages, reverse=True)
    ]
    booted = datetime.fromtimestamp(NOW - up, UTC).strftime("%Y-%m-%d %H:%M:%S\n")
    readings = {
        "dmesg": Reading("dmesg", ReadEnd.OK, f"{stamp(NOW - up)} Linux version 6.8\n{''.join(lines)}{log}", at=NOW),
        "uptime": Reading("uptime", ReadEnd.OK, booted, at=NOW),
    }
    return documented(
        CHECKS["link_flaps"], run(CHECKS["link_flaps"], readings, Expected(NODE, device=DEVICE, run=run_data))
    )


@given(st.lists(st.floats(0, 3 * DAY), max_size=12))
def test_a_link_flaps_three_times_an_hour_or_six_times_a_day(ages: list[float]) -> None:
    lost = [sum(age <= span for age in ages) for span in (HOUR - 1, HOUR + 1, DAY - 1, DAY + 1)]
    verdict = asked(*ages).verdict
    if lost[0] >= 3 or lost[2] >= 6:
        assert verdict is Verdict.FAIL
    if lost[1] < 3 and lost[3] < 6:
        assert verdict is Verdict.PASS


def test_a_finding_names_the_interface_and_both_ends() -> None:
    result = asked(60, 120, 180, 2 * HOUR)
    (finding,) = result.findings
    assert (finding.code, finding.component, finding.remedy) == ("link.flaps", "ib0", Remedy.RECABLE)
    assert finding.message.startswith("ib0 lost its carrier 3 times in the last hour and 4 times in the last day")
    assert finding.steps[0].startswith("At gpu-01 port ib0 (h rack A1 U4): unplug")
    assert finding.steps[1] == "At its other end, leaf-1 port 1 (h rack N1 U1): do the same."
    assert result.observed["losses"] == {"ib0": 4}
    assert result.observed["booted"] == NOW - 5 * DAY


def test_an_interface_that_no_cable_is_designed_for_is_told_all_the_same() -> None:
    assert (
        asked(60, 120, 180, interface="ib7").findings[0].steps[1] == "At its other end, the other end: do the same."
    )


def test_each_interface_is_counted_by_itself() -> None:
    others = "".join(f"{stamp(NOW - age)} tg3 0000:02:00.0 eth0: Link is down\n" for age in (50, 40))
    result = asked(60, 120, log=others)
    assert result.verdict is Verdict.PASS
    assert result.observed["losses"] == {"eth0": 2, "ib0": 2}


def test_what_happens_while_a_node_boots_is_no_flap() -> None:
    """Drivers, firmware and switches settle their links in the first minutes."""
    result = asked(3001, 3100, 3200, 3300, up=3600.0)
    assert (result.verdict, result.observed["excluded"]) == (Verdict.PASS, 4)
    assert asked(2900, 2950, 2990, up=3600.0).verdict is Verdict.FAIL


def test_what_the_runner_did_to_a_node_is_no_flap() -> None:
    """The controller's clock is an hour ahead of the node's: ages are compared, not times."""
    ahead = NOW + HOUR
    assert asked(500, 510, 520, now=ahead, disturbed={NODE: ahead - 400}).verdict is Verdict.PASS
    assert asked(500, 510, 520, now=ahead, disturbed={NODE: ahead - 600}).verdict is Verdict.FAIL
    assert asked(500, 510, 520, disturbed={NODE: NOW - 400}).verdict is Verdict.PASS
    assert asked(500, 510, 520, disturbed={"gpu-02": NOW}).verdict is Verdict.FAIL


def test_a_loss_that_is_still_to_come_is_none() -> None:
    """Unless by as little as dmesg's clock drifts."""
    assert asked(-3600, -3700, -3800).verdict is Verdict.PASS
    assert asked(-10, -20, -30).verdict is Verdict.FAIL


def test_losses_at_no_readable_time_are_said() -> None:
    line = "Mar  2 06:18:01 gpu-01 systemd-networkd[5398]: ib6: lost carrier\n"
    result = asked(log=line * 6)
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == "ib6 lost its carrier 6 times at unreadable times"
    assert asked(60, 120, 180, log=line).verdict is Verdict.FAIL


@pytest.mark.parametrize("missing", ["dmesg", "uptime"])
def test_without_either_reading_nothing_is_known(missing: str) -> None:
    readings = {
        "dmesg": Reading("dmesg", ReadEnd.OK, "x\n"),
        "uptime": Reading("uptime", ReadEnd.OK, "2025-03-01 09:30:00"),
    }
    del readings[missing]
    assert run(CHECKS["link_flaps"], readings, Expected(NODE)).verdict is Verdict.UNKNOWN
