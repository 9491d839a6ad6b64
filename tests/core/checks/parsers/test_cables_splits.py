"""Split cables in tables: three ends in a row, a list of far ends, or a port that is told several times."""

import pytest

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.checks.parsers import cables_csv
from fleet_runner.core.checks.parsers.cables_sheet import Row


def rows(text: str) -> tuple[Row, ...]:
    """Return the cables of a table."""
    return cables_csv.parse(f"{text}\n", "x")


STEM = Port("leaf-01", "1")
BOTH = [link(STEM, Port(f"gpu-0{at}", "mlx5_0")) for at in (1, 2)]


@pytest.mark.parametrize(
    "text",
    [
        "Switch,Switch Port,Host 1,HCA 1,Host 2,HCA 2\nleaf-01,1,gpu-01,mlx5_0,gpu-02,mlx5_0",
        "Host 1,HCA 1,Host 2,HCA 2,Switch,Switch Port\ngpu-01,mlx5_0,gpu-02,mlx5_0,leaf-01,1",
        "Device A,Port A,Device B,Port B,Device C,Port C\nleaf-01,1,gpu-01,mlx5_0,gpu-02,mlx5_0",
        "Switch,Port,Host 1,NIC 1,Host 2,NIC 2\nleaf-01,1,gpu-01,mlx5_0,gpu-02,mlx5_0",
        "Switch,Switch Port,Device B1,Port B1,Device B2,Port B2\nleaf-01,1,gpu-01,mlx5_0,gpu-02,mlx5_0",
        'Device A,Port A,Device B,Port B\nleaf-01,1,"gpu-01,gpu-02",mlx5_0',
        'Device A,Port A,Device B,Port B\nleaf-01,1,"gpu-01\ngpu-02",mlx5_0',
        "Device A,Port A,Device B,Port B,Cable\nleaf-01,1,gpu-01,mlx5_0,1x2 splitter\nleaf-01,1,gpu-02,mlx5_0,1:2",
        "Device A,Port A,Breakout,Device B,Port B\nleaf-01,1,2x200G,gpu-01,mlx5_0\nleaf-01,1,2x200G,gpu-02,mlx5_0",
        "Device A,Port A,Device B,Port B,Note\nleaf-01,1,gpu-01,mlx5_0,Y-cable\nleaf-01,1,gpu-02,mlx5_0,y cable",
    ],
)
def test_a_split_cable_is_read_however_it_is_told(text: str) -> None:
    found = rows(text)
    assert [row.link for row in found] == BOTH
    assert len({row.breakout for row in found}) == 1
    assert found[0].breakout


