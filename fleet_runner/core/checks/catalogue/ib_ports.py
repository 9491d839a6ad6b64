"""Is every adapter's port up, as fast as it should be, and does it count no errors?

A cable is judged from both of its ends where its fabric is swept: symbol errors and downs of InfiniBand ports are
recorded here, and `fabric_counters` and `link_flaps` decide about them; symbol errors of RoCE ports are left to
`roce_ports`, whose limit is that of Ethernet. A port that is down or slow has the key that the cabling's checks give
to its link, so that it has one ticket whoever sees it first; an adapter that is not there
has the key of `parts_hca`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.quality import allowed_symbols
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import infiniband_ports as parser
from fleet_runner.core.checks.parsers.infiniband_ports import Adapter, Port
from fleet_runner.core.checks.shared.counter_growth import Growth, growth
from fleet_runner.core.checks.shared.link_ends import CLEAN, both, here, missing_key, slow_key, there
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME, SECTION = "ib_ports", "infiniband"

LIMITS: Mapping[str, int] = {
    "link_error_recovery": 10,
    "port_rcv_errors": 10,
    "local_link_integrity_errors": 10,
    "excessive_buffer_overrun_errors": 10,
    "port_rcv_remote_physical_errors": 100,
    "VL15_dropped": 100,
}
"""Errors of a port within a day from which on somebody should look (infiniband-diags' error_thresholds file, whose
counts are since the counters were cleared)."""

RECORDED = ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err")
"""Counters of RoCE that a busy network moves: nobody publishes a limit, so they are only told."""

FULL: Mapping[str, frozenset[int]] = {
    "symbol_error": frozenset({65_535, 0xFFFF_FFFF}),
    "link_downed": frozenset({255, 0xFFFF_FFFF}),
}
"""Values at which a port stops counting (InfiniBand's PortCounters and PortCountersExtended)."""

PHYSICAL: Mapping[str, Remedy] = {"LinkUp": Remedy.WATCH, "Disabled": Remedy.REBOOT}
"""What a port asks for that is not active, by its physical state; any other state is the cable's."""


ETHERNET = "Ethernet"
"""The link layer of a RoCE port, of which IEEE 802.3 allows more errors than that: `roce_ports` judges them."""


class NodePort(NamedTuple):
    """A port that the profile names, the interface that it is, and what is expected of the node."""

    port: Port
    interface: str
    expected: Expected

    @property
    def name(self) -> str:
        """Return it as people name it: "mlx5_0", or "mlx5_0/2"."""
        return self.port.adapter if self.port.number == 1 else f"{self.port.adapter}/{self.port.number}"


def judge(readings: Readings, expected: Expected) -> Result:
    """Look at the adapters that the profile names; others may be down, or be somebody else's."""
    wanted = profile.section(expected.profile, SECTION)
    rails = profile.hca_interfaces(expected.profile)
    if not rails:
        raise EvidenceError("fleet_profile.hca_interfaces names no adapter; name those that must be up")
    adapters = parser.parse(text_of(readings["infiniband"]))
    ours = [found for name, interface in rails.items() if (found := _found(adapters, name, interface, expected))]
    counts = {f"{each.name}/{name}": count for each in ours for name, count in each.port.counters.items()}
    grown = growth(NAME, counts, readings["infiniband"], expected, anew=True)
    findings = [finding for each in ours for finding in _findings(each, wanted, grown)]
    findings += [_missing(name, rails[name], expected) for name in rails if name.partition("/")[0] not in adapters]
    findings += _firmware([name for name in rails if name in adapters], adapters, wanted, expected.node)
    unread = [text for each in ours for text in _unread(each, wanted)]
    seen = {(each.port.adapter, each.port.number) for each in ours}
    unread += [f"{name} reports nothing about its port" for name in rails if _silent(adapters, name, seen)]
    observed = {
        "ports": {each.name: f"{each.port.state} {each.port.rate}".strip() for each in ours},
        "firmware": {name: adapter.firmware for name, adapter in adapters.items()},
        "counts": {each.name: dict(each.port.counters) for each in ours},
        "grown": grown.grown,
        "looks": grown.looks,
    }
    passed = f"{len(ours)} ports are up at {_rate(wanted)}{_full(ours)}"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _found(adapters: Mapping[str, Adapter], name: str, interface: str, expected: Expected) -> NodePort | None:
    adapter, _, number = name.partition("/")
    known = adapters.get(adapter)
    port = known.ports.get(int(number) if number.isdecimal() else 1) if known else None
    return NodePort(port, interface, expected) if port else None


def _silent(adapters: Mapping[str, Adapter], name: str, seen: set[tuple[str, int]]) -> bool:
    adapter, _, number = name.partition("/")
    return adapter in adapters and (adapter, int(number) if number.isdecimal() else 1) not in seen


def _rate(wanted: Section) -> str:
    return f"{wanted.number('rate_gbps'):g} Gb/s"


def _findings(ours: NodePort, wanted: Section, grown: Growth) -> Iterator[Finding]:
    port = ours.port
    layer = wanted.text("link_layer") if wanted.has("link_layer") else "InfiniBand"
    if port.layer and port.layer != layer:
        yield about(ours.expected.node, "ib.link_layer", ours.name)(
            message=f"{ours.name} ({ours.interface}) runs {port.layer}, expected {layer}; set its LINK_TYPE",
            remedy=Remedy.REFLASH,
        )
    elif port.state and port.state != "ACTIVE":
        yield _down(ours)
    elif port.gbps is not None and port.gbps < wanted.number("rate_gbps"):
        yield _slow(ours, wanted)
    yield from _counters(ours, grown)


def _down(ours: NodePort) -> Finding:
    """A port whose cable is up waits for the subnet manager; one that is disabled was switched off by software."""
    port = ours.port
    remedy = PHYSICAL.get(port.physical, Remedy.RECABLE) if port.physical else Remedy.WATCH
    finding = about(ours.expected.node, "ib.port_down", ours.name)(
        message=f"{ours.name} ({ours.interface}) is {port.state}, its link {port.physical or 'not reported'};"
        " expected ACTIVE and LinkUp",
        remedy=remedy,
    )
    if remedy is not Remedy.RECABLE:
        return finding
    return _cable(finding, ours, missing_key(ours.expected, ours.interface))


def _slow(ours: NodePort, wanted: Section) -> Finding:
    finding = about(ours.expected.node, "ib.port_slow", ours.name)(
        message=f"{ours.name} ({ours.interface}) runs at {ours.port.rate}, expected {_rate(wanted)}",
        remedy=Remedy.RECABLE,
    )
    return _cable(finding, ours, slow_key(ours.expected, ours.interface))


def _cable(finding: Finding, ours: NodePort, fault: str) -> Finding:
    """Return a finding about a port's cable: who works on the device at its other end excuses it."""
    touched = both(ours.expected, ours.interface)
    return replace(finding, fault=fault, steps=_steps(ours), devices=touched)


def _steps(ours: NodePort) -> tuple[str, ...]:
    return (
        f"At {here(ours.expected, ours.interface)}: {CLEAN}.",
        f"At its other end, {there(ours.expected, ours.interface)}: do the same.",
        "If it stays, replace the cable with its modules.",
    )


def _counters(ours: NodePort, grown: Growth) -> Iterator[Finding]:
    mine = {name: grown.grown.get(f"{ours.name}/{name}", 0) for name in ours.port.counters}
    symbols, most = mine.get("symbol_error", 0), allowed_symbols(grown.seconds)
    if symbols > most and ours.port.layer != ETHERNET:
        yield about(ours.expected.node, "ib.symbol_errors", ours.name)(
            message=f"{ours.name} ({ours.interface}) counted {symbols} symbol errors in {grown.hours},"
            f" allowed {most:.3g}",
            remedy=Remedy.RECORD,
        )
    if downs := mine.get("link_downed", 0):
        yield about(ours.expected.node, "ib.link_downed", ours.name)(
            message=f"the link of {ours.name} ({ours.interface}) went down {downs} times in {grown.hours}",
            remedy=Remedy.RECORD,
        )
    for name, limit in LIMITS.items():
        if mine.get(name, 0) > limit:
            yield about(ours.expected.node, "ib.errors", f"{ours.name} {name}")(
                message=f"{ours.name} ({ours.interface}) counted {mine[name]} {name} in {grown.hours},"
                f" expected at most {limit}",
                remedy=Remedy.WATCH,
            )


def _missing(name: str, interface: str, expected: Expected) -> Finding:
    adapter = name.partition("/")[0]
    return about(expected.node, "hca.missing", name)(
        message=f"HCA {adapter} ({interface}) is not in {parser.FOLDER}, others are",
        remedy=Remedy.TRIAGE,
        steps=(
            f"Power the node off and find the HCA of {interface}; reseat it and its power.",
            "If only its name changed, correct hca_interfaces in the device type's file.",
        ),
    )


def _firmware(names: list[str], adapters: Mapping[str, Adapter], wanted: Section, node: str) -> Iterator[Finding]:
    accepted = wanted.texts("firmware") if wanted.has("firmware") else ()
    for name in names:
        found = adapters[name].firmware
        if accepted and found and found not in accepted:
            yield about(node, "hca.firmware", name)(
                message=f"HCA {name} runs firmware {found}, expected {' or '.join(accepted)}", remedy=Remedy.REFLASH
            )


def _unread(ours: NodePort, wanted: Section) -> Iterator[str]:
    port = ours.port
    told = {"state": port.state, "link layer": port.layer, "rate": port.rate if port.gbps is not None else ""}
    if untold := [what for what, said in told.items() if not said]:
        yield f"{ours.name} reports no {' and no '.join(untold)}"
    if not port.counters:
        yield f"{ours.name} has no readable counter"
    wanted.number("rate_gbps")


def _full(ours: list[NodePort]) -> str:
    """Say which counters have reached their end: nothing is known of them until they are cleared."""
    full = [
        f"{each.name} {name}" for each in ours for name, ends in FULL.items() if each.port.counters.get(name) in ends
    ]
    return f"; full counters: {', '.join(full)} (perfquery -R clears them)" if full else ""


CHECK = Check(
    name=NAME,
    question="Is every port of the profile's adapters up at its rate, without errors?",
    reads=("infiniband",),
    judge=judge,
    remembers=True,
    section=SECTION,
    codes=(
        Code("hca.missing", (Remedy.TRIAGE,), "an adapter of `hca_interfaces` is not there, others are"),
        Code("hca.firmware", (Remedy.REFLASH,), "an adapter runs firmware that `infiniband.firmware` does not list"),
        Code("ib.link_layer", (Remedy.REFLASH,), "a port runs another link layer than `infiniband.link_layer`"),
        Code(
            "ib.port_down",
            (Remedy.RECABLE, Remedy.REBOOT, Remedy.WATCH),
            "a port is not ACTIVE: its cable (RECABLE), disabled (REBOOT), or no subnet manager (WATCH)",
        ),
        Code("ib.port_slow", (Remedy.RECABLE,), "a port runs below `infiniband.rate_gbps`"),
        Code(
            "ib.symbol_errors",
            (Remedy.RECORD,),
            "more symbol errors of InfiniBand than 3 in 125 minutes; `fabric_counters` decides",
        ),
        Code("ib.link_downed", (Remedy.RECORD,), "a link went down; `link_flaps` and `fabric_counters` decide"),
        Code("ib.errors", (Remedy.WATCH,), "more errors of another kind within a day than infiniband-diags allows"),
    ),
    source="The profile's `infiniband` and `hca_interfaces`; symbol errors as in UFM's PDR plug-in, other counters as"
    " in infiniband-diags' error_thresholds.",
)
