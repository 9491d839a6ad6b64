"""Ethernet cabling from what devices hear of each other."""

from collections.abc import Iterable, Mapping

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling import ethernet
from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers.lldp import Neighbour

SERVERS = [f"gpu-{number}" for number in range(1, 5)]
DESIGN = tuple(link(Port(name, "eth0"), Port("sw-1", f"swp{number}")) for number, name in enumerate(SERVERS, start=1))
PLACES = Places({}, {}, frozenset(SERVERS))
MACS = {"02:00:00:00:00:01": Port("gpu-1", "eth0")}

Cables = Iterable[tuple[Port, Port]]


def port(device: str, interface: str) -> Port:
    return Port(device, interface)


def hears(interface: str, far: Port) -> Neighbour:
    return Neighbour(interface, far.device, far.interface, "")


def both_ends(cables: Cables) -> dict[str, list[Neighbour]]:
    """Return what every device hears over some cables."""
    heard: dict[str, list[Neighbour]] = {}
    for a, b in cables:
        heard.setdefault(a.device, []).append(hears(a.interface, b))
        heard.setdefault(b.device, []).append(hears(b.interface, a))
    return heard


def judged(
    captures: Mapping[str, Iterable[Neighbour]], designed: tuple[Link, ...] = DESIGN, *, macs: bool = False
) -> Verdicts:
    known = names([end for each in designed for end in each], {}, {})
    return ethernet.judge(designed, captures, known, PLACES, MACS if macs else None)


def swapped(one: int, other: int) -> list[tuple[Port, Port]]:
    cables = [tuple(each) for each in DESIGN]
    (a, b), (c, d) = cables[one], cables[other]
    cables[one], cables[other] = (a, d), (c, b)
    return [(a, b) for a, b in cables]


def test_cables_as_designed_match_from_both_ends() -> None:
    verdicts = judged(both_ends(DESIGN))
    assert (verdicts.faults, verdicts.matched, verdicts.designed) == ((), 4, 4)
    assert (verdicts.silent, verdicts.doubts, verdicts.unbound) == ((), (), ())


def test_one_end_is_enough() -> None:
    whole = both_ends(swapped(0, 1))
    (by_switch,) = judged({"sw-1": whole["sw-1"]}).faults
    (by_servers,) = judged({name: whole[name] for name in SERVERS}).faults
    (by_both,) = judged(whole).faults
    assert by_switch == by_servers == by_both
    assert by_both.kind is Kind.SWAP


def test_either_server_of_a_swap_sees_the_same_fault_alone() -> None:
    whole = both_ends(swapped(0, 1))
    keys = {fault.key for name in ("gpu-1", "gpu-2") for fault in judged({name: whole[name]}).faults}
    assert keys == {fault.key for fault in judged(whole).faults}


def test_a_link_of_which_no_end_is_heard_is_silent_and_not_missing() -> None:
    verdicts = judged(both_ends(DESIGN[:3]))
    assert verdicts.silent == (DESIGN[3],)
    assert (verdicts.faults, verdicts.matched, verdicts.designed) == ((), 3, 4)


def test_a_neighbour_that_the_other_end_contradicts_is_not_believed() -> None:
    """gpu-1 still remembers swp1, where the switch hears gpu-2 by now."""
    captures = {
        "gpu-1": [hears("eth0", port("sw-1", "swp1"))],
        "sw-1": [hears("swp1", port("gpu-2", "eth0"))],
    }
    verdicts = judged(captures, DESIGN[:2])
    assert verdicts.faults == ()
    assert [doubt.designed for doubt in verdicts.doubts] == [*DESIGN[:2]]


def test_what_both_ends_tell_outweighs_what_a_third_remembers() -> None:
    captures = both_ends([(port("gpu-2", "eth0"), port("sw-1", "swp1"))])
    captures["gpu-1"] = [hears("eth0", port("sw-1", "swp1"))]
    verdicts = judged(captures, DESIGN[:2])
    (fault,) = verdicts.faults
    assert fault.kind is Kind.MOVED_AND_MISSING
    assert verdicts.unbound == (link(port("gpu-1", "eth0"), port("sw-1", "swp1")),)


def test_two_that_claim_one_port_are_both_doubted() -> None:
    """An unmanaged switch in between lets many hear each other."""
    captures = {name: [hears("eth0", port("sw-1", "swp1"))] for name in ("gpu-1", "gpu-2")}
    verdicts = judged(captures, DESIGN[:2])
    assert (verdicts.faults, verdicts.matched) == ((), 0)
    assert [str(doubt) for doubt in verdicts.doubts] == [
        "expected gpu-1 eth0 to sw-1 swp1, observed gpu-2 eth0 to sw-1 swp1",
        "expected gpu-2 eth0 to sw-1 swp2, observed gpu-2 eth0 to sw-1 swp1",
    ]


def test_an_address_that_the_source_knows_says_more_than_a_host_name() -> None:
    told = {"sw-1": [Neighbour("swp1", "localhost", "02-00-00-00-00-01", "enp1s0")]}
    assert judged(told, DESIGN[:1], macs=True).matched == 1
    (fault,) = judged(told, DESIGN[:1]).faults
    assert fault.observed == (link(port("localhost", "enp1s0"), port("sw-1", "swp1")),)
    assert fault.kind is Kind.UNPLANNED
    assert fault.steps[0] == "Read the serial of localhost: if it is gpu-1, correct its name and move no cable."


