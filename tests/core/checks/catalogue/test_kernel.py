"""The kernel: what runs, how it is set, and what it logged about itself."""

import json

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.hosting import asked, edited, host
from tests.core.checks.catalogue.judging import DMESG, HEALTHY, remedies
from tests.core.checks.healthy import text_of

SEEN = HEALTHY["kernel"]["kernel_files"]
MODULES = "nvidia 56000000 40 nvidia_peermem, Live 0x0 (POE)\nmlx5_core 2000000 1 mlx5_ib, Live 0x0 (OE)"


@pytest.mark.parametrize(
    ("ending", "said", "code", "remedy"),
    [
        ("osrelease", "6.8.0-51-generic", "kernel.release", Remedy.REBOOT),
        ("os-release", 'ID="rocky"\nVERSION_ID="9.4"', "kernel.system", Remedy.REBOOT),
        ("bios_date", "02/05/2024", "kernel.bios_date", Remedy.REFLASH),
        ("module__nvidia__version", "535.183.01", "kernel.driver", Remedy.REBOOT),
        ("modules", MODULES, "kernel.module_missing", Remedy.REBOOT),
        ("modules", MODULES + "\nnvidia_peermem 1 0 - Loading 0x0", "kernel.module_missing", Remedy.REBOOT),
        ("cmdline", "root=/dev/ram0", "kernel.cmdline", Remedy.REBOOT),
        ("cmdline", "iommu=pt nosmt=force", "kernel.cmdline", Remedy.REBOOT),
        ("numa_balancing", "1", "kernel.setting", Remedy.REBOOT),
        ("enabled", "always madvise [never]", "kernel.setting", Remedy.REBOOT),
        ("current_clocksource", "hpet", "kernel.setting", Remedy.REBOOT),
        ("cpu1__cpufreq__scaling_governor", "powersave", "kernel.setting", Remedy.REBOOT),
        ("swaps", "Filename Type Size\n/swap.img file 8388604", "kernel.setting", Remedy.REBOOT),
        ("groups__0__type", "DMA-FQ", "kernel.iommu", Remedy.REBOOT),
        ("tainted", "12416", "kernel.died", Remedy.REBOOT),
        ("tainted", "16", "kernel.machine_check", Remedy.RECORD),
    ],
)
def test_each_difference_has_its_own_remedy(ending: str, said: str, code: str, remedy: Remedy) -> None:
    """A node boots its image anew: what is in it changes with a boot."""
    result = host("kernel", kernel_files=edited(SEEN, **{ending: said}))
    assert remedies(result) == {code: remedy}


def test_a_module_that_must_not_be_there_is_a_fault() -> None:
    """The free driver keeps the GPUs from the other one."""
    modules = MODULES + "\nnvidia-peermem 1 0 - Live 0x0\nnouveau 2000000 0 - Live 0x0"
    result = host("kernel", kernel_files=edited(SEEN, modules=modules))
    assert remedies(result) == {"kernel.module_forbidden": Remedy.REBOOT}


def test_a_node_without_an_iommu_has_it_off() -> None:
    """Which the profile may want, too."""
    none = edited(SEEN, groups__0__type=None, groups__1__type=None)
    assert host("kernel", kernel_files=none).verdict is Verdict.PASS
    result = host("kernel", asked("kernel", {"iommu": "passthrough"}), kernel_files=none)
    assert "the IOMMU is off (no groups), expected passthrough" in result.message


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        ("modules", None),
        ("modules", "x" * 65_000),
        ("cmdline", None),
        ("bios_date", None),
        ("module__nvidia__version", None),
        ("numa_balancing", None),
        ("os-release", ""),
        ("swaps", ""),
        ("osrelease", None),
    ],
)
def test_what_was_not_read_is_unknown_where_the_profile_asks(ending: str, said: str | None) -> None:
    """A list of modules that fills the reader's measure was cut."""
    assert host("kernel", kernel_files=edited(SEEN, **{ending: said})).verdict is Verdict.UNKNOWN


