"""The faults that can be put into a lab's node by name, and taken out again; twice is the same as once."""

from collections.abc import Callable, Mapping
from typing import Any

from fleet_runner.core.boot.boots import Milestone
from fleet_runner.lab import hardware, plan, plugging, sysfs, xids
from fleet_runner.lab.fault import Fault, Options
from fleet_runner.lab.folder import Lab, LabError
from fleet_runner.lab.rail_faults import RAIL_FAULTS
from fleet_runner.lab.roce_faults import ROCE_FAULTS
from fleet_runner.lab.tools.findmnt import DEVICE
from fleet_runner.lab.tools.node import witness
from fleet_runner.lab.tools.nvlink import LINKS
from fleet_runner.lab.tools.stand_in import TOOLS
from fleet_runner.lab.tools.systemctl import UNITS

ROW_REMAPPED = 63
"""The Xid of a row that is to be remapped."""

MILESTONES = tuple(map(str, Milestone))


def inject(lab: Lab, fault: str, node: str, options: Mapping[str, Any]) -> Options:
    """Put a fault into a node and return its options as they are in force; the same again changes nothing."""
    row = _row(fault)
    wanted = _options(fault, row, options)
    before = injected(lab, node).get(fault)
    if before == wanted:
        return wanted
    if before is not None and row.end is not None:
        row.end(lab, node, before)
    if row.begin is not None:
        row.begin(lab, node, wanted)
    with hardware.changing(lab, node) as state:
        state["faults"][fault] = wanted
    witness(str(lab.root), "inject", node, fault=fault, options=wanted)
    return wanted


def fix(lab: Lab, fault: str, node: str) -> bool:
    """Take a fault out of a node; say whether it was there."""
    row = _row(fault)
    with hardware.changing(lab, node) as state:
        before = state["faults"].pop(fault, None)
    if before is None:
        return False
    if row.end is not None:
        row.end(lab, node, before)
    witness(str(lab.root), "fix", node, fault=fault, options=before)
    return True


def injected(lab: Lab, node: str) -> dict[str, Options]:
    """Return the faults that a node has now."""
    faults: dict[str, Options] = hardware.state_of(lab, node)["faults"]
    return faults


def _logs(lines: Callable[[Options], tuple[str, ...]]) -> tuple[Callable[[Lab, str, Options], None], ...]:
    """Return what begins and ends a fault that the kernel logs, and no more."""

    def begin(lab: Lab, node: str, options: Options) -> None:
        hardware.log_kernel(lab, node, *lines(options))

    def end(lab: Lab, node: str, options: Options) -> None:
        gone = set(lines(options))
        with hardware.changing(lab, node) as state:
            state["kernel_log"] = [line for line in state["kernel_log"] if line[1] not in gone]

    return begin, end


def _xid(options: Options) -> tuple[str, ...]:
    return xids.lines(options.get("code", ROW_REMAPPED), options["gpu"])


def _downs(options: Options) -> tuple[str, ...]:
    bus, rail, times = plan.GPU_BUSES[options["rail"]].lower(), options["rail"], int(options["times"])
    return (f"mlx5_core 0000:{bus}:00.0 ib{rail}: Link down",) * times


def _aborted(_: Options) -> tuple[str, ...]:
    return (
        f"EXT4-fs error (device {DEVICE}): ext4_journal_check_start:83: comm kworker/u449: Detected aborted journal",
        f"EXT4-fs ({DEVICE}): Remounting filesystem read-only",
    )


def _uncorrected(options: Options) -> tuple[str, ...]:
    mc = sysfs.DIMMS[options["dimm"]].rpartition("/")[0].rpartition("mc")[2]
    return (f"EDAC MC{mc}: 1 UE memory read error on {options['dimm']} (page:0x3d3f5a offset:0x0 grain:32)",)


def _swap(lab: Lab, node: str, options: Options) -> None:
    plugging.swap(lab, *_rails(node, options))


def _unswap(lab: Lab, node: str, options: Options) -> None:
    plugging.restore(lab, _rails(node, options))


