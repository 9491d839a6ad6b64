"""A fleet under a policy, in virtual time."""

from typing import Any

import pytest

from fleet_runner.core.budgets import disruption_budget
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.policy import read as policy
from fleet_runner.core.faults.rules.rules import DEFAULT, Rules
from fleet_runner.core.faults.simulation.history import Fault, FleetHistory, Known, PastRemedy, Use, past
from fleet_runner.core.faults.simulation.machine import REPAIR, machine
from fleet_runner.core.faults.simulation.outcomes import Cured, cure, tries
from fleet_runner.core.faults.simulation.simulate import Difference, Outcome, Simulation, differences, figures
from fleet_runner.core.lifecycle.actions import Answer, ClearAlarm, CloseTicket, Decision
from fleet_runner.core.lifecycle.states import State

T = 1_000_000.0
HOUR = 3600.0


def a_fault(node: str = "gpu-01", **values: Any) -> Fault:
    """A GPU that is lost for an hour, seen by a check."""
    given: dict[str, Any] = {
        "code": "gpu.lost",
        "component": "GPU 3",
        "message": "GPU 3 is gone.",
        "remedy": "REBOOT",
    }
    given |= {"fault": f"{node}/gpu.lost/GPU 3", "begins": T, "ends": T + HOUR, "check": "gpu_present"}
    return Fault(node, **given | values)


def pushed(node: str = "gpu-01", **values: Any) -> Fault:
    """An Xid 119 that was pushed."""
    given: dict[str, Any] = {"code": "xid.119", "remedy": "RESET", "fault": f"{node}/xid.119/GPU 3", "check": ""}
    return a_fault(node, **given | values)


def went(found: FleetHistory, rules: Rules = DEFAULT, limits: disruption_budget.Limits | None = None) -> Outcome:
    """What a policy would have done."""
    return Simulation(found, rules, limits or disruption_budget.Limits()).run(lambda _share: None)


def ruled(**rows: Any) -> Rules:
    """A policy."""
    return policy(rows, lambda _path: "policy.yml")


def said(outcome: Outcome, node: str = "gpu-01") -> list[str]:
    """What was decided about a node."""
    return [each.what for each in outcome.nodes[node].said]


def tally(outcome: Outcome) -> dict[str, float]:
    """Every figure that is not 0."""
    return {row.name: row.new for row in figures(outcome.nodes, outcome.nodes) if row.new}


def test_a_fault_becomes_the_remedy_that_healed_it_then() -> None:
    """As recorded; and the second time it is simulated it is the same to the last word."""
    found = past([a_fault(), PastRemedy("gpu-01", "REBOOT", ("gpu-01/gpu.lost/GPU 3",), T + 600, helped=True)])
    outcome = went(found)
    assert said(outcome) == ["REBOOT pending", "reboot", "production"]
    assert (outcome.cures, outcome.assumed) == (1, 0)
    assert tally(outcome)["REBOOT"] == 1
    assert went(found) == outcome


def test_work_is_waited_for_until_it_ends() -> None:
    """That is the hours pending."""
    outcome = went(past([a_fault(ends=0.0), Use("gpu-01", T - HOUR, T + 5 * HOUR)]))
    assert 5 <= tally(outcome)["pending hours"] < 5.5
    early = went(
        past([a_fault(ends=0.0), Use("gpu-01", T - HOUR, T + 5 * HOUR)]), ruled(deadline="2h", at_deadline="act")
    )
    assert 2 <= tally(early)["pending hours"] < 2.5


def test_what_did_not_help_climbs_and_people_repair_it() -> None:
    """A reset, then a reboot, then a person; a day later it serves again."""
    key = "gpu-01/xid.119/GPU 3"
    tried = [
        PastRemedy("gpu-01", remedy, (key,), T + 60, helped=False) for remedy in ("RESET", "REBOOT", "POWER_CYCLE")
    ]
    outcome = went(past([pushed(ends=0.0), *tried]))
    assert said(outcome)[:3] == ["RESET pending", "reset", "reboot"]
    assert tally(outcome)["triages"] == 1
    assert outcome.nodes["gpu-01"].remedies["RESET"] == 1


def test_a_new_policy_differs_where_it_decides_otherwise() -> None:
    """The first other decision is named, of each node; with the same policy none is."""
    found = past([pushed(), Known("gpu-01", "t", rack="hall/A"), Known("gpu-02", "t")])
    old, new = went(found), went(found, ruled(ladder=["REBOOT", "POWER_CYCLE"]))
    (differ,) = differences(old.nodes, new.nodes)
    assert (differ.old and differ.old.what, differ.new and differ.new.what) == ("RESET pending", "REBOOT pending")
    assert differences(old.nodes, old.nodes) == ()
    quiet = went(found, ruled(rules=[{"code": "xid.119", "remedy": "RECORD"}]))
    (gone,) = differences(old.nodes, quiet.nodes)
    assert gone.new is None or gone.new.what == "ticket"
    assert isinstance(gone, Difference)


def test_observing_advises_and_does_nothing() -> None:
    """Each need once."""
    assert said(went(past([a_fault()]), ruled(observe=True))) == ["REBOOT advised"]
    assert tally(went(past([a_fault()]), ruled(observe=True)))["advised only"] == 1


def test_the_budget_and_the_breaker_hold_in_a_simulation() -> None:
    """Many at once: one after the other, and too many open the breaker."""
    names = [f"gpu-{at:02}" for at in range(1, 9)]
    found = past([*(a_fault(name, ends=0.0) for name in names), *(Known(name, "t", rack="hall/A") for name in names)])
    waits = went(found, ruled(breaker={"least": 100}), disruption_budget.Limits(share=1.0, small=0))
    assert tally(waits)["REBOOT"] == 8
    assert tally(waits)["budget waits"] > 0
    stopped = went(
        found, ruled(breaker={"least": 2, "pause": "10min"}), disruption_budget.Limits(share=1.0, rack=8, small=0)
    )
    assert stopped.trips == 1
    assert tally(stopped)["stopped by the breaker"] > 0
    assert tally(stopped)["REBOOT"] == 8  # the trial healed: the others followed


