"""Random lives of tickets, random faults of trackers: in the end one issue a fault, standing as its ticket does."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.adapters.trackers.bench import HOUR, KINDS, Bench, bench

FAULTS = st.sampled_from(
    ["", "", "", "", "drop", "lost", "503-done", "503", "429", "422", "401", "403", "404", "odd"]
)
FAULTY = ("a", "b", "c")

STEPS = st.one_of(
    st.tuples(st.just("see"), st.sampled_from(FAULTY), st.sampled_from(["TRIAGE", "RMA"])),
    st.tuples(st.just("prove"), st.sampled_from(FAULTY), st.just("")),
    st.tuples(st.just("close"), st.sampled_from(FAULTY), st.just("")),
    st.tuples(st.just("note"), st.sampled_from(FAULTY), st.just("")),
    st.tuples(st.just("fail"), st.lists(FAULTS, max_size=6), st.just("")),
    st.tuples(st.just("send"), st.sampled_from([1.0, 40.0, 200.0, 4000.0]), st.just("")),
    st.tuples(st.just("send"), st.sampled_from([1.0, 40.0, 200.0, 4000.0]), st.just("")),
)


@pytest.mark.parametrize("kind", KINDS)
def test_in_the_end_there_is_one_issue_a_fault_and_it_stands_as_the_ticket_does(kind: str, template: Path) -> None:
    """Answers are lost after they were acted on, bursts fail, tokens are wrong for a while, people write notes."""

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(STEPS, min_size=3, max_size=18))
    def lives(steps: list[tuple[str, object, str]]) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shutil.copy(template, folder / "fleet.db")
            with bench(kind, f"sqlite:///{folder / 'fleet.db'}", folder) as desk:
                notes = _live(desk, steps)
                desk.remote.faults = []
                desk.send(12 * HOUR)
                desk.settle()
                _agrees(desk, notes)

    lives()


def _live(desk: Bench, steps: list[tuple[str, object, str]]) -> dict[str, list[str]]:
    """Do what is drawn; return the notes of people by fault."""
    notes: dict[str, list[str]] = {}
    for number, (act, what, remedy) in enumerate(steps):
        desk.now += 10.0
        known = {ticket.fault: ticket for ticket in desk.store.tickets(open_only=False)}
        ticket = known.get(str(what))
        if act == "see":
            desk.see(str(what), remedy=remedy)
        elif act == "fail" and isinstance(what, list):
            desk.remote.faults = list(what)
        elif act == "send" and isinstance(what, float):
            desk.send(what)
        elif ticket is not None and act == "prove":
            desk.prove(ticket.id)
        elif ticket is not None and act == "close":
            desk.store.close_ticket(ticket.id, "No.", "ann", desk.now)
        elif ticket is not None and act == "note":
            desk.store.note_ticket(ticket.id, f"<note {number}>", "ann", desk.now)
            notes.setdefault(ticket.fault, []).append(f"note {number}>")
    return notes


def _agrees(desk: Bench, notes: dict[str, list[str]]) -> None:
    """Hold what people see there against what stands here."""
    issues = desk.remote.seen()
    for ticket in desk.store.tickets(open_only=False):
        mine = [issue for issue in issues if issue.title == ticket.title]
        assert len(mine) <= 1
        if ticket.closed_at is None:
            assert len(mine) == 1
        for issue in mine:
            assert issue.open == (ticket.closed_at is None)
            assert ticket.remedy in issue.text
            said = "\n".join(issue.notes)
            if desk.of.kind != "webhook":  # its notes are what it was sent: an id that came twice counts once
                assert all(said.count(note) == 1 for note in notes.get(ticket.fault, []))
    assert len(issues) <= len({ticket.id for ticket in desk.store.tickets(open_only=False)})