def _rails(node: str, options: Options) -> tuple[plugging.End, plugging.End]:
    return (node, f"ib{options['rail']}"), (options["with"] or node, f"ib{options['with_rail']}")


def _swap_uplinks(lab: Lab, node: str, options: Options) -> None:
    del node
    plugging.swap(lab, *_uplinks(options))


def _unswap_uplinks(lab: Lab, node: str, options: Options) -> None:
    del node
    plugging.restore(lab, _uplinks(options))


def _uplinks(options: Options) -> tuple[plugging.End, plugging.End]:
    first = str(plan.FIRST_UPLINK)
    return (plan.leaves()[options["rail"]], first), (plan.leaves()[options["with_rail"]], first)


FAULTS: dict[str, Fault] = {
    "swapped_cables": Fault(
        "Two rails are exchanged at the leaves: of one node, or with those of another (--with).",
        ("cabling_infiniband",),
        {"rail": 2, "with": "", "with_rail": 5},
        _swap,
        _unswap,
    ),
    "swapped_uplinks": Fault(
        "The first uplinks of two rails' leaves are exchanged at the spine.",
        ("fabric_cabling",),
        {"rail": 2, "with_rail": 5},
        _swap_uplinks,
        _unswap_uplinks,
    ),
    "exchanged_adapters": Fault(
        "The adapters of two rails are in each other's slots, each with its own cable.",
        ("gpu_nics",),
        {"rail": 1, "with_rail": 3},
    ),
    "slow_port": Fault("A rail's link trained at half of its speed.", ("cabling_infiniband",), {"rail": 0}),
    "noisy_cable": Fault("A rail's cable makes symbol errors at its leaf.", ("fabric_counters",), {"rail": 3}),
    "flapping_link": Fault(
        "A rail's link went down again and again (--times).",
        ("link_flaps",),
        {"rail": 4, "times": 4},
        *_logs(_downs),
    ),
    "dim_module": Fault("A lane of a rail's module receives too little light.", ("optics",), {"rail": 1}),
    "hot_module": Fault("A rail's module is too warm.", ("optics",), {"rail": 6}),
    **ROCE_FAULTS,
    "missing_gpu": Fault("One GPU is not found by the driver.", ("parts_gpu",), {"gpu": 5}),
    "other_gpu": Fault("One GPU is another than the source of truth says.", ("parts_gpu",), {"gpu": 5}),
    "xid": Fault(
        "The driver logs an Xid (--code) of one GPU; with 79 the GPU is gone until the next boot.",
        ("xid", "parts_gpu"),
        {"code": 79, "gpu": 3},
        *_logs(_xid),
    ),
    "row_remap": Fault(
        "A row of one GPU's memory waits for a reset to be remapped (Xid 63).",
        ("gpu_errors",),
        {"gpu": 2},
        *_logs(_xid),
    ),
    "service_down": Fault(
        "A service (--unit) has failed until it is started again, or until the next boot (--stays 1).",
        ("fabric_manager",),
        {"unit": UNITS[0], "stays": 0},
    ),
    "sram_errors": Fault("One GPU's SRAM made uncorrectable errors.", ("gpu_errors",), {"gpu": 7}),
    "narrow_pcie": Fault("One GPU's PCIe link has 8 of its 16 lanes.", ("gpu_pcie",), {"gpu": 0}),
    "nvlink_down": Fault(
        "One NVLink (--link) of one GPU is down until the next boot.", ("nvlink",), {"gpu": 4, "link": 11}
    ),
    "slow_gpu": Fault("One GPU reaches only a share of its arithmetic.", ("gpu_burn",), {"gpu": 6, "share": 0.78}),
    "bad_gpu": Fault("One GPU computes wrong results under load.", ("gpu_burn", "dcgm"), {"gpu": 4}),
    "hot_gpu": Fault("One GPU runs at its slowdown temperature.", ("gpu_thermals",), {"gpu": 1}),
    "dimm_errors": Fault(
        "EDAC counted an uncorrected error of one DIMM (--dimm, in the kernel's words).",
        ("memory_errors",),
        {"dimm": next(iter(sysfs.DIMMS))},
        *_logs(_uncorrected),
    ),
    "full_disk": Fault("The scratch file system is nearly full.", ("file_systems",)),
    "read_only_disk": Fault(
        "The kernel made the scratch file system read-only after an error, until the next boot.",
        ("file_systems",),
        {},
        *_logs(_aborted),
    ),
    "clock_off": Fault("The clock is off by so many --seconds.", ("time_sync",), {"seconds": 3.0}),
    "bmc_down": Fault("The BMC closes every connection without an answer."),
    "tool_hang": Fault("A tool (--tool) starts and never ends.", (), {"tool": "nvidia-smi"}),
    "no_boot": Fault(
        "Boots never come to a milestone (--at dhcp, script, kernel, cloud_init, phone_home or ssh).",
        ("network_boot",),
        {"at": "kernel"},
    ),
    "dead_psu": Fault("One power supply gives no power.", ("power_supplies",), {"psu": 2}),
    "dead_fan": Fault("One fan stands still.", ("sensors",), {"fan": 4}),
    "memory_error": Fault(
        "The BMC logged an uncorrectable memory error of one DIMM (--dimm).", ("sel",), {"dimm": "P1-DIMMA1"}
    ),
    "other_serial": Fault(
        "Another machine stands in its place: its BMC and its system say another serial number (--serial).",
        ("machine_identity",),
        {"serial": "LAB-S99999"},
    ),
    "wrong_firmware": Fault(
        "A component (--component) has another version than its pin.",
        ("firmware_pins",),
        {"component": "BIOS", "version": "1.9a"},
    ),
    **RAIL_FAULTS,
}
"""Every fault by name, with one sentence, who sees it, and the defaults of its options."""

