"""One fabric, spelled in every way that people and vendors have: what is right is never told to be wrong."""

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.binding import bind
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import Verdicts, hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers import fabric_capture
from tests.cli.cabling.fabric_forms import INFINIBAND
from tests.core.cabling.discoveries import plain
from tests.core.cabling.fabrics import SERVERS, rails
from tests.examples import examples

Spelling = Callable[[int], str]

PORTS: dict[str, Spelling] = {
    "7": str,
    "swp7": lambda number: f"swp{number}",
    "Port 7": lambda number: f"Port {number}",
    "Ethernet1/7": lambda number: f"Ethernet1/{number}",
    "1/7": lambda number: f"1/{number}",
    "sw4p1": lambda number: f"sw{(number + 1) // 2}p{2 - number % 2}",
    "IB1/4/1": lambda number: f"IB1/{(number + 1) // 2}/{2 - number % 2}",
    "1/4/1": lambda number: f"1/{(number + 1) // 2}/{2 - number % 2}",
    "P3.0": lambda number: f"P{(number - 1) // 2}.{(number - 1) % 2}",
    "Port 6": lambda number: f"Port {number - 1}",
    "sw7p1": lambda number: f"sw{number}p1",
}
"""How a design may write a switch's port 7; the last two count from zero, or have one port to a cage."""

DEVICES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "capitals": str.upper,
    "domain": lambda name: f"{name}.example.net",
    "both": lambda name: f"{name.upper()}.Example.NET",
}

NOISE = (
    "=~=~= PuTTY log 2026.11.29 12:06:05 =~=~=",
    "ibwarn: [565044] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1)",
    "src/query_smp.c:228; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110; Connection timed out",
    "Non-Chassis Nodes",
    "admin@ufm-01 (config) # ",
    "[root@head ~]# ",
    "Last login: Mon Nov 23 09:00:00 2026 from 10.0.0.7",
)

DESIGN = rails(6, 2)
SWITCHES = sorted({port.device for each in DESIGN for port in each} - SERVERS)
ONES = sorted({port.device for each in DESIGN for port in each})

spellings = st.fixed_dictionaries({name: st.sampled_from(sorted(PORTS)) for name in SWITCHES})
calls = st.fixed_dictionaries({name: st.sampled_from(sorted(DEVICES)) for name in ONES})
noise = st.lists(st.tuples(st.integers(0, 200), st.sampled_from(NOISE)), max_size=4)


def spelled(links: Iterable[Link], ports: dict[str, str], devices: dict[str, str]) -> dict[Link, Link]:
    """Return each link as the design spells it."""

    def one(port: Port) -> Port:
        name = PORTS[ports[port.device]](int(port.interface)) if port.device in ports else port.interface
        return Port(DEVICES[devices[port.device]](port.device), name)

    return {each: link(one(each.a), one(each.b)) for each in links}


def judged(designed: Iterable[Link], text: str, devices: dict[str, str]) -> Verdicts:
    wanted = tuple(designed)
    known = names([port for each in wanted for port in each], {}, {}, wanted)
    servers = frozenset(DEVICES[devices[name]](name) for name in devices if name in SERVERS)
    return hold(wanted, bind(fabric_capture.read(text).links, known), Places({}, {}, servers))


def told(links: Iterable[Link], form: str, lines: list[tuple[int, str]], end: str) -> str:
    """Return a capture, one of a terminal with lines that are none of it and with some line ends."""
    text = INFINIBAND[form](links).split("\n")
    if not form.startswith("ibnetdiscover"):
        return "\n".join(text)
    for at, line in lines:
        text.insert(min(at, len(text) - 1), line)
    return end.join(text)


@settings(max_examples=examples(400), deadline=None)
@given(spellings, calls, noise, st.sampled_from(sorted(INFINIBAND)), st.sampled_from(["\n", "\r\n", "\r\r\n"]))
def test_a_fabric_as_designed_is_as_designed(
    ports: dict[str, str],
    devices: dict[str, str],
    lines: list[tuple[int, str]],
    form: str,
    end: str,
) -> None:
    verdicts = judged(spelled(DESIGN, ports, devices).values(), told(DESIGN, form, lines, end), devices)
    assert verdicts.faults == ()
    assert verdicts.matched + len(verdicts.unmapped) == len(DESIGN)
    assert not verdicts.unbound


