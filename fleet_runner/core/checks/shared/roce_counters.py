"""What a RoCE port counted within a day, and what of it asks for more than to be kept.

Pauses and notifications of congestion (CNPs) are how RoCE works: they are told, and no fault. The kernel's document
on mlx5's counters says what each one means; it gives no limits, so those of a share come from IEEE 802.3, and the
others are ours. A link that went down meanwhile counted errors of going down, which say nothing of its cable.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from fleet_runner.core.checks.answers import about
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.shared.counter_growth import Growth
from fleet_runner.core.checks.shared.link_ends import CLEAN, bad_key, both, here, there
from fleet_runner.core.checks.verdicts import Finding, Remedy

LEAST = 100
"""Fewer errors in a day are no matter, however little was received (as in `nic_ports`; ours)."""

FAST_MBPS = 200_000
FAST_SHARE, SLOW_SHARE = 1e-13, 1e-12
"""Bit errors behind FEC that IEEE 802.3 allows: from 200 Gb/s on (802.3bs), and below."""

RAW_SHARE = 2.4e-4
"""Bit errors before FEC beyond which RS(544,514) no longer keeps that promise (802.3bs, PAM4 lanes)."""

PACKET_SHARE = 1e-6
"""Packets dropped of those received beyond which somebody should look (`nic_ports`)."""

PAUSED_SHARE = 0.1
"""Of the time, for which a port was told to pause, from which on it is told (ours)."""

STORM = "tx_pause_storm_error_events"
"""The host took nothing for so long that the adapter stopped pausing its switch, and drops."""


_OF_PRIORITY = re.compile(r"[rt]x_prio([0-7])_")


class RocePort(NamedTuple):
    """A port: its interface, its speed (None where it is not told), and the priorities that must not lose packets."""

    interface: str
    speed_mbps: int | None
    lossless: frozenset[int]


def kept(counts: Mapping[str, int], lossless: Collection[int]) -> dict[str, int]:
    """Return the counters of a port that are worth remembering: of priorities those that must not lose packets."""
    found = {name: _OF_PRIORITY.match(name) for name in counts}
    return {name: counts[name] for name, of in found.items() if of is None or int(of[1]) in lossless}


def findings(port: RocePort, mine: Mapping[str, int], window: Growth, expected: Expected) -> Iterator[Finding]:
    """Yield what one port's counters, by how much they grew in a window, ask for."""
    steady = not mine.get("link_down_events_phy")
    yield from _bits(port, mine, window, expected, steady=steady)
    yield from _drops(port, mine, window, expected)
    yield from _pauses(port, mine, window, expected)
    if (longer := mine.get("rx_oversize_pkts_phy", 0)) > LEAST:
        yield about(expected.node, "roce.oversize", port.interface)(
            message=f"{port.interface} dropped {longer} packets longer than its MTU in {window.hours}, expected at"
            f" most {LEAST}: the MTU of {there(expected, port.interface)} is larger; make both alike",
            remedy=Remedy.WATCH,
        )


def _bits(
    port: RocePort, mine: Mapping[str, int], window: Growth, expected: Expected, *, steady: bool
) -> Iterator[Finding]:
    """Judge a link's bit errors, where it is told how many bits could have come."""
    name, bits = port.interface, mine.get("rx_bits_phy", 0)
    symbols, fixed = mine.get("rx_pcs_symbol_err_phy", 0), mine.get("rx_corrected_bits_phy", 0)
    share = FAST_SHARE if (port.speed_mbps or 0) >= FAST_MBPS else SLOW_SHARE
    most = max(LEAST, share * bits)
    if bits and symbols > most:
        finding = about(expected.node, "roce.symbol_errors", name)(
            message=f"{name} counted {symbols} symbol errors that FEC did not correct in {window.hours}, allowed"
            f" {most:.0f}{_lane(mine)}{'' if steady else '; the link went down meanwhile, which explains some'}",
            remedy=Remedy.RECABLE if steady else Remedy.RECORD,
        )
        yield _cable(finding, expected) if steady else finding
    if bits and fixed > RAW_SHARE * bits:
        yield about(expected.node, "roce.raw_errors", name)(
            message=f"{name} has {fixed / bits:.2g} bit errors before FEC in {window.hours}, expected at most"
            f" {RAW_SHARE:g}{_lane(mine)}; clean or replace its cable or modules soon",
            remedy=Remedy.WATCH if steady else Remedy.RECORD,
        )


