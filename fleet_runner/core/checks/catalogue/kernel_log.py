"""Did the kernel log since its boot that it, or a process, crashed or hangs?"""

import re
from collections.abc import Iterator

from fleet_runner.core.checks.answers import about, conclude, text_of
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import files, kernel_log
from fleet_runner.core.checks.parsers.kernel_log import Rule
from fleet_runner.core.checks.shared import kernel_messages
from fleet_runner.core.checks.shared.kernel_messages import Known
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result

NAME = "kernel_log"

_OOPS = "the kernel had an internal error and can no longer be trusted"

_OOM = "it was killed because memory ran out; its owner must act"

LOGGED = (
    Known(
        Rule(
            "kernel.oops",
            "BUG: ",
            re.compile(r"BUG: (?P<why>(?:unable to handle|kernel NULL|Bad page )[^\n]{0,160})"),
        ),
        Remedy.REBOOT,
        _OOPS,
        "kernel",
    ),
    Known(Rule("kernel.oops", "Oops: ", re.compile(r"Oops: (?P<why>[^\n]{0,160})")), Remedy.REBOOT, _OOPS, "kernel"),
    Known(
        Rule("kernel.oops", "kernel BUG at ", re.compile(r"kernel BUG at (?P<why>[^\n]{0,160})")),
        Remedy.REBOOT,
        _OOPS,
        "kernel",
    ),
    Known(
        Rule(
            "kernel.oops",
            "general protection fault",
            re.compile(r"general protection fault[,:] (?P<why>[^\n]{0,160})"),
        ),
        Remedy.REBOOT,
        _OOPS,
        "kernel",
    ),
    Known(
        Rule("kernel.oops", "Kernel panic - ", re.compile(r"Kernel panic - (?P<why>[^\n]{0,160})")),
        Remedy.REBOOT,
        _OOPS,
        "kernel",
    ),
    Known(
        Rule(
            "kernel.hard_lockup",
            "hard LOCKUP on cpu",
            re.compile(r"(?:NMI watchdog|watchdog): Watchdog detected hard LOCKUP on (?P<what>cpu \d{1,5})"),
        ),
        Remedy.REBOOT,
        "it stopped answering, interrupts too",
    ),
    Known(
        Rule(
            "kernel.lasting_lockup",
            "soft lockup - CPU#",
            re.compile(
                r"(?:NMI )?(?:watchdog: )?BUG: soft lockup - (?P<what>CPU#\d{1,5}) "
                r"(?P<why>stuck for \d{4,7}s![^\n]{0,80})"
            ),
        ),
        Remedy.REBOOT,
        "it was stuck for a quarter of an hour or more",
    ),
    Known(
        Rule(
            "kernel.soft_lockup",
            "soft lockup - CPU#",
            re.compile(
                r"(?:NMI )?(?:watchdog: )?BUG: soft lockup - (?P<what>CPU#\d{1,5}) "
                r"(?P<why>stuck for \d{1,3}s![^\n]{0,80})"
            ),
        ),
        Remedy.WATCH,
        "it was stuck for a while",
    ),
    Known(
        Rule(
            "kernel.stall",
            "detected stall",
            re.compile(r"rcu: INFO: (?P<what>rcu_\w{1,20}) (?:self-)?detected (?:expedited )?stalls?"),
        ),
        Remedy.WATCH,
        "a processor stalled the kernel's housekeeping (RCU)",
    ),
    Known(
        Rule(
            "kernel.hung_task",
            " blocked for more than ",
            re.compile(r"INFO: task (?P<what>[^\n]{1,32}?):\d{1,8} (?P<why>blocked for more than \d{1,6} seconds)"),
        ),
        Remedy.WATCH,
        "it waits for a device or a file server and cannot be ended",
        "process {}",
    ),
    Known(
        Rule(
            "kernel.out_of_files", "VFS: file-max limit", re.compile(r"VFS: file-max limit (?P<why>\d{1,15} reached)")
        ),
        Remedy.WATCH,
        "no more files can be opened",
        "open files",
    ),
    Known(
        Rule(
            "kernel.out_of_memory",
            "ut of memory: Kill",
            re.compile(
                r"(?:Memory cgroup o|O)ut of memory: Kill(?:ed)? process \d{1,8},?(?: UID \d{1,10},)? "
                r"\((?P<what>[^\n]{1,32})\)(?:[ ,.]|$)"
            ),
        ),
        Remedy.RECORD,
        _OOM,
        "process {}",
    ),
    Known(
        Rule(
            "kernel.segfault",
            "segfault at ",
            re.compile(
                r"(?P<what>[^\n\[\]]{1,40})\[\d{1,8}\]: segfault at [0-9a-f]{1,16} [^\n]{1,120}"
                r"(?P<why>in lib(?:nccl|cuda|nvidia-ml)\.so[\w.]{0,20})"
            ),
        ),
        Remedy.RECORD,
        "it crashed in a GPU library; its owner must act",
        "process {}",
    ),
    Known(
        Rule(
            "kernel.peermem",
            "ERROR detected invalid context",
            re.compile(r"nvidia-peermem [\w:]{1,60} (?P<why>ERROR detected invalid context)"),
        ),
        Remedy.RECORD,
        "a process that used memory of a GPU over the network is gone",
        "nvidia_peermem",
    ),
)
"""What the kernel logs about itself; gpud looks for the same, but for what it says of the first two kinds."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Make one finding per kind and part, however often it was logged; a crash before the boot is only recorded."""
    findings = list(kernel_messages.findings(readings["dmesg"], LOGGED, expected))
    findings += _crashed(readings, expected.node)
    observed = {"kinds": sorted({finding.code for finding in findings})}
    return conclude(NAME, findings, "the kernel logged nothing about itself that needs action", observed)


