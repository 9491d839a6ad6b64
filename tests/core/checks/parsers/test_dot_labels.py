"""Graphs whose ports stand in labels, and devices whose marks are not their names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.checks.parsers import cables_dot, dot_labels
from fleet_runner.core.checks.parsers.cables_sheet import Row

CABLE = link(Port("leaf-01", "swp1"), Port("gpu-01", "mlx5_0"))


@pytest.mark.parametrize(
    "text",
    [
        '"leaf-01" -- "gpu-01" [headport="mlx5_0", tailport=swp1];',
        '"leaf-01" -- "gpu-01" [color=red taillabel="swp1\\n400G" headlabel=mlx5_0];',
        '"leaf-01":e -- "gpu-01":w [taillabel=<<b>swp1</b>> headlabel=<mlx5_0<br/>x>];',
        '"leaf-01":e -- "gpu-01" [tailport=e taillabel=swp1 headlabel=mlx5_0];',
        '"leaf-01":swp1:e -- "gpu-01":"mlx5_0" [taillabel="to gpu-01" headlabel=x];',
        'node [label="x"]; n1 [label="leaf-01\\n10.0.0.1"]; n2 [label="gpu-01"]; n1:swp1 -- n2:mlx5_0;',
        'leaf01 [label="leaf-01|{<p1> swp1|<p2> swp2}"]; h1 [label="{{<m> mlx5_0}|gpu-01}"]; leaf01:p1 -- h1:m;',
        '"leaf-01" [label="Leaf 1|<swp1> Port 1"]; "gpu-01" [label="a|<mlx5_0>"]; "leaf-01":swp1 -- "gpu-01":mlx5_0;',
        '1 [label="leaf-01|<p1> swp1"]; 2 [label="{<p1> mlx5_0|<p2> 2}|gpu-01"]; 1:p1 -- 2:p1;',
        "n1 [label=<<td>leaf-01</td><td bgcolor=x port='a'>swp1</td>>]; n2 [label=<gpu-01>]; n1:a -- n2:mlx5_0;",
    ],
)
def test_ports_and_devices_are_read_from_labels(text: str) -> None:
    (row,) = cables_dot.read(f"graph g {{\n{text}\n}}\n", "x").rows
    assert row.link == CABLE


def test_a_device_keeps_its_mark_where_its_label_is_no_name_of_its_own() -> None:
    """Two of one label, a label of a device that has no label itself, and a name beside which a type stands."""
    text = 'n1 [label="leaf"]; n2 [label="leaf"]; n3 [label="n4"]; gpu [label="DGX-H100", role=server];'
    edges = "n1:1 -- gpu:1; n2:1 -- gpu:2; n3:1 -- n4:1;"
    found = cables_dot.read(f"graph g {{\n{text}\n{edges}\n}}\n", "x").rows
    assert {port.device for row in found for port in row.link} == {"n1", "n2", "n3", "n4", "gpu"}
    assert found[0].roles == (("gpu", "server"),)


@pytest.mark.parametrize(
    "label",
    [
        "leaf-01|<swp1> gpu1|<swp2> gpu2",
        "leaf-01|<swp1> uplink|<swp2> uplink",
        "leaf-01|<swp1> swp2|<swp2> swp1",
        "leaf-01|<SWP-1>|<swp2> 400G",
    ],
)
def test_a_port_keeps_its_mark_where_its_field_says_something_else(label: str) -> None:
    found = cables_dot.read(
        f'graph g {{ n1 [label="{label}"]; n1:swp1 -- gpu1:ib0; n1:swp2 -- gpu1:ib1; }}', "x"
    ).rows
    assert [row.link for row in found] == [
        link(Port("leaf-01", f"swp{at + 1}"), Port("gpu1", f"ib{at}")) for at in (0, 1)
    ]


@pytest.mark.parametrize(("one", "two"), [("400G", "400G"), ("gpu1", "gpu2"), ("to gpu1", "to gpu2"), ("", "")])
def test_a_place_stays_where_its_text_is_no_name_of_a_port(one: str, two: str) -> None:
    """The same at several ports, or what is plugged there."""
    text = f'n1 [label="leaf-01|<1> {one}|<2> {two}"]; n1:1 -- gpu1:ib0; n1:2 -- gpu2:ib0;'
    found = cables_dot.read(f"graph g {{ {text} }}", "x").rows
    assert [row.link for row in found] == [link(Port("leaf-01", f"{at}"), Port(f"gpu{at}", "ib0")) for at in (1, 2)]


@pytest.mark.parametrize("mark", ["p1", "1", "port1", "port_1", "a", "SWP_1"])
def test_a_place_is_called_by_its_text(mark: str) -> None:
    (row,) = cables_dot.read(
        f'graph g {{ n1 [label="leaf-01|<{mark}> swp1"]; n1:{mark} -- "gpu-01":mlx5_0; }}', "x"
    ).rows
    assert row.link == CABLE


def test_a_mark_that_is_short_for_its_text_is_called_by_it() -> None:
    text = 'n1 [label="leaf-01|<eth1_1> Ethernet1/1|<eth1_2> Eth2/1"]; n1:eth1_1 -- g:ib0; n1:eth1_2 -- g:ib1;'
    found = cables_dot.read(f"graph g {{ {text} }}", "x").rows
    assert {port.interface for row in found for port in row.link} == {"Ethernet1/1", "eth1_2", "ib0", "ib1"}


@pytest.mark.parametrize("label", [r"\N", r"\N|<1> swp1", "leaf", "spine"])
def test_a_node_is_called_by_its_own_name_where_the_label_has_no_other(label: str) -> None:
    (row,) = cables_dot.read(f'graph g {{ s1 [label="{label}"]; s1:swp1 -- "gpu-01":mlx5_0; }}', "x").rows
    assert row.link == link(Port("s1", "swp1"), Port("gpu-01", "mlx5_0"))


@pytest.mark.parametrize(
    "text", ["a -- b;", "a -- b [taillabel=1];", "a -- b [headlabel=1];", "a:e -- b:w;", "a:1 -- subgraph x {};"]
)
def test_an_edge_without_both_ports_is_refused(text: str) -> None:
    with pytest.raises(SourceError, match=r"^x:2: found '\w+', expected an edge such as"):
        cables_dot.read(f"graph g {{\n{text}\n}}\n", "x")


@given(st.text(alphabet='<>|{}"\\n abtd=port/', max_size=60))
def test_any_label_is_read(label: str) -> None:
    row = Row(1, CABLE)
    assert len(dot_labels.named([row], {"leaf-01": label})) == 1
