"""Rows that tell several cables: ranges and lists, and what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.checks.parsers import cables_csv
from fleet_runner.core.checks.parsers.cables_sheet import Row

TITLES = "Device A,Port A,Device B,Port B\n"


def rows(text: str) -> tuple[Row, ...]:
    """Return the cables of lines below titles."""
    return cables_csv.parse(f"{TITLES}{text}\n", "x")


def said(text: str) -> str:
    """Why a line is refused."""
    with pytest.raises(SourceError) as caught:
        rows(text)
    return str(caught.value)


FOUR = [link(Port("leaf-01", str(at)), Port(f"node-0{at}", "mlx5_0")) for at in range(1, 5)]


@pytest.mark.parametrize(
    "text",
    [
        "leaf-01,1-4,node-01..04,mlx5_0",
        "leaf-01,1-4,node-[01-04],mlx5_0",
        'leaf-01,1..4,"node-[01,02-04]",mlx5_0',
        "leaf-01,1 to 4,node-{01..04},mlx5_0",
        "leaf-01,1 - 4,node-01-node-04,mlx5_0",
        "leaf-01,1\u20134,node-01 \u2013 node-04,mlx5_0",
        '"leaf-01","1,2,3,4","node-01,node-02,node-03,node-04",mlx5_0',
        '"leaf-01","1-2,3-4","node-01,02,03,04",mlx5_0',
        '"leaf-01","1, 2 & 3-4","node-01 & node-02 & node-03 & node-04",mlx5_0',
    ],
)
def test_a_row_tells_a_cable_for_each_port_and_device(text: str) -> None:
    assert [row.link for row in rows(text)] == FOUR


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("leaf-01,swp1-4,gpu-01,ens1-4", ("swp1", "ens1"), ("swp4", "ens4")),
        ("leaf-01,swp1-swp2,gpu-01,mlx5_0-mlx5_1", ("swp1", "mlx5_0"), ("swp2", "mlx5_1")),
        ("leaf-01,1/1-1/4,spine-01,Eth1/5-1/8", ("1/1", "Eth1/5"), ("1/4", "Eth1/8")),
        ("leaf-01,Eth1/1..1/2,spine-01,1/1/5-1/1/6", ("Eth1/1", "1/1/5"), ("Eth1/2", "1/1/6")),
        ("leaf-01,Eth1/1-8,spine-01,Eth1/9-16", ("Eth1/1", "Eth1/9"), ("Eth1/8", "Eth1/16")),
        ('leaf-01,"swp1-2,5-6",spine-01,swp[1-4]', ("swp1", "swp1"), ("swp6", "swp4")),
        ("rail-[1-4],7,gpu-01,mlx5_[0-3]", ("7", "mlx5_0"), ("7", "mlx5_3")),
    ],
)
def test_ports_of_both_ends_are_joined_in_their_order(
    text: str, first: tuple[str, ...], last: tuple[str, ...]
) -> None:
    def ports(each: Link) -> tuple[str, ...]:
        (a, b) = sorted(each, key=lambda port: not port.device.startswith(("leaf", "rail")))
        return a.interface, b.interface

    found = [ports(row.link) for row in rows(text)]
    assert (found[0], found[-1]) == (first, last)


def test_a_port_belongs_to_the_device_of_its_end_in_whichever_order_the_columns_stand() -> None:
    titles = "Source Device,Destination Device,Source Port,Destination Port"
    found = cables_csv.parse(f"{titles}\nleaf-01,spine-01,swp1-4,swp1-4\nleaf-02,spine-01,swp1-4,swp5-8\n", "x")
    assert [row.link for row in found] == [
        link(Port(f"leaf-0{leaf}", f"swp{at}"), Port("spine-01", f"swp{4 * leaf - 4 + at}"))
        for leaf in (1, 2)
        for at in range(1, 5)
    ]


def test_a_range_that_is_told_from_both_its_ends_stays_one() -> None:
    found = rows("leaf-01,swp1-4,spine-01,swp1-4\nspine-01,swp1-4,leaf-01,swp1-4\nleaf-02,swp1-4,spine-01,swp5-8")
    assert len({row.link for row in found}) == 8


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "leaf-01,swp1-4,spine-01,swp1-4\nleaf-02,swp1-5,spine-01,swp4-8",
            "x:3: found 'swp4-8' of 'spine-01', which",
        ),
        ("leaf-01,swp1-4,node-[1-4],ib0\nleaf-01,swp4-8,node-[4-8],ib0", "x:3: found 'swp4-8' of 'leaf-01', which"),
        ("leaf-01,1-4,node-01..03,mlx5_0", "x:2: found 4 of 'leaf-01 1-4' and 3 of 'node-01..03 mlx5_0'"),
        ("leaf-01,1-4,node-01,mlx5_0", "x:2: found 4 of 'leaf-01 1-4' and 1 of 'node-01 mlx5_0'"),
        ("leaf-01,1..4,node-01,mlx5_0", "x:2: found 4 of"),
        ("leaf-[01-03],1..4,node-01,mlx5_0", "x:2: found 3 devices in 'leaf-[01-03]' and 4 ports in '1..4'"),
        ("leaf-01,1-2,spine-01,3-4", "x:2: found 2 of 'leaf-01 1-2' and 2 of 'spine-01 3-4', expected as many"),
        ("leaf-01,2026-01-07,node-01,mlx5_0", "x:2: found 2026-01-07, expected a device or a port: a spreadsheet"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(text: str, words: str) -> None:
    assert said(text).startswith(words)


@pytest.mark.parametrize("port", ["swp4..1", "4 to 1", "[4-1]", '"[1,4-1]"', '"1,4..2"', "swp1..2000", "swp[1-2000]"])
def test_a_range_that_counts_down_or_too_far_is_refused(port: str) -> None:
    assert said(f"leaf-01,{port},node-01,mlx5_0").startswith(
        f"x:2: found '{port.strip(chr(34))}', expected a range that counts up, of at most 1024"
    )


@pytest.mark.parametrize(
    "text",
    [
        "leaf-01,1-1,node-01,mlx5_0\nleaf-01,1-2,node-02,mlx5_0",
        "leaf-01,1-2,node-01,mlx5_0",
        "leaf-01,1-5,node-01,mlx5_0\nleaf-01,1-6,node-02,mlx5_0",
        "leaf-01,1-5,node-01,mlx5_0\nleaf-01,1-6,node-02,mlx5_0\nleaf-01,1-7,spine-01,1-7",
        "leaf-01,1-1,spine-01,1-1\nleaf-01,1-5,spine-01,1-5\nleaf-01,1-6,spine-01,1-6",
        "leaf-01,1-2,spine-01,1-3\nleaf-01,1-3,spine-01,1-2",
        "rack1-node-1-4,ib0,leaf-01,7",
        "leaf-01,1/1-2/4,node-01,mlx5_0",
        "leaf[1],4..4,node-01,4-1",
        "leaf-01,[1-x],node-01,mlx5_0",
        "leaf-01,[1-2-3],node-01,mlx5_0",
        "leaf-01,1/4-1/1,node-01,mlx5_0",
        'leaf-01,"Port 1, upper",node-01,mlx5_0',
    ],
)
def test_a_name_with_a_dash_or_a_comma_stays_a_name(text: str) -> None:
    """A dash may stand between a cage and its half."""
    assert len(rows(text)) == len(text.split("\n"))


@pytest.mark.parametrize(
    ("listed", "told"),
    [
        ("1-1, 1-2", ["1-1", "1-2"]),
        ("1-2, 2-2", ["1-2", "2-2"]),
        ("swp1-1,1-2", ["swp1-1", "swp1-2"]),
        ("swp1-1, 2", ["swp1-1", "swp1-2"]),
        ("swp1..1, 5..5", ["swp1", "swp5"]),
        ("swp1-1, swp1-2", ["swp1-1", "swp1-2"]),
        ("Port 1-1 and 1-2", ["Port 1-1", "Port 1-2"]),
    ],
)
def test_a_list_of_names_with_a_dash_is_of_these_names(listed: str, told: list[str]) -> None:
    assert [row.link for row in rows(f'leaf-01,"{listed}",gpu-[1-2],eth0')] == [
        link(Port("leaf-01", port), Port(f"gpu-{at}", "eth0")) for at, port in enumerate(told, start=1)
    ]


def test_a_list_of_devices_with_two_numbers_is_of_these_devices() -> None:
    found = rows('"gpu-1-1, 1-2",eth0,leaf-01,"1,2"')
    assert [row.link for row in found] == [
        link(Port(f"gpu-1-{at}", "eth0"), Port("leaf-01", f"{at}")) for at in (1, 2)
    ]


@given(st.integers(1, 40), st.integers(2, 24), st.sampled_from(["", "swp", "Eth1/", "Port "]), st.booleans())
def test_ranges_are_what_somebody_counts_by_hand(first: int, count: int, head: str, dots: bool) -> None:
    last = first + count - 1
    ports = f"{head}{first}..{last}" if dots else f"{head}{first}-{head}{last}" if head else f"{first}..{last}"
    found = [row.link for row in rows(f"leaf-01,{ports},node-[{first:03}-{last:03}],ib0")]
    assert found == [
        link(Port("leaf-01", f"{head}{at}"), Port(f"node-{at:03}", "ib0")) for at in range(first, last + 1)
    ]
