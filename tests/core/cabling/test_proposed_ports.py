"""Names proposed from what devices hear over LLDP."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.ethernet import judge
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import Names, declared, names
from fleet_runner.core.cabling.proposed_names import Proposal
from fleet_runner.core.cabling.proposed_ports import propose
from fleet_runner.core.checks.parsers.lldp import Neighbour
from tests.cli.cabling.fabric_forms import ETHERNET
from tests.core.cabling.spelled_halls import SPOKEN, WRITTEN, draw
from tests.core.cabling.test_spelled_halls import captures, known
from tests.examples import examples


def ports(proposal: Proposal, devices: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the port of each told name of each device."""
    rows = [row for rule in proposal.rules for row in rule.rows if row.adapter]
    return {
        device: {row.adapter: row.interface for row in rows if fnmatchcase(device, row.device)} for device in devices
    }


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 1_000_000), st.integers(0, len(ETHERNET) - 1), st.booleans())
def test_a_proposed_name_is_the_ports_and_no_cable_that_is_right_is_in_a_plan(
    seed: int, forms: int, whole: bool
) -> None:
    """Whatever rules a hall's design and devices go by, and some cables are plugged wrong."""
    it = draw(seed)
    heard = captures(it.heard() if whole else it.heard_in_part(seed), forms)
    designed, told = known(it)
    found = propose(designed, heard, told, {}, {})
    assert found.before <= found.after <= len(designed)
    mine = ports(found, told.spoken)
    for device, rule in it.spoken.items():
        really = {SPOKEN[rule](at): WRITTEN[it.written[device]](at) for at in range(1, 150)}
        assert mine[device].items() <= really.items()
    servers = frozenset(name for name in told.spoken if name.startswith("gpu"))
    for fault in judge(designed, heard, declared(told, mine), Places({}, {}, servers), prove=True).faults:
        assert it.right.isdisjoint(fault.expected)
        assert it.right.isdisjoint(fault.observed)


def leaf(count: int, name: str = "leaf-1") -> list[Link]:
    return [link(Port(f"gpu-{at}", name), Port(name, f"swp{at}")) for at in range(1, count + 1)]


def spoken(designed: Iterable[Link]) -> Names:
    return names([port for each in designed for port in each], {}, {})


def proposed(designed: list[Link], heard: Mapping[str, Iterable[tuple[str, str, str]]]) -> Proposal:
    captured = {
        device: tuple(Neighbour(near, far, port, "") for near, far, port in rows) for device, rows in heard.items()
    }
    return propose(designed, captured, spoken(designed), {}, {})


def test_what_is_as_designed_needs_no_names() -> None:
    found = proposed(leaf(3), {"leaf-1": [(f"swp{at}", f"gpu-{at}", "leaf-1") for at in (1, 2, 3)]})
    assert (found.rules, found.untold, found.before, found.after) == ((), (), 3, 3)


def test_one_cable_tells_no_name() -> None:
    found = proposed(leaf(3), {"leaf-1": [("Eth1/0/1", "gpu-1", "leaf-1")]})
    assert (found.rules, found.after) == ((), 0)
    assert found.untold == ("leaf-1: too few of its cables tell what its ports are called",)


def test_names_that_no_way_to_count_gives_are_told_by_two_devices_that_say_them_alike() -> None:
    words = ("left", "right", "middle")
    designed = [*leaf(3), *leaf(3, "leaf-2")]
    heard = {
        name: [(word, f"gpu-{at}", name) for at, word in enumerate(words, start=1)] for name in ("leaf-1", "leaf-2")
    }
    found = proposed(designed, heard)
    (rule,) = found.rules
    assert (rule.devices, rule.links, rule.cables, found.after) == ("leaf-*", 6, 6, 6)
    assert [(row.device, row.adapter, row.interface) for row in rule.rows] == [
        ("leaf-*", "left", "swp1"),
        ("leaf-*", "middle", "swp3"),
        ("leaf-*", "right", "swp2"),
    ]
    assert proposed(leaf(3), {"leaf-1": heard["leaf-1"]}).rules == ()


def test_devices_of_a_kind_that_are_called_otherwise_have_a_rule_each() -> None:
    designed = [*leaf(2), *leaf(2, "leaf-2"), *leaf(2, "leaf-b")]
    heard = {
        "leaf-1": [("Eth1/0/1", "gpu-1", "leaf-1"), ("Eth1/0/2", "gpu-2", "leaf-1")],
        "leaf-2": [("et-0/0/0", "gpu-1", "leaf-2"), ("et-0/0/1", "gpu-2", "leaf-2")],
        "leaf-b": [("swp1", "gpu-1", "leaf-b"), ("swp2", "gpu-2", "leaf-b")],
    }
    found = proposed(designed, heard)
    assert [(rule.devices, rule.links) for rule in found.rules] == [("leaf-1", 2), ("leaf-2", 2)]


def nodes(order: tuple[int, ...]) -> Proposal:
    """Propose names for three servers that a leaf hears by another name, plugged in some order."""
    return proposed(
        leaf(3), {"leaf-1": [(f"swp{at}", f"node{to}", "leaf-1") for at, to in enumerate(order, start=1)]}
    )


def test_neighbours_that_are_called_otherwise_are_told_by_their_cables() -> None:
    found = nodes((1, 2, 3))
    (rule,) = found.rules
    assert [(row.device, row.name) for row in rule.rows] == [(f"gpu-{at}", f"node{at}") for at in (1, 2, 3)]
    assert (rule.sort, rule.links, rule.cables, found.before, found.after) == ("devices", 3, 3, 0, 3)


def test_names_by_which_most_cables_are_wrong_are_not_proposed() -> None:
    found = nodes((1, 3, 2))
    assert (found.rules, found.after) == ((), 0)
    assert found.untold == ("gpu-*: the devices would be 'node1' and so on, and 1 of 3 cables would be as designed",)


def test_neighbours_that_may_be_either_of_two_are_not_proposed() -> None:
    """node0 and node1 are gpu-1 and gpu-2 by their order, and node1 is gpu-1 by its number."""
    designed = [link(Port(f"gpu-{at}", "eth0"), Port("leaf-1", "swp1")) for at in (1, 2)]
    found = proposed(designed, {"leaf-1": [("swp9", "node0", "eth0"), ("swp9", "node1", "eth0")]})
    assert found.rules == ()


def test_addresses_and_devices_that_nobody_knows_tell_nothing() -> None:
    found = proposed(leaf(2), {"leaf-1": [("Eth1/0/1", "other", "x"), ("Eth1/0/2", "", "02:00:00:00:00:01")]})
    assert (found.rules, found.after) == ((), 0)
