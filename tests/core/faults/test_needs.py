"""From what checks see and signals tell to the one remedy that a node needs."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.faults.needs import EVENTS, ORDER, calls, faults, needed, ruled, waived
from fleet_runner.core.faults.rules.built_in import BUILT_IN
from fleet_runner.core.faults.rules.rule import Rule
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.lifecycle.states import Condition
from tests.making import NOW, SINCE, a_finding, a_node, a_view, an_alarm, an_attempt, held, stored

remedies = st.lists(st.sampled_from(list(Remedy)), max_size=4)


def of(remedy: Remedy, number: int = 0) -> str:
    """The key of a fault of its own."""
    return f"gpu-01/{remedy}/{number}"


@given(remedies, remedies)
def test_the_hardest_of_all_is_needed(seen: list[Remedy], told: list[Remedy]) -> None:
    """Whoever tells of it; a part goes back only after a person looked."""
    latest = tuple(
        stored(a_finding(remedy, code="node.test", fault=of(remedy, index)), id=index)
        for index, remedy in enumerate(seen)
    )
    alarms = tuple(an_alarm(remedy=remedy, code="node.test", fault=of(remedy, 9), id=index)
                   for index, remedy in enumerate(told))  # fmt: skip
    need = needed(a_view(latest=latest, alarms=alarms), NOW)
    called = [remedy for remedy in (*seen, *told) if remedy in EVENTS]
    if not called:
        assert need is None
        return
    assert need is not None
    hardest = max(called, key=ORDER.index)
    assert need.remedy is (Remedy.TRIAGE if hardest is Remedy.RMA else hardest)
    assert len(need.results) == sum(remedy in EVENTS for remedy in seen)
    assert not need.at_once


@given(st.sampled_from(list(Remedy)), st.sampled_from([Verdict.UNKNOWN, Verdict.SKIPPED]))
def test_without_an_answer_nothing_moves(remedy: Remedy, verdict: Verdict) -> None:
    """A tool that failed condemns no hardware."""
    assert needed(a_view(latest=(stored(a_finding(remedy), verdict=verdict),)), NOW) is None


def test_what_was_before_the_node_came_to_its_state_was_dealt_with_there() -> None:
    """Results and signals alike."""
    old = SINCE - 1
    latest = (stored(a_finding(), at=old),)
    assert needed(a_view(latest=latest, alarms=(an_alarm(last_at=old),)), NOW) is None


def test_signals_that_are_too_few_yet_ask_for_nothing() -> None:
    """They are an alarm once they count."""
    assert calls(a_view(alarms=(an_alarm(raised_at=None),))) == ()


def test_the_rules_decide_about_findings_and_alarms() -> None:
    """An Xid 79 is power-cycled at once, whatever its check proposes; so says the built-in table."""
    seen = needed(a_view(latest=(stored(a_finding(Remedy.REBOOT, code="xid.79")),)), NOW)
    told = needed(a_view(alarms=(an_alarm(code="xid.79", remedy=Remedy.REBOOT),)), NOW)
    assert seen is not None
    assert told is not None
    assert (seen.remedy, seen.at_once) == (told.remedy, told.at_once) == (Remedy.POWER_CYCLE, True)


def test_a_rule_may_ask_for_more_than_a_check_that_passes() -> None:
    """What is recorded here may move a node there."""
    rules = Rules((*BUILT_IN, Rule(("gpu.uncorrectable",), ("t",), remedy=Remedy.RESET)))
    recorded = stored(a_finding(Remedy.RECORD, code="gpu.uncorrectable"), verdict=Verdict.PASS)
    need = needed(a_view(latest=(recorded,), rules=rules), NOW)
    assert need is not None
    assert need.remedy is Remedy.RESET
    assert needed(a_view(a_node(device_type="other"), latest=(recorded,), rules=rules), NOW) is None


def test_a_rule_that_counts_speaks_of_signals() -> None:
    """A look sees that an application failed, not how often it did."""
    once = a_finding(Remedy.RECORD, code="xid.31")
    assert ruled(Rules(), "t", once) == once
    assert ruled(Rules(), "t", a_finding(Remedy.WATCH, code="xid.74")).remedy is Remedy.WATCH
    need = needed(a_view(alarms=(an_alarm(code="xid.31", remedy=Remedy.TRIAGE),)), NOW)
    assert need is not None
    assert need.remedy is Remedy.TRIAGE


def crashed(gpu: int, **values: Any) -> Alarm:
    """An application's fault of one GPU that came often enough for a person."""
    fault = f"gpu-01/xid.31/GPU {gpu}"
    known = {"id": gpu, "code": "xid.31", "component": f"GPU {gpu}", "fault": fault, "remedy": Remedy.TRIAGE}
    return an_alarm(**(known | values))


