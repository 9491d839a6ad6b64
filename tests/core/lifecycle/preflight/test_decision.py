"""Whether something may be done to a node: only to the machine that it is, and to no work that is well."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from fleet_runner.core.faults.rules.rule import Rule
from fleet_runner.core.faults.rules.rules import DEFAULT, AtDeadline, Rules
from fleet_runner.core.lifecycle.preflight.decision import Ends, Known, Used, ends, unended, unproven
from fleet_runner.core.lifecycle.preflight.machine import BMC, SYSTEM, Designed, MachineReport, Match, identify
from tests.core.lifecycle.preflight.test_work import IDLE, SHARED, SILENT, SOLE, answers, said
from tests.making import an_attempt

KNOWN = Designed("S1", frozenset({"b8:3f:d2:00:00:01"}))
serials = st.lists(st.sampled_from(["S1", "s1 ", "S2", "None", ""]), max_size=2).map(tuple)
macs = st.frozensets(st.sampled_from(["b8:3f:d2:00:00:01", "b8:3f:d2:00:00:02", "02:42:ac:11:00:02"]), max_size=2)
tells = st.builds(
    MachineReport, st.sampled_from([BMC, SYSTEM]), serials,
    uuid=st.sampled_from(["", "2d7c8a00-51f1-11ee-8000-3cecef0077aa"]),
    macs=macs, whole=st.booleans(), every_mac=st.booleans(), why=st.sampled_from(["", "", "it is silent"]),
)  # fmt: skip
knowns = st.builds(Known, st.sampled_from(["", "boot 7"]), st.booleans(), st.booleans(), st.booleans())


@given(st.lists(tells, min_size=1, max_size=2), knowns)
@example([MachineReport(BMC, ("S2",), macs=frozenset(), whole=True)], Known("boot 7", off=True, served=True))
def test_a_machine_that_says_another_serial_number_is_never_acted_on(told: list[MachineReport], known: Known) -> None:
    """Whatever else is known: its boots, that it is off, that what follows proves it."""
    strangers = [
        each for each in told if not each.why and each.whole and "S2" in each.serials and "S1" not in each.serials
        and "s1 " not in each.serials
    ]  # fmt: skip
    if strangers:
        assert unproven(identify(KNOWN, told), known)


@given(st.lists(tells, min_size=1, max_size=2))
def test_a_machine_of_which_nobody_tells_is_acted_on_only_if_its_boot_proved_it(told: list[MachineReport]) -> None:
    """Or proves it: it is off, and the boot service gives nothing to another one."""
    found = identify(KNOWN, told)
    if found.match is Match.UNKNOWN:
        assert unproven(found, Known())
        assert unproven(found, Known(off=True))
        assert unproven(found, Known(served=True))
        for known in (Known(boot="boot 7"), Known(off=True, served=True)):
            assert (unproven(found, known) == "") is (found.doubt == "")
        assert unproven(found, Known(sure=False)) == ""


@given(answers, answers, knowns, st.booleans())
def test_no_work_is_ended_unless_a_rule_says_so(
    usage: Result | None, scheduler: Result | None, known: Known, scheduled: bool
) -> None:
    """A node that is off runs none."""
    why = unended(Used(usage, scheduler), known, Ends.NONE, scheduled=scheduled)
    runs = [
        each for each in (usage, scheduler)
        if each is not None and each.verdict is Verdict.PASS and each.observed["in_use"]
    ]  # fmt: skip
    assert why if runs and not known.off else True
    assert why == "" if known.off else True
    assert unended(Used(usage, scheduler), known, Ends.ANY, scheduled=scheduled) == ""


@pytest.mark.parametrize(
    ("usage", "scheduler", "ended"),
    [(SOLE, None, True), (SHARED, None, False), (SHARED, SOLE, True), (SOLE, SILENT, False), (IDLE, IDLE, True)],
)
def test_work_that_a_fault_has_ended_may_be_ended(usage: Result, scheduler: Result | None, ended: bool) -> None:
    """That of a job which has the whole node, and no other."""
    found = unended(Used(usage, scheduler), Known(), Ends.LOST, scheduled=scheduler is not None)
    assert (found == "") is ended


@pytest.mark.parametrize("ends", Ends)
def test_what_is_never_to_be_interrupted_and_what_somebody_else_has_is_left_whatever_may_be_ended(ends: Ends) -> None:
    """A node that is off runs nothing, and may have an owner all the same."""
    never, owned = (
        said(in_use=True, sole=True, never=["pod ml/train"]),
        said(in_use=False, owner="Karpenter (taint x)"),
    )
    assert unended(Used(SOLE, never), Known(), ends, scheduled=True) == "pod ml/train is never to be interrupted"
    assert unended(Used(SOLE, never), Known(off=True), ends, scheduled=True) == ""
    for known in (Known(), Known(off=True)):
        assert unended(Used(IDLE, owned), known, ends, scheduled=True) == "it is left to Karpenter (taint x)"


@pytest.mark.parametrize("ends", Ends)
def test_where_a_scheduler_can_tell_of_such_wishes_its_silence_ends_no_work(ends: Ends) -> None:
    for silence in (SILENT, None):
        assert unended(Used(SOLE, silence), Known(wishes=True), ends, scheduled=True)
        assert unended(Used(SOLE, silence), Known(wishes=True, off=True), ends, scheduled=True) == ""
    assert unended(Used(IDLE, IDLE), Known(wishes=True), ends, scheduled=True) == ""


@pytest.mark.parametrize(
    ("rules", "values", "expected"),
    [
        (DEFAULT, {"faults": ("gpu-01/xid.79/GPU 3",)}, Ends.LOST),
        (DEFAULT, {"faults": ("gpu-01/xid.119/GPU 3", "gpu-01/xid.79/GPU 3")}, Ends.LOST),
        (DEFAULT, {"faults": ("gpu-01/xid.119/GPU 3",)}, Ends.NONE),
        (DEFAULT, {"faults": ()}, Ends.NONE),
        (DEFAULT, {"faults": ("gpu-01/xid.79/GPU 3",), "by": "ann"}, Ends.NONE),
        (Rules(at_deadline=AtDeadline.ACT), {"faults": ()}, Ends.ANY),
        (Rules(at_deadline=AtDeadline.ACT), {"faults": (), "by": "ann"}, Ends.NONE),
        (Rules((*DEFAULT.rules, Rule(("xid.79",), at_once=False))), {"faults": ("gpu-01/xid.79/GPU 3",)}, Ends.NONE),
    ],
)
def test_which_work_a_remedy_may_end_is_in_the_rules(rules: Rules, values: dict[str, Any], expected: Ends) -> None:
    """What a person asked for waits for all of it."""
    assert ends(rules, "t", an_attempt(Remedy.POWER_CYCLE, **values)) is expected
