"""What NVIDIA's driver logs of a GPU without an Xid: that it does not start, or must be reset.

Messages and what they mean are facts of its open source (kernel_gsp.c, osinit.c, kernel_nvlink.c). Those that name no
GPU by its address are of "GPU": which of them the driver counts as its GPU 6, no other tool says.
"""

import re
from collections.abc import Iterable

from fleet_runner.core.checks.parsers.kernel_log import Rule
from fleet_runner.core.checks.shared.kernel_messages import Known
from fleet_runner.core.checks.verdicts import Finding, Remedy

STUCK, NO_START, NVLINK = "gpu.driver_stuck", "gpu.driver_no_start", "gpu.driver_nvlink"
NO_ADDRESS, MISMATCH = "gpu.no_address", "gpu.driver_mismatch"

CODES = frozenset({STUCK, NO_START, NVLINK, NO_ADDRESS, MISMATCH})

ORDER = tuple(Remedy)
"""From the mildest to the hardest."""

_SPEAKER = r"NVRM: (?:GPU\d{1,3} )?"
_GPU = r"NVRM: GPU (?P<what>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]): "


def _stuck(word: str, why: str) -> Known:
    rule = Rule(STUCK, word, re.compile(rf"{_SPEAKER}(?:\w{{1,60}}: )?(?P<why>{why})", re.ASCII))
    meaning = "the driver gets no answer from the GPU's system processor, or says that it must be reset"
    return Known(rule, Remedy.RESET, meaning, "GPU")


def _no_start(word: str, why: str) -> Known:
    rule = Rule(NO_START, word, re.compile(rf"{_GPU}(?P<why>{why})", re.ASCII))
    return Known(rule, Remedy.RESET, "the driver could not start it", "GPU {}")


def _told(code: str, word: str, why: str, remedy: Remedy, meaning: str) -> Known:
    return Known(Rule(code, word, re.compile(rf"NVRM: (?P<why>{why})", re.ASCII)), remedy, meaning, "GPU")


LOGGED = (
    _stuck("NV_ERR_RESET_REQUIRED", r"\w{1,9} failed: Reset required \[NV_ERR_RESET_REQUIRED\][^\n]{0,80}"),
    _stuck("GPU marked for reset", r"Assertion failed: Back to back GSP RPC timeout detected! GPU marked for reset"),
    _stuck("_kgspIsHeartbeatTimedOut: ", r"Heartbeat timed out[^\n]{0,80}"),
    _stuck("heartbeat timed out", r"(?:GSP RM|LibOS|GSP RM / LibOS) heartbeat timed out"),
    _stuck("rpcRecvPoll timedout", r"rpcRecvPoll timedout for fn \d{1,6}[^\n]{0,40}"),
    _no_start("RmInitAdapter failed!", r"RmInitAdapter failed! \(0x[^\n)]{1,40}\)"),
    _no_start("rm_init_adapter failed", r"rm_init_adapter failed, device minor number \d{1,4}"),
    Known(
        Rule(
            NVLINK,
            "PostRxDet",
            re.compile(
                rf"{_SPEAKER}knvlink(?:UpdatePostRxDetectLinkMask|DiscoverPostRxDetLinks)\w{{0,20}}: "
                r"(?P<why>(?:Failed to update Rx Detect Link mask|Getting peer[^\n]{1,20}postRxDetLinkMask failed)!)",
                re.ASCII,
            ),
        ),
        Remedy.RESET,
        "the driver could not find out which NVLinks are connected",
        "GPU",
    ),
    _told(NO_ADDRESS, "PCI I/O region assigned", "This PCI I/O region assigned to your NVIDIA device is invalid",
          Remedy.WATCH, "a GPU's memory got no address from the BIOS or the virtual machine"),
    _told(MISMATCH, "API mismatch: ", r"API mismatch: the client[^\n#]{1,80}", Remedy.RECORD,
          "a program's libraries and the kernel's module are of two versions of the driver"),
)  # fmt: skip
"""The messages; the first of a code says what it means."""


def explained(component: str, numbered: Iterable[Finding]) -> bool:
    """Whether an Xid or SXid tells the same: it asks for a reset or more, of this GPU; of any where none is named."""
    hard = (each for each in numbered if ORDER.index(each.remedy) >= ORDER.index(Remedy.RESET))
    return any(component in {"GPU", each.component} for each in hard)