@settings(max_examples=examples(400), deadline=None)
@given(
    spellings,
    calls,
    noise,
    st.sampled_from(sorted(INFINIBAND)),
    st.lists(st.integers(0, 11), min_size=2, max_size=3, unique=True),
)
def test_no_correct_cable_is_told_to_be_moved(
    ports: dict[str, str],
    devices: dict[str, str],
    lines: list[tuple[int, str]],
    form: str,
    turned: list[int],
) -> None:
    """Two or three servers' cables are plugged in each other's ports: only they are in a fault."""
    crossed = [link(DESIGN[at].a, DESIGN[to].b) for at, to in zip(turned, [*turned[1:], turned[0]], strict=True)]
    seen = [*crossed, *(each for at, each in enumerate(DESIGN) if at not in turned)]
    design = spelled(DESIGN, ports, devices)
    verdicts = judged(design.values(), told(seen, form, lines, "\n"), devices)
    right = {design[each] for at, each in enumerate(DESIGN) if at not in turned}
    for fault in verdicts.faults:
        assert not right.intersection(fault.expected)
    plainly = all(PORTS[style](7) in {"7", "swp7", "Port 7", "Ethernet1/7", "1/7"} for style in ports.values())
    if plainly:
        assert {each for fault in verdicts.faults for each in fault.expected} == {design[DESIGN[at]] for at in turned}


def test_a_switch_that_nothing_numbers_is_not_compared() -> None:
    """Not one of its cables is told to be moved, and those of others are compared as ever."""
    ports = dict.fromkeys(SWITCHES, "swp7")
    devices = dict.fromkeys(ONES, "as it is")
    design = [
        link(Port(a.device, a.interface), Port(b.device, "abcdefgh"[int(b.interface[3:])]))
        if b.device == "leaf-1"
        else link(a, b)
        for a, b in spelled(DESIGN, ports, devices).values()
    ]
    verdicts = judged(design, plain(DESIGN), devices)
    assert verdicts.faults == ()
    assert {port.device for each in verdicts.unmapped for port in each} >= {"leaf-1"}
    assert verdicts.matched == len(DESIGN) - len(verdicts.unmapped)


LEAF = [link(Port(f"gpu-0{number}", "ib0"), Port("leaf-1", "abcd"[number - 1])) for number in (1, 2, 3, 4)]
PLUGGED = [link(each.a, Port("leaf-1", str(number))) for number, each in enumerate(LEAF, start=1)]
WHERE = Places({}, {}, SERVERS)


def seen(links: Iterable[Link], declared: dict[str, dict[str, str]], design: list[Link]) -> Verdicts:
    known = names([port for each in design for port in each], {}, declared, design)
    return hold(design, bind(fabric_capture.read(plain(links)).links, known), WHERE, one_fabric=True)


def test_where_hardly_anything_can_be_compared_no_fault_is_told() -> None:
    """Whatever else is wrong: who does not know a switch's ports has another fabric in mind, or another spelling."""
    crossed = [link(PLUGGED[0].a, PLUGGED[1].b), link(PLUGGED[1].a, PLUGGED[0].b), *PLUGGED[2:]]
    verdicts = seen(crossed, {}, LEAF)
    assert (verdicts.faults, verdicts.matched, len(verdicts.unmapped)) == ((), 0, 4)
    assert verdicts.suspect == (
        "0 of 4 designed links could be matched; the likely reason is the names of switch ports: the design says"
        " 'leaf-1 a', the capture 'leaf-1 1'. So no fault is reported; fleet-runner cabling names, with the same"
        " --expected and --observed, proposes names to give to --names."
    )


