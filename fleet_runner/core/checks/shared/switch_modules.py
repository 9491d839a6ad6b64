"""Modules in the ports of switches that alarm: too warm, or too little or too much light.

Each measures against its own limits (`port_states.modules`). Once is only recorded: the next sweep must find it, too.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from fleet_runner.core.cabling import quality
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.checks.parsers.port_states.modules import RX_POWER, TEMPERATURE, TX_POWER, UNITS, ModuleAlarm
from fleet_runner.core.checks.parsers.port_states.port import SwitchPort
from fleet_runner.core.checks.shared.link_ends import CLEAN
from fleet_runner.core.checks.verdicts import Finding, Remedy

WARM_SWITCH = 3
"""Modules of one switch that are too warm at once: no fault of each of them, but of its fans or the air."""

VERBS = {TEMPERATURE: "is at", RX_POWER: "receives", TX_POWER: "sends"}


class AlarmingModule(NamedTuple):
    """A module of a switch, the port at the link's far end, and what it alarms of: one kind, the lane farthest off.

    `again`: the last sweep found it, too.
    """

    near: Port
    far: Port
    alarm: ModuleAlarm
    again: bool

    @property
    def name(self) -> str:
        """Return what is remembered of it: "leaf-1 Ethernet8 rx_power"."""
        return f"{self.near} {self.alarm.what}"


def alarming(
    links: Iterable[Link], ports: Mapping[Port, SwitchPort], before: Collection[object]
) -> Iterator[AlarmingModule]:
    """Yield the modules at the ends of links that alarm, once for each kind; `before` is what the last sweep named.

    Its names are those of `AlarmingModule.name`.
    """
    for near, far in sorted(pair for each in links for pair in (each, each[::-1])):
        kinds: dict[str, list[ModuleAlarm]] = defaultdict(list)
        for alarm in ports[near].alarms if near in ports else ():
            kinds[alarm.what].append(alarm)
        for told in kinds.values():
            worst = max(told, key=lambda alarm: abs(alarm.value - alarm.limit))
            module = AlarmingModule(near, far, worst, again=False)
            yield module._replace(again=module.name in before)


def findings(modules: Iterable[AlarmingModule], where: Places, fabric: str) -> Iterator[Finding]:
    """Yield a finding for each module; those of a switch whose modules are too warm together are one."""
    warm: dict[str, list[AlarmingModule]] = defaultdict(list)
    for each in modules:
        if each.alarm.what == TEMPERATURE:
            warm[each.near.device].append(each)
        else:
            yield _light(each, where, fabric)
    for switch, mine in sorted(warm.items()):
        if len(mine) < WARM_SWITCH:
            yield from (_warm(each, where, fabric) for each in mine)
        else:
            yield _warm_switch(switch, mine, fabric)


def _said(module: AlarmingModule) -> str:
    what, lane, value, limit = module.alarm
    at = f" on lane {lane}" if lane else ""
    side = "at least" if value < limit else "at most"
    more = "" if module.again else "; the next sweep tells whether it goes on"
    return (
        f"{module.near}: its module {VERBS[what]} {value:g} {UNITS[what]}{at}, expected {side} {limit:g} by its own"
        f" limits{more}"
    )


def _light(module: AlarmingModule, where: Places, fabric: str) -> Finding:
    devices = tuple(sorted({module.near.device, module.far.device}))
    other = "which sends what arrives here" if module.alarm.what == RX_POWER else "which hears it"
    return Finding(
        code=f"optics.{module.alarm.what}",
        component=f"{module.near}",
        message=_said(module),
        remedy=Remedy.RECABLE if module.again else Remedy.RECORD,
        fault=quality.key((module.near, module.far)),
        nodes=(fabric, *(device for device in devices if device in where.servers)),
        steps=(
            f"At {where.port(module.near)}: {CLEAN}.",
            f"At its other end, {where.port(module.far)}, {other}: do the same.",
            "If the next check still finds it, replace the module of the end that sends.",
        ),
        devices=devices,
    )


def _warm(module: AlarmingModule, where: Places, fabric: str) -> Finding:
    return Finding(
        code="optics.temperature",
        component=f"{module.near}",
        message=_said(module),
        remedy=Remedy.RECABLE if module.again else Remedy.RECORD,
        fault=f"{fabric}/module/{module.near}",
        nodes=(fabric,),
        steps=(
            f"At {where.port(module.near)}: look whether air reaches the module, and whether the switch's fans turn.",
            "If the next check still finds it, replace the module.",
        ),
        devices=(module.near.device,),
    )


def _warm_switch(switch: str, modules: list[AlarmingModule], fabric: str) -> Finding:
    worst = max(modules, key=lambda module: module.alarm.value)
    return Finding(
        code="optics.temperature",
        component=switch,
        message=f"{switch}: {len(modules)} modules are beyond their own limits of temperature, the worst at"
        f" {worst.near} with {worst.alarm.value:g} C; look at the switch's fans and its rack's air",
        remedy=Remedy.WATCH,
        fault=f"{fabric}/modules/{switch}",
        nodes=(fabric,),
        devices=(switch,),
    )
