"""Is the node's clock right? What it logs, signs and joins depends on it."""

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import clocks
from fleet_runner.core.checks.parsers.clocks import Clock
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory.profile import section

NAME = "time_sync"

SHORT, LONG = 1e-4, 1_000.0
"""Seconds between which three digits of them read well."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Take chronyd's word where it answers, else systemd's, which tells no offset."""
    wanted = section(expected.profile, NAME)
    clock = _clock(readings)
    findings: list[Finding] = []
    unread: list[str] = []
    if not clock.synchronised:
        findings.append(
            about(expected.node, "time.unsynchronised", "clock")(
                message="the clock is not synchronised; check its daemon and the network to its time servers",
                remedy=Remedy.WATCH,
            )
        )
    elif wanted.has("offset_seconds_max"):
        most = wanted.number("offset_seconds_max")
        if clock.offset is None:
            unread.append("the clock's offset is unknown; install chrony to measure it")
        elif clock.offset > most:
            findings.append(
                about(expected.node, "time.offset", "clock")(
                    message=f"the clock is {_seconds(clock.offset)} off {clock.source:.60},"
                    f" expected at most {_seconds(most)}",
                    remedy=Remedy.WATCH,
                )
            )
    observed = {"synchronised": clock.synchronised, "offset_seconds": clock.offset, "bound_seconds": clock.bound}
    told = f", {_seconds(clock.offset)} off" if clock.offset is not None else ""
    return unless_unread(
        conclude(NAME, findings, f"the clock is synchronised to {clock.source:.60}{told}", observed), unread
    )


def _seconds(offset: float) -> str:
    """Say it without powers of ten: chronyc tells nanoseconds, and a clock that starts anew is years off."""
    if offset >= LONG:
        return f"{offset:.0f} s"
    return f"{offset:.3g} s" if offset >= SHORT or not offset else f"{offset * 1e6:.3g} µs"


def _clock(readings: Readings) -> Clock:
    chronyc, systemd = readings.get("chronyc"), readings.get("timedatectl")
    if chronyc is not None and (chronyc.rc == 0 or systemd is None):
        return clocks.tracking(text_of(chronyc))
    if systemd is not None:
        return clocks.timedatectl(text_of(systemd))
    raise EvidenceError("neither chronyc nor timedatectl answers; which time service runs?")


CHECK = Check(
    name=NAME,
    question="Is the node's clock synchronised, and is its offset small enough?",
    reads=(),
    also=("chronyc", "timedatectl"),
    judge=judge,
    section=NAME,
    codes=(
        Code("time.unsynchronised", (Remedy.WATCH,), "the clock is not synchronised"),
        Code("time.offset", (Remedy.WATCH,), "the clock's offset is larger than `time_sync.offset_seconds_max`"),
    ),
    source="The profile's `time_sync`; chrony's documentation of `tracking`.",
)
