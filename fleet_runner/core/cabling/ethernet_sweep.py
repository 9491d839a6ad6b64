"""One sweep of an Ethernet fabric: its designed links by what its switches hear, and what need not be heard."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from fleet_runner.core.cabling import dark_switches, ethernet, forwarding, lost_links, node_tellings
from fleet_runner.core.cabling.ethernet_design import EthernetDesign
from fleet_runner.core.cabling.explain import Fault
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.left_out import LeftOut, left_out
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.names import Names, device_of
from fleet_runner.core.checks.parsers.neighbours.several import HeardBySwitches


@dataclass(frozen=True, slots=True)
class SweepVerdicts:
    """What a sweep gave. `believed` are the links that were heard, `left` the designed ones that were not looked for.

    `mute` are silent links that need not be heard; `verdicts.silent` has only the others. `unread` are the switches
    of which nothing is known but why they were not read: a dark one is a fault. `learned` counts the believed links
    that nobody was heard at, and that addresses tell, `by_nodes` those that nodes told in their last check. `between`
    are the links between switches that were heard over LLDP, now or before.
    """

    verdicts: Verdicts
    believed: frozenset[Link]
    left: LeftOut
    mute: frozenset[Link]
    unread: Mapping[str, str]
    learned: int = 0
    by_nodes: int = 0
    between: frozenset[Link] = frozenset()

    def words(self) -> str:
        """Return what was not looked for, and what need not be heard, as the end of a sentence; "" for nothing."""
        count = len(self.mute)
        quiet = f"; nothing is heard of {count} links, none of whose ends need speak LLDP" if count else ""
        learned = f"; {self.learned} links are known by MAC addresses alone" if self.learned else ""
        nodes = f"; {self.by_nodes} links are known by what nodes last heard themselves" if self.by_nodes else ""
        return learned + nodes + quiet + self.left.words()


def judge(design: EthernetDesign, told: HeardBySwitches, before: Collection[Link] = frozenset()) -> SweepVerdicts:
    """Judge the links of a fabric by what its switches hear of each other and of servers.

    `before` are the designed links between switches that an earlier sweep heard (`between`).
    """
    heard = ethernet.listen(told.heard, design.names, design.links, design.macs)
    between = lost_links.between(heard.links.intersection(design.links), design.places.servers)
    learned = by_nodes = frozenset[Link]()
    if told.learned:
        heard, learned = forwarding.joined(heard, told.learned, design)
    dark = _dark(design, told, heard) if told.unread else {}
    gone = {each for fault in dark.values() for each in fault.expected}
    if told.nodes:
        by_nodes = node_tellings.confirmed(heard, told, design) - gone
        heard = replace(heard, links=heard.links | by_nodes)
    left = left_out(design.links, heard.links, design.planned, design.idle)
    found = ethernet.compare(left.rest(design.links), heard, design.names, design.places, share=design.share)
    lost = _lost(found.silent, before, design, told, heard) if before else ()
    gone |= {each for fault in lost for each in fault.expected}
    silent = [each for each in found.silent if each not in gone]
    mute = ethernet.mute(silent, told.heard, design.places.servers, design.managed)
    verdicts = replace(
        found,
        faults=tuple(sorted((*found.faults, *dark.values(), *lost), key=lambda fault: fault.key)),
        silent=tuple(each for each in silent if each not in mute),
        absent=tuple(sorted((*found.absent, *gone))),
    )
    unread = {name: why for name, why in told.unread.items() if name not in dark}
    kept = between.union(before)
    return SweepVerdicts(verdicts, heard.links, left, mute, unread, len(learned), len(by_nodes), kept)


def _lost(
    silent: Iterable[Link],
    before: Collection[Link],
    design: EthernetDesign,
    told: HeardBySwitches,
    heard: ethernet.BelievedLinks,
) -> tuple[Fault, ...]:
    """Return the faults of cables between switches that were heard before."""
    hearing = {port.device for port in heard.hearing}
    return lost_links.lost(
        silent, before, lost_links.Seen(heard.links, hearing, forwarding.ports_up(told.learned, design)), design
    )


def _dark(design: EthernetDesign, told: HeardBySwitches, heard: ethernet.BelievedLinks) -> Mapping[str, Fault]:
    """Return the faults of dark switches, by the sweep alone: what nodes heard before says nothing of now."""
    alive = {port.device for each in heard.links | heard.disputed for port in each}
    alive |= _named(told, design.names) | forwarding.up(told.learned, design) | design.idle
    quiet = {name: why for name, why in told.unread.items() if name not in alive}
    if not quiet:
        return {}
    taken = {port for each in heard.links | heard.disputed for port in each} | heard.hearing | heard.unmapped
    off = design.planned | {
        each for each in design.links if not design.idle.isdisjoint((each.a.device, each.b.device))
    }
    silent = [each for each in design.links if taken.isdisjoint(each) and each not in off]
    return dark_switches.dark(silent, quiet, told.heard, heard.links, design.places)


def _named(told: HeardBySwitches, known: Names) -> set[str]:
    """Return every device that somebody hears, by its name in the design where it has one."""
    names: Iterable[str] = {each.system for neighbours in told.heard.values() for each in neighbours}
    return {device_of(name, known)[0] for name in names}