@pytest.mark.parametrize("code", ["xid.31", "xid.13"])
def test_gpus_that_fail_together_are_an_applications_matter(code: str) -> None:
    """A job whose eight GPUs fault at once, again and again, has a bug; one GPU that does so alone may be broken."""
    job = [crashed(gpu, code=code, last_at=NOW - 60 - gpu) for gpu in range(8)]
    assert calls(a_view(alarms=job)) == ()
    assert [call.remedy for call in calls(a_view(alarms=job[:1]))] == [Remedy.TRIAGE]


def test_one_job_that_crashes_on_many_nodes_is_an_applications_matter() -> None:
    """Three nodes of a tenant at once, again and again; two may be a coincidence."""
    mine = crashed(1, last_at=NOW)
    others = [crashed(1, node=f"gpu-0{number}", last_at=NOW - 30) for number in (2, 3)]
    assert calls(a_view(alarms=(mine,), alike=others)) == ()
    for few in (
        others[:1],
        [others[0], crashed(2, node="gpu-02", last_at=NOW)],
        [others[0], crashed(1, node="gpu-03", last_at=NOW - 300)],
        [others[0], crashed(1, node="gpu-03", last_at=NOW, authenticated=False)],
        [others[0], crashed(1, node="gpu-03", last_at=NOW, code="xid.13")],
        [others[0], crashed(2, last_at=NOW)],
    ):
        assert [call.remedy for call in calls(a_view(alarms=(mine,), alike=few))] == [Remedy.TRIAGE]
    dead = an_alarm(code="xid.79", remedy=Remedy.REBOOT)
    assert calls(a_view(alarms=(dead,), alike=[replace(dead, node=f"gpu-0{number}") for number in (2, 3)])) != ()


@pytest.mark.parametrize(
    "other",
    [
        crashed(2, last_at=NOW - 3600),
        crashed(2, authenticated=False),
        crashed(2, code="xid.13"),
        crashed(2, code="xid.79"),
    ],
)
def test_what_another_gpu_had_at_another_time_or_otherwise_excuses_none(other: Alarm) -> None:
    """Nor does the word of somebody who proved nothing."""
    found = calls(a_view(alarms=(crashed(1, last_at=NOW), other)))
    assert "gpu-01/xid.31/GPU 1" in {call.fault for call in found if call.remedy is Remedy.TRIAGE}


@pytest.mark.parametrize(
    ("code", "proposed", "rule", "expected"),
    [
        ("xid.74", Remedy.RESET, Rule(("xid.74",), remedy=Remedy.RECORD), None),
        ("xid.31", Remedy.TRIAGE, Rule(("xid.*",), remedy=Remedy.RECORD), None),
        ("xid.13", Remedy.RECORD, Rule(("xid.13",), remedy=Remedy.RESET), (Remedy.RESET, False)),
        ("xid.13", Remedy.RECORD, Rule(("xid.13",), remedy=Remedy.RESET, repeats=2), None),
        ("xid.13", Remedy.RECORD, Rule(("xid.13",), remedy=Remedy.RESET, repeats=1), (Remedy.RESET, True)),
        ("xid.79", Remedy.REBOOT, Rule(("xid.79",), repeats=3), (Remedy.POWER_CYCLE, False)),
        ("xid.79", Remedy.REBOOT, Rule(("xid.79",), remedy=Remedy.RESET, beside=("sxid.*",)), (Remedy.REBOOT, False)),
    ],
)
def test_what_a_policy_names_counts_for_what_is_seen_too(
    code: str, proposed: Remedy, rule: Rule, expected: tuple[Remedy, bool] | None
) -> None:
    """Also where a built-in rule counts; only a remedy that its own rule ties to a count is for signals alone.

    And what is to be done at once once it has counted is not done at once at first sight.
    """
    always = Rule(("xid.13", "xid.74"), at_once=True)
    rules = Rules((*BUILT_IN, always, rule))
    need = needed(a_view(latest=(stored(a_finding(proposed, code=code)),), rules=rules), NOW)
    assert expected == (None if need is None else (need.remedy, need.at_once))


