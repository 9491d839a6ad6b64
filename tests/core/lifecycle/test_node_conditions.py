"""What a Kubernetes node says of its machine: from its row, its checks and its tickets, and nothing of others'."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.node_conditions import (
    CONDITIONS,
    FAMILIES,
    LABELS,
    OUT,
    REASON,
    STATE,
    TRANSITION,
    Told,
    conditions,
    says,
    wanted,
)
from fleet_runner.core.lifecycle.runs import Held, Node, Stored, Ticket
from fleet_runner.core.lifecycle.states import STATES, Condition, Stage, State

GPU = "GPU 0000:9b:00.0"
ACTS = {
    "boot_anew", "cloud_init", "firmware_update", "gathered", "gpu_usage", "machine_identity", "machine_power",
    "network_boot", "node_up", "rebooted", "resets", "scheduler", "steady", "wiped", "work_ended",
}  # fmt: skip
"""Checks that are about what we do, or about who uses a node."""


def node(state: State = State.PRODUCTION, **held: Held) -> Node:
    """Return a node's row."""
    return Node("gpu-01", "x", state, 0.0, 1, conditions={Condition(name): each for name, each in held.items()})


def finding(code: str = "gpu.remap_failed", remedy: Remedy = Remedy.RMA, component: str = GPU) -> Finding:
    """Return a finding whose text names another tenant's node."""
    return Finding(code, component, "as on gpu-99 of team-b", remedy, f"gpu-01/{code}", ("gpu-01",))


def stored(check: str, verdict: Verdict, *findings: Finding) -> Stored:
    return Stored(1, 1, "gpu-01", Stage.HEALTH_PASSIVE, 0.0, Result(check, verdict, "as on gpu-99", findings))


def ticket_of(found: Finding) -> Ticket:
    """Return the open ticket of a fault."""
    return Ticket(13, found.fault, "gpu_errors", "t", "b", ("gpu-01",), found.remedy.value, 0.0)


def told(*latest: Stored, of: Node | None = None, tickets: tuple[Ticket, ...] = ()) -> dict[str, Told]:
    return {each.type: each for each in wanted(of or node(), latest, tickets).conditions}


def test_every_check_of_a_node_belongs_to_one_condition() -> None:
    """Or it is about an act, or about a fabric."""
    every = [name for checks in FAMILIES.values() for name in checks]
    assert len(every) == len(set(every))
    assert set(every) <= set(CHECKS)
    assert {name for name in CHECKS if not name.startswith("fabric_")} - set(every) <= ACTS


def test_what_is_well_unknown_and_unasked() -> None:
    found = told(
        stored("gpu_errors", Verdict.PASS), stored("xid", Verdict.SKIPPED), stored("nic_ports", Verdict.UNKNOWN)
    )
    assert found["GpuHealthy"] == (
        "GpuHealthy", "True", "ChecksPassed", "1 check found nothing that asks for an action",
    )  # fmt: skip
    assert found["NetworkHealthy"][1:] == ("Unknown", "NoVerdict", "no verdict of nic_ports")
    assert found["FabricHealthy"][1:] == ("Unknown", "NoVerdict", "no check has passed yet")
    assert list(found) == list(CONDITIONS)


def test_a_fault_is_named_with_its_part_and_its_ticket_and_without_the_findings_text() -> None:
    ticket = Ticket(12, "gpu-01/gpu.remap_failed", "gpu_errors", "t", "b", ("gpu-01",), "RMA", 0.0)
    soft = finding("xid.48", Remedy.RMA)
    tickets = (ticket, ticket_of(soft))
    found = told(stored("gpu_errors", Verdict.FAIL, finding()), stored("xid", Verdict.FAIL, soft), tickets=tickets)
    assert found["GpuHealthy"][1:] == (
        "False", "GpuRemapFailed", f"{GPU}: a memory row could not be remapped; 1 more; ticket 12",
    )  # fmt: skip
    want = wanted(node(), [stored("gpu_errors", Verdict.FAIL, finding())], (ticket,))
    assert dict(want.labels) == {STATE: "production", REASON: "gpu.remap_failed", TRANSITION: "none"}
    assert "gpu-99" not in repr(want)


@pytest.mark.parametrize("remedy", [Remedy.RECORD, Remedy.WATCH])
def test_what_is_only_recorded_or_watched_is_well(remedy: Remedy) -> None:
    found = told(stored("gpu_errors", Verdict.FAIL, finding("gpu.uncorrectable", remedy)))
    assert found["GpuHealthy"].status == "True"


def test_what_the_runner_does_not_follow_is_not_known() -> None:
    """Seen once, excused or older than the node's state: a cluster that drains on conditions leaves it alone."""
    down = finding("nvlink.down", Remedy.REBOOT)
    for each in (finding(), down):
        want = wanted(node(), [stored("nvlink", Verdict.FAIL, each)], ())
        assert want.conditions[0][1:3] == ("Unknown", "NotConfirmed")
        assert want.labels[REASON] == "none"
    old = Node("gpu-01", "x", State.PRODUCTION, 1000.0, 1)
    assert told(stored("nvlink", Verdict.FAIL, down), of=old)["GpuHealthy"][1:3] == ("Unknown", "NoVerdict")
    remedy = Held(0.0, "x", "runner", "REBOOT")
    for drained in (node(pending=remedy), node(advised=remedy)):
        assert told(stored("nvlink", Verdict.FAIL, down), of=drained)["GpuHealthy"].reason == "NvlinkDown"
        assert told(stored("nvlink", Verdict.FAIL, finding()), of=drained)["GpuHealthy"].reason == "NotConfirmed"
    assert told(stored("nvlink", Verdict.FAIL, down), of=node(State.REBOOT))["GpuHealthy"].status == "False"


