"""Kernel messages that others look for: what we find in each, or why nothing.

Rules by the names of gpud at 4a8de33a (August 2026), all its matchers for the kernel's log, and some of NVSentinel's
syslog monitor. Identifiers in the lines are made up.
"""

import pytest

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.kernel import Line, read
from tests.making import NOW

MLX5 = "mlx5_core 0000:5c:00.0: "

FOUND = {
    "gpud xid": ("NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.", "xid.79", Remedy.REBOOT),
    "gpud fallen off the bus": ("NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.", "xid.79", Remedy.REBOOT),
    "gpud sxid": ("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30", "sxid.20034", Remedy.RESET),
    "gpud nvlink_post_rx_detect_failure": (
        "NVRM: knvlinkUpdatePostRxDetectLinkMask_IMPL: Failed to update Rx Detect Link mask!",
        "gpu.driver_nvlink",
        Remedy.RESET,
    ),
    "gpud nvlink_post_rx_detect_failure, its other words": (
        "NVRM: GPU3 knvlinkDiscoverPostRxDetLinks_GH100: Getting peer0's postRxDetLinkMask failed!",
        "gpu.driver_nvlink",
        Remedy.RESET,
    ),
    "gpud pci_power_insufficient": (
        f"{MLX5}mlx5_pcie_event:299:(pid 26): Detected insufficient power on the PCIe slot (27W).",
        "hca.slot_power",
        Remedy.RECORD,
    ),
    "gpud port_module_high_temperature": (
        f"{MLX5}Port module event[error]: module 0, Cable error, High Temperature",
        "hca.hot",
        Remedy.RECORD,
    ),
    "gpud access_reg_failed": (
        f"{MLX5}mlx5_cmd_out_err:838:(pid 12): ACCESS_REG(0x805) op_mod(0x1) failed, status bad operation(0x2)",
        "hca.access_failed",
        Remedy.WATCH,
    ),
    "gpud nccl_segfault_in_libnccl": (
        "pt_main[25]: segfault at 7f797fe0 ip 00007f7c sp 00007f7c error 4 in libnccl.so.2[7f7c7ac0+d3d3000]",
        "kernel.segfault",
        Remedy.RECORD,
    ),
    "gpud peermem_invalid_context": (
        "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
        "kernel.peermem",
        Remedy.RECORD,
    ),
    "gpud cpu_blocked_too_long": (
        "INFO: task python:12345 blocked for more than 120 seconds.",
        "kernel.hung_task",
        Remedy.WATCH,
    ),
    "gpud cpu_soft_lockup": (
        "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python:1234]",
        "kernel.soft_lockup",
        Remedy.WATCH,
    ),
    "NVSentinel mlx5 NAPI soft lockup": (
        "watchdog: BUG: soft lockup - CPU#12 stuck for 226906s! [ksoftirqd/12:80]",
        "kernel.lasting_lockup",
        Remedy.REBOOT,
    ),
    "gpud raid_array_failure": (
        "md/raid0:md0: Disk failure on nvme0n1p1 detected, failing array.",
        "disk.array",
        Remedy.TRIAGE,
    ),
    "gpud filesystem_read_only": ("EXT4-fs (md0): Remounting filesystem read-only", "fs.errors", Remedy.REBOOT),
    "gpud nvme_path_failure": ("block nvme0n1: no available path - failing I/O", "disk.gone", Remedy.REBOOT),
    "gpud nvme_controller_timeout": (
        "nvme nvme4: I/O tag 22 (2016) opcode 0x2 (Admin Cmd) QID 0 timeout, reset controller",
        "disk.resets",
        Remedy.WATCH,
    ),
    "gpud nvme_device_disabled": (
        "nvme nvme4: Disabling device after reset failure: -19",
        "disk.gone",
        Remedy.REBOOT,
    ),
    "gpud beyond_end_of_device": (
        "kworker/u203:1: attempt to access beyond end of device",
        "fs.beyond",
        Remedy.WATCH,
    ),
    "gpud buffer_io_error": ("Buffer I/O error on dev dm-0, logical block 130, lost", "disk.io", Remedy.WATCH),
    "gpud superblock_write_error": (
        "EXT4-fs (dm-0): I/O error while writing superblock",
        "fs.logged",
        Remedy.WATCH,
    ),
    "gpud oom": (
        "Memory cgroup out of memory: Killed process 34059 (python3) total-vm:101268kB",
        "kernel.out_of_memory",
        Remedy.RECORD,
    ),
    "gpud nfs_server_not_responding": (
        "nfs: server 10.0.0.1 not responding, timed out",
        "fs.server",
        Remedy.RECORD,
    ),
    "gpud nfs_lock_reclaim_failed": (
        "nfs4_reclaim_open_state: Lock reclaim failed!",
        "fs.locks",
        Remedy.WATCH,
    ),
    "gpud vfs_file_max_limit_reached": (
        "VFS: file-max limit 1000000 reached",
        "kernel.out_of_files",
        Remedy.WATCH,
    ),
    "gpud kernel_panic": ("Kernel panic - not syncing: Fatal exception", "kernel.oops", Remedy.REBOOT),
    "NVSentinel GPU reset required": (
        "NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062)",
        "gpu.driver_stuck",
        Remedy.RESET,
    ),
    "NVSentinel mlx5 command timeout": (
        f"{MLX5}wait_func:1132:(pid 14): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource",
        "hca.stopped",
        Remedy.REBOOT,
    ),
    "NVSentinel NIC transmit timeout": (
        "mlx5_core 0000:5c:00.0 ens1f0: TX timeout detected",
        "hca.queue_timeout",
        Remedy.WATCH,
    ),
}
"""Their rule: a line that it looks for, what we call it, and what follows."""

LEFT_OUT = {
    "gpud oom_kill_constraint": (
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=a,mems_allowed=0,task=python,pid=1,uid=0",
        "the line that names the process that was ended tells the same",
    ),
    "gpud oom_killer": (
        "python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
        "the line that names the process that was ended tells the same",
    ),
    "gpud nfs_server_ok": ("nfs: server 10.0.0.1 OK", "that a server is back is no fault"),
    "gpud nfs_writeback_hang": (
        " nfs_wb_all+0x2c/0x190 [nfs]",
        "a frame of a stack: the task that hangs, or the lockup, is told by a line of its own",
    ),
}
"""Their rule: a line that it looks for, and why we do not."""


@pytest.mark.parametrize("rule", FOUND)
def test_what_others_look_for_is_found(rule: str) -> None:
    """With what follows here."""
    line, code, remedy = FOUND[rule]
    assert [(each.code, each.remedy) for each in read([Line("gpu-01", line)], NOW)] == [(code, remedy)]


@pytest.mark.parametrize("rule", LEFT_OUT)
def test_what_is_left_out_has_its_reason(rule: str) -> None:
    """And is really left out: a row that is found by now belongs into the other table."""
    line, why = LEFT_OUT[rule]
    assert read([Line("gpu-01", line)], NOW) == ()
    assert len(why) > 10
