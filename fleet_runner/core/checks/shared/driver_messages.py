"""What NVIDIA's driver logs of a GPU without an Xid: that it does not start, or must be reset.

Messages and what they mean are facts of its open source (kernel_gsp.c, osinit.c, kernel_nvlink.c). Those that name no
GPU by its address are of "GPU": which of them the driver counts as its GPU 6, no other tool says.
"""

import re
from collections.abc import Iterable

from fleet_runner.core.checks.parsers import kernel_log
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
    _told(MISMATCH, "GSP firmware image version ",
          r"(?:GPU\d{1,3} )?(?:\w{1,60}: )?GSP firmware image version (?:mismatch|unknown or malformed)[^\n]{1,120}",
          Remedy.RECORD, "a program's libraries and the kernel's module are of two versions of the driver"),
)  # fmt: skip
"""The messages; the first of a code says what it means."""

_MISMATCHES = tuple(known.rule for known in LOGGED if known.rule.code == MISMATCH)
_FILES = Rule(
    "files", "RmInitAdapter failed!", re.compile(rf"{_GPU}RmInitAdapter failed! \(0x(?:61:|62:0x25:)", re.ASCII)
)
_OTHERWISE = Rule(
    "otherwise", "RmInitAdapter failed!", re.compile(rf"{_GPU}RmInitAdapter failed! \((?!0x61:|0x62:0x25:)", re.ASCII)
)
"""How the driver says where a start failed: 0x61 is that it found no firmware for the GPU, 0x62 with 0x25 (invalid
data) that it refused it. Other numbers are of the GPU."""

MOST = 1_000
"""GPUs of one log whose starts are told apart."""


class Starts:
    """Starts of GPUs that failed in one boot: a reset mends none that failed for files of two versions."""

    def __init__(self) -> None:
        self._mismatch = False
        self._files: set[str] = set()
        self._otherwise: set[str] = set()

    def take(self, text: str) -> None:
        """Take whole lines of a kernel's log, not all blank."""
        for event in kernel_log.parse(text, (*_MISMATCHES, _FILES, _OTHERWISE)):
            if event.code == MISMATCH:
                self._mismatch = True
                continue
            gpus = self._files if event.code == _FILES.code else self._otherwise
            if len(gpus) < MOST:
                gpus.add(f"GPU {event.component}")

    def mismatched(self, finding: Finding) -> bool:
        """Return whether a finding is a start that files of two versions of the driver explain, as MISMATCH says."""
        mine = self._mismatch and finding.code == NO_START
        return mine and finding.component in self._files and finding.component not in self._otherwise


def explained(component: str, numbered: Iterable[Finding]) -> bool:
    """Whether an Xid or SXid tells the same: it asks for a reset or more, of this GPU; of any where none is named."""
    hard = (each for each in numbered if ORDER.index(each.remedy) >= ORDER.index(Remedy.RESET))
    return any(component in {"GPU", each.component} for each in hard)
