"""What changed between two looks at a fabric."""

import pytest
from hypothesis import given

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.changes import Rerated, changes
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.plan import Add, Move, Remove, apply
from tests.core.cabling.fabrics import matchings, rails

E = rails(4, 2)


def look(*links: Link, rate: str = "4x NDR") -> Bound:
    return Bound(dict.fromkeys(links, rate))


@given(matchings(), matchings())
def test_what_changed_leads_from_the_first_look_to_the_second(
    before: tuple[Link, ...], after: tuple[Link, ...]
) -> None:
    """And there and back again: what came in one direction has gone in the other."""
    found = changes(look(*before), look(*after))
    touches = [*map(Add, found.come), *map(Remove, found.gone), *found.moved]
    assert apply(touches, before) == frozenset(after)
    assert len(touches) == len({*before} ^ {*after}) - len(found.moved)
    back = changes(look(*after), look(*before))
    assert (len(back.come), len(back.gone), len(back.moved)) == (len(found.gone), len(found.come), len(found.moved))
    assert (back.new_devices, back.same) == (found.gone_devices, found.same)


def test_a_plug_that_moved_is_one_change_and_not_two() -> None:
    """Told with the end that stayed."""
    first = E[0]
    moved = link(first.a, Port("leaf-1", "40"))
    found = changes(look(*E), look(moved, *E[1:]))
    assert found.moved == (Move(first.a, first.b, Port("leaf-1", "40")),)
    assert (found.come, found.gone, found.same) == ((), (), len(E) - 1)


def test_rates_devices_and_links_that_come_and_go_are_told() -> None:
    new = link(Port("gpu-99", "ib0"), Port("leaf-1", "50"))
    after = Bound({**dict.fromkeys(E[2:], "4x NDR"), E[2]: "1x NDR", E[3]: "", new: "4x NDR"})
    found = changes(look(*E), after)
    assert (found.come, found.gone) == ((new,), (E[0], E[1]))
    assert (found.new_devices, found.gone_devices) == (("gpu-99",), ("gpu-01",))
    assert found.rerated == (Rerated(E[2], "4x NDR", "1x NDR"),)  # a rate that one look does not know is no change
    assert found.any


def test_two_equal_looks_have_no_change() -> None:
    """A loopback plug joins nothing, and is passed over."""
    plug = Link(Port("leaf-1", "60"), Port("leaf-1", "60"))
    assert not changes(look(*E, plug), look(*E)).any


def test_a_port_with_two_cables_is_no_look() -> None:
    with pytest.raises(EvidenceError, match="leaf-1 1 has two cables"):
        changes(look(*E), look(*E, link(Port("leaf-1", "1"), Port("x", "1"))))