def test_ports_of_one_device_are_lanes_only_where_the_row_says_so() -> None:
    cells = 'leaf-01,1,gpu-01,"mlx5_0,mlx5_1"'
    assert len(rows(f"Device A,Port A,Device B,Port B,Type\n{cells},breakout")) == 2
    with pytest.raises(SourceError, match=r"^x:2: found 1 of 'leaf-01 1' and 2 of"):
        rows(f"Device A,Port A,Device B,Port B\n{cells}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("leaf-01,1,gpu-01,mlx5_0,,,\nleaf-01,1,gpu-02,mlx5_0,,,", "leaf-01 1 is used twice"),
        ("leaf-01,1,gpu-01,mlx5_0,gpu-02,,", "x:2: found 'leaf-01,1,gpu-01,mlx5_0,gpu-02,,', expected a device and"),
        (",,gpu-01,mlx5_0,gpu-02,mlx5_0,", "x:2: found ',,gpu-01,mlx5_0,gpu-02,mlx5_0,', expected a device and a"),
        ('leaf-01,1,"gpu-01,gpu-03",ib0,gpu-02,ib0,', "x:2: found several in 'gpu-01,gpu-03 ib0', one of 3 ends"),
        ("leaf-01,1,gpu-01,ib0,gpu-[02-03],ib0,", r"x:2: found several in 'gpu-\[02-03\] ib0', one of 3 ends"),
        ("leaf-01,swp1-2,gpu-01,ib0-1,gpu-02,ib0-1,", "x:2: found several in 'leaf-01 swp1-2', one of 3 ends"),
        ("leaf-01,1,gpu-01,ib0,gpu-02,ib0-1,", "x:2: found several in 'gpu-02 ib0-1', one of 3 ends"),
        ("leaf-01,1,gpu-01,ib0,gpu-02,ib1..0,", "x:2: found 'ib1..0', expected a range that counts up"),
        (
            "gpu-01,ib0,gpu-02,ib0,leaf-01,1,",
            "x:2: found 'gpu-01, gpu-02, leaf-01' at the ends of one cable, exp",
        ),
    ],
)
def test_what_is_no_split_cable_is_refused(text: str, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        rows(f"Device A,Port A,Device B,Port B,Device C,Port C,Note\n{text}")


def test_the_half_of_a_cage_is_one_port_of_a_cable_of_three_ends() -> None:
    found = rows("Device A,Port A,Device B,Port B,Device C,Port C\nleaf-01,1-2,gpu-01,mlx5_0,gpu-02,1-2")
    assert [row.link for row in found] == [
        link(Port("leaf-01", "1-2"), far) for far in (Port("gpu-01", "mlx5_0"), Port("gpu-02", "1-2"))
    ]


@pytest.mark.parametrize("title", ["Type", "Cable", "Breakout", "Lanes", "Split"])
@pytest.mark.parametrize("ratio", ["1/2", "1-2", "1:2", "1 : 4"])
def test_a_ratio_says_that_a_cable_is_split_only_in_a_column_of_cables(title: str, ratio: str) -> None:
    cells = f"leaf-01,1,gpu-01,mlx5_0,{ratio}\nleaf-01,1,gpu-02,mlx5_0,{ratio}"
    assert [row.breakout for row in rows(f"Device A,Port A,Device B,Port B,{title}\n{cells}")] == ["leaf-01 1"] * 2
    for other in ("Page", "Rack", "Plane"):
        with pytest.raises(SourceError, match="leaf-01 1 is used twice"):
            rows(f"Device A,Port A,Device B,Port B,{other}\n{cells}")


@pytest.mark.parametrize("far", ["gpu-03,mlx5_0,,", ",,gpu-03,mlx5_0"])
@pytest.mark.parametrize(
    "titles",
    ["Switch,Switch Port,Host 1,NIC 1,Host 2,NIC 2", "Device A,Port A,Device B,Port B,Device C,Port C"],
)
def test_a_cable_of_two_ends_is_plain_among_those_of_three(titles: str, far: str) -> None:
    *split, plain = rows(f"{titles}\nleaf-01,1,gpu-01,mlx5_0,gpu-02,mlx5_0\nleaf-01,2,{far}")
    assert [row.link for row in split] == BOTH
    assert (plain.link, plain.breakout) == (link(Port("leaf-01", "2"), Port("gpu-03", "mlx5_0")), "")


def test_a_range_of_cables_of_two_ends_is_spread_among_those_of_three() -> None:
    titles = "Switch,Switch Port,Host 1,NIC 1,Host 2,NIC 2"
    found = rows(f"{titles}\nleaf-01,swp1,gpu-01,ib0,gpu-02,ib0\nleaf-01,swp3-4,gpu-[03-04],ib0,,")
    assert [row.breakout for row in found] == ["x:2", "x:2", "", ""]
    assert found[-1].link == link(Port("leaf-01", "swp4"), Port("gpu-04", "ib0"))


@pytest.mark.parametrize("titles", ["Host,Interface", "Switch,Switch Port", "Host 1,Interface 1"])
def test_further_columns_are_a_third_end_only_in_a_series_or_where_the_row_says_so(titles: str) -> None:
    """They may be those of a BMC."""
    head = f"Device A,Port A,Device B,Port B,{titles},Note\nleaf-01,1,gpu-01,mlx5_0,gpu-02,mlx5_0"
    assert [row.link for row in rows(f"{head},")] == BOTH[:1]
    assert [row.link for row in rows(f"{head},1x2")] == BOTH
    before = f"{titles},Device A,Port A,Device B,Port B,Note\ngpu-02,mlx5_0,leaf-01,1,gpu-01,mlx5_0"
    assert {row.link for row in rows(f"{before},1x2")} == {*BOTH}


@pytest.mark.parametrize(
    "text",
    [
        "Source Device,Source Port,Destination Device,Destination Port,Device C,Port C\nleaf-01,1,gpu-01,mlx5_0,",
        "Switch,Port,Host,NIC,Host,NIC\nleaf-01,1,gpu-01,mlx5_0,",
        "Switch,Port,Host A,NIC A,Host B,NIC B\nleaf-01,1,gpu-01,mlx5_0,",
        "Device,Port,Device.1,Port.1,Device.2,Port.2\nleaf-01,1,gpu-01,mlx5_0,",
    ],
)
def test_a_third_end_is_told_by_what_its_title_shares_with_the_others(text: str) -> None:
    assert [row.link for row in rows(f"{text}gpu-02,mlx5_0")] == BOTH


@pytest.mark.parametrize(
    "titles", ["Switch,Switch Port,Host 1,HCA 1,HCA 2,Host 2", "Switch,Switch Port,Host 1,HCA 1,Host 2,HCA 2,Host 3"]
)
def test_titles_of_several_ends_in_no_order_are_refused(titles: str) -> None:
    """By position, the titles would be a cable."""
    with pytest.raises(SourceError, match=r"^x:1: found the column names"):
        rows(f"{titles.replace('Host 1', 'Device B1').replace('Host 2', 'Device B2')}\nleaf-01,1,gpu-01,a,gpu-02,b,c")


def test_one_row_of_a_split_cable_is_a_cable() -> None:
    text = "Device A,Port A,Device B,Port B,Device C,Port C,Note\nleaf-01,1,gpu-01,mlx5_0,,,4x100G"
    (row,) = rows(text)
    assert (row.link, row.breakout) == (BOTH[0], "")


def test_rows_of_several_ports_and_of_three_ends_stand_in_one_table() -> None:
    text = "Device A,Port A,Device B,Port B,Device C,Port C\n"
    found = rows(
        f'{text}leaf-01,1,gpu-01,mlx5_0,gpu-02,mlx5_0\nleaf-01,2,"gpu-03,gpu-04",mlx5_0,,\nleaf-01,3,gpu-05,ib0,,'
    )
    assert [row.breakout for row in found] == ["x:2", "x:2", "x:3", "x:3", ""]
