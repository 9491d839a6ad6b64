"""Are the switches' ports set for RoCE as the nodes behind them are, and are their links free of errors and flaps?

Only of links whose node's device type has `roce` in its profile, and of links of their switches to others. Switches
tell it themselves (`fabric_ports`). What a switch does not tell is no fault, and no doubt about the fabric.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling import extent, quality
from fleet_runner.core.cabling import roce as links_roce
from fleet_runner.core.cabling.design import designed, infiniband, places
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.topology.heat import RATES, UNTELLING, UNTOLD
from fleet_runner.core.checks.answers import conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected, Reading
from fleet_runner.core.checks.parsers import switch_ports
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.parsers.port_states.modules import TEMPERATURE
from fleet_runner.core.checks.parsers.port_states.port import (
    ECN_MARKS,
    LOSSLESS_DROPS,
    STORM_DROPS,
    STORMS,
    SwitchPort,
)
from fleet_runner.core.checks.shared import switch_errors, switch_flaps, switch_modules
from fleet_runner.core.checks.shared.counter_growth import Growth, growth
from fleet_runner.core.checks.shared.previous_look import Earlier, look
from fleet_runner.core.checks.shared.roce_counters import LEAST
from fleet_runner.core.checks.shared.switch_errors import BAD, BadReceiver
from fleet_runner.core.checks.shared.switch_flaps import FlappingLink
from fleet_runner.core.checks.shared.switch_modules import AlarmingModule
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.roce import SECTION, RoceProfile, roce

NAME = "fabric_roce"

ALARMS = "alarms"
"""What it observes beside: which modules alarmed, and of what."""

MOST_COUNTED = 1_000
"""Links of each sort that a result names for the fabric's page."""

