"""A difference in a technician's words."""

from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Fault, Kind, Places
from fleet_runner.core.cabling.faults import Differing, every_fault
from fleet_runner.core.cabling.identity import Settled
from fleet_runner.core.cabling.links import Link, Port, link, matching
from fleet_runner.core.cabling.plan import Restore, apply
from tests.core.cabling.fabrics import KINDS, Mishap, Story, matchings, places, rails, stories

PLACES = Places({"leaf-1": "hall rack N1 U10"}, {}, frozenset({"gpu-01", "gpu-02"}))


def explained(designed: tuple[Link, ...], observed: tuple[Link, ...]) -> tuple[Fault, ...]:
    """Explain links as links."""
    return every(matching(designed), matching(observed), places(designed))


def every(expected: Mapping[Port, Port], observed: Mapping[Port, Port], where: Places) -> tuple[Fault, ...]:
    """Explain what differs, with every device in its own place."""
    faults, _ = every_fault(
        Differing(expected, observed, {*expected, *observed}, (), Settled({}, (), (), (), ())), Bound({}), where
    )
    return tuple(sorted(faults, key=lambda fault: fault.key))


@given(stories())
def test_every_mishap_is_found_and_called_by_its_name(story: Story) -> None:
    """One fault each, however many links they broke."""
    found = sorted(fault.kind for fault in explained(story.designed, story.observed))
    assert len(found) == len(story.mishaps)
    for mishap in Mishap:
        assert len([kind for kind in found if kind in KINDS[mishap]]) == story.mishaps.count(mishap)


@given(stories())
def test_following_every_step_restores_the_design(story: Story) -> None:
    faults = explained(story.designed, story.observed)
    actions = [action for fault in faults for action in fault.actions]
    assert apply(actions, story.observed) == set(story.designed)
    assert len(actions) == story.touches


@given(matchings(), matchings())
def test_any_cables_at_all_are_explained_and_put_right(
    designed: tuple[Link, ...], observed: tuple[Link, ...]
) -> None:
    """Also dark devices, whose links are gathered."""
    faults = explained(designed, observed)
    assert apply([action for fault in faults for action in fault.actions], observed) == set(designed)
    assert len({fault.key for fault in faults}) == len(faults)


@given(stories(), st.integers(0, 99))
def test_neither_the_order_of_links_nor_of_ends_changes_what_is_said(story: Story, seed: int) -> None:
    """The key is the ticket's: it must be the same whoever looks, from whichever end."""

    def shuffled(links: tuple[Link, ...]) -> dict[Port, Port]:
        mixed = [link(each.b, each.a) for each in links]
        Random(seed).shuffle(mixed)
        return matching(mixed)

    turned = every(shuffled(story.designed), shuffled(story.observed), places(reversed(story.designed)))
    assert turned == explained(story.designed, story.observed)


@given(stories())
def test_every_step_names_a_port_of_its_fault(story: Story) -> None:
    for fault in explained(story.designed, story.observed):
        assert fault.message.endswith(".")
        assert all(
            any(f"{port.device} port {port.interface}" in step for port in fault.ports) for step in fault.steps
        )


def test_a_swap_reads_like_this() -> None:
    """The example: two servers' cables crossed at their leaf."""
    (fault,) = every(
        matching(rails(2, 1)),
        matching(
            [
                link(Port("gpu-01", "ib0"), Port("leaf-1", "2")),
                link(Port("gpu-02", "ib0"), Port("leaf-1", "1")),
                *rails(2, 1)[2:],
            ]
        ),
        PLACES,
    )
    assert fault.kind is Kind.SWAP
    assert fault.devices == ("gpu-01", "gpu-02", "leaf-1")
    assert fault.key.startswith("cabling/gpu-01/ib0/")
    assert fault.message == (
        "Two cables are swapped: expected gpu-01 ib0 to leaf-1 1, gpu-02 ib0 to leaf-1 2,"
        " observed gpu-01 ib0 to leaf-1 2, gpu-02 ib0 to leaf-1 1."
    )
    near, far = "leaf-1 port 1 (hall rack N1 U10)", "leaf-1 port 2 (hall rack N1 U10)"
    first, second = "gpu-01 port ib0 (place unknown)", "gpu-02 port ib0 (place unknown)"
    assert fault.steps == (
        f"Unplug {near}, where the cable from gpu-02 ib0 sits; its other end stays.",
        f"Plug the cable that comes from {first} into {near}; it was in {far}, its other end stays.",
        f"Plug the cable that comes from {second} into {far}; it was in {near}, its other end stays.",
    )


def test_where_nobody_knows_a_place_nobody_says_that_it_is_unknown() -> None:
    """A design in CSV says nothing of racks: the steps are shorter for it, and name each port all the same."""
    nowhere, somewhere = Places({}, {}, frozenset()), Places({"leaf-1": "hall rack N1 U10"}, {}, frozenset())
    port = Port("gpu-01", "ib0")
    assert (nowhere.port(port), nowhere.device("gpu-01"), nowhere.place("gpu-01")) == (
        "gpu-01 port ib0",
        "gpu-01",
        "",
    )
    assert somewhere.port(port) == "gpu-01 port ib0 (place unknown)"
    assert somewhere.device("leaf-1") == "leaf-1 (hall rack N1 U10)"
    cables = rails()
    (fault,) = every(matching(cables), matching(cables[1:]), nowhere)
    assert fault.steps[0].startswith("Join gpu-01 port ib0 and leaf-1 port 1 with a cable;")


