"""Did the driver of AMD's GPUs say something that asks for more than to be recorded?"""

import pytest

from fleet_runner.core.checks.pasted.text import Pasted
from fleet_runner.core.checks.shared import amdgpu_messages
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.faults.signals import kernel
from fleet_runner.core.faults.signals.kernel import Line
from tests.core.checks.catalogue.judging import judged, remedies

AT = "2025-03-01T09:31:00,500000+00:00 "
BOOT = f"{AT}Linux version 6.8.0-40-generic\n"
HEAD = "amdgpu 0000:c5:00.0: amdgpu: "

SAID = [
    (f"{HEAD}ring gfx_0.0.0 timeout, signaled seq=2395, emitted seq=2397", "amdgpu.ring_timeout", Remedy.RECORD),
    (f"{HEAD}ring sdma0 timeout, but soft recovered", "amdgpu.ring_timeout", Remedy.RECORD),
    ("amdgpu 0000:c5:00.0: GPU reset begin!. Source:  1", "amdgpu.reset", Remedy.RECORD),
    (f"{HEAD}GPU Recovery Failed: -19", "amdgpu.reset_failed", Remedy.REBOOT),
    (f"{HEAD}GPU reset end with ret = -19", "amdgpu.reset_failed", Remedy.REBOOT),
    (f"{HEAD}GPU reset(4) failed", "amdgpu.reset_failed", Remedy.REBOOT),
    (f"{HEAD}device lost from bus!", "amdgpu.lost", Remedy.REBOOT),
    (f"{HEAD}Fatal error during GPU init", "amdgpu.no_start", Remedy.WATCH),
    (f"{HEAD}MES failed to respond to msg=REMOVE_QUEUE", "amdgpu.scheduler", Remedy.WATCH),
    (f"{HEAD}MES(0, 0) failed to respond to msg=SUSPEND", "amdgpu.scheduler", Remedy.WATCH),
    (f"{HEAD}MES might be in unrecoverable state, issue a GPU reset", "amdgpu.scheduler", Remedy.WATCH),
    (f"{HEAD}2 uncorrectable hardware errors detected in umc block", "amdgpu.uncorrected", Remedy.WATCH),
    (f"{HEAD}{{1}}socket: 0, die: 1, 2 new uncorrectable hardware errors detected in gfx block", "amdgpu.uncorrected",
     Remedy.WATCH),
    ("amdgpu 0000:c5:00.0: {1}uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!", "amdgpu.uncorrected",
     Remedy.WATCH),
    (f"{HEAD}RAS poison consumption, fall back to gpu reset flow: client id 18", "amdgpu.poison", Remedy.WATCH),
    (f"{HEAD}poison is consumed by client 18, kick off gpu reset flow", "amdgpu.poison", Remedy.WATCH),
    (f"{HEAD}{{3}}GPU reset for UMC RAS poison consumption is issued!", "amdgpu.poison", Remedy.WATCH),
    (f"{HEAD}RAS records:301 exceed threshold:300", "amdgpu.bad_pages", Remedy.TRIAGE),
]  # fmt: skip
"""Lines as the driver's source writes them, in forms that threads of public trackers show."""


@pytest.mark.parametrize(("line", "code", "remedy"), SAID)
def test_what_the_driver_says_is_a_finding_of_its_gpu(line: str, code: str, remedy: Remedy) -> None:
    """Alike for the sweep, pushed lines and a pasted log."""
    (finding,) = judged("xid", {"dmesg": f"{BOOT}{AT}{line}\n"}).findings
    assert (finding.code, finding.remedy, finding.component) == (code, remedy, "GPU 0000:c5:00.0")
    (pushed,) = kernel.read([Line("gpu-07", f"{AT}{line}")], heard=1e9)
    assert (pushed.code, pushed.remedy, pushed.component) == (code, remedy, finding.component)
    pasted = Pasted("log")
    pasted.feed(f"{AT}{line}\n")
    assert [(each.finding.code, each.finding.remedy) for each in pasted.end().told] == [(code, remedy)]


def test_messages_without_an_address_are_of_a_gpu() -> None:
    """Older kernels name the driver's function instead."""
    line = "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout, signaled seq=224260, emitted seq=224262"
    (finding,) = judged("xid", {"dmesg": f"{BOOT}{AT}{line}\n"}).findings
    assert (finding.code, finding.component) == ("amdgpu.ring_timeout", "GPU")


@pytest.mark.parametrize(
    "line",
    [
        f"{HEAD}0 uncorrectable hardware errors detected in umc block",
        f"{HEAD}no uncorrectable hardware errors detected in umc block",
        f"{HEAD}3 correctable hardware errors detected in umc block",
        f"{HEAD}GPU reset end with ret = 0",
        f"{HEAD}GPU reset(4) succeeded!",
        "panfrost ff9a0000.gpu: Fatal error during GPU init",
        f"audit: said {HEAD}device lost from bus!",
        "GPU reset begin!",
    ],
)
def test_what_is_well_or_anothers_is_no_finding(line: str) -> None:
    assert judged("xid", {"dmesg": f"{BOOT}{AT}{line}\n"}).verdict is Verdict.PASS


def test_every_code_is_described_and_has_one_remedy() -> None:
    codes = {each.rule.code for each in amdgpu_messages.LOGGED}
    assert codes == amdgpu_messages.CODES.keys()
    assert {(each.rule.code, each.remedy) for each in amdgpu_messages.LOGGED} == {
        (code, remedies_of(code)) for code in codes
    }


def remedies_of(code: str) -> Remedy:
    """Return the remedy that the table of lines above expects."""
    return next(remedy for _, mine, remedy in SAID if mine == code)


def test_a_hang_of_a_program_takes_no_node_out_of_service() -> None:
    """The whole of what a ring's timeout logs asks for nothing, as long as the driver's reset ends well."""
    log = "".join(f"{AT}{line}\n" for line, _, remedy in SAID if remedy in {Remedy.RECORD, Remedy.WATCH})
    assert set(remedies(judged("xid", {"dmesg": f"{BOOT}{log}"})).values()) == {Remedy.RECORD, Remedy.WATCH}
