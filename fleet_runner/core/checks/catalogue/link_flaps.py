"""Do the links of the node stay up? The kernel's log tells of each loss of carrier, and when."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from fleet_runner.core.cabling.quality import DAY, DAY_FLAPS, HOUR, HOUR_FLAPS
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import link_events, uptime
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.parsers.link_events import CarrierLoss
from fleet_runner.core.checks.shared.link_ends import CLEAN, here, there
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result

NAME = "link_flaps"

BOOT_SECONDS = 600.0
"""After the kernel started, until which drivers, firmware and switches settle their links."""

AHEAD_SECONDS = 60.0
"""How far dmesg's times may run ahead of the clock: they count from the boot, and drift."""


BOOTED = "booted"
"""What it observes beside: when the kernel started (epoch seconds, by the node's own clock)."""


class Lost(NamedTuple):
    """How often an interface lost its carrier in the last hour and the last day."""

    hour: int
    day: int


def judge(readings: Readings, expected: Expected) -> Result:
    """Make one finding per interface that flaps; losses without a time that can be read make a PASS UNKNOWN."""
    losses = link_events.parse(text_of(readings["dmesg"]))
    now, booted = readings["dmesg"].at, uptime.parse(text_of(readings["uptime"]))
    quiet = max(booted + BOOT_SECONDS, _undisturbed_from(expected, now))
    undated = Counter(loss.interface for loss in losses if loss.at is None)
    counted = _counted((loss for loss in losses if loss.at is not None and loss.at >= quiet), now)
    findings = [finding(expected, name, lost) for name, lost in sorted(counted.items()) if flaps(lost)]
    dated = Counter(loss.interface for loss in losses if loss.at is not None)
    observed = {
        "losses": {name: lost.day for name, lost in sorted(counted.items())},
        "excluded": sum(dated.values()) - sum(lost.day for lost in counted.values()),
        "undated": dict(sorted(undated.items())),
        BOOTED: booted,
    }
    unread = [f"{name} lost its carrier {count} times at unreadable times" for name, count in sorted(undated.items())]
    return unless_unread(conclude(NAME, findings, "no interface flaps", observed), unread)


def _undisturbed_from(expected: Expected, now: float) -> float:
    """Return the moment on the node's clock up to which the runner itself let its links go down."""
    until = number(expected.run.get("disturbed", {}).get(expected.node))
    controller = number(expected.run.get("now"))
    if until is None:
        return 0.0
    return until if controller is None else now - (controller - until)


def _counted(losses: Iterable[CarrierLoss], now: float) -> dict[str, Lost]:
    """Count within the last hour and day; a time that is still to come is no time."""
    ages: dict[str, list[float]] = defaultdict(list)
    for loss in losses:
        age = now - (loss.at or 0.0)
        if -AHEAD_SECONDS <= age <= DAY:
            ages[loss.interface].append(age)
    return {name: Lost(sum(age <= HOUR for age in mine), len(mine)) for name, mine in ages.items()}


def flaps(lost: Lost) -> bool:
    """Whether an interface lost its carrier too often."""
    return lost.hour >= HOUR_FLAPS or lost.day >= DAY_FLAPS


def finding(expected: Expected, name: str, lost: Lost) -> Finding:
    """Return what is said of an interface that flaps, and what a technician does about it."""
    return about(expected.node, "link.flaps", name)(
        message=f"{name} lost its carrier {lost.hour} times in the last hour and {lost.day} times in the last day,"
        f" expected fewer than {HOUR_FLAPS} and {DAY_FLAPS}, boots and drains left out",
        remedy=Remedy.RECABLE,
        steps=(
            f"At {here(expected, name)}: {CLEAN}.",
            f"At its other end, {there(expected, name)}: do the same.",
            "If it goes on, replace the cable with its modules.",
        ),
    )


CHECK = Check(
    name=NAME,
    question="Do the node's links stay up, boots and drains left out?",
    reads=("dmesg", "uptime"),
    judge=judge,
    codes=(
        Code(
            "link.flaps", (Remedy.RECABLE,), "3 losses of carrier in an hour or 6 in a day, without boots and drains"
        ),
    ),
    source="The limits are ours; Azure's node health checks take 5 losses of carrier in 24 hours.",
)
