"""Where a network boot stopped, and whose fault that is."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.boot.boots import Boot, BootEvent, Identity, Milestone
from fleet_runner.core.boot.progress import LIMITS, ORDER, STARTED, Progress
from fleet_runner.core.boot.progress_text import to_json
from fleet_runner.core.checks.catalogue.network_boot import STOPS
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import NODE, READ_AT, judged, remedies

ARMED = READ_AT - 3000.0
HEARD = {"boot": READ_AT - 1, "dhcp": READ_AT - 100, STARTED: ARMED - 1}
HOME = frozenset({"10.0.0.9"})
ALONE = {"ssh": "Connection refused", "passed": "gpu-05"}
"""What else is known where a stop is this node's alone."""


def boot(*came: Milestone, armed: float = ARMED, **changed: Any) -> Boot:
    """Return a boot that came to some milestones, one second after the other."""
    reached = {step: armed + nth for nth, step in enumerate(came, start=1)}
    return replace(Boot(12, NODE, 7, armed, armed + 1800, Identity(serial="S1"), reached=reached), **changed)


def refused(
    code: str,
    at: float = READ_AT - 10,
    sentence: str = "it says serial number S2, expected S1",
    source: str = "10.0.0.9",
    number: int | None = 12,
) -> BootEvent:
    return BootEvent(1, NODE, number, ARMED - 50, "refused", sentence, source, 5, code, at)


def verdict(come: Boot, **changed: Any) -> Result:
    """Judge a boot whose next milestone has had its time, unless it was armed later; others are well."""
    progress = Progress(come, READ_AT, **{"beats": HEARD, **ALONE, **changed})
    return judged("network_boot", {"boot_progress": json.dumps(to_json(progress))})


def came_to(last: Milestone | None) -> Boot:
    return boot(*ORDER[: 0 if last is None else ORDER.index(last) + 1])


STOPPED = [(None, *ORDER)[nth : nth + 2] for nth in range(len(ORDER))]


@pytest.mark.parametrize(("last", "missed"), STOPPED)
def test_each_milestone_that_a_node_misses_is_a_finding_and_a_ticket_of_its_own(
    last: Milestone | None, missed: Milestone
) -> None:
    result = verdict(came_to(last))
    [finding] = result.findings
    assert (result.verdict, finding.remedy) == (Verdict.FAIL, Remedy.TRIAGE)
    assert finding.code == STOPS[missed].code
    assert finding.fault == f"{NODE}/{STOPS[missed].code}/network boot"
    assert finding.steps
    assert STOPS[missed].missed in result.message
    assert f"within {LIMITS[missed]:.0f} s" in result.message
    assert result.observed["stopped_before"] == missed


def test_the_codes_differ_so_that_no_two_stops_share_a_ticket() -> None:
    assert len({row.code for row in STOPS.values()}) == len(ORDER)


def test_a_node_that_leased_an_address_and_never_came_for_its_kernel_says_so() -> None:
    """Without iPXE's script nothing is known of the kernel; with it, the kernel is what it missed."""
    assert verdict(boot(Milestone.DHCP)).message == (
        "it leased an address, but never asked for its iPXE script within 120 s"
    )
    assert verdict(boot(Milestone.DHCP, Milestone.SCRIPT)).message == (
        "it was given its iPXE script, but never asked for its kernel within 60 s"
    )


@pytest.mark.parametrize(
    ("last", "known", "says"),
    [
        (None, Identity(macs=frozenset({"02:00:00:00:00:02", "02:00:00:00:00:01"})), ": 02:00:00:00:00:01, 02:"),
        (None, Identity(serial="S1"), "source of truth: it has none there."),
        (Milestone.PHONE_HOME, Identity(addresses=frozenset({"10.0.0.9"})), "ssh root@10.0.0.9."),
        (Milestone.PHONE_HOME, Identity(serial="S1"), f"ssh root@{NODE}."),
    ],
)
def test_a_ticket_says_what_the_machine_is_known_by(last: Milestone | None, known: Identity, says: str) -> None:
    steps = verdict(replace(came_to(last), expected=known)).findings[0].steps
    assert any(says in step for step in steps)
    assert steps[-1].endswith(f"fleet-runner boot show {NODE}.")


def test_a_boot_that_came_to_its_end_passes_and_tells_its_times() -> None:
    result = verdict(boot(*ORDER))
    assert result.verdict is Verdict.PASS
    assert result.message.startswith("it booted over the network: dhcp after 1 s, script after 2 s, kernel after 3 s")
    assert result.observed["reached"]["ssh"] == 6.0


