"""What else speaks of a device whose ports may be counted otherwise: addresses, nodes, and its own kind."""

import pytest

from fleet_runner.core.cabling.ethernet import judge
from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.misread import HeardCable, misread
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers.forwarding import Learned
from fleet_runner.core.checks.parsers.lldp import Neighbour
from tests.core.cabling.ethernet_halls import hall, heard, swept

HALL = hall(servers=8, rails=1, spines=3)
LEAF = "leaf-0-0"
BETWEEN = [each for each in HALL.links if each.a.device not in HALL.servers]


def further(port: Port) -> Port:
    """Return the port beside one of the leaf's, of which each cable is one port too far."""
    return Port(LEAF, f"swp{int(port.interface[3:]) + 1}") if port.device == LEAF else port


FURTHER = [link(*map(further, each)) for each in BETWEEN]


@pytest.mark.parametrize("plugged", [{"swp1": "gpu-00"}, {"swp2": "gpu-00"}, {"swp2": "gpu-02", "swp3": "gpu-01"}])
def test_addresses_at_a_leaf_that_may_count_otherwise_confirm_and_accuse_nothing(plugged: dict[str, str]) -> None:
    mac = {port.device: mac for mac, port in HALL.macs.items()}
    rows = tuple(Learned(name, mac[host]) for name, host in plugged.items())
    found = swept(HALL, heard(FURTHER, HALL.switches), None, {LEAF: rows})
    assert (found.verdicts.shifted, found.learned) == ((LEAF,), 0)
    assert (found.verdicts.faults, found.verdicts.doubts) == ((), ())


def test_nodes_confirm_no_port_of_a_leaf_that_may_count_otherwise() -> None:
    nodes = heard(HALL.links, HALL.servers)
    read = [name for name in HALL.switches if name != LEAF]
    found = swept(HALL, heard(FURTHER, read), {LEAF: "it refuses"}, None, nodes)
    assert (found.verdicts.shifted, found.by_nodes, found.verdicts.faults) == ((LEAF,), 0, ())
    assert swept(HALL, heard(BETWEEN, read), {LEAF: "it refuses"}, None, nodes).by_nodes == len(HALL.servers) // 2


def test_a_cable_between_two_that_may_count_otherwise_is_heard_and_not_compared() -> None:
    """No earlier sweep makes it a lost one."""
    wanted = [
        link(Port(f"leaf-{leaf}", f"Ethernet{4 + spine}"), Port(f"spine-{spine}", f"Ethernet{leaf}"))
        for leaf in range(1, 5)
        for spine in range(1, 4)
    ]
    lanes = [link(*(Port(it.device, f"Ethernet{4 * int(it.interface[8:]) - 4}") for it in each)) for each in wanted]
    servers = [link(Port("gpu-1", "eth0"), Port("leaf-1", "Ethernet1"))]
    switches = tuple(sorted({port.device for each in wanted for port in each}))
    it = HALL._replace(links=(*wanted, *servers), servers=("gpu-1",), switches=switches, macs={})
    found = swept(it, heard(lanes, switches), between=wanted).verdicts
    assert (found.faults, found.shifted, found.unmapped) == ((), switches, tuple(sorted(wanted)))
    assert found.matched == 0


def spine(numbers: dict[int, int]) -> tuple[list[Link], Verdicts]:
    """Judge a spine that a design writes from zero, and that is heard by a word and a number."""
    wanted = [link(Port(f"leaf-{at}", "swp9"), Port("spine-1", f"et-0/0/{at}")) for at in range(1, 11)]
    rows = {f"leaf-{at}": [Neighbour("swp9", "spine-1", f"Ethernet{told}", "")] for at, told in numbers.items()}
    known = names([port for each in wanted for port in each], {}, {})
    return wanted, judge(wanted, rows, known, Places({}, {}, frozenset()))


def test_a_number_says_nothing_where_most_numbers_of_its_device_are_other_ports() -> None:
    """The spine counts from one: the cable of leaf 10 alone, which is one port too far, seems to be right."""
    wanted, found = spine({at: at + 1 for at in range(1, 10)} | {10: 10})
    assert (found.faults, found.matched, found.unmapped) == ((), 0, tuple(sorted(wanted)))


def test_a_number_is_the_port_where_most_numbers_of_its_device_are() -> None:
    wanted, found = spine({at: at for at in range(1, 11)} | {2: 3, 3: 2})
    assert (found.faults, found.matched) == ((), len(wanted) - 2)
    assert found.unmapped == (wanted[1], wanted[2])


@pytest.mark.parametrize(("written", "spoken"), [("Ethernet{}", "Et{}"), ("400GE0/0/{}", "et-0/0/{}")])
def test_another_spelling_of_a_port_is_no_mere_number(written: str, spoken: str) -> None:
    """Three of four cables are wrong, and each is told."""
    wanted = [link(Port(f"gpu-{at}", "eth0"), Port("leaf-1", written.format(at))) for at in range(1, 5)]
    plugged = {1: 3, 2: 1, 3: 2, 4: 4}
    rows = [Neighbour(spoken.format(at), f"gpu-{host}", "eth0", "") for host, at in plugged.items()]
    known = names([port for each in wanted for port in each], {}, {})
    found = judge(wanted, {"leaf-1": rows}, known, Places({}, {}, frozenset(f"gpu-{at}" for at in range(1, 5))))
    assert ({each for fault in found.faults for each in fault.expected}, found.matched) == ({*wanted[:3]}, 1)


