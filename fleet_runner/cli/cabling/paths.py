"""fleet-runner cabling paths: between which idle nodes to test, so that every link between switches is used."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table
from rich.text import Text

from fleet_runner.cli.base.session import Exit, console, opened, print_json
from fleet_runner.cli.cabling.design import adapters_of
from fleet_runner.cli.cabling.options import AsJson, FabricName
from fleet_runner.cli.cabling.text import note
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.cabling.explain import some
from fleet_runner.core.cabling.fabrics import ETHERNET, Fabric, fabrics
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.paths import LIKELY, Pair, PathTests, path_tests
from fleet_runner.core.cabling.topology.layers import layers

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store
    from fleet_runner.core.inventory.records import Fleet

HASHED = (
    "Switches choose a way for each flow by a hash. With so many flows (queue pairs) every link of a test carries one"
    f" in each direction with a likelihood of {LIKELY:.0%} for all tests together, if hashes spread flows evenly."
    " It is likely, not certain: the counters of the switches' ports tell."
)
ROUTED = (
    "With adaptive routing, one test uses all ways between its leaves. Without, the subnet manager gives each"
    " destination one way: then a test uses one uplink of each leaf, and the others take other destinations."
)


def paths(*, fabric: FabricName = None, json: AsJson = False) -> None:
    """Plan tests between idle nodes that use every link between switches, in as few tests as possible.

    Nothing is run. Each test is ib_write_bw between two nodes' ports, by RoCE or InfiniBand: its two commands are
    printed with --json. Only nodes are named that may be loaded now, as of fleet-runner allreduce; those that may not
    are listed with the reason.

    Exit code 0: tests use every link; 1: not all of them, and it says which and why.
    """
    from fleet_runner.adapters.source import Reader  # noqa: PLC0415  its clients take longer to load than help does

    with opened() as (settings, store):
        fleet = Reader(settings)()
        newest = time.time() - 2 * settings.schedule("passive").times.pause
        found = {each.name: _planned(store, fleet, each, newest) for each in _wanted(fabrics(fleet), fabric)}
    if json:
        print_json({name: plan for name, (_, plan) in found.items()})
    else:
        for tests, plan in found.values():
            _show(tests, plan)
    whole = all(tests.covered == tests.links for tests, _ in found.values())
    raise typer.Exit(Exit.OK if whole else Exit.NO)


def _wanted(every: Iterable[Fabric], name: str | None) -> list[Fabric]:
    known = list(every)
    found = [each for each in known if name in {None, each.name}]
    if not found:
        names = some(each.name for each in known) or "none: an Ethernet fabric needs a switch that can be asked"
        raise FleetError(f"no fabric named {name or 'anything'}; the source of truth has {names}")
    return found


def _planned(store: "Store", fleet: "Fleet", fabric: Fabric, newest: float) -> tuple[PathTests, dict[str, Any]]:
    """Return the tests of a fabric, and what is printed of them."""
    from fleet_runner.cli.checks.idle_nodes import why_not  # noqa: PLC0415  likewise

    tree = layers(fleet, fabric)
    rows = {name: store.node(name) for name in tree.nodes}
    busy = {
        name: "it is not registered" if row is None else why_not(store, row, newest) for name, row in rows.items()
    }
    bmcs = {Port(*port) for port in fabric.ports if _is_bmcs(fleet, port.device, port.interface)}
    links = [each for each in tree.links if bmcs.isdisjoint(each)]
    tests = path_tests(links, frozenset(tree.nodes), {name for name, why in busy.items() if not why})
    named = {kind: adapters_of(kind) for kind in {fleet.devices[name].device_type for name in tree.nodes}}

    def adapter(port: Port) -> str | None:
        known = named[fleet.devices[port.device].device_type]
        return next((name for name, interface in known.items() if interface == port.interface), None)

    hashed = fabric.kind == ETHERNET
    rows_ = [_row(pair, (adapter(pair.one), adapter(pair.other)), hashed=hashed) for pair in tests.pairs]
    return tests, {
        "fabric": fabric.name,
        "links": tests.links,
        "covered": tests.covered,
        "least_tests": tests.least,
        "tests": rows_,
        "coverage": HASHED if hashed else ROUTED,
        "no_idle_node": {leaf: _written(links) for leaf, links in tests.deserted.items()},
        "no_way": _written(tests.unreached),
        "not_idle": {name: why for name, why in busy.items() if why},
    }


def _is_bmcs(fleet: "Fleet", device: str, name: str) -> bool:
    return any(each.mgmt_only for each in fleet.devices[device].interfaces if each.name == name)


def _row(pair: Pair, named: tuple[str | None, str | None], *, hashed: bool) -> dict[str, Any]:
    """Return a test; where an adapter is not known, its command has the interface in angle brackets instead."""
    flows = pair.flows if hashed else 1
    words = f"-q {flows} -s 65536 -D 10 -b -F --report_gbits"
    devices = [
        name or f"<adapter of {port.interface}>" for name, port in zip(named, (pair.one, pair.other), strict=True)
    ]
    return {
        "from": {"node": pair.one.device, "interface": pair.one.interface, "adapter": named[0]},
        "to": {"node": pair.other.device, "interface": pair.other.interface, "adapter": named[1]},
        "leaves": list(pair.leaves),
        "flows": flows,
        "links": _written(pair.links),
        "server": f"ib_write_bw -d {devices[0]} {words}",
        "client": f"ib_write_bw -d {devices[1]} {words} {pair.one.device}",
    }


def _written(links: Iterable[Link]) -> list[str]:
    return [f"{each.a} to {each.b}" for each in links]


def _show(tests: PathTests, plan: Mapping[str, Any]) -> None:
    count = len(tests.pairs)
    console.print(
        f"{plan['fabric']}: {tests.covered} of {tests.links} links between switches are used by"
        f" {count} test{'s' * (count != 1)}; the fewest possible {'are' if tests.least != 1 else 'is'} {tests.least}",
        markup=False,
        soft_wrap=True,
    )
    if tests.pairs:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for title in ("FROM", "TO", "LEAVES", "LINKS", "FLOWS"):
            table.add_column(title, overflow="fold", justify="right" if title in {"LINKS", "FLOWS"} else "left")
        for pair, row in zip(tests.pairs, plan["tests"], strict=True):
            cells = (str(pair.one), str(pair.other), ", ".join(pair.leaves), str(len(pair.links)), str(row["flows"]))
            table.add_row(*(Text(printable(cell)) for cell in cells))
        console.print(table)
        note(plan["coverage"])
    if plan["no_idle_node"]:
        count = sum(map(len, plan["no_idle_node"].values()))
        note(f"not used: {count} links of leaves at which no node is idle: {some(plan['no_idle_node'])}")
    if plan["no_way"]:
        note(f"not used: {some(plan['no_way'])}: on no shortest way between two leaves with idle nodes")
    because: dict[str, list[str]] = defaultdict(list)
    for name, why in plan["not_idle"].items():
        because[why.replace(name, "NODE")].append(name)
    for why, names in because.items():
        note(f"not loaded: {some(names)}: {why}")
