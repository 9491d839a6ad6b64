"""One sweep of an Ethernet fabric: its designed links by what its switches hear, and what need not be heard."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fleet_runner.core.cabling import dark_switches, ethernet, forwarding
from fleet_runner.core.cabling.ethernet_design import EthernetDesign
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
    that nobody was heard at, and that addresses tell.
    """

    verdicts: Verdicts
    believed: frozenset[Link]
    left: LeftOut
    mute: frozenset[Link]
    unread: Mapping[str, str]
    learned: int = 0

    def words(self) -> str:
        """Return what was not looked for, and what need not be heard, as the end of a sentence; "" for nothing."""
        count = len(self.mute)
        quiet = f"; nothing is heard of {count} links, none of whose ends need speak LLDP" if count else ""
        learned = f"; {self.learned} links are known by MAC addresses alone" if self.learned else ""
        return learned + quiet + self.left.words()


def judge(design: EthernetDesign, told: HeardBySwitches) -> SweepVerdicts:
    """Judge the links of a fabric by what its switches hear of each other and of servers."""
    servers = design.places.servers
    heard = ethernet.listen(told.heard, design.names, design.links, design.macs)
    learned = frozenset[Link]()
    if told.learned:
        heard, learned = forwarding.joined(heard, told.learned, design)
    left = left_out(design.links, heard.links, design.planned, design.idle)
    wanted = [each for each in design.links if each not in left]
    found = ethernet.compare(wanted, heard, design.names, design.places, share=design.share)
    quiet = {name: why for name, why in told.unread.items() if name not in design.idle}
    if quiet:
        alive = _named(told, design.names).union(port.device for each in heard.links for port in each)
        alive |= forwarding.up(told.learned, design)
        quiet = {name: why for name, why in quiet.items() if name not in alive}
    dark = dark_switches.dark(found.silent, quiet, told.heard, heard.links, design.places)
    gone = {each for fault in dark.values() for each in fault.expected}
    silent = [each for each in found.silent if each not in gone]
    mute = ethernet.mute(silent, told.heard, servers, design.managed)
    verdicts = replace(
        found,
        faults=tuple(sorted((*found.faults, *dark.values()), key=lambda fault: fault.key)),
        silent=tuple(each for each in silent if each not in mute),
        absent=tuple(sorted((*found.absent, *gone))),
    )
    unread = {name: why for name, why in told.unread.items() if name not in dark}
    return SweepVerdicts(verdicts, heard.links, left, mute, unread, len(learned))


def _named(told: HeardBySwitches, known: Names) -> set[str]:
    """Return every device that somebody hears, by its name in the design where it has one."""
    names: Iterable[str] = {each.system for neighbours in told.heard.values() for each in neighbours}
    return {device_of(name, known)[0] for name in names}
