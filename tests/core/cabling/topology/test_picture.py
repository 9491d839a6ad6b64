"""The picture of a fabric: a box for each device, or for a group of them, and what is wrong with its count."""

from itertools import pairwise
from xml.etree import ElementTree as ET

from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.topology.layers import Layers
from fleet_runner.core.cabling.topology.picture import MOST, svg
from tests.core.cabling.topology.test_layers import found

SVG = "{http://www.w3.org/2000/svg}"


def drawn(it: Layers, *bad: Link) -> ET.Element:
    return ET.fromstring(svg(it, frozenset(bad)))  # noqa: S314  our own output


def texts(root: ET.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def large(nodes: int, leaves: int, racks: int) -> Layers:
    """Nodes with a link to each leaf, which is a rail; the last leaf has two rails."""
    links = tuple(
        link(Port(f"gpu-{node}", f"ib{leaf}"), Port(f"leaf-{leaf}", f"{node}"))
        for node in range(nodes)
        for leaf in range(leaves)
    )
    rails = {port: int(port.interface[2:]) % 8 + 1 for each in links for port in each if port.device[0] == "g"}
    rails[Port("gpu-0", f"ib{leaves - 1}")] = 99
    named = {f"gpu-{node}": f"hall/R{node % racks}" if node else "" for node in range(nodes)}
    return Layers(tuple(named), tuple(f"leaf-{leaf}" for leaf in range(leaves)), (), links, rails, named)


def test_every_device_of_a_small_fabric_has_its_box() -> None:
    it = found()
    said = texts(drawn(it))
    assert {"1 spine", "2 leaves", "2 nodes", "gpu-2", "gpu-10", "leaf-1", "leaf-2", "spine-1"} == set(said)
    assert len(list(drawn(it).iter(f"{SVG}line"))) == 6, (
        "two links of gpu-2 to leaf-2 are one line, the ghost's is none"
    )


def test_what_is_wrong_is_thick_and_counted() -> None:
    it = found()
    root = drawn(it, it.links[1], it.links[2])
    assert [each.get("class") for each in root.iter(f"{SVG}line")].count("bad-line") == 1
    assert "2" in texts(root)
    assert [each.get("class") for each in root.iter(f"{SVG}rect")].count("box bad") == 2


def paired(spines: int) -> Layers:
    """A node below a leaf, and spines of which each has a cable to the next, as MLAG peers have."""
    names = tuple(f"spine-{number}" for number in range(spines))
    peers = tuple(link(Port(one, "63"), Port(other, "64")) for one, other in pairwise(names))
    up = link(Port("gpu-1", "eth1"), Port("leaf-1", "1"))
    return Layers(("gpu-1",), ("leaf-1",), names, (up, *peers), {}, dict.fromkeys(("gpu-1", "leaf-1", *names), ""))


def test_a_link_between_two_of_a_layer_is_a_bow_above_it_with_its_count_beside_no_box() -> None:
    it = paired(2)
    (bow,) = drawn(it).iter(f"{SVG}path")
    assert bow.get("class") == "line"
    root = drawn(it, it.links[1])
    assert [each.get("class") for each in root.iter(f"{SVG}path")] == ["bad-line"]
    (badge,) = root.iter(f"{SVG}circle")
    boxes = [each for each in root.iter(f"{SVG}rect") if each.get("class") == "box bad"]
    assert float(badge.get("cy", 0)) < min(float(each.get("y", 0)) for each in boxes)
    assert len({each.get("x") for each in boxes}) == 2


def test_a_wrong_link_within_a_group_marks_the_group_and_is_counted() -> None:
    it = paired(MOST + 1)
    root = drawn(it, it.links[1], it.links[2])
    assert [each.text for each in root.iter(f"{SVG}text") if each.get("class") == "digits"] == ["2"]
    assert [each.get("class") for each in root.iter(f"{SVG}rect")].count("box bad") == 1
    assert list(drawn(it).iter(f"{SVG}circle")) == []


def test_a_large_fabric_is_drawn_in_groups() -> None:
    said = texts(drawn(large(40, 40, 4)))
    assert "40 leaves" in said
    assert "rail 1: 5" in said
    assert "several rails: 1" in said or "several rail…" in said
    assert "R1: 10" in said
    assert "no rack: 1" in said


def test_one_too_large_for_groups_is_one_box() -> None:
    it = large(100, 8, 60)
    text = svg(it, frozenset(it.links))
    assert texts(drawn(it)).count("100 nodes") == 2
    assert len(text) < 300_000
    assert MOST < 60


def test_nothing_designed_says_so() -> None:
    assert texts(drawn(Layers((), (), (), (), {}, {}))) == ["Nothing is designed in this fabric."]
