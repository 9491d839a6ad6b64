"""What nodes last heard, for a sweep of a fabric of which not every switch is read."""

from collections.abc import Collection, Iterable, Mapping
from typing import cast

from fleet_runner.adapters.store import Store
from fleet_runner.core.cabling.fabrics import fabrics
from fleet_runner.core.checks.parsers.neighbours.several import beside
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Termination
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.spool import Evidence
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.cabling.node_neighbours import FRESH, neighbours
from tests.core.checks.catalogue.judging import text_of

ETH = (
    Interface("1", "400gbase-x-qsfp112"),
    Interface("2", "400gbase-x-qsfp112"),
    Interface("3", "400gbase-x-qsfp112"),
)
ASKED = {"ansible_network_os": "eos", "ansible_host": "192.0.2.1"}
TYPE = DeviceType("t", "Maker", "Box", 1.0, ETH)
NODES = [Device(f"gpu-{at}", "t", "gpu-server", "hall", interfaces=ETH) for at in (1, 2)]
LEAVES = [Device(f"leaf-{at}", "t", "leaf", "hall", interfaces=ETH, context=ASKED) for at in (1, 2)]
LEAVES.append(Device("leaf-3", "t", "leaf", "hall", interfaces=ETH))
PAIRS = (("gpu-1", "1", "leaf-1", "1"), ("gpu-2", "1", "leaf-2", "1"), ("leaf-1", "3", "leaf-2", "3"))
MORE = ("gpu-2", "2", "leaf-3", "1"), ("leaf-1", "2", "leaf-3", "2")
NOW = 1_000_000.0
HEARD = text_of("lldp/two_ports.json0")


def fleet(*pairs: tuple[str, str, str, str]) -> Fleet:
    cables = tuple(Cable(Termination(a, ai), Termination(b, bi)) for a, ai, b, bi in pairs)
    return Fleet(("hall",), {}, {"t": TYPE}, {each.name: each for each in (*NODES, *LEAVES)}, cables)


class Kept:
    """A store that keeps the newest result of each node, and texts by their hash."""

    def __init__(self, results: Mapping[str, Stored], texts: Mapping[str, str]) -> None:
        self.results, self.texts = results, texts

    def newest(self, check: str, names: Iterable[str]) -> dict[str, Stored]:
        """Return the newest result of a check on each of some nodes."""
        assert check == "cabling_ethernet"
        return {name: self.results[name] for name in names if name in self.results}

    def pieces(self, hashes: Iterable[str]) -> dict[str, Evidence]:
        """Return the texts that were kept."""
        return {each: Evidence("", 0.0, "lldp", each, self.texts[each]) for each in hashes if each in self.texts}


def stored(node: str, ago: float, *evidence: str) -> Stored:
    result = Result("cabling_ethernet", Verdict.PASS, "as seen", (), {}, evidence)
    return Stored(1, 1, node, Stage.CABLING, NOW - ago, result)


def told(
    read: Collection[str] = ("leaf-2",), ago: float = 60.0, *, text: str = HEARD, of: Fleet | None = None
) -> dict[str, dict[str, object]]:
    """Return what the nodes of the fabric heard, of which some switches were read."""
    site = of or fleet(*PAIRS)
    (fabric,) = fabrics(site)
    results = {name: stored(name, ago, "gone", "text") for name in ("gpu-1", "gpu-2")}
    return beside(neighbours(cast("Store", Kept(results, {"text": text})), site, fabric, NOW), read)


def test_nodes_beside_a_switch_that_this_sweep_did_not_read_say_what_they_heard() -> None:
    found = told()
    assert set(found) == {"gpu-1"}
    assert found["gpu-1"]["at"] == NOW - 60.0
    assert isinstance(found["gpu-1"]["neighbours"], list)
    assert len(found["gpu-1"]["neighbours"]) == 2


def test_nodes_beside_a_switch_that_nobody_can_ask_do_so_too() -> None:
    assert set(told(("leaf-1", "leaf-2"), of=fleet(*PAIRS, *MORE))) == {"gpu-2"}
    assert set(told(("leaf-2",), of=fleet(*PAIRS, *MORE))) == {"gpu-1", "gpu-2"}


def test_where_every_switch_was_read_nothing_is_kept() -> None:
    assert told(("leaf-1", "leaf-2", "leaf-3")) == {}


def test_what_was_heard_long_ago_or_cannot_be_read_says_nothing() -> None:
    assert set(told(ago=FRESH)) == {"gpu-1"}
    assert told(ago=FRESH + 1.0) == {}
    assert told(text=HEARD[:-9]) == {}
    assert told(text="") == {}


def test_a_fabric_whose_nodes_never_looked_is_told_nothing() -> None:
    site = fleet(*PAIRS)
    (fabric,) = fabrics(site)
    none: Mapping[str, Stored] = {}
    assert neighbours(cast("Store", Kept(none, {})), site, fabric, NOW) == ""
