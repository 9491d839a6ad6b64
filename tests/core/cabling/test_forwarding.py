"""Links of silent neighbours, by the addresses that switches learned at their ports."""

import pytest

from fleet_runner.core.cabling.ethernet_sweep import SweepVerdicts
from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.checks.parsers.forwarding import OF_HOST, Learned
from fleet_runner.core.checks.parsers.lldp import Neighbour
from tests.core.cabling.ethernet_halls import hall, heard, learned, swept

HALL = hall(servers=6, rails=2, spines=2)
MACS = {port: mac for mac, port in HALL.macs.items()}


def exchanged(one: Port, other: Port) -> list[Link]:
    """The cables, those of two servers' ports in each other's place."""
    far = {each.a: each.b for each in HALL.links}
    rest = [each for each in HALL.links if each.a not in {one, other}]
    return [*rest, link(one, far[other]), link(other, far[one])]


def told(cables: list[Link], silent: tuple[str, ...], more: dict[str, list[Learned]] | None = None) -> SweepVerdicts:
    """Sweep where some servers say nothing over LLDP, and switches learned their addresses, and more."""
    rows = {name: list(found) for name, found in learned(cables, HALL, HALL.switches).items()}
    for name, each in (more or {}).items():
        rows[name] += each
    return swept(HALL, heard(cables, HALL.switches, silent), {}, {name: tuple(each) for name, each in rows.items()})


def test_a_server_that_says_nothing_is_known_by_its_addresses() -> None:
    found = told([*HALL.links], ("gpu-00",))
    assert (found.verdicts.faults, found.verdicts.silent, found.learned) == ((), (), 2)
    assert found.verdicts.matched == len(HALL.links)
    assert found.words() == "; 2 links are known by MAC addresses alone"


def test_two_silent_servers_at_each_others_port_are_a_swap() -> None:
    found = told(exchanged(Port("gpu-00", "eth0"), Port("gpu-01", "eth0")), ("gpu-00", "gpu-01"))
    (fault,) = found.verdicts.faults
    assert (fault.kind, fault.touches, found.verdicts.doubts) == (Kind.SWAP, 2, ())


def test_one_silent_server_at_anothers_port_is_doubted_and_no_fault() -> None:
    """The other one is off."""
    plugged = [
        each for each in exchanged(Port("gpu-00", "eth0"), Port("gpu-01", "eth0")) if each.a.device != "gpu-01"
    ]
    found = told(plugged, ("gpu-00",))
    assert found.verdicts.faults == ()
    assert [str(each) for each in found.verdicts.doubts] == [
        "expected gpu-00 eth0 to leaf-0-0 swp1, observed gpu-00 eth0 to leaf-0-0 swp2",
        "expected gpu-01 eth0 to leaf-0-0 swp2, observed gpu-00 eth0 to leaf-0-0 swp2",
    ]


def test_a_silent_server_at_the_port_of_one_that_speaks_is_no_swap() -> None:
    """What LLDP tells is told by LLDP alone: the other is heard at the wrong port."""
    found = told(exchanged(Port("gpu-00", "eth0"), Port("gpu-01", "eth0")), ("gpu-00",))
    assert {fault.kind for fault in found.verdicts.faults} == {Kind.MOVED_AND_MISSING}


def test_two_ports_of_one_server_are_never_told_to_be_exchanged() -> None:
    """A bond that fails over exchanges their addresses, and no cable."""
    found = told(exchanged(Port("gpu-00", "eth0"), Port("gpu-00", "eth1")), ("gpu-00",))
    assert (found.verdicts.faults, len(found.verdicts.doubts)) == ((), 2)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param([Learned("swp1", MACS[Port("gpu-05", "eth0")])], id="two servers at a port"),
        pytest.param([Learned("swp1", f"02:00:00:00:ff:{n:02x}") for n in range(OF_HOST)], id="a switch behind it"),
        pytest.param([Learned("swp2", MACS[Port("gpu-00", "eth0")])], id="one address at two ports"),
    ],
)
def test_where_something_speaks_against_it_nothing_is_told(more: list[Learned]) -> None:
    found = told([*HALL.links], ("gpu-00", "gpu-01"), {"leaf-0-0": more})
    assert found.verdicts.faults == ()
    assert link(Port("gpu-00", "eth0"), Port("leaf-0-0", "swp1")) not in found.believed


def test_other_addresses_of_a_host_and_unknown_ones_speak_against_nothing() -> None:
    """That of its other port is at two ports now, and tells of that one no more."""
    more = [Learned("swp1", "02:00:00:00:ff:01"), Learned("swp1", MACS[Port("gpu-00", "eth1")])]
    found = told([*HALL.links], ("gpu-00",), {"leaf-0-0": more})
    assert (found.verdicts.faults, found.learned) == ((), 1)
    assert link(Port("gpu-00", "eth0"), Port("leaf-0-0", "swp1")) in found.believed


def test_an_uplink_tells_nothing_of_the_servers_behind_it() -> None:
    """Also where the switch behind it says nothing, and one address alone was learned there."""
    silent = ("gpu-04", "spine-0")
    up = Learned("swp33", MACS[Port("gpu-04", "eth0")])
    found = told([*HALL.links], silent, {"leaf-0-0": [up]})
    assert (found.verdicts.faults, found.verdicts.doubts, found.learned) == ((), (), 2)


def test_a_port_that_hears_somebody_is_known_by_what_it_hears() -> None:
    rows = heard(HALL.links, HALL.switches)
    wrong = {
        "leaf-0-0": (Learned("swp1", MACS[Port("gpu-01", "eth0")]), Learned("swp2", MACS[Port("gpu-00", "eth0")]))
    }
    found = swept(HALL, rows, {}, wrong)
    assert (found.verdicts.faults, found.learned, found.verdicts.matched) == ((), 0, len(HALL.links))


def test_an_address_of_a_port_that_is_heard_elsewhere_tells_nothing() -> None:
    """Of an address that somebody else took, say: its port is where LLDP hears it."""
    rows = heard(HALL.links, HALL.switches, ("gpu-01",))
    found = swept(HALL, rows, {}, {"leaf-0-0": (Learned("swp2", MACS[Port("gpu-00", "eth0")]),)})
    assert (found.verdicts.faults, found.verdicts.doubts, found.learned) == ((), (), 0)
    assert link(Port("gpu-01", "eth0"), Port("leaf-0-0", "swp2")) in found.verdicts.silent


def test_a_port_at_which_two_are_heard_that_nobody_expects_is_not_decided_by_addresses() -> None:
    rows = heard(HALL.links, HALL.switches, ("gpu-00",))
    rows["leaf-0-0"] += [Neighbour("swp1", "stranger", "a", ""), Neighbour("swp1", "other", "b", "")]
    found = swept(HALL, rows, {}, learned(HALL.links, HALL, HALL.switches))
    assert link(Port("gpu-00", "eth0"), Port("leaf-0-0", "swp1")) in found.verdicts.silent


def test_a_switch_behind_a_port_with_addresses_is_not_dark() -> None:
    """LLDP is off there, and it does not answer: but it forwards."""
    cables = [each for each in HALL.links if "leaf-0-0" not in {each.a.device, each.b.device}]
    read = [name for name in HALL.switches if name != "leaf-0-0"]
    rows, why = heard(cables, read), {"leaf-0-0": "it did not answer"}
    assert len(swept(HALL, rows, why).verdicts.faults) == 1
    up = {"spine-1": (Learned("swp1", "02:00:00:00:ff:07"), Learned("mgmt", "02:00:00:00:ff:08"))}
    assert swept(HALL, rows, why, up).verdicts.faults == ()