def test_a_device_that_the_design_leaves_out_is_no_fault_at_a_port_that_it_leaves_out() -> None:
    verdicts = judged(both_ends([*DESIGN, (port("core-1", "et-0/0/0"), port("sw-1", "swp49"))]))
    assert (verdicts.faults, verdicts.matched) == ((), 4)
    assert verdicts.unbound == (link(port("core-1", "et-0/0/0"), port("sw-1", "swp49")),)


@given(st.permutations(range(4)), st.sets(st.sampled_from([*SERVERS, "sw-1"]), min_size=1))
def test_whatever_part_is_captured_nothing_right_is_called_wrong(order: list[int], captured: set[str]) -> None:
    """Any cabling, seen from any devices: a designed link that is there never stands in a fault.

    Where all cables that are seen of the switch are one port too far, its ports may be counted otherwise.
    """
    cables = [(each.a, DESIGN[order[at]].b) for at, each in enumerate(DESIGN)]
    there = {link(a, b) for a, b in cables}
    whole = both_ends(cables)
    verdicts = judged({name: heard for name, heard in whole.items() if name in captured})
    assert verdicts.doubts == ()
    for fault in verdicts.faults:
        assert not there.intersection(fault.expected)
        assert set(fault.observed) <= there
    wrong = {each for fault in verdicts.faults for each in fault.expected}
    assert wrong == set(DESIGN) - there - {*verdicts.silent, *verdicts.unmapped}
    assert (
        not verdicts.unmapped
        or len({order[at] - at for at, each in enumerate(cables) if each[0].device in captured}) == 1
    )


def sonic(*ports: str) -> tuple[Link, ...]:
    """Servers at a switch of SONiC, whose ports are called so."""
    return tuple(link(Port(name, "eth0"), Port("sw-1", told)) for name, told in zip(SERVERS, ports, strict=False))


def test_a_sonic_switch_is_heard_by_its_aliases() -> None:
    """Or by its lanes where the design has aliases, or hears by them; its description is whatever somebody wrote."""
    lanes, front = sonic("Ethernet0", "Ethernet8", "Ethernet16"), sonic("etp1", "etp2", "etp3")
    for design, seen in ((lanes, front), (front, lanes)):
        captures = {each.a.device: [hears("eth0", each.b)] for each in seen}
        assert judged(captures, design).matched == 3
        itself = {"sw-1": [hears(each.b.interface, each.a) for each in seen]}
        assert judged(itself, design).matched == 3
        crossed = {name: [hears("eth0", seen[at].b)] for name, at in zip(SERVERS, (1, 0, 2), strict=False)}
        assert {fault.kind for fault in judged(crossed, design).faults} <= {Kind.SWAP}


def test_an_alias_that_the_cables_do_not_explain_is_not_compared() -> None:
    captures = {"gpu-1": [hears("eth0", port("sw-1", "etp7"))], "gpu-2": [hears("eth0", port("sw-1", "etp2"))]}
    verdicts = judged(captures, sonic("Ethernet0", "Ethernet8"))
    assert verdicts.faults == ()
    assert len(verdicts.unmapped) + verdicts.matched == 2


def test_a_port_of_a_kind_that_the_design_does_not_use_is_not_compared() -> None:
    """At either end."""
    far = judged({"gpu-1": [hears("eth0", port("sw-1", "xyz-1/2"))]}, DESIGN[:1])
    near = judged({"gpu-1": [hears("ens1f0np0", port("sw-1", "swp1"))]}, DESIGN[:1])
    nothing = judged({"gpu-1": [hears("ens1f0np0", port("sw-1", "xyz-1/2"))]}, DESIGN[:1])
    assert [each.unmapped for each in (far, near)] == [DESIGN[:1]] * 2
    assert [each.faults for each in (far, near, nothing)] == [()] * 3
    assert nothing.silent == DESIGN[:1]


def test_a_port_in_another_vendors_spelling_is_that_port() -> None:
    design = sonic("Ethernet1/1", "Ethernet1/2")
    assert judged({"gpu-1": [hears("eth0", port("sw-1", "Eth1/1"))]}, design).matched == 1
    (fault,) = judged({"gpu-1": [hears("eth0", port("sw-1", "Eth1/9"))]}, design).faults
    assert fault.kind is Kind.MOVED


def test_a_number_alone_confirms_the_designed_port_and_accuses_no_other() -> None:
    """A switch of another maker may be heard as Ethernet7 where the design has swp7, or count its lanes."""
    assert judged({"gpu-1": [hears("eth0", port("sw-1", "Ethernet1"))]}).matched == 1
    verdicts = judged({"gpu-1": [hears("eth0", port("sw-1", "Ethernet4"))]})
    assert (verdicts.faults, verdicts.unmapped) == ((), DESIGN[:1])


def test_where_hardly_any_port_can_be_told_no_fault_is() -> None:
    captures = {name: [hears("eth0", port("sw-1", f"xyz-1/{at}"))] for at, name in enumerate(SERVERS[1:])}
    captures["gpu-1"] = [hears("eth0", port("sw-1", "swp9"))]
    verdicts = judged(captures)
    assert (verdicts.faults, len(verdicts.unmapped)) == ((), 3)
    assert verdicts.suspect.startswith("3 of 4 designed links cannot be compared")
