"""Random Ethernet fabrics: one fault of each class, as much or little as devices say of it."""

from collections.abc import Callable

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling import lost_links
from fleet_runner.core.cabling.ethernet_sweep import SweepVerdicts
from fleet_runner.core.cabling.explain import Fault, Kind
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.plan import apply
from fleet_runner.core.checks.parsers.lldp import Neighbour
from tests.core.cabling.ethernet_halls import Hall, hall, heard, learned, swept
from tests.examples import examples

HALLS = st.builds(hall, st.integers(4, 10), st.integers(1, 3), st.integers(2, 3), st.integers(2, 4))
WHY = "it did not answer within 30 seconds"

Change = Callable[[list[Link], st.DataObject], list[Link]]
"""What somebody does to the cables."""


def hosts(cables: list[Link]) -> list[Link]:
    """Return the cables of servers: their ports come first."""
    return [each for each in cables if each.a.device.startswith("gpu")]


def turned(cables: list[Link], chosen: list[Link]) -> list[Link]:
    """Give each of some cables the next one's switch port."""
    ends = [each.b for each in chosen]
    there = [link(each.a, far) for each, far in zip(chosen, [*ends[1:], ends[0]], strict=True)]
    return [*(each for each in cables if each not in chosen), *there]


def some(cables: list[Link], data: st.DataObject, count: int) -> list[Link]:
    """Return some cables of servers, none twice."""
    mine = hosts(cables)
    assume(len(mine) >= count)
    return data.draw(st.lists(st.sampled_from(mine), min_size=count, max_size=count, unique=True))


def swap(cables: list[Link], data: st.DataObject) -> list[Link]:
    """Two cables of two servers take each other's place."""
    chosen = some(cables, data, 2)
    assume(chosen[0].a.device != chosen[1].a.device)
    return turned(cables, chosen)


def wrong_rail(cables: list[Link], data: st.DataObject) -> list[Link]:
    """Two rails of one server are exchanged."""
    first = data.draw(st.sampled_from(hosts(cables)))
    others = [each for each in hosts(cables) if each.a.device == first.a.device and each != first]
    assume(others)
    return turned(cables, [first, data.draw(st.sampled_from(others))])


def rotation(cables: list[Link], data: st.DataObject) -> list[Link]:
    """Three cables take each other's ports."""
    return turned(cables, some(cables, data, 3))


def moved(cables: list[Link], data: st.DataObject) -> list[Link]:
    """One end is in a free port of the same switch."""
    (each,) = some(cables, data, 1)
    return [*(other for other in cables if other != each), link(each.a, Port(each.b.device, "swp60"))]


def wrong_switch(cables: list[Link], data: st.DataObject) -> list[Link]:
    """One end is in a free port of another leaf."""
    (each,) = some(cables, data, 1)
    leaves = sorted({other.b.device for other in hosts(cables)} - {each.b.device})
    assume(leaves)
    there = Port(data.draw(st.sampled_from(leaves)), "swp60")
    return [*(other for other in cables if other != each), link(each.a, there)]


def moved_and_missing(cables: list[Link], data: st.DataObject) -> list[Link]:
    """One end took another cable's port, whose cable is gone."""
    one, other = some(cables, data, 2)
    return [*(each for each in cables if each not in {one, other}), link(one.a, other.b)]


def stranger(cables: list[Link], data: st.DataObject) -> list[Link]:
    """A device that nobody designed is at a server's port."""
    (each,) = some(cables, data, 1)
    return [*(other for other in cables if other != each), link(each.b, Port("printer", "lan"))]


FAULTS: dict[Kind, Change] = {
    Kind.SWAP: swap,
    Kind.WRONG_RAIL: wrong_rail,
    Kind.ROTATION: rotation,
    Kind.MOVED: moved,
    Kind.WRONG_SWITCH: wrong_switch,
    Kind.MOVED_AND_MISSING: moved_and_missing,
    Kind.UNPLANNED: stranger,
}


def sweep(
    it: Hall, cables: list[Link], silent: frozenset[str] = frozenset(), unread: frozenset[str] = frozenset()
) -> SweepVerdicts:
    """Sweep: devices that are silent say nothing over LLDP, switches that are not read say nothing of others."""
    read = [name for name in it.switches if name not in unread]
    return swept(it, heard(cables, read, silent), dict.fromkeys(sorted(unread), WHY), learned(cables, it, read))


def spares(fault: Fault, cables: list[Link], it: Hall) -> bool:
    """Whether a fault's plan restores the design and moves no cable that is right."""
    right = set(cables).intersection(it.links)
    return apply(fault.actions, fault.observed) == set(fault.expected) and right.isdisjoint(fault.observed)