def _lane(mine: Mapping[str, int]) -> str:
    """Name the lane that has most of the errors before FEC, if one has more than half of them."""
    lanes = {name: count for name, count in mine.items() if name.startswith("rx_err_lane_")}
    worst = max(lanes, key=lambda name: lanes[name], default="")
    if len(lanes) < 2 or 2 * lanes[worst] <= sum(lanes.values()):  # noqa: PLR2004  of one lane nothing is worse
        return ""
    return f" (most on lane {worst.removeprefix('rx_err_lane_').removesuffix('_phy')})"


def _cable(finding: Finding, expected: Expected) -> Finding:
    name = finding.component
    steps = (
        f"At {here(expected, name)}: {CLEAN}.",
        f"At its other end, {there(expected, name)}: do the same.",
        "If it stays, replace the cable with its modules.",
    )
    # Its switch's check gives it the same key: one ticket, whichever end sees it.
    key = bad_key(expected, name) or finding.fault
    return replace(finding, fault=key, steps=steps, devices=both(expected, name))


def _drops(port: RocePort, mine: Mapping[str, int], window: Growth, expected: Expected) -> Iterator[Finding]:
    """Judge what the adapter had no room for: where PFC is on, its switch should have waited."""
    name, told = port.interface, 0
    for priority in sorted(port.lossless):
        lost = mine.get(f"rx_prio{priority}_discards", 0)
        told += lost
        if lost > LEAST:
            yield about(expected.node, "roce.lossless_drops", f"{name} priority {priority}")(
                message=f"{name} dropped {lost} packets of priority {priority} in {window.hours} for want of room,"
                f" expected at most {LEAST} where PFC is on; compare PFC and buffers with the switch's, and look for"
                " what slows the host (PCIe, NUMA)",
                remedy=Remedy.WATCH,
            )
    lost, most = mine.get("rx_discards_phy", 0) - told, max(LEAST, PACKET_SHARE * mine.get("rx_packets_phy", 0))
    if lost > most:
        yield about(expected.node, "roce.drops", name)(
            message=f"{name} dropped {lost} packets in {window.hours} for want of room, allowed {most:.0f}",
            remedy=Remedy.WATCH,
        )


def _pauses(port: RocePort, mine: Mapping[str, int], window: Growth, expected: Expected) -> Iterator[Finding]:
    name = port.interface
    if storms := mine.get(STORM, 0):
        yield about(expected.node, "roce.pause_storm", name)(
            message=f"{name} paused its switch until the time limit {storms} times in {window.hours}, expected never;"
            " the host did not take its packets: look at its PCIe link, its memory and its log",
            remedy=Remedy.WATCH,
        )
    elif warned := mine.get("tx_pause_storm_warning_events", 0):
        yield about(expected.node, "roce.pause_storm", name)(
            message=f"{name} paused its switch for long {warned} times in {window.hours}", remedy=Remedy.RECORD
        )
    for priority in sorted(port.lossless):
        paused = mine.get(f"rx_prio{priority}_pause_duration", 0) / 1e6
        if paused > PAUSED_SHARE * window.seconds:
            yield about(expected.node, "roce.paused", f"{name} priority {priority}")(
                message=f"{name} was told to pause priority {priority} for {paused:.0f} s of {window.hours}: the"
                " network is congested",
                remedy=Remedy.RECORD,
            )
