"""What nodes last heard, for a sweep of a fabric of which not every switch is read."""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.cabling.fabrics import Fabric, fabrics
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Termination
from fleet_runner.core.lifecycle.runs import Stored
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
    """A store that keeps what was asked of it last, by node, and texts by their hash."""

    def __init__(self, results: Mapping[str, tuple[Stored, ...]], texts: Mapping[str, str]) -> None:
        self.results, self.texts = results, texts

    def latest_results(self, node: str) -> tuple[Stored, ...]:
        """Return its newest results."""
        return self.results.get(node, ())

    def evidence(self, digest: str) -> str | None:
        """Return a text, if it was kept."""
        return self.texts.get(digest)


def stored(node: str, check: str, ago: float = 60.0, observed: object = None, *evidence: str) -> Stored:
    result = Result(check, Verdict.PASS, "as seen", (), {"unread": observed}, evidence)
    return Stored(1, 1, node, Stage.CABLING, NOW - ago, result)


def told(
    unread: object = ("leaf-1",), ago: float = 60.0, *, text: str = HEARD, of: Fleet | None = None
) -> dict[str, dict[str, object]]:
    """Ask what the nodes of the fabric heard, whose last sweep did not read some switches."""
    site = of or fleet(*PAIRS)
    (fabric,) = fabrics(site)
    results = {name: (stored(name, "cabling_ethernet", ago, None, "gone", "text"),) for name in ("gpu-1", "gpu-2")}
    results[fabric.name] = (stored(fabric.name, "fabric_ethernet", 60.0, unread),)
    return neighbours(cast("Store", Kept(results, {"text": text})), site, fabric, NOW)


def test_nodes_beside_a_switch_that_the_last_sweep_did_not_read_say_what_they_heard() -> None:
    found = told()
    assert set(found) == {"gpu-1"}
    assert found["gpu-1"]["at"] == NOW - 60.0
    assert isinstance(found["gpu-1"]["neighbours"], list)
    assert len(found["gpu-1"]["neighbours"]) == 2


def test_nodes_beside_a_switch_that_nobody_can_ask_do_so_too() -> None:
    assert set(told((), of=fleet(*PAIRS, *MORE))) == {"gpu-2"}
    assert set(told(("leaf-1",), of=fleet(*PAIRS, *MORE))) == {"gpu-1", "gpu-2"}


@pytest.mark.parametrize("unread", [(), None, 7, "leaf-1"])
def test_where_every_switch_was_read_nobody_is_looked_up(unread: object) -> None:
    assert told(unread) == {}


def test_what_was_heard_long_ago_or_cannot_be_read_says_nothing() -> None:
    assert set(told(ago=FRESH)) == {"gpu-1"}
    assert told(ago=FRESH + 1.0) == {}
    assert told(text=HEARD[:-9]) == {}
    assert told(text="") == {}


def test_a_fabric_that_was_never_swept_asks_for_its_switches_alone() -> None:
    site = fleet(*PAIRS)
    (fabric,) = fabrics(site)
    none: Mapping[str, tuple[Stored, ...]] = {}
    assert neighbours(cast("Store", Kept(none, {})), site, fabric, NOW) == {}
    lost: Fabric = replace(fabric, asked=frozenset({"leaf-1"}))
    assert neighbours(cast("Store", Kept(none, {})), site, lost, NOW) == {}
