"""The picture of faults: what it shows, and that nothing a node calls itself can get out of it."""

import re
from collections.abc import Iterable
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Fault, Kind, Places
from fleet_runner.core.cabling.judge import hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.picture import FAULTS, LINKS, STEPS, svg
from fleet_runner.core.cabling.picture_layout import layout, natural
from fleet_runner.core.cabling.plan import Action, Add, Exchange, Move, Record, Remove, Reseat, Restore
from tests.core.cabling.fabrics import Story, places, rails, stories
from tests.examples import examples

E = rails(4, 4)
HERE = places(E)
SVG = "{http://www.w3.org/2000/svg}"
BY = {each.a: each for each in E}
A, B, C = BY[Port("gpu-01", "ib0")], BY[Port("gpu-02", "ib0")], BY[Port("gpu-03", "ib1")]


def drawn(faults: list[Fault] | tuple[Fault, ...], where: Places = HERE) -> ET.Element:
    """Parse the picture: it must be XML before anything else."""
    return ET.fromstring(svg(faults, where))  # noqa: S314  our own output


def texts(root: ET.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def styled(root: ET.Element, style: str) -> list[ET.Element]:
    """Return what is drawn in a style beside the legend's own."""
    return [each for each in root.iter() if style in each.get("class", "").split()]


def cables(root: ET.Element, style: str) -> set[str]:
    return {title.text or "" for each in styled(root, style) for title in each.iter(f"{SVG}title")}


def found(designed: Iterable[Link], observed: Iterable[Link]) -> tuple[Fault, ...]:
    return hold(designed, Bound(dict.fromkeys(observed, "4x NDR")), HERE).faults


def swapped() -> tuple[Fault, ...]:
    return found(E, [*(each for each in E if each not in (A, B)), link(A.a, B.b), link(B.a, A.b)])


def a_fault(
    kind: Kind, expected: list[Link], observed: list[Link], *actions: Action, steps: tuple[str, ...]
) -> Fault:
    ports = tuple(sorted({port for each in (*expected, *observed) for port in each}))
    return Fault(kind, "key", "What it is.", steps, actions, ports, tuple(expected), tuple(observed))


@settings(max_examples=examples(60), deadline=None)
@given(stories())
def test_every_fault_becomes_one_document_that_a_browser_reads(story: Story) -> None:
    """Each link once, in the style of what it is; the same faults give the same text."""
    faults = found(story.designed, story.observed)
    root = drawn(faults)
    shown = faults[:FAULTS]
    assert cables(root, "designed") == {f"designed: {a} to {b}" for fault in shown for a, b in fault.expected}
    assert cables(root, "wrong") == {f"wrong: {a} to {b}" for fault in shown for a, b in fault.observed}
    assert svg(faults, HERE) == svg(faults, HERE)


@settings(max_examples=examples(100), deadline=None)
@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=80), st.text(max_size=300))
def test_nothing_that_a_node_calls_itself_gets_out_of_its_text(device: str, interface: str, message: str) -> None:
    """No element, no attribute, no control character comes from a name."""
    joined = link(Port(device, interface), Port("leaf-1", "40"))
    fault = Fault(Kind.UNPLANNED, "k", message, (message, device), (Remove(joined),), tuple(joined), (), (joined,))
    root = drawn([fault], Places({device: message}, {}, frozenset()))
    allowed = {"svg", "title", "style", "defs", "marker", "path", "rect", "g", "line", "text", "circle"}
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= allowed
    names = {name for each in root.iter() for name in each.attrib}
    assert not {name for name in names if name.startswith("on") or "href" in name}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", svg([fault], HERE))


def test_a_name_with_markup_is_shown_as_it_was_written() -> None:
    joined = link(Port("<script>alert(1)", "1"), Port("leaf-1", "40"))
    fault = a_fault(Kind.EXTRA, [], [joined], Remove(joined), steps=("Unplug it.",))
    assert "<script>alert(1)" in texts(drawn([fault]))
    assert "<script" not in svg([fault], HERE)


