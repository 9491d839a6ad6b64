"""What is followed from day to day: every number that checks observe of a part and that can go bad slowly.

A row names a metric, the check, and where its number lies in what the check observed: names with dots between them,
"*" where the name is the part's, "+" where all that is there is added up. What a check counts only since a boot or a
load of a driver is a counter: of it the growth of a day is kept.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, NamedTuple

from fleet_runner.core.checks.parsers.gemm import TYPES
from fleet_runner.core.checks.parsers.json_text import LARGEST


class Kind(StrEnum):
    """How the numbers of a day become one."""

    GAUGE = "gauge"  # what it is at a look: the median counts
    COUNTER = "counter"  # how often something has happened: how much it grew counts
    MEASURED = "measured"  # what an active test came to: the median counts, and few there are


Worse = Literal["high", "low", "both"]


class Metric(NamedTuple):
    """One number that is followed.

    `worse` is the way that is bad. `least` is the smallest change that matters to anybody, in the unit: what is
    smaller is true and not worth a word. `mark` is the key of the profile that it is held against, "" where there is
    none. `part` is the kind of part that it is told of (`core.reliability.parts.stay`); `meaning` says in a clause
    what it is.
    """

    name: str
    check: str
    observed: str
    unit: str
    kind: Kind
    worse: Worse
    least: float
    part: str
    meaning: str
    mark: str = ""


UNITS: Mapping[str, tuple[float, float]] = MappingProxyType({
    "celsius": (-60.0, 250.0),
    "celsius to its limit": (-150.0, 250.0),
    "watts": (0.0, 1e6),
    "volts": (-500.0, 1e3),
    "dBm": (-60.0, 20.0),
    "MHz": (0.0, 1e5),
    "seconds": (-1e9, 1e9),
    "microseconds": (0.0, LARGEST),
    "percent": (0.0, 1e3),
    "share": (0.0, 1.0),
    "count": (0.0, LARGEST),
    "GB/s": (0.0, 1e5),
    "Gb/s": (0.0, 1e6),
    "GiB": (0.0, 1e7),
    "KiB": (0.0, LARGEST),
    "GFLOP/s": (0.0, 1e8),
    "TFLOP/s": (0.0, 1e5),
    "1/s": (0.0, 1e12),
    "milliseconds": (0.0, 1e6),
    "rpm or percent": (0.0, 1e6),
})  # fmt: skip
"""Between which a number of each unit can be. What lies outside is another unit, or nothing that was measured."""

PREFIXES: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "gpu": ("GPU ",),
    "nvme": ("NVMe ", "disk "),
    "dimm": ("DIMM ", "memory controller "),
})  # fmt: skip
"""How findings begin to name a part of a kind, the usual way first; a name that begins so has it already."""

GAUGE, COUNTER, MEASURED = Kind.GAUGE, Kind.COUNTER, Kind.MEASURED
GPU, NODE, PORT, NIC, OPTIC, NVME, DIMM, PSU, SENSOR, PLACE = (
    "gpu", "node", "hca", "nic", "optic", "nvme", "dimm", "psu", "sensor", "place",
)  # fmt: skip


def component(part: str, key: str) -> str:
    """Return how findings name a part by the name that a check has for it: "GPU 0000:1b:00.0"."""
    known = PREFIXES.get(part, ("",))
    return key if key.startswith(known) else known[0] + key


_GPUS: tuple[Metric, ...] = (
    Metric("gpu_margin", "gpu_thermals", "margin_celsius.*", "celsius to its limit", GAUGE, "low", 3, GPU,
           "how far a GPU is from the temperature at which it slows down", "limits.gpu_tlimit_margin_celsius"),
    Metric("gpu_memory_margin", "gpu_thermals", "memory_margin_celsius.*", "celsius to its limit", GAUGE, "low", 3,
           GPU, "how far a GPU's memory is from it", "limits.gpu_tlimit_margin_celsius"),
    Metric("gpu_core", "gpu_thermals", "core_celsius.*", "celsius", GAUGE, "high", 3, GPU, "how warm a GPU is"),
    Metric("gpu_watts", "gpu_power", "gpus.*.watts", "watts", GAUGE, "both", 40, GPU, "what a GPU draws"),
    Metric("gpu_power_limit", "gpu_power", "gpus.*.limit_watts", "watts", GAUGE, "low", 5, GPU,
           "what a GPU may draw", "gpu_power.limit_watts"),
    Metric("gpu_sm_clock", "gpu_clocks", "gpus.*.mhz.sm", "MHz", GAUGE, "low", 60, GPU, "the clock of a GPU's cores"),
    Metric("gpu_graphics_clock", "gpu_clocks", "gpus.*.mhz.graphics", "MHz", GAUGE, "low", 60, GPU,
           "a GPU's graphics clock"),
    Metric("gpu_memory_clock", "gpu_clocks", "gpus.*.mhz.mem", "MHz", GAUGE, "low", 60, GPU,
           "the clock of a GPU's memory"),
    *(
        Metric(f"gpu_{name}", "gpu_clocks", f"gpus.*.slowed_us.{reason}", "microseconds", COUNTER, "high", 6e7, GPU,
               f"for how long {what} slowed a GPU in a day")
        for name, reason, what in (
            ("slowed_by_heat", "hw_thermal_slowdown", "its own heat protection"),
            ("slowed_by_brake", "hw_power_brake_slowdown", "the power supply's brake"),
            ("slowed_by_driver", "sw_thermal_slowdown", "the driver, for heat,"),
            ("slowed_by_cap", "sw_power_cap", "its power limit"),
        )
    ),
    Metric("gpu_uncorrectable", "gpu_errors", "gpus.*.uncorrectable", "count", COUNTER, "high", 1, GPU,
           "memory errors of a GPU in a day that could not be corrected"),
    Metric("gpu_retired_pages", "gpu_retired", "gpus.*.retired", "count", GAUGE, "high", 1, GPU,
           "memory pages that a GPU has given up", "gpu_retired.retired_pages_max"),
    Metric("gpu_remapped_corrected", "gpu_retired", "gpus.*.corrected", "count", GAUGE, "high", 1, GPU,
           "memory rows remapped after errors that were corrected"),
    Metric("gpu_remapped_uncorrected", "gpu_retired", "gpus.*.uncorrected", "count", GAUGE, "high", 1, GPU,
           "memory rows remapped after errors that were not", "gpu_retired.remapped_uncorrectable_max"),
    Metric("gpu_banks_without_spares", "gpu_retired", "gpus.*.banks.none", "count", GAUGE, "high", 1, GPU,
           "memory banks of a GPU without a spare row"),
    Metric("gpu_sram_errors", "gpu_retired", "gpus.*.sram_sources.+", "count", GAUGE, "high", 1, GPU,
           "errors of a GPU's SRAM over its life"),
    Metric("gpu_pcie_replays", "gpu_pcie", "gpus.*.replays", "count", COUNTER, "high", 100, GPU,
           "PCIe packets of a GPU that were sent again in a day"),
    Metric("gpu_pcie_rollovers", "gpu_pcie", "gpus.*.rollovers", "count", COUNTER, "high", 1, GPU,
           "how often a GPU's PCIe link gave up sending again in a day"),
    Metric("gpu_pcie_width", "gpu_pcie", "gpus.*.width", "count", GAUGE, "low", 1, GPU,
           "the lanes of a GPU's PCIe link", "pcie.gpu.width"),
    Metric("nvlinks_up", "nvlink", "links.*", "count", GAUGE, "low", 1, GPU, "NVLinks of a GPU that are up",
           "nvlink.links"),
    *(
        Metric(f"nvlink_{name}", "nvlink", f"errors.*.+.{counter}", "count", COUNTER, "high", least, GPU,
               f"{counter} of all NVLinks of a GPU in a day")
        for name, counter, least in (
            ("replays", "Replay Errors", 10),
            ("recoveries", "Recovery Errors", 5),
            ("crc", "CRC Errors", 100),
            ("crc_flits", "CRC Flit Errors", 100),
            ("crc_data", "CRC Data Errors", 100),
            ("symbols", "Symbol Errors", 100),
            ("effective", "Effective Errors", 10),
            ("recovered", "Link recovery successful events", 5),
        )
    ),
)  # fmt: skip

_NETWORK: tuple[Metric, ...] = (
    *(
        Metric(f"port_{counter}", "ib_ports", f"counts.*.{counter}", "count", COUNTER, "high", least, PORT,
               f"{counter} of a port in a day")
        for counter, least in (
            ("symbol_error", 100),
            ("link_downed", 1),
            ("link_error_recovery", 3),
            ("port_rcv_errors", 10),
            ("local_link_integrity_errors", 10),
            ("port_rcv_remote_physical_errors", 100),
            ("out_of_sequence", 1000),
            ("packet_seq_err", 1000),
            ("local_ack_timeout_err", 100),
        )
    ),
    Metric("link_losses", "link_flaps", "losses.*", "count", GAUGE, "high", 1, NIC,
           "how often an interface lost its carrier within a day"),
    *(
        Metric(f"nic_{counter}", "nic_ports", f"counts.*.{counter}", "count", COUNTER, "high", least, NIC,
               f"{counter} of an interface in a day")
        for counter, least in (("rx_errors", 100), ("tx_errors", 100), ("rx_crc_errors", 10),
                               ("rx_missed_errors", 1000), ("carrier_changes", 2))
    ),
    Metric("optic_temperature", "optics", "modules.*.celsius", "celsius", GAUGE, "high", 3, OPTIC,
           "how warm a module is", "optics.celsius_max"),
    Metric("optic_received", "optics", "modules.*.rx_dbm", "dBm", GAUGE, "low", 0.5, OPTIC,
           "the light that a module receives, on its darkest lane"),
    Metric("optic_sent", "optics", "modules.*.tx_dbm", "dBm", GAUGE, "low", 0.5, OPTIC,
           "the light that a module sends, on its darkest lane"),
)  # fmt: skip

_SERVER: tuple[Metric, ...] = (
    Metric("disk_used", "disk_health", "used_percent.*", "percent", GAUGE, "high", 1, NVME,
           "how much of its endurance a disk has used", "disk_health.used_percent_max"),
    Metric("disk_temperature", "disk_health", "celsius.*", "celsius", GAUGE, "high", 3, NVME, "how warm a disk is",
           "disk_health.celsius_max"),
    Metric("disk_spare", "disk_health", "counted.*.spare_percent", "percent", GAUGE, "low", 1, NVME,
           "how many spare blocks a disk has left"),
    Metric("disk_media_errors", "disk_health", "counted.*.media_errors", "count", COUNTER, "high", 1, NVME,
           "media errors of a disk in a day"),
    Metric("disk_reallocated", "disk_health", "counted.*.reallocated", "count", COUNTER, "high", 1, NVME,
           "sectors that a disk reallocated in a day"),
    Metric("disk_unsafe_shutdowns", "disk_health", "counted.*.unsafe_shutdowns", "count", COUNTER, "high", 1, NVME,
           "how often a disk lost its power without warning in a day"),
    Metric("dimm_corrected", "memory_errors", "by_module.*.corrected", "count", COUNTER, "high", 10, DIMM,
           "errors that a memory module corrected in a day", "memory_errors.corrected_per_day_max"),
    Metric("dimm_uncorrected", "memory_errors", "by_module.*.uncorrected", "count", COUNTER, "high", 1, DIMM,
           "errors of a memory module in a day that could not be corrected"),
    Metric("memory_poisoned", "memory_errors", "poisoned_kib", "KiB", GAUGE, "high", 4, NODE,
           "memory that the kernel has given up", "memory_errors.poisoned_kib_max"),
    Metric("memory_usable", "parts_dimm", "usable_gib", "GiB", GAUGE, "low", 1, NODE, "memory that the kernel uses"),
    *(
        Metric(f"pcie_{kind}", "pcie_devices", f"errors.*.{kind}", "count", COUNTER, "high", least, PLACE,
               f"{kind} PCIe errors of a device in a day")
        for kind, least in (("correctable", 100), ("nonfatal", 1), ("fatal", 1))
    ),
    Metric("supply_input", "power_supplies", "input_volts.*", "volts", GAUGE, "low", 5, PSU,
           "the voltage at a power supply's input"),
    Metric("drawn", "power_redundancy", "drawn_watts.*", "watts", GAUGE, "both", 200, PLACE, "what a chassis draws"),
    Metric("temperature", "sensors", "celsius.*", "celsius", GAUGE, "high", 3, SENSOR,
           "what a temperature sensor of the server reads"),
    Metric("fan_speed", "sensors", "turns.*", "rpm or percent", GAUGE, "both", 500, SENSOR, "how fast a fan turns"),
    Metric("voltage", "sensors", "volts.*", "volts", GAUGE, "both", 0.05, SENSOR,
           "what a voltage sensor of the server reads"),
    Metric("event_log", "sel", "bad", "count", GAUGE, "high", 3, NODE, "warnings in the server's event logs"),
    Metric("clock_offset", "time_sync", "offset_seconds", "seconds", GAUGE, "both", 0.001, NODE,
           "how far the node's clock is off", "time_sync.offset_seconds_max"),
    Metric("clock_bound", "time_sync", "bound_seconds", "seconds", GAUGE, "high", 0.01, NODE,
           "how far the node's clock may be off"),
    Metric("bmc_clock_offset", "chassis_health", "clock_seconds_off.*", "seconds", GAUGE, "both", 30, PLACE,
           "how far the clock of a BMC is off", "chassis_health.clock_seconds_max"),
    Metric("file_system_free", "file_systems", "free.*", "share", GAUGE, "low", 0.02, PLACE,
           "how much of a file system is free", "file_systems.free_share_min"),
    Metric("zombies", "processes", "zombies", "count", GAUGE, "high", 5, NODE, "processes that ended unnoticed",
           "processes.zombies_max"),
    Metric("processes", "processes", "processes", "count", GAUGE, "high", 200, NODE, "processes on the node"),
)  # fmt: skip

_TESTS: tuple[Metric, ...] = (
    *(
        Metric(f"copy_{way}", "gpu_bandwidth", f"gpus.*.{way}", "GB/s", MEASURED, "low", 1, GPU,
               f"how fast a GPU copies ({way.replace('_', ' ')})", f"active.gpu_bandwidth.{way}_gbps_min")
        for way in ("host_to_device", "device_to_host", "device_to_device", "local_copy")
    ),
    *(
        Metric(f"multiplies_{name}", "gemm", f"devices.*.{name}_tflops", "TFLOP/s", MEASURED, "low", 1, GPU,
               f"how fast a GPU multiplies in {name}", f"active.gemm.{name}_tflops_min")
        for name in TYPES
    ),
    Metric("burn", "gpu_burn", "by_gpu.*.gflops", "GFLOP/s", MEASURED, "low", 200, GPU,
           "how fast a GPU computes under hours of load", "burn_in.gpu_gflops_min"),
    Metric("burn_temperature", "gpu_burn", "by_gpu.*.celsius", "celsius", MEASURED, "high", 3, GPU,
           "how warm a GPU is under hours of load"),
    Metric("training", "training", "devices.*.tokens_per_second", "1/s", MEASURED, "low", 1000, GPU,
           "tokens a second that a GPU trains on", "active.training.tokens_per_second_min"),
    Metric("nccl_allreduce", "nccl_allreduce", "bus_gbps", "GB/s", MEASURED, "low", 5, NODE,
           "the bus bandwidth at which a node's GPUs reduce", "active.nccl_allreduce.bus_gbps_min"),
    *(
        Metric(f"allreduce_{name}", "allreduce", f"{name}_bus_gbps", "GB/s", MEASURED, "low", 5, NODE,
               f"the bus bandwidth at which nodes reduce together ({name})", f"active.allreduce.{name}_bus_gbps_min")
        for name in ("nccl", "gloo")
    ),
    Metric("rail_write", "ib_write", "rails.*.gbitps", "Gb/s", MEASURED, "low", 5, PORT,
           "how fast a rail writes to its neighbour", "active.ib_write.write_gbitps_min"),
    Metric("pair_write", "ib_write_pair", "gbitps", "Gb/s", MEASURED, "low", 5, NODE,
           "how fast a node writes to another one", "active.ib_write_pair.write_gbitps_min"),
    Metric("rail_latency", "ib_write", "rails.*.latency_us", "microseconds", MEASURED, "high", 0.5, PORT,
           "how long a write over a rail takes", "active.ib_write.latency_us_max"),
    Metric("network_speed", "network_speed", "gbitps", "Gb/s", MEASURED, "low", 1, NODE,
           "how fast a node talks over its Ethernet", "active.network_speed.gbitps_min"),
    Metric("network_resent", "network_speed", "retransmit_share", "share", MEASURED, "high", 0.001, NODE,
           "how much of it had to be sent again", "active.network_speed.retransmit_share_max"),
    Metric("memory_bandwidth", "memory_bandwidth", "gbps", "GB/s", MEASURED, "low", 5, NODE,
           "how fast the node's processors read their memory", "active.memory_bandwidth.gbps_min"),
    Metric("cpu_stress", "cpu_stress", "bogo_ops_per_second.cpu", "1/s", MEASURED, "low", 100, NODE,
           "how fast the node's processors compute", "active.cpu_stress.cpu_bogo_ops_per_second_min"),
    Metric("disk_read", "disk_speed", "targets.*.read_gbps", "GB/s", MEASURED, "low", 0.2, PLACE,
           "how fast a target is read", "active.disk_speed.read_gbps_min"),
    Metric("disk_write", "disk_speed", "targets.*.write_gbps", "GB/s", MEASURED, "low", 0.2, PLACE,
           "how fast a target is written", "active.disk_speed.write_gbps_min"),
    Metric("disk_random_reads", "disk_speed", "targets.*.random_read_iops", "1/s", MEASURED, "low", 1000, PLACE,
           "how many random reads a second a target bears", "active.disk_speed.random_read_iops_min"),
    Metric("disk_read_late", "disk_speed", "targets.*.random_read_p99_ms", "milliseconds", MEASURED, "high", 0.2,
           PLACE, "how long the slowest hundredth of random reads takes", "active.disk_speed.random_read_p99_ms_max"),
)  # fmt: skip

METRICS: tuple[Metric, ...] = (*_GPUS, *_NETWORK, *_SERVER, *_TESTS)

BY_NAME: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in METRICS})
