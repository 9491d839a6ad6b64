"""Cables whose ends are one cell each, or one line: they are split alike or refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.checks.parsers import cables_forms
from fleet_runner.core.checks.parsers.cables_sheet import whole

A, B = link(Port("gpu-01", "mlx5_0"), Port("leaf-1", "1/1")), link(Port("gpu-02", "mlx5_0"), Port("leaf-1", "1/2"))


def links(text: str) -> list[object]:
    return [row.link for row in whole([cables_forms.read(text, "design")])]


def said(text: str) -> str:
    with pytest.raises(SourceError) as caught:
        links(text)
    return str(caught.value)


@given(
    st.lists(st.sampled_from(["gpu-01", ":", " ", "/", "->", "<->", "-", "1", "\n", "(3 m)", "#", "Port"])).map(
        "".join
    )
)
def test_any_text_with_arrows_is_read_or_refused(text: str) -> None:
    with suppress(SourceError):
        assert links(text)


@pytest.mark.parametrize("arrow", ["<->", "<-->", "-->", " => ", "→", "↔"])
@pytest.mark.parametrize("between", [":", " - Port ", " ", "/", " port "])
def test_a_line_with_an_arrow_is_a_cable(arrow: str, between: str) -> None:
    """Bullets, numbers, lengths, comments and headings are no part of a name."""
    rows = [f"{a}{between}mlx5_0 {arrow} leaf-1{between}{port}" for a, port in (("gpu-01", "1/1"), ("gpu-02", "1/2"))]
    text = f"Rail 1:\n\n1. {rows[0]}  (2,5 m AOC)\n# spare\n- {rows[1]}  # new\n"
    assert links(text) == [A, B]


@pytest.mark.parametrize("between", [":", " - ", " ", "/"])
@pytest.mark.parametrize("titles", ["Source,Destination", "A End,Z End", "From,To"])
def test_a_table_may_have_a_device_and_its_port_in_one_cell(titles: str, between: str) -> None:
    rows = [f"{host}{between}mlx5_0,leaf-1{between}1/{port},3" for host, port in (("gpu-01", 1), ("gpu-02", 2))]
    assert links("\n".join([f"{titles},Length", rows[0], ",,", rows[1], ""])) == [A, B]


def test_a_port_may_stand_in_brackets() -> None:
    assert links("From,To\ngpu-01 (mlx5_0),leaf-1 (Port 1/1)\n") == [A]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "Source,Destination\ngpu-01,leaf-1\n",
            "design:2: found 'gpu-01' to 'leaf-1', expected a device and a port at",
        ),
        (
            "gpu-01:a <-> leaf-1:1\ngpu-02 leaf-1\n",
            "design:2: found 'gpu-02 leaf-1', expected a device and a port at",
        ),
        ("a:1 <-> b:1 <-> c:1\n", "design:1: found 'a:1 <-> b:1 <-> c:1', expected a device and a port at"),
        ("gpu-01 <-> leaf-1\n", "design:1: found 'gpu-01' to 'leaf-1', expected a device and a port at"),
        ("a:1:2 <-> b:1\n", "design:1: found 'a:1:2' to 'b:1', expected a device and a port at"),
        ("gpu-01 -> leaf-1:\n", "design: it has no cable, expected a device and a port at both ends"),
        ("Source,Destination\n", "design:1: found 'Source,Destination'"),
        ('[\n  {"source": 1}]', "design: it is JSON, expected a list of cables as CSV, Excel workbook"),
    ],
)
def test_what_cannot_be_split_alike_is_refused(text: str, why: str) -> None:
    assert said(text).startswith(why)
