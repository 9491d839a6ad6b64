"""What nodes heard themselves, where the switch at the other end was not read.

It is from their last check, so it may be older than the sweep: it confirms designed links of which the sweep heard
nothing, and tells no fault. What is wrong the node's own check has told already, under the same key.
"""

from fleet_runner.core.cabling.ethernet import BelievedLinks, tellings
from fleet_runner.core.cabling.ethernet_design import EthernetDesign
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.checks.parsers.neighbours.several import HeardBySwitches


def confirmed(heard: BelievedLinks, sweep: HeardBySwitches, design: EthernetDesign) -> frozenset[Link]:
    """Return the designed links that nodes heard, to switches not read, and of which the sweep heard nothing.

    Where a switch was read, and hears nobody at its port, the cable may have gone since. Where the sweep says that a
    switch's ports may be counted otherwise, a node's word for one may be another's.
    """
    captures = {name: each.neighbours for name, each in sweep.nodes.items()}
    told = tellings(captures, design.names, design.links, design.macs).links
    taken = {port for each in heard.links | heard.disputed for port in each} | heard.hearing | heard.unmapped
    others = sweep.heard.keys() | heard.unclear
    wanted = {each for each in design.links if others.isdisjoint((each.a.device, each.b.device))}
    return frozenset(each for each in told.values() if taken.isdisjoint(each)) & wanted