@pytest.mark.parametrize("component", ["cable gpu-01 p3 - gpu-99 p4", "GPU x\x1b[31m of gpu-99;", ""])
def test_a_part_that_may_be_somebody_elses_is_not_named(component: str) -> None:
    part = finding(component=component)
    found = told(stored("gpu_errors", Verdict.FAIL, part), tickets=(ticket_of(part),))
    assert found["GpuHealthy"].message == "a memory row could not be remapped; ticket 13"


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        ("xid.79", "Xid 79 (ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS), the GPU has fallen off the bus"),
        ("xid.9999", "Xid 9999, "),
    ],
)
def test_an_xid_is_named_with_what_it_means(code: str, meaning: str) -> None:
    found = finding(code)
    said = told(stored("xid", Verdict.FAIL, found), tickets=(ticket_of(found),))["GpuHealthy"]
    assert said.message.startswith(f"{GPU}: {meaning}")


def test_a_code_that_no_check_knows_is_its_own_meaning() -> None:
    odd = finding("odd/Code of an older release", component="")
    found = told(stored("gpu_errors", Verdict.FAIL, odd), tickets=(ticket_of(odd),))
    assert found["GpuHealthy"][2:] == ("OddCodeOfAnOlderRelease", "odd/Code of an older release; ticket 13")
    odd, slash = finding("odd/code"), finding("/")
    want = wanted(node(), [stored("gpu_errors", Verdict.FAIL, odd)], (ticket_of(odd),))
    assert want.labels[REASON] == "none"
    found = told(stored("gpu_errors", Verdict.FAIL, slash), tickets=(ticket_of(slash),))
    assert found["GpuHealthy"].reason == "Unknown"


def test_what_is_done_about_it_is_told_apart() -> None:
    """Pending waits for the node's work; an immediate one has begun."""
    held = Held(0.0, "Xid 79 on gpu-99", "runner", "REBOOT")
    waits = "the word that no work runs on it"
    pending = wanted(node(pending=held), (), ())
    assert pending.labels[TRANSITION] == "pending"
    assert pending.conditions[-1][1:] == (
        "True",
        "Pending",
        f"REBOOT follows once the node's work has ended; pending since 1970-01-01T00:00:00Z, it waits for {waits}",
    )
    for state in OUT:
        want = wanted(node(state, pending=held), (), ())
        assert (want.labels[TRANSITION], want.conditions[-1].status) == ("immediate", "True")
        assert want.conditions[-1].message == f"{STATES[state].meaning} Since 1970-01-01T00:00:00Z."
    assert wanted(node(pending=Held(0.0, "x", "kim")), (), ()).conditions[-1].message.startswith("a remedy follows")
    assert wanted(node(maintenance=held), (), ()).conditions[-1].reason == "Maintenance"
    assert wanted(node(), (), ()).conditions[-1].status == "False"


def test_a_condition_keeps_the_time_of_its_last_change() -> None:
    want = wanted(node(), (), ())
    first = conditions([], want.conditions, "2026-01-01T00:00:00Z")
    assert {each["lastTransitionTime"] for each in first} == {"2026-01-01T00:00:00Z"}
    again = conditions(first, want.conditions, "2026-02-01T00:00:00Z")
    assert again == first
    moved = wanted(node(State.TRIAGE), (), ())
    times = {
        each["type"]: each["lastTransitionTime"]
        for each in conditions(first, moved.conditions, "2026-02-01T00:00:00Z")
    }
    assert times.pop("UnderRemediation") == "2026-02-01T00:00:00Z"
    assert set(times.values()) == {"2026-01-01T00:00:00Z"}


def test_a_node_says_all_or_is_written_again() -> None:
    want = wanted(node(), (), ())
    current: dict[str, Any] = {
        "labels": dict(want.labels) | {"a": "b"},
        "conditions": conditions([{"type": "Ready"}], want.conditions, "t"),
    }
    assert says(current, want)
    for label in LABELS:
        assert not says(current | {"labels": current["labels"] | {label: "other"}}, want)
    for at in range(len(CONDITIONS)):
        left = [each for nth, each in enumerate(current["conditions"]) if nth != at]
        assert not says(current | {"conditions": left}, want)
    assert not says({}, want)


@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from(list(State)))
def test_whatever_a_finding_holds_kubernetes_takes_what_is_said(code: str, component: str, state: State) -> None:
    """Reasons and labels have rules there; messages are short and printable."""
    fault = finding(code, component=component)
    want = wanted(node(state), [stored("gpu_errors", Verdict.FAIL, fault)], (ticket_of(fault),))
    assert all(len(value) <= 63 for value in want.labels.values())
    for each in want.conditions:
        assert each.reason.isascii()
        assert each.reason.isalnum()
        assert len(each.reason) <= 1024
        assert len(each.message) <= 32_768
