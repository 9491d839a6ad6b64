"""Told ports that mean another designed one than alone: what two cables tell, and what nobody can."""

import pytest

from fleet_runner.core.cabling.port_readings import Told, readings

EOS = [f"Ethernet{number}" for number in range(1, 9)]


def told(names: dict[str, str], meant: dict[str, str] | None = None) -> list[Told]:
    """Return told names, each with the port that is designed there, and what they mean alone."""
    return [Told(name, frozenset({goal} if goal else ()), (meant or {}).get(name)) for name, goal in names.items()]


READ: dict[str, tuple[list[str], dict[str, str]]] = {
    "lanes, four a port": (EOS, {"Ethernet0": "Ethernet1", "Ethernet4": "Ethernet2", "Ethernet8": "Ethernet3"}),
    "lanes, eight a port": (EOS, {"Ethernet0": "Ethernet1", "Ethernet8": "Ethernet2", "Ethernet16": "Ethernet3"}),
    "first lanes": (EOS, {"Ethernet1/1": "Ethernet1", "Ethernet2/1": "Ethernet2", "Ethernet3/1": "Ethernet3"}),
    "fronts": (EOS, {"Eth1(Port1)": "Ethernet1", "Eth2(Port2)": "Ethernet2"}),
    "from zero": (EOS, {"et-0/0/0": "Ethernet1", "et-0/0/1": "Ethernet2", "et-0/0/6": "Ethernet7"}),
    "halves by letter": (["1/1/1", "1/1/2", "1/2/1"], {"etp1a": "1/1/1", "etp1b": "1/1/2", "etp2a": "1/2/1"}),
    "halves by lane": (
        ["swp1s0", "swp1s1", "swp2s0", "swp2s1"],
        {"Ethernet1/1": "swp1s0", "Ethernet1/5": "swp1s1", "Ethernet2/5": "swp2s1"},
    ),
}


@pytest.mark.parametrize(("designed", "names"), READ.values(), ids=READ)
def test_names_are_read_by_the_one_rule_that_their_cables_agree_with(
    designed: list[str], names: dict[str, str]
) -> None:
    """Another cable at a port that is not designed is nobody's, and one of nobody is read like the others."""
    assert readings(told(names), designed) == names
    (*rest, last) = names
    assert readings(told({**{name: names[name] for name in rest}, last: ""}), designed)[last] in {names[last], None}


def test_names_that_mean_themselves_are_left_alone() -> None:
    """Also where two of many are exchanged, for no other rule has as many cables."""
    same = {name: name for name in EOS}
    assert readings(told(same, same), EOS) == {}
    crossed = same | {"Ethernet1": "Ethernet2", "Ethernet2": "Ethernet1"}
    assert readings(told(crossed, same), EOS) == {}


def test_names_of_another_kind_whose_numbers_alone_agree_tell_also_what_is_wrong() -> None:
    """Two cables decide that swp2 is the second port; one of them does not."""
    numbers = {f"swp{at}": name for at, name in enumerate(EOS, start=1)}
    seen = {"swp1": "Ethernet1", "swp2": "Ethernet2", "swp3": "Ethernet4", "swp5": "Ethernet5"}
    assert readings(told(seen, numbers), EOS) == {name: numbers[name] for name in seen}
    assert readings(told({"swp1": "Ethernet1", "swp3": "Ethernet4"}, numbers), EOS) == {}


def test_one_cable_decides_nothing() -> None:
    """It leaves open what the name means, if some rule would have it right."""
    assert readings(told({"Ethernet4": "Ethernet2"}, {"Ethernet4": "Ethernet4"}), EOS) == {"Ethernet4": None}
    assert readings(told({"Ethernet4": "Ethernet7"}, {"Ethernet4": "Ethernet4"}), EOS) == {}


def test_two_rules_with_as_many_cables_decide_nothing() -> None:
    """The first halves of four cages, or four ports: neither has two cables more."""
    names = {"Ethernet1/1": "1/1", "Ethernet2/1": "1/2", "Ethernet3/1": "1/5"}
    designed = [f"1/{number}" for number in range(1, 9)]
    assert set(readings(told(names), designed).values()) == {None}


def test_where_no_cable_is_right_names_of_one_place_alone_mean_another_port() -> None:
    """A ninth port is none of 1/1 and 1/2; of a port of another place nobody knows whether it is one of them."""
    assert readings(told({"Eth1/9": "Ethernet1/1"}, {"Eth1/9": "Eth1/9"}), ["Ethernet1/1", "Ethernet1/2"]) == {}
    ports = ["et-0/0/0", "et-0/0/1", "et-0/0/4"]
    names = {"Eth1/1/1": "et-0/0/1", "Eth1/1/2": "et-0/0/0"}
    assert readings(told(names, {name: name for name in names}), ports) == dict.fromkeys(names)


def test_two_names_of_one_port_are_not_counted() -> None:
    names = {"etp1": "Eth1", "etp2": "Eth2"}
    assert readings(told(names), ["Eth1(Port1)", "Eth1", "Eth2"]) == dict.fromkeys(names)
