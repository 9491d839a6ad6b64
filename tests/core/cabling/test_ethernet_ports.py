"""Ports with more than one cable, more than one voice, or an identity that is not theirs alone."""

import pytest

from fleet_runner.core.cabling.ethernet_design import EthernetDesign
from fleet_runner.core.cabling.ethernet_sweep import SweepVerdicts, judge
from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.lanes import shared
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers.forwarding import Learned
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.several import HeardBySwitches

Cable = tuple[tuple[str, str], tuple[str, str]]


def swept(
    cables: list[Cable],
    told: dict[str, list[Neighbour]],
    macs: dict[str, Port] | None = None,
    learned: dict[str, tuple[Learned, ...]] | None = None,
) -> SweepVerdicts:
    """Judge what switches hear against cables of a design."""
    links = tuple(link(Port(*one), Port(*other)) for one, other in cables)
    servers = frozenset(port.device for each in links for port in each if port.device.startswith("gpu"))
    places = Places({}, {}, servers, lanes=shared(links))
    design = EthernetDesign(links, names([end for each in links for end in each], {}, {}), places, macs or {})
    return judge(design, HeardBySwitches({name: tuple(rows) for name, rows in told.items()}, {}, learned or {}))


def hears(port: str, far: str, far_port: str, description: str = "") -> Neighbour:
    return Neighbour(port, far, far_port, description)


MLAG: list[Cable] = [
    (("gpu-1", "eth0"), ("leaf-a", "Ethernet1")),
    (("gpu-1", "eth1"), ("leaf-b", "Ethernet1")),
    (("gpu-2", "eth0"), ("leaf-a", "Ethernet2")),
    (("gpu-2", "eth1"), ("leaf-b", "Ethernet2")),
    (("leaf-a", "Ethernet49"), ("leaf-b", "Ethernet49")),
    (("leaf-a", "Ethernet50"), ("leaf-b", "Ethernet50")),
]


def of(cables: list[Cable], *mute: str) -> dict[str, list[Neighbour]]:
    """What each switch hears over some cables."""
    found: dict[str, list[Neighbour]] = {}
    for one, other in cables:
        for near, far in ((one, other), (other, one)):
            if near[0].startswith("leaf"):
                found.setdefault(near[0], []).extend([hears(near[1], *far)] if far[0] not in mute else [])
    return found


def test_the_peer_links_of_a_pair_are_links_as_any_other() -> None:
    assert swept(MLAG, of(MLAG)).verdicts.matched == 6
    crossed = [*MLAG[:4], (MLAG[4][0], MLAG[5][1]), (MLAG[5][0], MLAG[4][1])]
    (fault,) = swept(MLAG, of(crossed)).verdicts.faults
    assert (fault.kind, fault.devices) == (Kind.SWAP, ("leaf-a", "leaf-b"))


def test_the_address_that_a_pair_shares_says_nothing_of_which_switch_it_is() -> None:
    """Both ends of a pair may answer with one system's address: names and ports tell them apart.

    The source of truth gives it to one port, or to both, which is no port's.
    """
    address = "02:00:00:00:aa:aa"
    told = of(MLAG)
    shared_by_one = {address: Port("leaf-a", "Ethernet49")}
    for macs in ({}, shared_by_one):
        assert swept(MLAG, told, dict(macs)).verdicts.matched == 6
    learned = {
        name: (Learned("Ethernet49", address), Learned("Ethernet50", address)) for name in ("leaf-a", "leaf-b")
    }
    silent = of(MLAG, "leaf-a", "leaf-b")
    found = swept(MLAG, silent, dict(shared_by_one), learned)
    assert (found.verdicts.faults, found.learned, len(found.verdicts.silent)) == ((), 0, 2)


def test_an_address_that_is_heard_at_several_ports_is_no_ports_own() -> None:
    """A switch may tell its system's address at each port, and its name and the port's beside it."""
    address = "02:00:00:00:aa:aa"
    told = {
        name: [each._replace(port=address, description=each.port) for each in rows] for name, rows in of(MLAG).items()
    }
    found = swept(MLAG, told, {address: Port("leaf-a", "Ethernet49")})
    assert (found.verdicts.faults, found.verdicts.matched) == ((), 6)


def test_a_bond_whose_ports_share_an_address_is_known_by_its_ports_or_not_at_all() -> None:
    """Both leaves of a pair learn it, each at its own port: neither is told by it."""
    address = {"02:00:00:00:01:00": Port("gpu-1", "eth0")}
    learned = {name: (Learned("Ethernet1", "02:00:00:00:01:00"),) for name in ("leaf-a", "leaf-b")}
    found = swept(MLAG, of(MLAG, "gpu-1"), dict(address), learned)
    assert (found.verdicts.faults, found.learned) == ((), 0)
    assert set(found.verdicts.silent) == {link(Port(*a), Port(*b)) for a, b in MLAG[:2]}


