"""What each kind of fault can be in a job's death."""

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals import fabric
from fleet_runner.core.faults.xid import OF_APPLICATIONS, XIDS
from fleet_runner.core.jobs import kinds
from fleet_runner.core.jobs.event import Area, Role
from fleet_runner.core.jobs.kinds import KINDS, MEANINGS, STRANGE, kind, meaning

DECLARED = {each.code for check in CHECKS.values() for each in check.codes}
SIGNALS = {row.code for row in fabric.EVENTS}


def test_every_code_of_every_check_and_of_the_fabric_has_an_answer() -> None:
    """Xids have one each, and alerts, BMCs' messages and people's own signals share one."""
    assert DECLARED - {"xid.*"} - KINDS.keys() == set()
    assert SIGNALS - KINDS.keys() == set()
    assert {f"xid.{number}" for number in XIDS} - KINDS.keys() == set()


def test_no_code_has_two_answers_and_none_is_of_nothing() -> None:
    listed = [code for _, codes in kinds._ROWS for code in codes.split()]
    assert len(listed) == len(set(listed))
    numbers = [number for _, mine in kinds._XIDS for number in mine]
    assert len(numbers) == len(set(numbers))
    known = DECLARED | SIGNALS | {f"xid.{number}" for number in XIDS} | {"node.rebooted", "foresight.*"}
    assert KINDS.keys() - known == set()


def test_what_the_applications_own_xids_say_is_software() -> None:
    assert {kind(code).area for code in OF_APPLICATIONS} == {Area.SOFTWARE}
    assert {code for code in OF_APPLICATIONS if kind(code).role is Role.SYMPTOM} == {"xid.43", "xid.45"}


@pytest.mark.parametrize(("code", "remedy", "area", "role"), [
    ("xid.79", Remedy.POWER_CYCLE, Area.HARDWARE, Role.CAUSE),
    ("xid.94", Remedy.RECORD, Area.HARDWARE, Role.CAUSE),
    ("xid.74", Remedy.WATCH, Area.HARDWARE, Role.CONTEXT),
    ("xid.74", Remedy.RESET, Area.HARDWARE, Role.CAUSE),
    ("xid.999", Remedy.RECORD, Area.UNKNOWN, Role.CONTEXT),
    ("sxid.20034", Remedy.RESET, Area.HARDWARE, Role.CAUSE),
    ("sxid.20001", Remedy.RECORD, Area.HARDWARE, Role.CONTEXT),
    ("gpu.clock_max_sm", Remedy.TRIAGE, Area.HARDWARE, Role.CONTEXT),
    ("link.flaps", Remedy.RECORD, Area.FABRIC, Role.CONTEXT),
    ("link.flaps", Remedy.RECABLE, Area.FABRIC, Role.CAUSE),
    ("kernel.out_of_memory", Remedy.RECORD, Area.SOFTWARE, Role.CAUSE),
    ("fs.server", Remedy.RECORD, Area.STORAGE, Role.CAUSE),
    ("alert.NodeHot", Remedy.WATCH, Area.UNKNOWN, Role.CONTEXT),
    ("alert.NodeHot", Remedy.REBOOT, Area.UNKNOWN, Role.CAUSE),
    ("redfish.Platform.Fault", Remedy.WATCH, Area.UNKNOWN, Role.CONTEXT),
    ("foresight.drift", Remedy.TRIAGE, Area.UNKNOWN, Role.CONTEXT),
])  # fmt: skip
def test_the_remedy_tells_where_the_kind_does_not(code: str, remedy: Remedy, area: Area, role: Role) -> None:
    assert (kind(code).area, kind(code).of(remedy)) == (area, role)


def test_every_code_has_a_meaning_of_our_own_words() -> None:
    strange = meaning("alert.NodeHot")
    assert strange == "a signal whose kind is not ours"
    assert kind("alert.NodeHot") is STRANGE
    for code in DECLARED | SIGNALS | MEANINGS.keys() | {"xid.79", "gpu.clock_max_sm", "sxid.1"}:
        assert meaning(code) != strange, code
    assert meaning("xid.79") == "Xid 79, the GPU has fallen off the bus"
    assert meaning("xid.999") == meaning("xid.x") == "an Xid of this number, as its row says"
