"""fleet-runner cabling paths: between which idle nodes to test, so that every link between switches is used."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from fleet_runner.cli.base.session import Exit, console, opened, print_json
from fleet_runner.cli.cabling.design import profile_of
from fleet_runner.cli.cabling.options import AsJson, FabricName
from fleet_runner.cli.cabling.text import note
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.cabling.explain import some
from fleet_runner.core.cabling.fabrics import ETHERNET, Fabric, fabrics
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.paths import LIKELY, Pair, PathTests, path_tests
from fleet_runner.core.cabling.topology.layers import layers
from fleet_runner.core.checks.catalogue.ib_write_pair import SECTION
from fleet_runner.core.inventory import profile

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
Run = Annotated[bool, typer.Option("--run", help="run the tests, and judge what they measure")]


@dataclass(frozen=True, slots=True)
class Planned:
    """A fabric's tests, what is printed of them, and what it takes to run them.

    `links` are the fabric's designed links; `servers` its nodes, each with its device type's profile, of which the
    tests may use those that are `idle`.
    """

    fabric: Fabric
    tests: PathTests
    shown: dict[str, Any]
    links: tuple[Link, ...]
    servers: Mapping[str, profile.Profile]
    idle: frozenset[str]

    def adapter(self, port: Port) -> str | None:
        """Return the adapter that a node's port is; None where its profile does not say it."""
        return profile.adapter(self.servers[port.device], port.interface)


def paths(*, fabric: FabricName = None, run: Run = False, json: AsJson = False) -> None:
    """Plan tests between idle nodes that use every link between switches, in as few tests as possible.

    Each test is ib_write_bw between two nodes' ports, by RoCE or InfiniBand: --json has its two commands. Only nodes
    are named that may be loaded now, as of fleet-runner allreduce; those that may not are listed with the reason.
    Without --run nothing is run.

    With --run the tests run in rounds, in each of which a node has one test at most; nodes need active.ib_write_pair
    in their profile. Who is no longer idle right before a round is left out. A slow pair, and one without a way, is
    tested again between two other nodes. The answer is recorded of the fabric as fabric_paths.

    Exit code 0: tests use every link, and none is slow; 1: not all of them, or a pair is slow or found no way; 3: a
    pair came to no answer.
    """
    from fleet_runner.adapters.source import Reader  # noqa: PLC0415  its clients take longer to load than help does

    with opened() as (settings, store):
        fleet = Reader(settings)()
        newest = time.time() - 2 * settings.schedule("passive").times.pause
        found = [_planned(store, fleet, each, newest, run=run) for each in _wanted(fabrics(fleet), fabric)]
        if not json:
            for each in found:
                _show(each.tests, each.shown)
        if run:
            from fleet_runner.cli.cabling import path_runs  # noqa: PLC0415  likewise

            raise typer.Exit(path_runs.run(settings, store, fleet, found, json=json))
    if json:
        print_json({each.fabric.name: each.shown for each in found})
    whole = all(each.tests.covered == each.tests.links for each in found)
    raise typer.Exit(Exit.OK if whole else Exit.NO)


def _wanted(every: Iterable[Fabric], name: str | None) -> list[Fabric]:
    known = list(every)
    found = [each for each in known if name in {None, each.name}]
    if not found:
        names = some(each.name for each in known) or "none: an Ethernet fabric needs a switch that can be asked"
        raise FleetError(f"no fabric named {name or 'anything'}; the source of truth has {names}")
    return found


def _planned(store: "Store", fleet: "Fleet", fabric: Fabric, newest: float, *, run: bool) -> Planned:
    """Return the tests of a fabric, and what is printed of them; of those that `run`, nodes must be able to."""
    tree = layers(fleet, fabric)
    healthy = {kind: profile_of(kind) for kind in {fleet.devices[name].device_type for name in tree.nodes}}
    servers = {name: healthy[fleet.devices[name].device_type] for name in tree.nodes}
    busy = {name: why_not_now(store, name, newest) for name in tree.nodes}
    if run:
        busy = {name: why or _unable(fleet, name, servers[name]) for name, why in busy.items()}
    bmcs = {Port(*port) for port in fabric.ports if _is_bmcs(fleet, port.device, port.interface)}
    links = tuple(each for each in tree.links if bmcs.isdisjoint(each))
    idle = frozenset(name for name, why in busy.items() if not why)
    tests = path_tests(links, frozenset(tree.nodes), idle)

    def adapter(port: Port) -> str | None:
        return profile.adapter(servers[port.device], port.interface)

    hashed = fabric.kind == ETHERNET
    rows_ = [_row(pair, (adapter(pair.one), adapter(pair.other)), hashed=hashed) for pair in tests.pairs]
    shown: dict[str, Any] = {
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
    return Planned(fabric, tests, shown, links, servers, idle)


def why_not_now(store: "Store", name: str, newest: float) -> str:
    """Say why a node may not be loaded now; "" where it may."""
    from fleet_runner.cli.checks.idle_nodes import why_not  # noqa: PLC0415  likewise

    row = store.node(name)
    return "it is not registered" if row is None else why_not(store, row, newest)


def _unable(fleet: "Fleet", name: str, healthy: profile.Profile) -> str:
    """Say what a node lacks to take part in a test; "" where it lacks nothing."""
    if not profile.has(healthy, SECTION):
        return f"its device type's profile has no {SECTION}; give it one, {{}} will do without a pass mark"
    address = fleet.devices[name].primary_address
    if not address:
        return "the source of truth knows no primary address of it"
    return "its primary address is IPv6, and perftest meets by IPv4; give it an IPv4 one" if ":" in address else ""


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
