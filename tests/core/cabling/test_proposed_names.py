"""Names that are proposed bind what is plugged, and never make a cable right that is not."""

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.aliases import called
from fleet_runner.core.cabling.binding import bind
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import Verdicts, hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.misnamed import Sort
from fleet_runner.core.cabling.name_votes import Votes, agreed_adapters, agreed_numbers
from fleet_runner.core.cabling.names import declared, names
from fleet_runner.core.cabling.proposed_names import Proposal, propose
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from fleet_runner.core.checks.parsers.names_csv import stands_for
from tests.core.cabling.fabrics import rails
from tests.examples import examples

SERVERS = frozenset(f"gpu-{number:02d}" for number in range(1, 13))
DESIGN = rails(6, 4)

HOSTS: dict[str, Callable[[int], str]] = {
    "gpu-01": lambda number: f"gpu-{number:02d}",
    "GPU_1": lambda number: f"GPU_{number}.example.net",
    "node0": lambda number: f"node{number - 1}",
    "dgx-200-01": lambda number: f"dgx-200-{number:02d}",
}
RAILS: dict[str, Callable[[int], str]] = {
    "ib0": lambda rail: f"ib{rail}",
    "mlx5_0": lambda rail: f"mlx5_{rail if rail < 2 else rail + 3}",
    "HCA-1": lambda rail: f"HCA-{rail + 1}",
}
LEAVES: dict[str, Callable[[str], str]] = {
    "leaf-1": str,
    "LEAF1": lambda name: name.upper().replace("-", ""),
    "MF0;sw-1": lambda name: f"MF0;ib-{name.replace('leaf', 'l').replace('spine', 's')}:MQM9700/U1",
}
PORTS: dict[str, Callable[[int], str]] = {
    "1": str,
    "IB1/1/1": lambda number: f"IB1/{(number + 1) // 2}/{2 - number % 2}",
    "Port 0": lambda number: f"Port {number - 1}",
    "a": lambda number: f"port {'abcdefghijklmnop'[number - 1]}",
}


def capture(links: Iterable[Link], host: str, rail: str, leaf: str) -> list[FabricLink]:
    """Return what a fabric tells of links in these spellings."""

    def end(port: Port) -> FabricPort:
        if port.device in SERVERS:
            name = f"{HOSTS[host](int(port.device[4:]))} {RAILS[rail](int(port.interface[2:]))}"
            return FabricPort(name, 1, "CA", f"{port.device}{port.interface}")
        return FabricPort(LEAVES[leaf](port.device), int(port.interface), "SW", port.device)

    return [FabricLink(end(a), end(b), 4, "NDR") for a, b in links]


def spelled(links: Iterable[Link], style: str) -> tuple[Link, ...]:
    """Return the links with switches' ports as a design may write them."""

    def one(port: Port) -> Port:
        return port if port.device in SERVERS else Port(port.device, PORTS[style](int(port.interface)))

    return tuple(link(one(each.a), one(each.b)) for each in links)


def proposed(design: Iterable[Link], seen: list[FabricLink]) -> tuple[Proposal, Verdicts]:
    """Return what is proposed, and what is judged with it."""
    wanted = tuple(design)
    known = names([port for each in wanted for port in each], {}, {}, wanted)
    found = propose(wanted, seen, known, SERVERS, {})
    rows = [row for rule in found.rules for row in rule.rows]
    adapters = {
        device: {row.adapter: row.interface for row in rows if row.adapter and stands_for(row.device, device)}
        for device in known.spoken
    }
    told = called(seen, {row.name: row.device for row in rows if row.name})
    return found, hold(wanted, bind(told, declared(known, adapters)), Places({}, {}, SERVERS))


styles = (st.sampled_from(sorted(each)) for each in (HOSTS, RAILS, LEAVES, PORTS))


@settings(max_examples=examples(150), deadline=None)
@given(*styles)
def test_a_fabric_as_designed_is_bound_by_what_is_proposed(host: str, rail: str, leaf: str, style: str) -> None:
    found, verdicts = proposed(spelled(DESIGN, style), capture(DESIGN, host, rail, leaf))
    assert verdicts.faults == ()
    assert verdicts.matched == found.after
    if (host, style) != ("node0", "a"):
        assert found.after == len(DESIGN), found