def test_two_swapped_cables_show_both_moves_with_the_numbers_of_their_steps() -> None:
    """Step 1 unplugs both, so the moves are 2 and 3."""
    root = drawn(swapped())
    assert cables(root, "designed") == {"designed: gpu-01 ib0 to leaf-1 1", "designed: gpu-02 ib0 to leaf-1 2"}
    assert cables(root, "wrong") == {"wrong: gpu-01 ib0 to leaf-1 2", "wrong: gpu-02 ib0 to leaf-1 1"}
    assert sorted(each.text or "" for each in styled(root, "digits")) == ["2", "2", "3"]  # one is the legend's
    assert len(styled(root, "move")) == 2
    assert len(styled(root, "cross")) == 3  # the legend's, and one at each plug to pull
    assert {"1. swap", "gpu-01", "hall rack LEAF-1 U1"} <= set(texts(root))


def test_every_sentence_of_the_fault_stands_in_its_picture() -> None:
    (fault,) = swapped()
    said = " ".join(texts(drawn([fault])))
    for sentence in (fault.message, *fault.steps):
        assert all(word in said for word in sentence.split())


def test_each_action_is_drawn_where_it_happens() -> None:
    """A dark device, a trunk, exchanged servers, a new adapter, a slow cable: each has its own sign."""
    dark = a_fault(Kind.DARK, [A], [], Restore("gpu-01", (A,)), steps=("Go to gpu-01.",))
    trunk = a_fault(Kind.CARRIER, [A, B], [], Restore("trunk T-1", (A, B)), steps=("Look at trunk T-1.",))
    pair = a_fault(
        Kind.EXCHANGED,
        [A, B],
        [link(A.a, B.b), link(B.a, A.b)],
        Exchange(("gpu-01", "gpu-02")),
        steps=("Read the serials.", "Exchange gpu-01 and gpu-02."),
    )
    ring = a_fault(Kind.EXCHANGED, [A, B, C], [], Exchange(("gpu-01", "gpu-02", "gpu-03")), steps=())
    new = a_fault(Kind.REPLACED_HCA, [A], [A], Record("gpu-01", "ib0", "1", "2"), steps=("Record gpu-01 ib0.",))
    switch = a_fault(Kind.REPLACED_SWITCH, [A], [A], Record("leaf-1", "", "1", "2"), steps=("Record leaf-1.",))
    slow = a_fault(
        Kind.DEGRADED, [A], [A], Reseat(A, "1x NDR"), steps=(f"Reseat {HERE.port(A.a)} and {HERE.port(A.b)}.",)
    )
    add = a_fault(Kind.MISSING, [A], [], Add(A), steps=(f"Join {HERE.port(A.a)} and {HERE.port(A.b)}.",))
    assert len(styled(drawn([dark]), "number")) == 2
    assert len(styled(drawn([trunk]), "carrier")) == 1
    assert "trunk T-1" in texts(drawn([trunk]))
    assert [each.get("class") for each in styled(drawn([pair]), "move")] == ["move both"]
    assert [each.text for each in styled(drawn([pair]), "digits")] == ["2", "2"]
    assert len(styled(drawn([ring]), "move")) == 3
    assert [each.text for each in styled(drawn([ring]), "digits")] == ["2"]  # no step tells of it: no number
    for fault in (new, switch, slow, add):
        assert [each.text for each in styled(drawn([fault]), "digits")] == ["2", "1"]
    assert cables(drawn([slow]), "right") == {"right: gpu-01 ib0 to leaf-1 1"}
    assert "1x NDR" in texts(drawn([slow]))


