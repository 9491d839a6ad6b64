"""`dmesg --time-format iso`: the kernel's messages since this boot, as util-linux prints them."""

import os
import sys
import time
from typing import Any

from fleet_runner.lab import plan
from fleet_runner.lab.tools.node import Node

BANNER = (
    (0.0, "Linux version 6.8.0-51-generic (buildd@lcy02-amd64-075) (x86_64-linux-gnu-gcc-13 13.3.0) #52-Ubuntu SMP"),
    (0.0, "Command line: BOOT_IMAGE=/vmlinuz initrd=initrd.img ip=dhcp console=ttyS0,115200n8 iommu=pt"),
    (0.0012, "DMI: LAB HGX-H100/X13DEG-OAD, BIOS 2.1 06/26/2024"),
    (0.14, "smpboot: CPU0: Intel(R) Xeon(R) Platinum 8480C (family: 0x6, model: 0x8f, stepping: 0x8)"),
    (0.31, "PCI: Using configuration type 1 for base access"),
    (0.52, "mlx5_core 0000:18:00.0: firmware version: 28.39.3560"),
    (0.61, "nvidia: loading out-of-tree module taints kernel."),
    (0.62, "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  550.127.05  Release Build"),
    (0.63, "nvidia-nvswitch0: using MSI-X"),
    (0.64, "systemd[1]: Reached target cloud-init.target - Cloud-init target."),
)
"""Seconds after the kernel's start in a boot that takes one second from there, and the message."""

DRIVER_AT = 0.65
"""When the driver names the GPUs it found."""


def run(node: Node, args: list[str]) -> int:
    """Print the boot's banner and what was logged since, oldest first."""
    del args
    boot = node.state["boot"]
    if not boot["kernel"]:
        return 0
    missing = node.fault("missing_gpu")
    number = node.state["index"]
    found = [gpu for gpu in range(plan.GPUS) if missing is None or missing["gpu"] != gpu]
    driver = [(DRIVER_AT, f"NVRM: GPU at PCI:0000:{_bus(gpu)}: {plan.gpu_uuid(number, gpu)}") for gpu in found]
    length = boot["ready"] - boot["kernel"] if boot["ready"] else 1.0
    lines: list[list[Any]] = [[boot["kernel"] + length * after, text] for after, text in (*BANNER, *driver)]
    lines += sorted([*node.state["kernel_log"], *_told(node)])
    sys.stdout.write("".join(f"{stamp(at)} {text}\n" for at, text in lines))
    return 0


def _told(node: Node) -> list[list[Any]]:
    """Return what somebody told the kernel's log since the boot; when, only the file's own time says."""
    path = os.path.join(node.lab, "nodes", node.name, "root", "dev", "kmsg")
    if not os.path.isfile(path) or os.path.getmtime(path) < node.state["boot"]["kernel"]:
        return []
    with open(path, encoding="utf-8") as file:
        return [[os.path.getmtime(path), line.rstrip("\n")] for line in file]


def stamp(at: float) -> str:
    """Return a time as `--time-format iso` writes it: a comma before the microseconds, the zone with a colon."""
    zone = time.strftime("%z", time.localtime(at))
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(at))
    return f"{whole},{int(at % 1 * 1_000_000):06d}{zone[:3]}:{zone[3:]}"


def _bus(gpu: int) -> str:
    return f"{plan.GPU_BUSES[gpu].lower()}:00"
