"""The fewest touches, in an order that hands can follow."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling import plan as planning
from fleet_runner.core.cabling.diff import Component, diff
from fleet_runner.core.cabling.links import Link, Port, link, matching
from fleet_runner.core.cabling.plan import Add, Move, Remove, Touch, apply, handled, plan
from tests.core.cabling.fabrics import SERVERS, Story, matchings, stories


def planned(component: Component) -> tuple[Touch, ...]:
    """Plan with every device in a rack of its own."""
    return plan(component, str, SERVERS.__contains__)


def chain(count: int, *, first_designed: bool) -> Component:
    """A path of so many links along which the two kinds take turns."""
    return Component(
        tuple(Port(f"d{number}", "1") for number in range(count + 1)), closed=False, first_designed=first_designed
    )


def follow(actions: tuple[Touch, ...], component: Component) -> set[Link]:
    """Do what the plan says, one after the other, and never plug into a port that is taken.

    Round a cycle the last move's plug comes out first.
    """
    plugged = set(component.observed)
    taken = {port for each in plugged for port in each}
    last = actions[-1]
    if component.closed:
        assert isinstance(last, Move)
        taken.remove(last.source)
    for action in actions:
        match action:
            case Move(stays, source, target):
                plugged.remove(link(stays, source))
                if not (component.closed and action is last):
                    taken.remove(source)
                come = link(stays, target)
                free = {target}
            case Add(cable):
                come, free = cable, set(cable)
            case Remove(cable):
                plugged.remove(cable)
                taken -= set(cable)
                continue
        assert not free & taken, f"{action} plugs into a port that is taken"
        plugged.add(come)
        taken |= set(come)
    return plugged


@given(matchings(), matchings())
def test_the_plans_together_turn_what_is_plugged_into_the_design(
    designed: tuple[Link, ...], observed: tuple[Link, ...]
) -> None:
    """Whatever the cables: all of it, and nothing else."""
    components = diff(matching(designed), matching(observed))
    actions = [action for component in components for action in planned(component)]
    assert apply(actions, observed) == set(designed)


@given(matchings(), matchings())
def test_no_fault_needs_more_touches_than_it_has_cables_of_one_kind(
    designed: tuple[Link, ...], observed: tuple[Link, ...]
) -> None:
    for component in diff(matching(designed), matching(observed)):
        assert len(planned(component)) == max(len(component.designed), len(component.observed))


@given(matchings(30), matchings(30))
def test_each_step_finds_the_ports_free_that_it_needs(designed: tuple[Link, ...], observed: tuple[Link, ...]) -> None:
    """A person follows the steps in their order."""
    for component in diff(matching(designed), matching(observed)):
        assert follow(planned(component), component) == set(component.designed)


@given(st.integers(1, planning.TRIED + 6), st.booleans())
def test_a_path_of_any_length_can_be_followed(count: int, first_designed: bool) -> None:
    component = chain(count, first_designed=first_designed)
    actions = planned(component)
    assert len(actions) == (count + 1) // 2
    assert follow(actions, component) == set(component.designed)


@given(stories())
def test_a_story_is_undone_in_as_many_touches_as_it_took(story: Story) -> None:
    components = diff(matching(story.designed), matching(story.observed))
    actions = [action for component in components for action in planned(component)]
    assert apply(actions, story.observed) == set(story.designed)
    assert len(actions) == story.touches


@given(matchings(), matchings(), st.integers(1, 3))
def test_of_all_plans_none_walks_to_fewer_racks(
    designed: tuple[Link, ...], observed: tuple[Link, ...], racks: int
) -> None:
    """Held against each way to pair the links of a fault."""

    def rack(device: str) -> str:
        return str(int(device[1:]) % racks)

    def walked(actions: tuple[Touch, ...]) -> int:
        return len({rack(port.device) for action in actions for port in handled(action)})

    for component in diff(matching(designed), matching(observed)):
        chosen = plan(component, rack, SERVERS.__contains__)
        assert walked(chosen) == min(map(walked, planning.plans(component)))


def test_a_plan_between_the_ends_of_a_path_can_be_the_shortest_walk() -> None:
    """What is left over need not be at an end: here only the one in the middle keeps everybody in one rack."""
    ports = [
        Port(device, str(number)) for number, device in enumerate(["near", "far", "near", "near", "far", "near"])
    ]
    component = Component(tuple(ports), closed=False, first_designed=True)
    actions = plan(component, str, SERVERS.__contains__)
    assert {port.device for action in actions for port in handled(action)} == {"near"}
    assert Add(link(ports[2], ports[3])) in actions


def test_a_swap_is_put_right_at_the_switch_where_all_else_is_equal() -> None:
    """Two servers' cables crossed at their leaf: the leaf is one place to stand, the servers are two."""
    ports = (Port("gpu-01", "ib0"), Port("leaf-1", "1"), Port("gpu-02", "ib0"), Port("leaf-1", "2"))
    actions = plan(Component(ports, closed=True, first_designed=True), str, SERVERS.__contains__)
    assert {port.device for action in actions for port in handled(action)} == {"leaf-1"}
    one, other = (Port("leaf-1", "1"), Port("leaf-1", "2"))
    assert set(actions) == {Move(ports[0], other, one), Move(ports[2], one, other)}
