"""One Ethernet port as several vendors write it."""

import pytest

from fleet_runner.core.cabling.port_numbers import fitting
from fleet_runner.core.cabling.port_spellings import panel_number, panel_ways, respelled, spelled


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Eth1/28", "Ethernet1/28"),
        ("Et1", "Ethernet1"),
        ("ethernet1/28", "Ethernet1/28"),
        ("Ethernet 1/28", "Ethernet1/28"),
        ("Gi1/0/1", "GigabitEthernet1/0/1"),
        ("Te0/0/0/1", "TenGigE0/0/0/1"),
        ("Te1/0/1", "TenGigabitEthernet1/0/1"),
        ("Twe1/0/5", "TwentyFiveGigE1/0/5"),
        ("Hu0/0/0/3", "HundredGigE0/0/0/3"),
        ("FourHundredGigE0/0/0/3", "400GE0/0/0/3"),
        ("FH0/0/0/3", "FourHundredGigE0/0/0/3"),
        ("400G0/0/0/3", "FourHundredGigE0/0/0/3"),
        ("et-0/0/3", "Ethernet0/0/3"),
    ],
)
def test_a_port_is_itself_in_either_spelling(one: str, other: str) -> None:
    """Whichever of the two is designed, and whatever stands beside it."""
    assert spelled(one) == spelled(other)
    assert respelled(one, [other, "Ethernet9/9"]) == other
    assert respelled(other, [one, "Ethernet9/9"]) == one


def test_a_port_of_another_speed_in_the_same_place_is_that_port() -> None:
    """IOS-XR names a port after its speed; two of one place are told apart, and a bare number is no place."""
    assert respelled("FourHundredGigE0/0/0/1", ["HundredGigE0/0/0/1", "HundredGigE0/0/0/2"]) == "HundredGigE0/0/0/1"
    assert respelled("Fo1/1", ["Gi1/1", "Te1/1"]) is None
    assert respelled("Te1", ["Gi1"]) == ""


def test_a_port_that_is_understood_and_not_designed_is_another_one() -> None:
    """So a cable that was moved there is told to be moved."""
    assert respelled("Et7", ["Ethernet1", "Ethernet2"]) == ""
    assert respelled("swp7", ["swp1", "swp2"]) == ""
    assert respelled("left-7", ["left-1"]) == ""


@pytest.mark.parametrize(
    ("told", "designed"),
    [
        ("Ethernet1/1", "Ethernet1"),
        ("Ethernet1", "Ethernet1/1"),
        ("Eth1/27/1", "Eth1/27"),
        ("et-0/0/1:0", "et-0/0/1"),
        ("Gi1/0/1", "Gi1/1"),
        ("eth0.100", "eth0"),
        ("511", "7"),
        ("ens2f0np0", "ens1f0np0"),
        ("Eth4", "Ethernet0"),
        ("hundredGigE1/4", "Ethernet0"),
    ],
)
def test_a_name_of_another_depth_may_be_any_port(told: str, designed: str) -> None:
    """A breakout, an interface's index, another slot of a server, a SONiC switch's own count."""
    assert respelled(told, [designed]) is None


@pytest.mark.parametrize("told", ["swp7", "port seven", "ens1f0np0", "xyz-1/2"])
def test_a_name_of_a_kind_that_the_design_does_not_use_is_nobodys(told: str) -> None:
    assert respelled(told, ["Ethernet1", "Ethernet2"]) is None
    assert respelled("Ethernet1", ["some", "words"]) is None


def test_a_sonic_switch_is_read_by_its_lanes_or_its_front() -> None:
    lanes, front = ("Ethernet0", "Ethernet8", "Ethernet16"), ("etp1", "etp2", "etp3")
    assert [panel_number(name, lanes) for name in front] == [1, 2, 3]
    assert [panel_number(name, front) for name in lanes] == [0, 8, 16]
    assert panel_number("Ethernet8", lanes) is None
    assert panel_number("etp1", ("swp1",)) is None
    plugged = [("Ethernet8", 2), ("Ethernet16", 3)]
    assert fitting(panel_ways(lanes), plugged) == {"Ethernet0": 1, "Ethernet8": 2, "Ethernet16": 3}
    assert fitting(panel_ways(front), [("etp2", 8), ("etp3", 16)]) == {"etp1": 0, "etp2": 8, "etp3": 16}


def test_the_first_port_of_a_sonic_switch_is_the_first_however_many_lanes_it_has() -> None:
    assert panel_ways(["Ethernet0"]) == ({"Ethernet0": 1},)
    assert fitting(panel_ways(["Ethernet0", "Ethernet8"]), []) == {"Ethernet0": 1}
