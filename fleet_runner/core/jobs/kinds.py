"""What each kind of fault can be in a job's death: one table over all codes of checks and signals.

HARDWARE is the node itself, its kernel and its drivers too: whoever starts the job again leaves the node out.
NVLink is of the node, FABRIC is the network between nodes. A fault that is found is not yet one that ends jobs:
what only warns, drifts, slows or was corrected is CONTEXT. Of many kinds it is the remedy that tells: where no more
than RECORD or WATCH follows, `mild` holds.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.xid import XIDS, row
from fleet_runner.core.jobs.event import Area, Role


class Kind(NamedTuple):
    """Whose doing a fault is, and what it can be; `mild` where its remedy is RECORD or WATCH, None: the same."""

    area: Area
    role: Role
    mild: Role | None = None

    def of(self, remedy: Remedy) -> Role:
        """Return what it can be where a remedy follows."""
        return self.mild if self.mild is not None and remedy in MILD else self.role


MILD = frozenset({Remedy.RECORD, Remedy.WATCH})

_NODE = Kind(Area.HARDWARE, Role.CAUSE)
_NODE_IF_HARD = Kind(Area.HARDWARE, Role.CAUSE, Role.CONTEXT)
_NODE_CONTEXT = Kind(Area.HARDWARE, Role.CONTEXT)
_FABRIC = Kind(Area.FABRIC, Role.CAUSE)
_FABRIC_IF_HARD = Kind(Area.FABRIC, Role.CAUSE, Role.CONTEXT)
_FABRIC_CONTEXT = Kind(Area.FABRIC, Role.CONTEXT)
_STORAGE = Kind(Area.STORAGE, Role.CAUSE)
_STORAGE_IF_HARD = Kind(Area.STORAGE, Role.CAUSE, Role.CONTEXT)
_STORAGE_CONTEXT = Kind(Area.STORAGE, Role.CONTEXT)
_STORAGE_SYMPTOM = Kind(Area.STORAGE, Role.SYMPTOM)
_SOFTWARE = Kind(Area.SOFTWARE, Role.CAUSE)
_SOFTWARE_SYMPTOM = Kind(Area.SOFTWARE, Role.SYMPTOM)
_SOFTWARE_CONTEXT = Kind(Area.SOFTWARE, Role.CONTEXT)

STRANGE = Kind(Area.UNKNOWN, Role.CAUSE, Role.CONTEXT)
"""Of what no row knows: somebody's own signals, alerts, a BMC's messages. A remedy says that they thought it bad."""

_XIDS: tuple[tuple[Kind, tuple[int, ...]], ...] = (
    # The application's own: it is ended by them, and the node serves on.
    (_SOFTWARE, (8, 11, 13, 25, 31, 32, 37, 38, 39, 40, 41, 44, 60, 66, 67, 68, 69, 70, 71, 72, 75, 76, 77, 82, 83,
                 84, 85, 86, 88, 89, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 126, 127, 128, 129, 130, 131, 132,
                 133, 134, 135, 139, 141, 142, 152, 153)),
    # A channel that is cleaned up after something else: the end of a process, mostly.
    (_SOFTWARE_SYMPTOM, (43, 45, 137)),
    (_NODE, (46, 48, 54, 62, 64, 79, 94, 95, 109, 110, 119, 120, 140, 143, 151, 158, 167, 169)),
    # Links: what a line's bits or its NVSwitch call fatal asks for more than a look.
    (_NODE_IF_HARD, (74, 136, 144, 145, 146, 147, 148, 149, 150, 155, 159, 166)),
    # The driver's own advice after another error.
    (Kind(Area.HARDWARE, Role.SYMPTOM, Role.CONTEXT), (154,)),
    (Kind(Area.UNKNOWN, Role.CAUSE), (80,)),  # a checksum: of the bus, the memory or the program
    # Corrected, retired for the next reset, or said of another Xid.
    (_NODE_CONTEXT, (63, 92, 93, 121, 156, 157, 160, 161, 162, 163, 164, 165, 168, 170, 171, 172)),
    (_SOFTWARE_CONTEXT, (78, 106, 107)),
)  # fmt: skip

_ROWS: tuple[tuple[Kind, str], ...] = (
    # GPUs.
    (_NODE, """
        gpu.lost gpu.missing gpu.driver_stuck gpu.driver_no_start gpu.driver_nvlink gpu.uncorrectable
        gpu.remap_failed gpu.unrepairable gpu.ras gpu.sram_threshold gpu.sram_errors reset.gpu_lost
    """),
    (_NODE_IF_HARD, """
        gpu.recovery gpu.fabric_state gpu.fabric_status gpu.fabric_health nvlink.down nvlink.failing xgmi.down
        fabric_manager.down fabric_manager.nvswitch_fatal fabric_manager.no_nvswitch sxid.*
        nvlink.tray nvlink.connector nvlink.port
    """),
    (_NODE_CONTEXT, """
        gpu.power_brake gpu.hw_slowdown gpu.hw_thermal_slowdown gpu.sw_thermal_slowdown gpu.clock_max_*
        gpu.application_clocks gpu.slow_clock gpu.power_cap gpu.remap_pending gpu.retirement_pending
        gpu.repair_pending gpu.driver_mismatch gpu.no_address gpu.fabric_recovering gpu.fabric_apart
        gpu.fabric_cluster gpu.pcie_width gpu.nic_affinity
        gpu.pcie_generation_max gpu.pcie_generation gpu.pcie_replays gpu.pcie_rollovers gpu.power_limit
        gpu.power_default gpu.module_limit gpu.retired_pages gpu.remapped_rows gpu.no_spare_rows gpu.worn
        gpu.sram_sources gpu.driver gpu.cuda gpu.vbios gpu.vbios_mixed gpu.inforom_image gpu.inforom
        gpu.gsp_firmware gpu.ecc gpu.ecc_pending gpu.persistence gpu.mig gpu.compute_mode gpu.addressing_mode
        gpu.compute_partition gpu.memory_partition gpu.bad_pages gpu.bad_pages_kept xgmi.slow
        gpu.confidential_compute gpu.thermal_slowdown gpu.hot gpu.memory_hot gpu.model gpu.surplus gpu.serial
        nvlink.slow nvlink.errors nvlink.crc fabric_manager.starting fabric_manager.restarts
        fabric_manager.version fabric_manager.topology fabric_manager.nvswitch_error fabric_manager.multicast
        fabric_manager.log_error reset.failed reset.not_enough reset.service_down
    """),
    (_SOFTWARE_CONTEXT, "gpu.memory_held"),
    # AMD's. The driver resets a GPU for a program that hangs, too; its counts of errors are those since the boot.
    (_NODE, "amdgpu.lost amdgpu.reset_failed amdgpu.poison"),
    (Kind(Area.HARDWARE, Role.SYMPTOM), "amdgpu.uncorrected"),
    (Kind(Area.UNKNOWN, Role.SYMPTOM), "amdgpu.ring_timeout amdgpu.reset amdgpu.scheduler"),
    (_NODE_CONTEXT, "amdgpu.no_start amdgpu.bad_pages"),
    # Tests of a node: they say what it is worth, not when something happened. What computes wrongly can end a job.
    (_NODE, """
        gpu_burn.faulty gpu_bandwidth.wrong gemm.wrong gemm.unsteady training.corrupt training.unsteady
        cpu_stress.wrong
    """),
    (_NODE_IF_HARD, "dcgm.memory dcgm.memtest dcgm.eud dcgm.cpu_eud dcgm.context_create"),
    (_NODE_CONTEXT, """
        dcgm.diagnostic dcgm.sm_stress dcgm.targeted_stress dcgm.targeted_power dcgm.pulse_test
        dcgm.memory_bandwidth dcgm.pcie dcgm.nvbandwidth dcgm.nccl_tests dcgm.page_retirement_row_remap
        dcgm.inforom dcgm.software dcgm.denylist dcgm.nvml_library dcgm.cuda_main_library
        dcgm.permissions_and_os_blocks dcgm.persistence_mode dcgm.environment_variables dcgm.graphics_processes
        dcgm.other rvs.slow rvs.copy rvs.power gpu_burn.died gpu_burn.slow gpu_burn.missing gemm.slow
        gpu_bandwidth.host_to_device gpu_bandwidth.device_to_host gpu_bandwidth.device_to_device
        gpu_bandwidth.local_copy gpu_bandwidth.behind training.disagreement training.slow cpu_stress.slow
        memory_bandwidth.low nccl_allreduce.wrong nccl_allreduce.slow allreduce.wrong allreduce.slow burn_in.rebooted
    """),
    (_FABRIC_CONTEXT, "ib_write.slow ib_write.late ib_write_pair.slow network_speed.slow network_speed.retransmits"),
    (_STORAGE_CONTEXT, "disk_speed.error disk_speed.slow"),
    # Memory, processors, the bus, the kernel.
    (_NODE, """
        memory.uncorrected memory.lost memory.poisoned cpu.machine_check platform.fatal pcie.fatal
        pcie.unplugged pcie.missing kernel.oops kernel.crashed kernel.died kernel.hard_lockup
        kernel.lasting_lockup node.rebooted
    """),
    (_NODE_CONTEXT, """
        memory.corrected cpu.hot cpu.logged cpu.sockets cpu.cores cpu.model cpu.offline cpu.threads
        cpu.numa_nodes cpu.microcode platform.recoverable platform.corrected pcie.width pcie.speed pcie.nonfatal
        pcie.corrected pcie.acs pcie.request pcie.payload pcie.ordering dimm.missing dimm.size dimm.model
        dimm.slow dimm.speed dimm.unused dimm.surplus dimm.serial kernel.release kernel.system kernel.bios_date
        kernel.driver kernel.module_missing kernel.module_forbidden kernel.cmdline kernel.library kernel.setting
        kernel.iommu kernel.machine_check kernel.soft_lockup kernel.stall bios.setting boot.setting firmware.drift
        firmware.failed identity.serial identity.mac time.unsynchronised time.offset service.down service.failed
        service.restarts node.not_rebooted cloud_init.error cloud_init.disabled cloud_init.degraded boot.no_dhcp
        boot.no_script boot.no_kernel boot.no_cloud_init boot.no_phone_home boot.no_ssh boot.off boot.identity
    """),
    (_SOFTWARE, "kernel.out_of_memory kernel.out_of_files kernel.segfault"),
    (_SOFTWARE_SYMPTOM, "kernel.peermem"),
    (_SOFTWARE_CONTEXT, "process.zombies process.left process.load process.files"),
    # What the BMC says. A supply or a fan of several is no end of anything; a part that it calls Critical is.
    (_NODE, "sel.memory_uncorrectable sel.cpu sel.thermal_trip sel.pcie_fatal voltage.out leak.detected"),
    (_NODE_IF_HARD, "health.cpu health.dimm health.module"),
    (_NODE_CONTEXT, """
        health.whole health.clock psu.missing psu.faulty psu.no_input power.redundancy_lost power.capped sel.bmc
        sel.memory_correctable sel.power sel.fan sel.sensor sel.boot sel.intrusion sel.critical sel.warning
        sel.full sensor.hot sensor.warm sensor.inlet fan.failed fan.missing fan.slow voltage.near leak.suspected
        leak.policy
    """),
    # Adapters, ports, cables, switches. A link that flaps and comes back ends no job, unless it has to be looked at.
    (_FABRIC, """
        hca.firmware_failed hca.stopped hca.missing hca.command_timeout nic.missing nic.down ib.port_down
        cabling.missing cabling.dark cabling.carrier cabling.link_down cabling.one_end_down fabric.link_down
        fabric.node_down fabric.switch_down fabric.isolated
    """),
    (_FABRIC_IF_HARD, """
        hca.queue_timeout nic.queue_timeout link.flaps cabling.link_flaps fabric.link_flaps nvlink.switch_tray
        nvlink.switch_ports
    """),
    (_FABRIC_CONTEXT, """
        hca.access_failed hca.hot hca.module hca.slot_power hca.firmware hca.guid nic.slow nic.half_duplex
        nic.mtu nic.bond_member nic.lacp nic.errors nic.carrier_changes ib.link_layer ib.port_slow
        ib.symbol_errors ib.link_downed ib.errors optics.temperature optics.rx_power optics.tx_power
        cabling.extra cabling.moved cabling.wrong_switch cabling.moved_and_missing cabling.occupied cabling.swap
        cabling.wrong_rail cabling.rotation cabling.shifted cabling.unplanned cabling.exchanged
        cabling.replaced_hca cabling.replaced_switch cabling.degraded cabling.suspect cabling.symbol_errors
        fabric.symbol_errors fabric.bit_errors roce.mtu roce.pfc roce.dcbx roce.trust roce.dscp roce.ecn roce.fec
        roce.symbol_errors roce.raw_errors roce.lossless_drops roce.drops roce.oversize roce.pause_storm
        roce.paused roce.switch_setting roce.switch_drops roce.ends roce.watchdog roce.suspect paths.slow paths.none
        nvlink.cluster nvlink.partition nvlink.driver imex.inactive imex.config imex.missing imex.not_ready
        imex.version
    """),
    # Disks, file systems, file servers.
    (_STORAGE, """
        disk.failing disk.degraded disk.read_only disk.gone disk.io disk.medium nvme.dead nvme.missing
        fs.missing fs.read_only fs.errors fs.locks fs.server fs.evicted sel.drive
    """),
    (_STORAGE_IF_HARD, "health.storage"),
    (_STORAGE_SYMPTOM, "kernel.hung_task process.hung"),
    (_STORAGE_CONTEXT, """
        disk.backup disk.spare disk.hot disk.worn_out disk.worn disk.media_errors disk.reallocated
        disk.unsafe_shutdowns disk.implausible disk.resets disk.array nvme.model nvme.size nvme.firmware
        nvme.surplus nvme.serial fs.logged fs.beyond fs.full wipe.model wipe.serial wipe.too_many wipe.hurdle
        wipe.stuck wipe.failed wipe.no_method wipe.missing wipe.left
    """),
    # What was foreseen has not happened.
    (Kind(Area.UNKNOWN, Role.CONTEXT), "foresight.*"),
)  # fmt: skip

KINDS: Mapping[str, Kind] = MappingProxyType(
    {code: kind for kind, codes in _ROWS for code in codes.split()}
    | {f"xid.{number}": kind for kind, numbers in _XIDS for number in numbers}
)
"""Every code, and the globs over those that checks declare as globs."""

_GLOBS = {code: kind for code, kind in KINDS.items() if "*" in code}

MEANINGS: Mapping[str, str] = MappingProxyType({
    "fabric.link_down": "a link went down",
    "fabric.node_down": "the fabric lost a node",
    "fabric.switch_down": "a switch went down",
    "fabric.isolated": "the fabric's manager isolated it",
    "fabric.symbol_errors": "symbol errors on a link",
    "fabric.bit_errors": "a link makes more bit errors than it should",
    "fabric.link_flaps": "a link goes down and comes back",
    "node.rebooted": "it booted, and nobody here had asked for that",
})  # fmt: skip
"""What codes mean that no check declares."""


def kind(code: str) -> Kind:
    """Return what a code can be."""
    known = KINDS.get(code)
    return known or next((each for glob, each in _GLOBS.items() if fnmatchcase(code, glob)), STRANGE)


def meaning(code: str) -> str:
    """Return what a code means, in words of ours alone."""
    family, _, rest = code.partition(".")
    if family == "xid" and rest.isascii() and rest.isdigit() and int(rest) in XIDS:
        return f"Xid {rest}, {row(int(rest)).meaning}"
    declared = _declared()
    glob = next((each for each in declared if "*" in each and fnmatchcase(code, each)), "")
    return MEANINGS.get(code) or declared.get(code) or declared.get(glob) or "a signal whose kind is not ours"


@cache
def _declared() -> Mapping[str, str]:
    return {each.code: each.meaning for check in CHECKS.values() for each in check.codes}