def test_work_ends_at_once_only_for_the_remedy_that_its_fault_calls_for() -> None:
    """A restart that need not wait ends no work for a triage that can; a power cycle that need not, for itself."""
    restart = an_alarm(id=1, code="fabric_manager.down", fault="gpu-01/fabric_manager.down", remedy=Remedy.RESTART)
    lost = an_alarm(id=2, code="xid.79", fault="gpu-01/xid.79/GPU 3", remedy=Remedy.REBOOT)
    triage = an_alarm(id=3, code="node.test", fault="gpu-01/node.test", remedy=Remedy.TRIAGE)
    rma = an_alarm(id=4, code="node.dead", fault="gpu-01/node.dead", remedy=Remedy.RMA)
    rules = Rules((*BUILT_IN, Rule(("fabric_manager.down", "node.test"), at_once=True)))

    def of_all(*alarms: Alarm, rules: Rules = rules) -> tuple[Remedy, bool] | None:
        need = needed(a_view(alarms=alarms, rules=rules), NOW)
        return None if need is None else (need.remedy, need.at_once)

    assert of_all(restart) == (Remedy.RESTART, True)
    assert of_all(restart, rma) == (Remedy.TRIAGE, False)
    assert of_all(restart, lost) == (Remedy.POWER_CYCLE, True)
    assert of_all(lost, triage, rules=Rules()) == (Remedy.TRIAGE, False)
    assert of_all(triage, rma) == (Remedy.TRIAGE, True)


def test_the_same_fault_climbs_and_says_why() -> None:
    """Its reset did not help an hour ago."""
    need = needed(a_view(alarms=(an_alarm(),), attempts=(an_attempt(),)), NOW)
    assert need is not None
    assert need.remedy is Remedy.REBOOT
    assert need.reason == (
        "GPU 3: Xid 119. RESET at 1970-01-12 12:46 UTC did not help: it came back. REBOOT comes next."
    )


def test_one_fault_that_two_tell_of_is_one() -> None:
    """A pushed Xid and the sweep that finds it."""
    finding = a_finding(Remedy.RESET, code="xid.119", fault="gpu-01/xid.119/GPU 3")
    need = needed(a_view(latest=(stored(finding),), alarms=(an_alarm(),)), NOW)
    assert need is not None
    assert need.faults == ("gpu-01/xid.119/GPU 3",)


def test_from_what_a_person_waived_nothing_follows() -> None:
    """But from everything else."""
    node = a_node(conditions={Condition.WAIVED: held(detail="a\ngpu-01/xid.119/GPU 3")})
    view = a_view(node, alarms=(an_alarm(),))
    assert waived(view) == {"a", "gpu-01/xid.119/GPU 3"}
    assert needed(view, NOW, waived(view)) is None
    assert waived(a_view()) == frozenset()
    assert faults(a_view(latest=(stored(a_finding()),), alarms=(an_alarm(),))) == {
        "gpu-01/gpu.lost/GPU 3",
        "gpu-01/xid.119/GPU 3",
    }


def test_links_that_a_tray_lost_with_its_whole_domain_call_for_nothing() -> None:
    """A reboot brings no switch tray back; what else is wrong with the tray calls as ever."""
    down = stored(a_finding(Remedy.REBOOT, code="nvlink.down", fault="gpu-01/nvlink.down/GPU 1"), id=1)
    lost = stored(a_finding(Remedy.TRIAGE, code="gpu.lost", fault="gpu-01/gpu.lost/GPU 2"), id=2)
    assert needed(a_view(latest=(down,)), NOW) is not None
    assert needed(a_view(latest=(down,), domain_fault="the switch tray is lost"), NOW) is None
    need = needed(a_view(latest=(down, lost), domain_fault="the switch tray is lost"), NOW)
    assert need is not None
    assert (need.remedy, need.results) == (Remedy.TRIAGE, (2,))