more = (st.sampled_from(sorted(each)) for each in (HOSTS, RAILS, LEAVES, PORTS))


@settings(max_examples=examples(150), deadline=None)
@given(*more, st.lists(st.integers(0, 23), min_size=2, max_size=3, unique=True))
def test_no_right_cable_is_in_a_plan_by_what_is_proposed(
    host: str, rail: str, leaf: str, style: str, turned: list[int]
) -> None:
    """Two or three servers' cables are plugged in each other's ports."""
    crossed = [link(DESIGN[at].a, DESIGN[to].b) for at, to in zip(turned, [*turned[1:], turned[0]], strict=True)]
    seen = [*crossed, *(each for at, each in enumerate(DESIGN) if at not in turned)]
    design = spelled(DESIGN, style)
    _, verdicts = proposed(design, capture(seen, host, rail, leaf))
    right = {design[at] for at in range(len(DESIGN)) if at not in turned}
    for fault in verdicts.faults:
        assert not right.intersection(fault.expected)


def numbered(prefix: str, start: int) -> Callable[[str], str]:
    """Return what calls devices by a number without zeros, counted from another one."""
    return lambda name: f"{prefix}{int(name.rpartition('-')[2]) - 1 + start}"


def told(links: Iterable[Link], host: Callable[[str], str], leaf: Callable[[str], str]) -> list[FabricLink]:
    """Return what a fabric tells of links whose devices it calls otherwise."""

    def end(port: Port) -> FabricPort:
        if port.device in SERVERS:
            return FabricPort(f"{host(port.device)} {port.interface}", 1, "CA", f"{port.device}{port.interface}")
        return FabricPort(leaf(port.device), int(port.interface), "SW", port.device)

    return [FabricLink(end(a), end(b), 4, "NDR") for a, b in links]


@pytest.mark.parametrize("missing", [None, 5])
def test_names_that_read_alike_may_still_be_counted_from_zero(missing: int | None) -> None:
    """gpu0 to gpu5 are gpu-01 to gpu-06, though all but gpu0 read like another one."""
    design = spelled(DESIGN, "IB1/1/1")
    seen = told((each for at, each in enumerate(DESIGN) if at != missing), numbered("gpu", 0), str)
    found, verdicts = proposed(design, seen)
    named = {row.name: row.device for rule in found.rules for row in rule.rows if row.name}
    assert named == {f"gpu{number}": f"gpu-{number + 1:02}" for number in range(6)}
    assert verdicts.matched == found.after == len(seen)


def test_readings_of_leaves_and_adapters_that_turn_together_are_not_proposed() -> None:
    """Without uplinks nobody knows whether leaf0 is leaf-1 with HCA-1 as ib0, or leaf-4 with HCA-1 as ib3."""
    hosts = [each for each in DESIGN if each.a.device in SERVERS or each.b.device in SERVERS]
    seen = capture(hosts, "gpu-01", "HCA-1", "leaf-1")
    seen = [each._replace(b=each.b._replace(name=numbered("leaf", 0)(each.b.name))) for each in seen]
    found, _ = proposed(hosts, seen)
    assert not any(row.name for rule in found.rules for row in rule.rows)
    assert "fit the cables alike" in " ".join(found.untold)


def test_a_device_that_is_spelled_as_its_siblings_is_none_that_is_dark() -> None:
    """leaf-9 is not the leaf-2 that nobody hears of."""
    hosts = [each for each in DESIGN if each.a.device in SERVERS]
    seen = [each for each in hosts if each.b.device != "leaf-2"]
    others = [link(each.a, Port("leaf-9", each.b.interface)) for each in hosts if each.b.device == "leaf-2"]
    ends = told([*seen, *others], str, str)
    odd = [each._replace(a=each.a._replace(name=each.a.name.replace("ib1", "ib7"))) for each in ends]
    found, _ = proposed(hosts, odd)
    assert (found.rules, len(found.untold)) == ((), 1)
    assert found.untold[0].startswith("'leaf-9' is seen and not designed, 'leaf-2' is designed and not seen: ")


