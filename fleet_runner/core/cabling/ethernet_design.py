"""What a sweep of one Ethernet fabric is held against."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import SUSPECT_SHARE
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.names import Names


@dataclass(frozen=True, slots=True)
class EthernetDesign:
    """The designed links of one fabric, and what the source of truth knows of their ports and devices.

    `macs` are ports by their address, `managed` those of BMCs and the like, `planned` links that are still to come,
    `idle` devices that are not in service; `share` is `judge.hold`'s.
    """

    links: tuple[Link, ...]
    names: Names
    places: Places
    macs: Mapping[str, Port] = field(default_factory=dict[str, Port])
    managed: frozenset[Port] = frozenset()
    planned: frozenset[Link] = frozenset()
    idle: frozenset[str] = frozenset()
    share: float = SUSPECT_SHARE
