"""How far a boot has come, how long the next milestone may take, and what the neighbours say."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.boot.boots import Boot, BootEvent, Identity, Milestone
from fleet_runner.core.boot.progress import (
    AWAITED,
    HEARD_SECONDS,
    LIMITS,
    ORDER,
    Progress,
    beside,
    last,
    leases_told,
    missing,
    overdue,
    stands,
    timeline,
    under_way,
)
from fleet_runner.core.boot.progress_text import MOST_EVENTS, parse, to_json
from fleet_runner.core.lifecycle.states import STAGES, Stage

NOW = 10_000.0
HEARD = {"boot": NOW, "dhcp": NOW}


def boot(node: str = "gpu-01", /, armed: float = 9_000.0, **came: float) -> Boot:
    """Return a boot that came to milestones so many seconds after it was armed."""
    reached = {Milestone(step): armed + seconds for step, seconds in came.items()}
    return Boot(1, node, None, armed, armed + 1800, Identity(), reached=reached)


def test_all_milestones_together_are_within_the_deadline_of_the_stages_that_boot() -> None:
    """Otherwise a run would be ended before its last milestone could be named."""
    for stage in (Stage.PROVISION, Stage.REBOOT):
        assert sum(LIMITS.values()) < STAGES[stage].deadline
    assert set(AWAITED) == set(Milestone)


def test_a_boot_service_that_died_is_missed_before_any_milestone_is_overdue() -> None:
    """Otherwise nodes would be blamed for what it did not do any more."""
    assert HEARD_SECONDS["boot"] < min(LIMITS.values())


@given(came=st.sets(st.sampled_from(ORDER)))
def test_what_was_not_seen_before_the_furthest_milestone_is_not_waited_for(came: set[Milestone]) -> None:
    """A DHCP server without a hook tells nothing, and the boot goes on."""
    come = boot(**dict.fromkeys(came, 1.0))
    furthest = last(come)
    assert furthest == (max(came, key=ORDER.index) if came else None)
    rest = ORDER[ORDER.index(furthest) + 1 :] if furthest else ORDER
    assert missing(come) == (rest[0] if rest else None)


@pytest.mark.parametrize(("seconds", "late"), [(119.0, False), (120.0, True)])
def test_a_milestone_is_counted_from_the_one_before(seconds: float, late: bool) -> None:
    come = boot(dhcp=500.0)
    assert overdue(Progress(come, 9_500.0 + seconds, beats=HEARD)) is late


def test_a_boot_that_is_done_is_never_overdue() -> None:
    come = boot(**dict.fromkeys(ORDER, 1.0))
    assert not overdue(Progress(come, 1e9))


@pytest.mark.parametrize(("dhcp", "late"), [(NOW - 10, True), (NOW - 899, True), (NOW - 960, False)])
def test_without_a_dhcp_server_that_tells_the_script_is_the_first_milestone(dhcp: float, late: bool) -> None:
    come = boot(armed=NOW - 950)
    assert overdue(Progress(come, NOW, beats={"boot": NOW, "dhcp": dhcp})) is late


@pytest.mark.parametrize(
    ("dhcp", "told"),
    [(NOW - 899, True), (NOW - 900, False), (NOW - 1_001, False), (NOW + 899, True), (NOW + 3_600, False)],
)
def test_a_dhcp_server_was_there_for_a_boot_if_it_was_heard_lately_and_since_the_arming(
    dhcp: float, told: bool
) -> None:
    """One that is heard from tomorrow has a clock that says nothing about today."""
    assert leases_told(Progress(boot(armed=NOW - 1_000), NOW, beats={"dhcp": dhcp})) is told
    assert not leases_told(Progress(boot(armed=NOW + 1), NOW, beats={"dhcp": NOW}))
    assert not leases_told(Progress(boot(), NOW))


@pytest.mark.parametrize(
    ("change", "now", "is_under_way"),
    [
        ({}, 9_100.0, True),
        ({"closed_at": 9_050.0}, 9_100.0, False),
        ({}, 10_900.0, False),
        ({"claimed_at": 9_700.0, "reached": {Milestone.CLOUD_INIT: 10_700.0}}, 10_900.0, True),
        ({"reached": {Milestone.SCRIPT: 9_010.0}}, 9_080.0, False),
    ],
    ids=["fresh", "closed", "expired", "has its data", "late"],
)
def test_a_boot_is_under_way_while_it_may_still_come_to_its_end(
    change: dict[str, Any], now: float, is_under_way: bool
) -> None:
    come = Boot(1, "gpu-01", None, 9_000.0, 10_800.0, Identity(), **change)
    assert under_way(Progress(come, now, beats=HEARD)) is is_under_way


@pytest.mark.parametrize(
    ("come", "reset", "needs_no_other"),
    [
        (boot(), None, False),
        (boot(), 8_990.0, False),
        (boot(), 8_999.0, True),
        (boot(dhcp=80.0), None, True),
        (boot(dhcp=10.0, script=11.0), 9_001.0, False),
        (boot(phone_home=40.0), None, True),
    ],
    ids=["armed only", "reset before", "reset since", "alive", "stopped", "came up"],
)
def test_a_node_that_is_up_or_on_its_way_is_not_reset_again(
    come: Boot, reset: float | None, needs_no_other: bool
) -> None:
    """What was armed and never brought the node to life is made anew: the play ended before it switched the power."""
    assert stands(Progress(come, 9_100.0, beats=HEARD), reset) is needs_no_other


def test_neighbours_that_wait_as_long_at_the_same_place_are_named() -> None:
    others = (
        boot("gpu-01", dhcp=0.0),
        boot("gpu-02", armed=NOW - 61, dhcp=0.0),
        boot("gpu-03", armed=NOW - 59, dhcp=0.0),
        boot("gpu-04", armed=NOW - 61),
    )
    found = beside(Progress(others[0], NOW), others, ())
    assert (found.stuck, found.passed) == (("gpu-02",), "")


def test_a_boot_that_was_left_open_long_ago_says_nothing_about_today() -> None:
    """One that had its data may take longer than it was armed for, but not an hour at one milestone."""
    left = Boot(1, "gpu-02", None, NOW - 1_900, NOW - 100, Identity(), reached={Milestone.DHCP: NOW - 1_800})
    given = replace(left, node="gpu-03", claimed_at=NOW - 1_700)
    for_ages = replace(given, node="gpu-04", reached={Milestone.DHCP: NOW - 3_600})
    assert beside(Progress(boot(dhcp=1.0), NOW), (left, given, for_ages), ()).stuck == ("gpu-03",)


@pytest.mark.parametrize(
    ("before", "again"),
    [
        (None, False),
        (boot(armed=5_000.0, dhcp=9.0), True),
        (boot(armed=5_000.0), False),
        (boot(armed=5_000.0, ssh=90.0), False),
    ],
)
def test_a_boot_stops_at_a_place_again_where_the_one_before_it_stopped_there(
    before: Boot | None, again: bool
) -> None:
    assert beside(Progress(boot(dhcp=1.0), NOW), (), (), before).again is again


@pytest.mark.parametrize(
    ("node", "kind", "at", "passed"),
    [
        ("gpu-02", "script", NOW - 10, "gpu-02"),
        ("gpu-02", "ssh", NOW - 10, "gpu-02"),
        ("gpu-02", "dhcp", NOW - 10, ""),
        ("gpu-02", "refused", NOW - 10, ""),
        ("gpu-02", "kernel", NOW - 4_000, ""),
        ("gpu-01", "kernel", NOW - 10, ""),
    ],
)
def test_a_neighbour_that_came_past_lately_clears_the_boot_path(node: str, kind: str, at: float, passed: str) -> None:
    event = BootEvent(1, node, 9, at, kind, "", "")
    assert beside(Progress(boot(dhcp=1.0), NOW), (), [event]).passed == passed


def test_an_open_boot_that_came_past_lately_does_so_too() -> None:
    others = (boot("gpu-02", kernel=2.0), boot("gpu-03", dhcp=2.0))
    assert beside(Progress(boot(dhcp=1.0), NOW), others, ()).passed == "gpu-02"


def test_nobody_is_asked_about_a_boot_that_is_done() -> None:
    done = Progress(boot(ssh=3.0), NOW)
    assert beside(done, (boot("gpu-02"),), ()) is done


def test_the_times_of_a_boot_are_told_in_order() -> None:
    assert timeline(boot(script=14.2, dhcp=12.0)) == "dhcp after 12 s, script after 14 s"
    assert timeline(boot()) == ""


def test_progress_comes_back_from_its_text_as_it_was() -> None:
    who = Identity(frozenset({"b8:3f:d2:00:00:01"}), "S1", "u", frozenset({"10.0.0.9"}))
    come = Boot(7, "gpu-01", None, 1.0, 2.0, who, claimed_at=1.5, claimed_by="10.0.0.9",
                reached={Milestone.DHCP: 1.25}, closed_at=3.0, closed_because="armed anew",
                leased=frozenset({"10.0.0.9", "10.0.0.8"}))  # fmt: skip
    refused = BootEvent(0, "gpu-01", 7, 1.0, "refused", "no", "10.0.0.8", 2, "mismatch", 1.5)
    nobodys = BootEvent(0, "gpu-01", None, 1.0, "refused", "no", "10.0.0.8", 2, "unarmed", 1.5)
    limits = dict.fromkeys(Milestone, 5.0)
    found = Progress(come, 4.0, limits, (refused, nobodys), {"boot": 3.5}, ("gpu-02",), "gpu-03")
    found = replace(found, again=True, power="On", ssh="refused")
    assert parse(json.dumps(to_json(found)), "it") == found


def test_what_must_stay_secret_and_what_has_no_end_stays_behind() -> None:
    come = Boot(7, "gpu-01", None, 1.0, 2.0, Identity(), nonce_hash="ab12", host_keys=("ssh-ed25519 AAAA",))
    line = BootEvent(0, "gpu-01", 7, 1.0, "refused", "no", "10.0.0.8")
    raw = to_json(Progress(come, 4.0, refused=(line,) * (MOST_EVENTS + 1)))
    assert "ab12" not in json.dumps(raw)
    assert "ssh-ed25519" not in json.dumps(raw)
    assert len(raw["refused"]) == MOST_EVENTS