def test_names_that_fit_need_none() -> None:
    found, _ = proposed(DESIGN, capture(DESIGN, "gpu-01", "ib0", "leaf-1"))
    assert found == Proposal((), (), len(DESIGN), len(DESIGN), len(DESIGN))


def test_each_rule_says_how_many_cables_fit() -> None:
    found, _ = proposed(DESIGN, capture(DESIGN, "node0", "mlx5_0", "leaf-1"))
    assert [(rule.sort, rule.devices, rule.links, rule.cables) for rule in found.rules] == [
        (Sort.DEVICES, "gpu-0*", 24, 24),
        (Sort.ADAPTERS, "gpu-0*", 24, 24),
    ]
    assert (found.before, found.after, found.untold) == (8, 32, ())


def test_two_readings_that_fit_alike_are_not_proposed() -> None:
    """Servers are counted from zero, and all are plugged one port on: either may be so."""
    design = [link(Port(f"gpu-0{number}", "ib0"), Port("leaf-1", "abcdefgh"[number])) for number in range(1, 7)]
    plugged = [link(each.a, Port("leaf-1", str(number))) for number, each in enumerate(design, start=1)]
    found, verdicts = proposed(design, capture(plugged, "node0", "ib0", "leaf-1"))
    assert found.rules == ()
    assert any("both fit the cables alike" in said for said in found.untold)
    assert verdicts.faults == ()


def test_names_by_which_most_cables_do_not_fit_are_not_proposed() -> None:
    turned = [link(each.a, Port(each.b.device, str(int(each.b.interface) % 6 + 1))) for each in DESIGN[:24]]
    found, _ = proposed(DESIGN[:24], capture(turned, "dgx-200-01", "ib0", "leaf-1"))
    assert found.rules == ()
    assert [said[:30] for said in found.untold] == ["gpu-0*: the devices would be '"]


def test_one_servers_cables_alone_tell_no_other_order_than_its_names() -> None:
    """They may be swapped. Of two servers that tell the same, that is believed."""
    one = Votes()
    for adapter, rail in (("mlx5_0", "ib1"), ("mlx5_1", "ib0")):
        one.add(adapter, rail, "gpu-01")
    assert agreed_adapters(one) == {}
    for adapter, rail in (("mlx5_0", "ib1"), ("mlx5_1", "ib0")):
        one.add(adapter, rail, "gpu-02")
    assert agreed_adapters(one) == {"mlx5_0": "ib1", "mlx5_1": "ib0"}
    one.add("mlx5_2", "ib1", "gpu-02")
    assert "mlx5_0" not in agreed_adapters(one)


def test_ports_that_are_no_numbers_are_told_by_two_switches_that_agree() -> None:
    votes = Votes()
    for device in ("leaf-1", "leaf-2"):
        votes.add("7", "left", device)
    votes.add("8", "right", "leaf-1")
    assert agreed_numbers(votes, ["left", "right"]) == {"7": "left"}


@pytest.mark.parametrize("end", ["gpu-01", "gpu-01 "])
def test_an_end_that_names_no_adapter_tells_none(end: str) -> None:
    """One whose GUID is known does: also which device it is of."""
    seen = capture(DESIGN, "gpu-01", "mlx5_0", "leaf-1")
    dumb = [each._replace(a=each.a._replace(name=end)) if each.a.name == "gpu-01 mlx5_0" else each for each in seen]
    known = names([port for each in DESIGN for port in each], {"gpu-02ib0": Port("gpu-02", "ib0")}, {}, DESIGN)
    found = propose(DESIGN, dumb, known, SERVERS, {})
    assert [rule.sort for rule in found.rules] == [Sort.ADAPTERS]


def test_where_several_cables_join_two_devices_the_known_end_tells_the_other() -> None:
    design = [
        link(Port(f"gpu-0{number}", f"ib{rail}"), Port("leaf-1", str(2 * number + rail)))
        for number in range(1, 4)
        for rail in (0, 1)
    ]
    found, verdicts = proposed(design, capture(design, "gpu-01", "mlx5_0", "leaf-1"))
    assert (verdicts.matched, [rule.sort for rule in found.rules]) == (6, [Sort.ADAPTERS])