def test_nodes_in_use_are_cordoned_one_after_the_other_in_a_simulation() -> None:
    """What waits for its tenant's work keeps the others of its rack at work, and opens no breaker however long."""
    names = [f"gpu-{at:02}" for at in range(1, 9)]
    rows = [line for at, name in enumerate(names) for line in (
        a_fault(name, begins=T + at * 2 * HOUR, ends=0.0), Known(name, "t", rack="hall/A"),
        Use(name, T - HOUR, T + 40 * HOUR),
    )]  # fmt: skip
    outcome = went(past(rows), limits=disruption_budget.Limits(share=1.0, small=0))
    assert outcome.trips == 0
    cordoned = {name: [each.at for each in tally.said if each.what == "REBOOT pending"] for name, tally in
                outcome.nodes.items()}  # fmt: skip
    assert sum(at < T + 40 * HOUR for each in cordoned.values() for at in each) == 1
    assert all(cordoned.values())
    told = {each.sentence for tally in outcome.nodes.values() for each in tally.said}
    assert any("not cordoned yet, the budget of rack hall/A is spent: 1 of at most 1" in each for each in told)


def test_a_breaker_that_nobody_needs_any_more_closes_in_a_simulation() -> None:
    """A false alarm that is over keeps no node from triage a day later."""
    names = [f"gpu-{at:02}" for at in range(1, 9)]
    over = [a_fault(name, ends=T + 60) for name in names]
    later = a_fault("gpu-09", remedy="TRIAGE", begins=T + 24 * HOUR, ends=0.0)
    outcome = went(past([*over, later]), ruled(breaker={"least": 2, "pause": "10min"}))
    assert outcome.trips == 1
    assert outcome.nodes["gpu-09"].triages == 1


def test_what_went_to_triage_counts_as_out() -> None:
    """For some hours: then the next one may go."""
    faults = [a_fault(f"gpu-0{at}", remedy="TRIAGE", ends=0.0) for at in range(1, 4)]
    outcome = went(past([*faults]), ruled(breaker={"least": 100}))
    at = [each.said[-1].at for each in outcome.nodes.values()]
    assert max(at) - min(at) >= disruption_budget.RECENT


def test_a_fault_that_ends_by_itself_is_let_go() -> None:
    """No remedy follows what has gone while work was waited for; a check's ticket is closed with it."""
    use = Use("gpu-01", T - HOUR, T + 9 * HOUR)
    assert tally(went(past([a_fault(), use]))).keys() <= {"tickets"}
    assert (
        tally(went(past([pushed(), use]), ruled(rules=[{"code": "xid.119", "quiet": "10min"}]))).get("RESET") is None
    )


def test_a_repaired_node_begins_anew() -> None:
    """What was tried before, and what was seen, is forgotten."""
    each = machine(Known("gpu-01", "t"), [a_fault(remedy="TRIAGE", ends=0.0)], [], [], T - 1)
    each.pass_time(T)
    assert each.latest
    each.node = type(each.node)("gpu-01", "t", State.TRIAGE, T, 1)
    each.pass_time(T + REPAIR)
    assert each.is_quiet()
    assert each.latest == {}
    each.apply(Decision((CloseTicket(4, "gone"),), "", T), T)
    assert each.tickets == {}


def test_an_alarm_that_was_cleared_stands_no_more() -> None:
    """And an answer to nobody changes nothing."""
    each = machine(Known("gpu-01", "t"), [pushed(ends=0.0)], [], [], T - 1)
    each.pass_time(T)
    (alarm,) = each.view(DEFAULT, T).alarms
    each.apply(Decision((ClearAlarm(alarm.id, "quiet"), Answer(1, accepted=True, sentence="yes")), "", T), T)
    assert each.view(DEFAULT, T).alarms == ()


@pytest.mark.parametrize(
    ("remedy", "tried", "found"),
    [
        (Remedy.RESET, [], Cured(helped=True, known=False)),
        (Remedy.RESET, [("RESET", True)], Cured(helped=True, known=True)),
        (Remedy.REBOOT, [("RESET", True)], Cured(helped=True, known=False)),
        (Remedy.RESET, [("REBOOT", True)], Cured(helped=False, known=False)),
        (Remedy.RESET, [("RESET", False)], Cured(helped=False, known=True)),
        (Remedy.REBOOT, [("RESET", False)], Cured(helped=True, known=False)),
        (Remedy.RESET, [("RESET", None), ("TRIAGE", False)], Cured(helped=True, known=False)),
    ],
)
def test_a_remedy_does_what_it_did_then_else_what_is_assumed(
    remedy: Remedy, tried: list[tuple[str, bool | None]], found: Cured
) -> None:
    """Known only where the same was tried."""
    assert cure(remedy, [PastRemedy("n", name, ("f",), T, helped) for name, helped in tried]) == found


def test_what_was_tried_later_was_for_another_time() -> None:
    """A fault that came back is its own."""
    mine = PastRemedy("gpu-01", "RESET", ("gpu-01/gpu.lost/GPU 3",), T + 60)
    assert tries(
        a_fault(),
        [mine, PastRemedy("gpu-01", "RESET", ("other",), T), PastRemedy("gpu-01", "RESET", mine.faults, T + 1e6)],
    ) == [mine]