def test_a_bond_that_answers_for_all_of_its_ports_by_the_name_of_each_is_as_designed() -> None:
    """LLDP speaks at each member of a LAG; a port channel of its own is no port of the design."""
    told = of(MLAG)
    told["leaf-a"].append(hears("Port-Channel1", "gpu-1", "bond0"))
    found = swept(MLAG, told)
    assert (found.verdicts.faults, found.verdicts.matched) == ((), 6)


VOICES = {
    "a DPU beside its host": hears("Ethernet1", "bf3-1", "p0"),
    "an adapter's firmware, by a name of nobody": hears("Ethernet1", "NVIDIA ConnectX-7", "0c:42:a1:00:00:01"),
    "an adapter's firmware without a name": hears("Ethernet1", "", "0c:42:a1:00:00:01"),
    "a switch inside the host": hears("Ethernet1", "ovs", "vnet0"),
}


@pytest.mark.parametrize("other", VOICES.values(), ids=VOICES)
@pytest.mark.parametrize("first", [False, True])
def test_of_two_voices_at_a_port_the_designed_one_counts(other: Neighbour, *, first: bool) -> None:
    told = of(MLAG)
    told["leaf-a"].insert(0 if first else len(told["leaf-a"]), other)
    found = swept(MLAG, told)
    assert (found.verdicts.faults, found.verdicts.matched, found.verdicts.doubts) == ((), 6, ())


def test_of_two_voices_none_of_which_is_the_designed_one_neither_is_a_fault() -> None:
    told = of(MLAG, "gpu-1")
    told["leaf-a"] += [hears("Ethernet1", "bf3-1", "p0"), hears("Ethernet1", "localhost", "eth0")]
    found = swept(MLAG, told)
    assert (found.verdicts.faults, found.verdicts.matched) == ((), 4)


def test_a_dpu_that_is_designed_in_its_hosts_place_is_as_designed_and_its_host_may_speak_too() -> None:
    design: list[Cable] = [(("gpu-1-dpu", "p0"), ("leaf-a", "Ethernet1")), *MLAG[1:]]
    told = of(design)
    told["leaf-a"].append(hears("Ethernet1", "gpu-1", "enp65s0f0np0"))
    found = swept(design, told)
    assert (found.verdicts.faults, found.verdicts.matched) == ((), 6)


LANES = {
    "swp": ("swp1", "swp1s0", "swp1s1"),
    "EOS": ("Ethernet1", "Ethernet1/1", "Ethernet1/2"),
    "NX-OS": ("Ethernet1/1", "Ethernet1/1/1", "Ethernet1/1/2"),
    "Junos": ("et-0/0/1", "et-0/0/1:0", "et-0/0/1:1"),
    "OS10": ("ethernet1/1/1", "ethernet1/1/1:1", "ethernet1/1/1:2"),
    "IOS XR": ("FourHundredGigE0/0/0/1", "FourHundredGigE0/0/0/1/0", "FourHundredGigE0/0/0/1/1"),
}


@pytest.mark.parametrize(("port", "one", "other"), LANES.values(), ids=LANES)
def test_a_port_that_is_broken_out_has_its_far_ends_at_its_lanes(port: str, one: str, other: str) -> None:
    """Of a cable that is designed at the port, and of cables that are designed at the lanes themselves."""
    whole: list[Cable] = [((f"gpu-{n}", "eth0"), ("leaf-a", port)) for n in (1, 2)]
    lanes: list[Cable] = [(("gpu-1", "eth0"), ("leaf-a", one)), (("gpu-2", "eth0"), ("leaf-a", other))]
    for design in (whole, lanes):
        found = swept(design, {"leaf-a": [hears(one, "gpu-1", "eth0"), hears(other, "gpu-2", "eth0")]})
        assert (found.verdicts.faults, found.verdicts.matched) == ((), 2)
    crossed = {"leaf-a": [hears(other, "gpu-1", "eth0"), hears(one, "gpu-2", "eth0")]}
    assert swept(whole, crossed).verdicts.matched == 2
    (fault,) = swept(lanes, crossed).verdicts.faults
    assert fault.kind is Kind.SWAP


FOUR = {
    "swp": ("swp1", "swp1s{}", 0),
    "EOS": ("Ethernet1", "Ethernet1/{}", 1),
    "NX-OS": ("Ethernet1/1", "Ethernet1/1/{}", 1),
    "Junos": ("et-0/0/1", "et-0/0/1:{}", 0),
    "OS10": ("ethernet1/1/1", "ethernet1/1/1:{}", 1),
}
"""A port and its lanes, of which the first has this number: four of 100 Gb/s each."""


