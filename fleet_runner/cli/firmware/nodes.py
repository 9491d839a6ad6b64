"""Which nodes a rollout is for: of one device type, all of them or those that options name."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from fleet_runner.adapters import source
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import known
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.firmware.turns import NAMED, Member, MemberStatus, unfit
from fleet_runner.core.firmware.waves import plan
from fleet_runner.core.inventory.last_places import place
from fleet_runner.core.inventory.records import Fleet, rack_key
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.reconcile.firmware.catalogues import Definition, define
from fleet_runner.reconcile.firmware.rollouts import right
from fleet_runner.settings import Settings


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """What options name: nodes one by one, racks and sites; nothing means all."""

    device_type: str | None = None
    nodes: frozenset[str] = frozenset()
    racks: frozenset[str] = frozenset()
    sites: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Selection:
    """The device type, and for each of its wanted nodes its rack ("" where unknown), or why it is skipped."""

    device_type: str
    racks: Mapping[str, str]
    skipped: Mapping[str, str]
    named: frozenset[str]

    def members(self, canary: int, wave: int) -> tuple[Member, ...]:
        """Return the plan."""
        planned = plan(self.racks, self.skipped, canary, wave)
        return tuple(
            replace(each, detail=NAMED) if each.node in self.named & self.racks.keys() else each for each in planned
        )


def select(settings: Settings, store: Store, wanted: NodeFilter) -> Selection:
    """Find the nodes, and hold each against what is known of it.

    Raises:
        FleetError: there are none, they are of several device types, or their catalogue is unusable.
    """
    fleet = store.placed(source.read(settings))
    rows = [known(store, name) for name in sorted(wanted.nodes)] or store.nodes()
    found = [node for node in rows if _meant(node, fleet, wanted)]
    device_type = _one_type(wanted, found)
    sights = _sights(store, fleet, found, define(settings, device_type))
    reasons = {name: unfit(Member(name, 0, detail=_detail(name, wanted)), each) for name, each in sights.items()}
    return Selection(
        device_type,
        {name: place(fleet, name).rack for name, why in reasons.items() if not why},
        {name: why for name, why in reasons.items() if why},
        wanted.nodes,
    )


def _meant(node: Node, fleet: Fleet, wanted: NodeFilter) -> bool:
    where = place(fleet, node.name)
    if wanted.racks and not {where.rack, where.rack.removeprefix(rack_key(where.site, ""))} & wanted.racks:
        return False
    if wanted.sites and where.site not in wanted.sites:
        return False
    return wanted.device_type in {None, node.device_type} or node.name in wanted.nodes


def _one_type(wanted: NodeFilter, found: Iterable[Node]) -> str:
    types = sorted({node.device_type for node in found})
    if len(types) == 1 and wanted.device_type in {None, types[0]}:
        return types[0]
    if not types:
        raise FleetError("these options select no node; fleet-runner status lists all nodes")
    if wanted.device_type is None:
        raise FleetError(f"the nodes have several device types; choose one: --device-type {' or '.join(types)}")
    raise FleetError(f"not all of these nodes have device type {wanted.device_type}: found {', '.join(types)}")


def _sights(store: Store, fleet: Fleet, found: Collection[Node], defined: Definition) -> dict[str, MemberStatus]:
    names = [node.name for node in found]
    already = right(store, names, defined)
    return {
        node.name: MemberStatus(
            node,
            fleet.devices[node.name].status if node.name in fleet.devices else None,
            node.name in already,
        )
        for node in found
    }


def _detail(name: str, wanted: NodeFilter) -> str:
    return NAMED if name in wanted.nodes else ""
