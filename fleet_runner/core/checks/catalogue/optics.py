"""Are the modules of the node's adapters well: warm, steady and bright as they should be?

Only where the profile asks for it: `mlxlink` comes with the vendor's tools, which not every fleet installs. A copper
cable measures nothing, and an empty cage is a matter of topology; there is nothing to judge of either.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected, ReadEnd
from fleet_runner.core.checks.parsers import mlxlink
from fleet_runner.core.checks.parsers.json_text import json_object, number
from fleet_runner.core.checks.parsers.mlxlink import Measured, Module
from fleet_runner.core.checks.shared.link_ends import CLEAN, here, there
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Optics

NAME = "optics"

STEP_SECONDS = 300.0
"""In which a temperature may change by the profile's step (UFM's PDR plug-in); in a longer time, by more."""


class Before(NamedTuple):
    """What the last look saw of a module: how warm it was, and how long ago."""

    celsius: float
    seconds: float


class ModuleInput(NamedTuple):
    """One adapter whose module is judged: its interface, what it said, and what is known of it from before."""

    interface: str
    module: Module
    before: Before | None


def judge(readings: Readings, expected: Expected) -> Result:
    """Make one finding per module and fault; an adapter that gave no answer makes a PASS UNKNOWN."""
    limits = profile.optics(expected.profile)
    if limits is None:
        return conclude(NAME, (), "the profile has no limits for modules (optics)", {"celsius": {}})
    answers = json_object(text_of(readings["mlxlink"]), "the answers of the adapters")
    findings: list[Finding] = []
    unread: list[str] = []
    warm: dict[str, float] = {}
    modules: dict[str, dict[str, Any]] = {}
    for adapter, interface in profile.hca_interfaces(expected.profile).items():
        try:
            module = _module(answers.get(adapter))
        except EvidenceError as error:
            unread.append(f"{adapter}: {error}")
            continue
        if module is not None:
            asked = ModuleInput(interface, module, _before(expected, adapter))
            findings += _judged(asked, limits, expected)
            if module.celsius is not None:
                warm[adapter] = max(module.celsius.values)
            modules[interface] = {"serial": module.serial, "celsius": warm.get(adapter), **_darkest(module)}
    observed = {"celsius": warm, "modules": modules, "unread": len(unread)}
    passed = (
        f"the modules of {len(warm)} adapters are within their limits"
        if warm
        else "no adapter has a module that reports measurements"
    )
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _darkest(module: Module) -> dict[str, float | None]:
    """Return what is received and sent on the darkest lane; while the link is down, neither says anything."""
    light = {"rx_dbm": module.rx_dbm, "tx_dbm": module.tx_dbm} if module.active else {}
    return {name: min(power.values) for name, power in light.items() if power is not None}


def _module(answer: object) -> Module | None:
    if not isinstance(answer, Mapping):
        raise EvidenceError("it was not asked; name it in hca_interfaces of the device type's file")
    if answer.get("end") == ReadEnd.MISSING:
        raise EvidenceError("mlxlink is not on the node; install NVIDIA's mft, or take optics out of the profile")
    if answer.get("end") != ReadEnd.OK:
        raise EvidenceError(f"mlxlink: {str(answer.get('error') or answer.get('end'))[:200]}")
    return mlxlink.parse(str(answer.get("text", "")))


def _before(expected: Expected, adapter: str) -> Before | None:
    known: Any = expected.run.get("before", {}).get(NAME) or {}
    celsius = number(known.get("observed", {}).get("celsius", {}).get(adapter))
    at, now = number(known.get("at")), number(expected.run.get("now"))
    if celsius is None or at is None or now is None or at >= now:
        return None
    return Before(celsius, now - at)


def _judged(asked: ModuleInput, limits: Optics, expected: Expected) -> list[Finding]:
    found: list[Finding] = []
    module = asked.module
    if module.celsius is not None and (why := _temperature(module.celsius, asked.before, limits)):
        found.append(_finding("optics.temperature", asked, why, expected))
    if module.active:  # what a port sends and receives while its link is down is the link's matter
        for code, verb, power in (
            ("optics.rx_power", "receives", module.rx_dbm),
            ("optics.tx_power", "sends", module.tx_dbm),
        ):
            if power is not None and power.outside:
                found.append(_finding(code, asked, _power(verb, power), expected))
    return found


def _temperature(celsius: Measured, before: Before | None, limits: Optics) -> str:
    """Return what is wrong with a temperature, "" if nothing is."""
    now = max(celsius.values)
    if now > limits.celsius_max:
        return f"its module is at {now:g} °C, expected at most {limits.celsius_max:g}"
    if celsius.outside:
        return f"its module is at {now:g} °C, outside of its own range {celsius.low:g} to {celsius.high:g}"
    if before is not None:
        step = abs(now - before.celsius)
        most = limits.celsius_change_max * max(1.0, before.seconds / STEP_SECONDS)
        if step > most:
            return (
                f"its module went from {before.celsius:g} to {now:g} °C in {before.seconds / 60:.0f} min, expected a"
                f" change of at most {most:.0f}"
            )
    return ""


def _power(verb: str, power: Measured) -> str:
    lanes = ", ".join(
        f"{value:g} dBm on lane {lane}" for lane, value in enumerate(power.values) if value in power.outside
    )
    return f"its module {verb} {lanes}, outside of its own range {power.low:g} to {power.high:g}"


def _finding(code: str, asked: ModuleInput, why: str, expected: Expected) -> Finding:
    named = " ".join(word for word in (asked.module.model, asked.module.serial) if word) or "of unknown model"
    near, far = here(expected, asked.interface), there(expected, asked.interface)
    steps = (
        (f"At {near}: is air flowing, and are cage and heat sink free of dust?",)
        if code == "optics.temperature"
        else (f"At {near}: {CLEAN}.", f"At its other end, {far}: do the same.")
    )
    return about(expected.node, code, asked.interface)(
        message=f"{asked.interface}: {why} (module {named})",
        remedy=Remedy.RECABLE,
        steps=(*steps, "If the next check still finds it, replace the module, then the one at the other end."),
    )


CHECK = Check(
    name=NAME,
    question="Are temperature and light of the adapters' modules within their limits?",
    reads=("mlxlink",),
    judge=judge,
    remembers=True,
    codes=(
        Code(
            "optics.temperature",
            (Remedy.RECABLE,),
            "a module is too warm for `optics` or itself, or changed too fast",
        ),
        Code("optics.rx_power", (Remedy.RECABLE,), "a lane receives light outside of the module's own range"),
        Code("optics.tx_power", (Remedy.RECABLE,), "a lane sends light outside of the module's own range"),
    ),
    source="UFM's plug-in for port isolation (temperatures); the range that each module gives for itself (light).",
)
