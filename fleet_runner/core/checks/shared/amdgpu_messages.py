"""What the driver of AMD's GPUs logs, and what its source and AMD's notes say it means.

The driver resets a GPU by itself where work hangs or memory fails, so nothing here asks for a reset: a row asks for
more than a look only where that reset failed, the GPU left the bus, or its memory is worn out. A ring that timed out
is a program's kernel as often as a GPU's fault.
"""

import re

from fleet_runner.core.checks.parsers.kernel_log import Rule
from fleet_runner.core.checks.shared.kernel_messages import Known
from fleet_runner.core.checks.verdicts import Remedy

RING, RESET, RESET_FAILED = "amdgpu.ring_timeout", "amdgpu.reset", "amdgpu.reset_failed"
LOST, NO_START, SCHEDULER = "amdgpu.lost", "amdgpu.no_start", "amdgpu.scheduler"
UNCORRECTED, POISON, BAD_PAGES = "amdgpu.uncorrected", "amdgpu.poison", "amdgpu.bad_pages"

_WHERE = r"(?:\[drm(?::\w{1,60}(?:\.\w{1,12}){0,3} \[amdgpu\])?\] )?(?:\*ERROR\* )?(?:\{\d{1,19}\} ?)?"
_GPU = rf"(?:amdgpu (?P<what>[0-9a-f]{{4,8}}:[0-9a-f]{{2}}:[0-9a-f]{{2}}\.[0-7]): )?(?:amdgpu: )?{_WHERE}"
"""How a message begins: most name the GPU by its address, some the driver's function."""

_SPOKEN = r"(?=amdgpu[ :]|\[drm:\w{1,60}(?:\.\w{1,12}){0,3} \[amdgpu\]\] )"


def _row(code: str, word: str, why: str, remedy: Remedy, meaning: str) -> Known:
    rule = Rule(code, word, re.compile(rf"{_SPOKEN}{_GPU}(?P<why>{why})", re.ASCII))
    return Known(rule, remedy, meaning, "GPU {}")


_RING = "work on it did not end in time: a program's kernel hangs, or the GPU"
_RESET = "the driver reset it, and what ran on it was lost"
_FAILED = "the driver could not reset it"
_SCHEDULER = "its scheduler (MES) does not answer the driver, which then resets the GPU"
_UNCORRECTED = "an error in its memory or logic could not be corrected; the driver resets the GPU where it must"
_POISON = "a program read data of its memory that were lost"
_PAGES = "its memory has more bad pages than the driver's limit"
_SERVICE = ("Follow AMD's Service Action Guide for bad pages of {}; the driver itself asks for it.",)

LOGGED = (
    _row(RING, "timeout, signaled seq", r"ring [\w.]{1,32} timeout, signaled seq[^\n]{0,60}", Remedy.RECORD, _RING),
    _row(RING, "timeout, but soft recovered", r"ring [\w.]{1,32} timeout, but soft recovered", Remedy.RECORD, _RING),
    _row(RESET, "GPU reset begin!", r"GPU reset begin![^\n]{0,40}", Remedy.RECORD, _RESET),
    _row(RESET_FAILED, "GPU Recovery Failed", r"GPU Recovery Failed: -?\d{1,6}", Remedy.REBOOT, _FAILED),
    _row(RESET_FAILED, "GPU reset end with ret", r"GPU reset end with ret = -\d{1,6}", Remedy.REBOOT, _FAILED),
    _row(RESET_FAILED, "GPU reset(", r"GPU reset\(\d{1,10}\) failed[^\n]{0,40}", Remedy.REBOOT, _FAILED),
    _row(LOST, "device lost from bus!", r"device lost from bus!", Remedy.REBOOT, "it is gone from the PCIe bus"),
    _row(NO_START, "Fatal error during GPU init", r"Fatal error during GPU init", Remedy.WATCH,
         "the driver could not start it: its firmware's files, its BIOS, or the GPU"),
    _row(SCHEDULER, "failed to respond to msg=", r"MES(?: ?\(\d(?:, ?\d)?\))? failed to respond to msg=[^\n]{1,40}",
         Remedy.WATCH, _SCHEDULER),
    _row(SCHEDULER, "unrecoverable state, issue a GPU reset",
         r"(?:MES|HIQ|HWS) [^\n]{0,20}in unrecoverable state[^\n]{0,30}", Remedy.WATCH, _SCHEDULER),
    _row(UNCORRECTED, "uncorrectable hardware errors detected",
         r"(?:socket: \d{1,3},? (?:die: \d{1,3},? )?)?[1-9]\d{0,18} (?:new )?uncorrectable hardware errors detected"
         r"[^\n]{0,60}",
         Remedy.WATCH, _UNCORRECTED),
    _row(UNCORRECTED, "uncorrectable hardware error(", r"uncorrectable hardware error\([A-Z_]{4,60}\) detected!",
         Remedy.WATCH, _UNCORRECTED),
    _row(POISON, "RAS poison consumption", r"RAS poison consumption[:,][^\n]{0,80}", Remedy.WATCH, _POISON),
    _row(POISON, "poison is consumed", r"poison is consumed by [^\n]{1,80}", Remedy.WATCH, _POISON),
    _row(POISON, "RAS poison consumption is issued", r"GPU reset for [\w .]{1,32} RAS poison consumption is issued!",
         Remedy.WATCH, _POISON),
    _row(BAD_PAGES, "exceed threshold:", r"RAS records:\d{1,10} exceed threshold:\d{1,10}[^\n]{0,80}", Remedy.TRIAGE,
         _PAGES)._replace(steps=_SERVICE),
)  # fmt: skip
"""The messages; the first of a code says what it means."""

CODES = {
    RING: _RING + "; what a program did, mostly",
    RESET: _RESET + "; why stands before it in the log",
    RESET_FAILED: _FAILED + "; AMD: the system must be booted",
    LOST: "a GPU is gone from the PCIe bus, as the driver found when it reset it",
    NO_START: "the driver could not start a GPU: its firmware's files, its BIOS, or the GPU",
    SCHEDULER: _SCHEDULER,
    UNCORRECTED: _UNCORRECTED,
    POISON: _POISON,
    BAD_PAGES: _PAGES + "; it must be serviced",
}
"""What each code means, for its check's page."""
