"""What links counted, by rail and leaf."""

from dataclasses import replace

import pytest

from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.topology.heat import ALLOWED, SINGLY, Cell, Rate, heat, rates, sizes, untold
from fleet_runner.core.cabling.topology.layers import MIXED, Layers
from tests.core.cabling.topology.test_layers import found

IT = found()


def test_each_cell_has_the_worst_of_its_links() -> None:
    joined = IT.links[1]
    rows = heat(IT, sizes(IT), {joined: Rate(6.0)}, {joined}, ())
    hot = [(rail, cell) for rail, row in rows for cell in row if cell.counted]
    assert hot == [(IT.rail(joined), Cell("leaf-2", 2, 6.0, 1, 1, times=Rate(6.0).times))]
    assert sum(cell.links for rail, row in rows for cell in row if rail != MIXED) == 5
    assert rows[-1][0] == MIXED


@pytest.mark.parametrize(
    ("cell", "level"),
    [
        (Cell("a", 4), 0),
        (Cell("a", 4, ALLOWED, 1, times=1.0), 1),
        (Cell("a", 4, ALLOWED + 0.1, 1, times=1.1), 2),
        (Cell("a", 4, 0.0, 0, 1), 2),
        (Cell("a", 4, 11 * ALLOWED, 1, 1, times=11.0), 3),
        (Cell("a", 4, 140.0, 1, times=0.97), 1),
    ],
)
def test_how_hot_a_cell_is(cell: Cell, level: int) -> None:
    assert cell.level == level


def test_of_many_leaves_those_without_an_error_share_a_cell() -> None:
    names = tuple(f"leaf-{number}" for number in range(SINGLY + 1))
    links = tuple(link(Port(f"gpu-{number}", "ib0"), Port(name, "p1")) for number, name in enumerate(names))
    rails = {each.a: 1 for each in links}
    it = Layers((), names, (), links, rails, {})
    assert heat(it, sizes(it), {links[7]: Rate(2.0, 4.0)}, (), ()) == (
        (1, (Cell("leaf-7", 1, 2.0, 1, times=0.5), Cell("", SINGLY, leaves=SINGLY))),
    )
    assert heat(it, sizes(it), {links[7]: Rate(2.0, 4.0)}, (), (links[7], links[8])) == (
        (1, (Cell("leaf-7", 1, 2.0, 1, times=0.5), Cell("", 1, unknown=1), Cell("", SINGLY - 1, leaves=SINGLY - 1))),
    ), "what is not known is not zero"
    ((_, all_hot),) = heat(it, sizes(it), dict.fromkeys(links, Rate(1.0)), (), ())
    assert len(all_hot) == SINGLY + 1
    fewer = replace(it, leaves=names[1:])
    ((_, row),) = heat(fewer, sizes(fewer), {}, (), ())
    assert len(row) == SINGLY


ODD: tuple[dict[str, object], ...] = (
    {"seconds": -60.0, "counted": [["a", "b", "c", "d", 1]]},
    {"seconds": float("nan"), "counted": []},
    {"seconds": 60.0, "counted": [["a", "b", "c", "d", 10**400]]},
)


def test_rates_are_read_from_what_a_look_wrote() -> None:
    joined = link(Port("gpu-1", "ib0"), Port("leaf-1", "p1"))
    assert rates({"seconds": 7200.0, "counted": [["leaf-1", "p1", "gpu-1", "ib0", 6]]}) == {joined: Rate(3.0)}
    for nothing in (
        {},
        {"seconds": 0.0, "counted": [["a", "b", "c", "d", 1]]},
        {"seconds": 9, "counted": [["a"]]},
        *ODD,
    ):
        assert rates(nothing) is None
    assert rates({"seconds": 60, "counted": []}) == {}


def test_ethernet_tells_a_rate_and_what_is_allowed_for_each_link_and_of_which_nobody_told() -> None:
    joined, other = (link(Port(f"gpu-{at}", "eth1"), Port("leaf-1", f"p{at}")) for at in (1, 2))
    row = ["gpu-1", "eth1", "leaf-1", "p1"]
    assert rates({"rates": [[*row, 72.0, 144.0]]}) == {joined: Rate(72.0, 144.0)}
    assert rates({"rates": [[*row, 72.0, 144.0]]})[joined].times == 0.5
    for odd in ([*row, 0.0, 144.0], [*row, -1.0, 144.0], [*row, float("nan"), 1.0], [*row, 1.0, 0.0]):
        assert rates({"rates": [odd]}) == {}
    for odd in ([*row, "many", 144.0], [*row], 5):
        assert rates({"rates": [odd]}) is None
    assert untold({"untold": [row], "untelling": 1}, (joined, other)) == {joined}
    assert untold({"untold": [row], "untelling": 2}, (joined, other)) == {joined, other}
    assert untold({"untold": [5, row[:3]], "untelling": 2}, (joined, other)) == frozenset()
    for odd in ({}, {"untold": 5, "untelling": 2}, {"untold": [], "untelling": "2"}):
        assert untold(odd, (joined, other)) == frozenset()