def test_a_plug_that_changes_sides_has_its_arrow_between_the_ports() -> None:
    """From a spine down to a server."""
    wrong = link(Port("leaf-1", "1"), Port("spine-1", "30"))
    move = Move(Port("leaf-1", "1"), Port("spine-1", "30"), Port("gpu-01", "ib0"))
    root = drawn([a_fault(Kind.WRONG_SWITCH, [A], [wrong], move, steps=())])
    (arrow,) = styled(root, "move")
    assert arrow.get("d", "").count("C") == 1


def test_actions_outside_the_picture_draw_nothing() -> None:
    """A plan may name what is beyond the links that fit."""
    far, gone = Port("far-1", "1"), Port("far-2", "1")
    other = link(far, gone)
    actions = (
        Move(A.a, far, gone),
        Remove(other),
        Add(other),
        Restore("nothing", (other,)),
        Exchange(("far-1", "gpu-01")),
        Record("far-1", "1", "", ""),
    )
    root = drawn([a_fault(Kind.MISSING, [A], [], *actions, steps=())])
    assert styled(root, "move") == []
    assert len(styled(root, "cross")) == 1


def test_many_faults_many_links_and_many_steps_are_bounded_and_counted() -> None:
    """What is left out is said."""
    wide = rails(12, 8)
    big = a_fault(Kind.DARK, list(wide), [], steps=tuple(f"Step {number}." for number in range(100)))
    root = drawn([big] * (FAULTS + 7))
    said = texts(root)
    assert "and 7 more faults that are not drawn" in said
    assert f"and {len(wide) - LINKS} more links that are not drawn" in said
    assert f"and {100 - STEPS} more steps that are not shown" in said
    assert len(styled(root, "designed")) == 1 + FAULTS * LINKS


def test_long_words_are_cut_and_wide_letters_take_two_cells() -> None:
    """A box is as wide as it is, whatever a device is called."""
    joined = link(Port("漢" * 40, "p" * 60), Port("x" * 400, "1"))
    fault = Fault(Kind.EXTRA, "k", "y" * 3000, (), (), tuple(joined), (), (joined,))
    said = texts(drawn([fault]))
    assert "漢" * 12 + "…" in said
    assert "x" * 25 + "…" in said
    assert "p" * 13 + "…" in said
    assert any(each.endswith(" …") for each in said)


def test_a_fault_without_links_shows_its_ports() -> None:
    """And no fault at all is said to be none."""
    alone = Fault(Kind.EXTRA, "k", "m", (), (), (Port("leaf-1", "7"),))
    assert {"leaf-1", "7"} <= set(texts(drawn([alone])))
    assert "No fault: nothing to draw." in texts(drawn([]))
    assert drawn([Fault(Kind.EXTRA, "k", "", (), (), ())]).get("role") == "img"


@pytest.mark.parametrize("turned", [False, True])
def test_servers_stand_left_of_switches_and_ports_face_their_cables(turned: bool) -> None:
    up = link(Port("leaf-1", "5"), Port("spine-1", "1"))
    where = layout([up, A] if turned else [A, up], [], HERE.servers)
    columns = {box.device: box.column for box in where.boxes}
    assert columns == {"gpu-01": 0, "leaf-1": 1, "spine-1": 2}
    sides = {port: spot.right for port, spot in where.spots.items()}
    assert sides == {A.a: True, A.b: False, up.a: True, up.b: False}


def test_switches_without_servers_take_turns_between_two_columns() -> None:
    """A spine among its leaves stands beside all of them."""
    star = [link(Port(f"leaf-{number}", "9"), Port("spine-1", f"{number}")) for number in range(1, 12)]
    columns = {box.device: box.column for box in layout(star, [], frozenset()).boxes}
    assert columns == {f"leaf-{number}": 0 for number in range(1, 12)} | {"spine-1": 1}


def test_names_sort_as_people_count() -> None:
    assert sorted(["leaf-10", "leaf-2", "leaf-1", ""], key=natural) == ["", "leaf-1", "leaf-2", "leaf-10"]
