"""Are the node's RoCE ports set as the profile says, and do they lose nothing?

Only where the profile has `roce`. `ib_ports` and `nic_ports` judge whether ports are up and fast enough, `link_flaps`
how often links go down, and `optics` the modules. Counters are compared with a look of up to a day ago; what was
counted before a boot, or before the runner's own work on the node was over, is left out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import ethtool, lldp, net_interfaces, roce_files
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.shared import roce_counters, roce_settings
from fleet_runner.core.checks.shared.counter_growth import growth
from fleet_runner.core.checks.shared.previous_look import look
from fleet_runner.core.checks.shared.roce_counters import RocePort
from fleet_runner.core.checks.shared.roce_settings import TOOLS, Answers, PortSettings
from fleet_runner.core.checks.verdicts import Remedy, Result
from fleet_runner.core.inventory import roce

NAME = "roce_ports"

BOOT = "boot"
"""What it observes beside: the kernel's boot id at this look."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge the interfaces that the profile names; what their tools do not tell makes a PASS UNKNOWN."""
    wanted = roce.roce(expected.profile)
    if not wanted.interfaces:
        raise EvidenceError("fleet_profile.roce has no interface; name them in its interfaces, or in hca_interfaces")
    network = net_interfaces.parse(text_of(readings["network_interfaces"])).interfaces
    kernel, answers = roce_files.parse(text_of(readings["roce"])), Answers(readings)
    known = {adapter: network[name] for adapter, name in wanted.interfaces.items() if name in network}
    unread = [
        f"{name} is not among the node's interfaces ({', '.join(list(network)[:8])}); correct the profile's names"
        for name in wanted.interfaces.values()
        if name not in network
    ]
    ports = [roce_settings.settings(each, answers, kernel) for each in known.values()]
    lossless = wanted.pfc or frozenset[int]()
    counts: dict[str, int] = {}
    for adapter, each in known.items():
        told, why = answers.of("ethtool_statistics", each.name, ethtool.statistics)
        unread += [f"{each.name}: counters are not known: {why}"] if why else []
        counts |= _named(each.name, {**kernel.counters.get(adapter, {}), **roce_counters.kept(told or {}, lossless)})
    unread += [text for mine in ports for text in roce_settings.unread(mine, wanted)]
    grown = growth(NAME, counts, readings["roce"], _since(expected, kernel.boot), anew=True)
    announced = _announced(readings)
    findings = [
        *roce_settings.findings(ports, wanted, expected.node),
        *roce_settings.announced(announced, (each.name for each in known.values()), wanted, expected.node),
    ]
    for each in known.values():
        mine = {key.partition("/")[2]: count for key, count in grown.grown.items() if key.startswith(f"{each.name}/")}
        port = RocePort(each.name, each.speed_mbps, lossless)
        findings += roce_counters.findings(port, mine, grown, expected)
    observed = {
        "ports": {mine.interface: _plain(mine) for mine in ports},
        "grown": grown.grown,
        "looks": grown.looks,
        BOOT: kernel.boot,
    }
    if heard := {each.name: sorted(announced[each.name]) for each in known.values() if each.name in announced}:
        observed["announced"] = heard
    passed = f"{len(ports)} RoCE ports are set as the profile says, and lose nothing"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _announced(readings: Readings) -> Mapping[str, frozenset[int]]:
    """Return the PFC that switches announce, as far as the node's LLDP hears it: a node need not have any."""
    try:
        return lldp.announced_pfc(text_of(readings["lldp"])) if "lldp" in readings else {}
    except EvidenceError:
        return {}


def _named(interface: str, counts: Mapping[str, int]) -> dict[str, int]:
    return {f"{interface}/{name}": count for name, count in counts.items()}


def _since(expected: Expected, boot: str) -> Expected:
    """Return what is expected without the last look, if a boot or work of the runner lies between it and this one."""
    before = look(expected, NAME)
    if before is None:
        return expected
    looks, until = before.value("looks"), number(expected.run.get("disturbed", {}).get(expected.node))
    began = [at for row in looks if (at := number(row.get("at"))) is not None] if isinstance(looks, list) else []
    booted = bool(boot and before.value(BOOT) and before.value(BOOT) != boot)
    if booted or (until is not None and any(at < until for at in began)):
        return replace(expected, run={**expected.run, "before": {}})
    return expected


def _plain(mine: PortSettings) -> dict[str, Any]:
    """Return the settings that are known, as plain JSON."""
    told: dict[str, Any] = {
        "mtu": mine.mtu,
        "pfc": None if mine.pfc is None else sorted(mine.pfc),
        "trust": mine.trust or None,
        "ecn": sorted({priority for (_, priority), on in mine.ecn.items() if on}) if mine.ecn else None,
        "fec": sorted(mine.fec) or None,
    }
    return {name: value for name, value in told.items() if value is not None}


CHECK = Check(
    name=NAME,
    question="Are the node's RoCE ports set as the profile says, and do they lose nothing?",
    reads=("network_interfaces", "roce", *TOOLS),
    also=("lldp",),
    judge=judge,
    remembers=True,
    section=roce.SECTION,
    codes=(
        Code("roce.mtu", (Remedy.WATCH,), "an interface has another MTU than `roce.mtu`"),
        Code("roce.pfc", (Remedy.WATCH,), "PFC is on for other priorities than `roce.pfc`"),
        Code("roce.dcbx", (Remedy.WATCH,), "a switch announces PFC for other priorities by DCBX than `roce.pfc`"),
        Code("roce.trust", (Remedy.WATCH,), "a port trusts DSCP or PCP, against `roce.trust`"),
        Code("roce.dscp", (Remedy.WATCH,), "a DSCP code point goes to another priority than `roce.dscp` says"),
        Code("roce.ecn", (Remedy.WATCH,), "DCQCN is off for a priority of `roce.ecn`"),
        Code("roce.fec", (Remedy.WATCH,), "a link runs an FEC encoding that `roce.fec` does not list"),
        Code(
            "roce.symbol_errors",
            (Remedy.RECABLE, Remedy.RECORD),
            "more errors behind FEC within a day than one bit in 1e13 (1e12 below 200 Gb/s), and over a hundred; only"
            " recorded if the link went down meanwhile",
        ),
        Code(
            "roce.raw_errors",
            (Remedy.WATCH, Remedy.RECORD),
            "more bit errors before FEC than 2.4e-4, beyond which FEC may fail",
        ),
        Code(
            "roce.lossless_drops", (Remedy.WATCH,), "over a hundred packets of a priority with PFC dropped in a day"
        ),
        Code("roce.drops", (Remedy.WATCH,), "over a hundred packets dropped in a day, and over one in a million"),
        Code("roce.oversize", (Remedy.WATCH,), "packets longer than the MTU: the other end's is larger"),
        Code(
            "roce.pause_storm",
            (Remedy.WATCH, Remedy.RECORD),
            "the host took nothing for so long that the adapter stopped to pause its switch; warnings are recorded",
        ),
        Code("roce.paused", (Remedy.RECORD,), "the network paused a priority for a tenth of the time"),
    ),
    source="The profile's `roce`; the kernel's document on mlx5's counters; bit error ratios of IEEE 802.3 and"
    " 802.3bs; DCBX of IEEE 802.1Qaz. The limits of a hundred packets and a tenth of the time are ours.",
)
