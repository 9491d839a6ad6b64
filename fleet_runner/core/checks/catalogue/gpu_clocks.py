"""Do the GPUs run as fast as they can, and does nothing but their load slow them?"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, component
from fleet_runner.core.checks.shared import previous_look
from fleet_runner.core.checks.shared.gpus import answering, busy, described
from fleet_runner.core.checks.shared.previous_look import Earlier
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME, SECTION = "gpu_clocks", "gpu_clocks"

SLOWED_SHARE_MAX = 0.01
"""Of the time between two looks that a GPU may spend slowed by heat or by the power supply: ours, a judgement."""

CAPPED_SHARE = 0.7
"""Of its power limit: a GPU that is capped while it draws less is not capped by its load."""


class Slowdown(NamedTuple):
    """A reason for lower clocks that a healthy node does not have."""

    code: str
    meaning: str
    steps: tuple[str, ...]


SLOWDOWNS: Mapping[str, Slowdown] = {
    "hw_power_brake_slowdown": Slowdown(
        "gpu.power_brake",
        "the power brake slows it",
        ("Check the node's power supplies, their cords and their redundancy.", "Check the GPU's power cable."),
    ),
    "hw_slowdown": Slowdown(
        "gpu.hw_slowdown",
        "its hardware slows it, by heat or by power",
        ("Check fans, air baffles and power supplies.",),
    ),
    "hw_thermal_slowdown": Slowdown("gpu.hw_thermal_slowdown", "its hardware slowed it because it was hot", ()),
    "sw_thermal_slowdown": Slowdown(
        "gpu.sw_thermal_slowdown",
        "the driver slows it because it is warm",
        ("Check the fans, the air baffles and the inlet temperature of the rack.",),
    ),
}
"""Idling, application clocks, sync boost and display settings are somebody's request and harmless (NVML)."""

MOST = {"graphics": "graphics_mhz", "sm": "sm_mhz", "mem": "memory_mhz"}
"""The profile's name of each clock that a GPU must be able to reach."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge reasons now and, where the driver counts them, since the last look; clocks in use only under load."""
    section = profile.section(expected.profile, SECTION)
    gpus, before = answering(readings), previous_look.look(expected, NAME)
    findings: list[Finding] = []
    unread: list[str] = []
    for gpu in gpus:
        findings += [*_slowed(gpu, before, expected), *_limits(gpu, section, expected)]
        findings += [*_set(gpu, expected), *(_loaded(gpu, section, expected) if busy(gpu) else ())]
        unread += _unread(gpu, section)
    observed = {
        gpu.pci: {
            "reasons": sorted(name for name, active in gpu.clocks.reasons.items() if active),
            "slowed_us": dict(gpu.clocks.slowed_us),
            "mhz": dict(gpu.clocks.current),
        }
        for gpu in gpus
    }
    passed = f"nothing but load slows any of {len(gpus)} GPUs"
    return unless_unread(conclude(NAME, findings, passed, {"gpus": observed}), unread)


def _slowed(gpu: Gpu, before: Earlier | None, expected: Expected) -> Iterator[Finding]:
    """A reason that is met once is watched; one that was there at the last look too is looked into."""
    active = {name for name, on in gpu.clocks.reasons.items() if on}
    if active & {"hw_thermal_slowdown", "hw_power_brake_slowdown"}:
        active.discard("hw_slowdown")  # the word for both; these say which
    active.discard("hw_thermal_slowdown")  # of this very moment gpu_thermals speaks
    then = before.again("gpus", gpu.pci, "reasons") if before else None
    for name, each in SLOWDOWNS.items():
        share = _share(gpu, name, before)
        if name not in active and share <= SLOWED_SHARE_MAX:
            continue
        again = name in active and isinstance(then, list) and name in then
        told = f" {share:.0%} of the time since the last look" if share > SLOWED_SHARE_MAX else ""
        yield about(expected.node, each.code, component(gpu))(
            message=f"{described(gpu, expected)}: {each.meaning}{told}",
            remedy=Remedy.TRIAGE if again else Remedy.WATCH,
            steps=each.steps if again else (),
        )


def _share(gpu: Gpu, name: str, before: Earlier | None) -> float:
    grown = before.growth(gpu.clocks.slowed_us.get(name), "gpus", gpu.pci, "slowed_us", name) if before else None
    return min(1.0, grown / 1e6 / before.seconds) if before and grown else 0.0


