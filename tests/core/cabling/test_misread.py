"""Which devices' port names may mean other ports than the design's of the same name."""

import pytest

from fleet_runner.core.cabling.ethernet import judge
from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.misread import HeardCable, misread, unproven
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers.lldp import Neighbour

Pairs = dict[str, str]
"""The designed port of each told one, for cables that are plugged as designed."""


def of(cables: Pairs, names: set[str] | None = None, far: dict[str, str] | None = None) -> bool:
    """Whether a device is misread that tells some names; each cable leads to a device of its own, or to `far`'s.

    A name that the design has is read as itself, any other one as a port that it does not have.
    """
    every = {*cables.values(), *(names or ())}
    ends = {goal: (far or {}).get(goal, f"far-{goal}") for goal in every}
    leads: dict[str, set[str]] = {}
    for goal, device in ends.items():
        leads.setdefault(device, set()).add(goal)
    return misread({HeardCable(name, name, ends[goal], goal) for name, goal in cables.items()}, leads)


def row(word: str, told: list[int], designed: list[int]) -> Pairs:
    return {f"{word}{one}": f"{word}{other}" for one, other in zip(told, designed, strict=True)}


def test_cables_that_are_right_are_never_misread() -> None:
    assert not of(row("Ethernet", [4, 8, 12], [4, 8, 12]))
    assert not misread({HeardCable("Ethernet4", "Ethernet4", "unknown", "")}, {"far": {"Ethernet4"}})


@pytest.mark.parametrize("stride", [4, 8])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_lanes_are_not_taken_for_the_fronts_of_the_same_name(stride: int, count: int) -> None:
    ports = [*range(2, 2 + count)]
    assert of(row("Ethernet", [(port - 1) * stride for port in ports], ports))
    assert of(row("Ethernet", ports, [(port - 1) * stride for port in ports]), {"Ethernet0"}) or count == 1


def test_lanes_of_eight_are_not_taken_for_lanes_of_four() -> None:
    assert of(row("Ethernet", [0, 8, 16], [0, 4, 8]))


def test_other_words_do_not_count_lanes() -> None:
    assert not of(row("swp", [4], [2]))
    assert not of(row("swp", [4, 1], [2, 1]))


def test_an_exchange_and_a_rotation_are_faults_of_cables() -> None:
    assert not of(row("swp", [2, 1], [1, 2]))
    assert not of(row("Ethernet", [2, 1, 3, 4], [1, 2, 3, 4]))
    assert not of(row("Ethernet", [4, 1, 2, 3], [1, 2, 3, 4]))
    assert not of(row("Ethernet", [8, 4], [4, 8]))


def test_one_cable_in_the_next_port_is_a_fault_and_all_of_them_are_not() -> None:
    assert not of(row("swp", [2], [1]))
    assert not of(row("swp", [2, 3, 4, 6], [2, 3, 4, 5]))
    assert of(row("swp", [2, 3], [1, 2]))
    assert of(row("swp", [3, 4, 5, 6, 8], [2, 3, 4, 5, 6]))


def test_a_count_from_zero_is_told_by_its_zero() -> None:
    assert of(row("et-0/0/", [0], [1]))
    assert of(row("et-0/0/", [0, 1, 2, 7], [1, 2, 3, 4]))


def test_a_slot_and_a_port_are_not_a_port_and_its_lane() -> None:
    assert of({"Ethernet1/1": "Ethernet1/1", "Ethernet2/1": "Ethernet1/2", "Ethernet3/1": "Ethernet1/3"})
    assert of({"Ethernet1/1": "Ethernet1/1", "Ethernet1/5": "Ethernet1/2"})
    assert of({"Ethernet1/5": "Ethernet3/1", "Ethernet1/6": "Ethernet3/5"})
    assert of({"Eth1/1/1": "Eth1/0/0", "Eth1/1/2": "Eth1/0/1", "Eth1/2/1": "Eth1/1/0"})
    assert of({"Ethernet1/1": "Ethernet1/1", "Ethernet1/5": "Ethernet1/2", "Ethernet2/1": "Ethernet1/3"})


