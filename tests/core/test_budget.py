"""How many nodes may be out at a time."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.budget import Limits, beside, grant, measure, take
from fleet_runner.core.lifecycle import State

fleets = st.lists(st.tuples(st.sampled_from(["", "A", "B", "C"]), st.sampled_from(list(State))), max_size=60)


@given(fleets, st.sampled_from(["", "A", "B"]), st.integers(0, 40), st.floats(0.01, 1.0), st.integers(0, 5))
def test_automation_never_takes_out_more_than_its_share(
    fleet: list[tuple[str, State]], rack: str, small: int, share: float, triaged: int
) -> None:
    """Granting until it refuses ends within the share, or at one node in a small fleet."""
    limits = Limits(share=share, rack=100, small=small)
    usage = measure(fleet, triaged)
    before, granted = usage, 0
    while usage.serving > 0 and grant(usage, rack, limits).allowed:
        usage, granted = take(usage, rack), granted + 1
    total = before.serving + before.out
    most = 1 if total <= small else max(1, int(share * total))
    assert granted <= max(0, most)
    assert usage.serving + usage.out == total


@given(fleets, st.integers(0, 5))
def test_what_is_out_is_what_automation_took_lately(fleet: list[tuple[str, State]], triaged: int) -> None:
    """Nodes that people work on for long are no disruption any more."""
    usage = measure(fleet, triaged)
    assert usage.out == triaged + sum(state is State.REBOOT for _, state in fleet)
    assert sum(usage.racks.values()) == sum(state is State.REBOOT and rack != "" for rack, state in fleet)


def test_a_rack_gives_up_one_node_at_a_time() -> None:
    """And says so."""
    usage = take(measure([("A", State.PRODUCTION)] * 100, 0), "A")
    assert grant(usage, "A", Limits()).sentence == "the budget of rack A is spent: 1 of 1 node(s) out"
    assert grant(usage, "B", Limits()).allowed


def test_a_small_fleet_gives_up_one_node_at_a_time() -> None:
    """Ten per cent of eight nodes would be none at all; a fault everywhere must not empty it."""
    fleet = [("A", State.PRODUCTION)] * 7 + [("B", State.RMA)]
    assert grant(measure(fleet, 0), "A", Limits()).allowed
    assert not grant(measure(fleet, 1), "A", Limits()).allowed
    assert "1 of at most 1" in grant(take(measure(fleet, 0), "C"), "A", Limits()).sentence


def test_a_large_fleet_stops_at_its_share() -> None:
    """Whatever is with the vendor does not count."""
    fleet = [("", State.PRODUCTION)] * 90 + [("", State.RMA)] * 50
    assert grant(measure(fleet, 9), "", Limits()).sentence == "the fleet's budget is spent: 9 of at most 9 nodes out"
    assert grant(measure(fleet, 8), "", Limits()).allowed
    assert take(measure(fleet, 8), "").racks == {}


@given(fleets, st.lists(st.sampled_from(["", "A", "B"]), max_size=6))
def test_what_is_out_besides_is_counted_and_never_makes_room(fleet: list[tuple[str, State]], more: list[str]) -> None:
    """In the fleet, and in its racks."""
    usage = measure(fleet, 0)
    both = beside(usage, more)
    assert (both.serving, both.out) == (usage.serving, usage.out + len(more))
    assert all(both.racks.get(rack, 0) == usage.racks.get(rack, 0) + more.count(rack) for rack in ("A", "B"))
    assert both.racks.get("", 0) == 0