@pytest.mark.parametrize(
    "come",
    [
        boot(Milestone.DHCP, leased=HOME),
        boot(expected=Identity(addresses=frozenset({"10.0.0.9"}))),
    ],
    ids=["leased", "expected"],
)
def test_another_machine_at_the_nodes_own_address_is_a_fault_of_the_source_of_truth(come: Boot) -> None:
    """Its sentence goes into the ticket as it stands."""
    result = verdict(come, refused=(refused("mismatch"),))
    assert remedies(result) == {"boot.identity": Remedy.TRIAGE}
    assert "it says serial number S2, expected S1" in result.message
    assert "10.0.0.9" in result.findings[0].steps[0]
    early = replace(come, armed_at=READ_AT - 20, reached=dict.fromkeys(come.reached, READ_AT - 15))
    assert verdict(early, refused=(refused("mismatch"),)).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "event",
    [
        refused("mismatch", source="10.0.9.99"),
        refused("mismatch", number=None),
        refused("mismatch", number=11),
        refused("duplicate"),
        refused("no_node", number=None),
    ],
    ids=["a stranger's address", "of two nodes", "of another boot", "a MAC address twice", "a switch's"],
)
def test_what_anybody_can_ask_for_condemns_no_node(event: BootEvent) -> None:
    """Whoever knows a MAC address can say it with any serial number, from wherever he is."""
    result = verdict(boot(Milestone.DHCP, leased=HOME), refused=(event,))
    assert result.verdict is Verdict.UNKNOWN
    assert f"the machine at {event.source} asked in its place, and was refused: it says serial" in result.message


def test_what_the_service_could_not_give_goes_before_what_anybody_says() -> None:
    result = verdict(boot(), refused=(refused("image", sentence="vmlinuz differs"), refused("mismatch")))
    assert "the boot service refused it: vmlinuz differs" in result.message


def test_an_address_whose_lease_nobody_told_is_not_the_machines_fault() -> None:
    result = verdict(boot(), refused=(refused("address", sentence="it asks from 10.0.0.9, expected 10.0.0.1"),))
    assert result.verdict is Verdict.UNKNOWN
    assert "it asks from 10.0.0.9, expected 10.0.0.1" in result.message


def test_another_machine_that_was_refused_is_no_fault_once_the_expected_one_came() -> None:
    come = boot(Milestone.DHCP, Milestone.SCRIPT, Milestone.KERNEL)
    assert remedies(verdict(come, refused=(refused("mismatch"),))) == {"boot.no_cloud_init": Remedy.TRIAGE}


@pytest.mark.parametrize("code", ["image", "template", "join", "source", "some day another"])
@pytest.mark.parametrize("last", [None, Milestone.SCRIPT, Milestone.CLOUD_INIT])
def test_what_the_boot_service_could_not_give_is_never_the_nodes_fault(last: Milestone | None, code: str) -> None:
    result = verdict(came_to(last), refused=(refused(code, sentence="image debian-12: vmlinuz differs"),))
    assert result.verdict is Verdict.UNKNOWN
    assert "the boot service refused it: image debian-12: vmlinuz differs" in result.message


@pytest.mark.parametrize("code", ["claimed", "expired"])
def test_a_boot_that_had_its_one_chance_is_made_anew(code: str) -> None:
    result = verdict(came_to(Milestone.CLOUD_INIT), refused=(refused(code),))
    assert result.verdict is Verdict.UNKNOWN
    assert result.message.endswith("; it is booted again")


@pytest.mark.parametrize("code", ["unarmed", "limited"])
def test_a_node_that_asked_an_instant_too_early_or_too_often_is_judged_all_the_same(code: str) -> None:
    assert verdict(came_to(Milestone.DHCP), refused=(refused(code),)).verdict is Verdict.FAIL


def test_a_refusal_before_the_last_milestone_explains_no_stop_after_it() -> None:
    result = verdict(came_to(Milestone.KERNEL), refused=(refused("image", at=ARMED + 1),))
    assert result.verdict is Verdict.FAIL


@pytest.mark.parametrize("beats", [{}, {"boot": READ_AT - 600, "dhcp": READ_AT - 1}])
@pytest.mark.parametrize("last", [None, *ORDER[:4]])
def test_without_a_boot_service_nothing_is_known_about_a_node(
    last: Milestone | None, beats: dict[str, float]
) -> None:
    result = verdict(came_to(last), beats=beats)
    assert result.verdict is Verdict.UNKNOWN
    assert "no boot service has reported " + ("for 600 s" if beats else "yet") in result.message
    assert "start it (fleet-runner boot serve)" in result.message


def test_a_boot_service_that_is_heard_from_tomorrow_has_another_clock() -> None:
    result = verdict(came_to(Milestone.SCRIPT), beats={"boot": READ_AT + 86_400})
    assert result.verdict is Verdict.UNKNOWN
    assert "a boot service reported 86400 s from now; set both clocks" in result.message


@pytest.mark.parametrize("last", [None, *ORDER[:4]])
def test_a_boot_service_that_began_while_a_node_waited_may_have_missed_what_it_asked(last: Milestone | None) -> None:
    come = came_to(last)
    result = verdict(come, beats=HEARD | {STARTED: READ_AT - 500})
    assert result.verdict is Verdict.UNKNOWN
    into = READ_AT - 500 - max(come.reached.values(), default=ARMED)
    assert f"but a boot service started only {into:.0f} s after that step began" in result.message
    assert verdict(come, beats=HEARD | {STARTED: ARMED - 1}).verdict is Verdict.FAIL


