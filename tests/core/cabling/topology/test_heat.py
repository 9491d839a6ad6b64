"""What links counted, by rail and leaf."""

from dataclasses import replace

import pytest

from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.topology.heat import ALLOWED, SINGLY, Cell, heat, rates, sizes
from fleet_runner.core.cabling.topology.layers import MIXED, Layers
from tests.core.cabling.topology.test_layers import found

IT = found()


def test_each_cell_has_the_worst_of_its_links() -> None:
    joined = IT.links[1]
    rows = heat(IT, sizes(IT), {joined: 6.0}, {joined}, ())
    hot = [(rail, cell) for rail, row in rows for cell in row if cell.counted]
    assert hot == [(IT.rail(joined), Cell("leaf-2", 2, 6.0, 1, 1))]
    assert sum(cell.links for rail, row in rows for cell in row if rail != MIXED) == 5
    assert rows[-1][0] == MIXED


@pytest.mark.parametrize(
    ("cell", "level"),
    [
        (Cell("a", 4), 0),
        (Cell("a", 4, ALLOWED, 1), 1),
        (Cell("a", 4, ALLOWED + 0.1, 1), 2),
        (Cell("a", 4, 0.0, 0, 1), 2),
        (Cell("a", 4, 11 * ALLOWED, 1, 1), 3),
    ],
)
def test_how_hot_a_cell_is(cell: Cell, level: int) -> None:
    assert cell.level == level


def test_of_many_leaves_those_without_an_error_share_a_cell() -> None:
    names = tuple(f"leaf-{number}" for number in range(SINGLY + 1))
    links = tuple(link(Port(f"gpu-{number}", "ib0"), Port(name, "p1")) for number, name in enumerate(names))
    rails = {each.a: 1 for each in links}
    it = Layers((), names, (), links, rails, {})
    assert heat(it, sizes(it), {links[7]: 2.0}, (), ()) == (
        (1, (Cell("leaf-7", 1, 2.0, 1), Cell("", SINGLY, leaves=SINGLY))),
    )
    assert heat(it, sizes(it), {links[7]: 2.0}, (), (links[7], links[8])) == (
        (1, (Cell("leaf-7", 1, 2.0, 1), Cell("", 1, unknown=1), Cell("", SINGLY - 1, leaves=SINGLY - 1))),
    ), "what is not known is not zero"
    ((_, all_hot),) = heat(it, sizes(it), dict.fromkeys(links, 1.0), (), ())
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
    assert rates({"seconds": 7200.0, "counted": [["leaf-1", "p1", "gpu-1", "ib0", 6]]}) == {joined: 3.0}
    for nothing in (
        {},
        {"seconds": 0.0, "counted": [["a", "b", "c", "d", 1]]},
        {"seconds": 9, "counted": [["a"]]},
        *ODD,
    ):
        assert rates(nothing) is None
    assert rates({"seconds": 60, "counted": []}) == {}
