"""The fleet on a terminal of 80 columns."""

from dataclasses import replace
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from fleet_runner.cli.lifecycle.board import COLOURS, LONG, bar, board, brief
from fleet_runner.core.lifecycle.runs import Node, Run
from fleet_runner.core.lifecycle.states import Condition, Stage, State
from tests.making import NOW, a_fabric, a_node, a_run, conditions


def shown(nodes: list[Node], runs: dict[str, Run] | None = None) -> str:
    """What a person reads."""
    out = StringIO()
    Console(width=80, file=out).print(board(nodes, runs or {}, NOW))
    return out.getvalue()


@given(st.text(max_size=300), st.sampled_from(list(State)), st.sets(st.sampled_from(list(Condition))))
def test_nothing_is_wider_than_the_terminal(waiting: str, state: State, holding: set[Condition]) -> None:
    """Whatever a node waits for."""
    node = a_node(state, waiting=waiting, conditions=conditions(*holding, detail="REBOOT"))
    assert all(cell_len(line) <= 80 for line in shown([node]).splitlines())


def test_a_line_says_where_a_node_is_and_what_happens() -> None:
    """Its conditions first, then its run or what it waits for."""
    run = a_run(Stage.DRAIN, None, done=1, total=2, task="Work is counted")
    pending = conditions(Condition.CORDONED, Condition.PENDING, detail="REBOOT")
    text = shown([a_node(conditions=pending), a_node(State.ONBOARD, name="gpu-02", waiting="waits")], {"gpu-01": run})
    assert "2 nodes: 1 onboard, 1 production" in text
    assert "gpu-01 production 100 s cordoned pending(REBOOT) █████░░░░░ drain 1/2" in text
    assert "gpu-02 onboard    100 s waits" in text
    assert "no nodes yet" in shown([])


def test_fabrics_stand_below_the_nodes() -> None:
    """And are counted apart."""
    text = shown([a_fabric(name="a-fabric", waiting="8 of 8 links as designed"), a_node()])
    assert "1 node: 1 production; 1 fabric: 1 watched" in text
    assert text.index("gpu-01") < text.index("a-fabric watched")
    assert "8 of 8 links as designed" in text


def test_a_run_says_how_long_it_usually_takes() -> None:
    """As soon as there were any to tell from."""
    run = a_run(Stage.VERIFY, None)
    out = StringIO()
    Console(width=80, file=out).print(board([a_node()], {"gpu-01": run}, NOW, {Stage.VERIFY: 12.4}))
    assert "verify starts, usually 12 s" in out.getvalue()


def test_what_a_tool_printed_is_begun_in_two_lines_at_most() -> None:
    """Without what would move or colour the terminal; a sentence is told whole."""
    raw = "UNKNOWN: unreachable: Failed to connect to the host via ssh. Try again.\r\nssh: connect\x1b[31m\r\n" * 20
    fabric = a_fabric(name="infiniband.hall-1")
    assert brief(fabric, raw) == "UNKNOWN: unreachable: Failed to connect to the host via ssh …"
    text = shown([replace(fabric, waiting=brief(fabric, raw.replace(". Try", " again, and " * 20)))])
    assert len(text.splitlines()) == 2 + 2  # the counts, the names of the columns
    waits = "No node that is up has a port in this fabric, so nothing can read it"
    whole = f"{waits}; bring one into service; last sweep: it was not swept yet"
    assert (brief(fabric, whole), brief(a_node(), whole)) == (f"{waits} …", whole)
    assert brief(a_node(), "held by kim: cables are moved. Ask Jo.") == "held by kim: cables are moved. Ask Jo."


@given(st.text(max_size=2 * LONG))
def test_what_is_shortened_is_clean(words: str) -> None:
    """Whatever was printed."""
    short = brief(a_node(), words)
    assert short.isprintable()
    assert len(short) <= LONG


def test_a_bar_needs_to_know_how_much_there_is() -> None:
    """And is never longer than itself."""
    assert bar(a_run(Stage.VERIFY, None)) == ""
    assert bar(a_run(Stage.VERIFY, None, done=9, total=3)) == "█" * 10


def test_every_state_has_a_colour() -> None:
    """So that no table breaks when a state is added."""
    assert set(COLOURS) == set(State)
