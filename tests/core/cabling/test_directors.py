"""Director switches: all ASICs are one device, and a host on another card is never told to be moved for its name."""

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.binding import bind
from fleet_runner.core.cabling.directors import Asic, asic, cables, port_key
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import Verdicts, hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.cabling.roles import servers
from fleet_runner.core.checks.parsers import fabric_capture
from tests.core.cabling.discoveries import by_port, plain
from tests.examples import examples

SPELLINGS: dict[str, Callable[[int, int, int], str]] = {
    "Blade 16_Port 2/20": "Blade {}_Port {}/{}".format,
    "L16/U2/20": "L{}/U{}/{}".format,
    "L16/U2/P20": "L{:02}/U{}/P{}".format,
    "Leaf 16 ASIC 2 Port 20": "Leaf {} ASIC {} Port {}".format,
    "slot16/2/20": "slot{}/{}/{}".format,
}
PLACES = [(card, part, port) for card in (1, 16) for part in (1, 2) for port in (1, 2, 20)]
"""Card, ASIC and port of twelve hosts."""

INSIDE = [
    link(Port(f"MF0;dir-1:MCS8500/{place}", str(30 + spine)), Port(f"MF0;dir-1:MCS8500/S0{spine}/U1", str(at)))
    for at, place in enumerate(("L01/U1", "L01/U2", "L16/U1", "L16/U2"), start=1)
    for spine in (1, 2)
]


def host(at: int) -> Port:
    return Port(f"gpu-{at:02}", "mlx5_0")


def design(spell: Callable[[int, int, int], str]) -> list[Link]:
    return [link(host(at), Port("dir-1", spell(*place))) for at, place in enumerate(PLACES)]


def plugged(places: Iterable[tuple[int, int, int]], model: str = "MCS8500") -> list[Link]:
    """Return hosts in these places of the fabric, and what is inside the director."""
    ports = [Port(f"MF0;dir-1:{model}/L{card:02}/U{part}", str(port)) for card, part, port in places]
    return [*(link(host(at), port) for at, port in enumerate(ports)), *INSIDE]


def judged(wanted: list[Link], seen: list[Link], guids: dict[str, Port] | None = None) -> Verdicts:
    known = names([port for each in wanted for port in each], guids or {}, {}, wanted)
    found = fabric_capture.read(plain(seen))
    return hold(wanted, bind(found.links, known), Places({}, {}, servers(wanted, {})), one_fabric=True)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("model", ["MCS8500", "CS7500", "SX6536"])
def test_a_director_as_designed_is_as_designed(spelling: str, model: str) -> None:
    wanted = design(SPELLINGS[spelling])
    verdicts = judged(wanted, plugged(PLACES, model))
    assert (verdicts.faults, verdicts.matched, verdicts.unbound, verdicts.suspect) == ((), len(wanted), (), "")


@settings(max_examples=examples(100), deadline=None)
@given(
    st.sampled_from(sorted(SPELLINGS)),
    st.lists(st.integers(0, len(PLACES) - 1), min_size=2, max_size=3, unique=True),
    st.sampled_from([plain, by_port]),
)
def test_only_hosts_in_wrong_ports_are_told_to_move(
    spelling: str, turned: list[int], form: Callable[[Iterable[Link]], str]
) -> None:
    """Also where the right one has the same number on another card."""
    wanted, places = design(SPELLINGS[spelling]), list(PLACES)
    for at, to in zip(turned, [*turned[1:], turned[0]], strict=True):
        places[at] = PLACES[to]
    known = names([port for each in wanted for port in each], {}, {}, wanted)
    found = fabric_capture.read(form(plugged(places)))
    verdicts = hold(wanted, bind(found.links, known), Places({}, {}, servers(wanted, {})), one_fabric=True)
    assert {each for fault in verdicts.faults for each in fault.expected} == {wanted[at] for at in turned}


def test_a_director_whose_ports_are_named_otherwise_is_not_compared() -> None:
    """A number alone says no card: nobody is told to move a cable."""
    wanted = [link(host(at), Port("dir-1", str(at + 1))) for at in range(len(PLACES))]
    verdicts = judged(wanted, plugged(PLACES))
    assert verdicts.faults == ()
    assert len(verdicts.unmapped) == len(wanted)
    assert "names" in verdicts.suspect


def test_a_director_that_is_known_by_a_guid_tells_its_ports_by_card_all_the_same() -> None:
    wanted, seen = design(SPELLINGS["L16/U2/20"]), plugged(PLACES)
    ends = {end for each in fabric_capture.read(plain(seen)).links for end in (each.a, each.b)}
    guid = next(end.guid for end in ends if end.name.endswith("L16/U2"))
    verdicts = judged(wanted, seen, {guid: Port("dir-1", "")})
    assert (verdicts.faults, verdicts.matched) == ((), len(wanted))


def test_a_director_outside_the_design_is_one_device() -> None:
    wanted = [link(host(at), Port("leaf-1", str(at + 1))) for at in range(8)]
    beside = [link(Port("leaf-1", "40"), Port("MF0;dir-1:MCS8500/L01/U1", "3")), *INSIDE]
    known = names([port for each in wanted for port in each], {}, {}, wanted)
    bound = bind(fabric_capture.read(plain([*wanted, *beside])).links, known)
    assert set(bound.strangers) == {"dir-1"}
    assert link(Port("leaf-1", "40"), Port("dir-1", "L1/U1/3")) in bound.links
    assert len(bound.links) == len(wanted) + 1


def test_what_describes_a_director_and_what_does_not() -> None:
    assert asic("MF0;dir-1:MCS8500/L16/U2") == Asic("dir-1", "L16/U2")
    assert asic("MF0;dir-1:CS7500/S02/U1") == Asic("dir-1", "S2/U1")
    assert asic("MF0;leaf-1:MQM9700/U1") is None
    assert asic("gpu-01 mlx5_0") is None
    assert [port_key(name) for name in ("Blade 16_Port 2/20", "l01/u02/p3", "Blade 16", "IB1/16/2", "swp7s1")] == [
        "L16/U2/20",
        "L1/U2/3",
        "",
        "",
        "",
    ]


def test_a_fabric_without_a_director_keeps_every_link() -> None:
    found = fabric_capture.read(plain([link(host(1), Port("leaf-1", "1"))])).links
    assert cables(found) == found