LIMITS: Mapping[str, int] = {
    "gpu": plan.GPUS,
    "link": LINKS,
    "psu": plan.PSUS,
    "fan": plan.FANS,
    "rail": plan.RAILS,
    "with_rail": plan.RAILS,
    "times": 100,
}
"""Options that count something, and how many of it a server has."""


def _row(fault: str) -> Fault:
    row = FAULTS.get(fault)
    if row is None:
        raise LabError(f"no fault named {fault!r}; the lab knows {', '.join(FAULTS)}")
    return row


def _options(fault: str, row: Fault, given: Mapping[str, Any]) -> Options:
    for name, value in given.items():
        if name not in row.options:
            takes = ", ".join(f"--{option.replace('_', '-')}" for option in row.options) or "no options"
            raise LabError(f"{fault} takes {takes}, not --{name.replace('_', '-')}")
        if name in LIMITS and not 0 <= value < LIMITS[name]:
            raise LabError(f"{fault}: --{name.replace('_', '-')} is {value}, expected 0 to {LIMITS[name] - 1}")
    options = {**row.options, **given}
    if fault == "swapped_cables" and options["with"] and "with_rail" not in given:
        options["with_rail"] = options["rail"]
    if fault == "no_boot" and options["at"] not in MILESTONES:
        raise LabError(f"{fault}: --at is {options['at']!r}, expected one of {', '.join(MILESTONES)}")
    if fault == "tool_hang" and options["tool"] not in TOOLS:
        raise LabError(f"{fault}: no tool {options['tool']!r}; there are {', '.join(TOOLS)}")
    if fault == "service_down" and options["unit"] not in UNITS:
        raise LabError(f"{fault}: no unit {options['unit']!r}; there are {', '.join(UNITS)}")
    if fault == "wrong_firmware" and options["component"] not in hardware.FIRMWARE:
        raise LabError(f"{fault}: no component {options['component']!r}; there are {', '.join(hardware.FIRMWARE)}")
    if fault == "dimm_errors" and options["dimm"] not in sysfs.DIMMS:
        raise LabError(f"{fault}: no DIMM {options['dimm']!r}; there are {', '.join(sysfs.DIMMS)}")
    return options