def test_a_bundle_counts_once_whichever_of_its_ports_its_cables_fit() -> None:
    """One cable of four of a bundle is in its port by either way; both bundles as wholes are not."""
    cables = row("Ethernet", [0, 4, 8, 12, 16, 20], [1, 2, 3, 4, 5, 6])
    assert of(cables, far={f"Ethernet{port}": "spine-1" if port < 5 else "spine-2" for port in range(1, 7)})


def test_a_bundle_that_lost_its_first_cable_is_no_other_bundle() -> None:
    far = {f"swp{port}": "spine-1" for port in range(4)}
    assert not of(row("swp", [1, 2, 3], [1, 2, 3]), {"swp0"}, far)
    assert of(row("swp", [1, 2, 3], [0, 1, 2]), {"swp3"}, far)


def test_names_of_any_other_rule_are_told_by_the_order_of_their_cables() -> None:
    assert of(row("swp", [101, 105, 109, 110], [1, 2, 3, 4]))
    assert not of(row("swp", [101, 105], [1, 2]))
    assert of({"a1b1c1d1e1": "a1b1c1d1e2", "a1b1c1d1e3": "a1b1c1d2e1", "a1b1c2d1e1": "a1b1c3d1e1"})


def test_names_of_another_kind_are_left_alone() -> None:
    assert not misread({HeardCable("swp4", "swp4", "far-1", "Port 1")}, {"far-1": {"Port 1"}})
    assert not misread({HeardCable("lan", "lan", "far-1", "wan")}, {"far-1": {"wan", "lan2"}})
    assert not misread({HeardCable("lan", "lan", "far-1", "wan")}, {"far-1": {"wan"}, "far-2": {"lan"}})


def cables_of(pairs: Pairs, far: str = "") -> tuple[set[HeardCable], dict[str, set[str]]]:
    """Return cables, each to a device of its own, or all `far`, and what leads where."""
    ends = {goal: far or f"far-{goal}" for goal in pairs.values()}
    leads: dict[str, set[str]] = {}
    for goal, device in ends.items():
        leads.setdefault(device, set()).add(goal)
    return {HeardCable(name, name, ends[goal], goal) for name, goal in pairs.items()}, leads


def test_one_cable_of_a_device_in_another_port_proves_nothing() -> None:
    assert unproven(*cables_of({"et-0/0/4": "et-0/0/5"}))
    assert unproven(*cables_of({"et-0/0/4": "Eth1/3/1", "et-0/0/5": "Eth1/3/2"}))
    assert not unproven(*cables_of({"et-0/0/5": "et-0/0/5"}))


def test_cables_that_are_right_prove_the_names_of_their_kind() -> None:
    moved = {"et-0/0/4": "et-0/0/5"}
    assert not unproven(*cables_of(moved | row("et-0/0/", [6], [6])))
    assert unproven(*cables_of(moved | {"mgmt1": "mgmt1"}))
    assert unproven(*cables_of(row("et-0/0/", [1, 3, 6], [2, 4, 6])))
    assert not unproven(*cables_of(row("et-0/0/", [1, 3, 6, 7], [2, 4, 6, 7])))


def test_cables_in_each_others_ports_are_wrong_by_any_names() -> None:
    assert not unproven(*cables_of(row("swp", [1, 2], [2, 1])))
    assert not unproven(*cables_of(row("swp", [1, 2, 3], [2, 3, 1])))


def test_a_cable_of_a_bundle_proves_nothing_where_its_other_end_tells_no_port() -> None:
    bundle = {HeardCable(f"swp{at}", f"swp{at}", "spine-1", "") for at in (1, 2)}
    leads = {"spine-1": {"swp1", "swp2"}, "far-1": {"swp4"}}
    assert not unproven(bundle, leads)
    assert unproven({*bundle, HeardCable("swp3", "swp3", "far-1", "swp4")}, leads)


