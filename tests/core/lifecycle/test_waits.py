"""Why nodes wait, counted."""

from dataclasses import replace

from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.lifecycle.waits import LONGEST, Wait, waits

NODE = Node("", "h100", State.PRODUCTION, 0.0, 1)


def node(name: str, waiting: str, state: State = State.PRODUCTION) -> Node:
    """Return a node that waits."""
    return replace(NODE, name=name, waiting=waiting, state=state)


def test_the_same_sentence_is_said_once_with_the_most_nodes_first() -> None:
    nodes = [
        node("n2", "waits: the rack's budget is spent: 1 of 2"),
        node("n10", "waits: the rack's budget is spent: 2 of 2"),
        node("n3", "n3 is held by alice"),
        node("n4", "n4 is held by alice"),
        node("n5", "n5 is held by alice\nand more"),
        node("n6", ""),
        node("n7", "a retired node waits for nothing", State.RETIRED),
    ]
    assert waits(nodes, (), {}) == (
        Wait("n3 is held by alice", 3, ("n3", "n4", "n5")),
        Wait("waits: the rack's budget is spent: 1 of 2", 2, ("n2", "n10")),
    )


def test_who_a_run_works_on_does_not_wait_unless_its_batch_does() -> None:
    nodes = [node("n1", "verify runs"), node("n2", "verify runs"), node("n3", "held")]
    found = waits(nodes, {"n1", "n2"}, {"n2": "verify waits: no runner is there"})
    assert [(each.sentence, each.names) for each in found] == [
        ("held", ("n3",)),
        ("verify waits: no runner is there", ("n2",)),
    ]


def test_few_are_named_and_a_sentence_is_bounded() -> None:
    (found,) = waits([node(f"n{number}", "x" * 1000) for number in range(20)], (), {})
    assert (found.number, found.names, len(found.sentence)) == (20, ("n0", "n1", "n2", "n3", "n4"), LONGEST)
