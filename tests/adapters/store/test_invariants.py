"""Whatever is done in whatever order, by however stale a caller: what the store promises holds."""

from contextlib import suppress
from itertools import count
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as drive

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.actions import Action, ClearCondition, CloseTicket, Move, OpenRun, SetCondition
from fleet_runner.core.lifecycle.runs import Held, IntentKind, Node, Outcome, Run
from fleet_runner.core.lifecycle.spool import Ended as PlayOver
from fleet_runner.core.lifecycle.spool import PlayEnd, Progress
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Stage
from tests.adapters.store.builders import UrlMaker, decision, device, judged, swap

NAMES = ("gpu-01", "gpu-02")
ACTIONS: st.SearchStrategy[Action] = st.one_of(
    st.builds(Move, st.sampled_from(list(TRANSITIONS.values())), st.just("runner")),
    st.builds(SetCondition, st.sampled_from(Condition), st.just(Held(1.0, "Because.", "ada"))),
    st.builds(ClearCondition, st.sampled_from(Condition), st.just("ada"), st.just("No more.")),
    st.builds(OpenRun, st.sampled_from(Stage), st.just("It is time."), batch=st.sampled_from(["b-1", "b-2", "b-3"])),
    st.builds(swap, st.sampled_from(NAMES), fault=st.sampled_from(["a", "b"])),
    st.builds(CloseTicket, st.integers(1, 4), st.just("Gone.")),
)
LINES = st.lists(
    st.one_of(
        st.builds(judged, st.sampled_from([*NAMES, "gpu-99"]), verdict=st.sampled_from(Verdict)),
        st.builds(Progress, st.sampled_from(NAMES), st.just(1.0), st.integers(0, 9), st.integers(0, 9), st.just("x")),
        st.builds(PlayOver, st.sampled_from(NAMES), st.just(1.0), st.sampled_from(PlayEnd)),
    ),
    max_size=4,
)


class Promises(RuleBasedStateMachine):
    """Several runners, each acting on what it read some time ago."""

    seen = Bundle("seen")  # nodes as somebody read them once
    held = Bundle("held")  # runs as they were opened

    def __init__(self, urls: UrlMaker) -> None:
        super().__init__()
        self.store = Store.open(urls())
        self.clock = (float(number) for number in count(100))
        self.high: dict[str, int] = {}
        self.stories: dict[str, tuple[int, ...]] = {}
        self.kept: dict[int, Any] = {}

    def teardown(self) -> None:
        """Let the file go."""
        self.store.close()

    @initialize()
    def register(self) -> None:
        """Two nodes are enough to get in each other's way."""
        self.store.register([device(name) for name in NAMES], next(self.clock))

    @rule(target=seen, name=st.sampled_from(NAMES))
    def look(self, name: str) -> Node:
        """Read a node, to act on it now or much later."""
        found = self.store.node(name)
        assert found is not None
        return found

    @rule(target=held, node=consumes(seen), actions=st.lists(ACTIONS, max_size=3).map(tuple))
    def apply(self, node: Node, actions: tuple[Action, ...]) -> Run | None:
        """Apply a decision: exactly the current version of a node takes it."""
        current = self.store.node(node.name)
        try:
            opened = self.store.apply(node, decision(*actions), next(self.clock))
        except ConflictError:
            assert self.store.node(node.name) == current
            return None
        assert current == node
        return next(iter(opened), None)

    @rule(run=held, outcome=st.sampled_from(Outcome))
    def close(self, run: Run | None, outcome: Outcome) -> None:
        """Close a run, perhaps for the second time."""
        if run is None:
            return
        was_open = any(found.id == run.id for found in self.store.open_runs())
        try:
            self.store.close_run(run, outcome, "", next(self.clock))
        except ConflictError:
            assert not was_open
        else:
            assert was_open

    @rule(batch=st.sampled_from(["b-1", "b-2", "b-3"]), lines=LINES, size=st.integers(1, 50), back=st.integers(0, 60))
    def ingest(self, batch: str, lines: list[Any], size: int, back: int) -> None:
        """Take in a stretch of a spool, perhaps one that is in already or overlaps."""
        before = max(0, self.store.offset(batch) - (back if back > 30 else 0))
        with suppress(ConflictError):
            self.store.ingest(batch, before, before + size, lines)

    @rule(name=st.sampled_from(NAMES), intent=st.sampled_from(IntentKind))
    def ask(self, name: str, intent: IntentKind) -> None:
        """Leave a request."""
        self.store.leave_intent(name, intent, "ada", now=next(self.clock))

    @rule(lines=LINES)
    def by_hand(self, lines: list[Any]) -> None:
        """Run a play by hand beside everything else."""
        self.store.record_by_hand(Stage.VERIFY, "ada", lines, next(self.clock))

    @invariant()
    def one_open_run_per_node(self) -> None:
        """A node has at most one open run, and it holds the newest fence."""
        opened = self.store.open_runs()
        assert len({run.node for run in opened}) == len(opened)
        for run in opened:
            assert run.fence == max(other.fence for other in self.store.runs(run.node))

    @invariant()
    def fences_and_versions_only_grow(self) -> None:
        """No two runs of a node share a fence, in the order they were opened; versions never go back."""
        for node in self.store.nodes():
            assert node.version >= self.high.get(node.name, 0)
            self.high[node.name] = node.version
            fences = [run.fence for run in sorted(self.store.runs(node.name), key=lambda run: run.id) if run.fence]
            assert fences == sorted(set(fences))

    @invariant()
    def history_and_results_are_only_added_to(self) -> None:
        """What once stood in a history or a result stands there for ever."""
        for name in NAMES:
            story = tuple(entry.id for entry in self.store.history(name, limit=10_000))
            assert set(self.stories.get(name, ())) <= set(story)
            self.stories[name] = story
            for run in self.store.runs(name):
                self.kept |= {
                    stored.id: stored for stored in self.store.results(run.id) if stored.id not in self.kept
                }
        assert self.store.stored(self.kept) == tuple(self.kept[number] for number in sorted(self.kept))

    @invariant()
    def one_open_ticket_per_fault(self) -> None:
        """A fault has at most one open ticket."""
        faults = [ticket.fault for ticket in self.store.tickets()]
        assert len(faults) == len(set(faults))


def test_the_promises_hold_in_every_order(urls: UrlMaker) -> None:
    class Here(Promises):
        def __init__(self) -> None:
            super().__init__(urls)

    drive(Here, settings=settings(max_examples=15, stateful_step_count=30, deadline=None))
