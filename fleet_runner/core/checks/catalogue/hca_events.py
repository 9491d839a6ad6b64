"""Did an adapter report a fault of itself, its module or its slot since the boot?

The log keeps what was once: whether a module is still too warm or a port still down, `optics`, `sensors` and
`ib_ports` see as it is now. Firmware that failed stays so until the node is switched off.
"""

import re

from fleet_runner.core.checks.answers import conclude
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.kernel_log import Rule
from fleet_runner.core.checks.shared import kernel_messages
from fleet_runner.core.checks.shared.kernel_messages import Known
from fleet_runner.core.checks.verdicts import Remedy, Result

NAME = "hca_events"


def _rule(code: str, word: str, said: str) -> Rule:
    """Return a rule for what the mlx5 driver says ("mlx5_core 0000:41:00.0: poll_health:852:(pid 0): ...")."""
    where = r"mlx5_core (?P<what>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])[^\n:]{0,20}: "
    return Rule(code, word, re.compile(rf"{where}(?:\w{{1,40}}:\d{{1,6}}:(?:\(pid \d{{1,8}}\):)? )?{said}", re.ASCII))


_SILENT = "its firmware did not answer the driver in time"

_HELD = "one of its queues stalled, and the driver reopened it"

_SICK = (Remedy.REBOOT, "its firmware no longer answers, or reports that it failed", "HCA {}")

_WARM = (Remedy.RECORD, "it, or the module in its port, was too warm", "HCA {}")

