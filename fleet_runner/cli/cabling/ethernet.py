"""The Ethernet part of a design, and what captures of its devices say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fleet_runner.core.cabling import ethernet, forwarding
from fleet_runner.core.cabling.bundles import Bundle, paired
from fleet_runner.core.cabling.ethernet_design import EthernetDesign
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.forwarding import LearnedBySwitches
from fleet_runner.core.cabling.judge import SUSPECT_SHARE, Verdicts
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.names import Names
from fleet_runner.core.checks.parsers.lldp import Neighbour

Captures = Mapping[str, tuple[Neighbour, ...]]
"""What each device hears, by its name in the design."""


@dataclass(frozen=True, slots=True)
class Ethernet:
    """The links that LLDP tells of, what their ports are called, those known by their address, and those of BMCs.

    `share` of the links may be faulty before none of it is believed.
    """

    links: tuple[Link, ...]
    names: Names
    macs: Mapping[str, Port] = field(default_factory=dict[str, Port])
    managed: frozenset[Port] = frozenset()
    share: float = SUSPECT_SHARE

    def seen(self, captures: Captures, learned: LearnedBySwitches, places: Places) -> frozenset[Link]:
        """Return the links that captures tell together, and what switches learned beside them."""
        heard = self._listen(captures, self.links)
        if not learned:
            return heard.links
        design = EthernetDesign(self.links, self.names, places, self.macs)
        return forwarding.joined(heard, learned, design)[0].links

    def _listen(self, captures: Captures, links: tuple[Link, ...]) -> ethernet.BelievedLinks:
        return ethernet.listen(captures, self.names, links, self.macs, prove=True)

    def judged(self, captures: Captures, places: Places, bundles: Sequence[Bundle], *, one_fabric: bool) -> Verdicts:
        """Judge all links by captures of any devices. `one_fabric` is `judge.hold`'s."""
        links, heard = self.links, self._listen(captures, self.links)
        if bundles:
            links = paired(links, bundles, heard.links)
            heard = self._listen(captures, links)
        return ethernet.compare(links, heard, self.names, places, share=self.share, one_fabric=one_fabric)
