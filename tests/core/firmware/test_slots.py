"""How many nodes are updated at a time."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.firmware.slots import Limits, Load, measure, refusal, take

nodes = st.lists(
    st.tuples(st.sampled_from(["", "hall/A", "hall/B"]), st.sampled_from([0.0, 700.0, 6500.0])), max_size=40
)
limits = st.builds(Limits, st.integers(1, 20), st.integers(1, 6), st.sampled_from([0.0, 5000.0, 13_000.0]))


@given(nodes, limits)
def test_granting_until_it_refuses_stays_within_every_limit(given_: list[tuple[str, float]], most: Limits) -> None:
    """The fleet's, each rack's, and each rack's power."""
    load = measure([])
    begun: list[tuple[str, float]] = []
    for rack, watts in given_:
        if not refusal(load, rack, watts, most):
            load = take(load, rack, watts)
            begun.append((rack, watts))
    racks = Counter(rack for rack, _ in begun if rack)
    assert load == measure(begun)
    assert load.fleet == len(begun) <= most.fleet
    assert all(count <= most.rack for count in racks.values())
    if most.watts:
        assert all(sum(watts for at, watts in begun if at == rack) <= most.watts for rack in racks)


@given(nodes, limits, st.sampled_from(["", "hall/A"]), st.sampled_from([0.0, 700.0]))
def test_what_is_refused_is_told_in_one_line(
    given_: list[tuple[str, float]], most: Limits, rack: str, watts: float
) -> None:
    """And nothing but the limits refuses."""
    load = measure(given_)
    said = refusal(load, rack, watts, most)
    assert "\n" not in said
    if not said:
        assert load.fleet < most.fleet


def test_each_limit_says_what_is_spent() -> None:
    """One example of each."""
    load = measure([("hall/A", 700.0), ("hall/A", 700.0), ("", 700.0)])
    assert load == Load(3, {"hall/A": 2}, {"hall/A": 1400.0})
    assert refusal(load, "", 0.0, Limits(3)) == "3 of at most 3 nodes of the fleet have their firmware updated"
    assert refusal(load, "hall/A", 0.0, Limits(9, 2)) == (
        "2 of at most 2 nodes of rack hall/A have their firmware updated"
    )
    assert refusal(load, "hall/A", 700.0, Limits(9, 9, 2000.0)) == (
        "updates in rack hall/A draw 1400 of at most 2000 W, and it would draw 700 W"
    )
    assert refusal(load, "hall/A", 600.0, Limits(9, 9, 2000.0)) == ""
    assert refusal(load, "", 9999.0, Limits(9, 9, 2000.0)) == ""


def test_a_node_that_draws_more_than_its_rack_may_waits_for_a_person() -> None:
    """It could begin never, and says so."""
    assert refusal(measure([]), "hall/A", 6500.0, Limits(watts=5000.0)) == (
        "it draws 6500 W while it is updated, and firmware_rack_watts lets rack hall/A draw 5000 W;"
        " a person must raise it"
    )


def test_one_node_is_said_to_be_one() -> None:
    load = measure([("hall/A", 0.0)])
    assert refusal(load, "", 0.0, Limits(1, 1, 0.0)) == (
        "1 of at most 1 node of the fleet have their firmware updated"
    )
    assert refusal(load, "hall/A", 0.0, Limits(2, 1, 0.0)) == (
        "1 of at most 1 node of rack hall/A have their firmware updated"
    )
