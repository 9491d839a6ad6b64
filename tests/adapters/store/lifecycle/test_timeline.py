"""What happened to a node, read backwards: history and findings together, each line once however it is cut."""

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.lifecycle import timeline as read
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.lifecycle.timeline import FILTERS, FINDINGS, HISTORY, Line, shown
from tests.adapters.store.builders import judged


def filled(store: Store) -> None:
    """Lines of the history and findings of the very same moments, and of another node."""
    for at in (201.0, 202.0):
        failed = [judged(check=f"c{number}", verdict=Verdict.FAIL, at=at) for number in range(3)]
        lines = [*failed, judged("gpu-02", verdict=Verdict.FAIL, at=at), judged(check="good", at=at)]
        store.record_by_hand(Stage.CHECK, "ada", lines, at)
        for intent in (IntentKind.HOLD, IntentKind.RELEASE):
            store.leave_intent("gpu-01", intent, "ada", now=at)


def paged(store: Store, size: int) -> list[Line]:
    """All lines, so many a page."""
    found: list[Line] = []
    page = shown(store.timeline("gpu-01", FILTERS[""]), size)
    while True:
        found += page.lines
        if page.older is None:
            return found
        page = shown(store.timeline("gpu-01", FILTERS[""], page.older), size)


def test_pages_of_any_size_hold_every_line_once(stocked: Store) -> None:
    filled(stocked)
    whole = {(line.source, line.id) for line in stocked.timeline("gpu-01", FILTERS[""])}
    assert sum(source == FINDINGS for source, _ in whole) == 6
    told = {number for source, number in whole if source == HISTORY}
    assert told == {entry.id for entry in stocked.history("gpu-01")}
    for size in (1, 2, 3, 5):
        found = paged(stocked, size)
        assert sum(line.seen for line in found) == len(whole), size


def test_a_filter_narrows_what_is_read(stocked: Store) -> None:
    filled(stocked)
    assert {line.kind for line in stocked.timeline("gpu-01", FILTERS["requests"])} == {"intent"}
    assert {line.kind for line in stocked.timeline("gpu-01", FILTERS["findings"])} == {"finding"}
    assert {line.by for line in stocked.timeline("gpu-01", FILTERS["people"])} == {"ada"}
    assert stocked.timeline("gpu-01", FILTERS["firmware"]) == ()


def test_only_the_newest_results_are_looked_through(stocked: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(stocked)
    monkeypatch.setattr(read, "LOOKED_AT", 4)
    assert len(stocked.timeline("gpu-01", FILTERS["findings"])) == 3
