"""Did memory or a processor make errors that ask for something."""

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.hosting import asked, edited, host, later
from tests.core.checks.catalogue.judging import DMESG, HEALTHY, remedies
from tests.core.checks.healthy import text_of

EDAC, MEMINFO = HEALTHY["memory_errors"]["edac"], HEALTHY["memory_errors"]["meminfo"]
LABEL = "DIMM CPU_SrcID#0_MC#0_Chan#0_DIMM#0"
FAULTS = text_of("dmesg/host_faults.txt")


def test_an_uncorrected_error_names_its_module() -> None:
    """By the label that board or driver give it."""
    result = host("memory_errors", edac=edited(EDAC, dimm0__dimm_ue_count="1"))
    assert remedies(result) == {"memory.uncorrected": Remedy.TRIAGE}
    (finding,) = result.findings
    assert finding.component == LABEL
    assert "(channel 0 slot 0) made 1 uncorrected errors" in finding.message
    assert len(finding.steps) == 3


def test_an_error_that_no_module_is_blamed_for_is_its_controllers() -> None:
    """What the modules counted is not counted twice."""
    result = host("memory_errors", edac=edited(EDAC, ue_noinfo_count="2", mc0__ue_count="2"))
    assert [(each.component, each.code) for each in result.findings] == [
        ("memory controller mc0", "memory.uncorrected")
    ]


def test_a_controller_without_modules_counts_for_itself() -> None:
    """Some drivers know nothing smaller."""
    only = '{"/sys/devices/system/edac/mc/mc0/ce_count": "0", "/sys/devices/system/edac/mc/mc0/ue_count": "1"}'
    assert remedies(host("memory_errors", edac=only)) == {"memory.uncorrected": Remedy.TRIAGE}


@pytest.mark.parametrize(
    ("more", "seconds", "remedy"),
    [
        (101, 600, Remedy.TRIAGE),
        (100, 600, Remedy.RECORD),
        (200, 2 * 86400, Remedy.RECORD),
        (201, 2 * 86400, Remedy.TRIAGE),
    ],
)
def test_corrected_errors_are_held_against_a_day(more: int, seconds: float, remedy: Remedy) -> None:
    """Those since the boot, before anybody looked, say nothing."""
    first = host("memory_errors")
    bent = edited(EDAC, dimm0__dimm_ce_count=str(3 + more))
    result = host("memory_errors", later("memory_errors", first, seconds), edac=bent)
    assert remedies(result) == {"memory.corrected": remedy}
    assert result.findings[0].component == LABEL


def test_memory_that_the_kernel_gave_up_is_watched() -> None:
    """Whoever asks for it, and in the kernel's own count."""
    poisoned = MEMINFO.replace("HardwareCorrupted:     0 kB", "HardwareCorrupted:     8 kB")
    result = host("memory_errors", meminfo=poisoned)
    assert remedies(result) == {"memory.poisoned": Remedy.WATCH}
    assert host("memory_errors", meminfo=None).verdict is Verdict.UNKNOWN
    assert (
        host("memory_errors", asked("memory_errors", {"poisoned_kib_max": None}), meminfo=None).verdict
        is Verdict.PASS
    )


def test_without_an_edac_driver_only_the_log_can_tell() -> None:
    """That nothing counts is no good news."""
    assert host("memory_errors", edac="{}").verdict is Verdict.UNKNOWN
    assert host("memory_errors", edac="{}", dmesg=FAULTS).verdict is Verdict.FAIL
    hot = DMESG + "CPU4: Core temperature above threshold\n"
    assert remedies(host("memory_errors", edac="{}", dmesg=hot)) == {"cpu.hot": Remedy.WATCH}


def test_a_controller_that_counts_nothing_is_none() -> None:
    """Its name alone says nothing."""
    assert host("memory_errors", edac='{"/sys/devices/system/edac/mc/mc0/mc_name": "x"}').verdict is Verdict.UNKNOWN


def test_a_count_that_was_not_read_is_unknown() -> None:
    """Half an answer is none."""
    result = host("memory_errors", edac=edited(EDAC, dimm1__dimm_ue_count=None))
    assert result.message == "EDAC does not report the errors of DIMM CPU_SrcID#0_MC#0_Chan#1_DIMM#0"
    assert host("memory_errors", edac=edited(EDAC, mc0__mc_name=None)).verdict is Verdict.PASS


def test_what_the_kernel_logs_has_its_remedy() -> None:
    """Of machine checks, only a status that says "not corrected" is a fault."""
    result = host("memory_errors", dmesg=FAULTS)
    found = {(each.code, each.component, each.remedy) for each in result.findings}
    assert found == {
        ("cpu.machine_check", "CPU 2", Remedy.TRIAGE),
        ("memory.lost", "memory", Remedy.TRIAGE),
        ("memory.lost", "memory CPU_SrcID#0_MC#0_Chan#1_DIMM#0", Remedy.TRIAGE),
        ("platform.fatal", "platform", Remedy.TRIAGE),
        ("platform.recoverable", "platform", Remedy.WATCH),
        ("platform.corrected", "platform", Remedy.RECORD),
        ("cpu.hot", "CPU4", Remedy.WATCH),
        ("cpu.logged", "CPUs", Remedy.RECORD),
    }


def test_a_process_that_is_named_like_a_fault_is_none() -> None:
    """A message counts only where it begins."""
    log = DMESG + "2025-03-01T09:50:00,000000+00:00 INFO: Memory failure: 0x1: recovery action for x\n"
    assert host("memory_errors", dmesg=log).verdict is Verdict.PASS