LOGGED = (
    Known(
        _rule("hca.firmware_failed", "health compromised", r"(?P<why>device's health compromised[^\n]{0,80})"), *_SICK
    ),
    Known(_rule("hca.firmware_failed", "synd 0x", r"synd 0x(?!0:|10:)[0-9a-f]{1,4}: (?P<why>[^\n]{1,80})"), *_SICK),
    Known(
        _rule(
            "hca.firmware_failed",
            "Health issue observed, ",
            r"Health issue observed, (?!High temperature)(?P<why>[^\n]{1,80}severity\([0-3]\)[^\n]{0,20})",
        ),
        *_SICK,
    ),
    Known(
        _rule("hca.hot", "High temperature on sensors", r"(?P<why>High temperature on sensors[^\n]{0,80})"), *_WARM
    ),
    Known(
        _rule(
            "hca.hot", "Health issue observed, High", r"Health issue observed, (?P<why>High temperature[^\n]{0,40})"
        ),
        *_WARM,
    ),
    Known(
        _rule(
            "hca.hot",
            "Port module event[error]",
            r"Port module event\[error\]: (?P<why>module \d{1,3}, Cable error, High Temperature)",
        ),
        *_WARM,
    ),
    Known(
        _rule(
            "hca.module",
            "Port module event[error]",
            r"Port module event\[error\]: (?P<why>module \d{1,3}, [^\n,]{1,40}, (?!High Temp)[^\n]{1,60})",
        ),
        Remedy.RECORD,
        "the module in its port had an error",
        "HCA {}",
    ),
    Known(
        _rule(
            "hca.stopped", "ENABLE_HCA(0x104) timeout", r"(?P<why>ENABLE_HCA\(0x104\) timeout)\. Will cause a leak"
        ),
        Remedy.REBOOT,
        "its firmware did not answer when the driver started it",
        "HCA {}",
    ),
    Known(
        _rule(
            "hca.command_timeout",
            "timeout. Will cause a leak of a command resource",
            r"(?P<why>(?!ENABLE_HCA)[A-Z0-9_]{1,40}\(0x[0-9a-f]{1,4}\) timeout)\. Will cause a leak",
        ),
        Remedy.WATCH,
        _SILENT,
        "HCA {}",
    ),
    Known(
        _rule(
            "hca.access_failed",
            "ACCESS_REG(0x805)",
            r"(?P<why>ACCESS_REG\(0x805\) (?:op_mod\(0x[0-9a-f]{1,4}\) )?failed[^\n]{0,120})",
        ),
        Remedy.WATCH,
        "its firmware refused to read or write a register; tools that request too much can also cause this",
        "HCA {}",
    ),
    Known(
        _rule("hca.queue_timeout", "TX timeout detected", r"(?P<why>TX timeout detected)"),
        Remedy.WATCH,
        _HELD,
        "HCA {}",
    ),
    Known(
        _rule("hca.queue_timeout", "RX timeout on channel", r"(?P<why>RX timeout on channel: \d{1,5}[^\n]{0,60})"),
        Remedy.WATCH,
        _HELD,
        "HCA {}",
    ),
    # The driver of NVIDIA's adapters says the same itself, right after: see above.
    Known(
        Rule(
            "nic.queue_timeout",
            "NETDEV WATCHDOG: ",
            re.compile(
                r"NETDEV WATCHDOG: (?P<what>[\w.@-]{1,15}) \((?!mlx5)[\w-]{1,40}\): "
                r"(?P<why>transmit queue \d{1,5} timed out[^\n]{0,20})",
                re.ASCII,
            ),
        ),
        Remedy.WATCH,
        _HELD,
        "interface {}",
    ),
    Known(
        Rule(
            "nic.queue_timeout",
            "NETDEV WATCHDOG: ",
            re.compile(
                r"(?!mlx5)[\w-]{1,40} [\w:.@-]{1,40} (?P<what>[\w.@-]{1,15}): NETDEV WATCHDOG: (?:CPU: \d{1,5}: )?"
                r"(?P<why>transmit queue \d{1,5} timed out[^\n]{0,20})",
                re.ASCII,
            ),
        ),
        Remedy.WATCH,
        _HELD,
        "interface {}",
    ),
    # NVIDIA's own people call it benign: some adapters log it at each boot, and run at full speed.
    Known(
        _rule(
            "hca.slot_power",
            "insufficient power on the PCIe slot",
            r"(?P<why>Detected insufficient power[^\n]{0,40})",
        ),
        Remedy.RECORD,
        "its slot offers less power than the adapter may need",
        "HCA {}",
    ),
)
"""What drivers log: that of NVIDIA's adapters (mlx5/core: cmd.c, events.c, health.c, en_main.c), and the kernel of
any (net/sched/sch_generic.c)."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Make one finding per adapter and kind of message, however often it was logged."""
    findings = list(kernel_messages.findings(readings["dmesg"], LOGGED, expected))
    observed = {"adapters": sorted({finding.component for finding in findings})}
    return conclude(NAME, findings, "no adapter reported a fault since the boot", observed)


CHECK = Check(
    name=NAME,
    question="Did an adapter report a fault of itself, its module or its slot since the boot?",
    reads=("dmesg",),
    judge=judge,
    section=NAME,
    codes=(
        Code("hca.firmware_failed", (Remedy.REBOOT,), "an adapter's firmware does not answer, or failed"),
        Code("hca.stopped", (Remedy.REBOOT,), "an adapter's firmware did not answer when its driver started it"),
        Code("hca.command_timeout", (Remedy.WATCH,), "an adapter's firmware did not answer a command in time"),
        Code("hca.access_failed", (Remedy.WATCH,), "an adapter's firmware refused to read or write a register"),
        Code("hca.queue_timeout", (Remedy.WATCH,), "a queue of an adapter stalled; 20 in a day ask for triage"),
        Code("nic.queue_timeout", (Remedy.WATCH,), "the same of an adapter of another maker"),
        Code("hca.hot", (Remedy.RECORD,), "an adapter or its module was too warm; `optics` and `sensors` decide"),
        Code("hca.module", (Remedy.RECORD,), "a module had an error (power, EEPROM, a short); `ib_ports` decides"),
        Code("hca.slot_power", (Remedy.RECORD,), "a slot offers less power than the adapter may need"),
    ),
    source="The messages of the Linux kernel and its mlx5 driver; gpud and NVSentinel look for most of them.",
)
