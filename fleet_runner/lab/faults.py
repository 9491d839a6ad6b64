"""The faults that can be put into a lab's node by name, and taken out again; twice is the same as once."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fleet_runner.core.boot.boots import Milestone
from fleet_runner.lab import hardware, plan, plugging, xids
from fleet_runner.lab.folder import Lab, LabError
from fleet_runner.lab.tools.node import witness
from fleet_runner.lab.tools.stand_in import TOOLS

Options = dict[str, Any]

MILESTONES = tuple(map(str, Milestone))


class Fault(NamedTuple):
    """One fault. `options` are its defaults; `begin` and `end` do more than note it in the node's state."""

    sentence: str
    options: Mapping[str, Any] = {}
    begin: Callable[[Lab, str, Options], None] | None = None
    end: Callable[[Lab, str, Options], None] | None = None


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


def _log_xid(lab: Lab, node: str, options: Options) -> None:
    hardware.log_kernel(lab, node, *xids.lines(options["code"], options["gpu"]))


def _forget_xid(lab: Lab, node: str, options: Options) -> None:
    gone = set(xids.lines(options["code"], options["gpu"]))
    with hardware.changing(lab, node) as state:
        state["kernel_log"] = [line for line in state["kernel_log"] if line[1] not in gone]


def _flap(lab: Lab, node: str, options: Options) -> None:
    hardware.log_kernel(lab, node, *[_down(options)] * options["times"])


def _forget_flaps(lab: Lab, node: str, options: Options) -> None:
    with hardware.changing(lab, node) as state:
        state["kernel_log"] = [line for line in state["kernel_log"] if line[1] != _down(options)]


def _down(options: Options) -> str:
    return f"mlx5_core 0000:{plan.GPU_BUSES[options['rail']].lower()}:00.0 ib{options['rail']}: Link down"


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
        {"rail": 2, "with": "", "with_rail": 5},
        _swap,
        _unswap,
    ),
    "swapped_uplinks": Fault(
        "The first uplinks of two rails' leaves are exchanged at the spine.",
        {"rail": 2, "with_rail": 5},
        _swap_uplinks,
        _unswap_uplinks,
    ),
    "noisy_cable": Fault("A rail's cable makes symbol errors at its leaf.", {"rail": 3}),
    "flapping_link": Fault(
        "A rail's link went down again and again (--times).", {"rail": 4, "times": 4}, _flap, _forget_flaps
    ),
    "dim_module": Fault("A lane of a rail's module receives too little light.", {"rail": 1}),
    "hot_module": Fault("A rail's module is too warm.", {"rail": 6}),
    "missing_gpu": Fault("One GPU is not found by the driver.", {"gpu": 5}),
    "xid": Fault(
        "The driver logs an Xid (--code) of one GPU; with 79 the GPU is gone until the next boot.",
        {"code": 79, "gpu": 3},
        _log_xid,
        _forget_xid,
    ),
    "slow_gpu": Fault("One GPU reaches only a share of its arithmetic.", {"gpu": 6, "share": 0.78}),
    "bad_gpu": Fault("One GPU computes wrong results under load.", {"gpu": 4}),
    "hot_gpu": Fault("One GPU runs at its slowdown temperature.", {"gpu": 1}),
    "bmc_down": Fault("The BMC closes every connection without an answer."),
    "tool_hang": Fault("A tool (--tool) starts and never ends.", {"tool": "nvidia-smi"}),
    "no_boot": Fault(
        "Boots never come to a milestone (--at dhcp, script, kernel, cloud_init, phone_home or ssh).",
        {"at": "kernel"},
    ),
    "dead_psu": Fault("One power supply gives no power.", {"psu": 2}),
    "dead_fan": Fault("One fan stands still.", {"fan": 4}),
    "memory_error": Fault(
        "The BMC logged an uncorrectable memory error of one DIMM (--dimm).", {"dimm": "P1-DIMMA1"}
    ),
    "wrong_firmware": Fault(
        "A component (--component) has another version than its pin.",
        {"component": "BIOS", "version": "1.9a"},
    ),
}
"""Every fault by name, with one sentence and the defaults of its options."""

LIMITS: Mapping[str, int] = {
    "gpu": plan.GPUS,
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
    if fault == "wrong_firmware" and options["component"] not in hardware.FIRMWARE:
        raise LabError(f"{fault}: no component {options['component']!r}; there are {', '.join(hardware.FIRMWARE)}")
    return options