def _limits(gpu: Gpu, section: Section, expected: Expected) -> Iterator[Finding]:
    """Hold the clocks that a GPU can reach against the profile: lower ones are another VBIOS or another board."""
    for clock, key in MOST.items():
        most = gpu.clocks.most.get(clock)
        if section.has(key) and most is not None and most < section.number(key):
            yield about(expected.node, f"gpu.clock_max_{clock}", component(gpu))(
                message=f"the {clock} clock of {described(gpu, expected)} reaches {most:g} MHz,"
                f" expected {section.number(key):g}",
                remedy=Remedy.TRIAGE,
                steps=(f"Compare the part number and the VBIOS of GPU {gpu.pci} with another node's.",),
            )


def _set(gpu: Gpu, expected: Expected) -> Iterator[Finding]:
    """Application clocks below the GPU's own default hold every application back until the driver is loaded anew."""
    for clock, default in gpu.clocks.set_by_default.items():
        set_to = gpu.clocks.set_to.get(clock, default)
        if set_to < default:
            yield about(expected.node, "gpu.application_clocks", component(gpu))(
                message=f"somebody set the {clock} clock of {described(gpu, expected)} to {set_to:g} MHz, its default"
                f" is {default:g}; `nvidia-smi -rac` resets it",
                remedy=Remedy.WATCH,
            )


def _loaded(gpu: Gpu, section: Section, expected: Expected) -> Iterator[Finding]:
    """Judge what only a GPU at work can show."""
    now, most = gpu.clocks.current.get("sm"), gpu.clocks.most.get("sm")
    if section.has("busy_share_min") and now is not None and most and now < most * section.number("busy_share_min"):
        yield about(expected.node, "gpu.slow_clock", component(gpu))(
            message=f"{described(gpu, expected)} runs at {now:g} of {most:g} MHz, expected at least"
            f" {section.number('busy_share_min'):.0%}",
            remedy=Remedy.WATCH,
        )
    draw, limit = gpu.power.draw_watts, gpu.power.limit_watts
    capped = gpu.clocks.reasons.get("sw_power_cap")
    if capped and draw is not None and limit is not None and draw < limit * CAPPED_SHARE:
        yield about(expected.node, "gpu.power_cap", component(gpu))(
            message=f"{described(gpu, expected)} is limited by a power cap at {draw:g} W, expected not below"
            f" {limit:g} W; look at the limits of its module and its node",
            remedy=Remedy.WATCH,
        )


def _unread(gpu: Gpu, section: Section) -> Iterator[str]:
    if not gpu.clocks.reasons:
        yield f"{component(gpu)} does not report what slows it"
    missing = [clock for clock, key in MOST.items() if section.has(key) and clock not in gpu.clocks.most]
    if missing:
        yield f"{component(gpu)} does not report its maximum clocks ({', '.join(missing)})"


CHECK = Check(
    name=NAME,
    question="Do the GPUs reach their clocks, and does nothing but load slow them?",
    reads=("nvidia_smi",),
    judge=judge,
    remembers=True,
    section=SECTION,
    codes=(
        Code("gpu.power_brake", (Remedy.WATCH, Remedy.TRIAGE), "the power brake slows it"),
        Code("gpu.hw_slowdown", (Remedy.WATCH, Remedy.TRIAGE), "its hardware slows it; older drivers give no reason"),
        Code("gpu.hw_thermal_slowdown", (Remedy.WATCH,), "its hardware slowed it by heat since the last look"),
        Code("gpu.sw_thermal_slowdown", (Remedy.WATCH, Remedy.TRIAGE), "the driver slows it because it is warm"),
        Code("gpu.clock_max_*", (Remedy.TRIAGE,), "a clock (graphics, sm, mem) cannot reach the profile's MHz"),
        Code("gpu.application_clocks", (Remedy.WATCH,), "somebody set application clocks below the default"),
        Code("gpu.slow_clock", (Remedy.WATCH,), "it runs below the profile's share of its clock"),
        Code("gpu.power_cap", (Remedy.WATCH,), "a power cap limits it to less than 70 % of its power limit"),
    ),
    source="NVML's clocks event reasons: what each means, and which are harmless (idle, application clocks, sync"
    " boost); azurehpc-health-checks leaves out the same. Shares of time and power are ours.",
)