@given(HALLS, st.sampled_from(sorted(FAULTS)), st.data())
@settings(max_examples=examples(500))
def test_one_fault_is_one_fault_with_the_right_moves(it: Hall, kind: Kind, data: st.DataObject) -> None:
    cables = FAULTS[kind]([*it.links], data)
    (fault,) = sweep(it, cables).verdicts.faults
    assert fault.kind is kind
    assert spares(fault, cables, it)
    assert set(fault.expected) == set(it.links) - set(cables)
    assert fault.touches == max(len(fault.expected), len(fault.observed))


@given(HALLS, st.data())
@settings(max_examples=examples(500))
def test_a_switch_without_power_is_one_fault_without_a_move(it: Hall, data: st.DataObject) -> None:
    dead = data.draw(st.sampled_from(it.switches))
    left = [each for each in it.links if dead not in {each.a.device, each.b.device}]
    found = sweep(it, left, unread=frozenset({dead}))
    spines = [name for name in it.switches if name.startswith("spine")]
    beside = len(it.switches) - len(spines) if dead in spines else len(spines)
    lone = beside < 2 or (dead not in spines and len(it.switches) - len(spines) < 2)
    assert [fault.key for fault in found.verdicts.faults] == ([] if lone else [f"cabling/dark/{dead}"])
    assert all(fault.touches == 0 for fault in found.verdicts.faults)


@given(HALLS, st.data())
@settings(max_examples=examples(500))
def test_an_uplink_that_was_heard_before_is_one_fault_and_no_other_cable_is_named(
    it: Hall, data: st.DataObject
) -> None:
    """Of two switches both of which hear others; a spine of one leaf hears nobody else then."""
    between = lost_links.between(it.links, it.servers)
    gone = data.draw(st.sampled_from(sorted(between)))
    left = [each for each in it.links if each != gone]
    rows = heard(left, it.switches)
    found = swept(it, rows, between=between).verdicts.faults
    alone = any(not rows[port.device] for port in gone)
    assert [fault.expected for fault in found] == ([] if alone else [(gone,)])
    assert all(fault.touches == 0 for fault in found)
    assert swept(it, rows).verdicts.faults == ()


@given(HALLS, st.data())
@settings(max_examples=examples(500))
def test_right_cables_are_never_moved_whoever_says_nothing(it: Hall, data: st.DataObject) -> None:
    """Any devices without LLDP, any switches that cannot be read: only one that is both may seem dark."""
    silent = data.draw(st.frozensets(st.sampled_from(it.names)))
    unread = data.draw(st.frozensets(st.sampled_from(it.switches)))
    found = sweep(it, [*it.links], silent, unread)
    assert {fault.kind for fault in found.verdicts.faults} <= {Kind.DARK}
    assert {name for fault in found.verdicts.faults for name in fault.subjects} <= silent & unread
    assert found.verdicts.doubts == ()
    assert found.believed <= set(it.links)


@given(HALLS, st.sampled_from(sorted(FAULTS)), st.data())
@settings(max_examples=examples(500))
def test_whatever_is_wrong_and_whoever_says_nothing_no_right_cable_is_moved(
    it: Hall, kind: Kind, data: st.DataObject
) -> None:
    cables = FAULTS[kind]([*it.links], data)
    silent = data.draw(st.frozensets(st.sampled_from(it.names)))
    unread = data.draw(st.frozensets(st.sampled_from(it.switches)))
    for fault in sweep(it, cables, silent, unread).verdicts.faults:
        assert fault.kind is Kind.DARK or spares(fault, cables, it)
        assert fault.touches == 0 or fault.kind is not Kind.DARK


@given(HALLS, st.text(max_size=4096), st.data())
@settings(max_examples=examples(500))
def test_what_a_liar_says_never_moves_a_cable_between_others(it: Hall, name: str, data: st.DataObject) -> None:
    """A server may call itself anything, at its own port, in somebody else's name and with its address too."""
    liar = data.draw(st.sampled_from(hosts([*it.links])))
    victim = data.draw(st.sampled_from([each for each in it.links if each != liar]))
    claimed = data.draw(st.sampled_from([victim.a, victim.b, Port(name, name), Port(victim.a.device, name)]))
    rows = heard([each for each in it.links if each != liar], it.switches)
    mac = {port: mac for mac, port in it.macs.items()}.get(claimed, claimed.interface)
    said = data.draw(st.sampled_from([claimed.interface, mac]))
    rows[liar.b.device].append(Neighbour(liar.b.interface, claimed.device, said, name))
    found = swept(it, rows, {}, learned(it.links, it, it.switches))
    for fault in found.verdicts.faults:
        assert liar.b in fault.ports
        assert set(fault.expected) <= {liar, victim}
    right = set(it.links) - {liar, victim}
    assert all(not right.intersection(fault.expected) for fault in found.verdicts.faults)
