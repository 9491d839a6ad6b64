"""Links counted by leaf, rail and rack."""

from fleet_runner.core.cabling.topology.tiles import LEAF, RACK, RAIL, Tile, of, ordered, tiles
from tests.core.cabling.topology.test_layers import found

IT = found()
BAD = {IT.links[1]}


def test_links_are_counted_and_the_worst_is_first() -> None:
    assert tiles(IT, BAD, (), LEAF) == (Tile("leaf-2", 4, 1), Tile("leaf-1", 3, 0))
    assert tiles(IT, BAD, (), RAIL) == (Tile("2", 2, 1), Tile("1", 2, 0), Tile("3", 1, 0))
    assert tiles(IT, BAD, (), RACK) == (Tile("hall", 8, 1), Tile("hall/R1", 3, 1), Tile("unknown", 1, 0))


def test_what_could_not_be_told_is_counted_apart() -> None:
    assert tiles(IT, BAD, IT.links[:3], LEAF) == (Tile("leaf-2", 4, 1, 1), Tile("leaf-1", 3, 0, 1))


def test_the_links_of_one_are_found() -> None:
    assert len(of(IT, LEAF, "leaf-1")) == 3
    assert len(of(IT, RAIL, "3")) == 1
    assert of(IT, RACK, "nowhere") == ()


def test_what_is_wrong_is_first_in_a_list() -> None:
    assert ordered(IT.links, BAD)[0] == IT.links[1]
    assert len(ordered(IT.links, ())) == 8