@pytest.mark.parametrize(("port", "lane", "first"), FOUR.values(), ids=FOUR)
@pytest.mark.parametrize("turn", range(4))
def test_a_port_of_four_lanes_is_as_designed_whichever_leads_where(
    port: str, lane: str, first: int, turn: int
) -> None:
    """4 x 100: one cable with four ends. One in the place of another's end is swapped with it, at the servers."""
    other = port[:-1] + "2"
    design: list[Cable] = [
        *(((f"gpu-{n}", "eth0"), ("leaf-a", port)) for n in range(4)),
        *(((f"gpu-{n}", "eth0"), ("leaf-a", other)) for n in range(4, 8)),
    ]
    lanes = [lane.format(first + at) for at in range(4)]
    others = [each.replace(port, other, 1) for each in lanes]
    mine = [hears(lanes[(n + turn) % 4], f"gpu-{n}", "eth0") for n in range(4)]
    theirs = [hears(others[n - 4], f"gpu-{n}", "eth0") for n in range(4, 8)]
    found = swept(design, {"leaf-a": [*mine, *theirs]})
    assert (found.verdicts.faults, found.verdicts.matched, found.verdicts.doubts) == ((), 8, ())
    mine[0], theirs[0] = mine[0]._replace(system="gpu-4"), theirs[0]._replace(system="gpu-0")
    found = swept(design, {"leaf-a": [*mine, *theirs]})
    (fault,) = found.verdicts.faults
    assert (fault.kind, fault.devices, found.verdicts.matched) == (Kind.SWAP, ("gpu-0", "gpu-4", "leaf-a"), 6)
    assert fault.steps[0].startswith("Unplug gpu-0 port eth0")
    off = swept(design, {"leaf-a": [*mine[1:], *theirs[1:]]})
    assert (off.verdicts.faults, off.verdicts.matched) == ((), 6)
    assert {each.a.device for each in off.verdicts.silent} == {"gpu-0", "gpu-4"}


def test_lanes_that_sonic_calls_by_other_numbers_accuse_nobody() -> None:
    """A port of eight lanes that is broken out to four is Ethernet0, 2, 4 and 6: no name is a part of another."""
    design: list[Cable] = [((f"gpu-{n}", "eth0"), ("leaf-a", "Ethernet0")) for n in range(4)]
    found = swept(design, {"leaf-a": [hears(f"Ethernet{2 * n}", f"gpu-{n}", "eth0") for n in range(4)]})
    assert found.verdicts.faults == ()
    written: list[Cable] = [((f"gpu-{n}", "eth0"), ("leaf-a", f"Ethernet{2 * n}")) for n in range(4)]
    found = swept(written, {"leaf-a": [hears(f"Ethernet{2 * n}", f"gpu-{n}", "eth0") for n in range(4)]})
    assert (found.verdicts.faults, found.verdicts.matched) == ((), 4)


ADDRESS = "0c:42:a1:00:00:01"
BLUEFIELD = {
    "as an adapter, its host speaks": [hears("Ethernet1", "gpu-1", "enp65s0f0np0")],
    "as an adapter, its firmware speaks": [hears("Ethernet1", "", ADDRESS)],
    "as an adapter, both speak": [hears("Ethernet1", "gpu-1", ADDRESS), hears("Ethernet1", "BlueField-3", ADDRESS)],
    "as a DPU, its own system speaks by the port's address": [
        hears("Ethernet1", "localhost.localdomain", ADDRESS, "p0")
    ],
    "as a DPU, it and its host speak": [
        hears("Ethernet1", "gpu-1-dpu", "p0"),
        hears("Ethernet1", "gpu-1", "enp65s0f0np0"),
    ],
}


@pytest.mark.parametrize("heard", BLUEFIELD.values(), ids=BLUEFIELD)
def test_a_bluefield_in_either_mode_is_its_hosts_port(heard: list[Neighbour]) -> None:
    """The design knows the host's port and its address; the DPU's own system it need not know."""
    design: list[Cable] = [
        (("gpu-1", "enp65s0f0np0"), ("leaf-a", "Ethernet1")),
        (("gpu-2", "enp65s0f0np0"), ("leaf-a", "Ethernet2")),
    ]
    told = {"leaf-a": [*heard, hears("Ethernet2", "gpu-2", "enp65s0f0np0")]}
    found = swept(design, told, {ADDRESS: Port("gpu-1", "enp65s0f0np0")})
    assert (found.verdicts.faults, found.verdicts.matched) == ((), 2)


def test_a_dpu_that_the_design_does_not_know_and_that_alone_speaks_moves_no_cable_of_its_host() -> None:
    """It may be the host's own, in another mode than before, or a stranger: that one device is to be looked at."""
    told = of(MLAG, "gpu-1")
    told["leaf-a"].append(hears("Ethernet1", "gpu-1-dpu", "p0"))
    (fault,) = swept(MLAG, told).verdicts.faults
    assert (fault.kind, fault.key) == (Kind.UNPLANNED, "cabling/unplanned/gpu-1-dpu")
    assert {port for each in fault.observed for port in each} == {
        Port("gpu-1-dpu", "p0"),
        Port("leaf-a", "Ethernet1"),
    }
