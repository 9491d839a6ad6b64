"""A design in each of many spellings, a switch that speaks each other one: a right cable is in no fault."""

from collections.abc import Callable

import pytest

from fleet_runner.core.cabling.ethernet import judge
from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers.lldp import Neighbour

SPELLINGS: dict[str, Callable[[int], str]] = {
    "28": str,
    "Ethernet28": lambda number: f"Ethernet{number}",
    "Ethernet 1/28": lambda number: f"Ethernet 1/{number}",
    "Ethernet28/1": lambda number: f"Ethernet{number}/1",
    "Eth1/28/1": lambda number: f"Eth1/{number}/1",
    "eth-1-28": lambda number: f"eth-1-{number}",
    "1/1/c28/1": lambda number: f"1/1/c{number}/1",
    "1/1/28": lambda number: f"1/1/{number}",
    "et-0/0/27": lambda number: f"et-0/0/{number - 1}",
    "et-0/0/28:0": lambda number: f"et-0/0/{number}:0",
    "HundredGigE0/0/0/28": lambda number: f"HundredGigE0/0/0/{number}",
    "swp28s0": lambda number: f"swp{number}s0",
    "swp14s1": lambda number: f"swp{(number + 1) // 2}s{(number + 1) % 2}",
    "Ethernet14/5": lambda number: f"Ethernet{(number + 1) // 2}/{(number + 1) % 2 * 4 + 1}",
    "Ethernet108": lambda number: f"Ethernet{4 * (number - 1)}",
    "Eth28(Port28)": lambda number: f"Eth{number}(Port{number})",
    "etp28": lambda number: f"etp{number}",
    "Port 28 (breakout 1)": lambda number: f"Port {number} (breakout 1)",
    "ge-28": lambda number: f"ge-{number}",
    "IBP28": lambda number: f"IBP{number}",
    "28a": lambda number: f"{number}a",
}
PLUGS = range(25, 33)


@pytest.mark.parametrize("written", SPELLINGS)
@pytest.mark.parametrize("plugged", [{}, {26: 30, 30: 26}])
def test_a_cable_that_is_right_is_in_no_fault(written: str, plugged: dict[int, int]) -> None:
    wanted = {at: link(Port(f"gpu-{at}", "eth0"), Port("leaf-1", SPELLINGS[written](at))) for at in PLUGS}
    known = names([port for each in wanted.values() for port in each], {}, {})
    wrong = {wanted[at] for at in plugged}
    for spoken, spell in SPELLINGS.items():
        told = {at: spell(plugged.get(at, at)) for at in PLUGS}
        heard = {f"gpu-{at}": [Neighbour("eth0", "leaf-1", name, "")] for at, name in told.items()}
        heard["leaf-1"] = [Neighbour(name, f"gpu-{at}", "eth0", "") for at, name in told.items()]
        verdicts = judge(wanted.values(), heard, known, Places({}, {}, frozenset(heard) - {"leaf-1"}))
        faulty = {each for fault in verdicts.faults for each in fault.expected}
        assert faulty <= wrong, spoken
        assert wrong <= faulty | {*verdicts.unmapped}, spoken
        if spoken == written:
            assert [fault.kind for fault in verdicts.faults] == [Kind.SWAP] * (len(plugged) // 2)
            assert verdicts.matched == len(wanted) - len(plugged)
