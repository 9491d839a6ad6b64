"""What nodes heard themselves, where the switch at the other end was not read.

It is from their last check, so it may be older than the sweep: it confirms designed links of which the sweep heard
nothing, and tells no fault. What is wrong the node's own check has told already, under the same key.
"""

from collections.abc import Mapping

from fleet_runner.core.cabling.ethernet import BelievedLinks, tellings
from fleet_runner.core.cabling.ethernet_design import EthernetDesign
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.checks.parsers.neighbours.several import HeardByNode


def confirmed(heard: BelievedLinks, nodes: Mapping[str, HeardByNode], design: EthernetDesign) -> frozenset[Link]:
    """Return the designed links that nodes heard, and at whose ports the sweep heard nothing."""
    captures = {name: each.neighbours for name, each in nodes.items()}
    told = tellings(captures, design.names, design.links, design.macs).links
    taken = {port for each in heard.links | heard.disputed for port in each} | heard.hearing | heard.unmapped
    return frozenset(each for each in told.values() if taken.isdisjoint(each)).intersection(design.links)