def test_ports_whose_numbers_are_declared_are_compared() -> None:
    numbers = {"leaf-1": {str(number): "abcd"[number - 1] for number in (1, 2, 3, 4)}}
    assert seen(PLUGGED, numbers, LEAF).matched == 4
    crossed = [link(PLUGGED[0].a, PLUGGED[1].b), link(PLUGGED[1].a, PLUGGED[0].b), *PLUGGED[2:]]
    (fault,) = seen(crossed, numbers, LEAF).faults
    assert set(fault.expected) == set(LEAF[:2])


SERVER, OTHER = Port("gpu-01", "ib0"), Port("gpu-02", "ib0")


def test_names_in_other_letters_that_two_devices_could_mean_are_neithers() -> None:
    """Two switches of the fabric, or two of the design, differ in their letters alone."""
    design = [link(SERVER, Port("Leaf-1", "1")), link(OTHER, Port("LEAF-1", "1"))]
    assert seen([link(SERVER, Port("leaf-1", "1"))], {}, design).matched == 0
    one = [link(SERVER, Port("Leaf-1", "1")), link(OTHER, Port("Leaf-1", "2"))]
    two = [link(SERVER, Port("leaf-1", "1")), link(OTHER, Port("LEAF-1", "2"))]
    assert seen(two, {}, one).matched == 0
    assert seen([link(SERVER, Port("leaf-1", "1")), link(OTHER, Port("leaf-1", "2"))], {}, one).matched == 2


def test_a_name_of_another_domain_is_another_devices() -> None:
    design = [link(SERVER, Port("Leaf-1.a.net", "1"))]
    assert seen([link(SERVER, Port("leaf-1.b.net", "1"))], {}, design).matched == 0
    assert seen([link(SERVER, Port("leaf-1.A.NET", "1"))], {}, design).matched == 1


def test_a_dark_leaf_of_a_design_without_spines_is_missing_and_not_silent() -> None:
    """Where it may be another fabric's, nothing is said of it; of one whose servers are not heard, neither."""
    dark = [link(Port(f"gpu-0{number}", "ib1"), Port("leaf-2", str(number))) for number in (1, 2, 3, 4)]
    heard = [link(each.a, Port("leaf-1", str(number))) for number, each in enumerate(LEAF, start=1)]
    verdicts = seen(heard, {}, [*heard, *dark])
    assert [fault.key for fault in verdicts.faults] == ["cabling/dark/leaf-2"]
    known = names([port for each in (*heard, *dark) for port in each], {}, {})
    apart = hold([*heard, *dark], bind(fabric_capture.read(plain(heard)).links, known), WHERE)
    assert (apart.faults, len(apart.silent)) == ((), 4)
    far = [link(Port(f"gpu-{number}", "ib1"), Port("leaf-2", str(number))) for number in (10, 11, 12)]
    assert len(seen(heard, {}, [*heard, *far]).silent) == 3


def caged(links: Iterable[Link]) -> list[Link]:
    """Return the links with the switch's ports by cage and half."""
    return [link(each.a, Port(each.b.device, PORTS["sw4p1"](int(each.b.interface)))) for each in links]


HOSTS = [link(Port(f"gpu-{number:02d}", "ib0"), Port("leaf-1", str(number))) for number in range(1, 9)]


def test_a_leaf_that_was_replaced_is_known_by_its_cables_also_where_ports_have_cages() -> None:
    """Its ports tell their numbers, so nobody is sent to plug eight cables."""
    (fault,) = seen([link(each.a, Port("ufmsw-a", each.b.interface)) for each in HOSTS], {}, caged(HOSTS)).faults
    assert not any("Plug" in step for step in fault.steps)
    assert fault.message.startswith("A new switch stands in leaf-1's place")


def test_ports_for_management_take_nothing_from_the_others() -> None:
    design = [
        *caged(HOSTS),
        link(Port("oob-1", "1"), Port("leaf-1", "mgmt0")),
        link(Port("oob-1", "2"), Port("leaf-1", "mgmt1")),
    ]
    assert seen(HOSTS, {}, design).matched == len(HOSTS)
    crossed = [link(HOSTS[0].a, HOSTS[1].b), link(HOSTS[1].a, HOSTS[0].b), *HOSTS[2:]]
    (fault,) = seen(crossed, {}, design).faults
    assert set(fault.expected) == set(caged(HOSTS[:2]))


