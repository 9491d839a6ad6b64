"""What the NVIDIA driver writes into the kernel's log for an Xid."""

from collections.abc import Mapping

from fleet_runner.lab import plan

FALLEN = 79
"""The Xid of a GPU that has fallen off the bus; the driver says it twice."""

TEXTS: Mapping[int, str] = {
    13: "pid='<unknown>', name=<unknown>, Graphics Exception: ESR 0x504730=0xc04000e 0x504734=0x20",
    31: "pid=48213, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ "
        "0x7f5c_2a000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
    48: "pid='<unknown>', name=<unknown>, An uncorrectable double bit error (DBE) has been detected on GPU in the "
        "framebuffer at partition 6, subpartition 0.",
    63: "pid='<unknown>', name=<unknown>, Row Remapper: New row (0x000000000c3d2a40) marked for remapping, reset gpu "
        "to activate.",
    64: "pid='<unknown>', name=<unknown>, Row Remapper: Failed to remap row (0x000000000c3d2a40).",
    79: "pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    94: "pid=48213, name=python3, Contained: SM (0x1). RST: No, D-RST: No",
    95: "pid='<unknown>', name=<unknown>, Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No",
    119: "pid=48213, name=python3, Timeout after 6s of waiting for RPC response from GPU3 GSP! Expected function 76 "
         "(GSP_RM_CONTROL) (0x20802a02 0x4).",
    154: "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)",
}  # fmt: skip
"""What the driver writes after the code, in the words of captured lines."""


def lines(code: int, gpu: int) -> tuple[str, ...]:
    """Return what the driver logs for an Xid of one GPU."""
    bus = f"{plan.GPU_BUSES[gpu].lower()}:00"
    first = f"NVRM: Xid (PCI:0000:{bus}): {code}, {TEXTS.get(code, 'pid=<unknown>, name=<unknown>')}"
    return (first, f"NVRM: GPU 0000:{bus}.0: GPU has fallen off the bus.") if code == FALLEN else (first,)