A, B, C, D, E, F, G = (Port(f"d{number}", "1") for number in range(7))


@pytest.mark.parametrize(
    ("designed", "observed", "kind", "said"),
    [
        ([(A, B)], [], Kind.MISSING, "Designed and not there: d0 1 to d1 1."),
        ([], [(A, B)], Kind.EXTRA, "There and not designed: d0 1 to d1 1."),
        ([(A, B)], [(B, C)], Kind.WRONG_SWITCH, "Expected d0 1 to d1 1, observed d1 1 to d2 1."),
        ([(A, B), (C, D)], [(B, C)], Kind.MOVED_AND_MISSING, "observed only d1 1 to d2 1."),
        ([(B, C)], [(A, B), (C, D)], Kind.OCCUPIED, "its ports are taken: d0 1 to d1 1, d2 1 to d3 1."),
        ([(A, B), (C, D)], [(B, C), (D, E)], Kind.SHIFTED, "2 cables are shifted: expected d0 1 to d1 1,"),
        ([(A, B), (C, D), (E, F)], [(B, C), (D, E), (F, A)], Kind.ROTATION, "3 cables took each other's ports"),
    ],
)
def test_each_kind_has_its_sentence(
    designed: list[tuple[Port, Port]], observed: list[tuple[Port, Port]], kind: Kind, said: str
) -> None:
    links = [tuple(link(*pair) for pair in pairs) for pairs in (designed, observed)]
    (fault,) = explained(links[0], links[1])
    assert fault.kind is kind
    assert said in fault.message
    assert fault.steps


def test_two_rails_of_one_server_that_are_crossed_are_a_wrong_rail() -> None:
    designed = rails(1, 2)
    one, other = designed[:2]
    (fault,) = explained(designed, (link(one.a, other.b), link(other.a, one.b), *designed[2:]))
    assert fault.kind is Kind.WRONG_RAIL
    assert fault.message.startswith("Two rails are swapped")


def test_a_dark_server_is_one_fault_and_not_one_a_cable() -> None:
    designed = rails(2, 4)
    (fault,) = explained(designed, tuple(each for each in designed if each.a.device != "gpu-01"))
    assert (fault.kind, fault.key, fault.devices[0]) == (Kind.DARK, "cabling/dark/gpu-01", "gpu-01")
    assert (
        "gpu-01 is dark: none of its designed links is up; missing at its end: ib0, ib1, ib2, ib3." in fault.message
    )
    (action,) = fault.actions
    assert isinstance(action, Restore)
    assert (action.what, len(action.links)) == ("gpu-01", 4)


def test_where_a_server_and_its_leaf_are_dark_both_are_told() -> None:
    """The leaf explains more, and comes first; the server keeps what is left."""
    designed = rails(3, 2)
    dark = {"gpu-01", "leaf-1"}
    faults = explained(designed, tuple(each for each in designed if not dark & {each.a.device, each.b.device}))
    assert [fault.key for fault in faults] == ["cabling/dark/gpu-01", "cabling/dark/leaf-1"]
    assert [len(fault.expected) for fault in faults] == [1, 5]


def test_a_dark_device_of_many_ports_names_the_first() -> None:
    """A dark switch has dozens."""
    up = [link(Port("leaf-1", str(number)), Port(f"x-{number}", "1")) for number in range(10, 20)]
    (dark,) = explained(tuple(up), ())
    assert dark.message.endswith("missing at its end: 10, 11, 12, 13, 14, 15, 16, 17, ….")


def test_a_device_with_one_designed_link_is_not_dark_but_lacks_a_cable() -> None:
    (fault,) = explained((link(A, B),), ())
    assert fault.kind is Kind.MISSING


def test_a_cable_of_a_dark_device_that_is_elsewhere_is_a_fault_of_its_own() -> None:
    """What can be seen is said: the far end of one of its cables has another cable."""
    designed = rails(2, 2)
    taken = link(designed[0].b, Port("gpu-99", "ib9"))
    observed = (*(each for each in designed if each.a.device != "gpu-01"), taken)
    assert sorted(fault.kind for fault in explained(designed, observed)) == [Kind.DARK, Kind.WRONG_SWITCH]


def test_a_swap_keeps_its_key_while_one_of_its_servers_is_off() -> None:
    """The ticket was opened before; with one server off, the other's cable looks moved."""
    designed = rails(2, 2)
    a, b = designed[0], designed[2]
    swapped = (link(a.a, b.b), link(b.a, a.b), *(each for each in designed if each not in {a, b}))
    (whole,) = every(matching(designed), matching(swapped), PLACES)
    on = matching(each for each in swapped if each.a.device != "gpu-02")
    off = {fault.kind: fault.key for fault in every(matching(designed), on, PLACES)}
    assert whole.kind is Kind.SWAP
    assert off == {Kind.MOVED_AND_MISSING: whole.key, Kind.DARK: "cabling/dark/gpu-02"}
