"""The open boots in memory: one for a node, whatever order news of them come in."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.boot.boots import Boot, Claim, Heartbeat, Identity, Milestone, Reached
from fleet_runner.core.boot.identity import Armed
from fleet_runner.services.boot.open_boots import OpenBoots

FIRST = Boot(1, "gpu-01", None, 100.0, 700.0, Identity())
ANEW = replace(FIRST, id=3)
OTHER = replace(FIRST, id=2, node="gpu-02")
CLOSED = replace(FIRST, closed_at=200.0)


def known(*boots: Boot) -> OpenBoots:
    """Know some boots."""
    found = OpenBoots()
    found.replace(7, boots)
    return found


def test_a_boot_armed_anew_takes_the_place_of_the_one_before() -> None:
    boots = known(FIRST, OTHER)
    boots.change(9, [CLOSED, ANEW])
    assert boots.by_node == {"gpu-01": ANEW, "gpu-02": OTHER}
    assert boots.by_number == {2: OTHER, 3: ANEW}
    assert boots.line == 9


def test_an_old_boot_that_is_closed_again_does_not_close_the_new_one() -> None:
    boots = known(ANEW)
    boots.change(9, [CLOSED])
    assert boots.by_node == {"gpu-01": ANEW}


def test_what_is_told_is_known_and_not_read_again_until_the_next_look() -> None:
    boots = known(FIRST)
    for told in (
        Reached(1, Milestone.SCRIPT, 150.0, "10.0.0.1"),
        Claim(99, 150.0, "10.0.0.1"),
        Heartbeat("dhcp", 1.0),
    ):
        boots.learn(told)
    assert boots.by_number[1].reached == {Milestone.SCRIPT: 150.0}
    assert boots.own == {(1, "script"), (99, "claimed")}
    boots.change(9, [])
    assert boots.own == set()


NODES = frozenset({"gpu-0", "gpu-1", "gpu-2"})
BOOTS = st.builds(
    lambda number, closed: replace(
        FIRST,
        id=number,
        node=f"gpu-{number % 3}",
        expected=Identity(frozenset({f"02:00:00:00:00:0{number}"}), f"S{number}"),
        closed_at=200.0 if closed else None,
    ),
    st.integers(1, 9),
    st.booleans(),
)


@given(st.lists(st.tuples(st.booleans(), st.lists(BOOTS, max_size=4)), max_size=6))
def test_every_way_to_find_a_boot_agrees(
    looks: list[tuple[bool, list[Boot]]],
) -> None:
    boots = OpenBoots()
    for line, (whole, found) in enumerate(looks):
        (boots.replace if whole else boots.change)(line, [boot for boot in found if not (whole and boot.closed_at)])
        assert {boot.id: boot for boot in boots.by_node.values()} == boots.by_number
        assert all(boot.node == node for node, boot in boots.by_node.items())
        assert not any(boot.closed_at for boot in boots.by_node.values())
        anew = Armed()
        for boot in boots.by_number.values():
            anew.add(boot)
        assert boots.armed.index(NODES) == anew.index(NODES)