def test_a_node_that_is_alone_is_not_blamed_for_the_server_that_gives_iPXE() -> None:  # noqa: N802  its name
    come = came_to(Milestone.DHCP)
    result = verdict(come, passed="")
    assert result.verdict is Verdict.UNKNOWN
    assert "whether the boot server gives iPXE to anybody" in result.message
    assert remedies(verdict(come, passed="", again=True)) == {"boot.no_script": Remedy.TRIAGE}
    assert remedies(verdict(come, passed="", power="Off")) == {"boot.off": Remedy.TRIAGE}
    assert remedies(verdict(came_to(Milestone.SCRIPT), passed="")) == {"boot.no_kernel": Remedy.TRIAGE}


def test_without_a_dhcp_server_that_tells_nobody_knows_whether_a_node_asked() -> None:
    result = verdict(boot(), beats={"boot": READ_AT, "dhcp": READ_AT - 7200})
    assert result.verdict is Verdict.UNKNOWN
    assert "no DHCP server reported a lease lately" in result.message
    assert "within 1020 s" in result.message


@pytest.mark.parametrize("last", [Milestone.DHCP, Milestone.PHONE_HOME])
def test_nodes_that_stop_together_accuse_the_boot_path_until_one_comes_past(last: Milestone) -> None:
    come = came_to(last)
    result = verdict(come, stuck=("gpu-02", "gpu-03", "gpu-04"), passed="")
    assert result.verdict is Verdict.UNKNOWN
    assert "3 other nodes wait at the same place (gpu-02, gpu-03), and none got past it" in result.message
    assert verdict(come, stuck=("gpu-02", "gpu-03"), passed="gpu-05").verdict is Verdict.FAIL
    assert verdict(come, stuck=("gpu-02",)).verdict is Verdict.FAIL


@pytest.mark.parametrize(("last", "code"), [(None, "boot.off"), (Milestone.KERNEL, "boot.no_cloud_init")])
def test_a_node_that_went_off_again_before_it_booted_is_a_matter_of_power(last: Milestone | None, code: str) -> None:
    assert remedies(verdict(came_to(last), power="Off")) == {code: Remedy.TRIAGE}


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("root@10.0.0.9: Permission denied (publickey). Connection closed.", "check boot_authorized_keys"),
        ("Host key verification failed.", "compare the keys in known_hosts"),
        ("ssh: connect to host 10.0.0.9 port 22: Network is unreachable", "check this runner's ssh"),
        ("ssh: connect to host 10.0.0.9 port 22: No route to host", "its routes"),
        ("ssh: Could not resolve hostname gpu-01: Name or service not known", "its names"),
        ("[Errno 2] No such file or directory: b'ssh'", "check this runner's ssh"),
        ("", "says nothing about the node"),
    ],
)
def test_what_keeps_our_ssh_from_a_node_is_not_the_nodes_fault(said: str, advice: str) -> None:
    result = verdict(came_to(Milestone.PHONE_HOME), ssh=said, beats={})
    assert result.verdict is Verdict.UNKNOWN
    assert advice in result.message


@pytest.mark.parametrize("said", ["Connection refused", "Connection timed out", "a shell exits with 1"])
def test_a_node_whose_sshd_does_not_answer_is_at_fault(said: str) -> None:
    result = verdict(came_to(Milestone.PHONE_HOME), ssh=said, beats={}, passed="")
    assert result.message.endswith(f"does not answer ssh within 120 s ({said})")
    assert remedies(result) == {"boot.no_ssh": Remedy.TRIAGE}


@pytest.mark.parametrize(
    ("change", "says"),
    [({}, "is under way"), ({"closed_at": READ_AT, "closed_because": "armed anew"}, "was closed: armed anew")],
)
def test_a_boot_that_is_in_time_is_unknown(change: dict[str, Any], says: str) -> None:
    result = verdict(boot(armed=READ_AT - 10, **change))
    assert result.verdict is Verdict.UNKNOWN
    assert says in result.message


@pytest.mark.parametrize(
    "change", [{"boot": None}, {"boot": []}, {"now": {}}, {"limits": {}}, {"refused": [1]}, {"now": 10**400}]
)
def test_what_is_no_progress_is_unknown(change: dict[str, Any]) -> None:
    raw = to_json(Progress(boot(), READ_AT)) | change
    result = judged("network_boot", {"boot_progress": json.dumps(raw)})
    assert result.verdict is Verdict.UNKNOWN
    assert "is not a boot's progress" in result.message


@given(last=st.sampled_from([None, *ORDER]), early=st.floats(0, 0.99))
def test_nobody_is_condemned_before_the_milestones_time_is_over(last: Milestone | None, early: float) -> None:
    come = came_to(last)
    since = come.reached[last] if last else come.armed_at
    left = [step for step in ORDER if step not in come.reached]
    now = since + early * (LIMITS[left[0]] if left else 1.0)
    result = judged("network_boot", {"boot_progress": json.dumps(to_json(Progress(come, now, beats={"boot": now})))})
    assert result.verdict is (Verdict.UNKNOWN if left else Verdict.PASS)