CAP_LINKS, CAP_SHARE = 10, 0.005
"""More bad links at once are no faults of cables (as in `fabric_counters`, after UFM's plug-in)."""


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL for settings that differ, bad links and pause storms; UNKNOWN for a switch that was not read."""
    told = switch_ports.parse(text_of(readings["switch_ports"]))
    wanted = wanted_ports(expected)
    if not wanted:
        return conclude(NAME, (), "no device type of the fabric has RoCE ports in its profile (roce)", {"ports": 0})
    own = frozenset(expected.device.get("switches", ()))
    links = extent.own(designed(expected.fabric, lambda kind: not infiniband(kind)), own)
    leaves = frozenset(near.device for each in links for near, far in (each, each[::-1]) if far in wanted) & own
    ports = links_roce.named({name: mine for name, mine in told.ports.items() if name in own}, links)
    if not ports:
        why = "; ".join(f"{name}: {each}" for name, each in sorted(told.unread.items())[:3])
        raise EvidenceError(f"no switch told the state of its ports: {why or 'none can be asked'}")
    now = number(expected.run.get("now")) or readings["switch_ports"].at
    grown = _grown(ports, readings["switch_ports"], expected)
    where = places(expected.fabric)
    mine = [each for each in links if any(port in wanted or port.device in leaves for port in each)]
    # What a boot, a drain or work on the node at the other end made its switch count says nothing of a cable.
    undisturbed = _undisturbed(links, grown, now, expected.run.get("disturbed", {}))
    calm = [each for each in mine if each in undisturbed]
    before = look(expected, NAME)
    seen = list(switch_errors.bad_receivers(calm, ports, grown, before))
    bad = [each for each in seen if each.again]
    flapping = list(switch_flaps.flapping(calm, ports, grown))
    modules = list(switch_modules.alarming(calm, ports, _alarmed(before)))
    warm = [each for each in modules if each.alarm.what == TEMPERATURE]
    dim = [each for each in modules if each.again and each not in warm]
    sure: list[BadReceiver | FlappingLink | AlarmingModule] = [*dim, *(link for link in flapping if link.sure), *bad]
    worn = {quality.key((each.near, each.far)): each for each in sure}
    findings = [
        *_settings(mine, ports, wanted, leaves, expected.node),
        *_storms(calm, wanted, grown, expected.node),
        *_lossless_drops(calm, grown, expected.node),
        *switch_modules.findings(warm, where, expected.node),
    ]
    if len(worn) > max(CAP_LINKS, CAP_SHARE * len(mine)):
        findings.append(_suspect([*worn.values()], expected.node))
    else:
        findings += [switch_errors.finding(each, where, expected.node) for each in seen]
        findings += [switch_flaps.finding(each, where, expected.node) for each in flapping]
        findings += switch_modules.findings((each for each in modules if each not in warm), where, expected.node)
    observed: dict[str, Any] = {
        "ports": len(ports),
        "read": len(told.ports),
        "unread": sorted(told.unread),
        BAD: {f"{each.near}": each.total for each in seen},
        ALARMS: [each.name for each in modules],
        "looks": {switch: each.looks for switch, each in grown.items()},
    } | _heat(links, undisturbed, ports, grown)
    if marks := _marks(ports):
        observed[ECN_MARKS] = marks
    unread = [f"{name} was not read: {why}" for name, why in sorted(told.unread.items()) if name in leaves]
    passed = f"{len(mine)} links with RoCE are set alike at both ends, as far as {len(told.ports)} switches tell"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _heat(
    links: Sequence[Link], calm: Mapping[Link, None], ports: Mapping[Port, SwitchPort], grown: Mapping[str, Growth]
) -> dict[str, Any]:
    """Return what all links of the fabric counted an hour, for its page; of one that was disturbed nobody tells."""
    told, untold = switch_errors.rates(calm, ports, grown)
    untold += sorted(each for each in links if each not in calm)
    worst = sorted(told, key=lambda row: (-row[1] / row[2], row[0]))[:MOST_COUNTED]
    return {
        RATES: [[*a, *b, round(hourly, 3), round(allowed, 3)] for (a, b), hourly, allowed in worst],
        "counting": len(told),
        UNTOLD: [[*a, *b] for a, b in untold[:MOST_COUNTED]],
        UNTELLING: len(untold),
    }


def wanted_ports(expected: Expected) -> dict[Port, RoceProfile]:
    """Return the profile of each node's RoCE ports; of a profile that cannot be read the node's own check tells."""
    kinds: dict[str, RoceProfile] = {}
    for kind, healthy in expected.profiles.items():
        try:
            if profile.has(healthy, SECTION):
                kinds[kind] = roce(healthy)
        except EvidenceError:
            continue
    return {
        Port(name, interface): kinds[device["device_type"]]
        for name, device in expected.fabric.get("devices", {}).items()
        if device.get("device_type") in kinds
        for interface in kinds[device["device_type"]].interfaces.values()
    }


def _alarmed(before: Earlier | None) -> Sequence[object]:
    told = before.again(ALARMS) if before is not None else None
    return told if isinstance(told, list) else ()


def _grown(ports: Mapping[Port, SwitchPort], reading: Reading, expected: Expected) -> dict[str, Growth]:
    """Return how far each switch's counters grew; one whose counters fell booted, and counts anew.

    A counter that an earlier look lacks was not told then, or not known: its first count is no growth.
    """
    before = look(expected, NAME)
    remembered = before.value("looks") if before is not None else None
    counts: dict[str, dict[str, int]] = {port.device: {} for port in ports}
    for port, state in ports.items():
        told = {f"{port.interface}/{what}": count for what, count in state.counts.items() if what != ECN_MARKS}
        counts[port.device] |= told
    grown: dict[str, Growth] = {}
    for switch, mine in counts.items():
        looks = remembered.get(switch) if isinstance(remembered, Mapping) else None
        held = replace(expected, run={**expected.run, "before": {switch: {"observed": {"looks": looks}}}})
        grown[switch] = growth(switch, mine, reading, held, anew=True)
    return grown


def _settings(
    links: Sequence[Link],
    ports: Mapping[Port, SwitchPort],
    wanted: Mapping[Port, RoceProfile],
    leaves: frozenset[str],
    fabric: str,
) -> Iterator[Finding]:
    for each in links_roce.wrong(links, ports, wanted):
        many = f" and {len(each.ports) - 4} more" if len(each.ports) > 4 else ""  # noqa: PLR2004  as many as a sentence bears
        yield Finding(
            code="roce.switch_setting",
            component=f"{each.switch} {each.setting}",
            message=f"{each.switch}: {each.setting} is {each.found} at {', '.join(each.ports[:4])}{many}, expected"
            f" {each.expected} as the profile of the nodes there says; correct the switch's configuration",
            remedy=Remedy.WATCH,
            fault=f"{fabric}/roce/{each.switch}/{each.setting}",
            nodes=(fabric,),
            devices=(each.switch,),
        )
    for unlike in links_roce.unlike(links, ports, leaves, wanted):
        a, b = unlike.joined
        yield Finding(
            code="roce.ends",
            component=f"{a} to {b} {unlike.setting}",
            message=f"{a} to {b}: {unlike.setting} is {unlike.found[0]} at {a.device} and {unlike.found[1]} at"
            f" {b.device}, expected alike; correct the configuration of {unlike.wrong or 'one'}",
            remedy=Remedy.WATCH,
            fault=f"{quality.key(unlike.joined)}/{unlike.setting}",
            nodes=(fabric,),
            devices=tuple(sorted({a.device, b.device})),
        )


def _undisturbed(
    links: Iterable[Link], grown: Mapping[str, Growth], now: float, until: Mapping[str, float]
) -> dict[Link, None]:
    """Return the links at whose ends nothing was going on since the earlier look, in their order."""
    found: dict[Link, None] = {}
    for joined in links:
        seconds = max((grown[port.device].seconds for port in joined if port.device in grown), default=0.0)
        if not quality.disturbed(joined, until, now - seconds):
            found[joined] = None
    return found


def _storms(
    links: Iterable[Link], wanted: Mapping[Port, RoceProfile], grown: Mapping[str, Growth], fabric: str
) -> Iterator[Finding]:
    for each in sorted(links):
        for near, far in (each, each[::-1]):
            window = grown.get(near.device)
            count = window.grown.get(f"{near.interface}/{STORMS}", 0) if window else 0
            if window and count and far in wanted:
                drops = window.grown.get(f"{near.interface}/{STORM_DROPS}", 0)
                lost = f" and dropped {drops} packets" if drops else ""
                yield Finding(
                    code="roce.watchdog",
                    component=f"{near}",
                    message=f"{near}: its PFC watchdog saw {count} pause storms from {far}{lost} in {window.hours},"
                    f" expected none; {far.device} did not take its packets: look at the host's PCIe link and log",
                    remedy=Remedy.WATCH,
                    fault=f"{quality.key(each)}/storm",
                    nodes=(fabric,),
                    devices=tuple(sorted({near.device, far.device})),
                )


def _marks(ports: Mapping[Port, SwitchPort]) -> dict[str, int]:
    """Return how many packets each switch has marked since its counters began: how RoCE works, and no fault."""
    found: dict[str, int] = {}
    for port, state in sorted(ports.items()):
        if ECN_MARKS in state.counts:
            found[port.device] = found.get(port.device, 0) + state.counts[ECN_MARKS]
    return found


def _lossless_drops(links: Iterable[Link], grown: Mapping[str, Growth], fabric: str) -> Iterator[Finding]:
    """Yield one finding for each switch that dropped, at ports of these links, what must not be lost."""
    lost: dict[str, dict[str, int]] = {}
    for port in (port for each in links for port in each if port.device in grown):
        drops = grown[port.device].grown.get(f"{port.interface}/{LOSSLESS_DROPS}", 0)
        if drops > LEAST:
            lost.setdefault(port.device, {})[port.interface] = drops
    for switch, mine in sorted(lost.items()):
        worst = sorted(mine, key=lambda name: (-mine[name], name))[:4]
        many = f" and {len(mine) - 4} more" if len(mine) > 4 else ""  # noqa: PLR2004  as many as a sentence bears
        yield Finding(
            code="roce.switch_drops",
            component=switch,
            message=f"{switch} dropped {sum(mine.values())} packets in queues of priorities with PFC at"
            f" {', '.join(worst)}{many} in {grown[switch].hours}, expected at most {LEAST} at a port; look whether"
            " ECN is on for these queues and whether senders slow down",
            remedy=Remedy.RECORD,
            fault=f"{fabric}/roce/{switch}/drops",
            nodes=(fabric,),
            devices=(switch,),
        )


def _suspect(bad: Sequence[BadReceiver | FlappingLink | AlarmingModule], fabric: str) -> Finding:
    return Finding(
        code="roce.suspect",
        component=fabric,
        message=f"{fabric}: {len(bad)} links are bad at once, too many for faults of cables; the first:"
        f" {bad[0].near} to {bad[0].far}",
        remedy=Remedy.WATCH,
        fault=f"{fabric}/roce/suspect",
        nodes=(fabric,),
    )


CHECK = Check(
    name=NAME,
    question="Are the switches' ports set for RoCE as the nodes behind them, and free of errors and flaps?",
    reads=("switch_ports",),
    judge=judge,
    needs_fabric=True,
    remembers=True,
    codes=(
        Code(
            "roce.switch_setting", (Remedy.WATCH,), "PFC, ECN, MTU or FEC of a switch's ports is not as `roce` says"
        ),
        Code("roce.ends", (Remedy.WATCH,), "two switches have different settings at the ends of a link"),
        Code(
            "cabling.symbol_errors",
            (Remedy.RECABLE, Remedy.RECORD),
            "a switch received more than IEEE 802.3 allows with errors; recorded until two sweeps in a row saw it",
        ),
        Code(
            "cabling.link_flaps", (Remedy.RECABLE,), "both switches saw a link between them go down 6 times in a day"
        ),
        Code("cabling.one_end_down", (Remedy.RECORD,), "only one of them saw it, or the other does not tell"),
        Code(
            "optics.temperature",
            (Remedy.RECABLE, Remedy.WATCH, Remedy.RECORD),
            "a module of a switch is warmer or"
            " colder than it says it may be; several of one switch are told together",
        ),
        Code(
            "optics.rx_power",
            (Remedy.RECABLE, Remedy.RECORD),
            "a lane of a switch's module receives light outside of the module's own range",
        ),
        Code(
            "optics.tx_power",
            (Remedy.RECABLE, Remedy.RECORD),
            "a lane of a switch's module sends light outside of it",
        ),
        Code("roce.watchdog", (Remedy.WATCH,), "a switch's PFC watchdog saw a node pause it for too long"),
        Code(
            "roce.switch_drops",
            (Remedy.RECORD,),
            "a switch dropped over a hundred packets in a port's queues of priorities with PFC",
        ),
        Code("roce.suspect", (Remedy.WATCH,), "more links are bad at once than faults of cables explain"),
    ),
    source="The profiles' `roce`; bit error ratios of IEEE 802.3 and 802.3bs; the cap of UFM's plug-in for port"
    " isolation.",
)
