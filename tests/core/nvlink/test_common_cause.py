"""Links that trays lose with their whole domain."""

from dataclasses import replace

from fleet_runner.core.cabling import sweeps
from fleet_runner.core.cabling.fabrics import NVLINK_TYPE
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.confirmation import Worth, weigh
from fleet_runner.core.inventory.records import Termination
from fleet_runner.core.lifecycle.production import watch
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.lifecycle.view import Timing
from fleet_runner.core.nvlink.common_cause import COMMON, comes_back, is_new, trays
from tests.making import NOW, a_finding, a_node, a_run, a_view, stored, sweep


def test_an_answer_names_its_trays_or_none() -> None:
    """One of another check says nothing of the kind."""
    assert trays({COMMON: ["tray-1", "tray-2"]}) == {"tray-1", "tray-2"}
    assert trays({}) == trays({COMMON: "tray-1"}) == frozenset()


def test_no_second_ticket_is_opened_and_status_says_why() -> None:
    """The domain has the one."""
    seen = stored(a_finding(Remedy.TRIAGE, code="nvlink.down"))
    assert [worth for _, worth in weigh(a_view(latest=(seen,)), seen)] == [Worth.TICKET]
    view = a_view(latest=(seen,), domain_fault="the switch tray a03-switch-3 is lost")
    assert [worth for _, worth in weigh(view, seen)] == [Worth.EXCUSED]
    other = stored(a_finding(Remedy.TRIAGE, code="gpu.lost"))
    assert [worth for _, worth in weigh(view, other)] == [Worth.TICKET]
    looked = tuple(a_run(stage, ended_at=NOW - 1.0) for stage in (Stage.HEALTH_PASSIVE, Stage.CABLING))
    waiting = watch(replace(view, runs=looked), Timing(), NOW).waiting
    assert "its NVLink domain is at fault: the switch tray a03-switch-3 is lost" in waiting


def test_lost_links_are_new_once() -> None:
    """Other faults are none of links."""
    one = stored(a_finding(code="nvlink.down", fault="a")).result
    assert is_new(one, None)
    assert is_new(one, stored(a_finding(code="nvlink.down", fault="b")).result)
    assert not is_new(one, one)
    assert not is_new(stored(a_finding(code="gpu.lost")).result, None)


def test_lost_links_come_back_where_any_look_before_missed_them() -> None:
    """Not only the one before."""
    one, other = (stored(a_finding(code="nvlink.down", fault=fault)).result for fault in "ab")
    assert comes_back(one, [other, one])
    assert not comes_back(one, [other])
    assert not comes_back(stored(a_finding(code="gpu.lost", fault="a")).result, [one])


def test_a_domain_is_swept_soon_after_a_tray_lost_links() -> None:
    """Ten minutes after the sweep before at the earliest; it is looked at every few minutes whether one did."""
    row = a_node(State.WATCHED, name="nvlink.hall.A03", device_type=NVLINK_TYPE)
    swept = (a_run(Stage.FABRIC, node=row.name, ended_at=NOW - 60.0),)
    view = a_view(row, runs=swept, latest=(sweep(),), observers=(Termination("tray-1", ""),))
    calm = sweeps.watch(view, Timing(), NOW)
    assert (calm.actions, calm.wake_at) == ((), NOW + sweeps.SOON)
    _, due, why = sweeps.told(replace(view, suspected_at=NOW - 30.0), Timing(), NOW)
    assert (due, why) == (NOW + 540.0, "a compute tray lost links; is the cause outside of it?")
    _, due, _ = sweeps.told(replace(view, suspected_at=NOW - 90.0), Timing(), NOW)
    assert due > NOW + 540.0
