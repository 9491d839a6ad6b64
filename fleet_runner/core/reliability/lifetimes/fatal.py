"""Which faults end the life of a part: one table; whatever is not in it leaves a part alive.

Here stand faults after which the part itself is repaired, sent back or written off, whichever node it is in. What a
reset clears for good, what warns, and what may as well be the board's or the cable's fault is left out: it interrupts
work (`service`), but says little of how long parts live. Xid 79 stands here although a reboot brings some such GPUs
back: Titan's operators counted a GPU that fell off the bus as failed, too.
"""

from collections.abc import Mapping
from types import MappingProxyType

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "gpu": "GPUs",
        "hca": "HCAs",
        "nvme": "drives",
        "dimm": "DIMMs",
        "psu": "power supplies",
        "optic": "optics",
        "cable": "cables",
        "fan": "fans",
    }
)
"""What several parts of a kind are called; another kind is called by its own name."""

FATAL: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "gpu": {
        "xid.79": "fell off the bus",
        "xid.64": "a memory row could not be remapped",
        "gpu.remap_failed": "a memory row could not be remapped",
        "gpu.unrepairable": "its memory cannot be repaired",
        "gpu.remapped_rows": "too many memory rows remapped",
        "gpu.retired_pages": "too many memory pages retired",
        "gpu.sram_threshold": "too many SRAM errors, by its own report",
        "gpu.sram_errors": "too many uncorrectable SRAM errors",
        "gpu.inforom": "its InfoROM is corrupted",
        "gpu_burn.faulty": "computed wrong results under load",
        "gpu_bandwidth.wrong": "changed data that it copied",
        "gemm.wrong": "computed a wrong product",
        "gemm.unsteady": "computed another product the next time",
    },
    "hca": {
        "hca.firmware_failed": "its firmware does not answer",
        "hca.missing": "is not there any more",
    },
    "nvme": {
        "disk.failing": "SMART's overall health failed",
        "disk.degraded": "has become unreliable",
        "disk.read_only": "became read-only",
        "disk.spare": "too few spare blocks left",
        "disk.backup": "its cache would not outlive a loss of power",
        "disk.worn_out": "all of its endurance used",
        "disk.medium": "sectors that cannot be read",
        "disk.gone": "the kernel has given it up",
        "nvme.dead": "the kernel has given its controller up",
    },
    "dimm": {
        "memory.uncorrected": "an error that could not be corrected",
        "memory.lost": "lost what it held",
    },
    "psu": {"psu.faulty": "calls itself faulty"},
    "optic": {"optics.tx_power": "sends too little or too much light"},
    "fan": {"fan.failed": "does not turn, or turns too slowly"},
})  # fmt: skip
"""Kind of part → code of the fault → how it ended."""

SENT_BACK = "sent back"
"""In place of a code: it went out in a case at its vendor, and no fault of the table was seen before."""


def why(kind: str, code: str) -> str:
    """Say how a part's life ended."""
    return "replaced in a case at its vendor" if code == SENT_BACK else FATAL[kind][code]


def called(kind: str) -> str:
    """Return what several parts of a kind are called."""
    return NAMES.get(kind, kind)
