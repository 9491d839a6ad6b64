"""What NVLink domains say of their compute trays, as one tick sees it; what many need is read once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from fleet_runner.adapters.store import ResultFilter
from fleet_runner.core.cabling.fabrics import NVLINK, Fabric
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.faults.confirmation import hides, speaks
from fleet_runner.core.lifecycle.runs import Node, Stored
from fleet_runner.core.lifecycle.states import FABRICS, SERVING
from fleet_runner.core.nvlink import common_cause, joint_drains
from fleet_runner.core.tickets.node_tickets import EYES
from fleet_runner.reconcile.lifecycle import racks
from fleet_runner.reconcile.loop.context import TickContext

DAY = 86_400.0

SEEN_ONCE = "it lost links, and was seen once: its domain is swept first"
"""What is said of a compute tray until it is known whether others lost the same."""


@dataclass(slots=True)
class DomainsView:
    """The domains of a tick. `rows` gives every node, by name."""

    world: TickContext
    rows: Callable[[], Mapping[str, Node]]
    faults: dict[str, str] | None = None
    leaks: Mapping[str, str] | None = None
    drains: dict[str, str] | None = None

    def fault(self, node: Node, latest: Iterable[Stored]) -> str:
        """Return what lies behind links that a compute tray lost; its domain is asked before anything follows."""
        linked = self._linked(node, latest)
        if not linked or node.state not in SERVING:
            return ""
        found = self._faults().get(node.name, "")
        return found or (SEEN_ONCE if self._are_new(linked) and not self._flaps(node.name, linked) else "")

    def _flaps(self, name: str, linked: tuple[Stored, ...]) -> bool:
        """Whether links of a tray come and go, and a sweep of its domain that began later does not say why."""
        back = False
        for each in linked:
            sought = ResultFilter(name, each.result.check, Verdict.FAIL, each.at - DAY)
            earlier = self.world.store.find_results(sought, below=each.id)
            back = back or common_cause.comes_back(each.result, [one.result for one in earlier])
        return back and self._swept(name, max(each.at for each in linked))

    def _swept(self, name: str, since: float) -> bool:
        """Whether a sweep of a tray's domain that began after a moment could tell of the tray."""
        mine = [each.name for each in self._all() if any(port.device == name for port in each.ports)]
        spoke = [
            each.run
            for domain in mine
            for each in self.world.store.latest_results(domain)
            if each.result.check in EYES[NVLINK] and speaks(each.result) and not hides(each.result, (name,))
        ]
        return any(run.opened_at >= since for run in map(self.world.store.run, spoke) if run is not None)

    def _faults(self) -> Mapping[str, str]:
        """Return what the newest sweeps of domains say of trays that are not to blame; read once a tick."""
        if self.faults is None:
            self.faults = {}
            for fabric in self._all():
                for stored in self.world.store.latest_results(fabric.name):
                    if stored.result.check in EYES[NVLINK] and speaks(stored.result):
                        said = dict.fromkeys(common_cause.trays(stored.result.observed), stored.result.message)
                        self.faults |= said
        return self.faults

    def leak(self, node: Node) -> str:
        """Return what is told to a tray, or a domain, of trays that leak; "" where none does."""
        if self.leaks is None:
            self.leaks = racks.leaks(self.world.store, self._all())
        return self.leaks.get(node.name, "") if node.state in SERVING | FABRICS else ""

    def out(self, node: Node) -> str:
        """Return what a serving tray says of others that drain as one with it, or spare it; "" where none is out."""
        if self.drains is None:
            self.drains = {}
            joint = [each.domain for each in self._all() if each.domain is not None and each.domain.drains]
            for domain in joint:
                rows = {row.name: row for row in self.world.store.some_nodes(domain.trays)}
                self.drains |= joint_drains.told(domain, rows)
        return self.drains.get(node.name, "") if node.state in SERVING else ""

    def _linked(self, node: Node, latest: Iterable[Stored]) -> tuple[Stored, ...]:
        """Return the answers by which a compute tray of a domain lost links; of any other node none."""
        found = tuple(each for each in latest if common_cause.is_new(each.result, None))
        inside = found and any(port.device == node.name for fabric in self._all() for port in fabric.ports)
        return found if inside else ()

    def _all(self) -> list[Fabric]:
        return [fabric for fabric in self.world.fabrics.values() if fabric.kind == NVLINK]

    def _are_new(self, linked: tuple[Stored, ...]) -> bool:
        before = {each.result.check: each.result for each in self.world.store.before(linked)}
        return any(common_cause.is_new(each.result, before.get(each.result.check)) for each in linked)

    def suspected_at(self, name: str) -> float:
        """Return when a serving compute tray of a domain last lost links that it had before; 0 for never."""
        fabric = self.world.fabrics.get(name)
        if fabric is None or fabric.kind != NVLINK:
            return 0.0
        found = 0.0
        for tray in sorted({port.device for port in fabric.ports} & self.rows().keys()):
            row = self.rows()[tray]
            linked = self._linked(row, self.world.store.latest_results(tray)) if row.state in SERVING else ()
            if linked and self._are_new(linked):
                found = max(found, *(each.at for each in linked))
        return found