def test_an_index_that_was_read_as_no_port_proves_nothing() -> None:
    assert not unproven([HeardCable("588", "", "far-1", "et-0/0/1")], {"far-1": {"et-0/0/1"}})
    assert not unproven([HeardCable("swp1", "swp1", "far-2", "")], {"far-1": {"swp2"}})
    assert not misread([HeardCable("588", "", "far-1", "et-0/0/1")], {"far-1": {"et-0/0/1"}})


def test_hostile_names_are_read_in_a_moment() -> None:
    for name in ("1" * 4096, "a" * 4096, "1/" * 2048, "a" * 2048 + "-" * 2048, "et" + "1/1." * 1024 + "x"):
        cables = {HeardCable(name, "swp1", "far-1", ""), HeardCable("swp2", "swp2", "far-1", "swp1")}
        assert not misread(cables, {"far-1": {"swp1", name}})


def test_numbers_alone_are_not_taken_for_names_that_count_from_zero() -> None:
    rows = [(26, 30), (27, 27), (28, 28), (29, 29), (30, 26), (31, 31), (32, 32), (33, 33)]
    cables = {HeardCable(f"{told}", f"et-0/0/{told}", f"far-{at}", "") for told, at in rows}
    leads = {f"far-{at}": {f"et-0/0/{at - 1}"} for _, at in rows}
    assert misread(cables, leads)
    assert not misread(cables, {f"far-{at}": {f"et-0/0/{at}"} for _, at in rows})


def test_a_word_of_another_speed_with_the_same_number_is_left_alone() -> None:
    rows = [(26, 30), (27, 27), (28, 28), (29, 29), (30, 26)]
    cables = {HeardCable(f"ge-{told}", f"ge-{told}", f"far-{at}", "") for told, at in rows}
    assert misread(cables, {f"far-{at}": {f"Ethernet{at}"} for _, at in rows})


def hall(spoken: list[int], adapters: dict[str, dict[str, str]]) -> Verdicts:
    """Judge a leaf that calls its ports by some numbers, of which a design says 1 and up."""
    wanted = [link(Port(f"gpu-{at}", "eth0"), Port("leaf-1", f"Ethernet{at}")) for at in range(1, len(spoken) + 1)]
    heard = [Neighbour(f"Ethernet{told}", f"gpu-{at}", "eth0", "") for at, told in enumerate(spoken, start=1)]
    told = names([port for each in wanted for port in each], {}, adapters)
    return judge(wanted, {"leaf-1": heard}, told, Places({}, {}, frozenset(f"gpu-{at}" for at in range(1, 5))))


def test_a_device_that_counts_otherwise_is_named_and_compared_once_its_names_are_declared() -> None:
    unclear = hall([0, 4, 8, 12], {})
    assert (unclear.faults, unclear.matched, unclear.shifted, len(unclear.unmapped)) == ((), 0, ("leaf-1",), 4)
    declared = {"leaf-1": {f"Ethernet{4 * at}": f"Ethernet{at + 1}" for at in range(4)}}
    assert (hall([0, 4, 8, 12], declared).matched, hall([0, 4, 8, 12], declared).shifted) == (4, ())
    (fault,) = hall([0, 8, 4, 12], declared).faults
    assert fault.kind is Kind.SWAP


def test_a_number_beside_a_name_is_an_index_and_no_port() -> None:
    wanted = [
        link(Port("gpu-1", "eth0"), Port("leaf-1", "swp3")),
        link(Port("gpu-2", "eth0"), Port("leaf-1", "swp4")),
    ]
    heard = {
        each.a.device: [Neighbour("eth0", "leaf-1", index, each.b.interface)]
        for each, index in zip(wanted, ("4", "3"), strict=True)
    }
    told = names([port for each in wanted for port in each], {}, {})
    assert judge(wanted, heard, told, Places({}, {}, frozenset({"gpu-1", "gpu-2"}))).matched == 2