def test_one_declared_number_is_no_reason_to_doubt_the_others() -> None:
    """It says how the rest is counted, where names leave that open; against all names it stands alone."""
    ones = [link(each.a, Port("leaf-1", f"sw{at}p1")) for at, each in enumerate(HOSTS, start=1)]
    halves = [link(each.a, Port("leaf-1", str(2 * at - 1))) for at, each in enumerate(HOSTS, start=1)]
    assert seen(halves, {"leaf-1": {"3": "sw2p1"}}, ones).matched == len(HOSTS)
    assert seen(HOSTS, {"leaf-1": {"1": "sw1p1"}}, ones).matched == len(HOSTS)
    other = seen([link(HOSTS[0].a, Port("leaf-1", "40")), *HOSTS[1:]], {"leaf-1": {"40": "sw1p1"}}, ones)
    assert (other.faults, other.matched, len(other.unmapped)) == ((), 1, 7)


def test_what_is_plugged_into_a_port_without_a_number_and_belongs_elsewhere_is_told() -> None:
    design = [*caged(HOSTS), link(Port("gpu-09", "ib0"), Port("leaf-1", "left"))]
    moved = [*HOSTS[:7], link(HOSTS[7].a, Port("leaf-1", "40"))]
    (fault,) = seen(moved, {}, design).faults
    assert set(fault.expected) == set(caged(HOSTS[7:]))


@pytest.mark.parametrize("start", [1, 5])
def test_a_switch_whose_cables_are_all_off_alike_may_only_be_counted_otherwise(start: int) -> None:
    """Names from zero without their zero look like that: nobody is sent to move a bundle for it."""
    design = [link(each.a, Port("leaf-1", f"Port {at}")) for at, each in enumerate(HOSTS, start=1)]
    other = [link(Port(f"gpu-{at}", "ib1"), Port("leaf-2", f"Port {at}")) for at in range(20, 40)]
    plugged = [link(each.a, Port("leaf-1", str(at + start))) for at, each in enumerate(HOSTS, start=1)]
    there = [link(each.a, Port("leaf-2", each.b.interface[5:])) for each in other]
    verdicts = seen([*plugged, *there], {}, [*design, *other])
    assert (verdicts.faults, verdicts.shifted, verdicts.matched) == ((), ("leaf-1",), 20)
    assert set(verdicts.unmapped) == set(design)


def test_a_bundle_is_shifted_where_any_cable_of_the_switch_is_right() -> None:
    design = [link(each.a, Port("leaf-1", f"Port {at}")) for at, each in enumerate(HOSTS, start=1)]
    plugged = [link(each.a, Port("leaf-1", str(at + (at > 2)))) for at, each in enumerate(HOSTS, start=1)]
    verdicts = seen(plugged, {}, design)
    assert verdicts.shifted == ()
    assert {each for fault in verdicts.faults for each in fault.expected} == set(design[2:])
    words = [*design[:6], link(HOSTS[6].a, Port("leaf-1", "left")), link(HOSTS[7].a, Port("leaf-1", "right"))]
    plugged = [link(each.a, Port("leaf-1", str(at + 1))) for at, each in enumerate(HOSTS, start=1)]
    assert seen(plugged, {}, words).shifted == ("leaf-1",)


def test_a_bundle_one_port_too_far_leaves_open_how_a_switch_is_counted() -> None:
    """Six of eight cables fit numbers from zero; the first, which is right from one, is not told to be moved."""
    design = [link(each.a, Port("leaf-1", PORTS["Port 6"](int(each.b.interface)))) for each in HOSTS]
    plugged = [HOSTS[0], link(HOSTS[1].a, Port("leaf-1", "40"))]
    plugged += [link(each.a, Port("leaf-1", str(number))) for number, each in enumerate(HOSTS[2:], start=2)]
    verdicts = seen(plugged, {}, design)
    assert verdicts.faults == ()
    assert set(verdicts.unmapped) == set(design)