def test_a_profile_may_ask_for_nothing_in_particular() -> None:
    """Then the kernel is only looked at for its own troubles."""
    section = dict.fromkeys(("release", "system", "bios_date", "drivers", "modules", "modules_forbidden"), None)
    section |= dict.fromkeys(("cmdline", "cmdline_forbidden", "iommu", "settings", "libraries"), None)
    alone = '{"/proc/sys/kernel/osrelease": "5.15.0"}'
    assert host("kernel", asked("kernel", section), kernel_files=alone).verdict is Verdict.PASS


def test_a_library_that_is_not_there_is_a_fault() -> None:
    """Where nobody asked the linker, nobody knows."""
    result = host("kernel", asked("kernel", {"libraries": ["libcuda.so.1", "libnccl.so.2"]}))
    assert remedies(result) == {"kernel.library": Remedy.REBOOT}
    assert result.findings[0].component == "library libnccl.so.2"
    assert host("kernel", ldconfig=None).verdict is Verdict.UNKNOWN
    short = HEALTHY["kernel"]["ldconfig"].replace("2 libs", "3 libs")
    assert host("kernel", ldconfig=short).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("left", ["modules", "cmdline"])
def test_what_is_forbidden_must_be_read_too(left: str) -> None:
    """Nobody knows that it is not there."""
    changes = {left: None}
    result = host("kernel", asked("kernel", changes), kernel_files=edited(SEEN, **{f"proc__{left}": None}))
    assert result.verdict is Verdict.UNKNOWN


def test_an_earlier_kernels_last_words_are_recorded() -> None:
    """A boot has cleared what killed it; the last of several counts, and what says nothing of a death does not."""
    path = "/sys/fs/pstore/dmesg-erst-753"
    left = {
        f"{path}1": "Panic#1 Part1\n<0>[ 3098.275469] Kernel panic - not syncing: Fatal machine check",
        f"{path}2": "Oops#1 Part1\n<6>[ 3098.1] usb 1-2: new device",
        f"{path}3": None,
        f"{path}4": "",
    }
    result = host("kernel_log", pstore=json.dumps(left))
    assert (result.verdict, remedies(result)) == (Verdict.PASS, {"kernel.crashed": Remedy.RECORD})
    assert result.findings[0].message == (
        f"the previous kernel crashed: not syncing: Fatal machine check; {path}1 has its last log lines"
    )
    assert host("kernel_log", pstore=None).findings == ()


@pytest.mark.parametrize(
    "said",
    ["Out of memory: Killed process 123, UID 48, (httpd).", "Out of memory: Kill process 123 (httpd) score 50 or"],
)
def test_each_kernel_has_its_own_words_for_memory_that_ran_out(said: str) -> None:
    """Older and newer ones."""
    result = host("kernel_log", dmesg=f"{DMESG}{said}\n")
    assert [each.component for each in result.findings] == ["process httpd"]


def test_what_the_kernel_logs_about_itself_has_its_remedy() -> None:
    """A process that memory ran out for is its owner's matter."""
    result = host("kernel_log", dmesg=text_of("dmesg/host_faults.txt"))
    found = {(each.code, each.component, each.remedy) for each in result.findings}
    assert found == {
        ("kernel.oops", "kernel", Remedy.REBOOT),
        ("kernel.hard_lockup", "cpu 7", Remedy.REBOOT),
        ("kernel.soft_lockup", "CPU#18", Remedy.WATCH),
        ("kernel.stall", "rcu_sched", Remedy.WATCH),
        ("kernel.hung_task", "process jfsmount", Remedy.WATCH),
        ("kernel.out_of_files", "open files", Remedy.WATCH),
        ("kernel.out_of_memory", "process my (job) 1", Remedy.RECORD),
        ("kernel.segfault", "process python3", Remedy.RECORD),
        ("kernel.peermem", "nvidia_peermem", Remedy.RECORD),
    }
    assert "logged 5 times" in result.findings[0].message
