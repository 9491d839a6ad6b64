"""A proposed diagnosis: who is suspect, by what, and what to do; the likeliest first."""

import re

from fleet_runner.core.checks.answers import about
from fleet_runner.core.checks.collect import BMC, BUG_REPORT, of_node
from fleet_runner.core.checks.verdicts import Finding, Remedy
from fleet_runner.core.faults.diagnosis import ADVICE, Known, Seen, diagnose
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.tickets.rma_cases import Case, Replaced
from tests.making import an_alarm

GPU = "GPU 0000:9b:00.0"


def finding(code: str = "gpu.remap_failed", component: str = GPU, remedy: Remedy = Remedy.RMA) -> Finding:
    """Return a finding of a GPU in a slot."""
    return about("gpu-01", code, component)(message=f"{component} (SXM4, serial 165) failed", remedy=remedy)


def seen(*findings: Finding) -> tuple[Seen, ...]:
    return tuple(Seen(1_740_821_400.0, "gpu_errors", each) for each in findings)


def test_nothing_is_suspect_where_nothing_is_wrong() -> None:
    """What is only recorded accuses nobody."""
    assert diagnose(Known()) == ()
    assert diagnose(Known(seen(finding(remedy=Remedy.RECORD)))) == ()


def test_the_hardest_finding_comes_first_with_what_to_do() -> None:
    psu = about("gpu-01", "psu.faulty", "PSU 2")(message="PSU 2 gives no power", remedy=Remedy.WATCH)
    first, second = diagnose(Known(seen(psu, finding())))
    assert (first.component, first.slot) == (GPU, "SXM4")
    assert first.evidence == (f"2025-03-01 09:30 gpu_errors: {GPU} (SXM4, serial 165) failed",)
    assert "row remapper" in first.tries[0]
    assert "nvidia-bug-report.sh" in first.asks[0]
    assert "power cord" in second.tries[0]


def test_a_fault_of_no_known_kind_is_a_suspect_without_advice() -> None:
    [found] = diagnose(Known(seen(finding("time.offset", "clock"))))
    assert (found.tries, found.asks) == ((), ())


def test_what_was_tried_is_evidence_and_what_did_not_help_weighs() -> None:
    fault = finding().fault
    attempts = (
        Attempt(1, "gpu-01", Remedy.RESET, (fault,), "runner", 10.0, 20.0, helped=False, because="it is back"),
        Attempt(2, "gpu-01", Remedy.REBOOT, (fault,), "runner", 30.0, 40.0, helped=True),
        Attempt(3, "gpu-01", Remedy.REBOOT, (fault,), "runner", 50.0),
        Attempt(4, "gpu-01", Remedy.REBOOT, ("another",), "runner", 60.0),
    )
    [plain] = diagnose(Known(seen(finding())))
    [found] = diagnose(Known(seen(finding()), attempts=attempts))
    assert found.score > plain.score
    assert found.evidence[1:] == (
        "1970-01-01 00:00 RESET did not help: it is back",
        "1970-01-01 00:00 REBOOT helped",
        "1970-01-01 00:00 REBOOT has no known result",
    )


def test_a_slot_that_ate_parts_before_is_suspect_itself() -> None:
    """The third GPU to fail in one slot: the next one would be the fourth."""
    cases = tuple(
        Case(at, "gpu-01", "Acme", f"C-{at}", "ann", 1.0, (Replaced("SXM4", out), Replaced("SXM5", "x")))
        for at, out in ((1, "A"), (2, ""))
    )
    [found] = diagnose(Known(seen(finding()), cases=cases))
    assert (
        "This is the third part to fail in slot SXM4; before it: A with Acme C-1; one with Acme C-2" in found.evidence
    )
    assert found.tries[0].startswith("Suspect the slot")
    [many] = diagnose(Known(seen(finding()), cases=cases * 4))
    assert "This is the 9th part" in many.evidence[-1]


def test_an_alarm_that_cleared_weighs_half() -> None:
    [stands] = diagnose(Known(alarms=(an_alarm(),)))
    [cleared] = diagnose(Known(alarms=(an_alarm(cleared_at=2.0, cleared_because="quiet"),)))
    assert cleared.score == stands.score / 2
    assert "(stands)" in stands.evidence[0]
    assert "(cleared: quiet)" in cleared.evidence[0]


def test_an_alarm_without_authentication_makes_no_suspect_and_stands_beside_one_that_is() -> None:
    """A person reads that it was told; no part is suspected for it."""
    forged = an_alarm(authenticated=False)
    assert diagnose(Known(alarms=(forged,))) == ()
    [alone] = diagnose(Known(alarms=(an_alarm(),)))
    [both] = diagnose(Known(alarms=(an_alarm(), forged)))
    assert both.score == alone.score
    assert "(told without authentication, stands)" in both.evidence[1]


def test_several_gpus_at_once_point_at_what_they_share() -> None:
    other = finding(component="GPU 0000:1b:00.0")
    first = diagnose(Known(seen(finding(), other)))[0]
    assert first.component.startswith("what the GPUs share")
    assert "2 GPUs are at fault at once" in first.evidence[0]


def test_what_a_vendor_is_to_be_given_is_gathered() -> None:
    """Each file that an advice names is one that every node with GPUs gives."""
    named = set(re.findall(r"gathered/([\w.-]+\w)", " ".join(ask for each in ADVICE for ask in each.asks)))
    every = {*of_node({}), *of_node({"parts": {"gpu": {"maker": "AMD"}}}), *BMC, BUG_REPORT}
    assert {"nvidia-smi-xml.txt", "amd-smi-static.txt", "dmesg.txt"} <= named <= every


def test_of_what_only_amds_tools_tell_amds_reports_are_asked() -> None:
    first = diagnose(Known(seen(finding("gpu.ras"))))[0]
    assert "rvs -r 3" in first.tries[0]
    assert all("nvidia" not in ask and "Xid" not in ask for ask in first.asks)


def test_a_suspect_that_only_signals_told_of_has_its_slot_all_the_same() -> None:
    """From what was last seen of the node's parts; what a finding itself says goes first."""
    alarm = an_alarm(component="GPU 3")
    assert [each.slot for each in diagnose(Known(alarms=(alarm,), slots={"GPU 3": "SXM4"}))] == ["SXM4"]
    assert [each.slot for each in diagnose(Known(alarms=(alarm,), slots={"GPU 5": "SXM6"}))] == [""]