def _crashed(readings: Readings, node: str) -> Iterator[Finding]:
    """Yield what an earlier kernel left behind in the firmware's store when it died."""
    reading = readings.get("pstore")
    found = files.parse(text_of(reading)) if reading is not None else {}
    died = [each.rule for each in LOGGED if each.rule.code == "kernel.oops"]
    told = [
        (path, event) for path, text in sorted(found.items()) if text for event in kernel_log.parse(f"{text}\n", died)
    ]
    if told:
        path, event = told[-1]
        yield about(node, "kernel.crashed", "kernel")(
            message=f"the previous kernel crashed: {event.text:.120}; {path:.120} has its last log lines",
            remedy=Remedy.RECORD,
        )


CHECK = Check(
    name=NAME,
    question="Did the kernel log since its boot that it, or a process, crashed or hangs?",
    reads=("dmesg",),
    also=("pstore",),
    judge=judge,
    section=NAME,
    codes=(
        Code("kernel.oops", (Remedy.REBOOT,), "an oops, a BUG or a panic of the kernel"),
        Code("kernel.crashed", (Remedy.RECORD,), "the previous kernel crashed and left its last log lines (pstore)"),
        Code("kernel.hard_lockup", (Remedy.REBOOT,), "a processor stopped answering, interrupts too"),
        Code("kernel.lasting_lockup", (Remedy.REBOOT,), "a processor was stuck for 1,000 seconds or more"),
        Code("kernel.soft_lockup", (Remedy.WATCH,), "a processor was stuck for less than that"),
        Code("kernel.stall", (Remedy.WATCH,), "a processor stalled the kernel's housekeeping (RCU)"),
        Code("kernel.hung_task", (Remedy.WATCH,), "a process waits and cannot be ended"),
        Code("kernel.out_of_files", (Remedy.WATCH,), "the limit of open files was reached"),
        Code("kernel.out_of_memory", (Remedy.RECORD,), "a process was killed because memory ran out"),
        Code("kernel.segfault", (Remedy.RECORD,), "a process crashed in libnccl, libcuda or libnvidia-ml"),
        Code("kernel.peermem", (Remedy.RECORD,), "nvidia_peermem found a context that was gone"),
    ),
    source="The messages of the Linux kernel's watchdogs; gpud looks for most of them.",
)