def test_a_front_of_sonic_is_no_mere_number() -> None:
    wanted = [link(Port(f"gpu-{at}", "eth0"), Port("leaf-1", f"Ethernet{8 * at}")) for at in range(4)]
    rows = [Neighbour(f"etp{at + 1}", f"gpu-{at}", "eth0", "") for at in range(4)]
    known = names([port for each in wanted for port in each], {}, {})
    assert judge(wanted, {"leaf-1": rows}, known, Places({}, {}, frozenset())).matched == len(wanted)


def test_a_server_whose_rails_are_all_one_further_is_told() -> None:
    """Its ports have each other's names, which no way to count gives them."""
    wanted = [link(Port("gpu-1", f"eth{at}"), Port(f"leaf-{at}", "swp1")) for at in range(8)]
    rows = {"gpu-1": [Neighbour(f"eth{at}", f"leaf-{(at + 1) % 8}", "swp1", "") for at in range(8)]}
    known = names([port for each in wanted for port in each], {}, {})
    found = judge(wanted, rows, known, Places({}, {}, frozenset({"gpu-1"})))
    assert ([fault.kind for fault in found.faults], found.shifted) == ([Kind.ROTATION], ())
    cables = {HeardCable(f"eth{at}", f"eth{at}", f"leaf-{at + 1}", f"eth{at + 1}") for at in range(7)}
    assert misread(cables, {f"leaf-{at}": {f"eth{at}"} for at in range(8)})


def test_an_index_beside_a_name_hides_no_other_way_to_count() -> None:
    """Whether the switch hears its servers itself, or they hear its index and its name."""
    wanted = [link(Port(f"gpu-{at}", "eth0"), Port("leaf-1", f"Ethernet{at + 1}")) for at in range(4)]
    far = {f"gpu-{at}": [Neighbour("eth0", "leaf-1", f"{at + 101}", f"Ethernet{8 * at}")] for at in range(4)}
    near = {"leaf-1": [Neighbour(f"Ethernet{8 * at}", f"gpu-{at}", "eth0", "") for at in range(3)]}
    known = names([port for each in wanted for port in each], {}, {})
    for rows in (far, near | far):
        found = judge(wanted, rows, known, Places({}, {}, frozenset(far)))
        assert (found.faults, found.matched, found.shifted) == ((), 0, ("leaf-1",))
    assert not misread({HeardCable("7", "", "gpu-1", "swp1")}, {"gpu-1": {"swp1"}})


@pytest.mark.parametrize(
    ("cables", "others"),
    [
        ({"Ethernet1/2": "Ethernet1/5"}, {"Ethernet1/1", "Ethernet2/1"}),
        ({"Ethernet1/5": "Ethernet2/1"}, {"Ethernet1/1", "Ethernet3/1"}),
        ({"Ethernet2/1": "Ethernet3/1", "Ethernet3/1": "Ethernet5/1"}, {"Ethernet1/1", "Ethernet2/1"}),
    ],
)
def test_a_half_of_a_cage_is_not_taken_for_the_port_of_the_same_name_though_few_are_heard(
    cables: dict[str, str], others: set[str]
) -> None:
    leads = {goal: {goal} for goal in {*cables.values(), *others}}
    assert misread({HeardCable(name, name, goal, goal) for name, goal in cables.items()}, leads)


@pytest.mark.parametrize("stride", [1, 4, 8])
@pytest.mark.parametrize("cables", [1, 2, 4])
def test_two_bundles_in_each_others_ports_are_no_other_way_to_count(stride: int, cables: int) -> None:
    """A way that explains one cable of them does so by chance."""
    ports = [f"Ethernet{stride * at}" for at in range(1, 2 * cables + 1)]
    leads = {"leaf-1": {*ports[:cables]}, "leaf-2": {*ports[cables:]}}
    told = [(name, "leaf-2", ports[at + cables]) for at, name in enumerate(ports[:cables])]
    told += [(name, "leaf-1", ports[at]) for at, name in enumerate(ports[cables:])]
    assert not misread({HeardCable(name, name, far, goal) for name, far, goal in told}, leads)


@pytest.mark.parametrize(("port", "lane"), [("Ethernet{}", "Ethernet{}/{}"), ("Ethernet1/{}", "Ethernet1/{}/{}")])
def test_the_first_lane_of_a_split_port_is_one_of_its_lanes(port: str, lane: str) -> None:
    """Four cables of 100G in each port: from both ends, in any lane of theirs."""
    wanted = [
        link(Port(f"gpu-{at}-{each}", "eth0"), Port("leaf-1", port.format(at)))
        for at in range(1, 4)
        for each in range(1, 5)
    ]
    known = names([end for each in wanted for end in each], {}, {})
    places = Places({}, {}, frozenset(each.a.device for each in wanted), lanes=frozenset(each.b for each in wanted))
    for turn in (0, 1):
        rows: dict[str, list[Neighbour]] = {"leaf-1": []}
        for each in wanted:
            _, at, one = each.a.device.split("-")
            told = lane.format(at, (int(one) + turn) % 4 + 1)
            rows["leaf-1"].append(Neighbour(told, each.a.device, "eth0", ""))
            rows[each.a.device] = [Neighbour("eth0", "leaf-1", told, "")]
        found = judge(wanted, rows, known, places)
        assert (found.faults, found.matched, found.doubts, found.shifted) == ((), len(wanted), (), ())
